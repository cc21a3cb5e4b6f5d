/* A subject that is the timeout scopes of a variant; see subject.h.
 *
 *     struct bz_scope_entry entry;
 *     status = bz_scope_subject_enter(subject, &entry, outer, delay_ns);
 *     if (status == BZ_OK) {
 *         status = bz_scope_subject_exit(&entry, body());
 *     }
 *
 * Judged, by `cancel-count`, at every exit: whose cancellation was it. The book counts the requests
 * that the task was made while it was inside; with those that scopes within have taken back set
 * aside, the task's own count must be what it was at entry, plus the requests, less one if this
 * scope took back its own. Which it did is read off that count. From there:
 *
 * - a scope that says BZ_TIMED_OUT has taken one back, and not before its deadline;
 * - one that has, asked by nobody else, turns the body's BZ_CANCELLED into BZ_TIMED_OUT;
 * - one that somebody else asked, too, or whose task had a request to deliver when it entered,
 *   leaves it BZ_CANCELLED, unless a request is still there to be delivered;
 * - what is no BZ_CANCELLED passes through unchanged.
 *
 * A scope that forgets to take its request back, and says BZ_CANCELLED, cannot be told from one
 * whose deadline did not come before somebody else's request.
 */
#ifndef BZ_SIM_WORLD_SUBJECT_SCOPE_H
#define BZ_SIM_WORLD_SUBJECT_SCOPE_H

#include "sim/world/subject.h"

struct bz_task;

struct bz_scope_subject {
    struct bz_world *world;
    const struct bz_scope_ops *ops;
};

/* One use of a scope; lives from enter to exit. */
struct bz_scope_entry {
    struct bz_scope_subject *subject;
    struct bz_scope_entry *outer;
    void *scope; /* the variant's */
    struct bz_task *task;
    uint64_t due_ns;
    uint32_t cancelling; /* as it was at entry */
    uint32_t cancels;    /* requests in the task's life, at entry */
    uint32_t taken_back; /* by scopes inside this one */
    bool was_pending;    /* a request was to be delivered at entry */
};

/* What book.detail[0] of BZ_FACT_BAD_COUNT says; detail[1]: the count that there should be in the
 * upper 32 bits, the count that there is in the lower. */
enum bz_bad_count {
    BZ_BAD_COUNT_OFF = 0,       /* neither of the counts that there may be */
    BZ_BAD_COUNT_EARLY = 1,     /* took back a request before its deadline */
    BZ_BAD_COUNT_UNSAID = 2,    /* its own request alone, and BZ_CANCELLED */
    BZ_BAD_COUNT_SWALLOWED = 3, /* somebody else's request, and BZ_TIMED_OUT */
    BZ_BAD_COUNT_CHANGED = 4,   /* the body's status came out as another one */
};

/* The world's variant must offer scopes. */
void bz_scope_subject_init(struct bz_scope_subject *subject, struct bz_world *world);

/* By the running task; `outer`: the scope that it is in already, NULL: none. BZ_OK, or why the
 * variant could not; then there is no exit. */
enum bz_status bz_scope_subject_enter(struct bz_scope_subject *subject,
                                      struct bz_scope_entry *entry, struct bz_scope_entry *outer,
                                      uint64_t delay_ns) BZ_MUST_USE;
enum bz_status bz_scope_subject_exit(struct bz_scope_entry *entry,
                                     enum bz_status status) BZ_MUST_USE;

#endif
