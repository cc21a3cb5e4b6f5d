/* The deferred queue. */
#include "primitives/sync/deferred_queue.h"
#include "primitives/tests/support.h"

#define SIZE 3u
#define GETTERS 6u

struct stage;

struct getter {
    struct bz_deferred_waiter waiter;
    struct bz_deferred_pair pair;
    struct stage *stage;
    uint64_t puts; /* an item that its callback puts, 0: none */
    struct getter *cancels;
};

struct stage {
    struct bz_loop *loop;
    struct bz_trampoline trampoline;
    struct bz_deferred_queue queue;
    uint64_t items[SIZE];
    struct tst_log log;
    struct getter getters[GETTERS];
};

static void stage_begin(struct stage *stage, uint32_t size, uint32_t backlog) {
    *stage = (struct stage){.loop = tst_begin()};
    bz_trampoline_init(&stage->trampoline, stage->loop);
    bz_deferred_queue_init(&stage->queue, &stage->trampoline, size == 0 ? NULL : stage->items, size,
                           backlog);
    for (uint32_t index = 0; index < GETTERS; index++) {
        stage->getters[index].stage = stage;
    }
}

static void stage_end(struct stage *stage, const char *story) {
    tst_expect(&stage->log, story);
    cr_assert(eq(u32, stage->queue.getters.waiting_count, 0));
    tst_end(stage->loop);
}

static struct bz_deferred_result got(struct bz_deferred_pair *pair,
                                     struct bz_deferred_result result) {
    struct getter *getter = bz_container_of(pair, struct getter, pair);
    struct stage *stage = getter->stage;
    tst_say(&stage->log, "%c:%s:%u", 'a' + (int)(getter - stage->getters),
            bz_status_name(result.status), (unsigned)result.value);
    if (getter->puts != 0) {
        tst_status(bz_deferred_queue_put(&stage->queue, getter->puts), BZ_OK);
    }
    if (getter->cancels != NULL) {
        bz_deferred_cancel(&getter->cancels->waiter.deferred);
    }
    if (getter->puts != 0 || getter->cancels != NULL) {
        tst_say(&stage->log, "%c.", 'a' + (int)(getter - stage->getters));
    }
    return result;
}

static enum bz_status get(struct stage *stage, char name) {
    struct getter *getter = &stage->getters[name - 'a'];
    enum bz_status status = bz_deferred_queue_get(&stage->queue, &getter->waiter);
    if (status == BZ_OK) {
        bz_deferred_add_both(&getter->waiter.deferred, &getter->pair, got);
    }
    return status;
}

static void put(struct stage *stage, uint64_t item) {
    tst_status(bz_deferred_queue_put(&stage->queue, item), BZ_OK);
}

Test(deferred_queue, keeps_the_order_of_items) {
    struct stage stage;
    stage_begin(&stage, SIZE, 1);
    uint64_t next = 1;
    /* Round the ring a few times, with any number of items in it. */
    for (uint64_t first = 1; first <= 30; first++) {
        while (stage.queue.count < 1 + first % SIZE) {
            put(&stage, next++);
        }
        tst_forget(&stage.log);
        tst_status(get(&stage, 'a'), BZ_OK);
        char expected[16];
        snprintf(expected, sizeof expected, "a:ok:%u", (unsigned)first);
        tst_expect(&stage.log, expected);
    }
    stage_end(&stage, "a:ok:30");
}

Test(deferred_queue, keeps_the_order_of_getters) {
    struct stage stage;
    stage_begin(&stage, SIZE, BZ_DEFERRED_QUEUE_BACKLOG_MAX);
    tst_status(get(&stage, 'a'), BZ_OK);
    tst_status(get(&stage, 'b'), BZ_OK);
    tst_status(get(&stage, 'c'), BZ_OK);
    put(&stage, 1);
    tst_expect(&stage.log, "a:ok:1");
    put(&stage, 2);
    put(&stage, 3);
    cr_assert(eq(u32, stage.queue.count, 0));
    put(&stage, 4);
    cr_assert(eq(u32, stage.queue.count, 1));
    stage_end(&stage, "a:ok:1 b:ok:2 c:ok:3");
}

/* A limit is told at once, and changes nothing. */
Test(deferred_queue, refuses_what_is_beyond_its_limits) {
    struct stage stage;
    stage_begin(&stage, 2, 2);
    tst_status(get(&stage, 'a'), BZ_OK);
    tst_status(get(&stage, 'b'), BZ_OK);
    tst_status(get(&stage, 'c'), BZ_EMPTY);
    for (uint64_t item = 1; item <= 4; item++) {
        put(&stage, item);
    }
    tst_status(bz_deferred_queue_put(&stage.queue, 5), BZ_FULL);
    tst_status(get(&stage, 'c'), BZ_OK);
    tst_status(get(&stage, 'd'), BZ_OK);
    tst_status(get(&stage, 'e'), BZ_OK);
    put(&stage, 6);
    stage_end(&stage, "a:ok:1 b:ok:2 c:ok:3 d:ok:4 e:ok:6");
}

