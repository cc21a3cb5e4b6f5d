#include "sim/world/subject_queue.h"

#include <string.h>

#include "primitives/runtime/check.h"
#include "primitives/runtime/mem.h"
#include "sim/world/world.h"

#define ITEM_CAPACITY_FIRST 32u
#define NO_BOUND (UINT64_C(1) << 62)

enum item_state {
    ITEM_PUTTING = 0, /* inside put, or given up */
    ITEM_IN = 1,
    ITEM_GOT = 2,
    ITEM_DROPPED = 3,
};

struct bz_queue_item {
    int64_t priority;
    uint32_t producer;
    uint32_t consumer;
    uint8_t state; /* enum item_state */
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
                               .claims = world->config.variant->claims,
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

/* What the queue's order takes next; 0 if it is empty. O(items). */
static uint32_t due_item(const struct bz_queue_subject *subject) {
    uint32_t due = 0;
    for (uint32_t value = 1; value <= subject->item_count; value++) {
        const struct bz_queue_item *item = &subject->ledger[value];
        if (item->state != ITEM_IN) {
            continue;
        }
        bool is_better = due == 0 || subject->order == BZ_QUEUE_ORDER_LIFO ||
                         (subject->order == BZ_QUEUE_ORDER_PRIORITY &&
                          item->priority < subject->ledger[due].priority);
        due = is_better ? value : due;
    }
    return due;
}

/* An earlier item of the same producer that is in the queue, or was delivered to the same consumer
 * later, has been overtaken. */
static uint32_t overtaken_item(const struct bz_queue_subject *subject, uint32_t value,
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

static void deliver(struct bz_queue_subject *subject, uint64_t value) {
    struct bz_world *world = subject->world;
    uint32_t consumer = bz_world_current_task(world);
    if (value == 0 || value > subject->item_count || subject->ledger[value].state >= ITEM_GOT) {
        bz_subject_tell(world, BZ_FACT_BAD_ITEM, subject->items, value,
                        value != 0 && value <= subject->item_count);
        return;
    }
    bool is_exact = (world->config.variant->claims & BZ_CLAIM_TAKES_AT_RETURN) != 0;
    uint32_t due = is_exact ? due_item(subject) : (uint32_t)value;
    uint32_t late = !is_exact && subject->order == BZ_QUEUE_ORDER_FIFO
                        ? overtaken_item(subject, (uint32_t)value, consumer)
                        : 0;
    subject->ledger[value].state = ITEM_GOT;
    subject->ledger[value].consumer = consumer;
    if (due != value || late != 0) {
        bz_subject_tell(world, BZ_FACT_BAD_ORDER, subject->items, value, late != 0 ? late : due);
    }
}

/* One more item, one less; the book's side. */
static void bring(struct bz_queue_subject *subject, uint32_t object, bool is_item) {
    struct bz_object *entry = bz_book_touch(&subject->world->book, object);
    if (is_item) {
        entry->permits++;
    } else {
        entry->holders -= entry->holders > 0;
    }
}

static void judge_size(struct bz_queue_subject *subject) {
    struct bz_world *world = subject->world;
    const struct bz_object *items = &world->book.objects[subject->items];
    bool is_exact = (world->config.variant->claims & BZ_CLAIM_TAKES_AT_RETURN) != 0;
    uint64_t size = subject->ops->size(subject->instance);
    uint64_t expected = items->permits - items->holders;
    if (is_exact && !subject->is_closed && size != expected) {
        bz_subject_tell(world, BZ_FACT_BAD_SIZE, subject->items, size, expected);
    }
}

/* --- operations ------------------------------------------------------------------------------- */

/* The item is in the queue before put returns, and may be got before that. */
static void end_put(struct bz_queue_subject *subject, uint32_t step, uint32_t value,
                    enum bz_status status) {
    bz_subject_returns(subject->world, subject->slots, BZ_OP_PUT, step, status);
    struct bz_queue_item *item = &subject->ledger[value];
    if (status != BZ_OK) {
        if (item->state == ITEM_GOT) {
            bz_subject_tell(subject->world, BZ_FACT_BAD_ITEM, subject->items, value, 2);
        }
        item->state = ITEM_DROPPED;
        return;
    }
    if (item->state == ITEM_PUTTING) {
        item->state = ITEM_IN;
    }
    bring(subject, subject->items, true);
    judge_size(subject);
}

static void end_get(struct bz_queue_subject *subject, uint32_t step, uint64_t value,
                    enum bz_status status) {
    bz_subject_returns(subject->world, subject->items, BZ_OP_GET, step, status);
    if (status == BZ_OK) {
        deliver(subject, value);
        bring(subject, subject->slots, false);
        judge_size(subject);
    }
}

enum bz_status bz_queue_subject_put(struct bz_queue_subject *subject, int64_t priority) {
    uint32_t value = new_item(subject, priority);
    uint32_t step = bz_subject_calls(subject->world, subject->slots, BZ_OP_PUT);
    enum bz_status status = subject->ops->put(subject->instance, value, priority);
    end_put(subject, step, value, status);
    return status;
}

enum bz_status bz_queue_subject_try_put(struct bz_queue_subject *subject, int64_t priority) {
    uint32_t value = new_item(subject, priority);
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
        }
    }
    return true;
}

enum bz_status bz_queue_subject_task_done(struct bz_queue_subject *subject) {
    if (subject->ops->task_done == NULL) {
        return BZ_INVALID_STATE;
    }
    bz_subject_does(subject->world, subject->items, BZ_OP_DONE, 0);
    return subject->ops->task_done(subject->instance);
}

enum bz_status bz_queue_subject_join(struct bz_queue_subject *subject) {
    return subject->ops->join == NULL ? BZ_INVALID_STATE : subject->ops->join(subject->instance);
}

void bz_queue_subject_finish(struct bz_queue_subject *subject) {
    while (bz_queue_subject_try_get(subject) == BZ_OK && !subject->world->is_stopped) {
    }
    for (uint32_t value = 1; value <= subject->item_count; value++) {
        if (subject->ledger[value].state == ITEM_IN) {
            bz_subject_tell(subject->world, BZ_FACT_BAD_ITEM, subject->items, value, 3);
        }
    }
}
