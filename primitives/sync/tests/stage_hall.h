/* The stage on which the tests of event, condition, barrier and queue play: a hall with one of each
 * (the condition has a lock), guests "a" to "h", and a check of all invariants after every single
 * step. Words beside those of an actor; N is a number, X a guest:
 *
 *     acquire  release                  the lock
 *     wait  wait-true  notify-N  notify-all      the condition; wait-true waits for hall.is_true
 *     say-true                          makes hall.is_true true
 *     pass  set  clear                  the event; pass waits for it
 *     arrive  abort  reset              the barrier; "a.arrive=2" tells an index
 *     get  put-N  try-get  try-put-N    the queue; "a.get=7" tells the value
 *     done  drain  close  close-now     the queue; drain is its join
 *     cancel-X                          cancels a guest
 *
 * In a priority queue put-N has the priority N / 10, so that 21 and 22 are equals.
 *
 * The lock knows no holder, but the stage does: a wait that returns without the lock, and two in
 * one section, are caught where they happen.
 */
#ifndef BZ_TESTS_STAGE_HALL_H
#define BZ_TESTS_STAGE_HALL_H

#include <stdlib.h>

#include "primitives/sync/barrier.h"
#include "primitives/sync/condition.h"
#include "primitives/sync/event.h"
#include "primitives/sync/queue.h"
#include "primitives/tests/actor.h"

#define GUESTS 8u

struct hall {
    struct bz_loop *loop;
    struct tst_log log;
    struct bz_sync_event event;
    struct bz_lock lock;
    struct bz_condition condition;
    struct bz_barrier barrier;
    struct bz_queue queue;
    struct tst_actor actors[GUESTS];
    struct bz_future futures[GUESTS];
    struct bz_task *tasks[GUESTS];
    const struct tst_actor *holder; /* of the lock; NULL: nobody, or the test */
    bool is_true;
    uint64_t stored; /* in the queue, as its callers see it */
};

/* --- invariants ------------------------------------------------------------------------------- */

static inline void hall_check_waiters(const struct bz_waitq *queue) {
    uint32_t linked = 0;
    for (struct bz_list *link = queue->waiting.next; link != &queue->waiting; link = link->next) {
        linked++;
    }
    cr_assert(eq(u32, linked, queue->waiting_count));
}

static inline void hall_check_barrier(const struct bz_barrier *barrier) {
    hall_check_waiters(&barrier->queue);
    if (!bz_barrier_is_draining(barrier)) {
        cr_assert(lt(u32, barrier->queue.waiting_count, barrier->parties), "all there, and wait");
        cr_assert(not(barrier->is_round_broken));
    }
    if (barrier->is_broken) {
        cr_assert(eq(u32, barrier->queue.waiting_count, 0), "somebody waits at a broken barrier");
    }
}

static inline void hall_check_queue(const struct bz_queue *queue) {
    hall_check_waiters(&queue->getters);
    hall_check_waiters(&queue->putters);
    uint32_t size = bz_queue_size(queue);
    cr_assert(le(u32, queue->promised_items, queue->getters.woken_count));
    cr_assert(le(u32, queue->promised_slots, queue->putters.woken_count));
    if (size > 0) { /* else they may have been dropped */
        cr_assert(le(u32, queue->promised_items, size));
    }
    bool is_free = true;
    if (queue->maxsize > 0) {
        cr_assert(le(u64, (uint64_t)size + queue->promised_slots, queue->maxsize), "bound");
        is_free = size + queue->promised_slots < queue->maxsize;
    }
    if (queue->getters.waiting_count > 0 && queue->getters.woken_count == 0) {
        cr_assert(eq(u32, size, 0), "a getter waits for what is there");
        cr_assert(not(queue->is_closed), "a getter waits for what never comes");
    }
    if (queue->putters.waiting_count > 0) {
        cr_assert(not(queue->is_closed), "a putter waits for ever");
        cr_assert(not(is_free && queue->putters.woken_count == 0), "a slot is free");
    }
    bool getters = queue->getters.waiting_count + queue->getters.woken_count > 0;
    bool putters = queue->putters.waiting_count + queue->putters.woken_count > 0;
    cr_assert(eq(int, bz_queue_empty(queue), size == 0 || getters));
    cr_assert(eq(int, bz_queue_full(queue), !is_free || putters));
    cr_assert(eq(int, queue->finished.is_set, queue->unfinished == 0));
}

