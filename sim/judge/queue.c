/* A queue under test: two objects and a ledger.
 *
 * A put takes a slot and adds an item, a get takes an item and frees a slot. So the oracles of
 * permits judge both (`lost-wakeup`, `fifo`, `starvation`), and `bound` counts items against slots.
 * Values are numbers 1, 2, ... in the order of the calls of put, which identify the items
 * (`item-once`, `item-order`).
 *
 * With BZ_CLAIM_TAKES_AT_RETURN an item is in the queue exactly from the return of its put to the
 * return of its get. Other variants may take in the item of a waiting putter before its put
 * returns. They may hand an item over with the wake-up; size() counts it until that getter returns.
 *
 * At a rendezvous an item is there while it is offered, and a slot while a get asks: the items are
 * those of puts that have not failed, less the gets, and the slots the gets that have not failed,
 * less the puts. A pair that has met leaves both counts when the second one has returned. */
#include "sim/judge/shadow/queue_ledger.h"

#define ITEM_CAPACITY_FIRST 32u
#define NO_BOUND (UINT64_C(1) << 62)

void bz_judge_add_queue(struct bz_judge *judge, struct bz_judged_queue *queue,
                        const char *items_name, const char *slots_name, enum bz_queue_order order,
                        uint32_t maxsize, uint32_t claims, const struct bz_introspection *look,
                        uint64_t (*size)(void *instance)) {
    struct bz_shadow *shadow = &judge->shadow;
    struct bz_shadow_object object = {.name = items_name,
                                      .kind = BZ_OBJECT_ITEMS,
                                      .primitive = BZ_PRIMITIVE_QUEUE,
                                      .claims = claims,
                                      .size = maxsize,
                                      .order = (uint8_t)order,
                                      .partner = shadow->object_count + 2,
                                      .is_counted = true};
    *queue = (struct bz_judged_queue){
        .judge = judge, .order = order, .item_capacity = ITEM_CAPACITY_FIRST, .size = size};
    queue->is_rendezvous = maxsize == BZ_QUEUE_RENDEZVOUS;
    queue->instance = look != NULL ? look->instance : NULL;
    queue->items = bz_judge_add_object(judge, look, object);
    object.name = slots_name;
    object.kind = BZ_OBJECT_SLOTS;
    object.order = 0;
    object.partner = queue->items;
    object.permits = queue->is_rendezvous ? 0 : maxsize == 0 ? NO_BOUND : maxsize;
    queue->slots = bz_judge_add_object(judge, NULL, object); /* shown once */
    queue->ledger = bz_shadow_new(shadow, ITEM_CAPACITY_FIRST, sizeof *queue->ledger);
}

static void moment(struct bz_judged_queue *queue, enum bz_moment_kind kind, uint64_t value,
                   enum bz_status status) {
    bz_judge_moment(queue->judge, (struct bz_moment){.kind = kind,
                                                     .task = queue->judge->shadow.running,
                                                     .object = queue->items,
                                                     .status = status,
                                                     .queue = queue,
                                                     .numbers = {value}});
}

/* One more item, one less slot taken; false if none was. */
static void bring_item(struct bz_judged_queue *queue) {
    bz_shadow_mark_dirty(&queue->judge->shadow, queue->items)->permits++;
}

static bool bring_slot(struct bz_judged_queue *queue) {
    struct bz_shadow_object *slots = bz_shadow_mark_dirty(&queue->judge->shadow, queue->slots);
    bool is_taken = slots->holders > 0;
    slots->holders -= is_taken;
    return is_taken;
}

/* At a rendezvous: one more put that offers, or get that asks; `by` -1: one less. */
static void offer(struct bz_judged_queue *queue, int by) {
    if (queue->is_rendezvous) {
        bz_shadow_mark_dirty(&queue->judge->shadow, queue->items)->permits += (uint64_t)by;
    }
}

static void ask(struct bz_judged_queue *queue, int by) {
    if (queue->is_rendezvous) {
        bz_shadow_mark_dirty(&queue->judge->shadow, queue->slots)->permits += (uint64_t)by;
    }
}

