/* The findings of a history check, the event of each, and histories in which it finds nothing. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "primitives/runtime/mem.h"
#include "sim/model/tests/models.h"

static struct bz_mem *mem;

static void set_up(void) {
    mem = bz_mem_new(0);
    cr_assert_not_null(mem);
}

static void tear_down(void) {
    bz_mem_destroy(mem);
}

TestSuite(model_history, .init = set_up, .fini = tear_down);

static struct bz_history *history_of(const struct bz_model *model, int64_t parameter) {
    struct bz_history *history =
        bz_history_new(mem, &(struct bz_history_config){.model = model, .parameters = &parameter});
    cr_assert_not_null(history);
    return history;
}

/* Plays a story of words, and expects a result after the last one. "2+0(1)" calls operation 0 with
 * the argument 1 for client 2; "2=1" returns 1 to it; "2?" requests its cancel; "2-" ends it,
 * cancelled; "~3" lets 3 ns pass; "." is rest, and ".3" that
 * nothing can run for 3 ns; ".." is the end of all. */
static enum bz_history_result play(struct bz_history *history, const char *story) {
    enum bz_history_result result = BZ_HISTORY_EXPLAINED;
    for (const char *word = story; *word != '\0';
         word += strcspn(word, " "), word += *word == ' ') {
        char *rest;
        cr_assert_eq(result, BZ_HISTORY_EXPLAINED, "before '%s': %s", word,
                     bz_history_finding(history)->message);
        if (word[0] == '.' && word[1] == '.') {
            result = bz_history_over(history);
            continue;
        }
        if (*word == '.') {
            bool is_end = word[1] == '\0' || word[1] == ' ';
            result = is_end ? bz_history_rest(history)
                            : bz_history_idle(history, strtoull(word + 1, NULL, 10));
            continue;
        }
        if (*word == '~') {
            result = bz_history_pass(history, strtoull(word + 1, NULL, 10));
            continue;
        }
        uint32_t client = (uint32_t)strtoul(word, &rest, 10);
        if (*rest == '+') {
            uint32_t op = (uint32_t)strtoul(rest + 1, &rest, 10);
            int64_t argument = *rest == '(' ? strtoll(rest + 1, NULL, 10) : 0;
            result = bz_history_call(history, client, op, &argument);
        } else if (*rest == '=') {
            result = bz_history_return(history, client, strtoll(rest + 1, NULL, 10));
        } else {
            result = *rest == '?' ? bz_history_cancel(history, client)
                                  : bz_history_cancelled(history, client);
        }
    }
    return result;
}

static void expect(const char *name, const struct bz_model *model, int64_t parameter,
                   const char *story, enum bz_history_result result, const char *message) {
    struct bz_history *history = history_of(model, parameter);
    const struct bz_history_finding *finding = bz_history_finding(history);
    enum bz_history_result got = play(history, story);
    cr_assert_eq(got, result, "%s: %s: %s", name, story, finding->message);
    cr_assert_str_eq((char *)finding->message, (char *)message, "%s: %s", name, story);
    bz_history_destroy(history);
    cr_assert_eq(bz_mem_live_blocks(mem), 0);
}

/* --- stories ---------------------------------------------------------------------------------- */

#define UNEXPLAINED BZ_HISTORY_UNEXPLAINED
#define OUT_OF_LINE BZ_HISTORY_OUT_OF_LINE
#define LOST BZ_HISTORY_LOST_WAKEUP

