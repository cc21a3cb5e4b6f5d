#include "sim/world/subject_queue.h"

#include <string.h>

#include "primitives/runtime/check.h"
#include "primitives/runtime/mem.h"
#include "sim/world/world.h"

#define ITEM_CAPACITY_FIRST 32u
#define NO_BOUND (UINT64_C(1) << 62)

enum item_state {
    ITEM_PUTTING = 0, /* its put has not returned */
    ITEM_IN = 1,
    ITEM_GOT = 2,
    ITEM_REFUSED = 3, /* its put did not happen */
    ITEM_DROPPED = 4, /* by an immediate shutdown */
};

struct bz_queue_item {
    int64_t priority;
    uint32_t producer;
    uint32_t consumer;
    uint32_t entered; /* when its put returned, counted in puts */
    uint8_t state;    /* enum item_state */
};

/* What is wrong with an item, as detail[1] of BZ_FACT_BAD_ITEM; the oracle item-once has words. */
enum item_fault {
    FAULT_MADE_UP = 0,
    FAULT_TWICE = 1,
    FAULT_REFUSED = 2,
    FAULT_MISSING = 3,
    FAULT_DROPPED = 4,
    FAULT_FEWER = 5, /* detail[0]: how many */
    FAULT_MORE = 6,
};

enum bz_status bz_queue_subject_init(struct bz_queue_subject *subject, struct bz_world *world,
                                     const char *items_name, const char *slots_name,
                                     enum bz_queue_order order, uint32_t maxsize) {
    const struct bz_queue_ops *ops = world->config.variant->queue;
    void *instance = bz_subject_instance(world, ops->instance_bytes);
    *subject =
        (struct bz_queue_subject){.world = world, .ops = ops, .instance = instance, .order = order};
    subject->item_capacity = ITEM_CAPACITY_FIRST;
    subject->ledger =
        bz_mem_alloc(bz_loop_mem(world->loop), ITEM_CAPACITY_FIRST * sizeof *subject->ledger);
    if (instance == NULL || subject->ledger == NULL) {
        return BZ_NO_MEMORY;
    }
    enum bz_status status = ops->init(instance, world->loop, order, maxsize);
    if (status != BZ_OK) {
        return status;
    }
    struct bz_object object = {.name = items_name,
                               .instance = instance,
                               .kind = BZ_OBJECT_ITEMS,
                               .primitive = BZ_PRIMITIVE_QUEUE,
                               .claims =
                                   bz_variant_claims(world->config.variant, BZ_PRIMITIVE_QUEUE),
                               .is_counted = true,
                               .queued = ops->queued};
    subject->items = bz_book_add_object(&world->book, object);
    object.name = slots_name;
    object.kind = BZ_OBJECT_SLOTS;
    object.permits = maxsize == 0 ? NO_BOUND : maxsize;
    object.queued = NULL; /* shown once */
    subject->slots = bz_book_add_object(&world->book, object);
    return BZ_OK;
}

/* --- the ledger ------------------------------------------------------------------------------- */

static uint32_t new_item(struct bz_queue_subject *subject, int64_t priority) {
    uint32_t value = ++subject->item_count;
    if (value == subject->item_capacity) {
        struct bz_mem *mem = bz_loop_mem(subject->world->loop);
        size_t bytes = subject->item_capacity * sizeof *subject->ledger;
        struct bz_queue_item *larger = bz_mem_alloc(mem, 2 * bytes);
        BZ_CHECK(larger != NULL); /* the arena's limit leaves no room for the ledger */
        memcpy(larger, subject->ledger, bytes);
        bz_mem_free(mem, subject->ledger, bytes);
        subject->ledger = larger;
        subject->item_capacity *= 2;
    }
    subject->ledger[value] = (struct bz_queue_item){
        .priority = priority, .producer = bz_world_current_task(subject->world)};
    return value;
}

static bool comes_before(enum bz_queue_order order, const struct bz_queue_item *item,
                         const struct bz_queue_item *other) {
    if (order == BZ_QUEUE_ORDER_LIFO) {
        return item->entered > other->entered;
    }
    if (order == BZ_QUEUE_ORDER_PRIORITY && item->priority != other->priority) {
        return item->priority < other->priority;
    }
    return item->entered < other->entered;
}

