/* The stage of event, condition, barrier and queue: one of each, a lock for the condition, and a
 * check of all invariants after every step. Words beside the common ones:
 *
 *     acquire  release                          the lock
 *     wait  wait-true  notify-N  notify-all     the condition; wait-true waits for hall.is_true
 *     say-true  say-false                       sets hall.is_true
 *     pass  set  clear                          the event; pass waits for it
 *     arrive  abort  reset                      the barrier; arrive reports the index
 *     get  try-get  put-N  try-put-N            the queue; a get reports the value
 *     done  drain  close  close-now             the queue; drain is its join
 *
 * and words that report:
 *
 *     lock  condition  event  barrier  getters  putters  joiners    waiting/woken/cancelled
 *     locked  is-true  is-set  draining  broken  empty  full         yes or no
 *     filling  size  unfinished                                      a number
 *
 * In a priority queue put-N has the priority N / 10, so that 21 and 22 are equals.
 *
 * The lock knows no holder, but the stage does: a wait that returns without the lock, and two in
 * one section, are caught where they happen.
 */
#ifndef BZ_TESTS_STAGE_HALL_H
#define BZ_TESTS_STAGE_HALL_H

#include "primitives/sync/barrier.h"
#include "primitives/sync/condition.h"
#include "primitives/sync/event.h"
#include "primitives/sync/queue.h"
#include "primitives/sync/tests/stage_waiters.h"

struct hall {
    struct tst_stage stage;
    struct bz_sync_event event;
    struct bz_lock lock;
    struct bz_condition condition;
    struct bz_barrier barrier;
    struct bz_queue queue;
    const struct tst_actor *holder; /* of the lock; NULL: nobody, or the test */
    bool is_true;
    uint64_t stored; /* in the queue, as its callers see it */
};

/* --- invariants ------------------------------------------------------------------------------- */

static inline void hall_check_barrier(const struct bz_barrier *barrier) {
    check_waiters(&barrier->queue);
    if (!bz_barrier_is_draining(barrier)) {
        cr_assert_lt(barrier->queue.waiting_count, barrier->parties, "all there, and wait");
        cr_assert_not(barrier->is_round_broken);
    }
    if (barrier->is_broken) {
        cr_assert_eq(barrier->queue.waiting_count, 0, "somebody waits at a broken barrier");
    }
}

static inline void hall_check_queue(const struct bz_queue *queue) {
    check_waiters(&queue->getters);
    check_waiters(&queue->putters);
    uint32_t size = bz_queue_size(queue);
    cr_assert_leq(queue->promised_items, queue->getters.woken_count);
    cr_assert_leq(queue->promised_slots, queue->putters.woken_count);
    if (size > 0) { /* else they may have been dropped */
        cr_assert_leq(queue->promised_items, size);
    }
    bool is_free = true;
    if (queue->maxsize > 0) {
        cr_assert_leq((uint64_t)size + queue->promised_slots, queue->maxsize, "bound");
        is_free = size + queue->promised_slots < queue->maxsize;
    }
    if (queue->getters.waiting_count > 0 && queue->getters.woken_count == 0) {
        cr_assert_eq(size, 0, "a getter waits for what is there");
        cr_assert_not(queue->is_closed, "a getter waits for what never comes");
    }
    if (queue->putters.waiting_count > 0) {
        cr_assert_not(queue->is_closed, "a putter waits for ever");
        cr_assert_not(is_free && queue->putters.woken_count == 0, "a slot is free");
    }
    bool getters = queue->getters.waiting_count + queue->getters.woken_count > 0;
    bool putters = queue->putters.waiting_count + queue->putters.woken_count > 0;
    cr_assert_eq(bz_queue_empty(queue), size == 0 || getters);
    cr_assert_eq(bz_queue_full(queue), !is_free || putters);
    cr_assert_eq(queue->finished.is_set, queue->unfinished == 0);
}

static inline void hall_check(struct tst_stage *stage) {
    struct hall *hall = bz_container_of(stage, struct hall, stage);
    check_waiters(&hall->event.queue);
    cr_assert_not(hall->event.is_set && hall->event.queue.waiting_count > 0);
    check_waiters(&hall->condition.queue);
    check_waiters(&hall->lock.queue);
    hall_check_barrier(&hall->barrier);
    hall_check_queue(&hall->queue);
    cr_assert_eq(bz_queue_size(&hall->queue), hall->stored, "an item came or went");
}

