/* The deferred queue. */
#include "primitives/sync/deferred_queue.h"
#include "primitives/tests/stage.h"

#define SIZE 3u
#define GETTERS 6u
#define ANY BZ_DEFERRED_QUEUE_BACKLOG_MAX

/* Getters "a" to "f", and tasks from "t" on. A getter's callback logs "a:status:value", plays its
 * script as the test would, and then logs "a." if there was one. Words:
 *
 *     put-N  get-X         the operations on the queue
 *     cancel-X  error-X    cancels X's waiter, or task; fires the waiter with BZ_FAILED and 9
 *     take                 a task gets an item, and logs "t=status/value"
 *     count                reports the number of items
 */
struct cast {
    struct tst_stage stage;
    struct bz_trampoline trampoline;
    struct bz_deferred_queue queue;
    uint64_t items[SIZE];
    struct getter {
        struct bz_deferred_waiter waiter;
        struct bz_deferred_pair pair;
        struct cast *cast;
    } getters[GETTERS];
};

static struct bz_deferred_result got(struct bz_deferred_pair *pair,
                                     struct bz_deferred_result result) {
    struct getter *getter = bz_container_of(pair, struct getter, pair);
    struct tst_stage *stage = &getter->cast->stage;
    size_t index = (size_t)(getter - getter->cast->getters);
    tst_say(&stage->log, "%c:%s:%u", 'a' + (int)index, bz_status_name(result.status),
            (unsigned)result.value);
    if (stage->scripts[index][0] != '\0') {
        tst_act(stage, stage->scripts[index]);
        tst_say(&stage->log, "%c.", 'a' + (int)index);
    }
    return result;
}

static struct cast *cast_of(struct tst_call *call) {
    return bz_container_of(call->stage, struct cast, stage);
}

TST_WORD(word_put, bz_deferred_queue_put(&cast_of(call)->queue, tst_number(call->rest)))

static enum bz_status word_get(struct tst_call *call) {
    struct getter *getter = &cast_of(call)->getters[tst_named(call)];
    enum bz_status status = bz_deferred_queue_get(&cast_of(call)->queue, &getter->waiter);
    if (status == BZ_OK) {
        bz_deferred_add_both(&getter->waiter.deferred, &getter->pair, got);
    }
    return status;
}

static enum bz_status word_cancel(struct tst_call *call) {
    unsigned index = tst_named(call);
    bool is_reached = index >= GETTERS
                          ? bz_task_cancel(call->stage->tasks[index])
                          : bz_deferred_cancel(&cast_of(call)->getters[index].waiter.deferred);
    return is_reached ? BZ_OK : BZ_INVALID_STATE;
}

TST_WORD(word_error, bz_deferred_errback(&cast_of(call)->getters[tst_named(call)].waiter.deferred,
                                         BZ_FAILED, 9))

static enum bz_status word_take(struct tst_call *call) {
    struct bz_deferred_waiter waiter;
    struct bz_deferred_result item;
    enum bz_status status = bz_deferred_queue_get(&cast_of(call)->queue, &waiter);
    if (status == BZ_OK) {
        status = bz_deferred_await(&waiter.deferred, &item);
        tst_say(&call->stage->log, "%s=%s/%u", call->actor->name, bz_status_name(status),
                (unsigned)item.value);
    }
    return status;
}

static void report(struct tst_call *call) {
    tst_count(call, "count", cast_of(call)->queue.count);
}

static void cast_begin(struct cast *cast, uint32_t size, uint32_t backlog) {
    static const struct tst_word words[] = {{"put-", word_put},       {"get-", word_get},
                                            {"cancel-", word_cancel}, {"error-", word_error},
                                            {"take", word_take},      {NULL, NULL}};
    *cast = (struct cast){.items = {0}};
    tst_stage_begin(&cast->stage, (struct tst_cast){.words = words, .report = report});
    bz_trampoline_init(&cast->trampoline, cast->stage.loop);
    bz_deferred_queue_init(&cast->queue, &cast->trampoline, size == 0 ? NULL : cast->items, size,
                           backlog);
    for (uint32_t index = 0; index < GETTERS; index++) {
        cast->getters[index].cast = cast;
    }
}

