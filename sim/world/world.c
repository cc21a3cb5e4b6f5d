#include "sim/world/world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/world/note.h"

const char *bz_order_name(enum bz_order order) {
    static const char *const names[] = {"any", "fifo"};
    return (unsigned)order < 2 ? names[order] : NULL;
}

/* --- events ----------------------------------------------------------------------------------- */

static uint32_t monitor_index(const struct bz_world *world, const char *name) {
    for (uint32_t index = 0; world->config.monitors[index] != NULL; index++) {
        if (strcmp(world->config.monitors[index]->name, name) == 0) {
            return index;
        }
    }
    return BZ_MONITORS_MAX;
}

void bz_world_violate(struct bz_world *world, const char *oracle, uint32_t task, uint32_t object,
                      const char *format, ...) {
    struct bz_violation *violation = &world->violation;
    if (violation->oracle != NULL) {
        uint32_t index = monitor_index(world, oracle);
        if (index < BZ_MONITORS_MAX && strcmp(violation->oracle, oracle) != 0) {
            violation->also |= 1u << index;
        }
        return;
    }
    world->plain_until = 0;
    violation->oracle = oracle;
    violation->also = 0;
    violation->step = world->step;
    violation->task = task;
    violation->object = object;
    violation->time_ns = world->loop->now_ns;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(violation->message, sizeof violation->message, format, arguments);
    va_end(arguments);
    world->is_stopped = true;
    world->end = BZ_RUN_VIOLATED;
}

void bz_world_stop(struct bz_world *world) {
    if (!world->is_stopped) {
        world->is_stopped = true;
        world->plain_until = 0;
        world->end = BZ_RUN_DIVERGED;
    }
}

/* --- life ------------------------------------------------------------------------------------- */

static void subscribe(struct bz_world *world) {
    for (const struct bz_monitor *const *next = world->config.monitors; *next != NULL; next++) {
        const struct bz_monitor *monitor = *next;
        BZ_CHECK(next - world->config.monitors < (ptrdiff_t)BZ_MONITORS_MAX);
        for (uint32_t kind = 0; kind < BZ_EVENT_KIND_COUNT; kind++) {
            if (monitor->on_event != NULL && (monitor->events >> kind & 1u) != 0) {
                world->subscribers[kind][world->subscriber_count[kind]++] = monitor;
                world->has_subscribers = true;
            }
        }
        if (monitor->on_end != NULL) {
            world->closers[world->closer_count++] = monitor;
        }
    }
}

struct bz_world *bz_world_new(const struct bz_world_config *config) {
    struct bz_world *world = calloc(1, sizeof *world);
    if (world == NULL) {
        return NULL;
    }
    world->observer.report = bz_note_report;
    world->config = *config;
    if (config->profile != NULL) {
        world->profile = *config->profile;
        world->config.profile = &world->profile;
    }
    if (world->config.steps_max == 0) {
        world->config.steps_max = BZ_STEPS_MAX_DEFAULT;
    }
    if (world->config.starvation_bound == 0) {
        world->config.starvation_bound = BZ_STARVATION_BOUND_DEFAULT;
    }
    bz_tape_init(&world->tape);
    world->strategy_state = calloc(1, config->strategy->state_bytes);
    world->loop = bz_loop_new(NULL);
    if (world->strategy_state == NULL || world->loop == NULL) {
        bz_world_destroy(world);
        return NULL;
    }
    subscribe(world);
    return world;
}

void bz_world_destroy(struct bz_world *world) {
    if (world != NULL) {
        bz_world_forget_setup(world);
        bz_tape_fini(&world->tape);
        free(world->strategy_state);
        free(world->candidates);
        free(world->draws);
        bz_loop_destroy(world->loop);
        free(world);
    }
}

