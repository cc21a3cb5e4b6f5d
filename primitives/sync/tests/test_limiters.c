/* The capacity limiter and the rate limiter. */
#include "primitives/sync/capacity_limiter.h"
#include "primitives/sync/rate_limiter.h"
#include "primitives/sync/tests/stage_waiters.h"

/* Words of the capacity limiter: "borrow-x" "try-x" "return-x", of borrower x, and "total-3"; of
 * the rate limiter: "acquire-2" "rate-2", which does not wait. "available" "queue" report. */
struct desk {
    struct tst_stage stage;
    struct bz_capacity_limiter capacity;
    struct bz_borrower borrowers[TST_GUESTS];
    struct bz_rate_limiter rate;
    bool is_rate;
};

static struct desk *desk_of(struct tst_call *call) {
    return bz_container_of(call->stage, struct desk, stage);
}

static struct bz_borrower *borrower_named(struct tst_call *call) {
    return &desk_of(call)->borrowers[tst_named(call)];
}

TST_WORD(word_borrow, bz_capacity_limiter_acquire(&desk_of(call)->capacity, borrower_named(call)))
TST_WORD(word_try, bz_capacity_limiter_try_acquire(&desk_of(call)->capacity, borrower_named(call)))
TST_WORD(word_return, bz_capacity_limiter_release(&desk_of(call)->capacity, borrower_named(call)))
TST_DEED(word_total,
         bz_capacity_limiter_set_total(&desk_of(call)->capacity, (uint32_t)tst_number(call->rest)))
TST_WORD(word_acquire,
         bz_rate_limiter_acquire(&desk_of(call)->rate, (uint32_t)tst_number(call->rest)))
TST_WORD(word_rate,
         bz_rate_limiter_try_acquire(&desk_of(call)->rate, (uint32_t)tst_number(call->rest)))

static void desk_report(struct tst_call *call) {
    struct desk *desk = desk_of(call);
    tst_count(call, "available", bz_capacity_limiter_available(&desk->capacity));
    report_waiters(call, "queue", desk->is_rate ? &desk->rate.queue : &desk->capacity.queue);
}

static void desk_check(struct tst_stage *stage) {
    struct desk *desk = bz_container_of(stage, struct desk, stage);
    const struct bz_capacity_limiter *capacity = &desk->capacity;
    uint32_t tokens = capacity->queue.woken_count;
    for (uint32_t index = 0; index < TST_GUESTS; index++) {
        tokens += desk->borrowers[index].has_token;
    }
    check_waiters(&capacity->queue);
    cr_assert_eq(capacity->borrowed, tokens);
    if (capacity->queue.waiting_count > 0) {
        cr_assert_leq(capacity->total, capacity->borrowed);
    }
    check_waiters(&desk->rate.queue);
    cr_assert_leq(desk->rate.level, desk->rate.tokens * desk->rate.period_ns);
}

static void play(bool is_rate, uint32_t tokens, uint64_t period_ns, const char *timeline) {
    static const struct tst_word words[] = {{"borrow-", word_borrow},
                                            {"try-", word_try},
                                            {"return-", word_return, .is_quiet = true},
                                            {"total-", word_total, .is_quiet = true},
                                            {"acquire-", word_acquire},
                                            {"rate-", word_rate},
                                            {NULL, NULL}};
    struct desk desk = {.is_rate = is_rate};
    tst_stage_begin(&desk.stage, (struct tst_cast){words, desk_report, desk_check});
    bz_capacity_limiter_init(&desk.capacity, desk.stage.loop, tokens);
    tst_status(
        bz_rate_limiter_init(&desk.rate, desk.stage.loop, tokens > 0 ? tokens : 1, period_ns),
        BZ_OK);
    tst_play(&desk.stage, timeline);
    tst_play(&desk.stage, "run queue=0/0/0");
    tst_stage_end(&desk.stage);
}

static void lend(uint32_t total, const char *timeline) {
    play(false, total, 1, timeline);
}

/* So many tokens in 100 ns. */
static void meter(uint32_t tokens, const char *timeline) {
    play(true, tokens, 100, timeline);
}

/* --- capacity --------------------------------------------------------------------------------- */

