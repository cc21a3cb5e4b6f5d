/* The possessions of a loop: its ready queue, its tasks and its memory. */
#include "primitives/tests/actor.h"

/* --- taking from anywhere --------------------------------------------------------------------- */

#define HANDLES 24u

static void nothing(struct bz_handle *handle) {
    (void)handle;
}

/* Takes and runs the index-th handle, which must be this one. */
static void run_handle(struct bz_loop *loop, uint32_t index, struct bz_handle *expected) {
    struct bz_handle *handle = bz_driver_take(loop, index);
    cr_assert_eq(handle, expected);
    cr_assert_not(handle->is_ready);
    bz_driver_step(loop, handle);
}

/* Whichever is taken, from a ring that begins anywhere: it is the right one, the rest keep their
 * order. */
Test(loop, takes_any_handle_and_keeps_the_order_of_the_rest) {
    struct bz_loop *loop = tst_begin();
    struct bz_handle handles[HANDLES];
    for (uint32_t offset = 0; offset < 70; offset++) {
        for (uint32_t taken = 0; taken < HANDLES; taken++) {
            for (uint32_t index = 0; index < HANDLES; index++) {
                tst_call_soon(loop, &handles[index], nothing);
            }
            run_handle(loop, taken, &handles[taken]);
            cr_assert_eq(bz_driver_ready_count(loop), HANDLES - 1);
            for (uint32_t index = 0; index < HANDLES - 1; index++) {
                struct bz_handle *expected = &handles[index < taken ? index : index + 1];
                cr_assert_eq(bz_driver_ready_at(loop, 0), expected);
                run_handle(loop, 0, expected);
            }
        }
        tst_call_soon(loop, &handles[0], nothing);
        run_handle(loop, 0, &handles[0]);
    }
    tst_end(loop);
}

/* The queue grows while it is wrapped around its end, and no handle is lost or moved. */
Test(loop, grows_its_queue_in_order) {
    struct bz_loop *loop = tst_begin();
    static struct bz_handle handles[3000];
    uint32_t queued = 0;
    uint32_t taken = 0;
    while (queued < 3000) {
        for (uint32_t count = 0; count < 7 && queued < 3000; count++) {
            tst_call_soon(loop, &handles[queued++], nothing);
        }
        for (uint32_t count = 0; count < 3; count++) {
            run_handle(loop, 0, &handles[taken++]);
        }
    }
    while (taken < queued) {
        run_handle(loop, 0, &handles[taken++]);
    }
    tst_end(loop);
}

Test(loop, take_beyond_the_queue_stops_the_process, .signal = SIGABRT) {
    struct bz_loop *loop = tst_begin();
    struct bz_handle handle;
    tst_call_soon(loop, &handle, nothing);
    bz_driver_take(loop, 1);
}

/* --- identity --------------------------------------------------------------------------------- */

struct caller {
    struct bz_loop *loop;
    struct bz_handle handles[2];
};

static enum bz_status call_twice(void *arg) {
    struct caller *caller = arg;
    tst_call_soon(caller->loop, &caller->handles[0], nothing);
    tst_call_soon(caller->loop, &caller->handles[1], nothing);
    return BZ_OK;
}

/* A handle belongs to the task that made it, or to the loop, and is numbered there by role. */
Test(loop, numbers_handles_by_owner) {
    struct bz_loop *loop = tst_begin();
    struct caller caller = {.loop = loop};
    struct bz_handle outside[2];
    tst_start(loop, call_twice, &caller);
    tst_call_soon(loop, &outside[0], nothing);
    tst_turn(loop);
    tst_call_soon(loop, &outside[1], nothing);
    for (uint32_t index = 0; index < 2; index++) {
        cr_assert_eq(outside[index].owner, 0);
        cr_assert_eq(outside[index].nth, index + 1);
        cr_assert_eq(caller.handles[index].owner, 1);
        cr_assert_eq(caller.handles[index].nth, index + 1);
        cr_assert_eq(caller.handles[index].role, BZ_ROLE_CALLBACK);
    }
    tst_run(loop);
    tst_end(loop);
}

/* --- reset ------------------------------------------------------------------------------------ */