void bz_world_begin_run(struct bz_world *world, uint64_t seed, const struct bz_tape *tape,
                        struct bz_event_sink *sink) {
    const struct bz_strategy *strategy = world->config.strategy;
    bz_tape_clear(&world->tape);
    strategy->begin(world->strategy_state,
                    &(struct bz_strategy_start){.seed = seed,
                                                .tape = tape,
                                                .profile = world->config.profile,
                                                .answers = world->config.answers});
    if (world->draws_capacity > 0) {
        memset(world->draws, 0, world->draws_capacity * sizeof *world->draws);
    }
    world->seed = seed;
    world->digest = BZ_DIGEST_SEED;
    world->step = 0;
    world->point = 0;
    world->point_step = 0;
    world->outside_is_past = true;
    world->cancels_left = world->config.cancel_windows == 0 ? 0 : world->config.cancels_max;
    world->cancel_gap =
        world->cancels_left == 0 ? BZ_GAP_NEVER : strategy->cancel_gap(world->strategy_state);
    world->jump_gap = strategy->jump_gap(world->strategy_state);
    world->progress_step = 0;
    world->end = BZ_RUN_PASSED;
    world->is_stopped = false;
    world->violation.oracle = NULL;
    world->sink = sink;
    world->picks_early = tape == NULL;
    world->is_watched = sink != NULL || world->has_subscribers;
    world->book.facts = world->is_watched ? BZ_FACT_WATCHED : 0;
    world->has_drawn = false;
    world->call.kind = 0;
    world->stats.runs++;
}

void bz_world_begin(struct bz_world *world, uint64_t seed, const struct bz_tape *tape,
                    struct bz_event_sink *sink) {
    bz_loop_reset(world->loop);
    bz_driver_observe(world->loop, &world->observer);
    bz_book_begin(&world->book, world->loop);
    bz_world_begin_run(world, seed, tape, sink);
}

/* --- the step --------------------------------------------------------------------------------- */

/* What comes after every step. */
static inline __attribute__((always_inline)) void inspect(struct bz_world *world) {
    if (__builtin_expect(bz_book_has_touched(&world->book), 1)) {
        bz_world_inspect_touched(world);
    }
}

/* A step, and what comes after every step. Inline, like all between here and the switch: each call
 * would be one return that the processor predicts wrongly. */
static inline __attribute__((always_inline)) void run_handle(struct bz_world *world,
                                                             struct bz_handle *handle) {
    world->step++;
    bz_loop_step(world->loop, handle);
    inspect(world);
}

static void set_clock(struct bz_world *world, uint64_t now_ns) {
    bz_driver_set_now(world->loop, now_ns);
    bz_world_event(world, (struct bz_event){.kind = BZ_EVENT_CLOCK,
                                            .arg = (uint32_t)now_ns,
                                            .object = (uint32_t)(now_ns >> 32u)});
}

/* Moves the clock to the next timer. False if there is none that counts. */
static bool advance_clock(struct bz_world *world) {
    uint64_t deadline_ns = bz_driver_next_deadline_ns(world->loop);
    if (deadline_ns > BZ_TIME_MAX_NS) {
        return false;
    }
    if (deadline_ns > world->loop->now_ns) {
        set_clock(world, deadline_ns);
    }
    return true;
}

/* The loop was busy: timers become due though handles are ready. */
static bool clock_jumps(struct bz_world *world) {
    const struct bz_strategy *strategy = world->config.strategy;
    uint64_t deadline_ns = bz_driver_next_deadline_ns(world->loop);
    if (deadline_ns > BZ_TIME_MAX_NS || deadline_ns <= world->loop->now_ns) {
        return false;
    }
    if (world->jump_gap > 0) {
        world->jump_gap -= world->jump_gap != BZ_GAP_NEVER;
        return false;
    }
    bool is_jump = strategy->jump(world->strategy_state, world->step + 1);
    world->jump_gap = strategy->jump_gap(world->strategy_state);
    if (is_jump) {
        bz_tape_append(
            &world->tape,
            (struct bz_choice){.kind = BZ_CHOICE_DELAY, .step = world->step + 1, .value = 1});
        set_clock(world, deadline_ns);
    }
    return is_jump;
}

static inline __attribute__((always_inline)) bool cancel_is_due(struct bz_world *world) {
    if (world->cancel_gap > 0) {
        world->cancel_gap -= world->cancel_gap != BZ_GAP_NEVER;
        return false;
    }
    return world->cancels_left > 0;
}

/* Which of the ready handles goes next. */
struct pick {
    uint32_t index; /* its place in the queue */
    struct bz_handle *handle;
};

static inline __attribute__((always_inline)) struct pick pick(struct bz_world *world) {
    struct bz_loop *loop = world->loop;
    uint32_t count = bz_driver_ready_count(loop);
    uint32_t index = count == 1 ? 0
                                : world->config.strategy->next(world->strategy_state, loop, count,
                                                               world->step + 1);
    BZ_CHECK(index < count);
    return (struct pick){.index = index, .handle = bz_driver_ready_at(world->loop, index)};
}