static inline void hall_check(struct hall *hall) {
    hall_check_waiters(&hall->event.queue);
    cr_assert(not(hall->event.is_set && hall->event.queue.waiting_count > 0));
    hall_check_waiters(&hall->condition.queue);
    hall_check_waiters(&hall->lock.queue);
    hall_check_barrier(&hall->barrier);
    hall_check_queue(&hall->queue);
    cr_assert(eq(u64, bz_queue_size(&hall->queue), hall->stored), "an item came or went");
}

/* --- the driver ------------------------------------------------------------------------------- */

static inline void hall_step(struct hall *hall, uint32_t index) {
    bz_driver_step(hall->loop, bz_driver_take(hall->loop, index));
    hall_check(hall);
}

static inline void hall_turn(struct hall *hall) {
    bz_driver_begin_turn(hall->loop);
    while (bz_driver_turn_left(hall->loop) > 0) {
        hall_step(hall, 0);
    }
}

static inline void hall_run(struct hall *hall) {
    while (bz_driver_ready_count(hall->loop) > 0) {
        hall_turn(hall);
    }
}

/* --- operations, by guests or by the test ----------------------------------------------------- */

static inline enum bz_status hall_put(struct hall *hall, uint64_t value, bool may_wait) {
    int64_t priority = (int64_t)(value / 10);
    enum bz_status status = may_wait ? bz_queue_put_priority(&hall->queue, value, priority)
                                     : bz_queue_try_put_priority(&hall->queue, value, priority);
    hall->stored += status == BZ_OK;
    return status;
}

static inline enum bz_status hall_get(struct hall *hall, uint64_t *value, bool may_wait) {
    enum bz_status status =
        may_wait ? bz_queue_get(&hall->queue, value) : bz_queue_try_get(&hall->queue, value);
    hall->stored -= status == BZ_OK;
    return status;
}

static inline void hall_close(struct hall *hall, bool is_immediate) {
    bz_queue_shutdown(&hall->queue, is_immediate);
    hall->stored = is_immediate ? 0 : hall->stored;
    hall_check(hall);
}

static inline void hall_cancel(struct hall *hall, char name) {
    cr_assert(bz_task_cancel(hall->tasks[name - 'a']));
    hall_check(hall);
}

/* The test puts, gets and takes without waiting. */
static inline void hall_give(struct hall *hall, uint64_t value) {
    tst_status(hall_put(hall, value, false), BZ_OK);
    hall_check(hall);
}

static inline void hall_take(struct hall *hall, uint64_t expected) {
    uint64_t value = 0;
    tst_status(hall_get(hall, &value, false), BZ_OK);
    cr_assert(eq(u64, value, expected));
    hall_check(hall);
}

static inline bool hall_is_true(void *arg) {
    struct hall *hall = arg;
    return hall->is_true;
}

/* --- guests ----------------------------------------------------------------------------------- */

/* True if `word` is `verb` followed by a number, which is stored. */
static inline bool hall_number(const char *word, const char *verb, uint64_t *number) {
    size_t length = strlen(verb);
    if (strncmp(word, verb, length) != 0 || word[length] < '0' || word[length] > '9') {
        return false;
    }
    *number = strtoull(word + length, NULL, 10);
    return true;
}

