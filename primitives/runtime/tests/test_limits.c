/* Limits: reaching one returns a status, and the loop goes on. */
#include "primitives/tests/support.h"

#include "primitives/runtime/group.h"
#include "primitives/runtime/timeout.h"
#include "primitives/tests/long.h"

/* --- tasks_max -------------------------------------------------------------------------------- */

static enum bz_status return_ok(void *arg) {
    (void)arg;
    return BZ_OK;
}

Test(limits, tasks_max_counts_every_task_ever_created) {
    struct bz_loop_config config = {.tasks_max = 3};
    struct bz_loop *loop = tst_begin_with(&config);
    for (int round = 0; round < 3; round++) {
        for (int count = 0; count < 3; count++) {
            tst_start(loop, return_ok, NULL);
            tst_run(loop);
        }
        cr_assert_null(bz_task_spawn(loop, "one-too-many", 0, return_ok, NULL));
        cr_assert_eq(bz_loop_live_tasks(loop), 0);
        bz_loop_reset(loop); /* the count begins again */
    }
    tst_end(loop);
}

struct parent {
    struct bz_loop *loop;
    uint32_t spawned;
    enum bz_status refusal;
    enum bz_status exit;
};

static enum bz_status spawn_into_a_group(void *arg) {
    struct parent *parent = arg;
    struct bz_group group;
    enum bz_status status = bz_group_enter(parent->loop, &group);
    while (status == BZ_OK) {
        status = bz_group_spawn(&group, "child", parent->spawned, return_ok, NULL, NULL);
        parent->spawned += status == BZ_OK;
    }
    parent->refusal = status;
    parent->exit = bz_group_exit(&group, BZ_OK);
    return BZ_OK;
}

Test(limits, tasks_max_refuses_children_of_a_group) {
    struct bz_loop_config config = {.tasks_max = 5};
    struct bz_loop *loop = tst_begin_with(&config);
    struct parent parent = {.loop = loop};
    tst_start(loop, spawn_into_a_group, &parent);
    tst_run(loop);
    cr_assert_eq(parent.spawned, 4);
    tst_status(parent.refusal, BZ_NO_MEMORY);
    tst_status(parent.exit, BZ_OK);
    tst_end(loop);
}

/* --- memory ----------------------------------------------------------------------------------- */

/* Either there is no loop, or it works. */
Test(limits, tiny_memory_gives_no_loop_or_one_that_works) {
    size_t smallest_bytes = 0;
    for (size_t limit_bytes = 16; limit_bytes <= 8192; limit_bytes += 16) {
        struct bz_loop_config config = {.mem_limit_bytes = limit_bytes};
        struct bz_loop *loop = bz_loop_new(&config);
        if (loop == NULL) {
            cr_assert_eq(smallest_bytes, 0, "less memory was enough");
            continue;
        }
        smallest_bytes = smallest_bytes == 0 ? limit_bytes : smallest_bytes;
        struct bz_task *task = bz_task_spawn(loop, "task", 0, return_ok, NULL);
        if (task != NULL) {
            tst_run(loop);
            tst_status(tst_outcome(task), BZ_OK);
        }
        tst_end(loop);
    }
    cr_assert_neq(smallest_bytes, 0);
    cr_assert_leq(smallest_bytes, 4096);
}

/* The sweep makes every allocation fail once: tasks, groups, the timer heap, the ready queue. What
 * was granted works. */
struct sweep {
    struct bz_loop *loop;
    struct bz_future gate;
    uint32_t spawned;
    uint32_t woken;
    uint32_t no_memory;
    uint32_t others; /* unexpected statuses */
};

#define SWEEP_TASKS TST_LONG(100u, 300u)

static void sweep_note(struct sweep *sweep, enum bz_status status) {
    sweep->woken += status == BZ_OK;
    sweep->no_memory += status == BZ_NO_MEMORY;
    sweep->others += status != BZ_OK && status != BZ_NO_MEMORY;
}

static enum bz_status sweep_child(void *arg) {
    struct sweep *sweep = arg;
    struct bz_timeout scope;
    enum bz_status status = bz_timeout_enter(sweep->loop, &scope, 1000);
    if (status == BZ_OK) {
        status = bz_timeout_exit(&scope, bz_future_await(&sweep->gate));
    }
    sweep_note(sweep, status);
    sweep_note(sweep, bz_sleep(sweep->loop, 5));
    return BZ_OK;
}

static enum bz_status sweep_parent(void *arg) {
    struct sweep *sweep = arg;
    struct bz_group group;
    enum bz_status status = bz_group_enter(sweep->loop, &group);
    while (status == BZ_OK && sweep->spawned < SWEEP_TASKS) {
        status = bz_group_spawn(&group, "child", 0, sweep_child, sweep, NULL);
        sweep->spawned += status == BZ_OK;
    }
    sweep_note(sweep, status);
    tst_status(bz_group_exit(&group, BZ_OK), BZ_OK);
    return BZ_OK;
}

