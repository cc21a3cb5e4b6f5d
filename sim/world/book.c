#include "sim/world/book.h"

#include <string.h>

#include "primitives/runtime/internal.h"
#include "sim/world/monitor.h"

#define TASK_CAPACITY_FIRST 8u
#define OBJECT_CAPACITY_FIRST 2u
#define LINE_CAPACITY_FIRST 16u

/* --- storage ---------------------------------------------------------------------------------- */

static void *grow(struct bz_mem *mem, void *old, size_t old_bytes, size_t new_bytes) {
    void *larger = bz_mem_alloc_raw(mem, new_bytes);
    BZ_CHECK(larger != NULL); /* the arena's limit leaves no room for the book */
    if (old != NULL) {
        memcpy(larger, old, old_bytes);
        bz_mem_free(mem, old, old_bytes);
    }
    return larger;
}

/* --- lines of tasks, in order of arrival -------------------------------------------------------
 */

/* Whether the task that came to this place of the line is still inside that acquire. */
static inline bool is_inside(const struct bz_book *book, const struct bz_object *object,
                             uint32_t position) {
    const struct bz_book_task *task = &book->tasks[object->line[position]];
    return task->op != BZ_OP_NONE && task->arrival == position &&
           &book->objects[task->object] == object;
}

static inline bool stands_live(const struct bz_book *book, const struct bz_object *object,
                               uint32_t position) {
    return book->tasks[object->line[position]].is_live && is_inside(book, object, position);
}

static inline bool stands_woken(const struct bz_book *book, const struct bz_object *object,
                                uint32_t position) {
    const struct bz_book_task *task = &book->tasks[object->line[position]];
    return task->phase == BZ_PHASE_SUSPENDED && task->inside == BZ_INSIDE_WOKEN &&
           is_inside(book, object, position);
}

uint32_t bz_book_oldest_live(struct bz_book *book, struct bz_object *object) {
    if (object->live == 0) {
        return 0;
    }
    while (!stands_live(book, object, object->first_live)) {
        object->first_live++;
    }
    return object->line[object->first_live];
}

uint32_t bz_book_newest_woken(const struct bz_book *book, const struct bz_object *object) {
    for (uint32_t position = object->line_end; position-- > 0;) {
        if (stands_woken(book, object, position)) {
            return object->line[position];
        }
    }
    return 0;
}

/* Gaps are left by tasks that are no longer inside acquire. */
void bz_book_close_gaps(struct bz_book *book, struct bz_object *object) {
    uint32_t count = 0;
    for (uint32_t position = 0; position < object->line_end; position++) {
        if (is_inside(book, object, position)) {
            uint32_t id = object->line[position];
            book->tasks[id].arrival = count;
            object->line[count++] = id;
        }
    }
    object->line_end = count;
    object->first_live = 0;
    object->first_woken = 0;
    object->handed_on = 0;
}

/* If there are few gaps, the line gets longer. */
static __attribute__((noinline, cold)) void make_room(struct bz_book *book,
                                                      struct bz_object *object) {
    bz_book_close_gaps(book, object);
    if (object->line_end > object->line_capacity / 2) {
        size_t bytes = object->line_capacity * sizeof *object->line;
        object->line = grow(bz_loop_mem(book->loop), object->line, bytes, 2 * bytes);
        object->line_capacity *= 2;
    }
}

static void join_line(struct bz_book *book, struct bz_object *object, uint32_t id) {
    if (object->line_end == object->line_capacity) {
        make_room(book, object);
    }
    object->line[object->line_end] = id;
    book->tasks[id].arrival = object->line_end++;
    book->tasks[id].is_live = true;
    object->live++;
}

static inline void leave_line(struct bz_object *object, struct bz_book_task *task) {
    object->live -= task->is_live;
    object->first_live += task->is_live & (task->arrival == object->first_live);
    task->is_live = false;
}

/* As bz_book_oldest_live() says; in a line without gaps there is nothing to look for. */
static inline bool is_oldest_live(struct bz_book *book, struct bz_object *object, uint32_t id) {
    return book->tasks[id].arrival == object->first_live || bz_book_oldest_live(book, object) == id;
}

