/* The rules of the runtimes (primitives/runtime/rules.h): each as its variant has it, beside those
 * of what ships. The numbers are those of CPython, where `buzzer-lab lockstep` compares whole runs.
 */
#include "primitives/runtime/rules.h"
#include "primitives/runtime/tests/stage_scopes.h"
#include "scenarios/variants/variants.h"

#define TIMERS 4u

struct stage {
    struct bz_loop *loop;
    struct bz_timer timers[TIMERS];
    char log[64];
    size_t logged;
};

static void note(struct stage *stage, char letter) {
    cr_assert(stage->logged + 1 < sizeof stage->log);
    stage->log[stage->logged++] = letter;
}

static void begin(struct stage *stage, const struct bz_rules *rules) {
    *stage = (struct stage){.loop = bz_loop_new(NULL)};
    bz_loop_set_rules(stage->loop, rules);
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
    cr_assert_str_eq(stage.log, (char *)(uintptr_t)order);
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
    cr_assert_eq(bz_driver_next_deadline_ns(stage.loop), 20);
    bz_driver_set_now(stage.loop, 20);
    cr_assert_eq(bz_driver_queue_due_timers(stage.loop), 1);
    bz_timer_disarm(&stage.timers[1]); /* due, and not yet run */
    bz_timer_disarm(&stage.timers[3]);
    bz_timer_disarm(&stage.timers[2]);
    cr_assert_eq(bz_driver_next_deadline_ns(stage.loop), BZ_TIME_NEVER);
    cr_assert_eq(bz_driver_ready_count(stage.loop), 0);
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
    cr_assert_str_eq(stage.log,
                     (char *)(uintptr_t) "mighjlnkpo"); /* heapq.heapify() of 110 to 119 */
}

/* --- timelines -------------------------------------------------------------------------------- */

static uint32_t choose_last(struct bz_observer *observer, uint32_t bound) {
    (void)observer;
    return bound - 1;
}

static void ignore(struct bz_observer *observer, enum bz_event_kind kind, uint32_t task,
                   uint8_t status, uint32_t arg) {
    (void)observer, (void)kind, (void)task, (void)status, (void)arg;
}

/* A request of the task's own is taken back, and what an await says then. */
#define TAKES_BACK "a: cancel-self uncancel requests=0 ~yield"
/* A child fails while the group waits for it. */
#define FAILS "+b: fail; a: outer( outer+b ~outer) requests => a.outer):failed "
/* gh-116720: the child fails while it is being cancelled because the parent was, from outside. */
#define STRUCK                                                                                     \
    "+b: ~sleep fail; a: outer( outer+b ~outer) ~yield; turn-2 cancel-a"                           \
    " => b.sleep:cancelled a.outer):failed "
/* The body fails. One child of five is done by then, and was not reaped. */
#define FIVE                                                                                       \
    "+b: sleep; +c: sleep; +d: ; +e: sleep; +f: sleep;"                                            \
    "a: outer( outer+b outer+c outer+d outer+e outer+f yield fail outer) => a.yield:ok "
#define IN_ORDER "b.sleep:cancelled c.sleep:cancelled e.sleep:cancelled f.sleep:cancelled"
#define BACKWARDS "f.sleep:cancelled e.sleep:cancelled c.sleep:cancelled b.sleep:cancelled"
/* gh-134471: a request of somebody else is on its way at the entry, and the deadline comes. */
#define ENTERS_WHILE_CANCELLED "a: cancel-self time(0 sleep time) => a.sleep:cancelled a.time):"
/* gh-102780: it was cancelled before, and cleans up inside a timeout. */
#define ENTERS_AFTER_CANCEL                                                                        \
    "a: cancel-self ~yield time(5 sleep time) => a.yield:cancelled a.sleep:cancelled a.time):"

Test(runtime_rules, timelines) {
    static const struct bz_rules first = {.timeout = BZ_TIMEOUT_FROM_ZERO};
    const struct bz_rules *const in_311 = bz_variant_asyncio_311.rules;
    const struct bz_rules *const in_313 = bz_variant_asyncio_313.rules;
    const struct {
        const char *name;
        const struct bz_rules *rules; /* NULL: of what ships */
        const char *timeline;
        bool chooses_last;
    } rows[] = {
        {"uncancel_clears_the_mark_since_313", NULL, TAKES_BACK " => a.yield:ok"},
        {"uncancel_clears_the_mark_since_313", in_313, TAKES_BACK " => a.yield:ok"},
        {"uncancel_clears_the_mark_since_313", in_311, TAKES_BACK " => a.yield:cancelled"},

        {"a_group_before_313_does_not_take_a_late_request_back", NULL, FAILS "a.requests=0"},
        {"a_group_before_313_does_not_take_a_late_request_back", in_313, FAILS "a.requests=0"},
        {"a_group_before_313_does_not_take_a_late_request_back", in_311, FAILS "a.requests=1"},

        {"a_group_before_313_loses_a_cancel_from_outside", NULL, STRUCK "a.yield:cancelled"},
        {"a_group_before_313_loses_a_cancel_from_outside", in_313, STRUCK "a.yield:cancelled"},
        {"a_group_before_313_loses_a_cancel_from_outside", in_311, STRUCK "a.yield:ok"},

        {"the_order_of_children_is_a_choice_in_asyncio", NULL, FIVE IN_ORDER " a.outer):failed",
         true},
        {"the_order_of_children_is_a_choice_in_asyncio", in_313, FIVE IN_ORDER " a.outer):failed"},
        {"the_order_of_children_is_a_choice_in_asyncio", in_313, FIVE BACKWARDS " a.outer):failed",
         true},
        {"the_order_of_children_is_a_choice_in_asyncio", in_311, FIVE BACKWARDS " a.outer):failed",
         true},

        {"the_requests_at_the_entry_of_a_timeout", NULL, ENTERS_WHILE_CANCELLED "cancelled"},
        {"the_requests_at_the_entry_of_a_timeout", in_313, ENTERS_WHILE_CANCELLED "timed-out"},
        {"the_requests_at_the_entry_of_a_timeout", in_311, ENTERS_WHILE_CANCELLED "timed-out"},
        {"the_requests_at_the_entry_of_a_timeout", &first, ENTERS_WHILE_CANCELLED "cancelled"},
        {"the_requests_at_the_entry_of_a_timeout", NULL, ENTERS_AFTER_CANCEL "timed-out"},
        {"the_requests_at_the_entry_of_a_timeout", in_311, ENTERS_AFTER_CANCEL "timed-out"},
        {"the_requests_at_the_entry_of_a_timeout", &first, ENTERS_AFTER_CANCEL "cancelled"},
    };
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        struct bz_observer observer = {.report = ignore, .choose = choose_last};
        struct scopes scopes;
        tst_begin_row(rows[row].name);
        scopes_begin(&scopes);
        bz_loop_set_rules(scopes.stage.loop, rows[row].rules);
        bz_driver_observe(scopes.stage.loop, rows[row].chooses_last ? &observer : NULL);
        tst_play(&scopes.stage, rows[row].timeline);
        tst_stage_end(&scopes.stage);
    }
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
    cr_assert_str_eq(stage.log, (char *)(uintptr_t)order);
}

Test(runtime_rules, items_of_one_priority) {
    expect_items(&bz_variant_buzzer, "eabcd");
    expect_items(&bz_variant_asyncio_313, "ecbad");
    expect_items(&bz_variant_asyncio_311, "ecbad");
}
