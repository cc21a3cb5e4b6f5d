/* The demands of oracles on the loop: a guest spoils the loop's own state, as a fault of the
 * runtime would. Words: nap-K sleeps K * 10 ns; swap exchanges the first two timers of the heap;
 * time-NK changes the time of the Nth one to K * 10 ns, fake-NK only in the heap; mark marks the
 * task for a cancel without a request, mark-b task b, forget drops the mark; uncancel-b is
 * bz_task_uncancel(); keep-X spoils a count: a stack (s), a slot of the ready queue (q), many (m),
 * a disarmed timer (d). */
#include "primitives/runtime/coro/stack.h"
#include "sim/tests/toys.h"

static void swap(struct bz_heap_entry *heap) {
    struct bz_heap_entry first = heap[0];
    heap[0] = heap[1];
    heap[1] = first;
    heap[0].timer->heap_index = 0;
    heap[1].timer->heap_index = 1;
}

static void keep(struct bz_loop *loop, char what) {
    if (what == 's') {
        cr_assert_not_null(bz_stack_take(loop->stacks));
    } else if (what == 'q') {
        loop->ready_promised++;
    } else if (what == 'm') {
        loop->ready_promised += 2 * loop->ready_capacity;
    } else {
        loop->heap_disarmed++;
    }
}

static enum bz_status word(struct tst_actor *actor, const char *text, bool *is_quiet) {
    struct stage *stage = actor->object;
    struct bz_heap_entry *heap = actor->loop->heap;
    if (strncmp(text, "nap-", 4) == 0) {
        return bz_world_sleep(stage->world, (uint64_t)(text[4] - '0') * 10);
    }
    *is_quiet = true;
    if (strcmp(text, "swap") == 0) {
        cr_assert_geq(actor->loop->heap_count, 2);
        swap(heap);
    } else if (strncmp(text, "time-", 5) == 0 || strncmp(text, "fake-", 5) == 0) {
        struct bz_heap_entry *entry = &heap[text[5] - '0'];
        entry->when_ns = (uint64_t)(text[6] - '0') * 10;
        entry->timer->when_ns = text[0] == 't' ? entry->when_ns : entry->timer->when_ns;
    } else if (strncmp(text, "keep-", 5) == 0) {
        keep(actor->loop, text[5]);
    } else if (strncmp(text, "mark-", 5) == 0) {
        stage->tasks[text[5] - 'a']->must_cancel = true;
    } else if (strncmp(text, "uncancel-", 9) == 0) {
        bz_task_uncancel(stage->tasks[text[9] - 'a']);
    } else if (strcmp(text, "forget") == 0 || strcmp(text, "mark") == 0) {
        actor->loop->current->must_cancel = text[0] == 'm';
    } else {
        return stage_word(actor, text, is_quiet);
    }
    return BZ_OK;
}

