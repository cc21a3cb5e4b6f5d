#include "primitives/tests/stage.h"

#include <stdlib.h>

static const char *row_name = "the test"; /* for messages */

/* --- words ------------------------------------------------------------------------------------ */

void tst_report(struct tst_call *call, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(call->report, sizeof call->report, format, arguments);
    va_end(arguments);
}

void tst_flag(struct tst_call *call, const char *name, bool flag) {
    if (strcmp(call->word, name) == 0) {
        tst_report(call, "%s", flag ? "yes" : "no");
    }
}

void tst_count(struct tst_call *call, const char *name, uint64_t count) {
    if (strcmp(call->word, name) == 0) {
        tst_report(call, "%llu", (unsigned long long)count);
    }
}

static void stage_check(struct tst_stage *stage) {
    if (stage->cast.check != NULL) {
        stage->cast.check(stage);
    }
}

static void stage_step(struct tst_stage *stage, uint32_t index) {
    bz_driver_step(stage->loop, bz_driver_take(stage->loop, index));
    stage_check(stage);
}

static void stage_turn(struct tst_stage *stage) {
    bz_driver_begin_turn(stage->loop);
    while (bz_driver_turn_left(stage->loop) > 0) {
        stage_step(stage, 0);
    }
}

static void stage_run(struct tst_stage *stage) {
    while (tst_more(stage->loop)) {
        stage_turn(stage);
    }
}

TST_DEED(word_step, stage_step(call->stage, (uint32_t)tst_number(call->rest)))

static enum bz_status word_turn(struct tst_call *call) {
    uint64_t count = call->rest[0] == '\0' ? 1 : tst_number(call->rest);
    while (count-- > 0) {
        stage_turn(call->stage);
    }
    return BZ_OK;
}

TST_DEED(word_run, stage_run(call->stage))
TST_DEED(word_time, tst_advance(call->stage->loop, tst_number(call->rest)))
TST_DEED(word_due,
         cr_assert_eq(bz_driver_queue_due_timers(call->stage->loop), tst_number(call->rest)))

static struct bz_task *task_of(struct tst_call *call) {
    struct bz_task *task = call->stage->tasks[tst_named(call)];
    cr_assert_not_null(task, "'%s': there is no such task", call->word);
    return task;
}

static struct bz_future *future_of(struct tst_call *call) {
    return &call->stage->futures[tst_named(call)];
}

TST_WORD(word_cancel, bz_task_cancel(task_of(call)) ? BZ_OK : BZ_INVALID_STATE)
TST_DEED(word_uncancel, tst_report(call, "%u", bz_task_uncancel(task_of(call))))
TST_WORD(word_join, bz_task_join(task_of(call)))

static enum bz_status word_free(struct tst_call *call) {
    bz_task_free(task_of(call));
    call->stage->tasks[tst_named(call)] = NULL;
    return BZ_OK;
}

static uint64_t value_of(struct tst_call *call) {
    return call->rest[1] == '\0' ? 7 : tst_number(call->rest + 1);
}

TST_WORD(word_set, bz_future_set_result(future_of(call), value_of(call)))
TST_WORD(word_place, bz_future_set_result_in_place(future_of(call), value_of(call)))
TST_WORD(word_fail, bz_future_set_exception(future_of(call), value_of(call)))
TST_WORD(word_drop, bz_future_cancel(future_of(call)) ? BZ_OK : BZ_INVALID_STATE)
TST_WORD(word_await, bz_future_await(future_of(call)))

static enum bz_status word_future(struct tst_call *call) {
    static const char *const states[] = {"pending", "result", "exception", "cancelled"};
    const struct bz_future *future = future_of(call);
    tst_report(call, "%s/%u", states[future->state], (unsigned)future->value);
    return BZ_OK;
}

static enum bz_status word_end(struct tst_call *call) {
    const struct bz_task *task = task_of(call);
    cr_assert(bz_task_is_done(task), "'%s': the task has not ended", call->word);
    tst_report(call, "%s/%u", bz_status_name((enum bz_status)task->done.status),
               bz_task_cancelling(task));
    return BZ_OK;
}

TST_DEED(word_done, tst_flag(call, call->word, bz_task_is_done(task_of(call))))
TST_DEED(word_cancelling, tst_report(call, "%u", bz_task_cancelling(task_of(call))))

