#include "sim/native/world.h"

#include <stdio.h>
#include <stdlib.h>

#include "primitives/runtime/place.h"
#include "sim/native/exceptions.h"
#include "sim/native/image.h"
#include "sim/native/internal.h"
#include "traces/lack.h"

static bool memory_was_refused(void *source) {
    return bz_shortage(source) != BZ_SHORT_OF_NOTHING || bz_world_has_refused_memory(source);
}

static bool fingerprint(void *source, uint64_t *print) {
    struct bz_native *native = source;
    native->marked_step = UINT32_MAX; /* the judge counts steps from 0 again */
    bz_image_normalize(native->world.loop);
    return bz_image_fingerprint(native->world.loop, print);
}

#define BLOCKS_OF_LOOP 2u /* of an empty one: its queue and its heap */

static struct bz_loop *new_loop(const struct bz_loop_config *config) {
    struct bz_loop_config own = *config;
    own.tasks_max = BZ_TASKS_MAX;
    struct bz_loop *loop = bz_loop_new(&own);
    if (loop != NULL) {
        bz_mem_mark_freed(loop->mem);
    }
    return loop;
}

/* --- life ------------------------------------------------------------------------------------- */

struct bz_world *bz_world_new(const struct bz_judge_config *config,
                              const struct bz_variant *variant) {
    struct bz_native *native = bz_place_new(sizeof *native, NULL);
    if (native == NULL) {
        return NULL;
    }
    struct bz_judge_config own = *config;
    if (own.source == NULL) {
        own.callback_is_ready = bz_native_callback_is_ready;
        own.variant_is_busy = bz_native_variant_is_busy;
        own.variant_until_ns = bz_native_variant_until_ns;
        own.memory_was_refused = memory_was_refused;
        own.waiters_max = variant->waiters_max;
        own.keeps_result = variant->rules != NULL && variant->rules->woken == BZ_WOKEN_KEEPS_RESULT;
        own.fingerprint = fingerprint;
        own.source = native;
    }
    native->world.variant = variant;
    bz_spare_begin(native);
    if (!bz_spare_take(native, &own)) {
        native->world.judge = bz_judge_new(&own);
        native->world.loop = new_loop(&(struct bz_loop_config){.stack_bytes = 0});
    }
    if (native->world.judge == NULL || native->world.loop == NULL) {
        bz_world_destroy(&native->world);
        return NULL;
    }
    bz_exceptions_find(native->world.loop, variant);
    return &native->world;
}

void bz_world_destroy(struct bz_world *world) {
    if (world != NULL) {
        struct bz_native *native = bz_native_of(world);
        bz_native_forget_setups(native);
        free(native->ready);
        bz_ready_set_fini(&native->many);
        if (!bz_spare_keep(native)) {
            bz_judge_destroy(world->judge);
            bz_loop_destroy(world->loop);
            bz_place_free(native, sizeof *native);
        }
    }
}

bool bz_world_set_loop(struct bz_world *world, const struct bz_loop_config *config) {
    struct bz_loop *loop = new_loop(config);
    if (loop == NULL) {
        return false;
    }
    loop->exceptions = world->loop->exceptions;
    bz_native_forget_setups(bz_native_of(world));
    bz_loop_destroy(world->loop);
    world->loop = loop;
    return true;
}

void bz_world_begin(struct bz_world *world) {
    struct bz_native *native = bz_native_of(world);
    bz_loop_reset(world->loop);
    BZ_CHECK(bz_mem_live_blocks(world->loop->mem) == BLOCKS_OF_LOOP);
    bz_loop_set_rules(world->loop, world->variant->rules);
    bz_native_observe(native);
    native->outside_is_past = true;
    native->has_many = false;
    native->rest_timer = NULL;
    bz_native_let_refuse(native, NULL);
    native->alike_count = 0;
    if (native->watch != NULL && native->watch->begin != NULL) {
        native->watch->begin(native->watch->context, world);
    }
}

/* --- the clock -------------------------------------------------------------------------------- */

static void set_clock(struct bz_native *native, uint64_t now_ns) {
    bz_driver_set_now(native->world.loop, now_ns);
    bz_judge_clock(native->world.judge, now_ns);
}