/* --- beginning ----------------------------------------------------------------------------------
 */

void bz_book_begin(struct bz_book *book, struct bz_loop *loop) {
    struct bz_mem *mem = bz_loop_mem(loop);
    *book = (struct bz_book){.loop = loop,
                             .task_capacity = TASK_CAPACITY_FIRST,
                             .object_capacity = OBJECT_CAPACITY_FIRST};
    book->tasks = grow(mem, NULL, 0, TASK_CAPACITY_FIRST * sizeof *book->tasks);
    book->objects = grow(mem, NULL, 0, OBJECT_CAPACITY_FIRST * sizeof *book->objects);
    book->far = grow(mem, NULL, 0, OBJECT_CAPACITY_FIRST * sizeof *book->far);
    book->tasks[0] = (struct bz_book_task){0};
    book->objects[0] = (struct bz_object){0};
}

uint32_t bz_book_add_object(struct bz_book *book, struct bz_object object) {
    uint32_t old_capacity = book->object_capacity;
    struct bz_mem *mem = bz_loop_mem(book->loop);
    if (book->object_count + 1 == old_capacity) {
        size_t capacity = 2 * (size_t)old_capacity;
        book->objects = grow(mem, book->objects, old_capacity * sizeof *book->objects,
                             capacity * sizeof *book->objects);
        book->far =
            grow(mem, book->far, old_capacity * sizeof *book->far, capacity * sizeof *book->far);
        book->object_capacity = (uint32_t)capacity;
    }
    object.line = grow(mem, NULL, 0, LINE_CAPACITY_FIRST * sizeof *object.line);
    object.line_capacity = LINE_CAPACITY_FIRST;
    object.is_strict = object.is_counted && (object.claims & BZ_CLAIM_NO_PASSING) != 0;
    object.over_released_by = BZ_NO_TASK;
    object.has_view = object.ops != NULL && object.ops->view != NULL && !object.never_stuck;
    object.refines = object.has_view && object.kind == BZ_OBJECT_PERMITS &&
                     (object.claims & BZ_CLAIMS_OF_SPEC) == BZ_CLAIMS_OF_SPEC;
    object.checks_locked = object.has_view && object.ops->locked != NULL &&
                           (object.claims & BZ_CLAIM_LOCKED_EXACT) != 0;
    object.shows_permits = object.checks_locked && object.quorum == 0 && !object.counts_wakes;
    book->objects[++book->object_count] = object;
    return book->object_count;
}

void bz_book_on_spawn(struct bz_book *book, const struct bz_event *event) {
    uint32_t id = event->task;
    BZ_CHECK(id == book->task_count + 1); /* tasks are numbered in order of creation */
    if (id == book->task_capacity) {
        size_t old_bytes = book->task_capacity * sizeof *book->tasks;
        book->tasks = grow(bz_loop_mem(book->loop), book->tasks, old_bytes, 2 * old_bytes);
        book->task_capacity *= 2;
    }
    book->task_count = id;
    book->unfinished++;
    const struct bz_task *task = bz_driver_newest_task(book->loop);
    book->tasks[id] = (struct bz_book_task){.name_base = task->name_base,
                                            .name_index = task->name_index,
                                            .phase = BZ_PHASE_UNSTARTED,
                                            .next_step = 1};
}

/* --- against the executable specification ------------------------------------------------------
 */

bool bz_book_is_refused(const struct bz_book *book) {
    const struct bz_refusal *refused = &book->refused;
    const struct bz_book_task *task = &book->tasks[refused->task];
    if (refused->guards == 0 || refused->action != BZ_SPEC_ENQUEUE) {
        return refused->guards != 0;
    }
    return task->phase == BZ_PHASE_SUSPENDED && task->object == refused->object &&
           task->inside != BZ_INSIDE_POLLING;
}

/* An earlier one of this step goes if it does not stand by now: its task runs on, it has not
 * queued. */
