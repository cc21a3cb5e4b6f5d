/* The stage of the deferred lock and semaphore: guests "a" to "h", each with a waiter and a
 * callback, tasks from "t" on, and a check of the invariants after every word.
 *
 * A guest's callback logs "a:status", plays the guest's script as the test would, and then logs
 * "a." if there was one. So the log shows what runs inside a callback, and what after it. A guest
 * that runs a function logs "a" in the function, plays its script there, and logs "a:status:value"
 * at the end. Its script may end with the result of the function: "answer-ok4", "answer-failed5",
 * or "pends" until the test plays "finish-a6" or "fail-a6".
 *
 *     acquire-X  run-X          guest X starts to wait, or to run its function
 *     release                   the operation on the primitive
 *     cancel-X  error-X         cancels X's waiter, or task; fires the waiter with BZ_BROKEN and 3
 *     wipe-X                    overwrites the storage of X's waiter
 *     visit                     a task acquires, awaits, and gives back what it got
 *     locked  free  waiting     reports yes or no; the free tokens; the guests that wait
 */
#ifndef BZ_SYNC_TESTS_STAGE_DEFERRED_H
#define BZ_SYNC_TESTS_STAGE_DEFERRED_H

#include "primitives/sync/deferred_lock.h"
#include "primitives/sync/deferred_semaphore.h"
#include "primitives/sync/tests/stage_waiters.h"

enum kind {
    KIND_LOCK = 0,
    KIND_SEMAPHORE = 1,
};
#define KIND_COUNT 2

#define GUESTS 8u

/* The lock or the semaphore, whichever it is. */
struct tokens {
    enum kind kind;
    uint32_t permits;
    struct bz_trampoline trampoline;
    struct bz_deferred_lock lock;
    struct bz_deferred_semaphore semaphore;
};

static inline void tokens_init(struct tokens *tokens, struct bz_loop *loop, enum kind kind,
                               uint32_t permits) {
    tokens->kind = kind;
    tokens->permits = permits;
    bz_trampoline_init(&tokens->trampoline, loop);
    bz_deferred_lock_init(&tokens->lock, &tokens->trampoline);
    tst_status(bz_deferred_semaphore_init(&tokens->semaphore, &tokens->trampoline, permits), BZ_OK);
}

static inline struct bz_deferred_waitq *tokens_queue(struct tokens *tokens) {
    return tokens->kind == KIND_LOCK ? &tokens->lock.semaphore.queue : &tokens->semaphore.queue;
}

static inline uint32_t tokens_free(const struct tokens *tokens) {
    return tokens->kind == KIND_LOCK ? tokens->lock.semaphore.tokens : tokens->semaphore.tokens;
}

static inline bool tokens_locked(const struct tokens *tokens) {
    return tokens->kind == KIND_LOCK ? bz_deferred_lock_locked(&tokens->lock)
                                     : bz_deferred_semaphore_locked(&tokens->semaphore);
}

static inline void tokens_acquire(struct tokens *tokens, struct bz_deferred_waiter *waiter) {
    if (tokens->kind == KIND_LOCK) {
        bz_deferred_lock_acquire(&tokens->lock, waiter);
    } else {
        bz_deferred_semaphore_acquire(&tokens->semaphore, waiter);
    }
}

static inline enum bz_status tokens_release(struct tokens *tokens) {
    return tokens->kind == KIND_LOCK ? bz_deferred_lock_release(&tokens->lock)
                                     : bz_deferred_semaphore_release(&tokens->semaphore);
}

/* --- the stage -------------------------------------------------------------------------------- */

struct guest {
    struct bz_deferred_run run; /* its waiter is the guest's */
    struct bz_deferred_pair pair;
    struct bz_deferred inner; /* what the function answers with, if it takes longer */
    struct cast *cast;
};

struct cast {
    struct tst_stage stage;
    struct tokens tokens;
    uint32_t owned; /* by waiters that fired with BZ_OK, less what was released */
    bool has_runs;  /* what is granted inside run() is not seen */
    struct guest guests[GUESTS];
};

static inline struct cast *cast_of(struct tst_call *call) {
    return bz_container_of(call->stage, struct cast, stage);
}

