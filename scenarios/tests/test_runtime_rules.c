/* The rules of the runtimes (primitives/runtime/rules.h): each as its variant has it, beside those
 * of what ships. The numbers are those of CPython, where `buzzer-lab lockstep` compares whole runs.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "primitives/runtime/driver.h"
#include "primitives/runtime/group.h"
#include "primitives/runtime/rules.h"
#include "primitives/runtime/timeout.h"
#include "scenarios/variants/variants.h"

#define TIMERS 4u

struct stage {
    struct bz_observer observer; /* first */
    struct bz_loop *loop;
    struct bz_timer timers[TIMERS];
    char log[64];
    size_t logged;
    enum bz_status status;
    uint32_t requests;
};

static void note(struct stage *stage, char letter) {
    cr_assert(stage->logged + 1 < sizeof stage->log);
    stage->log[stage->logged++] = letter;
}

static void begin(struct stage *stage, const struct bz_rules *rules) {
    *stage = (struct stage){.loop = bz_loop_new(NULL)};
    bz_loop_set_rules(stage->loop, rules);
}

static void play(struct stage *stage, bz_task_fn *fn) {
    struct bz_task *task = bz_task_spawn(stage->loop, "task", 0, fn, stage);
    cr_assert(task != NULL && bz_loop_run(stage->loop) == BZ_OK);
    bz_task_free(task);
    bz_loop_destroy(stage->loop);
}

/* --- timers ----------------------------------------------------------------------------------- */

static void fire(struct bz_timer *timer) {
    (void)timer;
}

struct lettered {
    struct bz_timer timer;
    struct stage *stage;
    char letter;
};

static void fire_lettered(struct bz_timer *timer) {
    struct lettered *lettered = bz_container_of(timer, struct lettered, timer);
    note(lettered->stage, lettered->letter);
}

/* Arms timers a, b, c, ... after so many ns, disarms some, and lets the rest fire. */
static void expect_order(const struct bz_rules *rules, const char *delays, const char *disarmed,
                         const char *order) {
    struct stage stage;
    struct lettered timers[16];
    size_t count = strlen(delays);
    begin(&stage, rules);
    for (size_t index = 0; index < count; index++) {
        timers[index].stage = &stage;
        timers[index].letter = (char)('a' + (int)index);
        bz_timer_init(&timers[index].timer, stage.loop, fire_lettered);
        cr_assert(bz_timer_arm(&timers[index].timer, (uint64_t)(delays[index] - '0')));
    }
    for (; *disarmed != '\0'; disarmed++) {
        bz_timer_disarm(&timers[*disarmed - 'a'].timer);
    }
    cr_assert(bz_loop_run(stage.loop) == BZ_OK);
    bz_loop_destroy(stage.loop);
    cr_assert(eq(str, stage.log, (char *)(uintptr_t)order));
}

/* As heapq of CPython orders them; what ships keeps the order of arming. */
Test(runtime_rules, timers_of_one_time) {
    const struct bz_rules *const heapq = bz_variant_asyncio_313.rules;
    expect_order(NULL, "5555", "", "abcd");
    expect_order(heapq, "5555", "", "acbd");
    expect_order(NULL, "15555", "", "abcde");
    expect_order(heapq, "15555", "", "acebd");
    expect_order(bz_variant_asyncio_311.rules, "5555", "", "acbd");
}

/* A disarmed timer keeps its place until it is the first. */
Test(runtime_rules, a_disarmed_timer_stays_in_the_heap) {
    expect_order(NULL, "15555", "a", "bcde");
    expect_order(bz_variant_asyncio_313.rules, "15555", "a", "cebd");
    expect_order(bz_variant_asyncio_313.rules, "5555", "b", "acd");
    expect_order(bz_variant_asyncio_313.rules, "123", "abc", "");
}