Test(deferred_queue, without_room_passes_items_on) {
    struct stage stage;
    stage_begin(&stage, 0, 1);
    tst_status(bz_deferred_queue_put(&stage.queue, 1), BZ_FULL);
    tst_status(get(&stage, 'a'), BZ_OK);
    put(&stage, 2);
    tst_status(bz_deferred_queue_put(&stage.queue, 3), BZ_FULL);
    stage_end(&stage, "a:ok:2");
}

Test(deferred_queue, without_a_backlog_never_waits) {
    struct stage stage;
    stage_begin(&stage, 2, 0);
    tst_status(get(&stage, 'a'), BZ_EMPTY);
    put(&stage, 1);
    tst_status(get(&stage, 'a'), BZ_OK);
    tst_status(get(&stage, 'b'), BZ_EMPTY);
    stage_end(&stage, "a:ok:1");
}

Test(deferred_queue, cancelled_getter_takes_no_item) {
    struct stage stage;
    stage_begin(&stage, SIZE, 2);
    tst_status(get(&stage, 'a'), BZ_OK);
    tst_status(get(&stage, 'b'), BZ_OK);
    cr_assert(bz_deferred_cancel(&stage.getters[0].waiter.deferred));
    tst_status(get(&stage, 'c'), BZ_OK); /* there is room in the backlog again */
    put(&stage, 1);
    put(&stage, 2);
    put(&stage, 3);
    cr_assert(eq(u32, stage.queue.count, 1));
    stage_end(&stage, "a:cancelled:0 b:ok:1 c:ok:2");
}

Test(deferred_queue, cancel_of_a_getter_that_has_its_item_does_nothing) {
    struct stage stage;
    stage_begin(&stage, SIZE, 1);
    put(&stage, 1);
    tst_status(get(&stage, 'a'), BZ_OK);
    cr_assert(not(bz_deferred_cancel(&stage.getters[0].waiter.deferred)));
    tst_status(get(&stage, 'b'), BZ_OK);
    put(&stage, 2);
    cr_assert(not(bz_deferred_cancel(&stage.getters[1].waiter.deferred)));
    cr_assert(eq(u32, stage.queue.count, 0));
    stage_end(&stage, "a:ok:1 b:ok:2");
}

Test(deferred_queue, getter_that_was_given_an_error_takes_no_item) {
    struct stage stage;
    stage_begin(&stage, SIZE, 2);
    tst_status(get(&stage, 'a'), BZ_OK);
    tst_status(get(&stage, 'b'), BZ_OK);
    tst_status(bz_deferred_errback(&stage.getters[0].waiter.deferred, BZ_FAILED, 9), BZ_OK);
    put(&stage, 1);
    stage_end(&stage, "a:failed:9 b:ok:1");
}

/* Put in a callback: the getter has its item, its callback runs behind, and no cancel in between
 * takes the item away. */
Test(deferred_queue, put_in_a_callback) {
    struct stage stage;
    stage_begin(&stage, SIZE, 3);
    stage.getters[0].puts = 20;
    stage.getters[0].cancels = &stage.getters[1];
    stage.getters[1].puts = 30;
    tst_status(get(&stage, 'a'), BZ_OK);
    tst_status(get(&stage, 'b'), BZ_OK);
    tst_status(get(&stage, 'c'), BZ_OK);
    put(&stage, 10);
    stage_end(&stage, "a:ok:10 a. b:ok:20 b. c:ok:30");
}

static enum bz_status get_by_task(void *arg) {
    struct stage *stage = arg;
    struct bz_deferred_waiter waiter;
    struct bz_deferred_result item;
    enum bz_status status = bz_deferred_queue_get(&stage->queue, &waiter);
    if (status == BZ_OK) {
        status = bz_deferred_await(&waiter.deferred, &item);
        tst_say(&stage->log, "task:%s:%u", bz_status_name(status), (unsigned)item.value);
    }
    return status;
}

/* A task that is cancelled before the item comes leaves it to the next; after it, it has it. */
Test(deferred_queue, task_gets_an_item) {
    struct stage stage;
    stage_begin(&stage, SIZE, 3);
    struct bz_task *tasks[3];
    for (int index = 0; index < 3; index++) {
        tasks[index] = tst_spawn(stage.loop, get_by_task, &stage);
    }
    tst_turn(stage.loop);
    cr_assert(bz_task_cancel(tasks[0]));
    tst_turn(stage.loop);
    put(&stage, 7);
    put(&stage, 8);
    cr_assert(bz_task_cancel(tasks[2]));
    tst_turn(stage.loop);
    for (int index = 0; index < 3; index++) {
        tst_status(tst_outcome(tasks[index]), index == 1 ? BZ_OK : BZ_CANCELLED);
    }
    stage_end(&stage, "task:cancelled:0 task:ok:7 task:cancelled:8");
}
