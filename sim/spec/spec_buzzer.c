/* The repaired specification: a waiter is woken in one action and resumes in another, and can be
 * cancelled between the two. guards.h lists the actions; buzzer_semaphore.tla is the same in TLA+.
 */
#include "sim/spec/guards.h"
#include "sim/spec/packed.h"

enum status {
    IDLE = 0,
    WAITING = 1,
    WOKEN = 2,
    CANCELLED = 3,
    DOOMED = 4,
    HOLDING = 5,
};
#define STATUS_COUNT 6u

static const char *const status_names[8] = {
    "idle", "waiting", "woken", "cancelled", "doomed", "holding", "?", "?",
};

static const struct {
    uint8_t from;
    uint8_t to;
    int8_t change; /* of the level */
    bool joins;
    bool leaves; /* the line */
    uint8_t guards;
} actions[BZ_SPEC_ACTION_COUNT] = {
    [BZ_SPEC_ACQUIRE] = {IDLE, HOLDING, -1, false, false,
                         BZ_GUARD_STATUS | BZ_GUARD_FREE | BZ_GUARD_NOBODY_WAITS |
                             BZ_GUARD_NOBODY_WOKEN},
    [BZ_SPEC_ENQUEUE] = {IDLE, WAITING, 0, true, false, BZ_GUARD_STATUS | BZ_GUARD_LOCKED},
    [BZ_SPEC_RELEASE] = {HOLDING, IDLE, +1, false, false, BZ_GUARD_STATUS},
    [BZ_SPEC_WAKE] = {WAITING, WOKEN, 0, false, true, BZ_GUARD_SPARE | BZ_GUARD_OLDEST},
    [BZ_SPEC_RESUME] = {WOKEN, HOLDING, -1, false, false, BZ_GUARD_STATUS},
    [BZ_SPEC_CANCEL_WAITING] = {WAITING, CANCELLED, 0, false, true, BZ_GUARD_STATUS},
    [BZ_SPEC_CANCEL_WOKEN] = {WOKEN, DOOMED, 0, false, false, BZ_GUARD_STATUS},
    [BZ_SPEC_GIVE_BACK] = {DOOMED, IDLE, 0, false, false, BZ_GUARD_STATUS},
    [BZ_SPEC_REMOVE] = {CANCELLED, IDLE, 0, false, false, BZ_GUARD_STATUS},
};

static const char *const action_names[] = {
    "Acquire",       "Enqueue",     "Release",  "Wake",   "Resume",
    "CancelWaiting", "CancelWoken", "GiveBack", "Remove", NULL,
};

enum {
    TYPE = 1u << 0u,
    PARTITION = 1u << 1u,
    LEVEL_BOUND = 1u << 2u,
    CONSERVATION = 1u << 3u,
    FIFO = 1u << 4u,
    NO_PASSING = 1u << 5u,
    ONE_ANSWER = 1u << 6u,
    NO_LOST_WAKEUP = 1u << 7u,
    NO_DEADLOCK = 1u << 8u,
};

static const struct bz_spec_invariant invariants[] = {
    {"TypeInvariant", "0 <= level <= Permits, every status is one of the six"},
    {"Partition", "the line is the W, each in it once"},
    {"LevelBound", "level >= |R|"},
    {"Conservation", "level + |holding| = Permits"},
    {"Fifo", "no Wake is enabled but that of the head of the line"},
    {"NoPassing", "while there is a W or an R, no Acquire is enabled"},
    {"OneAnswer", "of Acquire(c) and Enqueue(c), exactly one is enabled for an idle c"},
    {"NoLostWakeup", "if there is a W and level > |R|, Wake of the head of the line is enabled"},
    {"NoDeadlock", "all are idle, or an action other than a cancel is enabled"},
};

const char *bz_spec_action_name(enum bz_spec_action action) {
    return action_names[action];
}

uint32_t bz_spec_guards_of(enum bz_spec_action action) {
    return actions[action].guards;
}

const char *bz_spec_guard_text(enum bz_spec_action action, uint32_t guard) {
    static const char *const by_status[STATUS_COUNT] = {
        "the client is idle",      "the client is waiting", "the client is woken",
        "the client is cancelled", "the client is doomed",  "the client is holding"};
    static const char *const others[] = {"level > 0",   "no W",
                                         "no R",        "W or R or level = 0",
                                         "level > |R|", "the client is the head of the line"};
    return guard == BZ_GUARD_STATUS ? by_status[actions[action].from]
                                    : others[__builtin_ctz(guard) - 1];
}

/* Sets of clients, as bits, in one state. */
struct survey {
    uint32_t all;
    uint32_t of[STATUS_COUNT];
    uint32_t lined; /* in the line */
    uint32_t head;  /* of the line; 0: it is empty */
    struct bz_spec_counts counts;
    uint32_t enabled[BZ_SPEC_ACTION_COUNT]; /* those that may take the action */
};

static void look(const struct bz_spec_constants *constants, const struct bz_packed *state,
                 struct survey *survey) {
    uint32_t lined = 0;
    survey->all = (1u << constants->clients) - 1u;
    for (uint32_t status = 0; status < STATUS_COUNT; status++) {
        survey->of[status] = bz_packed_of_status(state, status, constants->clients);
    }
    for (uint32_t position = 0; position < state->length; position++) {
        lined |= 1u << bz_packed_at(state, position);
    }
    survey->lined = lined;
    survey->head = state->length > 0 ? 1u << bz_packed_at(state, 0) : 0;
    survey->counts = (struct bz_spec_counts){
        .level = state->level,
        .waiting = (uint32_t)__builtin_popcount(survey->of[WAITING]),
        .woken = (uint32_t)__builtin_popcount(survey->of[WOKEN] | survey->of[DOOMED])};
}