static void refuse(struct bz_book *book, uint32_t id, enum bz_spec_action action, uint32_t guards) {
    uint32_t number = book->tasks[id].object;
    if (guards != 0 && !bz_book_is_refused(book)) {
        book->refused = (struct bz_refusal){.counts = bz_object_counts(&book->objects[number]),
                                            .task = id,
                                            .object = number,
                                            .action = (uint8_t)action,
                                            .guards = (uint8_t)guards};
    }
}

/* A task calls acquire, and something happens before it returns: if it waits, that is Enqueue. */
static __attribute__((noinline, cold)) void judge_enqueue(struct bz_book *book, uint32_t id) {
    const struct bz_object *object = &book->objects[book->tasks[id].object];
    if (object->refines) {
        refuse(book, id, BZ_SPEC_ENQUEUE, bz_unmet_enqueue(bz_object_counts(object)));
    }
}

/* Who never was woken comes in: that is Acquire, however long it took, or nothing at all. */
static __attribute__((noinline, cold)) void judge_uninvited(struct bz_book *book, uint32_t id) {
    const struct bz_object *object = &book->objects[book->tasks[id].object];
    if (object->refines && bz_unmet_acquire(bz_object_counts(object)) != 0) {
        refuse(book, id, BZ_SPEC_RESUME, BZ_GUARD_STATUS);
    }
}

/* --- events ----------------------------------------------------------------------------------- */

/* Counts live arrivals that stand before this one. Only a grant out of order walks the line. */
static __attribute__((noinline, cold)) void
note_overtaking(struct bz_book *book, const struct bz_object *object, uint32_t id) {
    struct bz_book_task *task = &book->tasks[id];
    book->grant = (struct bz_grant){.task = id, .object = task->object};
    for (uint32_t position = object->first_live; position < task->arrival; position++) {
        if (stands_live(book, object, position)) {
            uint32_t other = object->line[position];
            book->tasks[other].overtaken++;
            if (book->grant.overtook++ == 0) {
                book->grant.overtook_task = other;
            }
        }
    }
    book->facts |= BZ_FACT_OVERTAKEN;
}

/* Whoever returns with a permit, while earlier arrivals were woken and no permit is left for them,
 * took theirs. One that was cancelled meanwhile will not take it: nothing is stolen from it. */
static __attribute__((noinline, cold)) void note_steal(struct bz_book *book,
                                                       struct bz_object *object, uint32_t id) {
    uint64_t promised = 0;
    uint32_t robbed = 0;
    uint32_t arrival = book->tasks[id].arrival;
    while (object->first_woken < object->line_end &&
           !stands_woken(book, object, object->first_woken)) {
        object->first_woken++;
    }
    for (uint32_t position = object->first_woken, seen = 0;
         position < arrival && seen < object->woken; position++) {
        if (!stands_woken(book, object, position)) {
            continue;
        }
        seen++;
        uint32_t other = object->line[position];
        if (!book->tasks[other].cancel_pending) {
            promised++;
            robbed = robbed == 0 ? other : robbed;
        }
    }
    if (promised == 0 || object->holders + promised <= object->permits) {
        return;
    }
    if ((book->facts & BZ_FACT_OVERTAKEN) == 0) {
        book->grant = (struct bz_grant){.task = id, .object = book->tasks[id].object};
    }
    book->grant.overtook += (uint32_t)(object->holders + promised - object->permits);
    book->grant.overtook_task = robbed;
    book->grant.is_steal = true;
    book->tasks[robbed].overtaken++;
    book->facts |= BZ_FACT_OVERTAKEN;
}

/* A waiter of a condition that was notified and is cancelled, in the window or while it waits for
 * the lock: somebody else who waits must be notified in its place (gh-112202). */
static void note_debt(struct bz_object *object, struct bz_book_task *task) {
    if (object->kind == BZ_OBJECT_CONDITION && task->was_granted && !task->cancelled_in_op &&
        object->live > 0) {
        task->owes_wake = object->wakes + 1;
        object->wakes_due++;
    }
}