static inline enum bz_status hall_lock_word(struct tst_actor *actor, const char *word,
                                            bool *is_quiet) {
    struct hall *hall = actor->object;
    enum bz_status status = BZ_OK;
    if (strcmp(word, "acquire") == 0) {
        status = bz_lock_acquire(&hall->lock);
        if (status != BZ_OK) {
            return status;
        }
        cr_assert(eq(ptr, (void *)hall->holder, NULL), "two in one section");
        hall->holder = actor;
        return BZ_OK;
    }
    if (strcmp(word, "release") == 0) {
        hall->holder = NULL;
        status = bz_lock_release(&hall->lock);
        *is_quiet = status == BZ_OK;
        return status;
    }
    bool is_plain = strcmp(word, "wait") == 0;
    if (is_plain || strcmp(word, "wait-true") == 0) {
        bool was_holder = hall->holder == actor;
        const struct tst_actor *others = was_holder ? NULL : hall->holder;
        hall->holder = others;
        bool may_pass = !is_plain && hall->is_true;
        if (may_pass) {
            hall->holder = was_holder ? actor : others;
        }
        status = is_plain ? bz_condition_wait(&hall->condition)
                          : bz_condition_wait_for(&hall->condition, hall_is_true, hall);
        if (!may_pass && status != BZ_NOT_HELD) {
            cr_assert(eq(ptr, (void *)hall->holder, NULL), "came back into a section of others");
            cr_assert(hall->lock.is_held, "came back without the lock");
            hall->holder = actor;
        }
        return status;
    }
    return BZ_INVALID_ARGUMENT;
}

static inline enum bz_status hall_quiet_word(struct hall *hall, const char *word) {
    if (strcmp(word, "say-true") == 0) {
        hall->is_true = true;
    } else if (strcmp(word, "set") == 0) {
        bz_sync_event_set(&hall->event);
    } else if (strcmp(word, "clear") == 0) {
        bz_sync_event_clear(&hall->event);
    } else if (strcmp(word, "abort") == 0) {
        bz_barrier_abort(&hall->barrier);
    } else if (strcmp(word, "reset") == 0) {
        bz_barrier_reset(&hall->barrier);
    } else if (strcmp(word, "close") == 0) {
        hall_close(hall, false);
    } else if (strcmp(word, "close-now") == 0) {
        hall_close(hall, true);
    } else if (strncmp(word, "cancel-", 7) == 0 && word[7] != '\0' && word[8] == '\0') {
        cr_assert(bz_task_cancel(hall->tasks[word[7] - 'a']));
    } else {
        return BZ_INVALID_ARGUMENT;
    }
    return BZ_OK;
}

/* Words that tell a number when they return. */
static inline enum bz_status hall_telling_word(struct tst_actor *actor, const char *word,
                                               bool *is_quiet) {
    struct hall *hall = actor->object;
    enum bz_status status;
    uint64_t number = 0;
    if (strcmp(word, "arrive") == 0) {
        uint32_t index = UINT32_MAX;
        status = bz_barrier_wait(&hall->barrier, &index);
        number = index;
    } else if (strcmp(word, "get") == 0) {
        status = hall_get(hall, &number, true);
    } else if (strcmp(word, "try-get") == 0) {
        status = hall_get(hall, &number, false);
    } else {
        return BZ_INVALID_ARGUMENT;
    }
    *is_quiet = status == BZ_OK;
    if (status == BZ_OK) {
        tst_say(actor->log, "%s.%s=%u", actor->name, word, (unsigned)number);
    }
    return status;
}

static inline enum bz_status hall_word(struct tst_actor *actor, const char *word, bool *is_quiet) {
    struct hall *hall = actor->object;
    enum bz_status status = hall_lock_word(actor, word, is_quiet);
    if (status == BZ_INVALID_ARGUMENT) {
        status = hall_telling_word(actor, word, is_quiet);
    }
    uint64_t number = 0;
    if (status != BZ_INVALID_ARGUMENT) {
        return status;
    }
    if (strcmp(word, "pass") == 0) {
        return bz_sync_event_wait(&hall->event);
    }
    if (strcmp(word, "drain") == 0) {
        return bz_queue_join(&hall->queue);
    }
    if (hall_number(word, "put-", &number)) {
        return hall_put(hall, number, true);
    }
    if (hall_number(word, "try-put-", &number)) {
        return hall_put(hall, number, false);
    }
    *is_quiet = true;
    if (strcmp(word, "notify-all") == 0) {
        status = bz_condition_notify_all(&hall->condition);
    } else if (hall_number(word, "notify-", &number)) {
        status = bz_condition_notify(&hall->condition, (uint32_t)number);
    } else if (strcmp(word, "done") == 0) {
        status = bz_queue_task_done(&hall->queue);
    } else {
        return hall_quiet_word(hall, word);
    }
    *is_quiet = status == BZ_OK;
    return status;
}