/* Moves the clock to the next timer. False if there is none that counts. */
static bool advance_clock(struct bz_native *native) {
    uint64_t deadline_ns = bz_driver_next_deadline_ns(native->world.loop);
    if (deadline_ns > BZ_TIME_MAX_NS) {
        return false;
    }
    if (deadline_ns > native->world.loop->now_ns) {
        bz_judge_idle(native->world.judge, deadline_ns);
        if (native->world.judge->is_stopped) {
            return false;
        }
        set_clock(native, deadline_ns);
    }
    return true;
}

/* The loop was busy, or woke late: timers become due while handles are ready. */
static void jump_clock(struct bz_native *native) {
    const struct bz_loop *loop = native->world.loop;
    uint64_t deadline_ns = bz_driver_next_deadline_ns(loop);
    if (deadline_ns <= BZ_TIME_MAX_NS && deadline_ns > loop->now_ns &&
        bz_judge_jump(native->world.judge, deadline_ns - loop->now_ns)) {
        set_clock(native, deadline_ns);
    }
}

/* After due timers were queued behind the carried handles; `was_ns`: the time before. False: an
 * oracle objects, and the run is over. */
static inline bool timers_are_right(struct bz_native *native, uint64_t was_ns, uint32_t carried) {
    const struct bz_loop *loop = native->world.loop;
    uint32_t queued = loop->ready_count - carried;
    native->is_over =
        (queued > 0 || loop->now_ns > was_ns) && !bz_native_judge_timers(native, was_ns, queued);
    return !native->is_over;
}

/* --- the step --------------------------------------------------------------------------------- */

/* A cancel strikes this task, as a step of its own. False: it is none. */
static bool strike(struct bz_native *native, uint32_t victim) {
    if (victim == 0) {
        return false;
    }
    struct bz_judge *judge = native->world.judge;
    bool is_done = judge->shadow.tasks[victim].phase == BZ_PHASE_DONE;
    bool is_accepted = bz_task_cancel(bz_world_find_task(&native->world, victim));
    if (is_accepted == is_done) {
        bz_judge_violate(judge, "cancel-delivered", victim, 0, "a cancel request to a task that %s",
                         is_done ? "has ended was accepted" : "has not ended was refused");
    }
    bz_judge_end_step(judge);
    return true;
}

static __attribute__((noinline)) bool inject(struct bz_native *native) {
    return strike(native, bz_judge_inject(native->world.judge));
}

static inline struct bz_ready name_of(const struct bz_handle *handle) {
    return (struct bz_ready){.owner = handle->owner, .nth = handle->nth, .role = handle->role};
}

/* The names of all ready handles. NULL without memory: the run ends after this step. */
static __attribute__((noinline)) const struct bz_ready *list_ready(struct bz_native *native,
                                                                   uint32_t count) {
    const struct bz_loop *loop = native->world.loop;
    if (count > native->ready_capacity) {
        struct bz_ready *larger = realloc(native->ready, 2 * count * sizeof *larger);
        if (larger == NULL) {
            bz_judge_lacks(native->world.judge, NULL, "the names of ready handles");
            return NULL;
        }
        native->ready = larger;
        native->ready_capacity = 2 * count;
    }
    for (uint32_t index = 0; index < count; index++) {
        native->ready[index] = name_of(loop->ready[index]);
    }
    return native->ready;
}

/* Brings the set of ready handles up to date. False without memory: the run ends after this step.
 */
static bool keep_many(struct bz_native *native, uint32_t count) {
    const struct bz_loop *loop = native->world.loop;
    struct bz_judge *judge = native->world.judge;
    struct bz_ready_set *many = &native->many;
    bool is_kept = native->has_many && native->many_withdrawn == loop->ready_withdrawn;
    native->has_many = true;
    native->many_withdrawn = loop->ready_withdrawn;
    if (is_kept) {
        while (is_kept && many->count < count) {
            is_kept = bz_ready_set_add(many, name_of(loop->ready[many->count]));
        }
    } else {
        const struct bz_ready *ready = list_ready(native, count);
        is_kept = ready != NULL &&
                  bz_ready_set_fill(many, judge->strategy, judge->strategy_state, ready, count);
    }
    if (!is_kept) {
        bz_judge_lacks(judge, NULL, "the names of ready handles");
        native->has_many = false;
    }
    return is_kept;
}

