/* The observer: which events a run reports, in which order. */
#include "primitives/tests/stage.h"

/* Words: "spawn-x" starts guest x with the script that it was given, "detach-x" lets its task free
 * itself, "call" queues a handle that does nothing. The events are in the log of the stage, between
 * the words of the guests. Tasks have numbers: a is the first. */
struct scene {
    struct tst_stage stage;
    struct bz_observer observer;
    struct bz_handle handle;
};

static void spy_hear(struct bz_observer *observer, enum bz_event_kind kind, uint32_t task,
                     uint8_t status_number, uint32_t arg) {
    static const char *const waits[] = {"none", "future", "yield", "sleep", "join", "inside"};
    struct tst_log *log = &bz_container_of(observer, struct scene, observer)->stage.log;
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

/* --- timelines -------------------------------------------------------------------------------- */

static struct scene *scene_of(struct tst_call *call) {
    return bz_container_of(call->stage, struct scene, stage);
}

static void nothing(struct bz_handle *handle) {
    (void)handle;
}

TST_DEED(word_spawn, call->stage->tasks[tst_named(call)] =
                         tst_actor_spawn(&call->stage->actors[tst_named(call)]))

static enum bz_status word_detach(struct tst_call *call) {
    bz_task_detach(call->stage->tasks[tst_named(call)]);
    call->stage->tasks[tst_named(call)] = NULL;
    return BZ_OK;
}

TST_DEED(word_call, tst_call_soon(call->stage->loop, &scene_of(call)->handle, nothing))

static void play(const char *timeline) {
    static const struct tst_word words[] = {{"spawn-", word_spawn, .is_quiet = true},
                                            {"detach-", word_detach, .is_quiet = true},
                                            {"call", word_call},
                                            {NULL, NULL}};
    struct scene scene = {.observer = {spy_hear}};
    tst_stage_begin(&scene.stage, (struct tst_cast){.words = words});
    bz_driver_observe(scene.stage.loop, &scene.observer);
    tst_play(&scene.stage, timeline);
    bz_driver_observe(scene.stage.loop, NULL);
    tst_stage_end(&scene.stage);
}

Test(observe, timelines) {
    static const struct tst_row rows[] = {
        {"life_of_a_task",
         "a: yield sleep fail -> 1.spawn-by-0; turn -> 1.resume-1:ok 1.suspend-yield;"
         "turn -> 1.resume-2:ok a.yield:ok 1.suspend-sleep; time-10 turn -> 1.callback-1 1.wake:ok;"
         "turn -> 1.resume-3:ok a.sleep:ok 1.exit:failed; free-a -> 1.free"},
        {"task_spawned_and_joined",
         "a: yield break; b: join-a -> 1.spawn-by-0 2.spawn-by-0;"
         "turn -> 1.resume-1:ok 1.suspend-yield 2.resume-1:ok 2.suspend-join;"
         "turn-2 -> 1.resume-2:ok a.yield:ok 1.exit:broken 2.wake:broken"
         " 2.resume-2:broken b.join-a:broken 2.exit:broken"},
        /* The window, event by event: the wake says ok, the request marks, the resume is
         * cancelled. */
        {"cancel_in_the_window", "a: await; turn -> 1.spawn-by-0 1.resume-1:ok 1.suspend-future;"
                                 "set-a cancel-a -> 1.wake:ok 1.cancel-by-0:ok;"
                                 "turn -> 1.resume-2:cancelled a.await:cancelled 1.exit:cancelled;"
                                 "cancel-a:invalid-state -> 1.cancel-by-0:invalid-state"},
        /* A request is reported before its effects. */
        {"cancel_of_a_waiting_task",
         "a: ~await; turn -> 1.spawn-by-0 1.resume-1:ok 1.suspend-future; cancel-a cancel-a"
         " uncancel-a -> 1.cancel-by-0:ok 1.wake:cancelled 1.cancel-by-0:ok 1.uncancel-to-1;"
         "turn -> 1.resume-2:cancelled a.await:cancelled 1.exit:ok"},
        /* A chain of joins: each request is reported, the outermost first. */
        {"cancel_that_runs_down_a_join",
         "a: await; b: join-a; turn -> 1.spawn-by-0 2.spawn-by-0 1.resume-1:ok 1.suspend-future"
         " 2.resume-1:ok 2.suspend-join;"
         "cancel-b -> 2.cancel-by-0:ok 1.cancel-by-0:ok 1.wake:cancelled;"
         "run -> 1.resume-2:cancelled a.await:cancelled 1.exit:cancelled 2.wake:cancelled"
         " 2.resume-2:cancelled b.join-a:cancelled 2.exit:cancelled"},
        {"task_cancelled_before_its_first_step",
         "a: cancel-self; cancel-a"
         " => 1.spawn-by-0 1.cancel-by-0:ok 1.resume-1:cancelled 1.exit:cancelled;"
         "b: cancel-self => 2.spawn-by-0 2.resume-1:ok 2.cancel-by-2:ok 2.exit:cancelled"},
        {"handle_that_is_no_step", "call -> ; turn -> 0.callback-2"},
        /* The acting task is reported: who spawned, who cancelled. */
        {"task_that_acts_on_another",
         "+b: yield; a: spawn-b cancel-b detach-b"
         " => 1.spawn-by-0 1.resume-1:ok 2.spawn-by-1 2.cancel-by-1:ok 1.exit:ok"
         " 2.resume-1:cancelled 2.exit:cancelled 2.free"},
        {NULL, NULL},
    };
    tst_play_rows(rows, play);
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