/* Nobody waits for a disarmed timer. */
Test(runtime_rules, a_disarmed_timer_is_no_deadline) {
    struct stage stage;
    begin(&stage, bz_variant_asyncio_313.rules);
    for (uint32_t index = 0; index < TIMERS; index++) {
        bz_timer_init(&stage.timers[index], stage.loop, fire);
        cr_assert(bz_timer_arm(&stage.timers[index], 10 * (1 + (uint64_t)index)));
    }
    bz_timer_disarm(&stage.timers[0]);
    cr_assert(eq(u64, bz_driver_next_deadline_ns(stage.loop), 20));
    bz_driver_set_now(stage.loop, 20);
    cr_assert(eq(u32, bz_driver_queue_due_timers(stage.loop), 1));
    bz_timer_disarm(&stage.timers[1]); /* due, and not yet run */
    bz_timer_disarm(&stage.timers[3]);
    bz_timer_disarm(&stage.timers[2]);
    cr_assert(eq(u64, bz_driver_next_deadline_ns(stage.loop), BZ_TIME_NEVER));
    cr_assert(eq(u32, bz_driver_ready_count(stage.loop), 0));
    bz_loop_destroy(stage.loop);
}

/* So many are disarmed that asyncio sorts them out: the rest is a new heap. */
Test(runtime_rules, a_crowd_of_disarmed_timers_is_swept) {
    static struct lettered timers[120];
    struct stage stage;
    begin(&stage, bz_variant_asyncio_313.rules);
    for (uint32_t index = 0; index < 120; index++) {
        timers[index].stage = &stage;
        timers[index].letter = (char)('a' + (int)index % 26);
        bz_timer_init(&timers[index].timer, stage.loop, fire_lettered);
        cr_assert(bz_timer_arm(&timers[index].timer, 50));
    }
    for (uint32_t index = 0; index < 110; index++) {
        bz_timer_disarm(&timers[index].timer);
    }
    cr_assert(bz_loop_run(stage.loop) == BZ_OK);
    bz_loop_destroy(stage.loop);
    cr_assert(
        eq(str, stage.log, (char *)(uintptr_t) "mighjlnkpo")); /* heapq.heapify() of 110 to 119 */
}

/* --- uncancel --------------------------------------------------------------------------------- */

static enum bz_status takes_back(void *arg) {
    struct stage *stage = arg;
    struct bz_task *task = bz_loop_current(stage->loop);
    bz_task_cancel(task);
    stage->requests = bz_task_uncancel(task);
    stage->status = bz_yield(stage->loop);
    return BZ_OK;
}

static void expect_after_uncancel(const struct bz_rules *rules, enum bz_status status) {
    struct stage stage;
    begin(&stage, rules);
    play(&stage, takes_back);
    cr_assert(eq(u32, stage.requests, 0));
    cr_assert(stage.status == status, "%s", bz_status_name(stage.status));
}

Test(runtime_rules, uncancel_clears_the_mark_since_313) {
    expect_after_uncancel(NULL, BZ_OK);
    expect_after_uncancel(bz_variant_asyncio_313.rules, BZ_OK);
    expect_after_uncancel(bz_variant_asyncio_311.rules, BZ_CANCELLED);
}

/* --- task groups ------------------------------------------------------------------------------ */

static enum bz_status fails(void *arg) {
    return arg == NULL ? BZ_OK : BZ_FAILED;
}

/* A child fails while the group waits for it. */
static enum bz_status waits_for_failure(void *arg) {
    struct stage *stage = arg;
    struct bz_group group;
    enum bz_status status = bz_group_enter(stage->loop, &group);
    cr_assert(status == BZ_OK);
    cr_assert(bz_group_spawn(&group, "child", 1, fails, stage, NULL) == BZ_OK);
    stage->status = bz_group_exit(&group, BZ_OK);
    stage->requests = bz_task_cancelling(bz_loop_current(stage->loop));
    return BZ_OK;
}

static void expect_requests_after_failure(const struct bz_rules *rules, uint32_t requests) {
    struct stage stage;
    begin(&stage, rules);
    play(&stage, waits_for_failure);
    cr_assert(stage.status == BZ_FAILED);
    cr_assert(eq(u32, stage.requests, requests));
}

