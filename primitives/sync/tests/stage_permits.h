/* The stage on which the tests of lock and semaphore play: one primitive, guests "a" to "h", and a
 * check of the primitive's invariants after every single step. Words beside those of an actor:
 *
 *     acquire  release      the operation on the primitive
 *     cancel-b              cancels guest b
 *     expect-locked  expect-free      what locked() must say right now
 *
 * A guest of the script "acquire await release" sits at the table until the test sets its future.
 * Cases that hold for all three primitives run over all three.
 */
#ifndef BZ_TESTS_STAGE_PERMITS_H
#define BZ_TESTS_STAGE_PERMITS_H

#include "primitives/sync/lock.h"
#include "primitives/sync/semaphore.h"
#include "primitives/tests/actor.h"

enum kind {
    KIND_LOCK = 0,
    KIND_SEMAPHORE = 1,
    KIND_BOUNDED = 2,
};
#define KIND_COUNT 3

#define GUESTS 8u

struct stage {
    enum kind kind;
    uint32_t permits; /* to begin with */
    uint32_t added;   /* net releases of a plain semaphore by those who hold nothing */
    uint32_t holders;
    struct bz_loop *loop;
    struct tst_log log;
    struct bz_lock lock;
    struct bz_semaphore semaphore;
    struct tst_actor actors[GUESTS];
    struct bz_future futures[GUESTS];
    struct bz_task *tasks[GUESTS];
};

/* --- the primitive, whichever it is ----------------------------------------------------------- */

static inline struct bz_waitq *stage_queue(struct stage *stage) {
    return stage->kind == KIND_LOCK ? &stage->lock.queue : &stage->semaphore.queue;
}

static inline bool stage_locked(const struct stage *stage) {
    return stage->kind == KIND_LOCK ? bz_lock_locked(&stage->lock)
                                    : bz_semaphore_locked(&stage->semaphore);
}

static inline uint64_t stage_level(const struct stage *stage) {
    return stage->kind == KIND_LOCK ? !stage->lock.is_held : bz_semaphore_level(&stage->semaphore);
}

static inline enum bz_status stage_acquire(struct stage *stage) {
    enum bz_status status = stage->kind == KIND_LOCK ? bz_lock_acquire(&stage->lock)
                                                     : bz_semaphore_acquire(&stage->semaphore);
    stage->holders += status == BZ_OK;
    return status;
}

/* A release by the test or by a guest. */
static inline enum bz_status stage_release(struct stage *stage) {
    enum bz_status status = stage->kind == KIND_LOCK ? bz_lock_release(&stage->lock)
                                                     : bz_semaphore_release(&stage->semaphore);
    if (status == BZ_OK) {
        if (stage->holders > 0) {
            stage->holders--;
        } else {
            stage->added++;
        }
    }
    return status;
}

/* --- invariants ------------------------------------------------------------------------------- */

/* What must hold after every step, from whatever order of steps. A guest that was woken owns its
 * permit already, so the holders are those that have resumed. */
static inline void stage_check(struct stage *stage) {
    struct bz_waitq *queue = stage_queue(stage);
    uint32_t linked = 0;
    for (struct bz_list *link = queue->waiting.next; link != &queue->waiting; link = link->next) {
        linked++;
    }
    uint64_t level = stage_level(stage);
    uint64_t woken = queue->woken_count;
    cr_assert(eq(u32, linked, queue->waiting_count));
    cr_assert(le(u64, woken, level), "level >= R");
    cr_assert(eq(u64, level + stage->holders, (uint64_t)stage->permits + stage->added));
    bool is_locked = linked > 0 || woken > 0 || level == 0;
    cr_assert(eq(int, stage_locked(stage), is_locked));
    if (linked > 0 && woken == 0) {
        cr_assert(eq(u64, level, 0), "somebody waits for what is free");
    }
}

/* --- the driver ------------------------------------------------------------------------------- */

static inline void stage_step(struct stage *stage, uint32_t index) {
    bz_driver_step(stage->loop, bz_driver_take(stage->loop, index));
    stage_check(stage);
}