/* --- beginning and end ------------------------------------------------------------------------ */

static inline void hall_begin_with(struct hall *hall, uint32_t parties, enum bz_queue_kind kind,
                                   uint32_t maxsize) {
    *hall = (struct hall){.loop = tst_begin()};
    bz_sync_event_init(&hall->event, hall->loop);
    bz_lock_init(&hall->lock, hall->loop);
    bz_condition_init(&hall->condition, &hall->lock);
    tst_status(bz_barrier_init(&hall->barrier, hall->loop, parties), BZ_OK);
    tst_status(bz_queue_init(&hall->queue, hall->loop, kind, maxsize), BZ_OK);
}

static inline void hall_begin(struct hall *hall) {
    hall_begin_with(hall, 3, BZ_QUEUE_FIFO, 1);
}

/* Guests have names from 'a' on. The script is played from the next turn on. */
static inline struct bz_task *hall_guest(struct hall *hall, char name, const char *script) {
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    unsigned index = (unsigned)(name - 'a');
    bz_future_init(&hall->futures[index], hall->loop);
    hall->actors[index] = (struct tst_actor){.name = names[index],
                                             .script = script,
                                             .loop = hall->loop,
                                             .log = &hall->log,
                                             .future = &hall->futures[index],
                                             .extra = hall_word,
                                             .object = hall};
    hall->tasks[index] = tst_actor_spawn(&hall->actors[index]);
    return hall->tasks[index];
}

/* Guests first to last, with the same script. */
static inline void hall_guests(struct hall *hall, char first, char last, const char *script) {
    for (char name = first; name <= last; name++) {
        hall_guest(hall, name, script);
    }
}

/* Lets a guest that awaits go on. */
static inline void hall_signal(struct hall *hall, char name) {
    tst_status(bz_future_set_result(&hall->futures[name - 'a'], 0), BZ_OK);
}

static inline void hall_expect_queue(const struct bz_waitq *queue, uint32_t waiting, uint32_t woken,
                                     uint32_t cancelled) {
    cr_assert(eq(u32, queue->waiting_count, waiting), "W");
    cr_assert(eq(u32, queue->woken_count, woken), "R");
    cr_assert(eq(u32, queue->cancelled_count, cancelled), "C");
}

static inline void hall_is_quiet(const struct hall *hall) {
    hall_expect_queue(&hall->event.queue, 0, 0, 0);
    hall_expect_queue(&hall->condition.queue, 0, 0, 0);
    hall_expect_queue(&hall->lock.queue, 0, 0, 0);
    hall_expect_queue(&hall->barrier.queue, 0, 0, 0);
    hall_expect_queue(&hall->queue.getters, 0, 0, 0);
    hall_expect_queue(&hall->queue.putters, 0, 0, 0);
    hall_expect_queue(&hall->queue.finished.queue, 0, 0, 0);
    cr_assert(eq(u32, hall->queue.promised_items, 0));
    cr_assert(eq(u32, hall->queue.promised_slots, 0));
}

/* Runs to the end: nobody is left anywhere, and the story is as told. */
static inline void hall_end(struct hall *hall, const char *story) {
    hall_run(hall);
    tst_expect(&hall->log, story);
    hall_is_quiet(hall);
    for (unsigned index = 0; index < GUESTS; index++) {
        if (hall->tasks[index] != NULL) {
            cr_assert(bz_task_is_done(hall->tasks[index]));
            bz_task_free(hall->tasks[index]);
        }
    }
    bz_queue_fini(&hall->queue);
    tst_end(hall->loop);
}

#endif