/* What the queue's order takes next; 0 if it is empty. O(items). */
static uint32_t due_item(const struct bz_queue_subject *subject) {
    uint32_t due = 0;
    for (uint32_t value = 1; value <= subject->item_count; value++) {
        const struct bz_queue_item *item = &subject->ledger[value];
        if (item->state == ITEM_IN &&
            (due == 0 || comes_before(subject->order, item, &subject->ledger[due]))) {
            due = value;
        }
    }
    return due;
}

/* A later item of the same producer that the same consumer has got already; 0 if there is none. */
static uint32_t overtaken_by(const struct bz_queue_subject *subject, uint32_t value,
                             uint32_t consumer) {
    const struct bz_queue_item *item = &subject->ledger[value];
    for (uint32_t later = value + 1; later <= subject->item_count; later++) {
        const struct bz_queue_item *other = &subject->ledger[later];
        if (other->producer == item->producer && other->state == ITEM_GOT &&
            other->consumer == consumer) {
            return later;
        }
    }
    return 0;
}

static bool is_exact(const struct bz_queue_subject *subject) {
    return (bz_variant_claims(subject->world->config.variant, BZ_PRIMITIVE_QUEUE) &
            BZ_CLAIM_TAKES_AT_RETURN) != 0;
}

/* --- judging ---------------------------------------------------------------------------------- */

static void tell_item(struct bz_queue_subject *subject, uint64_t which, enum item_fault fault) {
    bz_subject_tell(subject->world, BZ_FACT_BAD_ITEM, subject->items, which, fault);
}

/* What the book says of the size: items whose put has returned, less those that were got. */
static uint64_t expected_size(const struct bz_queue_subject *subject) {
    const struct bz_object *items = &subject->world->book.objects[subject->items];
    return items->permits - items->holders;
}

static void judge_size(struct bz_queue_subject *subject) {
    uint64_t size = subject->ops->size(subject->instance);
    uint64_t expected = expected_size(subject);
    if (is_exact(subject) && !subject->is_closed && size != expected) {
        bz_subject_tell(subject->world, BZ_FACT_BAD_SIZE, subject->items, size, expected);
    }
}

/* Items that may have been handed to getters, which have not resumed. */
static uint32_t in_hand(const struct bz_queue_subject *subject) {
    return is_exact(subject) ? 0 : subject->world->book.objects[subject->items].woken;
}

/* A put or get that failed has had no effect. Who hands items over may have let in one whose put
 * has not returned yet, but has no fewer than were put. */
static void judge_no_effect(struct bz_queue_subject *subject) {
    uint64_t size = subject->ops->size(subject->instance);
    uint64_t least = expected_size(subject);
    uint64_t most = least + (is_exact(subject) ? 0 : subject->putting);
    if (subject->is_closed) {
        return;
    }
    if (size < least) {
        tell_item(subject, least - size, FAULT_FEWER);
    } else if (size > most) {
        tell_item(subject, size - most, FAULT_MORE);
    }
    const struct bz_object *slots = &subject->world->book.objects[subject->slots];
    if (slots->holders > slots->permits + in_hand(subject)) {
        bz_subject_tell(subject->world, BZ_FACT_CROWDED, subject->slots, 0, 0);
    }
}

/* Items that were handed over before the shutdown are not dropped by it. */
static bool may_be_got(const struct bz_queue_subject *subject, uint64_t value) {
    if (value == 0 || value > subject->item_count) {
        return false;
    }
    uint8_t state = subject->ledger[value].state;
    return state == ITEM_PUTTING || state == ITEM_IN ||
           (state == ITEM_DROPPED && !is_exact(subject));
}

static void judge_bad_item(struct bz_queue_subject *subject, uint64_t value) {
    static const uint8_t faults[] = {
        [ITEM_GOT] = FAULT_TWICE, [ITEM_REFUSED] = FAULT_REFUSED, [ITEM_DROPPED] = FAULT_DROPPED};
    bool is_known = value != 0 && value <= subject->item_count;
    tell_item(subject, value,
              is_known ? (enum item_fault)faults[subject->ledger[value].state] : FAULT_MADE_UP);
}

