/* After the step limit: is the run a livelock, or was it cut short? See internal.h.
 *
 * A livelock is proved by a cycle of states in an order that is fair to every task. The states are
 * compared once a turn, when every handle that was ready has run; a cycle is found as Brent does.
 * Busy programs pay for the turns without progress only. After a cycle the overtime lasts to its
 * end, in case that the source does not see all of its state. */
#include "sim/choice/pcg.h"
#include "sim/judge/internal.h"
#include "sim/judge/oracle/permit/lost_wakeup.h"

#define TURNS_MAX 512u
#define STEPS_LEAST 1000u

/* --- the default choices ---------------------------------------------------------------------- */

static uint32_t oldest(void *state, const struct bz_ready *ready, uint32_t count, uint32_t step) {
    (void)state;
    (void)ready;
    (void)count;
    (void)step;
    return 0;
}

static uint64_t least(void *state, enum bz_choice_kind kind, const struct bz_draw *question,
                      uint32_t step) {
    (void)state;
    (void)kind;
    (void)question;
    (void)step;
    return 0;
}

/* It keeps no state, because the state of the run's strategy is needed after it. The gaps of the
 * judge leave it no cancel and no jump. */
static const struct bz_strategy strategy_default = {
    .name = "default", .summary = "the default choices", .next = oldest, .draw = least};

/* --- the state -------------------------------------------------------------------------------- */

static uint64_t fold_task(uint64_t print, const struct bz_shadow_task *task) {
    print = bz_digest_word(print, (uint64_t)task->phase | (uint64_t)task->op << 8u |
                                      (uint64_t)task->wait << 16u | (uint64_t)task->await << 24u |
                                      (uint64_t)task->inside << 32u |
                                      (uint64_t)task->cancel_pending << 40u);
    return bz_digest_word(print, (uint64_t)task->object << 32u | task->holdings);
}

static uint64_t fold_object(uint64_t print, const struct bz_shadow_object *object) {
    print = bz_digest_word(print, object->permits);
    print = bz_digest_word(print, object->holders);
    return bz_digest_word(print, object->live);
}

static uint64_t count_draws(const struct bz_judge *judge) {
    uint64_t draws = 0;
    for (uint32_t task = 0; task < judge->draws_capacity; task++) {
        draws += judge->draws[task];
    }
    return draws;
}

/* The source's state, and what a program may ask the judge about. Draws are counted, so that a
 * cycle has none: another value might lead out. */
static bool fingerprint(struct bz_judge *judge, uint64_t *print) {
    const struct bz_shadow *shadow = &judge->shadow;
    if (!judge->config.fingerprint(judge->config.source, print)) {
        return false;
    }
    for (uint32_t id = 1; id <= shadow->task_count; id++) {
        *print = fold_task(*print, &shadow->tasks[id]);
    }
    for (uint32_t number = 1; number <= shadow->object_count; number++) {
        *print = fold_object(*print, &shadow->objects[number]);
    }
    *print = bz_digest_word(bz_digest_word(*print, count_draws(judge)), judge->now_ns);
    return true;
}

/* How many steps a turn has. Callbacks and timers are not counted: then a turn is longer. */
static uint32_t count_ready(const struct bz_shadow *shadow) {
    uint32_t count = 0;
    for (uint32_t id = 1; id <= shadow->task_count; id++) {
        count += bz_shadow_is_ready(&shadow->tasks[id]);
    }
    return count == 0 ? 1 : count;
}

/* Clears the numbers of the judge, which tasks leave on their stacks. */
static void begin_turn(struct bz_judge *judge) {
    judge->step = 0;
    judge->progress_step = 0;
    judge->digest = BZ_DIGEST_SEED;
    judge->overtime.turn_left = count_ready(&judge->shadow);
}

static void set_mark(struct bz_overtime *over, uint64_t print) {
    over->has_mark = true;
    over->mark = print;
    over->may_jump = false;
    over->lap = 0;
    over->lap_end *= 2;
}

/* The state is that of the mark. If it is the whole state, the rest of the overtime is the same. */
static void close_cycle(struct bz_judge *judge) {
    struct bz_overtime *over = &judge->overtime;
    if (over->may_jump) {
        over->will_jump = true;
        over->has_mark = false;
        over->lap_end = 1;
    } else {
        over->is_closed = true;
    }
}

/* Help that is over may have come after the last task asked. */
static void note_help(struct bz_judge *judge) {
    for (uint32_t number = 1; number <= judge->shadow.object_count; number++) {
        const struct bz_shadow_object *object = bz_judge_shadow_object(judge, number);
        judge->overtime.was_helped |= lost_wakeup_may_serve(object) && bz_is_helped(judge, object);
    }
}