/* A task that puts hands an item over to the one that gets next; a task that gets, a slot. */
static void hand_on(struct bz_judged_queue *queue, uint32_t object) {
    struct bz_judge *judge = queue->judge;
    bz_judge_shadow_object(judge, object)->had_last = judge->shadow.running;
}

/* --- what a put and a get may return ---------------------------------------------------------- */

void bz_judge_try(struct bz_judged_queue *queue) {
    struct bz_judge *judge = queue->judge;
    judge->shadow.tasks[judge->shadow.running].tries = true;
}

/* No task is inside an operation on the object, except the running task. */
static bool is_alone(const struct bz_shadow_object *object) {
    return (object->live | object->polling | object->waiting | object->woken | object->cancelled) ==
           0;
}

/* Beside BZ_OK, as bits. Ends the try. */
static uint32_t excuses(struct bz_judged_queue *queue, enum bz_op op) {
    struct bz_shadow_task *task = &queue->judge->shadow.tasks[queue->judge->shadow.running];
    uint32_t excused = queue->is_closed ? 1u << BZ_CLOSED : 0;
    bool is_get = op == BZ_OP_GET;
    const struct bz_shadow_object *slots = bz_queue_slots(queue);
    bool has_some = is_get ? bz_queue_expected_size(queue) > 0 : slots->holders < slots->permits;
    bool is_sure = bz_queue_is_exact(queue) && !queue->is_closed && has_some &&
                   is_alone(is_get ? bz_queue_items(queue) : slots);
    if (task->tries && !is_sure) {
        excused |= is_get ? 1u << BZ_EMPTY : 1u << BZ_FULL;
    }
    task->tries = false;
    return excused;
}

/* --- put -------------------------------------------------------------------------------------- */

static uint32_t new_item(struct bz_judged_queue *queue, int64_t priority) {
    uint32_t value = ++queue->item_count;
    if (value == queue->item_capacity) {
        queue->ledger = bz_shadow_double(&queue->judge->shadow, queue->ledger,
                                         &queue->item_capacity, sizeof *queue->ledger);
    }
    queue->ledger[value] =
        (struct bz_judged_item){.priority = priority, .producer = queue->judge->shadow.running};
    return value;
}

uint32_t bz_judge_put_begin(struct bz_judged_queue *queue, int64_t priority) {
    uint32_t value = new_item(queue, priority);
    queue->putting++;
    offer(queue, 1);
    bz_judge_call_begin(queue->judge, queue->slots, BZ_OP_PUT);
    return value;
}

/* A put at a rendezvous had been woken, or its item taken, and is cancelled: its get may have the
 * item. Without a cancel it knows whether that is so. With BZ_CLAIM_MAY_DELIVER, any put that is
 * cancelled: a get may take the item until the put has left. */
static bool is_too_late(const struct bz_judged_queue *queue, uint32_t value,
                        enum bz_status status) {
    const struct bz_judge *judge = queue->judge;
    const struct bz_shadow_task *task = &judge->shadow.tasks[judge->shadow.running];
    bool is_cancelled = status == BZ_CANCELLED || (status == BZ_TIMED_OUT && task->op_requests > 0);
    bool is_taken = task->was_granted || queue->ledger[value].state == BZ_ITEM_GOT;
    bool may_be = queue->is_rendezvous
                      ? is_taken
                      : (bz_queue_slots(queue)->claims & BZ_CLAIM_MAY_DELIVER) != 0;
    return is_cancelled && judge->call.kind == 0 && may_be;
}