static const struct story {
    const char *name; /* "": as in the row before */
    const struct bz_model *model;
    int64_t parameter;
    const char *words;
    enum bz_history_result result; /* left out: it is explained */
    const char *what;              /* happened, or who waits */
    const char *otherwise;         /* what the model would do; NULL: `what` is the whole message */
} stories[] = {
    {"an_operation_takes_effect_at_a_time", &meter_model, 0, "0+0 0=0 1+0 ~4 1=0"},
    {"", &meter_model, 0, "0+0 0=0 1+0 ~3 1=0", UNEXPLAINED,
     "meter: client 1, event 5: pour() returned 0", "only let it wait"},
    /* It may have taken effect at any time in between: 4 to 9 ns after the first one. */
    {"", &meter_model, 0, "0+0 0=0 1+0 ~9 1=0 2+1 2=4"},
    {"", &meter_model, 0, "0+0 0=0 1+0 ~9 1=0 2+1 2=1"},
    {"", &meter_model, 0, "0+0 0=0 1+0 ~6 2+1 2=2 1=0"},
    {"", &meter_model, 0, "0+0 0=0 1+0 ~6 1=0 2+1 2=1", UNEXPLAINED,
     "meter: client 2, event 7: peek() returned 1", "let it return 2 or 3 or 4"},
    {"nothing_changes_in_a_state_that_has_settled", &meter_model, 0,
     "~1000000000000 0+0 0=0 1+0 ~1000000000000 1=0 2+1 2=0"},
    {"", &meter_model, 0, "0+0 0=0 1+0 ~1000000000000 .", LOST,
     "meter: client 1 waits in pour(), called at event 3"},
    /* At rest no timer is set, so however long it takes, nobody will wake it. */
    {"", &meter_model, 0, "0+0 0=0 1+0 ~3 .", LOST,
     "meter: client 1 waits in pour(), called at event 3"},
    {"an_operation_begins_before_it_takes_effect", &barrier_model, 0, "1+0 2+0 1=0 2=0 ."},
    {"", &barrier_model, 0, "1+0 . 2+0 2=0 3+0 1=0 ."},
    /* The second of a round that is over may leave last, and the first of the next one waits. */
    {"", &barrier_model, 0, "1+0 2+0 3+0 2=0 3? 3- 1=0 ."},
    {"", &barrier_model, 0, "1+0 1=0", UNEXPLAINED, "barrier: client 1, event 2: meet() returned 0",
     "only let it wait"},
    {"", &barrier_model, 0, "1+0 2+0 3+0 2=0 1=0 3=0", UNEXPLAINED,
     "barrier: client 3, event 6: meet() returned 0", "only let it wait"},
    {"who_has_begun_must_not_wait_at_rest", &barrier_model, 0, "1+0 ."},
    {"", &barrier_model, 0, "1+0 2+0 .", LOST,
     "barrier: client 1 waits in meet(), called at event 1"},
    {"", &barrier_model, 0, "1+0 2+0 2=0 .", LOST,
     "barrier: client 1 waits in meet(), called at event 1"},
    {"a_cancel_between_the_moments_undoes_the_first", &barrier_model, 0,
     "1+0 1? 1- 2+0 . 3+0 3=0 2=0 ."},
    /* too late for the other one */
    {"", &barrier_model, 0, "1+0 1? 2+0 2=0 1- ."},
    {"", &barrier_model, 0, "1+0 1? 1- 2+0 2=0", UNEXPLAINED,
     "barrier: client 2, event 5: meet() returned 0", "only let it wait"},
    {"what_may_take_its_place_need_not", &shy_model, 0, "1+0 1=0 ."},
    {"", &shy_model, 0, "1+0 ."},
    {"", &shy_model, 0, "1+0 2+0 .", LOST, "barrier: client 1 waits in meet(), called at event 1"},
    {"what_ends_by_itself_does_not_wait_for_ever", &mailbox_model, 0, "1+2 ."},
    {"", &mailbox_model, 0, "1+2 . 1=-1 .."},
    {"", &mailbox_model, 0, "1+2 1? .."},
    {"", &mailbox_model, 0, "2+0 1+2 ..", LOST,
     "mailbox: client 1 waits in look(), called at event 2"},
    {"", &shy_model, 0, "1+0 .."},
    {"an_operation_begins_at_its_call", &mailbox_model, 0, "1+0 2+0 3+1 3=0 1=0 3+1 3=0 2=0 ."},
    {"", &mailbox_model, 0, "1+0 2+0 2? 2- 3+1 3=0 1=0 ."},
    {"", &mailbox_model, 0, "1+0 2+0 3+1 3=0 2=0", UNEXPLAINED,
     "mailbox: client 2, event 5: fetch() returned 0", "only let it wait"},
    {"", &mailbox_model, 0, "1+0 2+0 3+1 3=0 .", LOST,
     "mailbox: client 1 waits in fetch(), called at event 1"},
    /* A cancelled waiter has left before the next one comes, or has not. */
    {"", &mailbox_model, 0, "1+0 1? 2+0 3+1 3=0 2=0 1- ."},
    {"an_implementation_chooses", &workers_model, 2, "1+0 1=1 2+0 2=0 1+1(1) 1=0 1+0 1=1 ."},
    {"", &workers_model, 1, "1+0 1=0 2+0 3+0 1+1(0) 1=0 2? 2- 3=0 ."},
    {"", &workers_model, 2, "1+0 1=1 2+0 2=1", UNEXPLAINED,
     "workers: client 2, event 4: hire() returned 1", "let it return 0"},
    {"", &workers_model, 2, "1+0 1=2", UNEXPLAINED, "workers: client 1, event 2: hire() returned 2",
     "let it return 0 or 1"},
    {"", &workers_model, 1, "1+0 1=0 2+0 1+1(0) 1=0 .", LOST,
     "workers: client 2 waits in hire(), called at event 3"},
    {"what_takes_its_place_may_do_so_in_company", &mailbox_model, 0, "1+2 1=-1 2+1 2=0 1+2 1=0 ."},
    {"", &mailbox_model, 0, "2+1 2=0 1+2 3+2 3=-1 1=0 ."},
    {"", &mailbox_model, 0, "2+1 2=0 1+2 1=-1", UNEXPLAINED,
     "mailbox: client 1, event 4: look() returned -1", "let it return 0"},
    {"semaphore_explains_handoffs_and_cancels", &semaphore_model, 1,
     "1+0(1) 1=0 2+0(1) 1+1(1) 1=0 2=0 ."},
    /* The permit is handed over at the release, so nobody can take it at the next try. */
    {"", &semaphore_model, 1, "1+0(1) 1=0 2+0(1) 1+1(1) 1=0 3+2(1) 3=0 2=0 ."},
    /* The one it was handed to is cancelled, and passes it on. */
    {"", &semaphore_model, 1, "1+0(1) 1=0 2+0(1) 3+0(1) 1+1(1) 1=0 4+2(1) 4=0 2? 2- 3=0 ."},
    /* It is passed on at the request already. */
    {"", &semaphore_model, 1, "1+0(1) 1=0 2+0(1) 3+0(1) 1+1(1) 1=0 4+2(1) 4=0 2? 3=0 2- ."},
    /* Both have a permit; the first to return need not be the first in line. */
    {"", &semaphore_model, 2, "1+0(2) 1=0 2+0(1) 3+0(1) 1+1(2) 1=0 3=0 2=0 ."},
    {"", &strict_semaphore_model, 2, "1+0(2) 1=0 2+0(1) 3+0(1) 1+1(2) 1=0 3=0 2? 2- ."},
    /* One whose cancel was requested may be passed. */
    {"", &semaphore_model, 1, "1+0(1) 1=0 2+0(1) 3+0(1) 2? 1+1(1) 1=0 3=0 2- ."},
    {"", &strict_semaphore_model, 1, "1+0(1) 1=0 2+0(1) 3+0(1) 2? 1+1(1) 1=0 3=0 2- ."},
    {"semaphore_with_too_many_holders", &semaphore_model, 1, "1+0(1) 1=0 2+0(1) 2=0", UNEXPLAINED,
     "semaphore: client 2, event 4: acquire(1) returned 0", "only let it wait"},
    {"", &semaphore_model, 1, "1+2(1) 1=0", UNEXPLAINED,
     "semaphore: client 1, event 2: try_acquire(1) returned 0", "let it return 1"},
    /* A cancelled acquire gives back what it never had. */
    {"", &semaphore_model, 1, "1+0(1) 1=0 2+0(1) 2? 2- 3+2(1) 3=1", UNEXPLAINED,
     "semaphore: client 3, event 7: try_acquire(1) returned 1", "let it return 0"},
    {"strict_semaphore_had_an_effect_and_was_cancelled", &strict_semaphore_model, 1,
     "1+0(1) 1=0 2+0(1) 1+1(1) 1=0 3+2(1) 3=0 2? 2-", UNEXPLAINED,
     "strict semaphore: client 2, event 9: acquire(1) was cancelled, but it has taken effect in "
     "every order of the model that explains the events before; the model would let it return 0"},
    {"semaphore_serves_out_of_line", &semaphore_model, 1, "1+0(1) 1=0 2+0(1) 3+0(1) 1+1(1) 1=0 3=0",
     OUT_OF_LINE, "semaphore: client 3, event 7: acquire(1) returned 0", "only let it wait"},
    /* A small one behind a large one waits, too. */
    {"", &semaphore_model, 2, "1+0(1) 1=0 3+0(1) 2+0(2) 3=0 ."},
    {"", &semaphore_model, 1, "1+0(1) 1=0 2+0(2) 3+0(1) 1+1(1) 1=0 3=0", OUT_OF_LINE,
     "semaphore: client 3, event 7: acquire(1) returned 0", "only let it wait"},
    /* 1 waits for two permits, and 2 passes it. */
    {"semaphore_serves_out_of_line_as_often_as_the_model_lets_it", &barging_semaphore_model, 2,
     "0+0(1) 0=0 1+0(2) 2+0(1) 2=0 0+1(1) 0=0 2+1(1) 2=0 1=0"},
    {"", &barging_semaphore_model, 2, "0+0(1) 0=0 1+0(2) 2+0(1) 2=0 2+1(1) 2=0 3+0(1) 3=0",
     OUT_OF_LINE, "barging semaphore: client 3, event 9: acquire(1) returned 0",
     "only let it wait"},
    /* A waiter that lets nobody pass any more holds the line at rest. */
    {"", &barging_semaphore_model, 2, "0+0(1) 0=0 1+0(2) 2+0(1) 2=0 2+1(1) 2=0 3+0(1) ."},
    {"", &barging_semaphore_model, 2, "0+0(1) 0=0 1+0(2) 3+0(1) .", LOST,
     "barging semaphore: client 3 waits in acquire(1), called at event 4"},
    {"semaphore_loses_a_wakeup", &semaphore_model, 1, "1+0(1) 1=0 2+0(1) 1+1(1) 1=0 .", LOST,
     "semaphore: client 2 waits in acquire(1), called at event 3"},
    /* The second in line could complete, after the first. */
    {"", &semaphore_model, 2, "1+0(2) 1=0 2+0(1) 3+0(1) 1+1(2) 1=0 2=0 .", LOST,
     "semaphore: client 3 waits in acquire(1), called at event 4"},
    /* A free permit does not suffice, or there is none. */
    {"", &semaphore_model, 2, "1+0(2) 1=0 2+0(2) 3+0(1) 1+1(1) 1=0 ."},
    {"", &semaphore_model, 1, "1+0(1) 1=0 2+0(1) ."},
    /* Its cancel was requested: that it still waits is for another oracle to judge. */
    {"", &semaphore_model, 1, "1+0(1) 1=0 2+0(1) 2? 1+1(1) 1=0 ."},
    {"lock", &lock_model, 0, "1+0(1) 1=1 2+0(2) 1+1(1) 1=1 2=1 1+1(1) 1=0 ."},
    {"", &lock_model, 0, "1+0(1) 1=1 2+1(2) 2=1", UNEXPLAINED,
     "lock: client 2, event 4: unlock(2) returned 1", "let it return 0"},
    {"", &lock_model, 0, "1+0(1) 1=1 2+0(2) 2=1", UNEXPLAINED,
     "lock: client 2, event 4: lock(2) returned 1", "only let it wait"},
    {"", &lock_model, 0, "1+0(1) 1=1 2+0(2) 1+1(1) 1=1 .", LOST,
     "lock: client 2 waits in lock(2), called at event 3"},
    /* It was set while the waiter waited. */
    {"event", &event_model, 0, "1+0 2+1 2=0 2+2 2=0 1=1 ."},
    {"", &event_model, 0, "1+0 2+1 2=0 1=1 2+2 2=0 1+0 ."},
    {"", &event_model, 0, "2+1 2=0 2+2 2=0 1+0 1=1", UNEXPLAINED,
     "event: client 1, event 6: wait() returned 1", "only let it wait"},
    {"", &event_model, 0, "1+0 3+0 2+1 2=0 3=1 .", LOST,
     "event: client 1 waits in wait(), called at event 1"},
    /* Left behind, but nothing shows it at rest: see history.h. */
    {"", &event_model, 0, "1+0 2+1 2=0 2+2 2=0 ."},
    {"queue", &queue_model, 0, "1+1(7) 1=0 1+1(8) 1=0 2+0 2=7 2+0 2=8 3+0 ."},
    {"", &queue_model, 0, "2+0 3+0 1+1(7) 1=0 1+1(8) 1=0 3=8 2=7 ."},
    /* Two puts at once have either order; a third waits for a slot. */
    {"", &queue_model, 0, "1+1(7) 2+1(8) 2=0 1=0 4+1(9) 3+0 3=7 4=0 ."},
    {"", &queue_model, 0, "1+1(7) 1=0 1+1(8) 1=0 2+0 2=8", UNEXPLAINED,
     "queue: client 2, event 6: get() returned 8", "let it return 7"},
    {"", &queue_model, 0, "1+1(7) 1=0 2+0 2=7 2+0 2=7", UNEXPLAINED,
     "queue: client 2, event 6: get() returned 7", "only let it wait"},
    {"", &queue_model, 0, "2+0 3+0 1+1(7) 1=0 3=7", OUT_OF_LINE,
     "queue: client 3, event 5: get() returned 7", "only let it wait"},
    {"", &queue_model, 0, "1+1(7) 1=0 1+1(8) 1=0 1+1(9) 2+0 2=7 .", LOST,
     "queue: client 1 waits in put(9), called at event 5"},
    /* A cancelled put has put its item, or not; a get that lost its item did so. */
    {"queue_and_cancels", &queue_model, 0, "1+1(7) 1? 1- 2+0 2=7 ."},
    {"", &queue_model, 0, "1+1(7) 1? 1- 1+1(8) 1=0 2+0 2=8 ."},
    {"", &queue_model, 0, "1+1(7) 1? 1- 2+0 ."},
    {"", &queue_model, 0, "1+1(7) 1? 1- 2+0 2=7 3+0 3=7", UNEXPLAINED,
     "queue: client 3, event 7: get() returned 7", "only let it wait"},
    /* The item of the cancelled get is gone. */
    {"", &queue_model, 0, "2+0 1+1(7) 1=0 2? 2- 3+0 .", LOST,
     "queue: client 3 waits in get(), called at event 6"},
    {"", &queue_model, 0, "2+0 1+1(7) 1=0 1+1(8) 1=0 2? 2- 3+0 3=8", UNEXPLAINED,
     "queue: client 3, event 9: get() returned 8", "let it return 7"},
};

