/* A stage for the deferred lock and semaphore: guests 'a' to 'h', each with a waiter and a callback
 * that says "a:status", plays a script of words, and then says "a." if it had one, so that a story
 * shows what runs inside a callback and what behind it.
 *
 *     release      releases; must be accepted
 *     acquire-X    guest X starts to wait
 *     cancel-X     cancels guest X's waiter
 *     error-X      gives X's waiter an error by hand, behind the primitive's back
 *     locked       must be locked
 *
 * After every word, and whenever a test acts, the stage checks what must hold. */
#ifndef BZ_SYNC_TESTS_STAGE_DEFERRED_H
#define BZ_SYNC_TESTS_STAGE_DEFERRED_H

#include "primitives/sync/deferred_lock.h"
#include "primitives/sync/deferred_semaphore.h"
#include "primitives/tests/support.h"

enum kind {
    KIND_LOCK = 0,
    KIND_SEMAPHORE = 1,
};
#define KIND_COUNT 2

#define GUESTS 8u

struct stage;

struct guest {
    struct bz_deferred_waiter waiter;
    struct bz_deferred_pair pair;
    struct stage *stage;
    const char *script;
};

struct stage {
    enum kind kind;
    uint32_t permits;
    uint32_t owned; /* by waiters that fired with BZ_OK, less what was released */
    struct bz_loop *loop;
    struct bz_trampoline trampoline;
    struct tst_log log;
    struct bz_deferred_lock lock;
    struct bz_deferred_semaphore semaphore;
    struct guest guests[GUESTS];
};

static inline struct bz_deferred_waitq *stage_queue(struct stage *stage) {
    return stage->kind == KIND_LOCK ? &stage->lock.queue : &stage->semaphore.queue;
}

static inline bool stage_locked(const struct stage *stage) {
    return stage->kind == KIND_LOCK ? bz_deferred_lock_locked(&stage->lock)
                                    : bz_deferred_semaphore_locked(&stage->semaphore);
}

static inline uint32_t stage_free(const struct stage *stage) {
    return stage->kind == KIND_LOCK ? !stage->lock.is_locked : stage->semaphore.tokens;
}

static inline void stage_check(struct stage *stage) {
    struct bz_deferred_waitq *queue = stage_queue(stage);
    uint32_t linked = 0;
    for (struct bz_list *link = queue->waiting.next; link != &queue->waiting; link = link->next) {
        linked++;
    }
    cr_assert(eq(u32, linked, queue->waiting_count));
    cr_assert(eq(u32, stage_free(stage) + stage->owned, stage->permits));
    cr_assert(eq(int, stage_locked(stage), stage_free(stage) == 0));
    cr_assert(linked == 0 || stage_free(stage) == 0, "somebody waits for what is free");
}

/* Counts the grant by what the release has to do, before any callback can run. */
static inline enum bz_status stage_release(struct stage *stage) {
    bool is_refused = stage_free(stage) == stage->permits;
    bool is_passed_on = !is_refused && stage_queue(stage)->waiting_count > 0;
    stage->owned -= !is_refused && !is_passed_on;
    return stage->kind == KIND_LOCK ? bz_deferred_lock_release(&stage->lock)
                                    : bz_deferred_semaphore_release(&stage->semaphore);
}

static inline void stage_give_back(struct stage *stage) {
    tst_status(stage_release(stage), BZ_OK);
    stage_check(stage);
}

static inline void guest_acquire(struct guest *guest);

static inline void guest_word(struct stage *stage, const char *word) {
    struct guest *other = &stage->guests[(unsigned char)(word[strlen(word) - 1] - 'a') % GUESTS];
    if (strcmp(word, "release") == 0) {
        stage_give_back(stage);
    } else if (strcmp(word, "locked") == 0) {
        cr_assert(stage_locked(stage));
    } else if (strncmp(word, "acquire-", 8) == 0) {
        guest_acquire(other);
    } else if (strncmp(word, "cancel-", 7) == 0) {
        bz_deferred_cancel(&other->waiter.deferred);
    } else if (strncmp(word, "error-", 6) == 0) {
        bz_deferred_errback(&other->waiter.deferred, BZ_FAILED, 0);
    } else {
        cr_assert(false, "'%s' is no word of a script", word);
    }
    stage_check(stage);
}

static inline struct bz_deferred_result guest_run(struct bz_deferred_pair *pair,
                                                  struct bz_deferred_result result) {
    struct guest *guest = bz_container_of(pair, struct guest, pair);
    struct stage *stage = guest->stage;
    char name = (char)('a' + (guest - stage->guests));
    tst_say(&stage->log, "%c:%s", name, bz_status_name(result.status));
    cr_assert(not(bz_list_is_linked(&guest->waiter.link)), "in the queue, and called");
    stage_check(stage);
    if (result.status != BZ_OK || guest->script == NULL) {
        return result;
    }
    cr_assert(stage_free(stage) < stage->permits, "granted, and nothing is out");
    char script[64];
    snprintf(script, sizeof script, "%s", guest->script);
    char *rest = NULL;
    for (char *word = strtok_r(script, " ", &rest); word != NULL;
         word = strtok_r(NULL, " ", &rest)) {
        guest_word(stage, word);
    }
    tst_say(&stage->log, "%c.", name);
    return result;
}

static inline void guest_acquire(struct guest *guest) {
    struct stage *stage = guest->stage;
    bool is_granted = stage_free(stage) > 0;
    stage->owned += is_granted;
    if (stage->kind == KIND_LOCK) {
        bz_deferred_lock_acquire(&stage->lock, &guest->waiter);
    } else {
        bz_deferred_semaphore_acquire(&stage->semaphore, &guest->waiter);
    }
    cr_assert(eq(int, bz_deferred_is_fired(&guest->waiter.deferred), is_granted));
    stage_check(stage);
    bz_deferred_add_both(&guest->waiter.deferred, &guest->pair, guest_run);
    stage_check(stage);
}

static inline void stage_begin(struct stage *stage, enum kind kind, uint32_t permits) {
    *stage = (struct stage){.kind = kind, .permits = permits, .loop = tst_begin()};
    bz_trampoline_init(&stage->trampoline, stage->loop);
    bz_deferred_lock_init(&stage->lock, &stage->trampoline);
    if (kind == KIND_SEMAPHORE) {
        tst_status(bz_deferred_semaphore_init(&stage->semaphore, &stage->trampoline, permits),
                   BZ_OK);
    }
    for (uint32_t index = 0; index < GUESTS; index++) {
        stage->guests[index].stage = stage;
    }
}

/* The guest's script may be NULL: its callback only says its status. */
static inline void stage_script(struct stage *stage, char name, const char *script) {
    stage->guests[name - 'a'].script = script;
}

static inline void stage_acquire(struct stage *stage, char name, const char *script) {
    stage_script(stage, name, script);
    guest_acquire(&stage->guests[name - 'a']);
}

static inline bool stage_cancel(struct stage *stage, char name) {
    bool is_reached = bz_deferred_cancel(&stage->guests[name - 'a'].waiter.deferred);
    stage_check(stage);
    return is_reached;
}

/* All that was acquired must be back. */
static inline void stage_end(struct stage *stage, const char *story) {
    tst_expect(&stage->log, story);
    cr_assert(eq(u32, stage->owned, 0));
    cr_assert(eq(u32, stage_queue(stage)->waiting_count, 0));
    stage_check(stage);
    tst_end(stage->loop);
}

#endif