Test(capacity, timelines) {
    static const struct tst_sized_row rows[] = {
        {"lends_a_token_to_each_borrower_once", 3,
         "borrow-x try-x:invalid-state borrow-x:invalid-state borrow-y available=1 return-x;"
         "borrow-x available=1"},
        {"only_the_borrower_gives_its_token_back", 2,
         "borrow-x return-y:not-held return-x return-x:not-held available=2"},
        /* The task of a and the one that gives back are different ones. */
        {"task_is_not_the_borrower", 1,
         "borrow-x; a: borrow-y; b: return-x => a.borrow-y:ok; return-y available=1"},
        {"borrowers_come_in_order", 1,
         "borrow-x; a: borrow-a; b: borrow-b; turn return-x try-x:empty turn -> a.borrow-a:ok;"
         "return-a => b.borrow-b:ok"},
        /* A borrower that waits cannot ask again, and has nothing to give back: in the window,
         * neither. */
        {"borrower_that_waits", 1,
         "borrow-x; a: borrow-y; turn try-y:invalid-state return-y:not-held return-x;"
         "try-y:invalid-state return-y:not-held => a.borrow-y:ok; return-y"},
        {"total_rises", 1,
         "borrow-x; a: borrow-a; b: borrow-b; c: borrow-c; turn total-3 queue=1/2/0 available=0"
         " => a.borrow-a:ok b.borrow-b:ok; return-x => c.borrow-c:ok"},
        /* anyio#646: after the total has risen, newcomers need not wait behind those that were
         * woken. */
        {"newcomer_after_the_total_rose", 1,
         "borrow-x; a: borrow-a; turn total-3 try-b try-c:empty => a.borrow-a:ok"},
        {"total_falls", 3,
         "borrow-x borrow-y borrow-z total-1 available=0; a: borrow-a; turn return-x return-y;"
         "available=0 queue=1/0/0 return-z => a.borrow-a:ok; return-a available=1"},
        {"total_of_nothing", 0,
         "try-x:empty; a: borrow-a; turn total-1 total-0 => a.borrow-a:ok; return-a try-x:empty"},
        {"cancelled_borrower_is_free_again", 1,
         "borrow-x; a: borrow-a; turn cancel-a => a.borrow-a:cancelled; return-x try-a"},
        /* anyio#947 */
        {"woken_and_cancelled_passes_its_token_on", 1,
         "borrow-x; a: borrow-a; b: borrow-b; turn return-x cancel-a"
         " => a.borrow-a:cancelled b.borrow-b:ok; return-a:not-held"},
        /* The total fell meanwhile: the token is not lent again. */
        {"woken_and_cancelled_after_the_total_fell", 2,
         "borrow-x borrow-y; a: borrow-a; b: borrow-b; turn return-x total-1 cancel-a"
         " => a.borrow-a:cancelled; queue=1/0/0 return-y => b.borrow-b:ok"},
        {NULL, 0, NULL},
    };
    tst_play_sized_rows(rows, lend);
}

/* --- rate ------------------------------------------------------------------------------------- */

Test(rate, refuses_numbers_that_make_no_sense) {
    struct bz_loop *loop = tst_begin();
    struct bz_rate_limiter limiter;
    tst_status(bz_rate_limiter_init(&limiter, loop, 0, 1), BZ_INVALID_ARGUMENT);
    tst_status(bz_rate_limiter_init(&limiter, loop, 1, 0), BZ_INVALID_ARGUMENT);
    tst_status(bz_rate_limiter_init(&limiter, loop, 2, UINT64_MAX / 2 + 1), BZ_INVALID_ARGUMENT);
    tst_status(bz_rate_limiter_init(&limiter, loop, 2, UINT64_MAX / 2), BZ_OK);
    tst_status(bz_rate_limiter_acquire(&limiter, 3), BZ_INVALID_ARGUMENT);
    tst_status(bz_rate_limiter_acquire(&limiter, 0), BZ_INVALID_ARGUMENT);
    bz_loop_destroy(loop);
}

