#include "sim/world/world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "primitives/runtime/check.h"
#include "primitives/runtime/driver.h"

const char *bz_order_name(enum bz_order order) {
    static const char *const names[] = {"any", "fifo"};
    return (unsigned)order < 2 ? names[order] : NULL;
}

/* --- events ----------------------------------------------------------------------------------- */

static __attribute__((noinline, cold)) void tell_facts(struct bz_world *world, uint32_t facts,
                                                       uint32_t task, uint32_t object) {
    for (const struct bz_monitor *const *next = world->config.monitors; *next != NULL; next++) {
        uint32_t wanted = facts & (*next)->facts;
        while (wanted != 0) {
            uint32_t fact = wanted & -wanted;
            (*next)->on_fact(world, fact, task, object);
            wanted &= wanted - 1;
        }
    }
}

/* The object that an event is about: its own, or that of the operation the task is in. */
static uint32_t event_object(const struct bz_world *world, const struct bz_event *event) {
    bool has_object = event->kind == BZ_EVENT_CALL || event->kind == BZ_EVENT_RETURN;
    return has_object ? event->object : world->book.tasks[event->task].object;
}

/* Says where a cancel strikes, before the book takes note of it. */
static void label_cancel(struct bz_world *world, struct bz_event *event) {
    const struct bz_book_task *task = &world->book.tasks[event->task];
    struct bz_event labelled = *event;
    labelled.window = (uint8_t)bz_book_window(task);
    labelled.detail = (uint8_t)bz_book_op(task);
    world->stats.windows[labelled.detail][labelled.window]++;
    bz_event_store(event, labelled);
}

/* More than half of all events are the resume or the suspension of a task that is in no operation
 * and was not cancelled. They concern no object and make no fact. False: not one of these. */
static inline bool note_plain_event(struct bz_world *world, const struct bz_event *event) {
    struct bz_book_task *task = &world->book.tasks[event->task];
    if (event->kind == BZ_EVENT_RESUME) {
        if (task->op != BZ_OP_NONE || event->status != BZ_OK || task->cancel_pending) {
            return false;
        }
        task->phase = BZ_PHASE_RUNNING;
        return true;
    }
    if (event->kind != BZ_EVENT_SUSPEND || task->op != BZ_OP_NONE) {
        return false;
    }
    task->phase = BZ_PHASE_SUSPENDED;
    task->wait = (uint8_t)event->arg;
    task->answer = BZ_ANSWER_PENDING;
    return true;
}

static inline void note_event(struct bz_world *world, struct bz_event *event) {
    struct bz_book *book = &world->book;
    switch (event->kind) {
    case BZ_EVENT_SPAWN:
        bz_book_on_spawn(book, event);
        break;
    case BZ_EVENT_RESUME:
        bz_book_on_resume(book, event);
        break;
    case BZ_EVENT_SUSPEND:
        bz_book_on_suspend(book, event);
        break;
    case BZ_EVENT_WAKE:
        bz_book_on_wake(book, event);
        break;
    case BZ_EVENT_CANCEL:
        label_cancel(world, event);
        bz_book_on_cancel(book, event);
        break;
    case BZ_EVENT_UNCANCEL:
        bz_book_on_uncancel(book, event);
        break;
    case BZ_EVENT_EXIT:
        bz_book_on_exit(book, event);
        world->progress_step = world->step;
        break;
    case BZ_EVENT_CALL:
        bz_book_on_call(book, event);
        world->progress_step = world->step;
        break;
    case BZ_EVENT_RETURN:
        bz_book_on_return(book, event, world->step);
        world->progress_step = world->step;
        break;
    case BZ_EVENT_CALLBACK:
        bz_book_on_callback(book);
        break;
    default:
        break;
    }
}