static void cast_end(struct cast *cast) {
    cr_assert_eq(cast->queue.getters.waiting_count, 0);
    tst_stage_end(&cast->stage);
}

static void play(uint32_t size, uint32_t backlog, const char *timeline) {
    struct cast cast;
    cast_begin(&cast, size, backlog);
    tst_play(&cast.stage, timeline);
    cast_end(&cast);
}

/* Round the ring a few times, with any number of items in it. */
Test(deferred_queue, keeps_the_order_of_items) {
    struct cast cast;
    cast_begin(&cast, SIZE, 1);
    uint64_t next = 1;
    for (uint64_t first = 1; first <= 30; first++) {
        while (cast.queue.count < 1 + first % SIZE) {
            tst_status(bz_deferred_queue_put(&cast.queue, next++), BZ_OK);
        }
        char expected[32];
        snprintf(expected, sizeof expected, "get-a -> a:ok:%u", (unsigned)first);
        tst_play(&cast.stage, expected);
    }
    cast_end(&cast);
}

Test(deferred_queue, timelines) {
    static const struct {
        const char *name;
        uint32_t size;
        uint32_t backlog;
        const char *timeline;
    } rows[] = {
        {"keeps_the_order_of_getters", SIZE, ANY,
         "get-a get-b get-c put-1 -> a:ok:1;"
         "put-2 put-3 count=0 put-4 count=1 -> b:ok:2 c:ok:3"},
        /* A limit is told at once, and changes nothing. */
        {"refuses_what_is_beyond_its_limits", 2, 2,
         "get-a get-b get-c:empty put-1 put-2 put-3 put-4 put-5:full -> a:ok:1 b:ok:2;"
         "get-c get-d get-e put-6 -> c:ok:3 d:ok:4 e:ok:6"},
        {"without_room_passes_items_on", 0, 1, "put-1:full get-a put-2 put-3:full -> a:ok:2"},
        {"without_a_backlog_never_waits", 2, 0, "get-a:empty put-1 get-a get-b:empty -> a:ok:1"},
        /* With a gone there is room for c in the backlog. */
        {"cancelled_getter_takes_no_item", SIZE, 2,
         "get-a get-b cancel-a get-c put-1 put-2 put-3 count=1"
         " -> a:cancelled:0 b:ok:1 c:ok:2"},
        {"cancel_of_a_getter_that_has_its_item_does_nothing", SIZE, 1,
         "put-1 get-a cancel-a:invalid-state get-b put-2 cancel-b:invalid-state count=0"
         " -> a:ok:1 b:ok:2"},
        {"getter_that_was_given_an_error_takes_no_item", SIZE, 2,
         "get-a get-b error-a put-1 -> a:failed:9 b:ok:1"},
        /* Put in a callback: the getter has its item, its callback runs behind, and no cancel in
         * between takes the item away. */
        {"put_in_a_callback", SIZE, 3,
         "+a: put-20 cancel-b:invalid-state; +b: put-30; get-a get-b get-c put-10"
         " -> a:ok:10 a. b:ok:20 b. c:ok:30"},
        /* A task that is cancelled before the item comes leaves it to the next; after it, it has
         * it. */
        {"task_gets_an_item", SIZE, 3,
         "t-v: take; turn cancel-t turn -> t=cancelled/0 t.take:cancelled;"
         "put-7 put-8 cancel-v turn -> u=ok/7 u.take:ok v=cancelled/8 v.take:cancelled;"
         "end-t=cancelled/1 end-u=ok/0 end-v=cancelled/1"},
    };
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        tst_begin_row(rows[row].name);
        play(rows[row].size, rows[row].backlog, rows[row].timeline);
    }
}
