/* Queues of jobs of which so many may run at a time. A job that runs has a slot: a permit. A job
 * that is aborted while it waits must neither keep a slot nor give back one that it does not have.
 */
#include "scenarios/zoo/parts.h"

static bool try_slot(struct bz_zoo_semaphore *slots) {
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
    if (try_slot(slots)) {
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

const struct bz_permit_ops bz_zoo_ops_fastq_107 = {BZ_ZOO_SEMAPHORE_RESERVING,
                                                   .acquire = fastq_107_acquire};

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
    return try_slot(slots) ? BZ_OK : bz_deque_wait(&slots->queue, &job);
}

const struct bz_permit_ops bz_zoo_ops_cockatiel_114 = {BZ_ZOO_SEMAPHORE_RESERVING,
                                                       .acquire = cockatiel_114_acquire};

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
    if (try_slot(slots)) {
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

static enum bz_status p_queue_168_release(void *instance) {
    return bz_zoo_semaphore_release_by(instance, give_next_turn);
}

const struct bz_permit_ops bz_zoo_ops_p_queue_168 = {BZ_ZOO_SEMAPHORE_RESERVING,
                                                     .fini = bz_zoo_semaphore_drop_requests,
                                                     .acquire = p_queue_168_acquire,
                                                     .release = p_queue_168_release,
                                                     .view = NULL,
                                                     .locked = NULL};