static inline __attribute__((always_inline)) struct bz_handle *take(struct bz_world *world,
                                                                    struct pick picked) {
    (void)bz_loop_take(world->loop, picked.index);
    struct bz_choice *choice = bz_tape_next(&world->tape);
    *choice = (struct bz_choice){.kind = BZ_CHOICE_NEXT,
                                 .step = world->step + 1,
                                 .owner = picked.handle->owner,
                                 .nth = picked.handle->nth,
                                 .role = picked.handle->role};
    world->tape.count += picked.index != 0; /* the dull choice is overwritten by the next one */
    return picked.handle;
}

static inline __attribute__((always_inline)) bool may_go_on(const struct bz_world *world) {
    return !world->is_stopped && world->step < world->pause_at;
}

/* Everything but a task may come next: a cancel from outside, a timer, the end. False: the end, or
 * a cancel that was a step of its own. */
static __attribute__((noinline)) bool prepare(struct bz_world *world) {
    struct bz_loop *loop = world->loop;
    if (cancel_is_due(world) && bz_world_inject(world)) {
        inspect(world);
        return false;
    }
    if (loop->heap_count > 0) {
        if (loop->ready_count > 0) {
            (void)clock_jumps(world);
        } else if (!advance_clock(world)) {
            world->is_over = true;
        }
        (void)bz_driver_queue_due_timers(loop);
    }
    world->is_over |= loop->ready_count == 0;
    return !world->is_over;
}

/* The last step before which no cancel is due, and no limit of the run: `from` is the next one. A
 * replay has no such steps: its next choice, made early, might be one too many. */
static inline uint32_t last_plain_step(const struct bz_world *world, uint32_t from) {
    uint32_t most = world->pause_at - from;
    bool is_bound = world->cancels_left > 0 && world->cancel_gap < most;
    bool may_pick = world->picks_early && !world->is_stopped;
    return !may_pick ? 0 : from + (is_bound ? world->cancel_gap : most);
}

/* So many points for a cancel have passed. */
static inline void pass_points(struct bz_world *world, uint32_t count) {
    bool is_counted = world->cancels_left > 0 && world->cancel_gap != BZ_GAP_NEVER;
    world->cancel_gap -= is_counted ? count : 0;
}

/* Runs plain steps: between two of them nothing but a ready handle can come next. `next` is what
 * was picked for the first one. The next handle is picked as soon as a task has come back, before
 * its step is inspected: where the switch to it leads, which a processor cannot foresee, is known
 * by then. */
static inline __attribute__((always_inline)) void run_plain(struct bz_world *world,
                                                            struct pick next) {
    uint32_t first = world->step + 1;
    world->plain_until = last_plain_step(world, first);
    for (;;) {
        struct bz_handle *handle = take(world, next);
        world->step++;
        bz_loop_step(world->loop, handle);
        const struct bz_loop *loop = world->loop;
        next.handle = NULL;
        if (world->step < world->plain_until && loop->heap_count == 0 && loop->ready_count > 0) {
            next = pick(world);
        }
        inspect(world);
        if (next.handle == NULL || world->plain_until == 0) {
            break;
        }
    }
    pass_points(world, world->step - first);
}

static inline __attribute__((always_inline)) void run_any(struct bz_world *world) {
    world->is_over = false;
    while (may_go_on(world) && !world->is_over) {
        if (prepare(world)) {
            run_plain(world, pick(world));
        }
    }
}

/* A point at which an outside cancel may strike. */
static bool outside_strikes(struct bz_world *world) {
    world->point = world->point_step == world->step + 1 ? world->point + 1 : 0;
    world->point_step = world->step + 1;
    if (!cancel_is_due(world) || !bz_world_inject(world)) {
        return false;
    }
    inspect(world);
    return true;
}

/* Begins the next turn; false if nothing will ever run again, or a cancel came first. An idle loop
 * may be woken by an event from outside before its next timer. */
static bool begin_turn(struct bz_world *world) {
    struct bz_loop *loop = world->loop;
    if (loop->ready_count > 0) {
        if (loop->heap_count > 0) {
            (void)clock_jumps(world);
        }
    } else if (loop->heap_count > 0 && outside_strikes(world)) {
        return false;
    } else if (!advance_clock(world)) {
        world->is_over = true;
        return false;
    }
    bz_driver_begin_turn(loop);
    world->outside_is_past = false;
    return true;
}

/* A timer that became due in this turn, and not one that was carried over. */
static inline bool is_due_timer(const struct bz_handle *handle) {
    return handle->role == BZ_ROLE_TIMER &&
           bz_container_of(handle, const struct bz_timer, handle)->when_ns != BZ_TIME_NEVER;
}

