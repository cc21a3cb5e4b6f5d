/* The stage of lock and semaphore: one primitive, and a check of its invariants after every step.
 * Words beside the common ones:
 *
 *     acquire  release     the operation on the primitive
 *     locked  level        report what the primitive says of itself
 *     value                reports the permits of a semaphore that are promised to nobody
 *     queue                reports waiting/woken/cancelled
 *     holders              reports how many have acquired, and not released
 *
 * A guest with the script "acquire await release" holds its permit until the test sets its future.
 */
#ifndef BZ_TESTS_STAGE_PERMITS_H
#define BZ_TESTS_STAGE_PERMITS_H

#include "primitives/sync/lock.h"
#include "primitives/sync/semaphore.h"
#include "primitives/sync/tests/stage_waiters.h"

enum kind {
    KIND_LOCK = 0,
    KIND_SEMAPHORE = 1,
    KIND_BOUNDED = 2,
};
#define KIND_COUNT 3

struct permits {
    struct tst_stage stage;
    enum kind kind;
    uint32_t permits; /* to begin with */
    uint32_t added;   /* net releases of a plain semaphore by those who hold nothing */
    uint32_t holders;
    struct bz_lock lock;
    struct bz_semaphore semaphore;
};

/* --- the primitive, whichever it is ----------------------------------------------------------- */

static inline struct bz_waitq *permits_queue(struct permits *permits) {
    return permits->kind == KIND_LOCK ? &permits->lock.queue : &permits->semaphore.queue;
}

static inline bool permits_locked(const struct permits *permits) {
    return permits->kind == KIND_LOCK ? bz_lock_locked(&permits->lock)
                                      : bz_semaphore_locked(&permits->semaphore);
}

static inline uint64_t permits_level(const struct permits *permits) {
    return permits->kind == KIND_LOCK ? !permits->lock.is_held
                                      : bz_semaphore_level(&permits->semaphore);
}

static inline enum bz_status permits_acquire(struct permits *permits) {
    enum bz_status status = permits->kind == KIND_LOCK ? bz_lock_acquire(&permits->lock)
                                                       : bz_semaphore_acquire(&permits->semaphore);
    permits->holders += status == BZ_OK;
    return status;
}

static inline enum bz_status permits_release(struct permits *permits) {
    enum bz_status status = permits->kind == KIND_LOCK ? bz_lock_release(&permits->lock)
                                                       : bz_semaphore_release(&permits->semaphore);
    if (status == BZ_OK && permits->holders > 0) {
        permits->holders--;
    } else if (status == BZ_OK) {
        permits->added++;
    }
    return status;
}

static inline void permits_init(struct permits *permits, struct bz_loop *loop, enum kind kind,
                                uint32_t count) {
    permits->kind = kind;
    permits->permits = count;
    permits->added = 0;
    permits->holders = 0;
    bz_lock_init(&permits->lock, loop);
    if (kind == KIND_BOUNDED) {
        bz_semaphore_init_bounded(&permits->semaphore, loop, count);
    } else {
        bz_semaphore_init(&permits->semaphore, loop, count);
    }
}

/* Invariants after every step, in any order of steps. A woken guest owns its permit already, so the
 * holders are those that have resumed. */
static inline void permits_check(struct tst_stage *stage) {
    struct permits *permits = bz_container_of(stage, struct permits, stage);
    struct bz_waitq *queue = permits_queue(permits);
    uint64_t level = permits_level(permits);
    check_waiters(queue);
    cr_assert_leq(queue->woken_count, level, "level >= R");
    cr_assert_eq(level + permits->holders, (uint64_t)permits->permits + permits->added);
    bool is_locked = queue->waiting_count > 0 || queue->woken_count > 0 || level == 0;
    cr_assert_eq(permits_locked(permits), is_locked);
    if (queue->waiting_count > 0 && queue->woken_count == 0) {
        cr_assert_eq(level, 0, "somebody waits for what is free");
    }
}

/* --- the stage -------------------------------------------------------------------------------- */

static inline struct permits *permits_of(struct tst_call *call) {
    return bz_container_of(call->stage, struct permits, stage);
}

TST_WORD(word_acquire, permits_acquire(permits_of(call)))
TST_WORD(word_release, permits_release(permits_of(call)))

static inline void permits_report(struct tst_call *call) {
    struct permits *permits = permits_of(call);
    tst_flag(call, "locked", permits_locked(permits));
    tst_count(call, "level", permits_level(permits));
    tst_count(call, "value", permits->semaphore.value);
    tst_count(call, "holders", permits->holders);
    report_waiters(call, "queue", permits_queue(permits));
}

static const struct tst_word permits_words[] = {
    {"acquire", word_acquire},
    {"release", word_release, .is_quiet = true},
    {NULL, NULL},
};

static inline void permits_begin(struct permits *permits, enum kind kind, uint32_t count) {
    tst_stage_begin(&permits->stage,
                    (struct tst_cast){permits_words, permits_report, permits_check});
    permits_init(permits, permits->stage.loop, kind, count);
}

static inline void permits_end(struct permits *permits) {
    tst_play(&permits->stage, "run queue=0/0/0");
    tst_stage_end(&permits->stage);
}

/* A whole timeline. A permit that is held at its end stays held. */
static inline void play(enum kind kind, uint32_t count, const char *timeline) {
    struct permits permits;
    permits_begin(&permits, kind, count);
    tst_play(&permits.stage, timeline);
    permits_end(&permits);
}

#endif