/* A handle that may be in no cache: of a task, whose first two lines a step reads. */
static inline void prefetch_handle(const struct bz_handle *handle) {
    __builtin_prefetch(handle, 1);
    __builtin_prefetch((const char *)handle + 64, 1);
}

/* The index of the step of one of these tasks behind the chosen handle; see strategy.h. */
static __attribute__((noinline)) uint32_t find_near(const struct bz_loop *loop, uint32_t chosen,
                                                    uint64_t tasks) {
    uint32_t count = loop->ready_count;
    if (tasks == BZ_INSTEAD_BEHIND) {
        return (chosen + 1) % count;
    }
    for (uint32_t place = 0; place < BZ_INSTEAD_REACH && place < count; place++) {
        uint32_t index = (chosen + place) % count;
        struct bz_ready name = name_of(loop->ready[index]);
        if (bz_is_step_of(&name, tasks)) {
            return index;
        }
    }
    return chosen;
}

/* The index of what runs instead of the chosen handle, or its own. */
static inline uint32_t instead_of(struct bz_native *native, uint32_t chosen) {
    const struct bz_loop *loop = native->world.loop;
    if (native->world.judge->strategy->instead == NULL) {
        return chosen;
    }
    struct bz_ready name = name_of(loop->ready[chosen]);
    uint64_t tasks = bz_judge_instead(native->world.judge, &name);
    return tasks == 0 ? chosen : find_near(loop, chosen, tasks);
}

static __attribute__((noinline)) uint32_t pick_of_many(struct bz_native *native, uint32_t count) {
    struct bz_judge *judge = native->world.judge;
    if (!keep_many(native, count)) {
        return 0;
    }
    struct bz_ready_place place =
        judge->strategy->next_of_many(judge->strategy_state, &native->many, judge->step + 1);
    BZ_CHECK(place.index < count);
    prefetch_handle(native->world.loop->ready[place.index]);
    uint64_t tasks = bz_judge_instead(judge, bz_ready_set_name(&native->many, place.slot));
    if (__builtin_expect(tasks != 0, 0)) {
        uint32_t index = find_near(native->world.loop, place.index, tasks);
        place = bz_ready_set_at_index(&native->many, index);
    }
    bz_ready_set_remove(&native->many, place.slot);
    return place.index;
}

/* From so many handles on, their set is kept, until there are fewer than half as many. */
#define MANY 16u

/* The index of the ready handle that goes next. */
static inline __attribute__((always_inline)) uint32_t pick(struct bz_native *native) {
    struct bz_judge *judge = native->world.judge;
    uint32_t count = native->world.loop->ready_count;
    if (count == 1) {
        native->has_many = false;
        return 0;
    }
    judge->has_choice = true;
    const struct bz_ready *ready = NULL;
    if (judge->strategy_reads) {
        if (count >= (native->has_many ? MANY / 2 : MANY) &&
            judge->strategy->next_of_many != NULL) {
            return pick_of_many(native, count);
        }
        native->has_many = false;
        if ((ready = list_ready(native, count)) == NULL) {
            return 0;
        }
    }
    uint32_t index = judge->strategy->next(judge->strategy_state, ready, count, judge->step + 1);
    BZ_CHECK(index < count);
    return instead_of(native, index);
}

static inline __attribute__((always_inline)) struct bz_handle *take(struct bz_native *native,
                                                                    uint32_t index) {
    struct bz_handle *handle = bz_loop_take(native->world.loop, index);
    bz_judge_begin_step(native->world.judge, index, name_of(handle));
    return handle;
}

/* Nothing can run. False: that is the end. So it is if each task that is left waits on, however
 * often it is cancelled. */
static __attribute__((noinline)) bool goes_on_at_rest(struct bz_native *native) {
    const struct bz_shadow *shadow = &native->world.judge->shadow;
    return native->rest_timer != NULL && native->rest_timer->fire != NULL &&
           !native->world.judge->is_stopped &&
           shadow->unfinished > bz_shadow_count_waiting_on(shadow) &&
           bz_timer_arm_now(native->rest_timer);
}

/* The program is at rest but for tasks that poll, and none of these can go on. */
static inline void rest_among_polls(struct bz_native *native) {
    if (native->rest_timer != NULL && !native->rest_timer->handle.is_ready &&
        bz_judge_only_polls(native->world.judge, BZ_POLLS_VAIN) > 0) {
        (void)goes_on_at_rest(native);
    }
}