/* --- lock and condition ----------------------------------------------------------------------- */

static inline struct hall *hall_of(struct tst_call *call) {
    return bz_container_of(call->stage, struct hall, stage);
}

static inline enum bz_status word_acquire(struct tst_call *call) {
    struct hall *hall = hall_of(call);
    enum bz_status status = bz_lock_acquire(&hall->lock);
    if (status == BZ_OK) {
        cr_assert_null((void *)hall->holder, "two in one section");
        hall->holder = call->actor;
    }
    return status;
}

static inline enum bz_status word_release(struct tst_call *call) {
    hall_of(call)->holder = NULL;
    return bz_lock_release(&hall_of(call)->lock);
}

static inline bool hall_is_true(void *arg) {
    struct hall *hall = arg;
    return hall->is_true;
}

/* "wait", "wait-true" */
static inline enum bz_status word_wait(struct tst_call *call) {
    struct hall *hall = hall_of(call);
    bool is_plain = call->rest[0] == '\0';
    bool may_pass = !is_plain && hall->is_true;
    if (hall->holder == call->actor && !may_pass) {
        hall->holder = NULL;
    }
    enum bz_status status = is_plain ? bz_condition_wait(&hall->condition)
                                     : bz_condition_wait_for(&hall->condition, hall_is_true, hall);
    if (!may_pass && status != BZ_NOT_HELD) {
        cr_assert_null((void *)hall->holder, "came back into a section of others");
        cr_assert(hall->lock.is_held, "came back without the lock");
        hall->holder = call->actor;
    }
    return status;
}

/* "notify-3", "notify-all" */
static inline enum bz_status word_notify(struct tst_call *call) {
    struct bz_condition *condition = &hall_of(call)->condition;
    return strcmp(call->rest, "all") == 0
               ? bz_condition_notify_all(condition)
               : bz_condition_notify(condition, (uint32_t)tst_number(call->rest));
}

/* "say-true", "say-false" */
TST_DEED(word_say, hall_of(call)->is_true = call->rest[0] == 't')

/* --- event and barrier ------------------------------------------------------------------------ */

TST_WORD(word_pass, bz_sync_event_wait(&hall_of(call)->event))
TST_DEED(word_set_event, bz_sync_event_set(&hall_of(call)->event))
TST_DEED(word_clear, bz_sync_event_clear(&hall_of(call)->event))

static inline enum bz_status word_arrive(struct tst_call *call) {
    uint32_t index = UINT32_MAX;
    enum bz_status status = bz_barrier_wait(&hall_of(call)->barrier, &index);
    if (status == BZ_OK) {
        tst_report(call, "%u", index);
    }
    return status;
}

TST_DEED(word_abort, bz_barrier_abort(&hall_of(call)->barrier))
TST_DEED(word_reset, bz_barrier_reset(&hall_of(call)->barrier))

/* --- queue ------------------------------------------------------------------------------------ */

/* "get", "try-get" */
static inline enum bz_status word_get(struct tst_call *call) {
    struct hall *hall = hall_of(call);
    uint64_t value = 77;
    enum bz_status status = call->word[0] == 'g' ? bz_queue_get(&hall->queue, &value)
                                                 : bz_queue_try_get(&hall->queue, &value);
    if (status == BZ_OK) {
        hall->stored--;
        tst_report(call, "%u", (unsigned)value);
    } else {
        cr_assert_eq(value, 77, "told an item that was not taken");
    }
    return status;
}

/* "put-3", "try-put-3" */
static inline enum bz_status word_put(struct tst_call *call) {
    struct hall *hall = hall_of(call);
    uint64_t value = tst_number(call->rest);
    int64_t priority = (int64_t)(value / 10);
    enum bz_status status = call->word[0] == 'p'
                                ? bz_queue_put_priority(&hall->queue, value, priority)
                                : bz_queue_try_put_priority(&hall->queue, value, priority);
    hall->stored += status == BZ_OK;
    return status;
}

TST_WORD(word_task_done, bz_queue_task_done(&hall_of(call)->queue))
TST_WORD(word_drain, bz_queue_join(&hall_of(call)->queue))