/* asyncio's turn: the handles carried over, then events from outside, then timers that are due.
 * False: a cancel struck, or it is over. */
static inline __attribute__((always_inline)) bool prepare_fifo(struct bz_world *world) {
    const struct bz_loop *loop = world->loop;
    for (;;) {
        if (loop->turn_left > 0 && !is_due_timer(loop->ready[0])) {
            return true;
        }
        if (!world->outside_is_past) {
            world->outside_is_past = true;
            if (outside_strikes(world)) {
                world->outside_is_past = false; /* and maybe another one */
                return false;
            }
        }
        if (loop->turn_left > 0) {
            return true;
        }
        if (!begin_turn(world)) {
            return false;
        }
    }
}

static inline __attribute__((always_inline)) void run_fifo(struct bz_world *world) {
    world->is_over = false;
    while (may_go_on(world) && !world->is_over) {
        if (prepare_fifo(world)) {
            run_handle(world, bz_loop_take(world->loop, 0));
        }
    }
}

/* A step with nothing of the driver's in the registers that functions save for their callers: the
 * task, which saves them sooner or later, has none of it on its stack, and a state depends on the
 * task's past alone (image.h). */
static __attribute__((noinline)) void step_clear(struct bz_loop *loop, struct bz_handle *handle) {
#if defined(__x86_64__)
    __asm__ volatile("xorl %%ebx, %%ebx\n\t"
                     "xorl %%r12d, %%r12d\n\t"
                     "xorl %%r13d, %%r13d\n\t"
                     "xorl %%r14d, %%r14d\n\t"
                     "xorl %%r15d, %%r15d"
                     :
                     :
                     : "rbx", "r12", "r13", "r14", "r15", "cc");
#elif defined(__aarch64__)
    __asm__ volatile("mov x19, xzr\n\tmov x20, xzr\n\tmov x21, xzr\n\tmov x22, xzr\n\t"
                     "mov x23, xzr\n\tmov x24, xzr\n\tmov x25, xzr\n\tmov x26, xzr\n\t"
                     "mov x27, xzr\n\tmov x28, xzr"
                     :
                     :
                     : "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28");
#endif
    bz_driver_step(loop, handle);
}

static void run_clear(struct bz_world *world, struct bz_handle *handle) {
    world->step++;
    step_clear(world->loop, handle);
    inspect(world);
}

bool bz_world_step(struct bz_world *world) {
    world->is_over = false;
    if (world->config.order == BZ_ORDER_FIFO) {
        if (prepare_fifo(world)) {
            run_clear(world, bz_driver_take(world->loop, 0));
        }
    } else if (prepare(world)) {
        run_clear(world, take(world, pick(world)));
    }
    return !world->is_over;
}

void bz_world_look(struct bz_world *world) {
    inspect(world);
}

static inline __attribute__((always_inline)) void run_on(struct bz_world *world) {
    uint32_t left = world->config.steps_max - world->step;
    world->pause_at = world->step + (left < BZ_STEPS_BETWEEN_LOOKS ? left : BZ_STEPS_BETWEEN_LOOKS);
    if (world->config.order == BZ_ORDER_FIFO) {
        run_fifo(world);
    } else {
        run_any(world);
    }
}

/* False: the run has ended, or nobody wants the rest of it. */
static bool has_more(struct bz_world *world) {
    if (world->is_stopped || world->is_over || world->step >= world->config.steps_max) {
        return false;
    }
    if (world->config.stop != NULL && __atomic_load_n(world->config.stop, __ATOMIC_RELAXED) != 0) {
        bz_world_stop(world);
    }
    return !world->is_stopped;
}

__attribute__((hot)) enum bz_run_end bz_world_run(struct bz_world *world) {
    uint32_t first_step = world->step;
    inspect(world); /* what the setup did */
    do {
        run_on(world);
    } while (has_more(world));
    if (!world->is_stopped && world->step >= world->config.steps_max) {
        world->end = BZ_RUN_OUT_OF_STEPS;
        world->is_stopped = true;
    }
    world->stats.steps += world->step - first_step;
    return world->end;
}

enum bz_run_end bz_world_finish(struct bz_world *world) {
    inspect(world); /* what the scenario's finish did */
    bool is_over = world->end == BZ_RUN_PASSED || world->end == BZ_RUN_OUT_OF_STEPS;
    for (uint32_t index = 0; is_over && index < world->closer_count; index++) {
        world->closers[index]->on_end(world);
    }
    return world->end;
}