/* Rare company: a recorder, and monitors that want to see every event. */
static __attribute__((noinline)) void show_event(struct bz_world *world,
                                                 const struct bz_event *event) {
    if (world->sink != NULL) {
        struct bz_logged_event logged = {
            .time_ns = world->loop->now_ns, .step = world->step, .event = *event};
        world->sink->event(world->sink, &logged);
    }
    for (uint32_t index = 0; index < world->subscriber_count[event->kind]; index++) {
        world->subscribers[event->kind][index]->on_event(world, event);
    }
}

/* Inlined into the step, without whose events nothing happens. */
static inline __attribute__((always_inline)) void note_events(struct bz_world *world) {
    struct bz_event *end = world->observer.next;
    uint64_t digest = world->digest;
    bool is_watched = world->sink != NULL || world->has_subscribers;
    for (struct bz_event *event = world->buffer; event < end; event++) {
        if (!note_plain_event(world, event)) {
            note_event(world, event);
            if (__builtin_expect(world->book.facts != 0, 0)) {
                tell_facts(world, world->book.facts, event->task, event_object(world, event));
                world->book.facts = 0;
            }
        }
        digest = bz_digest_event(digest, event);
        if (__builtin_expect(is_watched, 0)) {
            show_event(world, event);
        }
    }
    world->digest = digest;
    world->observer.next = world->buffer;
}

void bz_world_note_events(struct bz_world *world) {
    if (world->observer.next != world->buffer) {
        world->has_noted = true;
        note_events(world);
    }
}

static void flush(struct bz_observer *observer) {
    bz_world_note_events((struct bz_world *)(void *)observer); /* its first member */
}

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
    world->observer.next = world->buffer;
    world->observer.end = world->buffer + BZ_WORLD_BUFFER_EVENTS;
    world->observer.flush = flush;
    world->config = *config;
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
    strategy->begin(world->strategy_state, seed, tape);
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
    world->has_noted = false;
    world->has_drawn = false;
    world->stats.runs++;
}

void bz_world_begin(struct bz_world *world, uint64_t seed, const struct bz_tape *tape,
                    struct bz_event_sink *sink) {
    bz_loop_reset(world->loop);
    bz_driver_observe(world->loop, &world->observer);
    bz_book_begin(&world->book, world->loop);
    world->observer.next = world->buffer;
    bz_world_begin_run(world, seed, tape, sink);
}

/* --- the step --------------------------------------------------------------------------------- */

/* What can be seen of an object between two steps. */
static inline uint32_t facts_of(struct bz_object *object) {
    uint32_t facts = object->over_released_by != BZ_NO_TASK ? BZ_FACT_OVER_RELEASED : 0;
    if (object->waiting > 0 && object->woken == 0 && object->cancelled == 0 &&
        object->polling == 0 && object->holders < object->permits && object->live.first != 0) {
        facts |= BZ_FACT_STUCK;
    }
    if (!object->has_view) {
        return facts;
    }
    struct bz_permit_view *view = &object->view;
    object->ops->view(object->instance, view);
    facts |= view->level < object->woken ? BZ_FACT_OVERPROMISED : 0;
    facts |= view->level + object->holders != object->permits ? BZ_FACT_UNBALANCED : 0;
    bool is_partition = view->waiting + view->woken + view->cancelled == view->queued &&
                        view->waiting == object->waiting && view->woken <= object->woken;
    facts |= is_partition ? 0 : BZ_FACT_UNPARTITIONED;
    if ((object->claims & BZ_CLAIM_LOCKED_EXACT) != 0 && object->ops->locked != NULL) {
        bool should_be = object->waiting > 0 || object->woken > 0 || view->level == 0;
        facts |= object->ops->locked(object->instance) != should_be ? BZ_FACT_LOCKED_WRONG : 0;
    }
    return facts;
}

/* Looks at the objects that the step concerned, and forgets that it touched them. */
static __attribute__((noinline)) void inspect_touched(struct bz_world *world) {
    struct bz_book *book = &world->book;
    note_events(world);
    uint32_t count = book->touched_count;
    for (uint32_t index = 0; index < count; index++) {
        struct bz_object *object = &book->objects[book->touched[index]];
        uint32_t facts = facts_of(object);
        object->is_touched = false;
        if (__builtin_expect(facts != 0, 0)) {
            tell_facts(world, facts, 0, book->touched[index]);
            object->over_released_by = BZ_NO_TASK;
        }
    }
    book->touched_count = 0;
}