/* Handles are ready. If these are tasks that poll, and none can go on, time passes. */
static __attribute__((noinline)) void pass_time(struct bz_native *native) {
    const struct bz_judge *judge = native->world.judge;
    const struct bz_loop *loop = native->world.loop;
    const struct bz_shadow_task *first = &judge->shadow.tasks[loop->ready[0]->owner];
    bool are_vain = first->op != BZ_OP_NONE && first->wait == BZ_WAIT_YIELD &&
                    bz_judge_only_polls(judge, BZ_POLLS_VAIN_NOW) == loop->ready_count;
    if (!are_vain || !advance_clock(native)) {
        jump_clock(native);
    }
}

/* The events that may come before a ready handle: a cancel from outside, a timer, the end. False:
 * the end, or a cancel that was a step of its own. */
static inline __attribute__((always_inline)) bool prepare_any(struct bz_native *native) {
    struct bz_loop *loop = native->world.loop;
    if (bz_judge_cancel_is_due(native->world.judge) && inject(native)) {
        return false;
    }
    rest_among_polls(native);
    if (loop->heap_count > 0) {
        uint64_t was_ns = loop->now_ns;
        if (loop->ready_count > 0) {
            pass_time(native);
        } else {
            (void)advance_clock(native);
        }
        uint32_t carried = loop->ready_count;
        (void)bz_driver_queue_due_timers(loop);
        if (!timers_are_right(native, was_ns, carried)) {
            return false;
        }
    }
    native->is_over = loop->ready_count == 0 && !goes_on_at_rest(native);
    return loop->ready_count > 0;
}

/* --- turns ------------------------------------------------------------------------------------ */

/* A point at which an outside cancel may strike. */
static bool outside_strikes(struct bz_native *native) {
    return strike(native, bz_judge_cancel(native->world.judge));
}

static bool queue_due_timers(struct bz_native *native, uint64_t was_ns) {
    uint32_t carried = native->world.loop->ready_count;
    bz_driver_begin_turn(native->world.loop);
    return timers_are_right(native, was_ns, carried);
}

/* Begins the next turn; false if nothing will ever run again, or a cancel came first. An idle loop
 * may be woken by an event from outside before its next timer, or so late that the timer after it
 * is due, too. */
static bool begin_turn(struct bz_native *native) {
    struct bz_loop *loop = native->world.loop;
    uint64_t was_ns = loop->now_ns;
    rest_among_polls(native);
    bool is_idle = loop->ready_count == 0;
    if (!is_idle) {
        pass_time(native);
    } else if (loop->heap_count > loop->heap_disarmed && outside_strikes(native)) {
        return false;
    } else if (!advance_clock(native) && !goes_on_at_rest(native)) {
        native->is_over = true;
        return false;
    }
    native->outside_is_past = false;
    if (!queue_due_timers(native, was_ns)) {
        return false;
    }
    was_ns = loop->now_ns;
    if (is_idle && bz_judge_is_newer(native->world.judge, BZ_OLDER_WAKES_ON_TIME)) {
        jump_clock(native);
    }
    return loop->now_ns == was_ns || queue_due_timers(native, was_ns);
}

/* True if the timer became due in this turn and was not carried over. */
static inline bool is_due_timer(const struct bz_handle *handle) {
    return handle->role == BZ_ROLE_TIMER &&
           bz_container_of(handle, const struct bz_timer, handle)->when_ns != BZ_TIME_NEVER;
}

/* asyncio's turn: the handles carried over, then events from outside, then timers that are due.
 * False: a cancel struck, or it is over. */
static inline __attribute__((always_inline)) bool prepare_fifo(struct bz_native *native) {
    const struct bz_loop *loop = native->world.loop;
    for (;;) {
        if (loop->turn_left > 0 && !is_due_timer(loop->ready[0])) {
            return true;
        }
        if (!native->outside_is_past) {
            native->outside_is_past = true;
            if (outside_strikes(native)) {
                native->outside_is_past = false; /* another cancel may follow */
                return false;
            }
        }
        if (loop->turn_left > 0) {
            return true;
        }
        if (!begin_turn(native)) {
            return false;
        }
    }
}

/* --- the run ---------------------------------------------------------------------------------- */

