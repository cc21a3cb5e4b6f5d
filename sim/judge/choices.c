/* The choices of a run: asks the strategy and writes the tape. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/judge/internal.h"

/* --- the tape --------------------------------------------------------------------------------- */

void bz_judge_grow_tape(struct bz_judge *judge) {
    if (!bz_tape_grow(&judge->tape)) {
        bz_judge_lacks(judge, "the " BZ_RECORD_TEXT " of a record", "the tape of choices");
        judge->tape.count--; /* a judge begins with a tape of some choices */
    }
}

static void note_choice(struct bz_judge *judge, struct bz_choice choice) {
    *bz_judge_next_choice(judge) = choice;
    judge->tape.count++;
}

/* --- which handle is next --------------------------------------------------------------------- */

/* Checks a handle's name: a wrong one could not be found in another run. */
static bool is_named(const struct bz_judge *judge, const struct bz_ready *ready) {
    return ready->owner <= judge->shadow.task_count && ready->role < BZ_ROLE_COUNT &&
           (ready->role != BZ_ROLE_STEP ||
            ready->nth == judge->shadow.tasks[ready->owner].next_step);
}

/* The index of what runs instead of the chosen handle. */
static uint32_t instead_of(struct bz_judge *judge, const struct bz_ready *ready, uint32_t count,
                           uint32_t chosen) {
    uint64_t tasks = bz_judge_instead(judge, &ready[chosen]);
    if (tasks == BZ_INSTEAD_BEHIND) {
        return (chosen + 1) % count;
    }
    for (uint32_t place = 0; tasks != 0 && place < BZ_INSTEAD_REACH && place < count; place++) {
        if (bz_is_step_of(&ready[(chosen + place) % count], tasks)) {
            return (chosen + place) % count;
        }
    }
    return chosen;
}

uint32_t bz_judge_next(struct bz_judge *judge, const struct bz_ready *ready, uint32_t count) {
    if (judge->strategy == NULL || count == 0 || judge->shadow.running != 0) {
        bz_judge_refuse(judge, "bz_judge_next() of %u handles, while task %u is running", count,
                        judge->shadow.running);
    }
    if (judge->is_stopped) {
        return 0;
    }
    uint32_t index = 0;
    if (count > 1 && judge->config.order == BZ_ORDER_ANY) {
        judge->has_choice = true;
        index = judge->strategy->next(judge->strategy_state, ready, count, judge->step + 1);
        BZ_CHECK(index < count);
        index = instead_of(judge, ready, count, index);
    }
    if (!is_named(judge, &ready[index])) {
        bz_judge_refuse(judge, "handle %u of role %u of task %u, which is not its next one",
                        ready[index].nth, ready[index].role, ready[index].owner);
    }
    bz_judge_begin_step(judge, index, ready[index]);
    return index;
}

/* --- is a cancel due, into whom --------------------------------------------------------------- */
/* The victim is chosen when the cancel strikes, not when it is planned: among all tasks whose
 * window is enabled, sorted by window, so that a strategy can weigh windows. */

static bool reserve_candidates(struct bz_judge *judge, uint32_t count) {
    if (count <= judge->candidates_capacity) {
        return true;
    }
    uint32_t capacity = 2 * count;
    struct bz_cancel_candidate *larger =
        bz_mem_grow(judge->mem, judge->candidates, judge->candidates_capacity * sizeof *larger,
                    capacity * sizeof *larger);
    if (larger == NULL) {
        bz_judge_lacks(judge, NULL, "the candidates of a cancel");
        return false;
    }
    judge->candidates = larger;
    judge->candidates_capacity = capacity;
    return true;
}

/* How a cancel would strike this task; BZ_WINDOW_NONE: not at all. */
static inline struct bz_cancel_candidate candidate(const struct bz_judge *judge, uint32_t id) {
    const struct bz_shadow_task *task = &judge->shadow.tasks[id];
    uint32_t window = bz_shadow_window(task);
    bool is_enabled = (judge->config.cancel_windows >> window & 1u) != 0;
    bool is_victim = is_enabled & !task->is_freed & !task->is_helper & !task->is_protected;
    return (struct bz_cancel_candidate){.task = id,
                                        .nth = task->next_step,
                                        .window = (uint8_t)(is_victim ? window : BZ_WINDOW_NONE)};
}

