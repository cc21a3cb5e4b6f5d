/* A lock for any number of readers, or one writer.
 *
 * The mode says which side goes first if both want it:
 *
 *     BZ_RWLOCK_PREFERS_WRITERS   A waiting writer keeps new readers out, and goes before the
 *                                 readers that wait. A stream of writers starves readers.
 *     BZ_RWLOCK_PREFERS_READERS   Readers enter whenever no writer is in. A stream of readers
 * starves writers.
 *
 * These are the second and first readers-writers problem of P. Courtois, F. Heymans and D. Parnas,
 * "Concurrent Control with 'Readers' and 'Writers'" (1971). Readers among themselves, and writers,
 * are served in order of arrival.
 *
 * A release hands the lock over before it returns: to the oldest writer, or to all waiting readers.
 * A woken task that is cancelled before it resumes passes the lock on in the step in which it runs.
 * A writer that is cancelled while it waits no longer keeps readers out: those that wait because of
 * it enter in the step in which it runs.
 *
 * With readers and is_writing, which include what was handed over and is not resumed yet:
 *
 *     !(is_writing && readers > 0)
 *     a writer waits: is_writing, or readers > 0
 *     a reader waits: is_writing, or (PREFERS_WRITERS) a writer waits or was cancelled and has not
 *                     resumed
 *
 * No task may acquire what it holds: in the mode PREFERS_WRITERS a second acquire_read waits for a
 * writer that waits for the first one. Any task may release. All operations are O(1), except waking
 * k readers, which is O(k). Nothing allocates. */
#ifndef BZ_SYNC_RWLOCK_H
#define BZ_SYNC_RWLOCK_H

#include "primitives/sync/waitq.h"

BZ_BEGIN_DECLS

enum bz_rwlock_mode {
    BZ_RWLOCK_PREFERS_WRITERS = 0,
    BZ_RWLOCK_PREFERS_READERS = 1,
};

struct bz_rwlock {
    struct bz_waitq reader_queue;
    struct bz_waitq writer_queue;
    uint32_t readers; /* that read, or were let in and have not resumed */
    bool is_writing;  /* or a writer was let in and has not resumed */
    enum bz_rwlock_mode mode;
};

/* The caller provides the storage, which must outlive all waits. */
void bz_rwlock_init(struct bz_rwlock *lock, struct bz_loop *loop, enum bz_rwlock_mode mode);

/* BZ_OK: the running task may read, or write. BZ_CANCELLED: it may not. */
enum bz_status bz_rwlock_acquire_read(struct bz_rwlock *lock) BZ_MUST_USE;
enum bz_status bz_rwlock_acquire_write(struct bz_rwlock *lock) BZ_MUST_USE;

/* The same without suspending: BZ_EMPTY where an acquire would suspend. */
enum bz_status bz_rwlock_try_acquire_read(struct bz_rwlock *lock) BZ_MUST_USE;
enum bz_status bz_rwlock_try_acquire_write(struct bz_rwlock *lock) BZ_MUST_USE;

/* BZ_OK; BZ_NOT_HELD, and nothing is changed, if no task that has resumed reads, or writes. Neither
 * suspends. */
enum bz_status bz_rwlock_release_read(struct bz_rwlock *lock) BZ_MUST_USE;
enum bz_status bz_rwlock_release_write(struct bz_rwlock *lock) BZ_MUST_USE;

/* The writer becomes a reader, and no other writer comes in between. Waiting readers also enter,
 * unless a waiting writer keeps them out. Results as of bz_rwlock_release_write(); the task
 * releases with bz_rwlock_release_read() then. */
enum bz_status bz_rwlock_downgrade(struct bz_rwlock *lock) BZ_MUST_USE;

BZ_END_DECLS

#endif