static void common_report(struct tst_call *call) {
    struct bz_loop *loop = call->stage->loop;
    const struct bz_task *current = bz_loop_current(loop);
    uint64_t deadline_ns = bz_driver_next_deadline_ns(loop);
    tst_count(call, "requests", current != NULL ? bz_task_cancelling(current) : 0);
    tst_count(call, "now", bz_loop_now_ns(loop));
    tst_count(call, "ready", bz_driver_ready_count(loop));
    tst_count(call, "live", bz_loop_live_tasks(loop));
    if (deadline_ns != BZ_TIME_NEVER) {
        tst_count(call, "deadline", deadline_ns);
    } else if (strcmp(call->word, "deadline") == 0) {
        tst_report(call, "never");
    }
}

static const struct tst_word common_words[] = {
    {"step", word_step},
    {"step-", word_step},
    {"turn", word_turn},
    {"turn-", word_turn},
    {"run", word_run},
    {"time-", word_time, .is_quiet = true},
    {"due-", word_due},
    {"cancel-", word_cancel, .is_quiet = true},
    {"uncancel-", word_uncancel},
    {"join-", word_join},
    {"free-", word_free},
    {"set-", word_set, .is_quiet = true},
    {"place-", word_place, .is_quiet = true},
    {"fail-", word_fail, .is_quiet = true},
    {"drop-", word_drop, .is_quiet = true},
    {"await-", word_await},
    {"future-", word_future},
    {"end-", word_end},
    {"done-", word_done},
    {"cancelling-", word_cancelling},
    {NULL, NULL},
};

/* --- playing ---------------------------------------------------------------------------------- */

static const struct tst_word *find_word(const struct tst_word *words, const char *word) {
    for (; words != NULL && words->verb != NULL; words++) {
        size_t length = strlen(words->verb);
        bool is_whole = strchr("-+(", words->verb[length - 1]) == NULL;
        if (strncmp(word, words->verb, length) == 0 && (!is_whole || word[length] == '\0')) {
            return words;
        }
    }
    return NULL;
}

/* Plays a word without its answer. False if there is no such word. */
static bool play_word(struct tst_call *call, const char *word, enum bz_status *status,
                      bool *is_quiet) {
    const struct tst_word *entry = find_word(call->stage->cast.words, word);
    entry = entry != NULL ? entry : find_word(common_words, word);
    call->word = word;
    if (entry != NULL) {
        call->rest = word + strlen(entry->verb);
        *status = entry->play(call);
        *is_quiet = entry->is_quiet && *status == BZ_OK;
        return true;
    }
    common_report(call);
    if (call->stage->cast.report != NULL) {
        call->stage->cast.report(call);
    }
    return call->report[0] != '\0';
}

/* A word of a guest that actor.h does not know. */
static enum bz_status guest_word(struct tst_actor *actor, const char *text, bool *is_quiet) {
    struct tst_call call = {.stage = actor->object, .actor = actor};
    enum bz_status status = BZ_OK;
    char word[32];
    snprintf(word, sizeof word, "%s", text);
    char *mark = strchr(word, '=');
    if (mark != NULL) {
        *mark = '\0';
    }
    if (!play_word(&call, word, &status, is_quiet)) {
        return BZ_INVALID_ARGUMENT;
    }
    if (mark != NULL) {
        cr_assert_str_eq(call.report, mark + 1, "%s: at '%s' of guest %s", row_name, text,
                         actor->name);
        *is_quiet = true;
    } else if (call.report[0] != '\0' && status == BZ_OK) {
        tst_say(actor->log, "%s.%s=%s", actor->name, word, call.report);
        *is_quiet = true;
    }
    return status;
}

void tst_act(struct tst_stage *stage, const char *words) {
    char word[64];
    while (tst_actor_next(&words, word, sizeof word)) {
        struct tst_call call = {.stage = stage};
        enum bz_status status = BZ_OK;
        char *mark = strpbrk(word, "=:");
        bool is_report = mark != NULL && *mark == '=';
        const char *expected = mark != NULL ? mark + 1 : bz_status_name(BZ_OK);
        if (mark != NULL) {
            *mark = '\0';
        }
        bool is_quiet = false;
        cr_assert(play_word(&call, word, &status, &is_quiet), "%s: '%s' is no word", row_name,
                  word);
        const char *actual = is_report ? call.report : bz_status_name(status);
        cr_assert_str_eq((char *)actual, (char *)expected, "%s: at '%s' in '%s'", row_name, word,
                         stage->clause);
        stage_check(stage);
    }
}

/* --- timelines -------------------------------------------------------------------------------- */