static void message_of(const struct story *story, char *message, size_t message_bytes) {
    if (story->result == LOST) {
        snprintf(message, message_bytes,
                 "%s, and nothing is under way to wake it; the model would let it complete",
                 story->what);
    } else if (story->otherwise != NULL) {
        snprintf(message, message_bytes,
                 "%s, which no order of the model explains; the model would %s%s", story->what,
                 story->otherwise,
                 story->result == OUT_OF_LINE ? "; only its place in the line forbids it" : "");
    } else {
        snprintf(message, message_bytes, "%s", story->what == NULL ? "" : story->what);
    }
}

Test(model_history, stories) {
    const char *name = "";
    for (size_t index = 0; index < sizeof stories / sizeof stories[0]; index++) {
        const struct story *story = &stories[index];
        char message[256];
        name = story->name[0] == '\0' ? name : story->name;
        message_of(story, message, sizeof message);
        expect(name, story->model, story->parameter, story->words, story->result, message);
    }
}

/* --- time ------------------------------------------------------------------------------------- */

Test(model_history, a_waiter_is_woken_as_soon_as_it_may_complete) {
    /* The second one fits 4 ns after the first one. */
    expect("", &meter_model, 0, "0+0 0=0 1+0 .4 ~4 1=0", BZ_HISTORY_EXPLAINED, "");
    expect("", &meter_model, 0, "0+0 0=0 1+0 .3 ~3 .1 ~1 1=0", BZ_HISTORY_EXPLAINED, "");
    expect("", &meter_model, 0, "0+0 0=0 1+0 .5", BZ_HISTORY_LOST_WAKEUP,
           "meter: client 1 waits in pour(), called at event 3, and nothing happens for the next 5 "
           "ns; the model would let it complete");
    expect("", &meter_model, 0, "0+0 0=0 1+0 .3 ~3 .2", BZ_HISTORY_LOST_WAKEUP,
           "meter: client 1 waits in pour(), called at event 3, and nothing happens for the next 2 "
           "ns; the model would let it complete");
    expect("", &meter_model, 0, "0+0 0=0 1+0 .1000000000000", BZ_HISTORY_LOST_WAKEUP,
           "meter: client 1 waits in pour(), called at event 3, and nothing happens for the next "
           "1000000000000 ns; the model would let it complete");
    /* Its line holds the third one back, and the cancel of the second one is under way. */
    expect("", &meter_model, 0, "0+0 0=0 1+0 2+0 .4", BZ_HISTORY_EXPLAINED, "");
    expect("", &meter_model, 0, "0+0 0=0 1+0 1? .9", BZ_HISTORY_EXPLAINED, "");
    struct bz_model patient = meter_model;
    patient.late_ns = 3;
    expect("", &patient, 0, "0+0 0=0 1+0 .7", BZ_HISTORY_EXPLAINED, "");
    expect("", &patient, 0, "0+0 0=0 1+0 .8", BZ_HISTORY_LOST_WAKEUP,
           "meter: client 1 waits in pour(), called at event 3, and nothing happens for the next 8 "
           "ns; the model would let it complete");
}