/* Whatever a run leaves behind, the next one is as on a new loop. */
static void messy_run(struct bz_loop *loop, struct tst_log *log) {
    struct bz_future never;
    bz_future_init(&never, loop);
    struct tst_actor actors[4] = {
        {.name = "a", .script = "yield await"},
        {.name = "b", .script = "sleep sleep sleep"},
        {.name = "c", .script = "yield yield yield yield"},
        {.name = "d", .script = "yield fail"},
    };
    tst_forget(log);
    for (uint32_t index = 0; index < 4; index++) {
        actors[index].loop = loop;
        actors[index].log = log;
        actors[index].future = &never;
        struct bz_task *task = tst_actor_spawn(&actors[index]);
        tst_say(log, "%u", bz_task_id(task));
    }
    struct bz_handle handle;
    tst_call_soon(loop, &handle, nothing);
    tst_say(log, "%u", handle.nth);
    tst_turns(loop, 2);
    tst_advance(loop, 10);
    tst_turns(loop, 2);
    tst_say(log, "%u", (unsigned)bz_loop_now_ns(loop));
}

static void ignore(struct bz_observer *observer, enum bz_event_kind kind, uint32_t task,
                   uint8_t status, uint32_t arg) {
    (void)observer, (void)kind, (void)task, (void)status, (void)arg;
}

Test(loop, reset_begins_anew) {
    struct bz_loop *loop = tst_begin();
    struct tst_log first;
    struct tst_log log;
    messy_run(loop, &first);
    for (int round = 0; round < 200; round++) {
        bz_loop_reset(loop);
        struct bz_observer deaf = {ignore};
        bz_driver_observe(loop, &deaf);
        messy_run(loop, &log);
        tst_text(log.text, first.text);
        bz_loop_reset(loop);
        cr_assert_null(loop->observer);
        cr_assert_eq(bz_loop_now_ns(loop), 0);
        cr_assert_eq(bz_loop_live_tasks(loop), 0);
        cr_assert_eq(bz_driver_ready_count(loop), 0);
        cr_assert_eq(bz_mem_live_blocks(bz_loop_mem(loop)), TST_LOOP_BLOCKS);
        messy_run(loop, &log);
        tst_text(log.text, first.text);
    }
    bz_loop_reset(loop);
    tst_end(loop);
}

static enum bz_status reset_from_within(void *arg) {
    bz_loop_reset(arg);
    return BZ_OK;
}

Test(loop, reset_by_a_task_stops_the_process, .signal = SIGABRT) {
    struct bz_loop *loop = tst_begin();
    tst_start(loop, reset_from_within, loop);
    tst_turn(loop);
}

/* The same on another loop meanwhile; it is destroyed in the middle of everything. */
Test(loop, is_independent_of_other_loops) {
    struct tst_log first;
    struct tst_log second;
    struct bz_loop *loops[2] = {tst_begin(), tst_begin()};
    messy_run(loops[0], &first);
    messy_run(loops[1], &second);
    tst_text(second.text, first.text);
    bz_loop_destroy(loops[0]);
    bz_loop_destroy(loops[1]);
    bz_loop_destroy(NULL);
}

/* --- several loops ---------------------------------------------------------------------------- */

/* A task of one loop may drive another loop, whose tasks began on another stack. */
struct nesting {
    struct bz_loop *outer;
    struct bz_loop *inner;
};

static enum bz_status drive_inner(void *arg) {
    struct nesting *nesting = arg;
    for (int turn = 0; turn < 3; turn++) {
        tst_turn(nesting->inner);
        cr_assert_null(bz_loop_current(nesting->inner));
        cr_assert_not_null(bz_loop_current(nesting->outer));
#if BZ_SAN_ADDRESS
        /* AddressSanitizer was told where the inner loop's driver is now. */
        cr_assert_eq((void *)nesting->inner->driver_coro.stack_bottom,
                     bz_loop_current(nesting->outer)->stack->base);
#endif
        tst_status(bz_yield(nesting->outer), BZ_OK);
    }
    return BZ_OK;
}

Test(loop, may_be_driven_by_a_task_of_another) {
    struct nesting nesting = {tst_begin(), tst_begin()};
    struct tst_log log = {0};
    struct tst_actor actor = {.name = "a",
                              .script = "yield yield yield yield yield yield",
                              .loop = nesting.inner,
                              .log = &log};
    tst_start(nesting.inner, tst_actor_run, &actor);
    tst_turns(nesting.inner, 2);
    tst_expect(&log, "a.yield:ok");
    tst_start(nesting.outer, drive_inner, &nesting);
    tst_run(nesting.outer);
    tst_expect(&log, "a.yield:ok a.yield:ok a.yield:ok a.yield:ok");
    tst_run(nesting.inner);
    tst_end(nesting.inner);
    tst_end(nesting.outer);
}
