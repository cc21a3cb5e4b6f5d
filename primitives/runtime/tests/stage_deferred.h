/* The stage of deferreds: deferreds "w" to "z", links "a" to "h", tasks "t" to "v".
 *
 * A link is a pair of callbacks. It logs what it is given, as "a:status:value", plays its script as
 * the test would, and then logs "a.". So the log shows what runs inside a callback, and what after
 * it. Its script may set the result: "answer-ok8", "answer-failed3", "answer-broken2", or "wait-y"
 * for another deferred. Without that it passes on what it was given.
 *
 *     add-xa  add-ok-xa  add-error-xa     appends link a to deferred x, for which results
 *     remove-a                            takes it out again
 *     fire-x5  err-x6  break-x7           fires x: a value, BZ_FAILED, BZ_BROKEN
 *     cancel-x  pause-x  unpause-x        cancel-t cancels a task
 *     init-x  source-x                    initializes x without a canceller; with one, which fires
 *     source-x-ok  source-x-broken        nothing; which fires 31; which fires BZ_BROKEN with 32
 *     fini-x  wipe-a                      ends x, or a's pair, and overwrites its storage
 *     wiped-x  wiped-a                    reports whether that storage was left alone since
 *     fired-x  settled-x  cancels-x       reports yes or no; reports the calls of the canceller
 *     result-x                            reports status/value
 *     await-x                             a task awaits; it logs what it got, as "t=ok/4"
 *     suspend                             suspends the running task
 */
#ifndef BZ_RUNTIME_TESTS_STAGE_DEFERRED_H
#define BZ_RUNTIME_TESTS_STAGE_DEFERRED_H

#include "primitives/runtime/deferred.h"
#include "primitives/tests/stage.h"

#define WIPED 0xa5

struct source {
    struct bz_deferred deferred;
    unsigned cancels;
    enum bz_status answer; /* of the canceller; BZ_INVALID_STATE: it does not fire */
};

struct link {
    struct bz_deferred_pair pair;
    struct deferreds *deferreds;
};

struct deferreds {
    struct tst_stage stage;
    struct bz_trampoline trampoline;
    struct source sources[4];
    struct link links[8];
};

/* --- links ------------------------------------------------------------------------------------ */

static inline struct source *source_named(struct deferreds *deferreds, char name) {
    cr_assert(name >= 'w' && name <= 'z', "'%c' is no deferred", name);
    return &deferreds->sources[name - 'w'];
}

/* True if the word sets the answer. */
static inline bool link_answer(struct deferreds *deferreds, const char *word,
                               struct bz_deferred_result *answer) {
    if (strncmp(word, "wait-", 5) == 0) {
        *answer = bz_deferred_wait_for(&source_named(deferreds, word[5])->deferred);
    } else if (strncmp(word, "answer-ok", 9) == 0) {
        *answer = bz_deferred_ok(tst_number(word + 9));
    } else if (strncmp(word, "answer-failed", 13) == 0) {
        *answer = bz_deferred_error(BZ_FAILED, tst_number(word + 13));
    } else if (strncmp(word, "answer-broken", 13) == 0) {
        *answer = bz_deferred_error(BZ_BROKEN, tst_number(word + 13));
    } else {
        return false;
    }
    return true;
}

static inline struct bz_deferred_result link_run(struct bz_deferred_pair *pair,
                                                 struct bz_deferred_result result) {
    struct link *link = bz_container_of(pair, struct link, pair);
    struct deferreds *deferreds = link->deferreds;
    struct tst_stage *stage = &deferreds->stage;
    int name = 'a' + (int)(link - deferreds->links);
    const char *script = stage->scripts[name - 'a'];
    struct bz_deferred_result answer = result;
    bool has_acted = false;
    char word[32];
    cr_assert_null(result.wait_for);
    tst_say(&stage->log, "%c:%s:%u", name, bz_status_name(result.status), (unsigned)result.value);
    while (tst_actor_next(&script, word, sizeof word)) {
        if (!link_answer(deferreds, word, &answer)) {
            tst_act(stage, word);
            has_acted = true;
        }
    }
    if (has_acted) {
        tst_say(&stage->log, "%c.", name);
    }
    return answer;
}

/* --- words ------------------------------------------------------------------------------------ */

static inline struct deferreds *deferreds_of(struct tst_call *call) {
    return bz_container_of(call->stage, struct deferreds, stage);
}

/* The source that the word names. */
static inline struct source *source_of(struct tst_call *call) {
    return source_named(deferreds_of(call), call->rest[0]);
}

static inline struct bz_deferred *deferred_of(struct tst_call *call) {
    return &source_of(call)->deferred;
}

static inline enum bz_status word_add(struct tst_call *call) {
    struct link *link = &deferreds_of(call)->links[call->rest[1] - 'a'];
    bool is_ok_only = strncmp(call->word, "add-ok", 6) == 0;
    bool is_error_only = strncmp(call->word, "add-error", 9) == 0;
    bz_deferred_add(deferred_of(call), &link->pair, is_error_only ? NULL : link_run,
                    is_ok_only ? NULL : link_run);
    return BZ_OK;
}

static inline enum bz_status word_remove(struct tst_call *call) {
    struct link *link = &deferreds_of(call)->links[tst_named(call)];
    return bz_deferred_remove(&link->pair) ? BZ_OK : BZ_INVALID_STATE;
}

TST_WORD(word_fire, bz_deferred_callback(deferred_of(call), tst_number(call->rest + 1)))
TST_WORD(word_err, bz_deferred_errback(deferred_of(call), BZ_FAILED, tst_number(call->rest + 1)))
TST_WORD(word_break, bz_deferred_errback(deferred_of(call), BZ_BROKEN, tst_number(call->rest + 1)))