static inline struct guest *guest_of(struct tst_call *call) {
    return &cast_of(call)->guests[tst_named(call)];
}

static inline int guest_name(const struct guest *guest) {
    return 'a' + (int)(guest - guest->cast->guests);
}

static inline const char *guest_script(const struct guest *guest) {
    return guest->cast->stage.scripts[guest - guest->cast->guests];
}

static inline void cast_check(struct tst_stage *stage) {
    struct cast *cast = bz_container_of(stage, struct cast, stage);
    struct bz_deferred_waitq *queue = tokens_queue(&cast->tokens);
    uint32_t free = tokens_free(&cast->tokens);
    cr_assert_eq(list_length(&queue->waiting), queue->waiting_count);
    cr_assert(cast->has_runs || free + cast->owned == cast->tokens.permits);
    cr_assert_eq(tokens_locked(&cast->tokens), free == 0);
    cr_assert(queue->waiting_count == 0 || free == 0, "somebody waits for what is free");
}

/* --- words ------------------------------------------------------------------------------------ */

static inline struct bz_deferred_result guest_granted(struct bz_deferred_pair *pair,
                                                      struct bz_deferred_result result) {
    struct guest *guest = bz_container_of(pair, struct guest, pair);
    struct cast *cast = guest->cast;
    tst_say(&cast->stage.log, "%c:%s", guest_name(guest), bz_status_name(result.status));
    cr_assert_not(bz_list_is_linked(&guest->run.waiter.link), "in the queue, and called");
    cast_check(&cast->stage);
    if (result.status == BZ_OK && guest_script(guest)[0] != '\0') {
        cr_assert(tokens_free(&cast->tokens) < cast->tokens.permits, "granted, nothing is out");
        tst_act(&cast->stage, guest_script(guest));
        tst_say(&cast->stage.log, "%c.", guest_name(guest));
    }
    return result;
}

static inline enum bz_status word_acquire(struct tst_call *call) {
    struct cast *cast = cast_of(call);
    struct guest *guest = guest_of(call);
    bool is_granted = tokens_free(&cast->tokens) > 0;
    cast->owned += is_granted;
    tokens_acquire(&cast->tokens, &guest->run.waiter);
    cr_assert_eq(bz_deferred_is_fired(&guest->run.waiter.deferred), is_granted);
    cast_check(call->stage);
    bz_deferred_add_both(&guest->run.waiter.deferred, &guest->pair, guest_granted);
    return BZ_OK;
}

/* Counts the grant by what the release has to do, before any callback can run. */
static inline enum bz_status word_release(struct tst_call *call) {
    struct cast *cast = cast_of(call);
    bool is_refused = tokens_free(&cast->tokens) == cast->tokens.permits;
    bool is_passed_on = !is_refused && tokens_queue(&cast->tokens)->waiting_count > 0;
    cast->owned -= !is_refused && !is_passed_on;
    return tokens_release(&cast->tokens);
}

static inline enum bz_status word_cancel(struct tst_call *call) {
    bool is_reached = tst_named(call) >= GUESTS
                          ? bz_task_cancel(call->stage->tasks[tst_named(call)])
                          : bz_deferred_cancel(&guest_of(call)->run.waiter.deferred);
    return is_reached ? BZ_OK : BZ_INVALID_STATE;
}

TST_WORD(word_error, bz_deferred_errback(&guest_of(call)->run.waiter.deferred, BZ_BROKEN, 3))
TST_DEED(word_wipe, memset(&guest_of(call)->run.waiter, 0xa5, sizeof guest_of(call)->run.waiter))

/* As the header of deferreds has it: what was granted to a cancelled task is given back. */
static inline enum bz_status word_visit(struct tst_call *call) {
    struct cast *cast = cast_of(call);
    struct bz_deferred_waiter waiter;
    struct bz_deferred_result got;
    tokens_acquire(&cast->tokens, &waiter);
    cast->owned += bz_deferred_is_fired(&waiter.deferred);
    enum bz_status status = bz_deferred_await(&waiter.deferred, &got);
    tst_say(&cast->stage.log, "%s:%s", call->actor->name, bz_status_name(status));
    tst_act(&cast->stage, got.status == BZ_OK ? "release" : "");
    return status;
}

