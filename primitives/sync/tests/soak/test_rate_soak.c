/* The rate limiter with random guests: without cancels against a bucket that is followed nanosecond
 * by nanosecond, and with cancels against the rate that it promises. */
#include "primitives/sync/rate_limiter.h"
#include "primitives/sync/tests/soak/stage_soak.h"

#define GUESTS 8u
#define SEEDS TST_SEEDS(4000u)
#define LATEST_NS 200u

struct guest {
    struct rate_soak *rate;
    uint64_t comes_ns;
    uint32_t tokens;
    enum bz_status status;
    uint64_t called_ns;
    uint64_t woken_ns;  /* the last time */
    uint64_t served_ns; /* when its tokens were poured in: not later than its return */
};

struct rate_soak {
    struct soak soak;
    struct bz_rate_limiter limiter;
    struct guest guests[GUESTS];
    struct guest *called[GUESTS]; /* in the order of their calls */
    struct guest *served[GUESTS]; /* in the order in which they had their tokens */
    uint32_t called_count;
    uint32_t served_count;
    uint64_t window_cancels;
    uint64_t waits;
};

static enum bz_status visit(void *arg) {
    struct guest *guest = arg;
    struct rate_soak *rate = guest->rate;
    enum bz_status status = bz_sleep(rate->soak.loop, guest->comes_ns);
    if (status != BZ_OK) {
        return status;
    }
    guest->called_ns = bz_loop_now_ns(rate->soak.loop);
    rate->called[rate->called_count++] = guest;
    guest->status = bz_rate_limiter_acquire(&rate->limiter, guest->tokens);
    guest->served_ns = guest->woken_ns > guest->called_ns ? guest->woken_ns : guest->called_ns;
    if (guest->status == BZ_OK) {
        rate->served[rate->served_count++] = guest;
        rate->waits += guest->served_ns > guest->called_ns;
    }
    return guest->status;
}

static void on_event(struct soak *soak, enum bz_event_kind kind, uint32_t task, uint8_t status) {
    struct rate_soak *rate = bz_container_of(soak, struct rate_soak, soak);
    (void)status;
    if (kind == BZ_EVENT_WAKE) {
        rate->guests[task - 1].woken_ns = bz_loop_now_ns(soak->loop);
    }
}

static void begin(struct rate_soak *rate) {
    struct soak *soak = &rate->soak;
    soak->on_event = on_event;
    soak_begin(soak);
    uint32_t tokens = 1 + tst_draw(&soak->draw, 5);
    uint64_t period_ns = 1 + tst_draw(&soak->draw, 60);
    tst_status(bz_rate_limiter_init(&rate->limiter, soak->loop, tokens, period_ns), BZ_OK);
    rate->called_count = 0;
    rate->served_count = 0;
    soak->tasks_count = GUESTS;
    for (uint32_t index = 0; index < GUESTS; index++) {
        struct guest *guest = &rate->guests[index];
        *guest = (struct guest){.rate = rate,
                                .comes_ns = 1 + tst_draw(&soak->draw, LATEST_NS),
                                .tokens = 1 + tst_draw(&soak->draw, tokens)};
        soak->tasks[index] = tst_spawn(soak->loop, visit, guest);
    }
}

/* The first waiter is served in the first nanosecond in which a bucket has space for it. */
static void check_exactly(struct rate_soak *rate) {
    const struct bz_rate_limiter *limiter = &rate->limiter;
    uint64_t full = limiter->tokens * limiter->period_ns;
    uint64_t level = 0;
    uint64_t now_ns = 0;
    for (uint32_t index = 0; index < GUESTS; index++) {
        const struct guest *guest = rate->called[index];
        uint64_t amount = guest->tokens * limiter->period_ns;
        for (; now_ns < guest->called_ns || level + amount > full; now_ns++) {
            level -= level < limiter->tokens ? level : limiter->tokens;
        }
        level += amount;
        soak_assert(&rate->soak, rate->served[index] == guest);
        soak_assert(&rate->soak, guest->served_ns == now_ns);
    }
}

/* No span of time admits more than a burst and what drains in it. */
static void check_rate(struct rate_soak *rate) {
    const struct bz_rate_limiter *limiter = &rate->limiter;
    for (uint32_t first = 0; first < rate->served_count; first++) {
        uint64_t admitted = 0;
        for (uint32_t last = first; last < rate->served_count; last++) {
            uint64_t span_ns = rate->served[last]->served_ns - rate->served[first]->served_ns;
            admitted += rate->served[last]->tokens * limiter->period_ns;
            soak_assert(&rate->soak, admitted <= limiter->tokens * (limiter->period_ns + span_ns));
        }
    }
}

/* Steps in the order of a FIFO loop; between them, now and then, a cancel and a moment of time. */
static void run_with_cancels(struct rate_soak *rate) {
    struct soak *soak = &rate->soak;
    while (tst_more(soak->loop)) {
        bz_driver_begin_turn(soak->loop);
        while (bz_driver_turn_left(soak->loop) > 0) {
            if (tst_draw(&soak->draw, 6) == 0) {
                uint32_t woken = rate->limiter.queue.woken_count;
                struct guest *guest = &rate->guests[tst_draw(&soak->draw, GUESTS)];
                bool is_cancelled = bz_task_cancel(soak->tasks[guest - rate->guests]);
                rate->window_cancels += is_cancelled && woken > 0;
            }
            if (tst_draw(&soak->draw, 20) == 0) {
                tst_advance(soak->loop, tst_draw(&soak->draw, 10));
            }
            bz_driver_step(soak->loop, bz_driver_take(soak->loop, 0));
        }
    }
}

static struct rate_soak rate;

Test(rate_soak, is_exact) {
    rate.soak.loop = tst_begin();
    for (rate.soak.seed = 0; rate.soak.seed < SEEDS; rate.soak.seed++) {
        begin(&rate);
        tst_run(rate.soak.loop);
        soak_end(&rate.soak);
        soak_assert(&rate.soak, rate.served_count == GUESTS);
        check_exactly(&rate);
    }
    cr_assert_lt(SEEDS, rate.waits);
    bz_loop_destroy(rate.soak.loop);
}

Test(rate_soak, keeps_the_rate_whoever_is_cancelled) {
    rate.soak.loop = tst_begin();
    for (rate.soak.seed = 0; rate.soak.seed < SEEDS; rate.soak.seed++) {
        begin(&rate);
        run_with_cancels(&rate);
        soak_end(&rate.soak);
        check_rate(&rate);
        soak_assert(&rate.soak, rate.limiter.queue.cancelled_count == 0);
        soak_assert(&rate.soak, rate.limiter.queue.woken_count == 0);
    }
    cr_assert_lt(SEEDS / 16, rate.window_cancels);
    bz_loop_destroy(rate.soak.loop);
}