/* The guards that fail for every client. */
static uint32_t unmet_by(const struct survey *survey, enum bz_spec_action action) {
    switch (action) {
    case BZ_SPEC_ACQUIRE:
        return bz_unmet_acquire(survey->counts);
    case BZ_SPEC_ENQUEUE:
        return bz_unmet_enqueue(survey->counts);
    case BZ_SPEC_WAKE:
        return bz_unmet_wake(survey->counts, true);
    default:
        return 0;
    }
}

static void enable(const struct bz_spec_constants *constants, struct survey *survey) {
    for (uint32_t action = 0; action < BZ_SPEC_ACTION_COUNT; action++) {
        uint32_t left_out = action == constants->left_out_action ? constants->left_out_guards : 0;
        uint32_t who =
            (left_out & BZ_GUARD_STATUS) != 0 ? survey->all : survey->of[actions[action].from];
        if (action == BZ_SPEC_WAKE && (left_out & BZ_GUARD_OLDEST) == 0) {
            who &= survey->head;
        }
        bool is_met = (unmet_by(survey, (enum bz_spec_action)action) & ~left_out) == 0 &&
                      (constants->forbidden_actions >> action & 1u) == 0;
        survey->enabled[action] = is_met ? who : 0;
    }
}

static uint32_t if_not(bool holds, uint32_t invariant) {
    return holds ? 0 : invariant;
}

static uint32_t broken_in(const struct bz_spec_constants *constants, const struct bz_packed *state,
                          const struct survey *survey) {
    const uint32_t *of = survey->of;
    const uint32_t *enabled = survey->enabled;
    uint32_t waiters = of[WAITING] | of[WOKEN] | of[DOOMED] | of[CANCELLED];
    uint32_t can_acquire = enabled[BZ_SPEC_ACQUIRE];
    uint32_t can_enqueue = enabled[BZ_SPEC_ENQUEUE];
    uint32_t can_wake = enabled[BZ_SPEC_WAKE];
    bool is_spare = survey->counts.level > (int64_t)survey->counts.woken;
    uint32_t moves = 0;
    for (uint32_t action = 0; action < BZ_SPEC_ACTION_COUNT; action++) {
        bool is_cancel = action == BZ_SPEC_CANCEL_WAITING || action == BZ_SPEC_CANCEL_WOKEN;
        moves |= is_cancel ? 0 : enabled[action];
    }
    return if_not(state->level >= 0 && state->level <= (int32_t)constants->permits &&
                      (waiters | of[IDLE] | of[HOLDING]) == survey->all,
                  TYPE) |
           if_not(survey->lined == of[WAITING] && survey->counts.waiting == state->length,
                  PARTITION) |
           if_not(survey->counts.level >= (int64_t)survey->counts.woken, LEVEL_BOUND) |
           if_not(state->level + __builtin_popcount(of[HOLDING]) == (int32_t)constants->permits,
                  CONSERVATION) |
           if_not((can_wake & ~survey->head) == 0, FIFO) |
           if_not((of[WAITING] | of[WOKEN] | of[DOOMED]) == 0 || can_acquire == 0, NO_PASSING) |
           if_not(((can_acquire ^ can_enqueue) & of[IDLE]) == of[IDLE], ONE_ANSWER) |
           if_not(of[WAITING] == 0 || !is_spare || (can_wake & survey->head) != 0, NO_LOST_WAKEUP) |
           if_not(of[IDLE] == survey->all || moves != 0, NO_DEADLOCK);
}

static struct bz_spec_step step_of(const struct bz_spec_constants *constants,
                                   const struct bz_packed *from, uint32_t action, uint32_t client) {
    struct bz_packed to = *from;
    to.level += actions[action].change;
    bz_packed_set_status(&to, client, actions[action].to);
    if (actions[action].joins) {
        bz_packed_append(&to, client, constants->clients);
    } else if (actions[action].leaves) {
        bz_packed_leave(&to, client);
    }
    return (struct bz_spec_step){
        .state = bz_packed_store(&to), .action = (uint8_t)action, .client = (uint8_t)client};
}

static uint32_t expand(const struct bz_spec_constants *constants, struct bz_spec_state state,
                       struct bz_spec_step *steps, uint32_t *broken) {
    struct bz_packed from = bz_packed_load(state);
    struct survey survey;
    uint32_t count = 0;
    look(constants, &from, &survey);
    enable(constants, &survey);
    *broken = broken_in(constants, &from, &survey);
    for (uint32_t action = 0; action < BZ_SPEC_ACTION_COUNT; action++) {
        for (uint32_t who = survey.enabled[action]; who != 0; who &= who - 1) {
            uint32_t client = (uint32_t)__builtin_ctz(who);
            steps[count++] = step_of(constants, &from, action, client);
        }
    }
    return count;
}

const struct bz_spec bz_spec_buzzer = {
    .name = "buzzer",
    .summary = "the semaphore that ships: woken and resumed are two states",
    .actions = action_names,
    .statuses = status_names,
    .invariants = invariants,
    .invariant_count = sizeof invariants / sizeof invariants[0],
    .expand = expand,
};