/* The permit went to one of two, and neither line nor answer tells to whom. */
Test(model_history, any_of_two_may_have_lost_its_wakeup) {
    struct bz_model_op ops[3];
    struct bz_model model = semaphore_model;
    memcpy(ops, semaphore_ops, sizeof ops);
    ops[ACQUIRE].line = 0;
    model.ops = ops;
    expect("", &model, 1, "1+0(1) 2+0(1) 3+2(1) 3=0 .", BZ_HISTORY_LOST_WAKEUP,
           "semaphore: client 1 waits in acquire(1), called at event 1, and nothing is under way "
           "to wake it; the "
           "model would let it complete in one order that explains the events, and another waiting "
           "operation in each other order");
    expect("", &model, 1, "1+0(1) 1=0 2+0(1) 3+0(1) 1+1(1) 1=0 3=0 .", BZ_HISTORY_EXPLAINED, "");
}

/* A cancelled acquire leaves the same state, whether it had taken effect or not. */
Test(model_history, equal_configurations_are_kept_once) {
    int64_t permits = 1;
    struct bz_history *history = bz_history_new(
        mem, &(struct bz_history_config){
                 .model = &semaphore_model, .parameters = &permits, .configurations_max = 2});
    for (uint32_t round = 0; round < 8; round++) {
        cr_assert_eq(play(history, "1+0(1) 1? 1-"), BZ_HISTORY_EXPLAINED);
    }
    bz_history_destroy(history);
}

