/* The cost of a bare context switch on this machine. */
#ifndef BZ_TOOLS_COMMANDS_BASELINE_H
#define BZ_TOOLS_COMMANDS_BASELINE_H

struct bz_baseline;

/* NULL without memory. */
struct bz_baseline *bz_baseline_new(void);
void bz_baseline_destroy(struct bz_baseline *baseline);

/* Both measure for about a millisecond and return nanoseconds of the thread's processor time for
 * one switch in one direction.
 *
 * The textbook switch, between one coroutine and its caller, is the baseline: published figures
 * mean this one. Only x86-64 has one; elsewhere the runtime's switch is measured in the same way.
 */
double bz_baseline_textbook_ns(struct bz_baseline *baseline);

/* The runtime's switch, as a loop uses it: among 16 coroutines in random order, each suspended in
 * one of two places. */
double bz_baseline_own_ns(struct bz_baseline *baseline);

/* Keeps the process on the core that it runs on, if the system allows that. */
void bz_baseline_pin(void);

#endif