Test(rate, timelines) {
    static const struct tst_sized_row rows[] = {
        /* 4 in 100 ns: a burst of 4, then one every 25 ns. */
        {"burst_and_then_one_by_one", 4,
         "rate-4 rate-1:empty time-24 rate-1:empty time-1 rate-1 rate-1:empty;"
         "time-50 rate-3:empty rate-2 rate-1:empty time-1000 rate-4 rate-1:empty"},
        /* 3 in 100 ns: one every 33 1/3 ns, and not one nanosecond lost in the end. */
        {"fractions_of_a_nanosecond_are_not_lost", 3,
         "rate-3 time-33 rate-1:empty time-1 rate-1 time-32 rate-1:empty time-1 rate-1;"
         "time-32 rate-1:empty time-1 rate-1"},
        {"waiter_is_woken_in_the_first_nanosecond_in_which_it_fits", 3,
         "acquire-3; a: acquire-1 now; turn deadline=34 => a.acquire-1:ok a.now=34"},
        {"waiters_come_in_order_and_a_large_one_blocks", 4,
         "acquire-4; a: acquire-3 now; b: acquire-1 now; turn time-25 rate-1:empty"
         " => a.acquire-3:ok a.now=75 b.acquire-1:ok b.now=100"},
        {"one_timer_serves_several_that_fit", 2,
         "acquire-2; a-b: acquire-1 now; turn time-200 due-1"
         " => a.acquire-1:ok a.now=200 b.acquire-1:ok b.now=200"},

        /* --- cancels of the rate limiter --- */
        /* The timer goes with the last waiter. */
        {"cancelled_waiter_leaves_nothing", 1,
         "acquire-1; a: acquire-1; turn deadline=100 cancel-a turn deadline=never"
         " -> a.acquire-1:cancelled; time-100 rate-1"},
        /* The timer was armed for a; b fits earlier. */
        {"cancelled_head_no_longer_blocks", 4,
         "acquire-4; a: acquire-3; b: acquire-1 now; turn deadline=75 cancel-a turn"
         " deadline=25 => a.acquire-3:cancelled b.acquire-1:ok b.now=25"},
        /* A newcomer comes while a, the only waiter, is cancelled and has not resumed. */
        {"newcomer_behind_a_cancelled_head", 4,
         "acquire-4; b: acquire-1 now; a: acquire-3; turn; time-25 cancel-b cancel-a;"
         "c: acquire-1 now => b.acquire-1:cancelled a.acquire-3:cancelled c.acquire-1:ok"
         " c.now=25"},
        /* The window: the tokens are there again, and go to the next. */
        {"woken_and_cancelled_takes_its_tokens_out", 2,
         "acquire-2; a-b: acquire-2 now; turn time-100 due-1 step cancel-a queue=1/1/0"
         " => a.acquire-2:cancelled b.acquire-2:ok b.now=100"},
        /* Time has passed meanwhile, and half of the tokens have drained; others have used that.
         * The other half is taken out, so the rate is kept. */
        {"woken_and_cancelled_later_takes_out_what_is_left", 2,
         "acquire-2; a: acquire-2; turn time-100 due-1 step time-50 rate-1 cancel-a turn"
         " -> a.acquire-2:cancelled; rate-1 rate-1:empty"},
        {NULL, 0, NULL},
    };
    tst_play_sized_rows(rows, meter);
}

/* --- cancels of the rate limiter -------------------------------------------------------------- */

/* Without memory for a timer nothing waits, and nothing is used. */
static enum bz_status wait_without_memory(void *arg) {
    return bz_rate_limiter_acquire(arg, 1);
}

Test(rate, without_memory_for_a_timer) {
    struct bz_loop_config config = {.mem_limit_bytes = 1 << 16};
    struct bz_loop *loop = tst_begin_with(&config);
    struct bz_rate_limiter limiter;
    struct bz_timer timers[1000];
    tst_status(bz_rate_limiter_init(&limiter, loop, 1, 100), BZ_OK);
    tst_status(bz_rate_limiter_acquire(&limiter, 1), BZ_OK);
    struct bz_task *task = tst_spawn(loop, wait_without_memory, &limiter);
    while (bz_mem_alloc(bz_loop_mem(loop), 1) != NULL) {
    }
    uint32_t armed = 0;
    bz_timer_init(&timers[0], loop, NULL);
    while (armed < 999 && bz_timer_arm(&timers[armed], 1000000)) {
        armed++;
        bz_timer_init(&timers[armed], loop, NULL);
    }
    cr_assert_lt(armed, 999);
    tst_turn(loop);
    tst_status(tst_outcome(task), BZ_NO_MEMORY);
    cr_assert_eq(limiter.queue.waiting_count, 0);
    bz_loop_destroy(loop);
}