Test(runtime_rules, a_group_before_313_does_not_take_a_late_request_back) {
    expect_requests_after_failure(NULL, 0);
    expect_requests_after_failure(bz_variant_asyncio_313.rules, 0);
    expect_requests_after_failure(bz_variant_asyncio_311.rules, 1);
}

/* gh-116720: the child fails while it is being cancelled because the parent was, from outside. */
static enum bz_status fails_when_cancelled(void *arg) {
    struct stage *stage = arg;
    enum bz_status status = bz_sleep(stage->loop, 100);
    return status == BZ_CANCELLED ? BZ_FAILED : status;
}

static void strike(struct bz_timer *timer) {
    bz_task_cancel(bz_driver_next_task(timer->loop, NULL));
}

static enum bz_status is_cancelled_outside(void *arg) {
    struct stage *stage = arg;
    struct bz_group group;
    enum bz_status status = bz_group_enter(stage->loop, &group);
    cr_assert(status == BZ_OK);
    bz_timer_init(&stage->timers[0], stage->loop, strike);
    cr_assert(bz_timer_arm(&stage->timers[0], 5));
    cr_assert(bz_group_spawn(&group, "child", 1, fails_when_cancelled, stage, NULL) == BZ_OK);
    cr_assert(bz_group_exit(&group, BZ_OK) == BZ_FAILED);
    stage->status = bz_yield(stage->loop);
    return BZ_OK;
}

static void expect_outside_cancel(const struct bz_rules *rules, enum bz_status status) {
    struct stage stage;
    begin(&stage, rules);
    play(&stage, is_cancelled_outside);
    cr_assert(stage.status == status, "%s", bz_status_name(stage.status));
}

Test(runtime_rules, a_group_before_313_loses_a_cancel_from_outside) {
    expect_outside_cancel(NULL, BZ_CANCELLED);
    expect_outside_cancel(bz_variant_asyncio_313.rules, BZ_CANCELLED);
    expect_outside_cancel(bz_variant_asyncio_311.rules, BZ_OK);
}

/* --- the order in which children are cancelled ------------------------------------------------ */

static void watch(struct bz_observer *observer, enum bz_event_kind kind, uint32_t task,
                  uint8_t status, uint32_t arg) {
    (void)status;
    (void)arg;
    if (kind == BZ_EVENT_CANCEL) {
        note((struct stage *)(void *)observer, (char)('a' + (int)task - 2));
    }
}

static uint32_t choose_last(struct bz_observer *observer, uint32_t bound) {
    (void)observer;
    return bound - 1;
}

static enum bz_status sleeps(void *arg) {
    return bz_sleep(((struct stage *)arg)->loop, 100);
}

/* One child of five is done by then, and was not reaped. */
static enum bz_status body_fails(void *arg) {
    struct stage *stage = arg;
    struct bz_group group;
    enum bz_status status = bz_group_enter(stage->loop, &group);
    cr_assert(status == BZ_OK);
    for (uint32_t number = 1; number <= 5; number++) {
        cr_assert(bz_group_spawn(&group, "child", number, number == 3 ? fails : sleeps,
                                 number == 3 ? NULL : stage, NULL) == BZ_OK);
    }
    cr_assert(bz_yield(stage->loop) == BZ_OK);
    stage->status = bz_group_exit(&group, BZ_FAILED);
    return BZ_OK;
}

static void expect_cancels(const struct bz_rules *rules,
                           uint32_t (*choose)(struct bz_observer *observer, uint32_t bound),
                           const char *order) {
    struct stage stage;
    begin(&stage, rules);
    stage.observer = (struct bz_observer){.report = watch, .choose = choose};
    bz_driver_observe(stage.loop, &stage.observer);
    play(&stage, body_fails);
    cr_assert(stage.status == BZ_FAILED);
    cr_assert(eq(str, stage.log, (char *)(uintptr_t)order));
}

