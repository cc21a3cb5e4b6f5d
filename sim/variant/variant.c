#include "sim/variant/variant.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

/* A primitive: its name, and the table that a variant must have to offer it. A table begins with
 * the bytes of an instance; functions follow. */
struct descriptor {
    const char *name;
    size_t table; /* the offset in struct bz_variant of the pointer to it */
    size_t table_bytes;
    size_t optional[6]; /* the offsets of what may be NULL */
};

#define AT(type, member) offsetof(struct bz_##type##_ops, member)
#define TABLE(member, type, ...)                                                                   \
    offsetof(struct bz_variant, member), sizeof(struct bz_##type##_ops), {                         \
        __VA_ARGS__                                                                                \
    }
#define PERMITS(primitive)                                                                         \
    TABLE(permits[primitive], permit, AT(permit, fini), AT(permit, locked), AT(permit, view))

static const struct descriptor descriptors[BZ_PRIMITIVE_COUNT] = {
    [BZ_PRIMITIVE_SEMAPHORE] = {"semaphore", PERMITS(BZ_PRIMITIVE_SEMAPHORE)},
    [BZ_PRIMITIVE_BOUNDED] = {"bounded", PERMITS(BZ_PRIMITIVE_BOUNDED)},
    [BZ_PRIMITIVE_LOCK] = {"lock", PERMITS(BZ_PRIMITIVE_LOCK)},
    [BZ_PRIMITIVE_EVENT] = {"event", TABLE(event, event, AT(event, queued))},
    [BZ_PRIMITIVE_CONDITION] = {"condition", TABLE(condition, condition, AT(condition, queued))},
    [BZ_PRIMITIVE_BARRIER] = {"barrier", TABLE(barrier, barrier, AT(barrier, abort),
                                               AT(barrier, reset), AT(barrier, queued))},
    [BZ_PRIMITIVE_QUEUE] = {"queue",
                            TABLE(queue, queue, AT(queue, task_done), AT(queue, join),
                                  AT(queue, shutdown), AT(queue, size), AT(queue, queued))},
    [BZ_PRIMITIVE_POOL] = {"pool", TABLE(pool, pool, AT(pool, entries))},
    [BZ_PRIMITIVE_DEFERRED] = {"deferred", TABLE(deferred, deferred, AT(deferred, waiter_bytes),
                                                 AT(deferred, queued))},
    [BZ_PRIMITIVE_SCOPE] = {"scope", TABLE(scope, scope, 0)},
    [BZ_PRIMITIVE_MODELLED] = {"modelled", TABLE(modelled, modelled, 0)},
    [BZ_PRIMITIVE_RESOURCE_POOL] = {"resource-pool",
                                    TABLE(resource_pool, resource_pool, AT(resource_pool, close),
                                          AT(resource_pool, queued))},
};

const char *bz_primitive_name(enum bz_primitive primitive) {
    return (unsigned)primitive < BZ_PRIMITIVE_COUNT ? descriptors[primitive].name : NULL;
}

const void *bz_variant_table(const struct bz_variant *variant, enum bz_primitive primitive) {
    const void *table = NULL;
    if ((unsigned)primitive < BZ_PRIMITIVE_COUNT) {
        memcpy(&table, (const char *)variant + descriptors[primitive].table, sizeof table);
    }
    return table;
}

bool bz_variant_offers(const struct bz_variant *variant, enum bz_primitive primitive) {
    return bz_variant_table(variant, primitive) != NULL;
}

static_assert(sizeof(size_t) == sizeof(void (*)(void)), "a table is an array of words");

bool bz_variant_is_complete(const struct bz_variant *variant, enum bz_primitive primitive) {
    const struct descriptor *descriptor = &descriptors[primitive];
    const size_t *optional = descriptor->optional; /* in the order of the table */
    const char *table = bz_variant_table(variant, primitive);
    for (size_t at = sizeof(size_t); at < descriptor->table_bytes; at += sizeof(size_t)) {
        size_t word;
        memcpy(&word, table + at, sizeof word);
        if (at == *optional) {
            optional++;
        } else if (word == 0) {
            return false;
        }
    }
    return primitive != BZ_PRIMITIVE_QUEUE ||
           (variant->queue->task_done == NULL) == (variant->queue->join == NULL);
}

uint32_t bz_variant_claims(const struct bz_variant *variant, enum bz_primitive primitive) {
    return variant->claims & ~variant->waives[primitive];
}

bool bz_variant_offers_size(const struct bz_variant *variant, enum bz_primitive primitive,
                            int64_t size) {
    const struct bz_offer *offer = &variant->offers[primitive];
    bool is_in_range = size >= offer->least && (offer->most == 0 || size <= offer->most);
    if (primitive != BZ_PRIMITIVE_QUEUE) {
        return is_in_range;
    }
    uint32_t usual = BZ_OFFERS_BOUND | (offer->most == 0 ? BZ_OFFERS_NO_BOUND : 0);
    uint32_t bounds = offer->bounds != 0 ? offer->bounds : usual;
    return size > 0    ? is_in_range && (bounds & BZ_OFFERS_BOUND) != 0
           : size == 0 ? (bounds & BZ_OFFERS_NO_BOUND) != 0
                       : (bounds & BZ_OFFERS_RENDEZVOUS) != 0;
}

int64_t bz_variant_nearest_size(const struct bz_variant *variant, enum bz_primitive primitive,
                                int64_t size, int64_t least, int64_t most) {
    for (int64_t distance = 0; distance <= most - least; distance++) {
        int64_t below = size - distance;
        int64_t above = size + distance;
        if (below >= least && bz_variant_offers_size(variant, primitive, below)) {
            return below;
        }
        if (above <= most && bz_variant_offers_size(variant, primitive, above)) {
            return above;
        }
    }
    return size;
}

enum bz_queue_order bz_variant_nearest_order(const struct bz_variant *variant,
                                             enum bz_queue_order order) {
    uint32_t orders = variant->offers[BZ_PRIMITIVE_QUEUE].orders;
    return orders == 0 || (orders >> (unsigned)order & 1u) != 0
               ? order
               : (enum bz_queue_order)__builtin_ctz(orders);
}

bool bz_fault_is_caught(const struct bz_fault *fault, const char *oracle) {
    bool is_of_model = strcmp(oracle, "fifo") == 0 || strcmp(oracle, "lost-wakeup") == 0;
    return strcmp(fault->oracle, oracle) == 0 ||
           (strcmp(fault->oracle, "linearizability") == 0 && is_of_model);
}

static bool is_caught(const struct bz_fault *fault, enum bz_primitive primitive,
                      const char *oracle) {
    bool concerns = fault->primitives == 0 || (fault->primitives >> (unsigned)primitive & 1u) != 0;
    return concerns && bz_fault_is_caught(fault, oracle);
}

const struct bz_fault *bz_variant_declared(const struct bz_variant *variant,
                                           enum bz_primitive primitive, const char *oracle) {
    if (variant->fault != NULL && is_caught(variant->fault, primitive, oracle)) {
        return variant->fault;
    }
    for (const struct bz_fault *const *next = variant->declared; next != NULL && *next != NULL;
         next++) {
        if (is_caught(*next, primitive, oracle)) {
            return *next;
        }
    }
    return NULL;
}