/* --- limits, misuse --------------------------------------------------------------------------- */

Test(model_history, limits_are_named_and_are_no_finding) {
    int64_t permits = 3;
    struct bz_history_config config = {.model = &semaphore_model,
                                       .parameters = &permits,
                                       .clients_max = 4,
                                       .configurations_max = 2,
                                       .events_max = 6};
    struct bz_history *history = bz_history_new(mem, &config);
    const struct bz_history_finding *finding = bz_history_finding(history);
    cr_assert_eq(play(history, "4+0(1)"), BZ_HISTORY_LIMIT);
    cr_assert_str_eq((char *)finding->message,
                     (char *)"semaphore: more than 4 clients (clients_max)");
    cr_assert_eq(bz_history_call(history, 1, ACQUIRE, &permits), BZ_HISTORY_LIMIT);
    bz_history_restart(history);
    cr_assert_eq(play(history, "0+0(1) 1+0(1) 2+0(1) 3+2(1) 3=0"), BZ_HISTORY_LIMIT);
    cr_assert_str_eq(
        (char *)finding->message,
        (char *)"semaphore: more than 2 configurations explain the history (configurations_max)");
    bz_history_restart(history);
    cr_assert_eq(play(history, "1+0(1) 1=0 1+1(1) 1=0 1+0(1) 1=0 1+1(1)"), BZ_HISTORY_LIMIT);
    cr_assert_str_eq((char *)finding->message,
                     (char *)"semaphore: more than 6 events (events_max)");
    bz_history_restart(history);
    cr_assert_eq(play(history, "1+0(1) 1=0 1+1(1) 1=0 1+0(1) 1=0"), BZ_HISTORY_EXPLAINED);
    bz_history_destroy(history);
}

