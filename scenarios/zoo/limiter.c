/* Limiters: a release takes the waiter that it wakes out of the queue, and counts it until it
 * resumes. */
#include "scenarios/zoo/parts.h"

struct limiter {
    struct bz_zoo_semaphore slots;
    uint32_t on_their_way; /* woken, and not resumed */
};

/* Takes a slot that no waiter was woken for, if every entry of the queue is cancelled. */
static bool try_slot(struct limiter *limiter) {
    struct bz_zoo_semaphore *slots = &limiter->slots;
    return slots->value > limiter->on_their_way && bz_zoo_semaphore_try(slots);
}

/* ah-9670: a waiter that times out after it was woken wakes no waiter.
 *
 * The connector of an HTTP client has a number of slots. A release takes the oldest waiter off the
 * list and wakes it. On its way out, by a time-out or a cancellation, a waiter takes itself off the
 * list. If it is not there, that is an error, which is suppressed. But then it had been woken: the
 * slot is free, and no other waiter is woken.
 *
 * Historically a woken waiter looked for a slot again, and a newcomer could be faster. This is left
 * out: slots on their way are not given to newcomers.
 *
 *     no slot is free; B and C wait; a slot is released: B is off the list; B's time is up: C waits
 *     on
 *
 * The cure: a waiter that is no longer in the list wakes the next one. */
static enum bz_status ah_9670_acquire(void *instance) {
    struct limiter *connector = instance;
    if (try_slot(connector)) {
        return BZ_OK;
    }
    struct bz_waiter waiter;
    enum bz_status status = bz_deque_wait(&connector->slots.queue, &waiter);
    connector->on_their_way -= bz_waiter_was_woken(&waiter);
    connector->slots.value -= status == BZ_OK; /* the fault: it may have been woken */
    return status;
}

static enum bz_status ah_9670_release(void *instance) {
    struct limiter *connector = instance;
    connector->slots.value++;
    connector->on_their_way += bz_deque_pop_and_wake(&connector->slots.queue);
    return BZ_OK;
}

BZ_ZOO_ENTRY(permit, ah_9670, BZ_ZOO_SEMAPHORE, .instance_bytes = sizeof(struct limiter),
             .acquire = ah_9670_acquire, .release = ah_9670_release);

/* an-947: a capacity limiter loses the wake-up of a borrower that is cancelled.
 *
 * A release takes the borrower off the list of borrowers, takes the oldest event out of the queue
 * and sets it. The task that waits for that event becomes a borrower when it resumes. If it is
 * cancelled, before the event was set or after, capacity is free, and the next event stays unset.
 *
 * A release that takes out the event of a cancelled waiter is part of the fault: with the cure,
 * that waiter also passes it on. Historically a newcomer could also borrow the capacity that an
 * event was set for. This is left out: borrowers on their way count.
 *
 *     the limiter is full; B and C wait; a borrower releases and B is cancelled: C waits forever
 *
 * The cure: a waiter that leaves with its event set sets the next event. */
struct an_947_borrower {
    struct bz_waiter waiter;
    bool is_set;
};

static enum bz_status an_947_acquire(void *instance) {
    struct limiter *limiter = instance;
    if (try_slot(limiter)) {
        return BZ_OK;
    }
    struct an_947_borrower self = {.is_set = false};
    enum bz_status status = bz_deque_wait(&limiter->slots.queue, &self.waiter);
    limiter->on_their_way -= self.is_set; /* the fault: if cancelled, it sets no event */
    limiter->slots.value -= status == BZ_OK;
    return status;
}

static enum bz_status an_947_release(void *instance) {
    struct limiter *limiter = instance;
    if (limiter->slots.value == limiter->slots.permits) {
        return BZ_NOT_HELD;
    }
    bool has_room = ++limiter->slots.value > limiter->on_their_way;
    struct bz_waiter *oldest = has_room ? bz_deque_pop(&limiter->slots.queue) : NULL;
    if (oldest != NULL) {
        bz_container_of(oldest, struct an_947_borrower, waiter)->is_set = true;
        limiter->on_their_way++;
        bz_future_set_result(&oldest->future, 0); /* refused if it is being cancelled */
    }
    return BZ_OK;
}

BZ_ZOO_ENTRY(permit, an_947, BZ_ZOO_SEMAPHORE, .instance_bytes = sizeof(struct limiter),
             .acquire = an_947_acquire, .release = an_947_release);

