/* What oracles demand of the loop: a guest spoils the loop's own state, as a fault of the runtime
 * would. Words: nap-K sleeps K * 10 ns; swap exchanges the first two timers of the heap; time-NK
 * changes the time of the Nth one to K * 10 ns, fake-NK only in the heap; mark marks the task for a
 * cancel without a request, mark-b task b, forget drops the mark; uncancel-b is bz_task_uncancel();
 * keep-X spoils a count: a stack (s), a slot of the ready queue (q), many (m), a disarmed timer
 * (d). */
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

/* `fragment` NULL: no oracle objects. */
static void play(const struct bz_variant *variant, enum bz_order order, const char *const *scripts,
                 const char *oracle, const char *fragment) {
    struct bz_judge_config config = stage_config(order);
    struct stage stage;
    stage_open(&stage, variant, &config);
    stage_guests(&stage, scripts);
    for (uint32_t index = 0; index < stage.count; index++) {
        stage.actors[index].extra = word;
        stage.actors[index].other = stage.tasks[1];
    }
    stage_play(&stage, "");
    if (fragment == NULL) {
        stage_expect_pass(&stage);
    } else {
        stage_expect_violation(&stage, oracle, stage.world->judge->step, fragment);
    }
    stage_end(&stage);
}

static void both_orders(const char *const *scripts, const char *oracle, const char *fragment) {
    play(&bz_variant_buzzer, BZ_ORDER_ANY, scripts, oracle, fragment);
    play(&bz_variant_buzzer, BZ_ORDER_FIFO, scripts, oracle, fragment);
}

Test(timer, fires_when_the_clock_passes_one) {
    both_orders(STAGE_SCRIPTS("sleep", "doze", "swap"), "timer",
                "a timer that a armed for 10 ns fires late; the clock shows 30 ns");
    both_orders(STAGE_SCRIPTS("nap-2", "nap-4", "nap-3", "nap-5", "nap-6", "time-31"), "timer",
                "a timer that d armed for 10 ns does not fire; the clock shows 20 ns");
}

Test(timer, fires_when_one_fires_early) {
    both_orders(STAGE_SCRIPTS("doze", "fake-01"), "timer",
                "a timer that a armed for 30 ns fires early; the clock shows 10 ns");
}

Test(timer, fires_when_two_of_one_time_change_places) {
    static const char *const scripts[] = {"sleep", "sleep", "swap", NULL};
    both_orders(scripts, "timer", "fires after one of the same time that was armed later");
    play(&bz_variant_asyncio_311, BZ_ORDER_ANY, scripts, "timer", NULL); /* by the heap alone */
}

Test(timer, fires_when_a_sleep_has_another_length) {
    both_orders(STAGE_SCRIPTS("nap-2", "time-01"), "timer", "a sleep until 20 ns ended at 10 ns");
    both_orders(STAGE_SCRIPTS("nap-1", "time-02"), "timer", "a sleep until 10 ns ended at 20 ns");
}

Test(timer, is_silent_about_timers_that_fire_in_order) {
    both_orders(STAGE_SCRIPTS("doze nap-1", "nap-1 nap-2 nap-1", "sleep doze", "nap-0 yield nap-9"),
                "timer", NULL);
}

Test(timer, fires_when_more_slots_are_reserved_than_there_are) {
    both_orders(STAGE_SCRIPTS("keep-m", "sleep"), "timer",
                "the loop has reserved 34 slots of a ready queue that has 16");
}

/* A step that takes long: the sleep ends late, but by no more than the lag. */
Test(timer, is_silent_about_lag) {
    struct bz_judge_config config = stage_config(BZ_ORDER_ANY);
    struct stage stage;
    stage_open(&stage, &bz_variant_buzzer, &config);
    stage_guests(&stage, STAGE_SCRIPTS("nap-1", "doze", "yield yield yield yield"));
    stage.actors[0].extra = word;
    stage_play(&stage, "a b c +c +c A a");
    stage_expect_pass(&stage);
    cr_assert_eq(stage.world->judge->lag_ns, 30);
    stage_end(&stage);
}

/* --- cancel-delivered ------------------------------------------------------------------------- */

Test(cancel_delivered, fires_when_a_request_is_lost_at_the_end_of_a_task) {
    both_orders(STAGE_SCRIPTS("cancel-self forget"), "cancel-delivered",
                "a ended with 'ok', although a cancel request was pending");
    both_orders(STAGE_SCRIPTS("cancel-self", "cancel-self uncancel"), "cancel-delivered", NULL);
}

Test(cancel_delivered, fires_when_a_pause_is_cancelled_without_a_request) {
    both_orders(STAGE_SCRIPTS("mark yield"), "cancel-delivered",
                "a resumed with 'cancelled', although no cancel request was pending");
    both_orders(STAGE_SCRIPTS("mark sleep"), "cancel-delivered", "no cancel request was pending");
    both_orders(STAGE_SCRIPTS("cancel-self sleep"), "cancel-delivered", NULL);
}

Test(cancel_delivered, fires_when_a_woken_task_is_cancelled_without_a_request) {
    both_orders(STAGE_SCRIPTS("join", "yield", "yield mark-a"), "cancel-delivered",
                "a resumed with 'cancelled', although no cancel request was pending");
    both_orders(STAGE_SCRIPTS("~join", "yield", "yield cancel-a"), "cancel-delivered", NULL);
}

Test(cancel_delivered, fires_when_an_uncancel_breaks_the_rules_of_the_runtime) {
    play(&bz_variant_asyncio_311, BZ_ORDER_ANY, STAGE_SCRIPTS("cancel-self forget uncancel"),
         "cancel-delivered", "which should have stayed undelivered");
    play(&bz_variant_asyncio_311, BZ_ORDER_ANY, STAGE_SCRIPTS("cancel-self uncancel ~yield"),
         "cancel-delivered", NULL);
    play(&bz_variant_asyncio_313, BZ_ORDER_ANY, STAGE_SCRIPTS("cancel-self uncancel yield"),
         "cancel-delivered", NULL);
    play(&bz_variant_asyncio_311, BZ_ORDER_ANY, STAGE_SCRIPTS("yield mark-b uncancel-b", "draw"),
         "cancel-delivered", "b took back a cancel request, and it stayed to be delivered");
    play(&bz_variant_asyncio_311, BZ_ORDER_ANY, STAGE_SCRIPTS("yield uncancel-b", "cancel-self"),
         "cancel-delivered", NULL);
}

/* --- leak ------------------------------------------------------------------------------------- */

Test(leak, fires_when_the_loop_keeps_what_nobody_needs) {
    both_orders(STAGE_SCRIPTS("keep-s", "sleep"), "leak",
                "the loop keeps 1 stacks and counts 0 live tasks; it has 0");
    both_orders(STAGE_SCRIPTS("keep-q", "sleep"), "leak",
                "the loop reserves 1 slots of the ready queue; it needs 0");
    both_orders(STAGE_SCRIPTS("keep-d", "sleep"), "leak",
                "the loop counts 1 disarmed timers; it has 0");
}

Test(leak, is_silent_about_what_is_needed) {
    both_orders(STAGE_SCRIPTS("sleep yield", "cancel-self sleep", "doze"), "leak", NULL);
}