static inline struct bz_deferred_result guest_fn(void *arg) {
    struct guest *guest = arg;
    struct cast *cast = guest->cast;
    const char *script = guest_script(guest);
    char word[32];
    tst_say(&cast->stage.log, "%c", guest_name(guest));
    cr_assert(tokens_free(&cast->tokens) < cast->tokens.permits, "it runs, and nothing is out");
    while (tst_actor_next(&script, word, sizeof word)) {
        if (strcmp(word, "pends") == 0) {
            return bz_deferred_wait_for(&guest->inner);
        }
        if (strncmp(word, "answer-failed", 13) == 0) {
            return bz_deferred_error(BZ_FAILED, tst_number(word + 13));
        }
        if (strncmp(word, "answer-ok", 9) == 0) {
            return bz_deferred_ok(tst_number(word + 9));
        }
        tst_act(&cast->stage, word);
    }
    return bz_deferred_ok(0);
}

static inline struct bz_deferred_result guest_ended(struct bz_deferred_pair *pair,
                                                    struct bz_deferred_result result) {
    struct guest *guest = bz_container_of(pair, struct guest, pair);
    tst_say(&guest->cast->stage.log, "%c:%s:%u", guest_name(guest), bz_status_name(result.status),
            (unsigned)result.value);
    return result;
}

static inline enum bz_status guest_run(struct guest *guest, bz_deferred_run_fn *fn) {
    struct tokens *tokens = &guest->cast->tokens;
    return tokens->kind == KIND_LOCK
               ? bz_deferred_lock_run(&tokens->lock, &guest->run, fn, guest)
               : bz_deferred_semaphore_run(&tokens->semaphore, &guest->run, fn, guest);
}

static inline enum bz_status word_run_function(struct tst_call *call) {
    struct guest *guest = guest_of(call);
    guest->cast->has_runs = true;
    bz_deferred_init(&guest->inner, &guest->cast->tokens.trampoline, NULL);
    enum bz_status status = guest_run(guest, guest_fn);
    bz_deferred_add_both(&guest->run.waiter.deferred, &guest->pair, guest_ended);
    return status;
}

TST_WORD(word_finish, bz_deferred_callback(&guest_of(call)->inner, tst_number(call->rest + 1)))
TST_WORD(word_fail,
         bz_deferred_errback(&guest_of(call)->inner, BZ_FAILED, tst_number(call->rest + 1)))

static inline void cast_report(struct tst_call *call) {
    struct tokens *tokens = &cast_of(call)->tokens;
    tst_flag(call, "locked", tokens_locked(tokens));
    tst_count(call, "free", tokens_free(tokens));
    tst_count(call, "waiting", tokens_queue(tokens)->waiting_count);
}

static const struct tst_word cast_words[] = {
    {"acquire-", word_acquire},  {"release", word_release},
    {"cancel-", word_cancel},    {"error-", word_error},
    {"wipe-", word_wipe},        {"visit", word_visit},
    {"run-", word_run_function}, {"finish-", word_finish},
    {"fail-", word_fail},        {NULL, NULL},
};

static inline void cast_begin(struct cast *cast, enum kind kind, uint32_t permits) {
    *cast = (struct cast){.owned = 0};
    tst_stage_begin(&cast->stage, (struct tst_cast){cast_words, cast_report, cast_check});
    tokens_init(&cast->tokens, cast->stage.loop, kind, permits);
    for (uint32_t index = 0; index < GUESTS; index++) {
        cast->guests[index].cast = cast;
    }
}

/* All that was acquired must be back. */
static inline void cast_end(struct cast *cast) {
    tst_play(&cast->stage, "run waiting=0");
    cr_assert_eq(tokens_free(&cast->tokens), cast->tokens.permits);
    tst_stage_end(&cast->stage);
}

/* A whole timeline. */
static inline void play(enum kind kind, uint32_t permits, const char *timeline) {
    struct cast cast;
    cast_begin(&cast, kind, permits);
    tst_play(&cast.stage, timeline);
    cast_end(&cast);
}

/* A timeline that holds for both: a semaphore with one token does all that a lock does. */
static inline void play_both(const char *timeline) {
    play(KIND_LOCK, 1, timeline);
    play(KIND_SEMAPHORE, 1, timeline);
}

#endif