void bz_book_on_cancelled_resume(struct bz_book *book, struct bz_book_task *task,
                                 enum bz_status status) {
    if (status == BZ_CANCELLED) {
        if (task->op != BZ_OP_NONE && !task->cancel_pending) {
            book->facts |= BZ_FACT_UNINVITED;
        }
        note_debt(&book->objects[task->object], task);
        task->cancelled_in_op = true;
        task->cancel_pending = false;
    } else if (task->wait == BZ_WAIT_JOIN && task->answer == BZ_ANSWER_WOKEN) {
        /* The request was passed to the task that it waited for, and that one ended otherwise: its
         * outcome is the answer, as in asyncio. */
        task->cancel_pending = false;
    } else {
        book->facts |= BZ_FACT_SWALLOWED;
    }
}

/* It was woken, found nothing, and waits again: back to its place by arrival. But who was notified
 * by a condition waits for the lock now. */
void bz_book_wait_again(struct bz_book *book, uint32_t id) {
    struct bz_book_task *task = &book->tasks[id];
    struct bz_object *object = &book->objects[task->object];
    if (object->kind == BZ_OBJECT_CONDITION) {
        object->inside[task->inside]--;
        task->inside = BZ_INSIDE_POLLING;
        object->polling++;
        return;
    }
    task->is_live = true;
    object->live++;
    if (task->arrival < object->first_live) {
        object->first_live = task->arrival;
    }
}

void bz_book_on_wake(struct bz_book *book, const struct bz_event *event) {
    struct bz_book_task *task = &book->tasks[event->task];
    bool is_cancelled = event->status == BZ_CANCELLED;
    task->answer = is_cancelled ? BZ_ANSWER_CANCELLED : BZ_ANSWER_WOKEN;
    if (task->wait == BZ_WAIT_JOIN && !is_cancelled) {
        task->cancel_pending = false; /* it went to the joined task, which made nothing of it */
    }
    if (task->op == BZ_OP_NONE || task->inside != BZ_INSIDE_WAITING) {
        bz_book_touch(book, task->object);
        return;
    }
    struct bz_object *object = bz_book_touch(book, task->object);
    object->waiting--;
    task->inside = is_cancelled ? BZ_INSIDE_CANCELLED : BZ_INSIDE_WOKEN;
    object->inside[task->inside]++;
    if (is_cancelled) {
        leave_line(object, task);
        return;
    }
    if (task->is_live) {
        task->was_granted = true;
        object->wakes++;
        if (!is_oldest_live(book, object, event->task)) {
            note_overtaking(book, object, event->task);
        }
    }
    leave_line(object, task);
    object->first_woken = task->arrival < object->first_woken ? task->arrival : object->first_woken;
}

void bz_book_on_cancel(struct bz_book *book, const struct bz_event *event) {
    struct bz_book_task *task = &book->tasks[event->task];
    if (event->status != BZ_OK) {
        return;
    }
    task->cancel_pending = true;
    task->cancels++;
    if (task->is_live) { /* nobody owes it a turn now */
        leave_line(bz_book_touch(book, task->object), task);
    }
}

/* Taking back the last request also forgets a mark; a future that was cancelled stays so. */
void bz_book_on_uncancel(struct bz_book *book, const struct bz_event *event) {
    struct bz_book_task *task = &book->tasks[event->task];
    bool is_on_its_way = task->phase == BZ_PHASE_SUSPENDED && task->answer == BZ_ANSWER_CANCELLED;
    if (event->arg == 0 && !is_on_its_way) {
        task->cancel_pending = false;
    }
}

static void on_refused_release(struct bz_object *object, struct bz_book_task *task) {
    object->holders += task->took_back;
    if (!task->took_back) {
        object->permits--;
        object->over_released_by = task->over_released_before;
    }
    task->holdings += task->gave_up;
}