static void put_failed(struct bz_judged_queue *queue, uint32_t value, enum bz_status status,
                       bool is_late) {
    struct bz_judged_item *item = &queue->ledger[value];
    bool was_got = item->state == BZ_ITEM_GOT;
    if (!is_late) {
        moment(queue, BZ_MOMENT_PUT_FAILED, value, status);
    }
    item->state = was_got                ? BZ_ITEM_GOT
                  : !is_late             ? BZ_ITEM_REFUSED
                  : queue->is_rendezvous ? BZ_ITEM_EITHER
                                         : BZ_ITEM_MAYBE;
    if (item->state == BZ_ITEM_MAYBE) {
        struct bz_shadow_object *slots = bz_shadow_mark_dirty(&queue->judge->shadow, queue->slots);
        slots->maybe++;
        slots->holders++;
    }
    ask(queue, was_got ? -1 : 0);
    offer(queue, was_got ? 0 : -1);
    moment(queue, BZ_MOMENT_NO_EFFECT, BZ_OP_PUT, status);
}

void bz_judge_put_end(struct bz_judged_queue *queue, uint32_t value, enum bz_status status) {
    if (!bz_queue_knows(queue, value)) {
        bz_judge_refuse(queue->judge, "bz_judge_put_end() of item %u of %u", value,
                        queue->item_count);
        return;
    }
    struct bz_judged_item *item = &queue->ledger[value];
    /* A getter may have taken it in and another one got it before the putter resumed, or a shutdown
     * dropped it: then its slot is free again. */
    bool is_gone = item->state == BZ_ITEM_GOT || item->state == BZ_ITEM_EITHER;
    bool is_free = status == BZ_OK && is_gone && !queue->is_rendezvous && bring_slot(queue);
    bool is_late = is_too_late(queue, value, status);
    bz_judge_call_end_or(queue->judge, queue->slots, BZ_OP_PUT, status, excuses(queue, BZ_OP_PUT));
    queue->putting--;
    if (status != BZ_OK) {
        put_failed(queue, value, status, is_late);
        return;
    }
    hand_on(queue, queue->items);
    if (item->state == BZ_ITEM_PUTTING) {
        item->state = BZ_ITEM_IN;
        item->entered = ++queue->entered_count;
        queue->unfinished++;
        if (!queue->is_rendezvous) {
            bring_item(queue);
        }
    } else if (is_gone && !is_free) {
        bring_slot(queue);
        ask(queue, -1);
    }
    moment(queue, BZ_MOMENT_SIZED, 0, status);
}

/* --- get -------------------------------------------------------------------------------------- */

void bz_judge_get_begin(struct bz_judged_queue *queue) {
    ask(queue, 1);
    bz_judge_call_begin(queue->judge, queue->items, BZ_OP_GET);
}

/* Returns whether its put has returned. */
static bool take(struct bz_judged_queue *queue, uint64_t value) {
    uint8_t state = queue->ledger[value].state;
    if (state == BZ_ITEM_PUTTING) {
        queue->judge->shadow.tasks[queue->ledger[value].producer].was_settled = true;
    }
    bool is_offered = queue->is_rendezvous && state == BZ_ITEM_PUTTING;
    if (state != BZ_ITEM_IN && !is_offered) {
        bring_item(queue); /* its put has not returned, or it was dropped */
    }
    queue->unfinished += is_offered || state == BZ_ITEM_MAYBE;
    return !is_offered;
}

void bz_judge_get_end(struct bz_judged_queue *queue, uint64_t value, enum bz_status status) {
    bool is_item = status == BZ_OK && bz_queue_may_give(queue, value);
    bool is_maybe = is_item && queue->ledger[value].state == BZ_ITEM_MAYBE;
    bool is_counted = is_item && (is_maybe || queue->ledger[value].state == BZ_ITEM_IN);
    bool is_met = is_item && take(queue, value);
    bz_judge_call_end_or(queue->judge, queue->items, BZ_OP_GET, status, excuses(queue, BZ_OP_GET));
    if (status != BZ_OK) {
        ask(queue, -1);
        moment(queue, BZ_MOMENT_GET_FAILED, 0, status);
        moment(queue, BZ_MOMENT_NO_EFFECT, BZ_OP_GET, status);
        return;
    }
    if (is_item) {
        hand_on(queue, queue->slots);
    }
    moment(queue, BZ_MOMENT_GOT, value, status);
    if (!is_item) {
        return;
    }
    queue->ledger[value].state = BZ_ITEM_GOT;
    queue->ledger[value].consumer = queue->judge->shadow.running;
    if (is_counted) {
        bring_slot(queue);
        bz_judge_shadow_object(queue->judge, queue->slots)->maybe -= is_maybe;
    }
    ask(queue, is_met ? -1 : 0);
    moment(queue, BZ_MOMENT_SIZED, 0, status);
}

