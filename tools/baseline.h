/* What a bare context switch costs on this machine, here and now. */
#ifndef BZ_TOOLS_BASELINE_H
#define BZ_TOOLS_BASELINE_H

struct bz_baseline;

/* NULL without memory. */
struct bz_baseline *bz_baseline_new(void);
void bz_baseline_destroy(struct bz_baseline *baseline);

/* Each measures anew, for about a millisecond, and returns the nanoseconds of one switch in one
 * direction, of the thread's processor time.
 *
 * The textbook's: one coroutine and its caller, back and forth. It is the baseline, and what
 * published figures mean by a switch. On a machine for which there is none it is the runtime's,
 * measured in the same way. */
double bz_baseline_textbook_ns(struct bz_baseline *baseline);

/* The runtime's own, as a loop uses it: among 16 coroutines in random order, each suspended in one
 * of two places. Back and forth with one of them, the processor would know every jump beforehand,
 * and the figure would be one that no program ever sees. */
double bz_baseline_own_ns(struct bz_baseline *baseline);

#endif