/* Runs a handle that was taken. bz_driver_step(), but inline. */
static inline __attribute__((always_inline)) void run_handle(struct bz_native *native,
                                                             struct bz_handle *handle) {
    bz_loop_step(native->world.loop, handle);
    bz_judge_end_step(native->world.judge);
}

static __attribute__((hot)) void run_any(struct bz_native *native) {
    while (bz_judge_may_step(native->world.judge)) {
        if (prepare_any(native)) {
            run_handle(native, take(native, pick(native)));
        } else if (native->is_over) {
            return;
        }
    }
}

static __attribute__((hot)) void run_fifo(struct bz_native *native) {
    while (bz_judge_may_step(native->world.judge)) {
        if (prepare_fifo(native)) {
            run_handle(native, take(native, 0));
        } else if (native->is_over) {
            return;
        }
    }
}

void bz_world_watch(struct bz_world *world, const struct bz_world_watch *watch) {
    bz_native_of(world)->watch = watch;
}

static __attribute__((noinline, cold)) void step_watched(struct bz_native *native) {
    const struct bz_world_watch *watch = native->watch;
    struct bz_world *world = &native->world;
    if (watch->before_step(watch->context, world, world->judge->step + 1)) {
        (void)bz_world_step(world);
    } else {
        bz_judge_give_up(world->judge);
    }
}

void bz_world_run(struct bz_world *world) {
    struct bz_native *native = bz_native_of(world);
    native->is_over = false;
    bz_judge_end_step(world->judge); /* for the events of the set-up */
    while (!native->is_over && bz_judge_goes_on(world->judge)) {
        if (world->judge->overtime.is_on) {
            bz_native_search(native, true); /* states are compared */
            (void)bz_world_step(world);
        } else if (native->watch != NULL) {
            step_watched(native);
        } else if (world->judge->config.order == BZ_ORDER_FIFO) {
            run_fifo(native);
        } else {
            run_any(native);
        }
    }
    if (world->judge->overtime.is_on) { /* nothing can run any more */
        bz_overtime_end(world->judge);
    }
    if (native->watch != NULL && native->watch->after_last != NULL) {
        native->watch->after_last(native->watch->context, world);
    }
    bz_native_search(native, false);
}

bool bz_world_has_resources(struct bz_world *world) {
    enum bz_shortage shortage = bz_shortage(world);
    if (shortage == BZ_SHORT_OF_STACKS) {
        bz_judge_lacks(world->judge, NULL, "the stacks of tasks");
    } else if (shortage == BZ_SHORT_OF_ROOM) {
        bz_judge_lacks(world->judge, NULL, "the tasks and the objects of a run");
    } else if (shortage == BZ_SHORT_OF_MEMORY) {
        bool is_default = world->loop->mem->limit_bytes == BZ_MEM_LIMIT_BYTES_DEFAULT;
        bz_judge_lacks(world->judge,
                       is_default ? "the " BZ_MEM_LIMIT_TEXT " of a loop" : "the memory of a loop",
                       "its tasks and the objects under test");
    } else if (shortage == BZ_SHORT_OF_TASKS) {
        bz_judge_lacks(world->judge, "tasks (a run has fewer than " BZ_TASKS_MAX_TEXT ")", "a run");
    } else if (bz_judge_verdict(world->judge) == BZ_RUN_BAD_SOURCE) {
        /* This runtime keeps the rules of the judge; a program that calls the judge may not. */
        char why[BZ_MESSAGE_BYTES];
        snprintf(why, sizeof why, "%s", bz_judge_error(world->judge));
        bz_judge_died(world->judge, NULL, why);
    }
    return bz_judge_verdict(world->judge) != BZ_RUN_NO_RESOURCE;
}

void bz_world_end(struct bz_world *world) {
    bz_judge_end(world->judge);
    if (bz_world_has_resources(world)) {
        bz_native_judge_kept(bz_native_of(world));
    }
}

bool bz_world_step(struct bz_world *world) {
    struct bz_native *native = bz_native_of(world);
    bool is_fifo = world->judge->config.order == BZ_ORDER_FIFO;
    native->is_over = false;
    native->ran = NULL;
    if (is_fifo ? prepare_fifo(native) : prepare_any(native)) {
        struct bz_handle *handle = take(native, is_fifo ? 0 : pick(native));
        native->ran = handle;
        bz_image_step(world->loop, handle);
        bz_judge_end_step(world->judge);
    }
    return !native->is_over;
}