/* It may look less often than it wakes. */
static bool sleeps_inside(const struct bz_judge *judge) {
    bool is_found = false;
    for (uint32_t id = 1; id <= judge->shadow.task_count; id++) {
        const struct bz_shadow_task *task = &judge->shadow.tasks[id];
        is_found |= task->phase == BZ_PHASE_SUSPENDED && task->wait == BZ_WAIT_SLEEP &&
                    task->op != BZ_OP_NONE;
    }
    return is_found;
}

/* All that happened in the whole overtime is that each task asked again, and one could go on, while
 * the code under test never had anything under way that might help. */
static bool polls_for_nothing(struct bz_judge *judge) {
    struct bz_overtime *over = &judge->overtime;
    bool is_found = false;
    note_help(judge);
    if (over->progresses || count_draws(judge) != over->draws || sleeps_inside(judge) ||
        bz_judge_only_polls(judge, BZ_POLLS_ANY) == 0 || over->was_helped) {
        return false;
    }
    for (uint32_t number = 1; number <= judge->shadow.object_count; number++) {
        is_found |= lost_wakeup_may_serve(bz_judge_shadow_object(judge, number));
    }
    return is_found;
}

static void end_unfinished(struct bz_judge *judge) {
    struct bz_overtime *over = &judge->overtime;
    over->progresses |= judge->progress_step != 0;
    over->in_vain = !over->is_closed && polls_for_nothing(judge);
    over->is_livelock = over->in_vain || (over->is_closed && judge->progress_step == 0);
    judge->is_stopped = true;
}

/* Looks at the state between two turns. */
static void look(struct bz_judge *judge) {
    struct bz_overtime *over = &judge->overtime;
    uint64_t print;
    note_help(judge);
    if (judge->progress_step != 0) {
        over->progresses = true;
        over->has_mark = false;
        over->lap_end = 1;
    } else if (over->turns_left-- == 0) {
        end_unfinished(judge);
    } else if (!fingerprint(judge, &print)) {
        judge->is_stopped = true;
    } else if (over->has_mark && print == over->mark) {
        close_cycle(judge);
    } else if (!over->has_mark || ++over->lap == over->lap_end) {
        set_mark(over, print);
    }
    begin_turn(judge);
}

/* --- the overtime ----------------------------------------------------------------------------- */

bool bz_overtime_begin(struct bz_judge *judge) {
    struct bz_overtime *over = &judge->overtime;
    const struct bz_judge_config *config = &judge->config;
    if (config->fingerprint == NULL || judge->shadow.unfinished == 0 ||
        (config->oracles_off >> bz_oracle_index("livelock") & 1u) != 0) {
        return false;
    }
    uint32_t steps = config->steps_max < STEPS_LEAST ? STEPS_LEAST : config->steps_max;
    uint64_t handoffs = bz_judge_handoffs(judge);
    *over = (struct bz_overtime){.is_on = true,
                                 .has_been = true,
                                 .turns_left = TURNS_MAX,
                                 .steps_left = steps,
                                 .lap_end = 1,
                                 .step = judge->step,
                                 .progress_step = judge->progress_step,
                                 .digest = judge->digest,
                                 .now_ns = judge->now_ns,
                                 .handoffs = handoffs,
                                 .draws = count_draws(judge),
                                 .strategy = judge->strategy,
                                 .stats = judge->stats};
    judge->sink = NULL;
    judge->strategy = &strategy_default;
    judge->cancel_gap = BZ_GAP_NEVER;
    judge->cancels_left = 0;
    judge->jump_gap = 0;
    note_help(judge);
    begin_turn(judge);
    return true;
}

bool bz_overtime_goes_on(struct bz_judge *judge) {
    struct bz_overtime *over = &judge->overtime;
    if (judge->stop != NULL && __atomic_load_n(judge->stop, __ATOMIC_RELAXED) != 0) {
        bz_judge_give_up(judge);
    } else if (over->steps_left-- == 0) {
        end_unfinished(judge);
    } else if (!over->is_closed && over->turn_left-- == 0) {
        look(judge);
        over->turn_left--; /* the step that follows */
    }
    if (judge->is_stopped) {
        bz_overtime_end(judge);
        return false;
    }
    return true;
}

bool bz_overtime_jumps(struct bz_judge *judge) {
    struct bz_overtime *over = &judge->overtime;
    bool is_jump = over->will_jump;
    over->may_jump = true;
    over->will_jump = false;
    return is_jump;
}

void bz_overtime_end(struct bz_judge *judge) {
    struct bz_overtime *over = &judge->overtime;
    over->is_on = false;
    judge->step = over->step;
    judge->progress_step = over->progress_step;
    judge->digest = over->digest;
    judge->now_ns = over->now_ns;
    judge->strategy = over->strategy;
    judge->stats = over->stats;
    judge->call.kind = 0;
    judge->refused.guards = 0;
    judge->shadow.dirty = 0;
    judge->is_stopped = true;
    judge->pause_at = 0;
}