/* --- the rest --------------------------------------------------------------------------------- */

/* A shutdown also wakes those that get nothing. Where a wake-up is the grant, nobody can tell from
 * then on who was granted something. */
static void forget_order(struct bz_shadow_object *object) {
    if ((object->claims & BZ_CLAIM_WAKE_IS_GRANT) != 0) {
        object->claims &= ~BZ_CLAIM_FIFO;
    }
}

void bz_judge_shutdown_begin(struct bz_judged_queue *queue, bool is_immediate) {
    bz_judge_does(queue->judge, queue->items, BZ_OP_SHUTDOWN, is_immediate);
    queue->is_closed = true; /* for those that return inside the call */
    forget_order(bz_judge_shadow_object(queue->judge, queue->items));
    forget_order(bz_judge_shadow_object(queue->judge, queue->slots));
}

/* A queue that hands items over took this one in when it woke the put, and may have dropped it. So
 * may one whose put the shutdown runs inside of. */
static bool may_drop(const struct bz_judged_queue *queue, const struct bz_judged_item *item) {
    return item->state == BZ_ITEM_PUTTING && !queue->is_rendezvous && !bz_queue_is_exact(queue) &&
           queue->judge->shadow.tasks[item->producer].inside != BZ_INSIDE_WAITING;
}

/* After a shutdown no waiter waits forever, so lost wake-ups are not judged by counting. An
 * immediate one drops the items. */
void bz_judge_shutdown_end(struct bz_judged_queue *queue, bool is_immediate) {
    struct bz_shadow_object *items = bz_judge_shadow_object(queue->judge, queue->items);
    struct bz_shadow_object *slots = bz_judge_shadow_object(queue->judge, queue->slots);
    slots->never_stuck = true;
    for (uint32_t value = 1; is_immediate && value <= queue->item_count; value++) {
        struct bz_judged_item *item = &queue->ledger[value];
        if (may_drop(queue, item)) {
            item->state = BZ_ITEM_EITHER;
        } else if (item->state == BZ_ITEM_IN) {
            item->state = BZ_ITEM_DROPPED;
            items->permits--;
            slots->holders--;
            queue->unfinished -= queue->unfinished > 0;
        }
    }
}

void bz_judge_task_done_begin(struct bz_judged_queue *queue) {
    bz_judge_does(queue->judge, queue->items, BZ_OP_DONE, 0);
}

void bz_judge_task_done_end(struct bz_judged_queue *queue, enum bz_status status) {
    moment(queue, BZ_MOMENT_SAID_DONE, 0, status);
    bz_judge_answers(queue->judge, queue->items, BZ_OP_DONE, status,
                     1u << BZ_OK | 1u << BZ_INVALID_STATE);
    queue->unfinished -= status == BZ_OK && queue->unfinished > 0;
}

struct bz_judged_join bz_judge_join_begin(struct bz_judged_queue *queue) {
    return bz_judge_requests(queue->judge);
}

void bz_judge_join_end(struct bz_judged_queue *queue, struct bz_judged_join join,
                       enum bz_status status) {
    bz_judge_answers(queue->judge, queue->items, BZ_OP_JOIN, status,
                     1u << BZ_OK | bz_judge_excuse_cancel(queue->judge, join) |
                         (queue->is_closed ? 1u << BZ_CLOSED : 0));
}

void bz_judge_queue_end(struct bz_judged_queue *queue) {
    for (uint32_t value = 1; value <= queue->item_count; value++) {
        if (queue->ledger[value].state == BZ_ITEM_IN) {
            moment(queue, BZ_MOMENT_LEFT_OVER, value, BZ_OK);
        }
    }
}
