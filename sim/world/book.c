#include "sim/world/book.h"

#include <string.h>

#include "primitives/runtime/check.h"
#include "primitives/runtime/driver.h"
#include "primitives/runtime/mem.h"
#include "sim/world/monitor.h"

#define TASK_CAPACITY_FIRST 16u
#define OBJECT_CAPACITY_FIRST 4u

/* --- lists of tasks, by number ---------------------------------------------------------------- */

static void list_insert_after(struct bz_book *book, struct bz_book_list *list, uint32_t position,
                              uint32_t id) {
    struct bz_book_task *task = &book->tasks[id];
    task->previous = position;
    task->next = position == 0 ? list->first : book->tasks[position].next;
    if (task->previous == 0) {
        list->first = id;
    } else {
        book->tasks[task->previous].next = id;
    }
    if (task->next == 0) {
        list->last = id;
    } else {
        book->tasks[task->next].previous = id;
    }
}

/* Arrivals come in order nearly always, so the search begins at the end. */
static void list_insert_by_arrival(struct bz_book *book, struct bz_book_list *list, uint32_t id) {
    uint32_t position = list->last;
    while (position != 0 && book->tasks[position].arrival > book->tasks[id].arrival) {
        position = book->tasks[position].previous;
    }
    list_insert_after(book, list, position, id);
}

static void list_remove(struct bz_book *book, struct bz_book_list *list, uint32_t id) {
    struct bz_book_task *task = &book->tasks[id];
    if (task->previous == 0) {
        list->first = task->next;
    } else {
        book->tasks[task->previous].next = task->next;
    }
    if (task->next == 0) {
        list->last = task->previous;
    } else {
        book->tasks[task->next].previous = task->previous;
    }
}

static void leave_place(struct bz_book *book, struct bz_object *object, uint32_t id) {
    struct bz_book_task *task = &book->tasks[id];
    if (task->place == BZ_PLACE_LIVE) {
        list_remove(book, &object->live, id);
    } else if (task->place == BZ_PLACE_WOKEN) {
        list_remove(book, &object->woken_list, id);
    }
    task->place = BZ_PLACE_NONE;
}

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

void bz_book_begin(struct bz_book *book, struct bz_loop *loop) {
    struct bz_mem *mem = bz_loop_mem(loop);
    *book = (struct bz_book){.loop = loop,
                             .task_capacity = TASK_CAPACITY_FIRST,
                             .object_capacity = OBJECT_CAPACITY_FIRST};
    book->tasks = grow(mem, NULL, 0, TASK_CAPACITY_FIRST * sizeof *book->tasks);
    book->objects = grow(mem, NULL, 0, OBJECT_CAPACITY_FIRST * sizeof *book->objects);
    book->touched = grow(mem, NULL, 0, OBJECT_CAPACITY_FIRST * sizeof *book->touched);
    book->tasks[0] = (struct bz_book_task){0};
}

uint32_t bz_book_add_object(struct bz_book *book, const char *name, enum bz_primitive primitive,
                            const struct bz_permit_ops *ops, uint32_t claims, void *instance,
                            uint64_t permits) {
    uint32_t old_capacity = book->object_capacity;
    if (book->object_count + 1 == old_capacity) {
        size_t capacity = 2 * (size_t)old_capacity;
        struct bz_mem *mem = bz_loop_mem(book->loop);
        book->objects = grow(mem, book->objects, old_capacity * sizeof *book->objects,
                             capacity * sizeof *book->objects);
        book->touched = grow(mem, book->touched, old_capacity * sizeof *book->touched,
                             capacity * sizeof *book->touched);
        book->object_capacity = (uint32_t)capacity;
    }
    uint32_t number = ++book->object_count;
    book->objects[number] = (struct bz_object){.name = name,
                                               .ops = ops,
                                               .instance = instance,
                                               .primitive = primitive,
                                               .claims = claims,
                                               .permits = permits,
                                               .over_released_by = BZ_NO_TASK,
                                               .has_view = ops->view != NULL};
    return number;
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
    const struct bz_task *task = bz_driver_task(book->loop, id);
    BZ_CHECK(task != NULL); /* it cannot have ended in the step that created it */
    book->tasks[id] = (struct bz_book_task){
        .name_base = task->name_base, .name_index = task->name_index, .phase = BZ_PHASE_UNSTARTED};
}

/* --- events ----------------------------------------------------------------------------------- */

static inline struct bz_object *touch(struct bz_book *book, uint32_t number) {
    struct bz_object *object = &book->objects[number];
    if (!object->is_touched) {
        object->is_touched = true;
        book->touched[book->touched_count++] = number;
    }
    return object;
}

/* Counts live arrivals before this one. Only a grant out of order walks the list. */
static void note_overtaking(struct bz_book *book, const struct bz_object *object, uint32_t id) {
    struct bz_book_task *task = &book->tasks[id];
    book->grant = (struct bz_grant){.task = id, .object = task->object};
    for (uint32_t other = object->live.first;
         other != 0 && book->tasks[other].arrival < task->arrival;
         other = book->tasks[other].next) {
        book->tasks[other].overtaken++;
        if (book->grant.overtook++ == 0) {
            book->grant.overtook_task = other;
        }
    }
    book->facts |= BZ_FACT_OVERTAKEN;
}

