/* The observe seam: which events a run emits, in which order. */
#include "primitives/tests/actor.h"

/* A buffer of a few events, so that it overflows and is flushed in the middle of things. */
struct spy {
    struct bz_observer observer;
    struct bz_event buffer[3];
    struct tst_log log;
    unsigned flushes;
};

static void spy_say(struct spy *spy, const struct bz_event *event) {
    static const char *const waits[] = {"none", "future", "yield", "sleep", "join"};
    struct tst_log *log = &spy->log;
    const char *status = bz_status_name((enum bz_status)event->status);
    switch (event->kind) {
    case BZ_EVENT_SPAWN:
        tst_say(log, "%u.spawn-by-%u", event->task, event->arg);
        break;
    case BZ_EVENT_RESUME:
        tst_say(log, "%u.resume-%u:%s", event->task, event->arg, status);
        break;
    case BZ_EVENT_SUSPEND:
        tst_say(log, "%u.suspend-%s", event->task, waits[event->arg]);
        break;
    case BZ_EVENT_WAKE:
        tst_say(log, "%u.wake:%s", event->task, status);
        break;
    case BZ_EVENT_CANCEL:
        tst_say(log, "%u.cancel-by-%u:%s", event->task, event->arg, status);
        break;
    case BZ_EVENT_UNCANCEL:
        tst_say(log, "%u.uncancel-to-%u", event->task, event->arg);
        break;
    case BZ_EVENT_EXIT:
        tst_say(log, "%u.exit:%s", event->task, status);
        break;
    case BZ_EVENT_CALLBACK:
        tst_say(log, "%u.callback-%u", event->task, event->arg);
        break;
    case BZ_EVENT_FREE:
        tst_say(log, "%u.free", event->task);
        break;
    default:
        tst_say(log, "unknown-%u", event->kind);
        break;
    }
}

static void spy_read(struct spy *spy) {
    for (const struct bz_event *event = spy->buffer; event < spy->observer.next; event++) {
        spy_say(spy, event);
    }
    spy->observer.next = spy->buffer;
}

static void spy_flush(struct bz_observer *observer) {
    struct spy *spy = bz_container_of(observer, struct spy, observer);
    cr_assert(eq(ptr, observer->next, observer->end), "flushed before it is full");
    spy->flushes++;
    spy_read(spy);
}

static void spy_begin(struct spy *spy, struct bz_loop *loop) {
    *spy = (struct spy){.observer = {spy->buffer, spy->buffer + 3, spy_flush}};
    tst_observe(loop, &spy->observer);
}

/* What has happened since the last look. */
#define spy_expect(spy, expected)                                                                  \
    do {                                                                                           \
        spy_read(spy);                                                                             \
        tst_expect(&(spy)->log, expected);                                                         \
        tst_forget(&(spy)->log);                                                                   \
    } while (0)

/* --- stories ---------------------------------------------------------------------------------- */

Test(observe, life_of_a_task) {
    struct bz_loop *loop = tst_begin();
    struct spy spy;
    struct tst_log log = {0};
    spy_begin(&spy, loop);
    struct tst_actor actor = {.name = "a", .script = "yield sleep fail", .loop = loop, .log = &log};
    struct bz_task *task = tst_actor_spawn(&actor);
    spy_expect(&spy, "1.spawn-by-0");
    tst_turn(loop);
    spy_expect(&spy, "1.resume-1:ok 1.suspend-yield");
    tst_turn(loop);
    spy_expect(&spy, "1.resume-2:ok 1.suspend-sleep");
    tst_advance(loop, 10);
    tst_turn(loop);
    spy_expect(&spy, "1.callback-1 1.wake:ok");
    tst_turn(loop);
    spy_expect(&spy, "1.resume-3:ok 1.exit:failed");
    bz_task_free(task);
    spy_expect(&spy, "1.free");
    tst_end(loop);
}

