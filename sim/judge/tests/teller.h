/* The teller: events of a few tasks, told by hand, in orders that are rare or come from another
 * runtime. */
#ifndef BZ_SIM_JUDGE_TESTS_TELLER_H
#define BZ_SIM_JUDGE_TESTS_TELLER_H

#include "primitives/tests/support.h"
#include "sim/judge/internal.h"

static const struct bz_judge_config plain = {.strategy = &bz_strategy_fifo};

/* Tells events of the tasks a, b, c, ... and one object, in words that are separated by blanks:
 *     +a  +a!       a step of task a begins: it resumes with OK, or cancelled
 *     at-2          from now on calls are of the object with that number
 *     try           the next acquire must not wait
 *     call          it calls acquire
 *     ok  no        acquire returns OK, or BZ_CANCELLED
 *     release       it releases, which returns BZ_OK; refused: BZ_NOT_HELD
 *     wait  yield   it suspends: waits for a future, or yields
 *     join          it suspends: joins another task
 *     exit          it ends
 *     wake-b        task b is woken
 *     cancel-b      a request to cancel task b; it waits for a future: that is cancelled
 *     mark-b        a request to cancel task b that nothing else follows
 *     keep-b        its wait cannot be cancelled, and continues
 *     uncancel-b    the only request to cancel task b is taken back
 *     show-LWRQ     from now on the object shows a level, and entries that wait, that have a
 * result, and all in its queue: a digit each. Without it the object shows nothing. */
struct teller {
    struct bz_judge *judge;
    uint32_t object;
    struct bz_permit_view view;
};

static inline void show(void *instance, struct bz_permit_view *view) {
    *view = ((struct teller *)instance)->view;
}

static inline void begin(struct teller *teller, const struct bz_judge_config *config,
                         uint32_t claims, uint64_t permits, bool is_shown) {
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    const struct bz_introspection look = {.instance = teller, .view = show};
    *teller = (struct teller){.judge = bz_judge_new(config)};
    cr_assert(teller->judge != NULL);
    bz_judge_begin(teller->judge, &(struct bz_run_start){.seed = 1});
    teller->object = bz_judge_add_permits(teller->judge, "table", BZ_PRIMITIVE_SEMAPHORE, claims,
                                          permits, is_shown ? &look : NULL);
    for (uint32_t task = 0; task < 5; task++) {
        bz_judge_spawn(teller->judge, names[task], 0);
    }
}

static inline void begin_step(struct bz_judge *judge, const char *word) {
    uint32_t task = (uint32_t)(word[1] - 'a') + 1;
    uint32_t nth = judge->shadow.tasks[task].next_step;
    bz_judge_end_step(judge);
    bz_judge_begin_step(judge, 0,
                        (struct bz_ready){.owner = task, .nth = nth, .role = BZ_ROLE_STEP});
    bz_judge_event(judge, BZ_EVENT_RESUME, task, word[2] == '!' ? BZ_CANCELLED : BZ_OK, nth);
}

static inline void tell_word(struct teller *teller, const char *word) {
    struct bz_judge *judge = teller->judge;
    uint32_t running = bz_judge_running(judge);
    const char *dash = strchr(word, '-');
    uint32_t other = dash == NULL ? 0 : (uint32_t)(dash[1] - 'a') + 1;
    if (word[0] == '+') {
        begin_step(judge, word);
    } else if (strncmp(word, "show-", 5) == 0) {
        teller->view = (struct bz_permit_view){.level = (uint64_t)(word[5] - '0'),
                                               .waiting = (uint32_t)(word[6] - '0'),
                                               .woken = (uint32_t)(word[7] - '0'),
                                               .queued = (uint32_t)(word[8] - '0')};
    } else if (strncmp(word, "at-", 3) == 0) {
        teller->object = (uint32_t)(word[3] - '0');
    } else if (strcmp(word, "try") == 0) {
        bz_judge_tries(judge, true);
    } else if (strcmp(word, "call") == 0) {
        bz_judge_acquire_begin(judge, teller->object);
    } else if (strcmp(word, "ok") == 0 || strcmp(word, "no") == 0) {
        bz_judge_acquire_end(judge, teller->object, word[0] == 'o' ? BZ_OK : BZ_CANCELLED);
        bz_judge_tries(judge, false);
    } else if (strcmp(word, "release") == 0 || strcmp(word, "refused") == 0) {
        bz_judge_release_begin(judge, teller->object);
        bz_judge_release_end(judge, teller->object, word[2] == 'l' ? BZ_OK : BZ_NOT_HELD);
    } else if (strcmp(word, "wait") == 0) {
        bz_judge_event(judge, BZ_EVENT_SUSPEND, running, BZ_OK, BZ_WAIT_FUTURE);
    } else if (strcmp(word, "yield") == 0) {
        bz_judge_event(judge, BZ_EVENT_SUSPEND, running, BZ_OK, BZ_WAIT_YIELD);
    } else if (strcmp(word, "join") == 0) {
        bz_judge_event(judge, BZ_EVENT_SUSPEND, running, BZ_OK, BZ_WAIT_JOIN);
    } else if (strcmp(word, "exit") == 0) {
        bz_judge_event(judge, BZ_EVENT_EXIT, running, BZ_OK, 0);
    } else if (word[0] == 'w') {
        bz_judge_event(judge, BZ_EVENT_WAKE, other, BZ_OK, 0);
    } else if (word[0] == 'k') {
        bz_judge_waits_on(judge, other);
    } else if (word[0] == 'u') {
        bz_judge_event(judge, BZ_EVENT_UNCANCEL, other, BZ_OK, 0);
    } else {
        bz_judge_event(judge, BZ_EVENT_CANCEL, other, BZ_OK, running);
        if (word[0] == 'c') {
            bz_judge_event(judge, BZ_EVENT_WAKE, other, BZ_CANCELLED, 0);
        }
    }
}

static inline void tell(struct teller *teller, const char *words) {
    char word[16];
    while (sscanf(words, "%15s", word) == 1) {
        words = strstr(words, word) + strlen(word);
        tell_word(teller, word);
    }
}

static inline void end_silently(struct teller *teller) {
    const struct bz_violation *violation = bz_judge_violation(teller->judge);
    bz_judge_end_step(teller->judge);
    cr_assert(violation->oracle == NULL, "%s: %s", violation->oracle, violation->message);
    bz_judge_destroy(teller->judge);
}

static inline void end_violated(struct teller *teller, const char *oracle, const char *text) {
    const struct bz_violation *violation = bz_judge_violation(teller->judge);
    bz_judge_end_step(teller->judge);
    cr_assert(violation->oracle != NULL, "%s stays silent", oracle);
    tst_text(violation->oracle, oracle);
    cr_assert(strstr(violation->message, text) != NULL, "%s", violation->message);
    bz_judge_destroy(teller->judge);
}

#endif