static void deliver(struct bz_queue_subject *subject, uint32_t value) {
    uint32_t consumer = bz_world_current_task(subject->world);
    bool is_in = subject->ledger[value].state == ITEM_IN;
    uint32_t first = value;
    if (is_exact(subject) && is_in) {
        first = due_item(subject);
    } else if (subject->order == BZ_QUEUE_ORDER_FIFO) {
        uint32_t later = overtaken_by(subject, value, consumer);
        first = later != 0 ? later : value;
    }
    subject->ledger[value].state = ITEM_GOT;
    subject->ledger[value].consumer = consumer;
    if (first != value) {
        bz_subject_tell(subject->world, BZ_FACT_BAD_ORDER, subject->items, value, first);
    }
}

/* One more item, one less; the book's side. */
static void bring_item(struct bz_queue_subject *subject) {
    bz_book_touch(&subject->world->book, subject->items)->permits++;
}

static bool bring_slot(struct bz_queue_subject *subject) {
    struct bz_object *slots = bz_book_touch(&subject->world->book, subject->slots);
    bool is_taken = slots->holders > 0;
    slots->holders -= is_taken;
    return is_taken;
}

/* Who puts hands an item over to who gets next; who gets, a slot to who puts next. */
static void hand_on(struct bz_queue_subject *subject, uint32_t object) {
    struct bz_world *world = subject->world;
    world->book.objects[object].had_last = bz_world_current_task(world);
}

/* What a call was told must be what the state of the queue says; judged where the state is exact.
 */
static void judge_answer(struct bz_queue_subject *subject, bool is_right, enum bz_status status) {
    const struct bz_object *items = &subject->world->book.objects[subject->items];
    uint32_t both = BZ_CLAIM_TAKES_AT_RETURN | BZ_CLAIM_REFUSES_MISUSE;
    if (!is_right && (items->claims & both) == both) {
        bz_subject_tell(subject->world, BZ_FACT_MISUSED, subject->items, (uint64_t)status, 0);
    }
}

/* --- operations ------------------------------------------------------------------------------- */

static void end_put(struct bz_queue_subject *subject, uint32_t step, uint32_t value,
                    enum bz_status status) {
    struct bz_queue_item *item = &subject->ledger[value];
    /* A getter may have taken it in, and another one got it, before the putter resumed: then its
     * slot is free again. */
    bool was_got = item->state == ITEM_GOT;
    bool is_free = status == BZ_OK && was_got && bring_slot(subject);
    bz_subject_returns(subject->world, subject->slots, BZ_OP_PUT, step, status);
    subject->putting--;
    if (status != BZ_OK) {
        if (was_got) {
            tell_item(subject, value, FAULT_REFUSED);
        } else {
            item->state = ITEM_REFUSED;
        }
        judge_no_effect(subject);
        return;
    }
    hand_on(subject, subject->items);
    if (item->state == ITEM_PUTTING) {
        item->state = ITEM_IN;
        item->entered = ++subject->entered_count;
        subject->unfinished++;
        bring_item(subject);
    } else if (was_got && !is_free) {
        bring_slot(subject);
    }
    judge_size(subject);
}

static void end_get(struct bz_queue_subject *subject, uint32_t step, uint64_t value,
                    enum bz_status status) {
    bool is_item = status == BZ_OK && may_be_got(subject, value);
    bool is_counted = is_item && subject->ledger[value].state == ITEM_IN;
    if (is_item && !is_counted) {
        bring_item(subject); /* it is not: its put has not returned, or it was dropped */
    }
    bz_subject_returns(subject->world, subject->items, BZ_OP_GET, step, status);
    if (status != BZ_OK) {
        const struct bz_object *items = &subject->world->book.objects[subject->items];
        judge_answer(subject, status != BZ_CLOSED || items->permits == items->holders, status);
        judge_no_effect(subject);
        return;
    }
    if (!is_item) {
        judge_bad_item(subject, value);
        return;
    }
    hand_on(subject, subject->slots);
    deliver(subject, (uint32_t)value);
    if (is_counted) {
        bring_slot(subject);
    }
    judge_size(subject);
}

