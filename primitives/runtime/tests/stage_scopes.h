/* The stage of task groups and timeouts: two groups, "outer" and "inner", and two timeout scopes,
 * "limit" and "time". Where both are nested, "limit" is the outer one.
 *
 *     outer(  outer)        enters and leaves the outer group; the same for inner
 *     outer+a               spawns child a into the outer group, with the script that a was given
 *     time(5  time)         a timeout scope of 5 ns, or "time(never"; the same for limit
 *     move-70  move-never   moves the deadline of "time"
 *     errors  first-error              reports these of the outer group
 *     inner-errors  inner-first-error  reports these of the inner group
 *     expired  limit-expired  state    reports whether they expired; reports the state of "time"
 *
 * "await" waits on a future of the guest's own, so that cancelling one wakes no other.
 */
#ifndef BZ_TESTS_STAGE_SCOPES_H
#define BZ_TESTS_STAGE_SCOPES_H

#include "primitives/runtime/group.h"
#include "primitives/runtime/timeout.h"
#include "primitives/tests/stage.h"

struct scopes {
    struct tst_stage stage;
    struct bz_group outer;
    struct bz_group inner;
    struct bz_timeout limit;
    struct bz_timeout time;
};

static inline struct scopes *scopes_of(struct tst_call *call) {
    return bz_container_of(call->stage, struct scopes, stage);
}

static inline struct bz_group *group_of(struct tst_call *call) {
    return call->word[0] == 'o' ? &scopes_of(call)->outer : &scopes_of(call)->inner;
}

static inline struct bz_timeout *timeout_of(struct tst_call *call) {
    return call->word[0] == 'l' ? &scopes_of(call)->limit : &scopes_of(call)->time;
}

static inline uint64_t delay_of(struct tst_call *call) {
    return strcmp(call->rest, "never") == 0 ? BZ_TIME_NEVER : tst_number(call->rest);
}

TST_WORD(word_group_enter, bz_group_enter(call->stage->loop, group_of(call)))
TST_WORD(word_group_exit, bz_group_exit(group_of(call), call->actor->leaving))

static inline enum bz_status word_group_spawn(struct tst_call *call) {
    unsigned index = tst_named(call);
    return bz_group_spawn(group_of(call), "child", index + 1, tst_actor_run,
                          &call->stage->actors[index], &call->stage->tasks[index]);
}

TST_WORD(word_timeout_enter, bz_timeout_enter(call->stage->loop, timeout_of(call), delay_of(call)))
TST_WORD(word_timeout_exit, bz_timeout_exit(timeout_of(call), call->actor->leaving))
TST_WORD(word_move, bz_timeout_reschedule(&scopes_of(call)->time, delay_of(call)))

static inline void scopes_report(struct tst_call *call) {
    static const char *const states[] = {"", "entered", "expiring", "expired", "exited"};
    struct scopes *scopes = scopes_of(call);
    tst_count(call, "errors", scopes->outer.errors);
    tst_count(call, "inner-errors", scopes->inner.errors);
    tst_flag(call, "expired", bz_timeout_expired(&scopes->time));
    tst_flag(call, "limit-expired", bz_timeout_expired(&scopes->limit));
    if (strcmp(call->word, "first-error") == 0) {
        tst_report(call, "%s", bz_status_name(scopes->outer.first_error));
    } else if (strcmp(call->word, "inner-first-error") == 0) {
        tst_report(call, "%s", bz_status_name(scopes->inner.first_error));
    } else if (strcmp(call->word, "state") == 0) {
        tst_report(call, "%s", states[scopes->time.state]);
    }
}

static const struct tst_word scopes_words[] = {
    {"outer(", word_group_enter, true},
    {"outer)", word_group_exit},
    {"outer+", word_group_spawn, true},
    {"inner(", word_group_enter, true},
    {"inner)", word_group_exit},
    {"inner+", word_group_spawn, true},
    {"time(", word_timeout_enter, true},
    {"time)", word_timeout_exit},
    {"limit(", word_timeout_enter, true},
    {"limit)", word_timeout_exit},
    {"move-", word_move},
    {NULL, NULL},
};

static inline void scopes_begin(struct scopes *scopes) {
    *scopes = (struct scopes){.outer = {.errors = 0}};
    tst_stage_begin(&scopes->stage,
                    (struct tst_cast){.words = scopes_words, .report = scopes_report});
}

/* A whole timeline. */
static inline void play(const char *timeline) {
    struct scopes scopes;
    scopes_begin(&scopes);
    tst_play(&scopes.stage, timeline);
    tst_stage_end(&scopes.stage);
}

#endif