/* an-646: raising the total sets events and leaves them in the queue.
 *
 * Code that sets a waiter's event must take it out of the queue: a woken waiter relies on that, and
 * takes itself out only if it leaves before. A release does so; the setter of the total did not.
 * The events that it set stay in the queue for good. Later callers find a queue that is not empty,
 * and queue in it.
 *
 * A semaphore has no call that raises the total, so this one is made of a limiter: an acquire
 * borrows forever, and a release raises the total by one. The number of free permits is the
 * difference, and only the setter wakes. Entries outlive their tasks, and so are not on their
 * stacks.
 *
 *     A has the only permit; B waits; A releases; B resumes, and its entry is still there
 *
 * The cure: the setter takes out what it sets. */
static void an_646_wake_all_that_fit(struct bz_zoo_semaphore *slots) {
    while (slots->value > 0 && bz_deque_wake_oldest(&slots->queue)) {
        slots->value--; /* the fault: the entry stays where it is */
        bz_container_of(slots, struct limiter, slots)->on_their_way++;
    }
}

static enum bz_status an_646_acquire(void *instance) {
    struct limiter *limiter = instance;
    struct bz_deque *queue = &limiter->slots.queue;
    if (bz_zoo_semaphore_try(&limiter->slots)) {
        return BZ_OK;
    }
    struct bz_zoo_request *request = bz_zoo_request_new(queue->loop);
    if (request == NULL) {
        return BZ_NO_MEMORY;
    }
    enum bz_status status = bz_deque_wait_and_stay(queue, &request->waiter);
    limiter->on_their_way -= bz_waiter_was_woken(&request->waiter);
    if (status != BZ_OK) {
        limiter->slots.value += bz_waiter_was_woken(&request->waiter);
        bz_deque_remove(&request->waiter);
        bz_zoo_request_drop(queue->loop, &request->waiter);
    }
    an_646_wake_all_that_fit(&limiter->slots); /* newcomers that have queued, too */
    bz_zoo_request_drop(queue->loop, &request->waiter);
    return status;
}

BZ_ZOO_RELEASE_BY(semaphore, an_646_release, an_646_wake_all_that_fit)

static void an_646_view(void *instance, struct bz_permit_view *view) {
    const struct limiter *limiter = instance;
    bz_zoo_semaphore_view(instance, view);
    view->level += limiter->on_their_way;
}

BZ_ZOO_ENTRY(permit, an_646, BZ_ZOO_SEMAPHORE, .instance_bytes = sizeof(struct limiter),
             .fini = bz_zoo_semaphore_drop_requests, .acquire = an_646_acquire,
             .release = an_646_release, .view = an_646_view);

/* --- queues of jobs -----------------------------------------------------------------------------
 *
 * So many jobs may run at a time. A job that runs has a slot: a permit. A job that is aborted while
 * it waits must neither keep a slot nor give back one that it does not have. */

static bool take_slot(struct bz_zoo_semaphore *slots) {
    bool is_free = slots->value > 0;
    slots->value -= is_free;
    return is_free;
}

/* fastq-107: an aborted job that still waits gives back a slot, as if it had run.
 *
 * An abort goes the way of a job that has ended: it lowers the count of running jobs, and starts
 * the next one. But the job was in the queue, and had no slot.
 *
 *     one slot: A runs; B and C wait; B is aborted: C runs beside A
 *
 * The cure: an aborted job that waits only leaves the queue. */
static enum bz_status fastq_107_acquire(void *instance) {
    struct bz_zoo_semaphore *slots = instance;
    if (take_slot(slots)) {
        return BZ_OK;
    }
    struct bz_waiter job;
    enum bz_status status = bz_deque_wait(&slots->queue, &job);
    if (status != BZ_OK) {
        slots->value++; /* the fault: it has a slot only if it was woken */
        bz_zoo_semaphore_reserve(slots);
    }
    return status;
}

BZ_ZOO_ENTRY(permit, fastq_107, BZ_ZOO_SEMAPHORE_RESERVING, .acquire = fastq_107_acquire);

/* cockatiel-114: a job that is aborted when its turn comes keeps the slot.
 *
 * The queue of a bulkhead starts the next job when one ends. A job whose signal was aborted
 * meanwhile ends at once, by an exception that leaves before the line that starts the next job.
 *
 *     one slot: A runs; B and C wait; A ends, and it is B's turn; B is aborted: C waits forever
 *
 * The cure: the next job is started whichever way a job ends. */