/* "close", "close-now" */
static inline enum bz_status word_close(struct tst_call *call) {
    struct hall *hall = hall_of(call);
    bool is_immediate = strcmp(call->word, "close-now") == 0;
    bz_queue_shutdown(&hall->queue, is_immediate);
    hall->stored = is_immediate ? 0 : hall->stored;
    return BZ_OK;
}

/* --- the stage -------------------------------------------------------------------------------- */

static inline void hall_report(struct tst_call *call) {
    struct hall *hall = hall_of(call);
    report_waiters(call, "lock", &hall->lock.queue);
    report_waiters(call, "condition", &hall->condition.queue);
    report_waiters(call, "event", &hall->event.queue);
    report_waiters(call, "barrier", &hall->barrier.queue);
    report_waiters(call, "getters", &hall->queue.getters);
    report_waiters(call, "putters", &hall->queue.putters);
    report_waiters(call, "joiners", &hall->queue.finished.queue);
    tst_flag(call, "locked", bz_lock_locked(&hall->lock));
    tst_flag(call, "is-true", hall->is_true);
    tst_flag(call, "is-set", bz_sync_event_is_set(&hall->event));
    tst_flag(call, "draining", bz_barrier_is_draining(&hall->barrier));
    tst_flag(call, "broken", bz_barrier_is_broken(&hall->barrier));
    tst_flag(call, "empty", bz_queue_empty(&hall->queue));
    tst_flag(call, "full", bz_queue_full(&hall->queue));
    tst_count(call, "filling", bz_barrier_waiting(&hall->barrier));
    tst_count(call, "size", bz_queue_size(&hall->queue));
    tst_count(call, "unfinished", hall->queue.unfinished);
}

static const struct tst_word hall_words[] = {
    {"acquire", word_acquire},
    {"release", word_release, .is_quiet = true},
    {"wait", word_wait},
    {"wait-", word_wait},
    {"notify-", word_notify, .is_quiet = true},
    {"say-", word_say, .is_quiet = true},
    {"pass", word_pass},
    {"set", word_set_event, .is_quiet = true},
    {"clear", word_clear, .is_quiet = true},
    {"arrive", word_arrive},
    {"abort", word_abort, .is_quiet = true},
    {"reset", word_reset, .is_quiet = true},
    {"get", word_get},
    {"try-get", word_get},
    {"put-", word_put},
    {"try-put-", word_put},
    {"done", word_task_done, .is_quiet = true},
    {"drain", word_drain},
    {"close", word_close, .is_quiet = true},
    {"close-now", word_close, .is_quiet = true},
    {NULL, NULL},
};

static inline void hall_begin(struct hall *hall, uint32_t parties, enum bz_queue_kind kind,
                              uint32_t maxsize) {
    *hall = (struct hall){.is_true = false};
    tst_stage_begin(&hall->stage, (struct tst_cast){hall_words, hall_report, hall_check});
    bz_sync_event_init(&hall->event, hall->stage.loop);
    bz_lock_init(&hall->lock, hall->stage.loop);
    bz_condition_init(&hall->condition, &hall->lock);
    tst_status(bz_barrier_init(&hall->barrier, hall->stage.loop, parties), BZ_OK);
    tst_status(bz_queue_init(&hall->queue, hall->stage.loop, kind, maxsize), BZ_OK);
}

/* Nobody is left anywhere, and nothing is promised. */
static inline void hall_end(struct hall *hall) {
    tst_play(&hall->stage, "run lock=0/0/0 condition=0/0/0 event=0/0/0 barrier=0/0/0;"
                           "getters=0/0/0 putters=0/0/0 joiners=0/0/0");
    cr_assert_eq(hall->queue.promised_items, 0);
    cr_assert_eq(hall->queue.promised_slots, 0);
    bz_queue_fini(&hall->queue);
    tst_stage_end(&hall->stage);
}

/* A whole timeline. */
static inline void hall_play(uint32_t parties, enum bz_queue_kind kind, uint32_t maxsize,
                             const char *timeline) {
    struct hall hall;
    hall_begin(&hall, parties, kind, maxsize);
    tst_play(&hall.stage, timeline);
    hall_end(&hall);
}

static inline void play_queue(enum bz_queue_kind kind, uint32_t maxsize, const char *timeline) {
    hall_play(2, kind, maxsize, timeline);
}

static inline void play_fifo(uint32_t maxsize, const char *timeline) {
    play_queue(BZ_QUEUE_FIFO, maxsize, timeline);
}

#endif
