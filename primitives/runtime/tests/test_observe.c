/* The observer: which events a run reports, in which order. */
#include "primitives/tests/actor.h"

struct spy {
    struct bz_observer observer;
    struct tst_log log;
};

static void spy_hear(struct bz_observer *observer, enum bz_event_kind kind, uint32_t task,
                     uint8_t status_number, uint32_t arg) {
    static const char *const waits[] = {"none", "future", "yield", "sleep", "join"};
    struct tst_log *log = &bz_container_of(observer, struct spy, observer)->log;
    const char *status = bz_status_name((enum bz_status)status_number);
    switch (kind) {
    case BZ_EVENT_SPAWN:
        tst_say(log, "%u.spawn-by-%u", task, arg);
        break;
    case BZ_EVENT_RESUME:
        tst_say(log, "%u.resume-%u:%s", task, arg, status);
        break;
    case BZ_EVENT_SUSPEND:
        tst_say(log, "%u.suspend-%s", task, waits[arg]);
        break;
    case BZ_EVENT_WAKE:
        tst_say(log, "%u.wake:%s", task, status);
        break;
    case BZ_EVENT_CANCEL:
        tst_say(log, "%u.cancel-by-%u:%s", task, arg, status);
        break;
    case BZ_EVENT_UNCANCEL:
        tst_say(log, "%u.uncancel-to-%u", task, arg);
        break;
    case BZ_EVENT_EXIT:
        tst_say(log, "%u.exit:%s", task, status);
        break;
    case BZ_EVENT_CALLBACK:
        tst_say(log, "%u.callback-%u", task, arg);
        break;
    case BZ_EVENT_FREE:
        tst_say(log, "%u.free", task);
        break;
    default:
        tst_say(log, "unknown-%u", kind);
        break;
    }
}

static void spy_begin(struct spy *spy, struct bz_loop *loop) {
    *spy = (struct spy){.observer = {spy_hear}};
    bz_driver_observe(loop, &spy->observer);
}

/* The events since the last call. */
#define spy_expect(spy, expected)                                                                  \
    do {                                                                                           \
        tst_expect(&(spy)->log, expected);                                                         \
        tst_forget(&(spy)->log);                                                                   \
    } while (0)

/* A loop with an observer, and an actor who may await a future. */
struct scene {
    struct bz_loop *loop;
    struct spy spy;
    struct tst_log log;
    struct bz_future future;
    struct tst_actor actor;
};

static void scene_begin(struct scene *scene, const char *script) {
    *scene = (struct scene){.loop = tst_begin()};
    bz_future_init(&scene->future, scene->loop);
    scene->actor = (struct tst_actor){.name = "a",
                                      .script = script,
                                      .loop = scene->loop,
                                      .log = &scene->log,
                                      .future = &scene->future};
    spy_begin(&scene->spy, scene->loop);
}

/* The same, with the actor suspended in its first await. */
static struct bz_task *scene_begin_waiting(struct scene *scene, const char *script) {
    scene_begin(scene, script);
    struct bz_task *task = tst_actor_spawn(&scene->actor);
    tst_turn(scene->loop);
    spy_expect(&scene->spy, "1.spawn-by-0 1.resume-1:ok 1.suspend-future");
    return task;
}

/* --- tasks ------------------------------------------------------------------------------------ */

Test(observe, life_of_a_task) {
    struct scene scene;
    scene_begin(&scene, "yield sleep fail");
    struct bz_task *task = tst_actor_spawn(&scene.actor);
    spy_expect(&scene.spy, "1.spawn-by-0");
    tst_turn(scene.loop);
    spy_expect(&scene.spy, "1.resume-1:ok 1.suspend-yield");
    tst_turn(scene.loop);
    spy_expect(&scene.spy, "1.resume-2:ok 1.suspend-sleep");
    tst_advance(scene.loop, 10);
    tst_turn(scene.loop);
    spy_expect(&scene.spy, "1.callback-1 1.wake:ok");
    tst_turn(scene.loop);
    spy_expect(&scene.spy, "1.resume-3:ok 1.exit:failed");
    bz_task_free(task);
    spy_expect(&scene.spy, "1.free");
    tst_end(scene.loop);
}

Test(observe, task_spawned_and_joined) {
    struct scene scene;
    scene_begin(&scene, "yield break");
    struct tst_actor parent = scene.actor;
    parent.script = "join";
    parent.other = tst_actor_spawn(&scene.actor);
    tst_start(scene.loop, tst_actor_run, &parent);
    tst_turn(scene.loop);
    spy_expect(&scene.spy, "1.spawn-by-0 2.spawn-by-0 "
                           "1.resume-1:ok 1.suspend-yield 2.resume-1:ok 2.suspend-join");
    tst_turns(scene.loop, 2);
    spy_expect(&scene.spy, "1.resume-2:ok 1.exit:broken 2.wake:broken "
                           "2.resume-2:broken 2.exit:broken 2.free");
    bz_task_free(parent.other);
    tst_end(scene.loop);
}

/* The window, event by event: the wake says ok, the request marks, the resume is cancelled. */
Test(observe, cancel_in_the_window) {
    struct scene scene;
    struct bz_task *task = scene_begin_waiting(&scene, "await");
    tst_status(bz_future_set_result(&scene.future, 1), BZ_OK);
    cr_assert(bz_task_cancel(task));
    spy_expect(&scene.spy, "1.wake:ok 1.cancel-by-0:ok");
    tst_turn(scene.loop);
    spy_expect(&scene.spy, "1.resume-2:cancelled 1.exit:cancelled");
    cr_assert_not(bz_task_cancel(task));
    spy_expect(&scene.spy, "1.cancel-by-0:invalid-state");
    bz_task_free(task);
    tst_end(scene.loop);
}