/* A counting sort by window, stable in task order. Tasks that cannot be hit come last. Without
 * memory there are none. */
static uint32_t collect(struct bz_judge *judge) {
    uint32_t task_count = judge->shadow.task_count;
    uint32_t place[BZ_WINDOW_COUNT] = {0};
    uint32_t total = 0;
    if (!reserve_candidates(judge, 2 * task_count)) {
        return 0;
    }
    struct bz_cancel_candidate *sorted = judge->candidates;
    struct bz_cancel_candidate *unsorted = judge->candidates + task_count;
    for (uint32_t index = 0; index < task_count; index++) {
        unsorted[index] = candidate(judge, index + 1);
        place[unsorted[index].window]++;
    }
    for (uint32_t window = BZ_WINDOW_NONE + 1; window < BZ_WINDOW_COUNT; window++) {
        uint32_t count = place[window];
        place[window] = total;
        total += count;
    }
    place[BZ_WINDOW_NONE] = total;
    for (uint32_t index = 0; index < task_count; index++) {
        sorted[place[unsorted[index].window]++] = unsorted[index];
    }
    return total;
}

/* Most tasks can be hit for long, so the search continues where the last one ended. */
static bool has_candidate(struct bz_judge *judge) {
    uint32_t task_count = judge->shadow.task_count;
    for (uint32_t tried = 0; tried < task_count; tried++) {
        uint32_t id = 1 + (judge->last_candidate + tried) % task_count;
        if (candidate(judge, id).window != BZ_WINDOW_NONE) {
            judge->last_candidate = id - 1;
            return true;
        }
    }
    return false;
}

/* True if the strategy passes this point without a look at the candidates. */
static bool passes(struct bz_judge *judge) {
    const struct bz_strategy *strategy = judge->strategy;
    return strategy->passes != NULL && has_candidate(judge) &&
           strategy->passes(judge->strategy_state);
}

uint32_t bz_judge_inject(struct bz_judge *judge) {
    /* No cancel after every task has ended. */
    bool may_strike = judge->shadow.unfinished > 0 && !passes(judge);
    uint32_t count = may_strike ? collect(judge) : 0;
    if (count == 0) {
        return 0; /* asked again at the next point */
    }
    uint32_t answer = judge->strategy->cancel(judge->strategy_state, judge->candidates, count,
                                              judge->step + 1, judge->point);
    judge->cancel_gap = judge->strategy->cancel_gap(judge->strategy_state);
    if (answer == 0) {
        return 0;
    }
    const struct bz_cancel_candidate *victim = &judge->candidates[answer - 1];
    judge->cancels_left--;
    judge->step++;
    judge->injected_step = judge->step;
    note_choice(judge, (struct bz_choice){.kind = BZ_CHOICE_CANCEL,
                                          .step = judge->step,
                                          .owner = victim->task,
                                          .nth = victim->nth,
                                          .value = judge->point,
                                          .window = victim->window});
    judge->stats.injected++;
    bz_judge_note_inject(judge, victim->task);
    return victim->task;
}

uint32_t bz_judge_cancel(struct bz_judge *judge) {
    judge->point = judge->point_step == judge->step + 1 ? judge->point + 1 : 0;
    judge->point_step = judge->step + 1;
    return bz_judge_cancel_is_due(judge) ? bz_judge_inject(judge) : 0;
}

/* --- does the clock jump ---------------------------------------------------------------------- */

bool bz_judge_polls(const struct bz_judge *judge, uint32_t steps) {
    uint32_t last =
        judge->progress_step > judge->clock_step ? judge->progress_step : judge->clock_step;
    return judge->step >= last + steps && !judge->overtime.is_on;
}