void bz_book_on_wait(struct bz_book *book, const struct bz_event *event) {
    struct bz_book_task *task = &book->tasks[event->task];
    task->op = event->detail;
    task->owes_wake = 0;
    task->was_granted = false;
    task->object = event->object;
    task->cancelled_in_op = false;
    task->overtaken = 0;
    struct bz_object *object = bz_book_touch(book, event->object);
    if (__builtin_expect(object->holders + object->woken < object->permits, 0)) {
        judge_enqueue(book, event->task);
    }
    join_line(book, object, event->task);
}

/* A newcomer was served at once while earlier ones, who were woken, have not resumed. */
static void note_passing(struct bz_book *book, struct bz_object *object, uint32_t id) {
    while (object->first_woken < object->line_end &&
           !stands_woken(book, object, object->first_woken)) {
        object->first_woken++;
    }
    if (object->first_woken == object->line_end || (book->facts & BZ_FACT_OVERTAKEN) != 0) {
        return;
    }
    book->grant = (struct bz_grant){.task = id,
                                    .object = book->tasks[id].object,
                                    .overtook = object->woken,
                                    .overtook_task = object->line[object->first_woken],
                                    .is_pass = true};
    book->facts |= BZ_FACT_OVERTAKEN;
}

/* Somebody has got a permit, which the holders count already. */
static inline void judge_grant(struct bz_book *book, struct bz_object *object, uint32_t id) {
    bool is_tight = object->holders + object->woken > object->permits;
    if (__builtin_expect(is_tight & object->is_counted, 0)) {
        if (object->holders > object->permits) {
            book->facts |= BZ_FACT_CROWDED;
        }
        if (object->woken > 0) {
            note_steal(book, object, id);
        }
    }
}

/* An operation that was cancelled inside says so, or that its own deadline did it; one that was not
 * says neither that nor that it failed. */
static bool is_odd(const struct bz_object *object, const struct bz_book_task *task,
                   enum bz_status status) {
    if (task->cancelled_in_op) {
        return status != BZ_CANCELLED && status != BZ_TIMED_OUT;
    }
    return status == BZ_CANCELLED || status == BZ_FAILED ||
           (status == BZ_NOT_HELD && object->kind != BZ_OBJECT_CONDITION);
}

void bz_book_on_return(struct bz_book *book, uint32_t id, uint32_t number, enum bz_op op,
                       enum bz_status status, uint32_t step) {
    struct bz_book_task *task = &book->tasks[id];
    struct bz_object *object = bz_book_touch(book, number);
    if (op != BZ_OP_RELEASE) {
        object->return_task = id;
        object->return_step = step;
        object->return_status = (uint8_t)status;
        if (is_odd(object, task, status)) {
            book->facts |= BZ_FACT_ODD_RETURN;
        }
        if (status == BZ_OK) {
            if (task->is_live && !is_oldest_live(book, object, id)) {
                note_overtaking(book, object, id);
            }
            if (__builtin_expect(!task->was_granted, 0)) {
                judge_uninvited(book, id);
            }
            object->holders += object->is_counted;
            task->holdings += object->is_owned;
            object->handed_on = object->line_end;
            judge_grant(book, object, id);
        }
        leave_line(object, task);
    } else if (status != BZ_OK) {
        on_refused_release(object, task);
    }
    task->op = BZ_OP_NONE;
    task->object = 0;
}

void bz_book_judge_at_once(struct bz_book *book, struct bz_event event) {
    struct bz_book_task *task = &book->tasks[event.task];
    struct bz_object *object = &book->objects[event.object];
    if (is_odd(object, task, (enum bz_status)event.status)) {
        book->facts |= BZ_FACT_ODD_RETURN;
    }
    if (event.status == BZ_OK) {
        task->object = event.object; /* for as long as the grant is judged */
        if (object->live > 0) {
            note_overtaking(book, object, event.task);
        }
        judge_grant(book, object, event.task);
        if (object->is_strict && object->woken > 0) {
            note_passing(book, object, event.task);
        }
        task->object = 0;
    }
}

__attribute__((cold)) void bz_book_touch_far(struct bz_book *book, uint32_t number) {
    struct bz_object *object = &book->objects[number];
    book->touched |= BZ_TOUCHED_FAR;
    if (!object->is_far) {
        object->is_far = true;
        book->far[book->far_count++] = number;
    }
}