Test(model_history, misuse_is_named_and_is_no_finding) {
    expect("", &semaphore_model, 1, "1+0(4)", BZ_HISTORY_MISUSE,
           "semaphore: client 1: an argument out of its range");
    expect("", &semaphore_model, 1, "1+9(1)", BZ_HISTORY_MISUSE,
           "semaphore: client 1: a call of no operation of the model");
    expect("", &semaphore_model, 1, "1+0(1) 1+0(1)", BZ_HISTORY_MISUSE,
           "semaphore: client 1: a call inside of another one");
    expect("", &semaphore_model, 1, "1=0", BZ_HISTORY_MISUSE,
           "semaphore: client 1: the end or the cancel of an operation that was not called");
    /* An undo that may have to wait undoes nothing. */
    struct bz_model_op ops[3];
    struct bz_model model = semaphore_model;
    memcpy(ops, semaphore_ops, sizeof ops);
    ops[RELEASE].cancel = BZ_MODEL_CANCEL_UNDOES;
    ops[RELEASE].undo = ACQUIRE;
    model.ops = ops;
    expect("", &model, 1, "1+0(1) 1=0 2+1(1) 2? 3+0(1) 3=0 2-", BZ_HISTORY_MISUSE,
           "the model 'semaphore' refuses to undo release by acquire");
}

Test(model_history, a_faulty_model_is_refused) {
    struct bz_model model = event_model;
    cr_assert_null((void *)bz_model_fault(&model));
    model.state_bytes = 0;
    cr_assert_str_eq((char *)bz_model_fault(&model), (char *)"its state is empty or too large");
    cr_assert_null(bz_history_new(mem, &(struct bz_history_config){.model = &model}));
    model = semaphore_model;
    cr_assert_null(bz_history_new(mem, &(struct bz_history_config){.model = &model}),
                   "without its parameter");
    model = rwlock_model;
    cr_assert_null((void *)bz_model_fault(&model));
    model.op_count = WRITE;
    cr_assert_str_eq((char *)bz_model_fault(&model),
                     (char *)"an operation yields to one that does not exist");
}