enum bz_status bz_queue_subject_put(struct bz_queue_subject *subject, int64_t priority) {
    uint32_t value = new_item(subject, priority);
    subject->putting++;
    uint32_t step = bz_subject_calls(subject->world, subject->slots, BZ_OP_PUT);
    enum bz_status status = subject->ops->put(subject->instance, value, priority);
    end_put(subject, step, value, status);
    return status;
}

enum bz_status bz_queue_subject_try_put(struct bz_queue_subject *subject, int64_t priority) {
    uint32_t value = new_item(subject, priority);
    subject->putting++;
    uint32_t step = bz_subject_calls(subject->world, subject->slots, BZ_OP_PUT);
    enum bz_status status = subject->ops->try_put(subject->instance, value, priority);
    end_put(subject, step, value, status);
    return status;
}

enum bz_status bz_queue_subject_get(struct bz_queue_subject *subject) {
    uint64_t value = 0;
    uint32_t step = bz_subject_calls(subject->world, subject->items, BZ_OP_GET);
    enum bz_status status = subject->ops->get(subject->instance, &value);
    end_get(subject, step, value, status);
    return status;
}

enum bz_status bz_queue_subject_try_get(struct bz_queue_subject *subject) {
    uint64_t value = 0;
    uint32_t step = bz_subject_calls(subject->world, subject->items, BZ_OP_GET);
    enum bz_status status = subject->ops->try_get(subject->instance, &value);
    end_get(subject, step, value, status);
    return status;
}

/* After it nobody waits for what will never come, so that there is no stuck waiter to be found by
 * counting. An immediate one drops the items. */
bool bz_queue_subject_shutdown(struct bz_queue_subject *subject, bool is_immediate) {
    if (subject->ops->shutdown == NULL) {
        return false;
    }
    bz_subject_does(subject->world, subject->items, BZ_OP_SHUTDOWN, is_immediate);
    subject->ops->shutdown(subject->instance, is_immediate);
    subject->is_closed = true;
    struct bz_object *objects = subject->world->book.objects;
    objects[subject->slots].never_stuck = true;
    for (uint32_t value = 1; is_immediate && value <= subject->item_count; value++) {
        if (subject->ledger[value].state == ITEM_IN) {
            subject->ledger[value].state = ITEM_DROPPED;
            objects[subject->items].permits--;
            objects[subject->slots].holders--;
            subject->unfinished -= subject->unfinished > 0;
        }
    }
    return true;
}

enum bz_status bz_queue_subject_task_done(struct bz_queue_subject *subject) {
    if (subject->ops->task_done == NULL) {
        return BZ_INVALID_STATE;
    }
    bz_subject_does(subject->world, subject->items, BZ_OP_DONE, 0);
    enum bz_status status = subject->ops->task_done(subject->instance);
    judge_answer(subject, (status == BZ_OK) == (subject->unfinished > 0), status);
    subject->unfinished -= status == BZ_OK && subject->unfinished > 0;
    return status;
}

enum bz_status bz_queue_subject_join(struct bz_queue_subject *subject) {
    return subject->ops->join == NULL ? BZ_INVALID_STATE : subject->ops->join(subject->instance);
}

void bz_queue_subject_finish(struct bz_queue_subject *subject) {
    if (subject->ops->queued != NULL && subject->ops->queued(subject->instance) > 0) {
        return; /* a get might sweep them away before `leak` has looked */
    }
    while (bz_queue_subject_try_get(subject) == BZ_OK && !subject->world->is_stopped) {
    }
    if (subject->unfinished == 0) {
        enum bz_status status = bz_queue_subject_task_done(subject); /* one too many */
        (void)status; /* the oracle misuse judges it */
    }
    for (uint32_t value = 1; value <= subject->item_count; value++) {
        if (subject->ledger[value].state == ITEM_IN) {
            tell_item(subject, value, FAULT_MISSING);
        }
    }
}