Test(runtime_rules, the_order_of_children_is_a_choice_in_asyncio) {
    expect_cancels(NULL, choose_last, "abde");
    expect_cancels(bz_variant_asyncio_313.rules, NULL, "abde");
    expect_cancels(bz_variant_asyncio_313.rules, choose_last, "edba");
    expect_cancels(bz_variant_asyncio_311.rules, choose_last, "edba");
}

/* --- timeouts --------------------------------------------------------------------------------- */

/* gh-134471: a request of somebody else is on its way at the entry, and the deadline comes. */
static enum bz_status enters_while_cancelled(void *arg) {
    struct stage *stage = arg;
    struct bz_timeout scope;
    bz_task_cancel(bz_loop_current(stage->loop));
    enum bz_status status = bz_timeout_enter(stage->loop, &scope, 0);
    cr_assert(status == BZ_OK);
    status = bz_sleep(stage->loop, 10);
    stage->status = bz_timeout_exit(&scope, status);
    return BZ_OK;
}

/* gh-102780: it was cancelled before, and cleans up inside a timeout. */
static enum bz_status enters_after_cancel(void *arg) {
    struct stage *stage = arg;
    struct bz_timeout scope;
    bz_task_cancel(bz_loop_current(stage->loop));
    enum bz_status status = bz_yield(stage->loop);
    cr_assert(status == BZ_CANCELLED);
    status = bz_timeout_enter(stage->loop, &scope, 5);
    cr_assert(status == BZ_OK);
    status = bz_sleep(stage->loop, 10);
    stage->status = bz_timeout_exit(&scope, status);
    return BZ_OK;
}

static void expect_timeout(const struct bz_rules *rules, bz_task_fn *fn, enum bz_status status) {
    struct stage stage;
    begin(&stage, rules);
    play(&stage, fn);
    cr_assert(stage.status == status, "%s", bz_status_name(stage.status));
}

Test(runtime_rules, the_requests_at_the_entry_of_a_timeout) {
    static const struct bz_rules first = {.timeout = BZ_TIMEOUT_FROM_ZERO};
    expect_timeout(NULL, enters_while_cancelled, BZ_CANCELLED);
    expect_timeout(bz_variant_asyncio_313.rules, enters_while_cancelled, BZ_TIMED_OUT);
    expect_timeout(bz_variant_asyncio_311.rules, enters_while_cancelled, BZ_TIMED_OUT);
    expect_timeout(&first, enters_while_cancelled, BZ_CANCELLED);
    expect_timeout(NULL, enters_after_cancel, BZ_TIMED_OUT);
    expect_timeout(bz_variant_asyncio_311.rules, enters_after_cancel, BZ_TIMED_OUT);
    expect_timeout(&first, enters_after_cancel, BZ_CANCELLED);
}

/* --- equal priorities ------------------------------------------------------------------------- */

static void expect_items(const struct bz_variant *variant, const char *order) {
    struct stage stage;
    begin(&stage, variant->rules);
    const struct bz_queue_ops *ops = variant->queue;
    void *queue = bz_mem_alloc(bz_loop_mem(stage.loop), ops->instance_bytes);
    cr_assert(queue != NULL && ops->init(queue, stage.loop, BZ_QUEUE_ORDER_PRIORITY, 0) == BZ_OK);
    for (uint64_t value = 0; value < 4; value++) {
        cr_assert(ops->try_put(queue, value, 7) == BZ_OK);
    }
    cr_assert(ops->try_put(queue, 4, 3) == BZ_OK);
    for (uint64_t value; ops->try_get(queue, &value) == BZ_OK;) {
        note(&stage, (char)('a' + (int)value));
    }
    bz_loop_destroy(stage.loop);
    cr_assert(eq(str, stage.log, (char *)(uintptr_t)order));
}

Test(runtime_rules, items_of_one_priority) {
    expect_items(&bz_variant_buzzer, "eabcd");
    expect_items(&bz_variant_asyncio_313, "ecbad");
    expect_items(&bz_variant_asyncio_311, "ecbad");
}