/* Nothing that the task waits for is there. */
static bool must_wait(const struct bz_judge *judge, const struct bz_shadow_task *task) {
    const struct bz_shadow_object *object = &judge->shadow.objects[task->object];
    if (object->look.must_wait != NULL) {
        return object->look.must_wait(object->look.instance);
    }
    bool is_counted = object->kind != BZ_OBJECT_CONDITION && object->kind != BZ_OBJECT_BARRIER &&
                      object->size != BZ_QUEUE_RENDEZVOUS;
    return is_counted && task->is_live && object->permits <= object->holders;
}

uint32_t bz_judge_only_polls(const struct bz_judge *judge, enum bz_polls kind) {
    bool are_vain = kind != BZ_POLLS_ANY;
    const struct bz_shadow *shadow = &judge->shadow;
    uint32_t polls = 0;
    for (uint32_t id = 1; id <= shadow->task_count; id++) {
        const struct bz_shadow_task *task = &shadow->tasks[id];
        bool waits = task->phase == BZ_PHASE_SUSPENDED &&
                     (!task->cancel_pending || task->waits_on) &&
                     (task->await == BZ_AWAIT_PENDING ||
                      (task->wait == BZ_WAIT_SLEEP && !are_vain)); /* it asks again now */
        bool is_asleep = task->wait == BZ_WAIT_FUTURE || task->wait == BZ_WAIT_JOIN ||
                         (task->wait == BZ_WAIT_SLEEP && kind == BZ_POLLS_VAIN_NOW);
        if (task->phase == BZ_PHASE_DONE || task->is_helper || (waits && is_asleep)) {
            continue;
        }
        if (!waits || task->op == BZ_OP_NONE || (are_vain && !must_wait(judge, task))) {
            return 0;
        }
        polls++;
    }
    return polls;
}

bool bz_judge_jump(struct bz_judge *judge, uint64_t lag_ns) {
    if (judge->jump_gap > 0) {
        judge->jump_gap -= judge->jump_gap != BZ_GAP_NEVER;
        judge->has_choice |= bz_judge_polls(judge, BZ_SPIN_STEPS);
        return false;
    }
    if (judge->overtime.is_on) {
        return bz_overtime_jumps(judge);
    }
    bool fits = lag_ns <= bz_judge_lag_left_ns(judge);
    if (!fits &&
        !bz_judge_polls(judge, BZ_SPIN_STEPS)) { /* not asked, so a search sees no choice */
        judge->is_lag_refused = true;
        return false;
    }
    judge->has_choice = true;
    bool is_jump = judge->strategy->jump(judge->strategy_state, judge->step + 1);
    judge->jump_gap = judge->strategy->jump_gap(judge->strategy_state);
    if (is_jump) {
        judge->lag_ns += fits ? lag_ns : 0;
        judge->has_spun |= !fits;
        note_choice(judge, (struct bz_choice){.kind = BZ_CHOICE_DELAY,
                                              .step = judge->step + 1,
                                              .value = BZ_CHOICE_LAG});
    }
    return is_jump;
}

bool bz_judge_retimes(struct bz_judge *judge) {
    if (!bz_judge_is_newer(judge, BZ_OLDER_NEVER_RETIMES) || judge->overtime.is_on) {
        return false;
    }
    judge->has_choice = true;
    judge->retimes = judge->retimes_step == judge->step + 1 ? judge->retimes + 1 : 0;
    judge->retimes_step = judge->step + 1;
    if (judge->jump_gap > 0) {
        judge->jump_gap -= judge->jump_gap != BZ_GAP_NEVER;
        return false;
    }
    const struct bz_strategy *strategy = judge->strategy;
    uint32_t step = judge->step + 1, value = BZ_CHOICE_RETIME + judge->retimes;
    bool is_moved = strategy->retime != NULL ? strategy->retime(judge->strategy_state, step, value)
                                             : strategy->jump(judge->strategy_state, step);
    judge->jump_gap = strategy->jump_gap(judge->strategy_state);
    if (is_moved) {
        note_choice(judge,
                    (struct bz_choice){.kind = BZ_CHOICE_DELAY, .step = step, .value = value});
    }
    return is_moved;
}