/* A request is reported before its effects. */
Test(observe, cancel_of_a_waiting_task) {
    struct scene scene;
    struct bz_task *task = scene_begin_waiting(&scene, "~await");
    cr_assert(bz_task_cancel(task));
    cr_assert(bz_task_cancel(task));
    bz_task_uncancel(task);
    spy_expect(&scene.spy, "1.cancel-by-0:ok 1.wake:cancelled 1.cancel-by-0:ok 1.uncancel-to-1");
    tst_turn(scene.loop);
    spy_expect(&scene.spy, "1.resume-2:cancelled 1.exit:ok");
    bz_task_free(task);
    tst_end(scene.loop);
}

/* A chain of joins: each request is reported, the outermost first. */
Test(observe, cancel_that_runs_down_a_join) {
    struct scene scene;
    struct bz_task *child = scene_begin_waiting(&scene, "await");
    struct tst_actor parent = scene.actor;
    parent.script = "join";
    parent.other = child;
    struct bz_task *task = tst_actor_spawn(&parent);
    tst_turn(scene.loop);
    spy_expect(&scene.spy, "2.spawn-by-0 2.resume-1:ok 2.suspend-join");
    cr_assert(bz_task_cancel(task));
    spy_expect(&scene.spy, "2.cancel-by-0:ok 1.cancel-by-0:ok 1.wake:cancelled");
    tst_run(scene.loop);
    spy_expect(&scene.spy, "1.resume-2:cancelled 1.exit:cancelled 2.wake:cancelled "
                           "2.resume-2:cancelled 2.exit:cancelled");
    bz_task_free(task);
    bz_task_free(child);
    tst_end(scene.loop);
}

Test(observe, task_cancelled_before_its_first_step) {
    struct scene scene;
    scene_begin(&scene, "cancel-self");
    struct bz_task *task = tst_actor_spawn(&scene.actor);
    cr_assert(bz_task_cancel(task));
    tst_run(scene.loop);
    spy_expect(&scene.spy, "1.spawn-by-0 1.cancel-by-0:ok 1.resume-1:cancelled 1.exit:cancelled");
    bz_task_free(task);
    tst_start(scene.loop, tst_actor_run, &scene.actor);
    tst_run(scene.loop);
    spy_expect(&scene.spy,
               "1.free 2.spawn-by-0 2.resume-1:ok 2.cancel-by-2:ok 2.exit:cancelled 2.free");
    tst_end(scene.loop);
}

static void nothing(struct bz_handle *handle) {
    (void)handle;
}

Test(observe, handle_that_is_no_step) {
    struct bz_loop *loop = tst_begin();
    struct spy spy;
    struct bz_handle handle;
    spy_begin(&spy, loop);
    tst_call_soon(loop, &handle, nothing);
    spy_expect(&spy, "");
    tst_turn(loop);
    spy_expect(&spy, "0.callback-2");
    tst_end(loop);
}

/* A run without an observer is the same. */
Test(observe, nobody_need_listen) {
    struct scene scene;
    struct tst_log logs[2];
    for (int round = 0; round < 2; round++) {
        scene_begin(&scene, "yield sleep yield");
        if (round == 1) {
            bz_driver_observe(scene.loop, NULL);
        }
        tst_start(scene.loop, tst_actor_run, &scene.actor);
        tst_run(scene.loop);
        cr_assert_eq(scene.spy.log.length > 0, round == 0);
        logs[round] = scene.log;
        tst_end(scene.loop);
    }
    tst_text(logs[1].text, logs[0].text);
}

static enum bz_status spawn_and_cancel(void *arg) {
    struct tst_actor *child = arg;
    struct bz_task *task = tst_actor_spawn(child);
    cr_assert(bz_task_cancel(task));
    bz_task_detach(task);
    return BZ_OK;
}

/* The acting task is reported: who spawned, who cancelled. */
Test(observe, task_that_acts_on_another) {
    struct scene scene;
    scene_begin(&scene, "yield");
    tst_start(scene.loop, spawn_and_cancel, &scene.actor);
    tst_run(scene.loop);
    spy_expect(&scene.spy,
               "1.spawn-by-0 1.resume-1:ok 2.spawn-by-1 2.cancel-by-1:ok 1.exit:ok 1.free "
               "2.resume-1:cancelled 2.exit:cancelled 2.free");
    tst_end(scene.loop);
}

/* Iterates over all tasks that are not freed, oldest first. */
Test(observe, tasks_in_order) {
    enum { TASKS = 30 };
    struct bz_loop *loop = tst_begin();
    struct tst_log log = {0};
    struct tst_actor actor = {.name = "a", .script = "", .loop = loop, .log = &log};
    struct bz_task *tasks[TASKS];
    cr_assert_null(bz_driver_newest_task(loop));
    cr_assert_null(bz_driver_next_task(loop, NULL));
    for (uint32_t index = 0; index < TASKS; index++) {
        tasks[index] = tst_actor_spawn(&actor);
        cr_assert_eq(bz_driver_newest_task(loop), tasks[index]);
    }
    tst_run(loop);
    for (uint32_t index = 0; index < TASKS; index += 2) {
        bz_task_free(tasks[index]);
    }
    const struct bz_task *task = NULL;
    for (uint32_t index = 1; index < TASKS; index += 2) {
        task = bz_driver_next_task(loop, task);
        cr_assert_eq((void *)(uintptr_t)task, tasks[index]);
        cr_assert_eq(bz_task_id(task), index + 1);
    }
    cr_assert_null(bz_driver_next_task(loop, task));
    for (uint32_t index = 1; index < TASKS; index += 2) {
        bz_task_free(tasks[index]);
    }
    cr_assert_null(bz_driver_newest_task(loop));
    tst_end(loop);
}