static inline __attribute__((always_inline)) void run_handle(struct bz_world *world,
                                                             struct bz_handle *handle) {
    world->step++;
    bz_driver_step(world->loop, handle);
    inspect_touched(world);
}

static void set_clock(struct bz_world *world, uint64_t now_ns) {
    bz_world_note_events(world); /* what happened until now, happened at the old time */
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

static inline __attribute__((always_inline)) struct bz_handle *pick_any(struct bz_world *world) {
    uint32_t count = bz_driver_ready_count(world->loop);
    if (count == 1) {
        return bz_driver_take(world->loop, 0);
    }
    uint32_t index =
        world->config.strategy->next(world->strategy_state, world->loop, count, world->step + 1);
    struct bz_handle *handle = bz_driver_take(world->loop, index);
    if (index != 0) {
        bz_tape_append(&world->tape, (struct bz_choice){.kind = BZ_CHOICE_NEXT,
                                                        .step = world->step + 1,
                                                        .owner = handle->owner,
                                                        .nth = handle->nth,
                                                        .role = handle->role});
    }
    return handle;
}

static inline __attribute__((always_inline)) bool may_go_on(const struct bz_world *world) {
    return !world->is_stopped && world->step < world->config.steps_max;
}

static void run_any(struct bz_world *world) {
    struct bz_loop *loop = world->loop;
    while (may_go_on(world)) {
        if (cancel_is_due(world) && bz_world_inject(world)) {
            inspect_touched(world);
            continue;
        }
        if (loop->heap_count > 0) {
            if (loop->ready_count > 0) {
                (void)clock_jumps(world);
            } else if (!advance_clock(world)) {
                break;
            }
            bz_driver_queue_due_timers(loop);
        }
        if (loop->ready_count == 0) {
            break;
        }
        run_handle(world, pick_any(world));
    }
}

/* A point at which an outside cancel may strike. */
static bool outside_strikes(struct bz_world *world) {
    world->point = world->point_step == world->step + 1 ? world->point + 1 : 0;
    world->point_step = world->step + 1;
    if (!cancel_is_due(world) || !bz_world_inject(world)) {
        return false;
    }
    inspect_touched(world);
    return true;
}

/* asyncio's turn: the handles carried over, then events from outside, then timers that are due. An
 * idle loop may be woken by an event from outside before its next timer. */
static void run_fifo(struct bz_world *world) {
    struct bz_loop *loop = world->loop;
    while (may_go_on(world)) {
        if (loop->turn_left > loop->turn_timers) {
            run_handle(world, bz_driver_take(loop, 0));
        } else if (!world->outside_is_past) {
            world->outside_is_past = !outside_strikes(world);
        } else if (loop->turn_left > 0) {
            run_handle(world, bz_driver_take(loop, 0));
        } else {
            if (loop->ready_count == 0) {
                if (loop->heap_count > 0 && outside_strikes(world)) {
                    continue;
                }
                if (!advance_clock(world)) {
                    break;
                }
            } else if (loop->heap_count > 0) {
                (void)clock_jumps(world);
            }
            bz_driver_begin_turn(loop);
            world->outside_is_past = false;
        }
    }
}

enum bz_run_end bz_world_run(struct bz_world *world) {
    uint32_t first_step = world->step;
    inspect_touched(world); /* what the setup did */
    if (world->config.order == BZ_ORDER_FIFO) {
        run_fifo(world);
    } else {
        run_any(world);
    }
    if (!world->is_stopped && world->step >= world->config.steps_max) {
        world->end = BZ_RUN_OUT_OF_STEPS;
        world->is_stopped = true;
    }
    world->stats.steps += world->step - first_step;
    return world->end;
}

enum bz_run_end bz_world_finish(struct bz_world *world) {
    inspect_touched(world); /* what the scenario's finish did */
    bool is_over = world->end == BZ_RUN_PASSED || world->end == BZ_RUN_OUT_OF_STEPS;
    for (uint32_t index = 0; is_over && index < world->closer_count; index++) {
        world->closers[index]->on_end(world);
    }
    return world->end;
}

/* --- for scenarios -----------------------------------------------------------------------------
 */

static uint32_t next_draw(struct bz_world *world, uint32_t task) {
    if (task >= world->draws_capacity) {
        uint32_t capacity = world->draws_capacity == 0 ? 64 : world->draws_capacity;
        while (capacity <= task) {
            capacity *= 2;
        }
        uint32_t *larger = realloc(world->draws, capacity * sizeof *larger);
        BZ_CHECK(larger != NULL);
        memset(larger + world->draws_capacity, 0,
               (capacity - world->draws_capacity) * sizeof *larger);
        world->draws = larger;
        world->draws_capacity = capacity;
    }
    return ++world->draws[task];
}

static uint64_t draw(struct bz_world *world, enum bz_choice_kind kind, const char *label,
                     uint64_t bound) {
    BZ_CHECK(bound > 0 && bound <= BZ_TIME_MAX_NS);
    uint32_t task = bz_world_current_task(world);
    world->has_drawn = true;
    struct bz_draw question = {
        .bound = bound, .label = label, .owner = task, .nth = next_draw(world, task)};
    uint64_t value =
        world->config.strategy->draw(world->strategy_state, kind, &question, world->step);
    BZ_CHECK(value < bound);
    bz_world_event(world, (struct bz_event){.kind = BZ_EVENT_DRAW,
                                            .task = task,
                                            .detail = (uint8_t)kind,
                                            .arg = (uint32_t)value,
                                            .object = (uint32_t)(value >> 32u)});
    if (value != 0) {
        bz_tape_append(&world->tape, (struct bz_choice){.kind = (uint8_t)kind,
                                                        .step = world->step,
                                                        .owner = task,
                                                        .nth = question.nth,
                                                        .label = label,
                                                        .bound = bound,
                                                        .value = value});
    }
    return value;
}

uint64_t bz_world_draw(struct bz_world *world, const char *label, uint64_t bound) {
    return draw(world, BZ_CHOICE_DATA, label, bound);
}

uint64_t bz_world_draw_delay_ns(struct bz_world *world, const char *label, uint64_t least_ns,
                                uint64_t most_ns) {
    BZ_CHECK(least_ns <= most_ns && most_ns < BZ_TIME_MAX_NS);
    return least_ns + draw(world, BZ_CHOICE_DELAY, label, most_ns - least_ns + 1);
}

void bz_world_note(struct bz_world *world, uint32_t number) {
    bz_world_event(world, (struct bz_event){.kind = BZ_EVENT_NOTE,
                                            .task = bz_world_current_task(world),
                                            .arg = number});
}

bool bz_world_is_suspended_in(struct bz_world *world, const struct bz_task *task, enum bz_op op) {
    bz_world_note_events(world);
    const struct bz_book_task *entry = &world->book.tasks[bz_task_id(task)];
    return entry->phase == BZ_PHASE_SUSPENDED && bz_book_op(entry) == op;
}

void *bz_world_alloc(struct bz_world *world, size_t size_bytes) {
    void *block = bz_mem_alloc(bz_loop_mem(world->loop), size_bytes);
    BZ_CHECK(block != NULL);
    return block;
}

const char *bz_world_task_name(const struct bz_world *world, uint32_t task, char *buffer,
                               size_t size_bytes) {
    const struct bz_book_task *entry = &world->book.tasks[task];
    if (task == 0 || task > world->book.task_count) {
        snprintf(buffer, size_bytes, "loop");
    } else if (entry->name_index == 0) {
        snprintf(buffer, size_bytes, "%s", entry->name_base);
    } else {
        snprintf(buffer, size_bytes, "%s-%u", entry->name_base, entry->name_index);
    }
    return buffer;
}
