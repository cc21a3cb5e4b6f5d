/* Primitives that only their model judges. An entry is what ships (scenarios/variants), but for the
 * operation that has its fault. */
#include "scenarios/variants/modelled.h"
#include "primitives/runtime/loop.h"
#include "primitives/runtime/task.h"
#include "primitives/sync/capacity_limiter.h"
#include "primitives/sync/channel.h"
#include "primitives/sync/notify.h"
#include "primitives/sync/oneshot.h"
#include "primitives/sync/rwlock.h"
#include "primitives/sync/weighted_semaphore.h"
#include "scenarios/zoo/zoo.h"

/* The operations of each, by their numbers in the model. */
enum { FIRST, SECOND, THIRD };

#define OPS(entry, type, the_model)                                                                \
    const struct bz_modelled_ops bz_zoo_ops_##entry = {.instance_bytes = sizeof(type),             \
                                                       .model = &(the_model),                      \
                                                       .init = entry##_init,                       \
                                                       .call = entry##_call};

/* The same, with the init of what ships. */
#define SHIPS(entry, type, variant)                                                                \
    static enum bz_status entry##_init(void *instance, struct bz_loop *loop,                       \
                                       const int64_t *parameters) {                                \
        return bz_variant_##variant.modelled->init(instance, loop, parameters);                    \
    }                                                                                              \
    OPS(entry, type, bz_model_##variant)

/* --- weighted semaphore ----------------------------------------------------------------------- */

/* embassy-6964: a large request that is cancelled leaves those behind it asleep.
 *
 * The head of the queue wants more permits than there are, and holds up smaller requests. That is
 * right: otherwise a large request would never be served. Whatever changes the head must
 * look whether the next one fits now. A release did, and a head that was served; a cancellation did
 * not. golang.org/x/sync had the same fault (go-37852).
 *
 *     3 permits, 2 are held; B wants 3, and waits; C wants 1, and waits behind B; B is cancelled:
 *     C waits on next to a free permit
 *
 * The cure: a cancelled waiter serves those behind it, as a release does. */
static enum bz_status embassy_6964_acquire(struct bz_weighted_semaphore *semaphore,
                                           uint32_t permits) {
    enum bz_status status = bz_weighted_semaphore_try_acquire(semaphore, permits);
    if (status != BZ_EMPTY) {
        return status;
    }
    struct bz_wait_outcome outcome = bz_waitq_wait_for(&semaphore->queue, permits);
    semaphore->reserved -= outcome.was_woken ? permits : 0;
    if (outcome.status != BZ_OK && outcome.was_woken) { /* the fault: if it was not woken, too */
        return bz_weighted_semaphore_release(semaphore, permits) == BZ_OK ? outcome.status
                                                                          : BZ_FAILED;
    }
    return outcome.status;
}

static enum bz_status embassy_6964_call(void *instance, uint32_t op, const int64_t *arguments,
                                        int64_t *answer) {
    if (op == FIRST) {
        return bz_modelled_ended(embassy_6964_acquire(instance, (uint32_t)arguments[0]), answer);
    }
    return bz_variant_weighted_semaphore.modelled->call(instance, op, arguments, answer);
}

SHIPS(embassy_6964, struct bz_weighted_semaphore, weighted_semaphore)

/* zio-8598: a release that is not enough for the head of the queue is lost.
 *
 * A release gives its permits to the head. If the head wants more than there are, the head stays in
 * the queue, and what it was offered goes nowhere.
 *
 *     2 permits: A and B hold one each; C wants 2, and waits; A releases, B releases: C waits on
 *
 * The cure: what is not enough for the head is kept. */
static enum bz_status zio_8598_call(void *instance, uint32_t op, const int64_t *arguments,
                                    int64_t *answer) {
    struct bz_weighted_semaphore *semaphore = instance;
    uint32_t free = semaphore->value;
    enum bz_status status =
        bz_variant_weighted_semaphore.modelled->call(instance, op, arguments, answer);
    if (op == SECOND && bz_waitq_has_waiting(&semaphore->queue) && semaphore->value > free) {
        semaphore->value = free; /* the fault */
    }
    return status;
}

SHIPS(zio_8598, struct bz_weighted_semaphore, weighted_semaphore)

/* --- rwlock ----------------------------------------------------------------------------------- */

/* ae-134: a writer that is cancelled leaves the readers asleep that it kept out.
 *
 * A waiting writer keeps new readers out, although others read. When it leaves, by a time limit or
 * a cancellation, nothing keeps them out any more. But only a release looked who may enter. The
 * same was repaired in .NET's ReaderWriterLockSlim, in Meziantou.Framework (PR 3028) and in sglang,
 * and is in neco (at 9e8e19e).
 *
 *     A reads; B wants to write, and waits; C wants to read, and waits because of B; B is
 * cancelled: C waits on, next to a reader
 *
 * The cure: a writer that leaves lets in the readers that wait, unless another writer waits. */
static enum bz_status ae_134_write(struct bz_rwlock *lock) {
    if (bz_rwlock_try_acquire_write(lock) == BZ_OK) {
        return BZ_OK;
    }
    struct bz_wait_outcome outcome = bz_waitq_wait(&lock->writer_queue);
    if (outcome.status != BZ_OK && outcome.was_woken) { /* the fault: not if it was not woken */
        enum bz_status status = bz_rwlock_release_write(lock);
        return status == BZ_OK ? outcome.status : status;
    }
    return outcome.status;
}

static enum bz_status ae_134_call(void *instance, uint32_t op, const int64_t *arguments,
                                  int64_t *answer) {
    return op == THIRD ? bz_modelled_ended(ae_134_write(instance), answer)
                       : bz_variant_rwlock.modelled->call(instance, op, arguments, answer);
}

SHIPS(ae_134, struct bz_rwlock, rwlock)

/* rustfs-2795: a writer that is cancelled while it waits is counted as waiting for ever.
 *
 * A count of waiting writers keeps new readers out. It is raised before the await and lowered after
 * it. A future that is dropped in between never gets to the second line.
 *
 *     A reads; B wants to write, and waits; B is cancelled; A leaves; C wants to read: it waits
 *
 * The cure: a guard lowers the count whichever way the wait ends. */
struct rustfs_2795 {
    struct bz_rwlock lock;
    uint32_t writers_waiting;
};

static enum bz_status rustfs_2795_write(struct rustfs_2795 *counted) {
    counted->writers_waiting++;
    enum bz_status status = bz_rwlock_acquire_write(&counted->lock);
    counted->writers_waiting -= status == BZ_OK; /* the fault: not if it was cancelled */
    return status;
}

static enum bz_status rustfs_2795_call(void *instance, uint32_t op, const int64_t *arguments,
                                       int64_t *answer) {
    struct rustfs_2795 *counted = instance;
    if (op == FIRST && counted->writers_waiting > 0) {
        struct bz_wait_outcome outcome = bz_waitq_wait(&counted->lock.reader_queue);
        enum bz_status status = outcome.status != BZ_OK && outcome.was_woken
                                    ? bz_rwlock_release_read(&counted->lock)
                                    : BZ_OK;
        return status == BZ_OK ? outcome.status : status;
    }
    return op == THIRD ? bz_modelled_ended(rustfs_2795_write(counted), answer)
                       : bz_variant_rwlock.modelled->call(instance, op, arguments, answer);
}

SHIPS(rustfs_2795, struct rustfs_2795, rwlock)

/* aiorwlock-400: a writer that is cancelled while it waits leaves the state at -1.
 *
 * The state is the number of writers that are in: 0 or 1. A writer that is cancelled lowers it,
 * also one that had not raised it. At -1 the lock is free for nobody.
 *
 *     A reads; B wants to write, and waits; B is cancelled; A leaves; C wants to read: it waits
 *
 * The cure: only a writer that is in lowers it. */
struct aiorwlock_400 {
    struct bz_rwlock lock;
    struct bz_waitq forever;
    bool is_below_zero;
};

static enum bz_status aiorwlock_400_write(struct aiorwlock_400 *self) {
    if (bz_rwlock_try_acquire_write(&self->lock) == BZ_OK) {
        return BZ_OK;
    }
    enum bz_status status = bz_rwlock_acquire_write(&self->lock);
    self->is_below_zero |= status != BZ_OK; /* the fault */
    return status;
}

static enum bz_status aiorwlock_400_call(void *instance, uint32_t op, const int64_t *arguments,
                                         int64_t *answer) {
    struct aiorwlock_400 *self = instance;
    if (self->is_below_zero && op % 2 == FIRST) {
        return bz_waitq_wait(&self->forever).status;
    }
    return op == THIRD ? bz_modelled_ended(aiorwlock_400_write(self), answer)
                       : bz_variant_rwlock.modelled->call(instance, op, arguments, answer);
}

static enum bz_status aiorwlock_400_init(void *instance, struct bz_loop *loop,
                                         const int64_t *parameters) {
    bz_waitq_init(&((struct aiorwlock_400 *)instance)->forever, loop);
    return bz_variant_rwlock.modelled->init(instance, loop, parameters);
}

OPS(aiorwlock_400, struct aiorwlock_400, bz_model_rwlock)

/* crewai-4541: readers starve a writer.
 *
 * A reader enters whenever no writer is in, also if a writer waits. As long as the next reader
 * comes before the last one has left, the writer waits. That is right for a lock that prefers
 * readers, and this entry is one that was meant for writers as well.
 *
 *     A reads; B wants to write, and waits; C reads; A leaves; A reads; C leaves; and so on
 *
 * The cure: a reader waits while a writer waits. */
static enum bz_status crewai_4541_call(void *instance, uint32_t op, const int64_t *arguments,
                                       int64_t *answer) {
    struct bz_rwlock *lock = instance;
    if (op == FIRST && !lock->is_writing) { /* the fault: a writer may wait */
        lock->readers++;
        return BZ_OK;
    }
    return bz_variant_rwlock.modelled->call(instance, op, arguments, answer);
}

SHIPS(crewai_4541, struct bz_rwlock, rwlock)

/* --- notify ----------------------------------------------------------------------------------- */

/* dl-120: a signal that comes in the moment of the cancellation is lost.
 *
 * A task waits for an event that resets itself: each signal is for one waiter, and is kept if
 * no task waits. The wait registers a callback, which completes the task. If the task was cancelled
 * just before, it cannot be completed any more. But the event has been reset, and is not set
 * again.
 *
 *     A and B wait; a signal comes for A; A is cancelled before it resumes: B waits on, and the
 *     signal is gone
 *
 * The cure: a callback that cannot complete its task sets the event again. */
static enum bz_status dl_120_call(void *instance, uint32_t op, const int64_t *arguments,
                                  int64_t *answer) {
    struct bz_notify *notify = instance;
    if (op != FIRST || notify->has_permit) {
        return bz_variant_notify.modelled->call(instance, op, arguments, answer);
    }
    return bz_waitq_wait(&notify->queue).status; /* the fault: it may have been woken */
}

SHIPS(dl_120, struct bz_notify, notify)

/* --- one-shot --------------------------------------------------------------------------------- */

/* postage-44: the receiver is not told that the sender has gone.
 *
 * When the sender is dropped without a value, no value can come. A receiver that asks then hears
 * so. One that waits already was not woken.
 *
 *     A waits for the value; the sender is dropped: A waits forever
 *
 * The cure: the drop wakes the receiver. */
static enum bz_status postage_44_call(void *instance, uint32_t op, const int64_t *arguments,
                                      int64_t *answer) {
    struct bz_oneshot *channel = instance;
    if (op == THIRD && channel->state == BZ_ONESHOT_OPEN) {
        channel->state = BZ_ONESHOT_CLOSED; /* the fault: receivers may wait */
        bz_sync_event_set(&channel->closed);
        return BZ_OK;
    }
    return bz_variant_oneshot.modelled->call(instance, op, arguments, answer);
}

SHIPS(postage_44, struct bz_oneshot, oneshot)

/* --- channel ---------------------------------------------------------------------------------- */

/* tk-900: a slot that was assigned to a sender which has gone is lost.
 *
 * A bounded channel assigns its free slots to the senders that wait, in order. A sender that is
 * dropped before it uses its slot must give the slot back. It did so only if the slot was in its
 * hands: one that was assigned to it since it last looked was forgotten. Each time this happens,
 * the channel has one slot fewer.
 *
 *     the channel is full; A waits; a value is received: A is assigned the slot; A is cancelled:
 * all further sends wait forever
 *
 * Only for a capacity of 1, where one sender is woken at a time.
 *
 * The cure: a sender that goes gives back what was assigned to it. */
static enum bz_status tk_900_send(struct bz_queue *queue, uint64_t value) {
    enum bz_status status = bz_queue_try_put(queue, value);
    if (status != BZ_FULL) {
        return status;
    }
    struct bz_wait_outcome outcome = bz_waitq_wait(&queue->putters);
    if (outcome.status != BZ_OK) {
        return outcome.status; /* the fault: a slot may be promised to it */
    }
    queue->promised_slots = 0;
    return bz_queue_try_put(queue, value);
}

static enum bz_status tk_900_call(void *instance, uint32_t op, const int64_t *arguments,
                                  int64_t *answer) {
    struct bz_channel *channel = instance;
    if (op == SECOND) {
        return bz_modelled_ended(tk_900_send(&channel->queue, (uint64_t)arguments[0]), answer);
    }
    return bz_variant_channel.modelled->call(instance, op, arguments, answer);
}

SHIPS(tk_900, struct bz_channel, channel)

/* --- capacity limiter ------------------------------------------------------------------------- */

/* an-646-total: after the total has risen, newcomers queue next to free capacity.
 *
 * The setter of the total wakes as many waiters as fit, and leaves their entries in the queue. A
 * newcomer that finds entries stands behind them. A release takes the front entry out and wakes its
 * task, which has long been served: no waiter is woken for that token. See also an-646.
 *
 *     the total is 0; B waits; the total is set to 2: B is served, and its entry stays; C waits
 *     behind that entry, next to a free token
 *
 * The cure: the setter takes out what it wakes. */
struct an_646_desk { /* begins as that of what ships */
    struct bz_capacity_limiter limiter;
    struct bz_borrower borrowers[BZ_MODEL_BORROWERS];
    struct bz_capacity_limiter other;
    uint32_t dead; /* entries at the front of the queue, of borrowers that were served */
};

static enum bz_status an_646_acquire(struct an_646_desk *desk, struct bz_borrower *borrower) {
    struct bz_capacity_limiter *limiter = &desk->limiter;
    if (desk->dead == 0 && !bz_waitq_has_waiting(&limiter->queue)) {
        return bz_capacity_limiter_acquire(limiter, borrower);
    }
    struct bz_wait_outcome outcome =
        bz_waitq_wait(&limiter->queue); /* the fault: behind the dead */
    limiter->borrowed -= outcome.was_woken && outcome.status != BZ_OK;
    if (outcome.status == BZ_OK) {
        *borrower = (struct bz_borrower){.limiter = limiter, .has_token = true};
    } else {
        bz_capacity_limiter_set_total(limiter, limiter->total); /* serves others */
    }
    return outcome.status;
}

static enum bz_status an_646_release(struct an_646_desk *desk, struct bz_borrower *borrower) {
    struct bz_capacity_limiter *limiter = &desk->limiter;
    if (desk->dead == 0) {
        return bz_capacity_limiter_release(limiter, borrower);
    }
    *borrower = (struct bz_borrower){.limiter = NULL};
    limiter->borrowed--;
    desk->dead--; /* the fault: this entry was woken before */
    return BZ_OK;
}

static enum bz_status an_646_total_call(void *instance, uint32_t op, const int64_t *arguments,
                                        int64_t *answer) {
    struct an_646_desk *desk = instance;
    struct bz_task *task = bz_loop_current(desk->limiter.queue.loop);
    struct bz_borrower *borrower = &desk->borrowers[bz_task_id(task) % BZ_MODEL_BORROWERS];
    if (op == THIRD) {
        uint32_t woken = desk->limiter.queue.woken_count;
        bz_capacity_limiter_set_total(&desk->limiter, (uint32_t)arguments[0]);
        desk->dead += desk->limiter.queue.woken_count - woken; /* the fault: their entries stay */
        return BZ_OK;
    }
    if (op > THIRD) {
        return bz_variant_capacity_limiter.modelled->call(instance, op, arguments, answer);
    }
    return bz_modelled_ended(
        op == FIRST ? an_646_acquire(desk, borrower) : an_646_release(desk, borrower), answer);
}

SHIPS(an_646_total, struct an_646_desk, capacity_limiter)
