/* An actor: a task that plays a script of blank-separated words, so that a test reads as a story.
 *
 *     await          awaits the actor's future
 *     yield          gives everybody a turn
 *     sleep-N        sleeps N ns, or for ever: sleep-never; "sleep" is 10 ns
 *     cancel-self    requests its own cancellation
 *     uncancel       takes a request back
 *     fail           ends with BZ_FAILED; break with BZ_BROKEN
 *
 * Every word that can suspend is logged when it returns, as "name.word:status". A status that is
 * not BZ_OK is on its way out like an exception: the words that follow are skipped, up to one with
 * a ")", which closes a scope that a test has defined and decides what goes on from there. A word
 * that begins with "~" swallows its own status. The task returns the status that is on its way out
 * at the end. A test adds words of its own with `extra`.
 */
#ifndef BZ_TESTS_ACTOR_H
#define BZ_TESTS_ACTOR_H

#include "primitives/tests/support.h"

struct tst_actor {
    const char *name;
    const char *script;
    struct bz_loop *loop;
    struct tst_log *log;
    struct bz_future *future;
    /* Plays a word that is none of the above; BZ_INVALID_ARGUMENT if it does not know it either.
     * Sets *is_quiet if there is nothing to log. */
    enum bz_status (*extra)(struct tst_actor *actor, const char *word, bool *is_quiet);
    void *object;           /* for the extra words */
    enum bz_status leaving; /* what is on its way out; BZ_OK if nothing is */
};

static inline enum bz_status tst_actor_word(struct tst_actor *actor, const char *word,
                                            bool *is_quiet) {
    if (strcmp(word, "await") == 0) {
        return bz_future_await(actor->future);
    }
    if (strcmp(word, "yield") == 0) {
        return bz_yield(actor->loop);
    }
    if (strcmp(word, "sleep") == 0) {
        return bz_sleep(actor->loop, 10);
    }
    if (strncmp(word, "sleep-", 6) == 0) {
        bool is_endless = strcmp(word + 6, "never") == 0;
        return bz_sleep(actor->loop, is_endless ? BZ_TIME_NEVER : strtoull(word + 6, NULL, 10));
    }
    *is_quiet = true;
    if (strcmp(word, "cancel-self") == 0) {
        cr_assert(bz_task_cancel(bz_loop_current(actor->loop)));
        return BZ_OK;
    }
    if (strcmp(word, "uncancel") == 0) {
        bz_task_uncancel(bz_loop_current(actor->loop));
        return BZ_OK;
    }
    if (strcmp(word, "fail") == 0) {
        return BZ_FAILED;
    }
    if (strcmp(word, "break") == 0) {
        return BZ_BROKEN;
    }
    *is_quiet = false;
    return actor->extra != NULL ? actor->extra(actor, word, is_quiet) : BZ_INVALID_ARGUMENT;
}

/* Cuts the next word off the script; false at its end. */
static inline bool tst_actor_next(const char **script, char *word, size_t size_bytes) {
    if (**script == '\0') {
        return false;
    }
    size_t length = strcspn(*script, " ");
    cr_assert(length < size_bytes);
    memcpy(word, *script, length);
    word[length] = '\0';
    *script += length + strspn(*script + length, " ");
    return true;
}

static inline enum bz_status tst_actor_run(void *arg) {
    struct tst_actor *actor = arg;
    const char *script = actor->script;
    char word[32];
    actor->leaving = BZ_OK;
    while (tst_actor_next(&script, word, sizeof word)) {
        if (actor->leaving != BZ_OK && strchr(word, ')') == NULL) {
            continue;
        }
        bool goes_on = word[0] == '~';
        bool is_quiet = false;
        const char *verb = word + goes_on;
        enum bz_status status = tst_actor_word(actor, verb, &is_quiet);
        cr_assert_neq(status, BZ_INVALID_ARGUMENT, "'%s' is no word of a script", verb);
        if (!is_quiet) {
            tst_say(actor->log, "%s.%s:%s", actor->name, verb, bz_status_name(status));
        }
        actor->leaving = goes_on ? BZ_OK : status;
    }
    return actor->leaving;
}

static inline struct bz_task *tst_actor_spawn(struct tst_actor *actor) {
    return tst_spawn(actor->loop, tst_actor_run, actor);
}

#endif