static inline void stage_turn(struct stage *stage) {
    bz_driver_begin_turn(stage->loop);
    while (bz_driver_turn_left(stage->loop) > 0) {
        stage_step(stage, 0);
    }
}

static inline void stage_run(struct stage *stage) {
    while (bz_driver_ready_count(stage->loop) > 0) {
        stage_turn(stage);
    }
}

/* --- guests ----------------------------------------------------------------------------------- */

static inline enum bz_status stage_word(struct tst_actor *actor, const char *word, bool *is_quiet) {
    struct stage *stage = actor->object;
    if (strcmp(word, "acquire") == 0) {
        return stage_acquire(stage);
    }
    if (strcmp(word, "release") == 0) {
        enum bz_status status = stage_release(stage);
        *is_quiet = status == BZ_OK;
        return status;
    }
    *is_quiet = true;
    if (strncmp(word, "cancel-", 7) == 0 && word[8] == '\0') {
        cr_assert(bz_task_cancel(stage->tasks[word[7] - 'a']));
        return BZ_OK;
    }
    if (strcmp(word, "expect-locked") == 0) {
        cr_assert(stage_locked(stage));
        return BZ_OK;
    }
    if (strcmp(word, "expect-free") == 0) {
        cr_assert(not(stage_locked(stage)));
        return BZ_OK;
    }
    return BZ_INVALID_ARGUMENT;
}

static inline void stage_begin(struct stage *stage, enum kind kind, uint32_t permits) {
    *stage = (struct stage){.kind = kind, .permits = permits, .loop = tst_begin()};
    if (kind == KIND_LOCK) {
        cr_assert(eq(u32, permits, 1));
        bz_lock_init(&stage->lock, stage->loop);
    } else if (kind == KIND_BOUNDED) {
        bz_semaphore_init_bounded(&stage->semaphore, stage->loop, permits);
    } else {
        bz_semaphore_init(&stage->semaphore, stage->loop, permits);
    }
}

/* Guests have names from 'a' on. The script is played from the next turn on. */
static inline struct bz_task *stage_guest(struct stage *stage, char name, const char *script) {
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    unsigned index = (unsigned)(name - 'a');
    bz_future_init(&stage->futures[index], stage->loop);
    stage->actors[index] = (struct tst_actor){.name = names[index],
                                              .script = script,
                                              .loop = stage->loop,
                                              .log = &stage->log,
                                              .future = &stage->futures[index],
                                              .extra = stage_word,
                                              .object = stage};
    stage->tasks[index] = tst_actor_spawn(&stage->actors[index]);
    return stage->tasks[index];
}

/* Guests first to last, with the same script. */
static inline void stage_guests(struct stage *stage, char first, char last, const char *script) {
    for (char name = first; name <= last; name++) {
        stage_guest(stage, name, script);
    }
}

static inline void stage_cancel(struct stage *stage, char name) {
    cr_assert(bz_task_cancel(stage->tasks[name - 'a']));
    stage_check(stage);
}

/* An event from outside: the test gives back what some guest holds. */
static inline void stage_give_back(struct stage *stage) {
    tst_status(stage_release(stage), BZ_OK);
    stage_check(stage);
}

static inline void stage_expect_queue(struct stage *stage, uint32_t waiting, uint32_t woken,
                                      uint32_t cancelled) {
    struct bz_waitq *queue = stage_queue(stage);
    cr_assert(eq(u32, queue->waiting_count, waiting), "W");
    cr_assert(eq(u32, queue->woken_count, woken), "R");
    cr_assert(eq(u32, queue->cancelled_count, cancelled), "C");
}

/* Runs to the end: nobody is left, all permits are back but those still held, and the story is as
 * told. */
static inline void stage_end(struct stage *stage, const char *story) {
    stage_run(stage);
    tst_expect(&stage->log, story);
    stage_expect_queue(stage, 0, 0, 0);
    for (unsigned index = 0; index < GUESTS; index++) {
        if (stage->tasks[index] != NULL) {
            cr_assert(bz_task_is_done(stage->tasks[index]));
            bz_task_free(stage->tasks[index]);
        }
    }
    tst_end(stage->loop);
}

#endif