bool bz_judge_is_newer(const struct bz_judge *judge, enum bz_older older) {
    return judge->config.older < older;
}

/* --- what is drawn ---------------------------------------------------------------------------- */

static uint32_t next_draw(struct bz_judge *judge, uint32_t task) {
    if (task >= judge->draws_capacity) {
        uint32_t capacity = judge->draws_capacity == 0 ? 64 : judge->draws_capacity;
        while (capacity <= task) {
            capacity *= 2;
        }
        uint32_t *larger =
            bz_mem_grow(judge->mem, judge->draws, judge->draws_capacity * sizeof *larger,
                        capacity * sizeof *larger);
        if (larger == NULL) {
            bz_judge_lacks(judge, NULL, "the numbers of draws");
            return 0;
        }
        memset(larger + judge->draws_capacity, 0,
               (capacity - judge->draws_capacity) * sizeof *larger);
        judge->draws = larger;
        judge->draws_capacity = capacity;
    }
    return ++judge->draws[task];
}

/* `pick` is the number of a pick; 0: it is none. */
static uint64_t draw(struct bz_judge *judge, enum bz_choice_kind kind, const char *label,
                     uint64_t bound, uint64_t favoured, uint32_t pick) {
    if (judge->strategy == NULL || label == NULL || bound == 0 || bound > BZ_TIME_MAX_NS) {
        bz_judge_refuse(judge, "a draw '%s' below %" PRIu64, label == NULL ? "" : label, bound);
        return 0;
    }
    uint32_t task = judge->shadow.running;
    judge->is_setup_fixed = false;
    judge->has_choice |= bound > 1;
    uint64_t below_bound = bound < 64 ? (UINT64_C(1) << bound) - 1 : UINT64_MAX;
    struct bz_draw question = {
        .bound = bound,
        .favoured = bz_judge_is_newer(judge, BZ_OLDER_FAVOURS_NOTHING) ? favoured & below_bound : 0,
        .label = label,
        .owner = task,
        .nth = pick != 0 ? pick : next_draw(judge, task)};
    uint64_t value = judge->strategy->draw(judge->strategy_state, kind, &question, judge->step);
    BZ_CHECK(value < bound);
    if (pick == 0 || value != 0) {
        bz_judge_note_draw(judge, kind, value);
    }
    if (value != 0) {
        note_choice(judge, (struct bz_choice){.kind = (uint8_t)kind,
                                              .step = judge->step,
                                              .owner = task,
                                              .nth = question.nth,
                                              .label = label,
                                              .bound = bound,
                                              .value = value});
    }
    return value;
}

uint64_t bz_judge_draw(struct bz_judge *judge, const char *label, uint64_t bound) {
    return draw(judge, BZ_CHOICE_DATA, label, bound, 0, 0);
}

uint64_t bz_judge_pick(struct bz_judge *judge, const char *label, uint64_t bound) {
    bool is_picked = bz_judge_is_newer(judge, BZ_OLDER_PICKS_THE_FIRST);
    return is_picked ? draw(judge, BZ_CHOICE_DATA, label, bound, 0, ++judge->picked) : 0;
}

uint64_t bz_judge_draw_favoured(struct bz_judge *judge, const char *label, uint64_t bound,
                                uint64_t favoured) {
    return draw(judge, BZ_CHOICE_DATA, label, bound, favoured, 0);
}

uint64_t bz_judge_draw_delay_ns(struct bz_judge *judge, const char *label, uint64_t least_ns,
                                uint64_t most_ns) {
    uint64_t bound = least_ns <= most_ns && most_ns < BZ_TIME_MAX_NS ? most_ns - least_ns + 1 : 0;
    return least_ns + draw(judge, BZ_CHOICE_DELAY, label, bound, 0, 0);
}