static uint32_t sweep_once(size_t limit_bytes, uint32_t *no_memory) {
    struct bz_loop_config config = {.mem_limit_bytes = limit_bytes};
    struct bz_loop *loop = bz_loop_new(&config);
    if (loop == NULL) {
        return 0;
    }
    struct sweep sweep = {.loop = loop};
    bz_future_init(&sweep.gate, loop);
    struct bz_task *task = bz_task_spawn(loop, "parent", 0, sweep_parent, &sweep);
    if (task != NULL) {
        tst_turns(loop, 2);
        tst_status(bz_future_set_result(&sweep.gate, 0), BZ_OK);
        tst_run(loop);
        tst_status(tst_outcome(task), BZ_OK);
    }
    cr_assert_eq(sweep.others, 0, "limit %zu", limit_bytes);
    cr_assert_eq(bz_mem_live_blocks(bz_loop_mem(loop)), TST_LOOP_BLOCKS, "limit %zu", limit_bytes);
    *no_memory += sweep.no_memory;
    tst_end(loop);
    return sweep.spawned;
}

Test(limits, sweep_over_every_allocation) {
    uint32_t no_memory = 0;
    uint32_t spawned_last = 0;
    uint32_t levels = 0;
    for (size_t limit_bytes = 256; limit_bytes <= SWEEP_TASKS * 900; limit_bytes += 160) {
        uint32_t spawned = sweep_once(limit_bytes, &no_memory);
        levels += spawned != spawned_last;
        spawned_last = spawned;
    }
    cr_assert_eq(spawned_last, SWEEP_TASKS, "the largest limit must suffice");
    cr_assert_lt(SWEEP_TASKS * 9 / 10, levels, "the sweep is too coarse to prove anything");
    cr_assert_lt(SWEEP_TASKS * 3, no_memory);
    no_memory = 0;
    cr_assert_eq(sweep_once(0, &no_memory), SWEEP_TASKS);
    cr_assert_eq(no_memory, 0);
}

/* --- the ready queue -------------------------------------------------------------------------- */

static enum bz_status wait_then_sleep(void *arg) {
    struct bz_future *future = arg;
    tst_status(bz_future_await(future), BZ_OK);
    return bz_sleep(future->loop, 10);
}

static enum bz_status sleep_ten(void *arg) {
    struct bz_future *future = arg;
    return bz_sleep(future->loop, 10);
}

static void count(struct bz_handle *handle) {
    handle->run = NULL; /* it ran */
}

/* Without any memory left, all waiting tasks can be woken in one turn, and all their timers can be
 * due in one turn. A handle takes none of the slots that they were promised: some are refused. */
Test(limits, wake_ups_need_no_memory) {
    enum { TASKS = 500, HANDLES = 1000 };
    struct bz_loop_config config = {.mem_limit_bytes = 1 << 20};
    struct bz_loop *loop = tst_begin_with(&config);
    static struct bz_handle handles[HANDLES];
    static struct bz_task *tasks[TASKS];
    struct bz_future future;
    bz_future_init(&future, loop);
    for (int index = 0; index < TASKS; index++) {
        tasks[index] = tst_spawn(loop, index % 2 == 0 ? wait_then_sleep : sleep_ten, &future);
    }
    tst_turn(loop);
    tst_exhaust(bz_loop_mem(loop));
    int accepted = 0;
    while (accepted < HANDLES && bz_loop_call_soon(loop, &handles[accepted], count)) {
        accepted++;
    }
    cr_assert_lt(accepted, HANDLES);
    struct bz_callback callback;
    cr_assert_not(bz_future_add_callback(&future, &callback, NULL));
    tst_advance(loop, 10);
    tst_status(bz_future_set_result(&future, 0), BZ_OK);
    tst_run(loop);
    for (int index = 0; index < accepted; index++) {
        cr_assert_null((void *)(uintptr_t)handles[index].run);
    }
    for (int index = 0; index < TASKS; index++) {
        tst_status(tst_outcome(tasks[index]), BZ_OK);
    }
    cr_assert_eq(loop->ready_promised, 0);
    bz_loop_destroy(loop);
}

/* --- steady state ----------------------------------------------------------------------------- */

/* A hundred thousand steps of every kind with no memory left: a step allocates nothing. */
static enum bz_status work(void *arg) {
    struct bz_loop *loop = arg;
    for (int round = 0; round < 10000; round++) {
        struct bz_timeout scope;
        struct bz_future future;
        bz_future_init(&future, loop);
        enum bz_status status = bz_timeout_enter(loop, &scope, 3);
        tst_status(status, BZ_OK);
        status = bz_timeout_exit(&scope, bz_future_await(&future));
        tst_status(status, BZ_TIMED_OUT);
        tst_status(bz_yield(loop), BZ_OK);
        tst_status(bz_sleep(loop, 1), BZ_OK);
    }
    return BZ_OK;
}

Test(limits, steps_allocate_nothing) {
    struct bz_loop_config config = {.mem_limit_bytes = 1 << 20};
    struct bz_loop *loop = tst_begin_with(&config);
    struct bz_task *tasks[4];
    for (int index = 0; index < 4; index++) {
        tasks[index] = tst_spawn(loop, work, loop);
    }
    tst_exhaust(bz_loop_mem(loop));
    uint64_t live = bz_mem_live_blocks(bz_loop_mem(loop));
    for (int turn = 0; turn < 20000; turn++) {
        if (bz_driver_ready_count(loop) == 0) {
            bz_driver_set_now(loop, bz_driver_next_deadline_ns(loop));
        }
        tst_turn(loop);
        cr_assert_eq(bz_mem_live_blocks(bz_loop_mem(loop)), live);
    }
    tst_run(loop);
    for (int index = 0; index < 4; index++) {
        tst_status(tst_outcome(tasks[index]), BZ_OK);
    }
    bz_loop_destroy(loop);
}