/* Played in both orders of the loop. */
static const struct stage_row rows_of_both_orders[] = {
    {"timer/fires_when_the_clock_passes_one", &bz_variant_buzzer,
     "nothing; a: sleep; b: doze; c: swap",
     "timer: a timer that a armed for 10 ns fires late; the clock shows 30 ns"},
    {"", &bz_variant_buzzer,
     "nothing; a: nap-2; b: nap-4; c: nap-3; d: nap-5; e: nap-6; f: time-31",
     "timer: a timer that d armed for 10 ns does not fire; the clock shows 20 ns"},
    {"timer/fires_when_one_fires_early", &bz_variant_buzzer, "nothing; a: doze; b: fake-01",
     "timer: a timer that a armed for 30 ns fires early; the clock shows 10 ns"},
    {"timer/fires_when_two_of_one_time_change_places", &bz_variant_buzzer,
     "nothing; a-b: sleep; c: swap",
     "timer: fires after one of the same time that was armed later"},
    {"timer/fires_when_a_sleep_has_another_length", &bz_variant_buzzer,
     "nothing; a: nap-2; b: time-01", "timer: a sleep until 20 ns ended at 10 ns"},
    {"", &bz_variant_buzzer, "nothing; a: nap-1; b: time-02",
     "timer: a sleep until 10 ns ended at 20 ns"},
    {"timer/is_silent_about_timers_that_fire_in_order", &bz_variant_buzzer,
     "nothing; a: doze nap-1; b: nap-1 nap-2 nap-1; c: sleep doze; d: nap-0 yield nap-9"},
    {"timer/fires_when_more_slots_are_reserved_than_there_are", &bz_variant_buzzer,
     "nothing; a: keep-m; b: sleep",
     "timer: the loop has reserved 34 slots of a ready queue that has 16"},

    /* --- cancel-delivered --- */
    {"cancel-delivered/fires_when_a_request_is_lost_at_the_end_of_a_task", &bz_variant_buzzer,
     "nothing; a: cancel-self forget",
     "cancel-delivered: a ended with 'ok', although a cancel request was pending"},
    {"", &bz_variant_buzzer, "nothing; a: cancel-self; b: cancel-self uncancel"},
    {"cancel-delivered/fires_when_a_pause_is_cancelled_without_a_request", &bz_variant_buzzer,
     "nothing; a: mark yield",
     "cancel-delivered: a resumed with 'cancelled', although no cancel request was pending"},
    {"", &bz_variant_buzzer, "nothing; a: mark sleep",
     "cancel-delivered: no cancel request was pending"},
    {"", &bz_variant_buzzer, "nothing; a: cancel-self sleep"},
    {"cancel-delivered/fires_when_a_woken_task_is_cancelled_without_a_request", &bz_variant_buzzer,
     "nothing; a: join-b; b: yield; c: yield mark-a",
     "cancel-delivered: a resumed with 'cancelled', although no cancel request was pending"},
    {"", &bz_variant_buzzer, "nothing; a: ~join-b; b: yield; c: yield cancel-a"},

    /* --- leak --- */
    {"leak/fires_when_the_loop_keeps_what_nobody_needs", &bz_variant_buzzer,
     "nothing; a: keep-s; b: sleep",
     "leak: the loop keeps 1 stacks and counts 0 live tasks; it has 0"},
    {"", &bz_variant_buzzer, "nothing; a: keep-q; b: sleep",
     "leak: the loop reserves 1 slots of the ready queue; it needs 0"},
    {"", &bz_variant_buzzer, "nothing; a: keep-d; b: sleep",
     "leak: the loop counts 1 disarmed timers; it has 0"},
    {"leak/is_silent_about_what_is_needed", &bz_variant_buzzer,
     "nothing; a: sleep yield; b: cancel-self sleep; c: doze"},
    {NULL},
};

Test(loop_oracles, in_order_any) {
    stage_rows_with(rows_of_both_orders, word);
}

Test(loop_oracles, in_order_fifo) {
    for (const struct stage_row *row = rows_of_both_orders; row->name != NULL; row++) {
        struct stage_row fifo = *row;
        char timeline[200];
        snprintf(timeline, sizeof timeline, "nothing order=fifo%s", strchr(row->timeline, ';'));
        fifo.timeline = timeline;
        stage_row_with(&fifo, word);
    }
}

Test(loop_oracles, of_other_runtimes) {
    static const struct stage_row rows[] = {
        /* By the heap alone. */
        {"timer/is_silent_about_a_heap_without_a_tie_break", &bz_variant_asyncio_311,
         "nothing; a-b: sleep; c: swap"},
        {"cancel-delivered/fires_when_an_uncancel_breaks_the_rules_of_the_runtime",
         &bz_variant_asyncio_311, "nothing; a: cancel-self forget uncancel",
         "cancel-delivered: which should have stayed undelivered"},
        {"", &bz_variant_asyncio_311, "nothing; a: cancel-self uncancel ~yield"},
        {"", &bz_variant_asyncio_313, "nothing; a: cancel-self uncancel yield"},
        {"", &bz_variant_asyncio_311, "nothing; a: yield mark-b uncancel-b; b: draw",
         "cancel-delivered: b took back a cancel request, and it stayed to be delivered"},
        {"", &bz_variant_asyncio_311, "nothing; a: yield uncancel-b; b: cancel-self"},
        {NULL},
    };
    stage_rows_with(rows, word);
}

/* A step that takes long: the sleep ends late, but by no more than the lag. */
Test(loop_oracles, are_silent_about_lag) {
    static const struct stage_row row = {
        "timer/is_silent_about_lag", &bz_variant_buzzer,
        "nothing; a: nap-1; b: doze; c: yield yield yield yield; a b c +c +c A a"};
    struct stage stage;
    stage_row_begin(&stage, &row, word);
    cr_assert_eq(stage.world->judge->lag_ns, 30);
    stage_end(&stage);
}