static inline enum bz_status word_cancel(struct tst_call *call) {
    bool is_reached = call->rest[0] < 'w' ? bz_task_cancel(call->stage->tasks[tst_named(call)])
                                          : bz_deferred_cancel(deferred_of(call));
    return is_reached ? BZ_OK : BZ_INVALID_STATE;
}

TST_DEED(word_pause, bz_deferred_pause(deferred_of(call)))
TST_DEED(word_unpause, bz_deferred_unpause(deferred_of(call)))
TST_DEED(word_init, bz_deferred_init(deferred_of(call), &deferreds_of(call)->trampoline, NULL))

static inline void source_cancel(struct bz_deferred *deferred) {
    struct source *source = bz_container_of(deferred, struct source, deferred);
    source->cancels++;
    cr_assert_not(bz_deferred_is_fired(deferred));
    if (source->answer == BZ_OK) {
        tst_status(bz_deferred_callback(deferred, 31), BZ_OK);
    } else if (source->answer != BZ_INVALID_STATE) {
        tst_status(bz_deferred_errback(deferred, source->answer, 32), BZ_OK);
    }
}

/* "source-x", "source-x-ok", "source-x-broken" */
static inline enum bz_status word_source(struct tst_call *call) {
    struct source *source = source_of(call);
    bz_deferred_init(&source->deferred, &deferreds_of(call)->trampoline, source_cancel);
    source->answer = BZ_INVALID_STATE;
    if (call->rest[1] == '-') {
        source->answer = call->rest[2] == 'o' ? BZ_OK : BZ_BROKEN;
    }
    return BZ_OK;
}

static inline enum bz_status word_fini(struct tst_call *call) {
    bz_deferred_fini(deferred_of(call));
    memset(deferred_of(call), WIPED, sizeof(struct bz_deferred));
    return BZ_OK;
}

TST_DEED(word_wipe, memset(&deferreds_of(call)->links[tst_named(call)].pair, WIPED,
                           sizeof(struct bz_deferred_pair)))

static inline enum bz_status word_wiped(struct tst_call *call) {
    bool is_link = call->rest[0] < 'w';
    const uint8_t *bytes = is_link ? (const void *)&deferreds_of(call)->links[tst_named(call)].pair
                                   : (const void *)deferred_of(call);
    size_t size_bytes = is_link ? sizeof(struct bz_deferred_pair) : sizeof(struct bz_deferred);
    bool is_wiped = true;
    for (size_t index = 0; index < size_bytes; index++) {
        is_wiped = is_wiped && bytes[index] == WIPED;
    }
    tst_flag(call, call->word, is_wiped);
    return BZ_OK;
}

TST_DEED(word_fired, tst_flag(call, call->word, bz_deferred_is_fired(deferred_of(call))))
TST_DEED(word_settled, tst_flag(call, call->word, bz_deferred_is_settled(deferred_of(call))))
TST_DEED(word_cancels, tst_count(call, call->word, source_of(call)->cancels))

static inline enum bz_status word_result(struct tst_call *call) {
    const struct bz_deferred *deferred = deferred_of(call);
    tst_report(call, "%s/%u", bz_status_name((enum bz_status)deferred->status),
               (unsigned)deferred->value);
    return BZ_OK;
}

static inline enum bz_status word_await(struct tst_call *call) {
    struct bz_deferred_result got;
    enum bz_status status = bz_deferred_await(deferred_of(call), &got);
    tst_say(&call->stage->log, "%s=%s/%u", call->actor->name, bz_status_name(got.status),
            (unsigned)got.value);
    return status;
}

TST_WORD(word_suspend, bz_yield(call->stage->loop))

static const struct tst_word deferreds_words[] = {
    {"add-ok-", word_add},      {"add-error-", word_add},
    {"add-", word_add},         {"remove-", word_remove},
    {"fire-", word_fire, true}, {"err-", word_err, true},
    {"break-", word_break},     {"cancel-", word_cancel},
    {"pause-", word_pause},     {"unpause-", word_unpause},
    {"init-", word_init},       {"source-", word_source},
    {"fini-", word_fini},       {"wipe-", word_wipe},
    {"wiped-", word_wiped},     {"fired-", word_fired},
    {"settled-", word_settled}, {"cancels-", word_cancels},
    {"result-", word_result},   {"await-", word_await},
    {"suspend", word_suspend},  {NULL, NULL},
};

/* --- the stage -------------------------------------------------------------------------------- */

static inline void deferreds_begin(struct deferreds *deferreds) {
    *deferreds = (struct deferreds){.sources = {{.cancels = 0}}};
    tst_stage_begin(&deferreds->stage, (struct tst_cast){.words = deferreds_words});
    bz_trampoline_init(&deferreds->trampoline, deferreds->stage.loop);
    tst_act(&deferreds->stage, "init-w init-x init-y init-z");
    for (unsigned index = 0; index < 8; index++) {
        deferreds->links[index].deferreds = deferreds;
    }
}

static inline void deferreds_end(struct deferreds *deferreds) {
    tst_act(&deferreds->stage, "run");
    cr_assert(bz_list_is_empty(&deferreds->trampoline.due));
    cr_assert(bz_list_is_empty(&deferreds->trampoline.fresh));
    cr_assert_not(deferreds->trampoline.is_bouncing);
    tst_stage_end(&deferreds->stage);
}

/* A whole timeline. */
static inline void play(const char *timeline) {
    struct deferreds deferreds;
    deferreds_begin(&deferreds);
    tst_play(&deferreds.stage, timeline);
    deferreds_end(&deferreds);
}

#endif
