/* The variant `buzzer`: the primitives of primitives/sync, as they ship. */
#include "scenarios/variants/buzzer.h"

#include <string.h>

#include "primitives/sync/lock.h"
#include "primitives/sync/semaphore.h"
#include "scenarios/variants/variants.h"

/* Whoever uses the primitives hands them storage of any content; here it is zeroed, which would
 * hide what init forgets. A byte of 1 is a wrong number, and a bool that may be read. */
static void soil(void *instance, size_t instance_bytes) {
    memset(instance, 1, instance_bytes);
}

static enum bz_status lock_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    (void)permits;
    soil(instance, sizeof(struct bz_lock));
    bz_lock_init(instance, loop);
    return BZ_OK;
}

BZ_BUZZER_CALL(enum bz_status, lock_acquire, bz_lock_acquire)
BZ_BUZZER_CALL(enum bz_status, lock_release, bz_lock_release)
BZ_BUZZER_CALL(bool, lock_locked, bz_lock_locked)

/* Further than this the queue is not walked, so that a step stays O(1) however many wait. */
#define WALK_MAX 32u

/* All entries, `walked` of which lie before `link`; UINT32_MAX if there are more than WALK_MAX. */
static __attribute__((noinline)) uint32_t walk_on(const struct bz_list *head,
                                                  const struct bz_list *link, uint32_t walked) {
    for (; link != head; link = link->next) {
        if (walked++ == WALK_MAX) {
            return UINT32_MAX;
        }
    }
    return walked;
}

/* Goes on to the next entry, and stays at the head. */
static inline const struct bz_list *step_on(const struct bz_list *head, const struct bz_list *link,
                                            uint32_t *walked) {
    bool is_entry = link != head;
    const struct bz_list *next = link->next;
    *walked += is_entry;
    return is_entry ? next : link;
}

/* Counts along the queue, so that the counters of the primitive are checked, too; of a long queue,
 * its counter stands for what lies behind the first WALK_MAX. The first few steps are taken whether
 * there is an entry or not: how many wait after a random step, a processor cannot foresee. */
static void view_queue(const struct bz_waitq *queue, struct bz_permit_view *view) {
    uint32_t walked = 0;
    const struct bz_list *head = &queue->waiting;
    const struct bz_list *link = step_on(head, head->next, &walked);
    link = step_on(head, link, &walked);
    link = step_on(head, link, &walked);
    if (__builtin_expect(link != head, 0)) {
        walked = walk_on(head, link, walked);
    }
    view->queued = queue->woken_count + queue->cancelled_count +
                   (walked == UINT32_MAX ? queue->waiting_count : walked);
    view->waiting = queue->waiting_count;
    view->woken = queue->woken_count;
    view->cancelled = queue->cancelled_count;
}

static void lock_view(void *instance, struct bz_permit_view *view) {
    const struct bz_lock *lock = instance;
    view->level = lock->is_held ? 0 : 1;
    view_queue(&lock->queue, view);
}

static const struct bz_permit_ops lock_ops = {
    .instance_bytes = sizeof(struct bz_lock),
    .init = lock_init,
    .acquire = lock_acquire,
    .release = lock_release,
    .locked = lock_locked,
    .view = lock_view,
};

static enum bz_status semaphore_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    soil(instance, sizeof(struct bz_semaphore));
    bz_semaphore_init(instance, loop, permits);
    return BZ_OK;
}

static enum bz_status bounded_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    soil(instance, sizeof(struct bz_semaphore));
    bz_semaphore_init_bounded(instance, loop, permits);
    return BZ_OK;
}

BZ_BUZZER_CALL(enum bz_status, semaphore_acquire, bz_semaphore_acquire)
BZ_BUZZER_CALL(enum bz_status, semaphore_release, bz_semaphore_release)
BZ_BUZZER_CALL(bool, semaphore_locked, bz_semaphore_locked)

static void semaphore_view(void *instance, struct bz_permit_view *view) {
    const struct bz_semaphore *semaphore = instance;
    view->level = bz_semaphore_level(semaphore);
    view_queue(&semaphore->queue, view);
}

static const struct bz_permit_ops semaphore_ops = {
    .instance_bytes = sizeof(struct bz_semaphore),
    .init = semaphore_init,
    .acquire = semaphore_acquire,
    .release = semaphore_release,
    .locked = semaphore_locked,
    .view = semaphore_view,
};

static const struct bz_permit_ops bounded_ops = {
    .instance_bytes = sizeof(struct bz_semaphore),
    .init = bounded_init,
    .acquire = semaphore_acquire,
    .release = semaphore_release,
    .locked = semaphore_locked,
    .view = semaphore_view,
};

const struct bz_variant bz_variant_buzzer = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_LOCKED_EXACT | BZ_CLAIM_REFUSES_MISUSE |
              BZ_CLAIM_WAKE_IS_GRANT | BZ_CLAIM_WORK_CONSERVING | BZ_CLAIM_TAKES_AT_RETURN |
              BZ_CLAIM_EXACT_NOTIFY | BZ_CLAIM_NO_PASSING,
    .name = "buzzer",
    .summary = "the primitives that ship (primitives/sync)",
    .permits = {[BZ_PRIMITIVE_SEMAPHORE] = &semaphore_ops,
                [BZ_PRIMITIVE_BOUNDED] = &bounded_ops,
                [BZ_PRIMITIVE_LOCK] = &lock_ops},
    .event = &bz_buzzer_event_ops,
    .condition = &bz_buzzer_condition_ops,
    .barrier = &bz_buzzer_barrier_ops,
    .queue = &bz_buzzer_queue_ops,
    .pool = &bz_buzzer_pool_ops,
    .deferred = &bz_buzzer_deferred_ops,
    .scope = &bz_buzzer_scope_ops,
};
