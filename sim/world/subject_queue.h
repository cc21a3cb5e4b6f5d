/* A subject that is a queue; see subject.h. Two objects in the book, named by the caller: its
 * items, for which getters wait, and its free slots, for which putters wait. A put takes a slot and
 * brings an item, a get takes an item and brings a slot: so all that is judged of permits is judged
 * of both
 * (`lost-wakeup`, `fifo`, `starvation`), and more gets than puts, or more items than slots, are
 * found by counting (`item-once`, `bound`).
 *
 * The values are numbers that the subject hands out, 1, 2, ... in the order of the puts, so that it
 * can tell every item: none is made up, delivered twice, left over from a put that failed, or lost
 * (`item-once`); of two items from one task to one task the earlier comes first, and if the variant
 * takes at return, every get takes the very item that the queue's order says (`item-order`). */
#ifndef BZ_SIM_WORLD_SUBJECT_QUEUE_H
#define BZ_SIM_WORLD_SUBJECT_QUEUE_H

#include "sim/world/subject.h"

struct bz_queue_item;

struct bz_queue_subject {
    struct bz_world *world;
    const struct bz_queue_ops *ops;
    void *instance;
    uint32_t items; /* numbers in the book */
    uint32_t slots;
    enum bz_queue_order order;
    struct bz_queue_item *ledger; /* by value; 0 is not used */
    uint32_t item_count;
    uint32_t item_capacity;
    uint64_t dropped; /* by an immediate shutdown */
    bool is_closed;
};

/* `maxsize` 0: no bound. */
enum bz_status bz_queue_subject_init(struct bz_queue_subject *subject, struct bz_world *world,
                                     const char *items_name, const char *slots_name,
                                     enum bz_queue_order order, uint32_t maxsize) BZ_MUST_USE;

/* Puts a new item; the value is the subject's business. From tasks only. */
enum bz_status bz_queue_subject_put(struct bz_queue_subject *subject, int64_t priority) BZ_MUST_USE;
enum bz_status bz_queue_subject_try_put(struct bz_queue_subject *subject,
                                        int64_t priority) BZ_MUST_USE;
enum bz_status bz_queue_subject_get(struct bz_queue_subject *subject) BZ_MUST_USE;
enum bz_status bz_queue_subject_try_get(struct bz_queue_subject *subject) BZ_MUST_USE;

/* False: the variant does not offer it. */
bool bz_queue_subject_shutdown(struct bz_queue_subject *subject, bool is_immediate);

/* BZ_INVALID_STATE where it is not offered. */
enum bz_status bz_queue_subject_task_done(struct bz_queue_subject *subject) BZ_MUST_USE;
enum bz_status bz_queue_subject_join(struct bz_queue_subject *subject) BZ_MUST_USE;

/* In a scenario's finish: takes out what is left; then every item that was put must have been got.
 */
void bz_queue_subject_finish(struct bz_queue_subject *subject);

#endif