Test(observe, task_spawned_and_joined) {
    struct bz_loop *loop = tst_begin();
    struct spy spy;
    struct tst_log log = {0};
    struct tst_actor child = {.name = "c", .script = "yield break", .loop = loop, .log = &log};
    spy_begin(&spy, loop);
    child.other = tst_actor_spawn(&child);
    struct tst_actor parent = child;
    parent.script = "join";
    tst_start(loop, tst_actor_run, &parent);
    tst_turn(loop);
    spy_expect(&spy, "1.spawn-by-0 2.spawn-by-0 "
                     "1.resume-1:ok 1.suspend-yield 2.resume-1:ok 2.suspend-join");
    cr_assert(eq(u32, spy.flushes, 2), "six events, a buffer of three");
    tst_turns(loop, 2);
    spy_expect(&spy, "1.resume-2:ok 1.exit:broken 2.wake:broken "
                     "2.resume-2:broken 2.exit:broken 2.free");
    bz_task_free(child.other);
    tst_end(loop);
}

/* The window, told event by event: the wake says ok, the request marks, the resume is cancelled. */
Test(observe, cancel_in_the_window) {
    struct bz_loop *loop = tst_begin();
    struct spy spy;
    struct tst_log log = {0};
    struct bz_future future;
    bz_future_init(&future, loop);
    struct tst_actor actor = {
        .name = "a", .script = "await", .loop = loop, .log = &log, .future = &future};
    struct bz_task *task = tst_actor_spawn(&actor);
    tst_turn(loop);
    spy_begin(&spy, loop);
    tst_status(bz_future_set_result(&future, 1), BZ_OK);
    cr_assert(bz_task_cancel(task));
    spy_expect(&spy, "1.wake:ok 1.cancel-by-0:ok");
    tst_turn(loop);
    spy_expect(&spy, "1.resume-2:cancelled 1.exit:cancelled");
    cr_assert(not(bz_task_cancel(task)));
    spy_expect(&spy, "1.cancel-by-0:invalid-state");
    bz_task_free(task);
    tst_end(loop);
}

/* The request comes before what it does. */
Test(observe, cancel_of_a_waiting_task) {
    struct bz_loop *loop = tst_begin();
    struct spy spy;
    struct tst_log log = {0};
    struct bz_future future;
    bz_future_init(&future, loop);
    struct tst_actor actor = {
        .name = "a", .script = "~await", .loop = loop, .log = &log, .future = &future};
    struct bz_task *task = tst_actor_spawn(&actor);
    tst_turn(loop);
    spy_begin(&spy, loop);
    cr_assert(bz_task_cancel(task));
    cr_assert(bz_task_cancel(task));
    bz_task_uncancel(task);
    spy_expect(&spy, "1.cancel-by-0:ok 1.wake:cancelled 1.cancel-by-0:ok 1.uncancel-to-1");
    tst_turn(loop);
    spy_expect(&spy, "1.resume-2:cancelled 1.exit:ok");
    bz_task_free(task);
    tst_end(loop);
}

/* A chain of joins: each request is told, from the outside in. */
Test(observe, cancel_that_runs_down_a_join) {
    struct bz_loop *loop = tst_begin();
    struct spy spy;
    struct tst_log log = {0};
    struct bz_future future;
    bz_future_init(&future, loop);
    struct tst_actor child = {
        .name = "c", .script = "await", .loop = loop, .log = &log, .future = &future};
    child.other = tst_actor_spawn(&child);
    struct tst_actor parent = child;
    parent.script = "join";
    struct bz_task *task = tst_actor_spawn(&parent);
    tst_turn(loop);
    spy_begin(&spy, loop);
    cr_assert(bz_task_cancel(task));
    spy_expect(&spy, "2.cancel-by-0:ok 1.cancel-by-0:ok 1.wake:cancelled");
    tst_run(loop);
    spy_expect(&spy, "1.resume-2:cancelled 1.exit:cancelled 2.wake:cancelled "
                     "2.resume-2:cancelled 2.exit:cancelled");
    bz_task_free(task);
    bz_task_free(child.other);
    tst_end(loop);
}

Test(observe, task_cancelled_before_its_first_step) {
    struct bz_loop *loop = tst_begin();
    struct spy spy;
    struct tst_log log = {0};
    struct tst_actor actor = {.name = "a", .script = "cancel-self", .loop = loop, .log = &log};
    spy_begin(&spy, loop);
    struct bz_task *task = tst_actor_spawn(&actor);
    cr_assert(bz_task_cancel(task));
    tst_run(loop);
    spy_expect(&spy, "1.spawn-by-0 1.cancel-by-0:ok 1.resume-1:cancelled 1.exit:cancelled");
    bz_task_free(task);
    tst_start(loop, tst_actor_run, &actor);
    tst_run(loop);
    spy_expect(&spy, "1.free 2.spawn-by-0 2.resume-1:ok 2.cancel-by-2:ok 2.exit:cancelled 2.free");
    tst_end(loop);
}

