/* The path of every event, inlined into the files of the judge: the call that is held back, the
 * oracles, the digest and the event sink. */
#pragma once

#include "sim/judge/internal.h"
#include "sim/judge/oracle/list.h"

/* True if an oracle suspects something. Inline at every step: the kind is a constant there, so
 * only the oracles of that kind are left, and they share what they read. */
static inline __attribute__((always_inline)) bool
bz_judge_is_suspect(const struct bz_judge *judge, const struct bz_moment *moment) {
    uint64_t suspicions = 0;
#undef ORACLE
#define ORACLE(name, text, summary, demand) suspicions |= name##_suspects(judge, moment);
#include "sim/judge/oracle/list.h"
#undef ORACLE
    return suspicions != 0;
}

/* Calls the oracles that suspect something. */
static inline __attribute__((always_inline)) void bz_judge_all(struct bz_judge *judge,
                                                               const struct bz_moment *moment) {
#define ORACLE(name, text, summary, demand)                                                        \
    if (name##_suspects(judge, moment)) {                                                          \
        name##_judges(judge, moment);                                                              \
    }
#include "sim/judge/oracle/list.h"
#undef ORACLE
}

/* Builds a moment in memory, which only one that an oracle suspects needs. */
__attribute__((noinline, cold)) void bz_judge_parts(struct bz_judge *judge,
                                                    enum bz_moment_kind kind, uint32_t task,
                                                    uint32_t object, enum bz_status status,
                                                    bool is_at_once);

/* Calls the oracles, at the moments of every step. */
static inline __attribute__((always_inline)) void bz_judge_ask(struct bz_judge *judge,
                                                               struct bz_moment moment) {
    if (__builtin_expect(bz_judge_is_suspect(judge, &moment), 0)) {
        bz_judge_parts(judge, moment.kind, moment.task, moment.object, moment.status,
                       moment.is_at_once);
    }
}

/* Gives an event to the sink. */
__attribute__((noinline, cold)) void bz_judge_show(struct bz_judge *judge, uint64_t low,
                                                   uint64_t high);

/* The end of every event. */
static inline __attribute__((always_inline)) void bz_judge_noted(struct bz_judge *judge,
                                                                 struct bz_event event) {
    uint64_t low = bz_event_low(event);
    uint64_t high = bz_event_high(event);
    judge->digest = bz_digest_event(judge->digest, low, high);
    if (__builtin_expect(judge->sink != NULL, 0)) {
        bz_judge_show(judge, low, high);
    }
}

/* An operation is called or returns, or a task ends. */
static inline __attribute__((always_inline)) void bz_judge_progresses(struct bz_judge *judge) {
    judge->progress_step = judge->step;
    if (__builtin_expect(judge->shadow.poll_rounds != 0, 0)) {
        bz_judge_forget_polls(judge);
    }
}

/* Reports the call that is held back. */
__attribute__((hot, noinline)) void bz_judge_note_call(struct bz_judge *judge);

static inline __attribute__((always_inline)) void bz_judge_settle_call(struct bz_judge *judge) {
    if (__builtin_expect(judge->call.kind != 0, 0)) {
        bz_judge_note_call(judge);
    }
}

static inline __attribute__((always_inline)) struct bz_event
event_of(const struct bz_judge *judge, enum bz_program_event_kind kind, uint32_t object,
         enum bz_op op, enum bz_status status) {
    return (struct bz_event){.kind = (uint8_t)kind,
                             .task = judge->shadow.running,
                             .object = object,
                             .op = (uint8_t)op,
                             .status = (uint8_t)status};
}
