/* cancel-count (zoo: COUNT): a timeout scope counts cancel requests correctly, and tells its own
 * from those of others. It is judged at every exit.
 *
 * The requests that inner scopes took back are set aside. Then the task's count must be the count
 * at entry plus the requests made since, less one if this scope took back its own. That count shows
 * whether it did.
 *
 * - A scope that returns BZ_TIMED_OUT has taken one back, and not before its deadline.
 * - A scope that takes none back leaves before its deadline, or as soon as its task can run.
 * - A scope that took one back, while no other task asked, turns the body's BZ_CANCELLED into
 *   BZ_TIMED_OUT.
 * - If another also asked, or a request was pending at entry, the status stays BZ_CANCELLED,
 *   unless a request is still pending.
 * - Any other status passes through unchanged.
 *
 * A scope may forget to take its request back and return BZ_CANCELLED. From outside, that looks as
 * if the deadline came after another's request. */
#ifndef BZ_SIM_JUDGE_ORACLE_CANCEL_COUNT_H
#define BZ_SIM_JUDGE_ORACLE_CANCEL_COUNT_H
#include "sim/judge/oracle/oracle.h"

/* The error; NULL: none. `due`: the count that there should be. */
static inline const char *cancel_count_text(const struct bz_scope_exit *scope, uint32_t *due) {
    bool has_taken = scope->requests > 0 && scope->count + 1 == scope->due;
    bool has_turned = scope->body == BZ_CANCELLED && scope->status == BZ_TIMED_OUT;
    bool was_asked = scope->was_pending || scope->requests > 1;
    *due = scope->due;
    if ((scope->count != scope->due && !has_taken) || (has_turned && !has_taken)) {
        *due -= has_turned && scope->requests > 0;
        return "a timeout scope left with a wrong number of requests";
    }
    if (has_taken && scope->is_early) {
        return "a timeout scope took back a request before its deadline";
    }
    if (!has_taken && scope->is_late) {
        return "a timeout scope did not expire at its deadline";
    }
    if (scope->status != scope->body && !has_turned) {
        return "a timeout scope changed a status that is not its own";
    }
    if (has_turned && was_asked && !scope->is_pending) {
        *due -= 1;
        return "a timeout scope swallowed somebody else's cancel request: it returned 'timed-out' "
               "and should have returned 'cancelled'";
    }
    if (has_taken && !was_asked && scope->body == BZ_CANCELLED && !has_turned) {
        *due -= 1;
        return "a timeout scope expired, and nobody else had requested a cancel: it returned "
               "'cancelled' and should have returned 'timed-out'";
    }
    return NULL;
}

static inline bool cancel_count_suspects(const struct bz_judge *judge,
                                         const struct bz_moment *moment) {
    uint32_t due;
    (void)judge;
    return moment->kind == BZ_MOMENT_SCOPE && cancel_count_text(moment->scope, &due) != NULL;
}

static inline void cancel_count_judges(struct bz_judge *judge, const struct bz_moment *moment) {
    uint32_t due;
    const char *text = cancel_count_text(moment->scope, &due);
    char counts[BZ_NAME_BYTES] = "";
    if (moment->scope->count != due) {
        snprintf(counts, sizeof counts, " (cancelling: %u, due: %u)", moment->scope->count, due);
    }
    bz_judge_violate(judge, "cancel-count", moment->task, 0, "%s: %s%s",
                     bz_task_label(judge, moment->task).text, text, counts);
}

#endif

ORACLE(cancel_count, "cancel-count",
       "a timeout scope miscounts cancel requests, or confuses its own with others",
       "A scope has to take back exactly the requests that it made itself, and to pass on "
       "those of others.")