/* "a: SCRIPT", "a-c: SCRIPT", "+a: SCRIPT"; false if it is none of them. */
static bool play_guests(struct tst_stage *stage, const char *clause) {
    bool is_started = clause[0] != '+';
    const char *names = clause + !is_started;
    const char *colon = strchr(names, ':');
    size_t length = colon != NULL ? (size_t)(colon - names) : 0;
    if (length != 1 && !(length == 3 && names[1] == '-')) {
        return false;
    }
    const char *script = colon + 1 + strspn(colon + 1, " ");
    cr_assert(strlen(script) < TST_SCRIPT_BYTES, "'%s' is too long", clause);
    for (char name = names[0]; name <= names[length - 1]; name++) {
        unsigned index = tst_index(name);
        strcpy(stage->scripts[index], script);
        if (is_started) {
            stage->tasks[index] = tst_actor_spawn(&stage->actors[index]);
            stage->is_owned[index] = true;
        }
    }
    return true;
}

/* Cuts the text behind an arrow off the clause. */
static void play_clause(struct tst_stage *stage, char *clause) {
    stage->clause = clause;
    char *arrow = strstr(clause, "->");
    arrow = arrow != NULL ? arrow : strstr(clause, "=>");
    bool runs = arrow != NULL && *arrow == '=';
    const char *expected = "";
    if (arrow != NULL) {
        expected = arrow + 2 + strspn(arrow + 2, " ");
        while (arrow > clause && arrow[-1] == ' ') {
            arrow--;
        }
        *arrow = '\0';
    }
    if (!play_guests(stage, clause)) {
        tst_act(stage, clause);
    }
    if (runs) {
        stage_run(stage);
    }
    if (arrow != NULL) {
        cr_assert_str_eq(stage->log.text, (char *)expected, "%s: after '%s'", row_name, clause);
        tst_forget(&stage->log);
    }
}

void tst_play(struct tst_stage *stage, const char *timeline) {
    char clause[1024];
    while (*timeline != '\0') {
        timeline += strspn(timeline, " ");
        size_t length = strcspn(timeline, ";");
        cr_assert(length < sizeof clause);
        memcpy(clause, timeline, length);
        while (length > 0 && clause[length - 1] == ' ') {
            length--;
        }
        clause[length] = '\0';
        timeline += strcspn(timeline, ";");
        timeline += *timeline == ';';
        play_clause(stage, clause);
    }
    stage->clause = "";
}

/* --- beginning and end ------------------------------------------------------------------------ */

void tst_stage_begin(struct tst_stage *stage, struct tst_cast cast) {
    static const char names[TST_GUESTS][2] = {"a", "b", "c", "d", "e", "f", "g", "h", "i",
                                              "j", "k", "l", "m", "n", "o", "p", "q", "r",
                                              "s", "t", "u", "v", "w", "x", "y", "z"};
    *stage = (struct tst_stage){.loop = tst_begin(), .cast = cast, .clause = ""};
    for (unsigned index = 0; index < TST_GUESTS; index++) {
        bz_future_init(&stage->futures[index], stage->loop);
        stage->actors[index] = (struct tst_actor){.name = names[index],
                                                  .script = stage->scripts[index],
                                                  .loop = stage->loop,
                                                  .log = &stage->log,
                                                  .future = &stage->futures[index],
                                                  .extra = guest_word,
                                                  .object = stage};
    }
}

void tst_stage_end(struct tst_stage *stage) {
    stage_run(stage);
    cr_assert_str_eq(stage->log.text, "", "%s: at its end", row_name);
    for (unsigned index = 0; index < TST_GUESTS; index++) {
        if (stage->tasks[index] != NULL && stage->is_owned[index]) {
            cr_assert(bz_task_is_done(stage->tasks[index]));
            bz_task_free(stage->tasks[index]);
        }
    }
    tst_end(stage->loop);
}

void tst_timeline(const char *timeline) {
    struct tst_stage stage;
    tst_stage_begin(&stage, (struct tst_cast){.words = NULL});
    tst_play(&stage, timeline);
    tst_stage_end(&stage);
}

void tst_begin_row(const char *name) {
    row_name = name;
}

void tst_play_rows(const struct tst_row *rows, void (*play)(const char *timeline)) {
    for (; rows->name != NULL; rows++) {
        tst_begin_row(rows->name);
        play(rows->timeline);
    }
}

void tst_play_sized_rows(const struct tst_sized_row *rows,
                         void (*play)(uint32_t size, const char *timeline)) {
    for (; rows->name != NULL; rows++) {
        tst_begin_row(rows->name);
        play(rows->size, rows->timeline);
    }
}
