#include "primitives/sync/rwlock.h"

void bz_rwlock_init(struct bz_rwlock *lock, struct bz_loop *loop, enum bz_rwlock_mode mode) {
    *lock = (struct bz_rwlock){.mode = mode};
    bz_waitq_init(&lock->reader_queue, loop);
    bz_waitq_init(&lock->writer_queue, loop);
}

static bool admits_readers(const struct bz_rwlock *lock) {
    return !lock->is_writing &&
           (lock->mode == BZ_RWLOCK_PREFERS_READERS || !bz_waitq_has_waiting(&lock->writer_queue));
}

static bool admits_a_writer(const struct bz_rwlock *lock) {
    return !lock->is_writing && lock->readers == 0;
}

/* Lets in all that may enter now. */
static void serve(struct bz_rwlock *lock) {
    if (admits_readers(lock)) {
        lock->readers += bz_waitq_wake_all(&lock->reader_queue, 0);
    }
    if (admits_a_writer(lock)) {
        lock->is_writing = bz_waitq_wake_oldest(&lock->writer_queue, 0);
    }
}

/* --- readers ---------------------------------------------------------------------------------- */

enum bz_status bz_rwlock_try_acquire_read(struct bz_rwlock *lock) {
    if (!admits_readers(lock) || bz_waitq_has_waiting(&lock->reader_queue)) {
        return BZ_EMPTY;
    }
    lock->readers++;
    return BZ_OK;
}

enum bz_status bz_rwlock_acquire_read(struct bz_rwlock *lock) {
    if (bz_rwlock_try_acquire_read(lock) == BZ_OK) {
        return BZ_OK;
    }
    struct bz_wait_outcome outcome = bz_waitq_wait(&lock->reader_queue);
    if (outcome.status != BZ_OK && outcome.was_woken) {
        lock->readers--;
        serve(lock);
    }
    return outcome.status;
}

enum bz_status bz_rwlock_release_read(struct bz_rwlock *lock) {
    if (lock->readers == lock->reader_queue.woken_count) {
        return BZ_NOT_HELD;
    }
    lock->readers--;
    serve(lock);
    return BZ_OK;
}

/* --- writers ---------------------------------------------------------------------------------- */

enum bz_status bz_rwlock_try_acquire_write(struct bz_rwlock *lock) {
    if (!admits_a_writer(lock)) {
        return BZ_EMPTY;
    }
    lock->is_writing = true;
    return BZ_OK;
}

enum bz_status bz_rwlock_acquire_write(struct bz_rwlock *lock) {
    if (bz_rwlock_try_acquire_write(lock) == BZ_OK) {
        return BZ_OK;
    }
    struct bz_wait_outcome outcome = bz_waitq_wait(&lock->writer_queue);
    if (outcome.status != BZ_OK) {
        if (outcome.was_woken) {
            lock->is_writing = false;
        }
        serve(lock); /* it may have kept readers out */
    }
    return outcome.status;
}

/* Ends the turn of a writer that has resumed. */
static enum bz_status end_write(struct bz_rwlock *lock, uint32_t readers) {
    if (!lock->is_writing || lock->writer_queue.woken_count > 0) {
        return BZ_NOT_HELD;
    }
    lock->is_writing = false;
    lock->readers = readers;
    serve(lock);
    return BZ_OK;
}

enum bz_status bz_rwlock_release_write(struct bz_rwlock *lock) {
    return end_write(lock, 0);
}

enum bz_status bz_rwlock_downgrade(struct bz_rwlock *lock) {
    return end_write(lock, 1);
}