/* Whoever returns with a permit, while earlier arrivals were woken and no permit is left for them,
 * took theirs. One that was cancelled meanwhile will not take it: nothing is stolen from it. */
static void note_steal(struct bz_book *book, const struct bz_object *object, uint32_t id) {
    uint64_t promised = 0;
    uint32_t robbed = 0;
    for (uint32_t other = object->woken_list.first;
         other != 0 && book->tasks[other].arrival < book->tasks[id].arrival;
         other = book->tasks[other].next) {
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

void bz_book_on_resume(struct bz_book *book, const struct bz_event *event) {
    struct bz_book_task *task = &book->tasks[event->task];
    task->phase = BZ_PHASE_RUNNING;
    if (event->status == BZ_CANCELLED) {
        if (task->op != BZ_OP_NONE && !task->cancel_pending) {
            book->facts |= BZ_FACT_UNINVITED;
        }
        task->cancelled_in_op = true;
        task->cancel_pending = false;
    } else if (task->cancel_pending) {
        if (task->wait == BZ_WAIT_JOIN && task->answer == BZ_ANSWER_WOKEN) {
            /* The request was passed to the task that it waited for, and that one ended otherwise:
             * its outcome is the answer, as in asyncio. */
            task->cancel_pending = false;
        } else {
            book->facts |= BZ_FACT_SWALLOWED;
        }
    }
    if (task->op != BZ_OP_ACQUIRE) {
        return;
    }
    struct bz_object *object = touch(book, task->object);
    if (task->wait != BZ_WAIT_FUTURE) {
        object->polling--;
        return;
    }
    if (task->answer == BZ_ANSWER_WOKEN) {
        object->woken--;
        leave_place(book, object, event->task);
    } else {
        object->cancelled--;
    }
}

void bz_book_on_suspend(struct bz_book *book, const struct bz_event *event) {
    struct bz_book_task *task = &book->tasks[event->task];
    task->phase = BZ_PHASE_SUSPENDED;
    task->wait = (uint8_t)event->arg;
    task->answer = BZ_ANSWER_PENDING;
    if (task->op != BZ_OP_ACQUIRE) {
        return;
    }
    struct bz_object *object = touch(book, task->object);
    if (task->wait == BZ_WAIT_FUTURE) {
        object->waiting++;
    } else {
        object->polling++;
    }
    if (task->place == BZ_PLACE_NONE && !task->cancelled_in_op) {
        /* It was woken, found nothing, and waits again: back to its place by arrival. */
        list_insert_by_arrival(book, &object->live, event->task);
        task->place = BZ_PLACE_LIVE;
    }
}

void bz_book_on_wake(struct bz_book *book, const struct bz_event *event) {
    struct bz_book_task *task = &book->tasks[event->task];
    bool is_cancelled = event->status == BZ_CANCELLED;
    task->answer = is_cancelled ? BZ_ANSWER_CANCELLED : BZ_ANSWER_WOKEN;
    if (task->wait == BZ_WAIT_JOIN && !is_cancelled) {
        task->cancel_pending = false; /* it went to the joined task, which made nothing of it */
    }
    if (task->op != BZ_OP_ACQUIRE) {
        return;
    }
    struct bz_object *object = touch(book, task->object);
    if (task->wait != BZ_WAIT_FUTURE) {
        return;
    }
    object->waiting--;
    if (is_cancelled) {
        object->cancelled++;
        leave_place(book, object, event->task);
        return;
    }
    object->woken++;
    if (task->place == BZ_PLACE_LIVE && object->live.first != event->task) {
        note_overtaking(book, object, event->task);
    }
    leave_place(book, object, event->task);
    list_insert_by_arrival(book, &object->woken_list, event->task);
    task->place = BZ_PLACE_WOKEN;
}

void bz_book_on_cancel(struct bz_book *book, const struct bz_event *event) {
    struct bz_book_task *task = &book->tasks[event->task];
    if (event->status != BZ_OK) {
        return;
    }
    task->cancel_pending = true;
    task->cancels++;
    if (task->place == BZ_PLACE_LIVE) {
        leave_place(book, touch(book, task->object), event->task); /* nobody owes it a turn now */
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

/* Taken for accepted at the call, because grants happen inside it; a refusal takes it back. */
static void on_release(struct bz_object *object, struct bz_book_task *task, uint32_t id) {
    task->took_back = object->holders > 0;
    task->gave_up = task->holdings > 0;
    object->holders -= task->took_back;
    task->holdings -= task->gave_up;
    if (!task->took_back) {
        task->over_released_before = object->over_released_by;
        object->over_released_by = id;
        object->permits++; /* a plain semaphore may be released by who never acquired */
    }
    task->op = BZ_OP_NONE;
    task->object = 0;
}

static void on_refused_release(struct bz_object *object, struct bz_book_task *task) {
    object->holders += task->took_back;
    if (!task->took_back) {
        object->permits--;
        object->over_released_by = task->over_released_before;
    }
    task->holdings += task->gave_up;
}

void bz_book_on_call(struct bz_book *book, const struct bz_event *event) {
    struct bz_book_task *task = &book->tasks[event->task];
    struct bz_object *object = touch(book, event->object);
    task->op = event->detail;
    task->object = event->object;
    task->cancelled_in_op = false;
    if (event->detail == BZ_OP_ACQUIRE) {
        task->arrival = ++object->arrivals;
        task->overtaken = 0;
        list_insert_after(book, &object->live, object->live.last, event->task);
        task->place = BZ_PLACE_LIVE;
    } else if (event->detail == BZ_OP_RELEASE) {
        on_release(object, task, event->task);
    }
}

static void on_acquired(struct bz_book *book, struct bz_object *object, uint32_t id) {
    struct bz_book_task *task = &book->tasks[id];
    object->holders++;
    task->holdings++;
    if (object->holders > object->permits) {
        book->facts |= BZ_FACT_CROWDED;
    }
    if (task->place == BZ_PLACE_LIVE && object->live.first != id) {
        note_overtaking(book, object, id);
    }
    if (object->woken > 0 && object->holders + object->woken > object->permits) {
        note_steal(book, object, id);
    }
}

/* An acquire that returned at once: it arrived behind everybody who is live. */
static void on_acquired_at_once(struct bz_book *book, struct bz_object *object, uint32_t id) {
    struct bz_book_task *task = &book->tasks[id];
    task->arrival = ++object->arrivals;
    task->overtaken = 0;
    task->cancelled_in_op = false;
    task->place = object->live.first == 0 ? BZ_PLACE_NONE : BZ_PLACE_LIVE;
    if (task->place == BZ_PLACE_LIVE) {
        list_insert_after(book, &object->live, object->live.last, id);
    }
}

/* An operation that was cancelled inside says so, or that its own deadline did it; one that was not
 * says neither that nor that it failed. */
static bool is_odd(const struct bz_book_task *task, enum bz_status status) {
    if (task->cancelled_in_op) {
        return status != BZ_CANCELLED && status != BZ_TIMED_OUT;
    }
    return status != BZ_OK && status != BZ_TIMED_OUT && status != BZ_NO_MEMORY;
}

void bz_book_on_return(struct bz_book *book, const struct bz_event *event, uint32_t step) {
    struct bz_book_task *task = &book->tasks[event->task];
    struct bz_object *object = touch(book, event->object);
    if (event->detail == BZ_OP_ACQUIRE) {
        if (task->op == BZ_OP_NONE) {
            task->object = event->object;
            on_acquired_at_once(book, object, event->task);
        }
        object->return_task = event->task;
        object->return_step = step;
        object->return_status = event->status;
        if (is_odd(task, (enum bz_status)event->status)) {
            book->facts |= BZ_FACT_ODD_RETURN;
        }
        if (event->status == BZ_OK) {
            on_acquired(book, object, event->task);
        }
        leave_place(book, object, event->task);
    } else if (event->status != BZ_OK) {
        on_refused_release(object, task);
    }
    task->op = BZ_OP_NONE;
    task->object = 0;
}

/* What a callback does to an object, no event tells: each of them is looked at. */
void bz_book_on_callback(struct bz_book *book) {
    for (uint32_t number = 1; number <= book->object_count; number++) {
        touch(book, number);
    }
}

void bz_book_on_exit(struct bz_book *book, const struct bz_event *event) {
    book->tasks[event->task].phase = BZ_PHASE_DONE;
    book->unfinished--;
}

/* --- windows ---------------------------------------------------------------------------------- */

enum bz_window bz_book_window(const struct bz_book_task *task) {
    if (task->phase == BZ_PHASE_DONE) {
        return BZ_WINDOW_DONE;
    }
    if (task->phase == BZ_PHASE_RUNNING) {
        return BZ_WINDOW_RUNNING;
    }
    if (task->cancel_pending) {
        return BZ_WINDOW_CANCELLING;
    }
    if (task->phase == BZ_PHASE_UNSTARTED) {
        return BZ_WINDOW_UNSTARTED;
    }
    bool waits_for_somebody = task->wait == BZ_WAIT_FUTURE || task->wait == BZ_WAIT_JOIN;
    bool is_inside_op = task->op != BZ_OP_NONE && waits_for_somebody;
    if (task->holdings > 0 && !is_inside_op) {
        return BZ_WINDOW_HOLDING;
    }
    if (waits_for_somebody) {
        return task->answer == BZ_ANSWER_PENDING ? BZ_WINDOW_WAITING : BZ_WINDOW_WOKEN;
    }
    return BZ_WINDOW_SLEEPING;
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