static void nothing(struct bz_handle *handle) {
    (void)handle;
}

Test(observe, handle_that_is_no_step) {
    struct bz_loop *loop = tst_begin();
    struct spy spy;
    struct bz_handle handle;
    spy_begin(&spy, loop);
    bz_loop_call_soon(loop, &handle, nothing);
    spy_expect(&spy, "");
    tst_turn(loop);
    spy_expect(&spy, "0.callback-2");
    tst_end(loop);
}

/* Who stops listening hears nothing, and a run is the same with and without a listener. */
Test(observe, nobody_need_listen) {
    struct bz_loop *loop = tst_begin();
    struct tst_log heard = {0};
    struct tst_log unheard = {0};
    for (int round = 0; round < 2; round++) {
        struct spy spy;
        spy_begin(&spy, loop);
        if (round == 1) {
            bz_driver_observe(loop, NULL);
        }
        struct tst_actor actor = {.name = "a",
                                  .script = "yield sleep yield",
                                  .loop = loop,
                                  .log = round == 0 ? &heard : &unheard};
        tst_start(loop, tst_actor_run, &actor);
        tst_run(loop);
        spy_read(&spy);
        cr_assert(eq(int, spy.log.length > 0, round == 0));
    }
    tst_text(unheard.text, heard.text);
    tst_end(loop);
}

static enum bz_status spawn_and_cancel(void *arg) {
    struct tst_actor *child = arg;
    struct bz_task *task = tst_actor_spawn(child);
    cr_assert(bz_task_cancel(task));
    bz_task_detach(task);
    return BZ_OK;
}

/* What a task does is told with its number: who spawned, who cancelled. */
Test(observe, task_that_acts_on_another) {
    struct bz_loop *loop = tst_begin();
    struct spy spy;
    struct tst_log log = {0};
    struct tst_actor child = {.name = "c", .script = "yield", .loop = loop, .log = &log};
    spy_begin(&spy, loop);
    tst_start(loop, spawn_and_cancel, &child);
    tst_run(loop);
    spy_expect(&spy, "1.spawn-by-0 1.resume-1:ok 2.spawn-by-1 2.cancel-by-1:ok 1.exit:ok 1.free "
                     "2.resume-1:cancelled 2.exit:cancelled 2.free");
    tst_end(loop);
}

/* Tasks can be found by number while somebody observes; a number is never used twice. */
Test(observe, tasks_by_number) {
    struct bz_loop *loop = tst_begin();
    struct spy spy;
    struct tst_log log = {0};
    struct tst_actor actor = {.name = "a", .script = "", .loop = loop, .log = &log};
    struct bz_task *before = tst_actor_spawn(&actor);
    spy_begin(&spy, loop);
    enum { TASKS = 300 };
    static struct bz_task *tasks[TASKS];
    for (uint32_t index = 0; index < TASKS; index++) {
        tasks[index] = tst_actor_spawn(&actor);
        spy_read(&spy);
        tst_forget(&spy.log);
    }
    cr_assert(eq(ptr, bz_driver_task(loop, 0), NULL));
    cr_assert(eq(ptr, bz_driver_task(loop, 1), NULL), "it was created before anybody observed");
    cr_assert(eq(ptr, bz_driver_task(loop, TASKS + 2), NULL));
    cr_assert(eq(ptr, bz_driver_task(loop, UINT32_MAX), NULL));
    bz_driver_observe(loop, NULL);
    tst_run(loop);
    for (uint32_t index = 0; index < TASKS; index++) {
        cr_assert(eq(ptr, bz_driver_task(loop, index + 2), tasks[index]));
        bz_task_free(tasks[index]);
        cr_assert(eq(ptr, bz_driver_task(loop, index + 2), NULL));
    }
    bz_task_free(before);
    tst_end(loop);
}