static enum bz_status cockatiel_114_acquire(void *instance) {
    struct bz_zoo_semaphore *slots = instance;
    struct bz_waiter job;
    /* The fault: one that has its turn and is aborted keeps the slot. */
    return take_slot(slots) ? BZ_OK : bz_deque_wait(&slots->queue, &job);
}

BZ_ZOO_ENTRY(permit, cockatiel_114, BZ_ZOO_SEMAPHORE_RESERVING, .acquire = cockatiel_114_acquire);

/* p-queue-168: a job that was aborted while it waited is given a slot when its turn comes.
 *
 * An aborted job stays in the queue. When its turn comes, it throws before it counts as ended. So
 * its slot is taken, and no job has it. One abort of the running job and of the next one together
 * blocks a queue of one slot.
 *
 *     one slot: A runs, B waits; B is aborted, and so is A: B's turn comes, and C waits forever
 *
 * Here jobs outlive the tasks that waited, and are not shown to the oracles that look inside.
 *
 * The cure: an aborted job leaves the queue, or gives back the slot. */
static enum bz_status p_queue_168_acquire(void *instance) {
    struct bz_zoo_semaphore *slots = instance;
    struct bz_zoo_request *job = NULL;
    if (take_slot(slots)) {
        return BZ_OK;
    }
    job = bz_zoo_request_new(slots->queue.loop);
    if (job == NULL) {
        return BZ_NO_MEMORY;
    }
    enum bz_status status = bz_deque_wait_and_stay(&slots->queue, &job->waiter);
    if (status != BZ_OK && bz_waiter_was_woken(&job->waiter)) {
        slots->value++;
        bz_zoo_semaphore_reserve(slots);
    }
    bz_zoo_request_drop(slots->queue.loop, &job->waiter); /* the fault: it stays in the queue */
    return status;
}

static void give_next_turn(struct bz_zoo_semaphore *slots) {
    struct bz_waiter *next = bz_deque_pop(&slots->queue);
    if (next != NULL) {
        slots->value--;
        (void)bz_future_set_result(&next->future, 0); /* in vain, if it was aborted */
        bz_zoo_request_drop(slots->queue.loop, next);
    }
}

BZ_ZOO_RELEASE_BY(semaphore, p_queue_168_release, give_next_turn)

BZ_ZOO_ENTRY(permit, p_queue_168, BZ_ZOO_SEMAPHORE_RESERVING,
             .fini = bz_zoo_semaphore_drop_requests, .acquire = p_queue_168_acquire,
             .release = p_queue_168_release, .view = NULL, .locked = NULL);

/* dn-64078: a request that was cancelled still counts as one that waits.
 *
 * A rate limiter lets so many requests wait, and refuses others. A cancelled request is counted
 * until the next replenishment takes it out of the queue.
 *
 *     two may wait, and B and C do; B is cancelled; D comes: it is refused
 *
 * Here a release replenishes, and BZ_NO_MEMORY is the refusal.
 *
 * The cure: a request is not counted any more when it leaves, however it leaves. */
struct dn_64078_limiter {
    struct bz_zoo_semaphore slots;
    uint32_t cancelled; /* since the last release */
};

static enum bz_status dn_64078_acquire(void *instance) {
    struct dn_64078_limiter *limiter = instance;
    struct bz_deque *queue = &limiter->slots.queue;
    if (take_slot(&limiter->slots)) {
        return BZ_OK;
    }
    if (bz_deque_length(queue) + limiter->cancelled >= BZ_ZOO_PLACES) { /* the fault */
        return BZ_NO_MEMORY;
    }
    struct bz_waiter request;
    enum bz_status status = bz_deque_wait(queue, &request);
    limiter->cancelled += status != BZ_OK;
    if (status != BZ_OK && bz_waiter_was_woken(&request)) {
        limiter->slots.value++;
        bz_zoo_semaphore_reserve(&limiter->slots);
    }
    return status;
}

static enum bz_status dn_64078_release(void *instance) {
    ((struct dn_64078_limiter *)instance)->cancelled = 0;
    return bz_zoo_semaphore_release_reserving(instance);
}

BZ_ZOO_ENTRY(permit, dn_64078, BZ_ZOO_SEMAPHORE_RESERVING,
             .instance_bytes = sizeof(struct dn_64078_limiter), .acquire = dn_64078_acquire,
             .release = dn_64078_release);
