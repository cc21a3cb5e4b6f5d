/* A subject that is a queue; see subject.h. Two objects in the book, named by the caller: its
 * items, for which getters wait, and its free slots, for which putters wait. A put takes a slot and
 * brings an item, a get takes an item and brings a slot: so all that is judged of permits is judged
 * of both (`lost-wakeup`, `fifo`, `starvation`), and more items than slots are found by counting
 * (`bound`).
 *
 * The values are numbers that the subject hands out, 1, 2, ... in the order of the calls of put, so
 * that it can tell every item: none is made up, delivered twice, left over from a put that failed,
 * or lost, and a get or put that fails leaves as many items as there were (`item-once`). Of two
 * items from one task to one task the earlier comes first (`item-order`).
 *
 * A variant that takes at return (BZ_CLAIM_TAKES_AT_RETURN) has an item in the queue from the
 * return of its put to the return of its get, exactly. Then every get must take the very item that
 * the queue's order says, of equals in priority the one whose put returned first (`item-order`),
 * and size() must be right after every put and get (`queue-size`). All others may take in the item
 * of a waiting putter before its put returns, and may hand an item over with the wake-up, which
 * size() counts until that getter returns. */
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
    uint32_t entered_count; /* puts that have returned with BZ_OK */
    uint32_t putting;       /* puts that have not returned */
    bool is_closed;
    uint64_t unfinished; /* items put, and not said to be done */
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

/* BZ_INVALID_STATE where it is not offered. A variant that claims to refuse misuse says so, too, if
 * every item is done already, and only then (`misuse`). */
enum bz_status bz_queue_subject_task_done(struct bz_queue_subject *subject) BZ_MUST_USE;
enum bz_status bz_queue_subject_join(struct bz_queue_subject *subject) BZ_MUST_USE;

/* In a scenario's finish: takes out what is left; then every item that was put must have been got.
 */
void bz_queue_subject_finish(struct bz_queue_subject *subject);

#endif