/* What a callback does to an object, no event tells: each of them is looked at. */
void bz_book_on_callback(struct bz_book *book) {
    for (uint32_t number = 1; number <= book->object_count; number++) {
        bz_book_touch(book, number);
    }
}

void bz_book_on_exit(struct bz_book *book, const struct bz_event *event) {
    book->tasks[event->task].phase = BZ_PHASE_DONE;
    book->unfinished--;
}

/* --- hand-offs --------------------------------------------------------------------------------
 */

uint64_t bz_book_handoffs(const struct bz_book *book) {
    uint64_t fingerprint = book->handoff_sum;
    for (uint32_t number = 1; number <= book->object_count; number++) {
        const uint64_t *handed = book->objects[number].handed;
        fingerprint =
            bz_digest_word(fingerprint, handed[0] + handed[1] * UINT64_C(0xd6e8feb86659fd93));
    }
    return bz_seed_mix(fingerprint);
}

/* --- windows ---------------------------------------------------------------------------------- */

/* By what a suspended task waits for, and whether it holds a permit, see below. */
#define SUSPENDED_STATES 8
#define IN_ANY_STATE(window)                                                                       \
    { window, window, window, window, window, window, window, window }

/* A table, because it is asked about every task, and what state each is in after a random step, a
 * processor cannot foresee. */
enum bz_window bz_book_window(const struct bz_book_task *task) {
    static const uint8_t windows[][2][SUSPENDED_STATES] = {
        /* no cancel is on its way; one is */
        [BZ_PHASE_UNSTARTED] = {IN_ANY_STATE(BZ_WINDOW_UNSTARTED),
                                IN_ANY_STATE(BZ_WINDOW_CANCELLING)},
        [BZ_PHASE_RUNNING] = {IN_ANY_STATE(BZ_WINDOW_RUNNING), IN_ANY_STATE(BZ_WINDOW_RUNNING)},
        [BZ_PHASE_DONE] = {IN_ANY_STATE(BZ_WINDOW_DONE), IN_ANY_STATE(BZ_WINDOW_DONE)},
        [BZ_PHASE_SUSPENDED] = {{BZ_WINDOW_SLEEPING, BZ_WINDOW_SLEEPING, BZ_WINDOW_WAITING,
                                 BZ_WINDOW_WOKEN, BZ_WINDOW_HOLDING, BZ_WINDOW_HOLDING,
                                 BZ_WINDOW_HOLDING, BZ_WINDOW_HOLDING},
                                IN_ANY_STATE(BZ_WINDOW_CANCELLING)},
    };
    bool is_answered = task->answer != BZ_ANSWER_PENDING;
    bool waits_for_somebody = (task->wait == BZ_WAIT_FUTURE) | (task->wait == BZ_WAIT_JOIN);
    bool is_inside_op = (task->op != BZ_OP_NONE) & waits_for_somebody;
    bool is_holding = (task->holdings > 0) & !is_inside_op;
    unsigned state = is_answered | waits_for_somebody << 1u | is_holding << 2u;
    return (enum bz_window)windows[task->phase][task->cancel_pending][state];
}

enum bz_op bz_book_op(const struct bz_book_task *task) {
    static const uint8_t by_wait[] = {[BZ_WAIT_NONE] = BZ_OP_RUN,
                                      [BZ_WAIT_FUTURE] = BZ_OP_AWAIT,
                                      [BZ_WAIT_YIELD] = BZ_OP_YIELD,
                                      [BZ_WAIT_SLEEP] = BZ_OP_SLEEP,
                                      [BZ_WAIT_JOIN] = BZ_OP_JOIN};
    if (task->op != BZ_OP_NONE) {
        return (enum bz_op)task->op;
    }
    if (task->phase == BZ_PHASE_UNSTARTED) {
        return BZ_OP_START;
    }
    return task->phase == BZ_PHASE_SUSPENDED ? (enum bz_op)by_wait[task->wait] : BZ_OP_RUN;
}
