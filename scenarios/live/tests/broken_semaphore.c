/* A semaphore that a team tries in place of the one that ships: who was given a permit and is
 * cancelled before it resumes, loses it (python/cpython#90155). */
#include "primitives/sync/semaphore.h"

void bz_semaphore_init(struct bz_semaphore *semaphore, struct bz_loop *loop, uint32_t permits) {
    bz_waitq_init(&semaphore->queue, loop);
    semaphore->value = permits;
    semaphore->bound = BZ_SEMAPHORE_PERMITS_MAX;
}

void bz_semaphore_init_bounded(struct bz_semaphore *semaphore, struct bz_loop *loop,
                               uint32_t permits) {
    bz_semaphore_init(semaphore, loop, permits);
    semaphore->bound = permits;
}

bool bz_semaphore_locked(const struct bz_semaphore *semaphore) {
    return semaphore->value == 0 || semaphore->queue.woken_count > 0 ||
           semaphore->queue.waiting_count > 0;
}

enum bz_status bz_semaphore_acquire(struct bz_semaphore *semaphore) {
    if (!bz_semaphore_locked(semaphore)) {
        semaphore->value--;
        return BZ_OK;
    }
    return bz_waitq_wait(&semaphore->queue).status;
}

enum bz_status bz_semaphore_release(struct bz_semaphore *semaphore) {
    if (!bz_waitq_has_waiting(&semaphore->queue)) {
        semaphore->value++;
        return BZ_OK;
    }
    bz_waitq_wake_oldest(&semaphore->queue, 0);
    return BZ_OK;
}
