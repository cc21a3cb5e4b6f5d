/* The events that the runtime reports to the judge. */
#include "sim/native/image.h"
#include "sim/native/internal.h"
#include "sim/native/sut.h"

static __attribute__((noinline)) void report_spawn(const struct bz_native *native) {
    const struct bz_task *spawned = bz_driver_newest_task(native->world.loop);
    struct bz_judge *judge = native->world.judge;
    uint32_t id = bz_judge_spawn(judge, spawned->name_base, spawned->name_index);
    if (native->is_in_init | (judge->step > 0)) {
        bz_judge_set_helper(judge, id, true); /* unless the program adopts it */
    }
}

inline __attribute__((always_inline)) void bz_native_report(struct bz_observer *observer,
                                                            enum bz_event_kind kind, uint32_t task,
                                                            uint8_t status, uint32_t arg) {
    struct bz_native *native = bz_container_of(observer, struct bz_native, observer);
    if (__builtin_expect(kind == BZ_EVENT_SPAWN, 0)) {
        report_spawn(native);
    } else if (__builtin_expect(bz_native_is_delivery(kind, status), 0)) {
        bz_native_report_delivery(native, kind, task, (enum bz_status)status, arg);
    } else {
        bz_judge_report(native->world.judge, kind, task, (enum bz_status)status, arg);
    }
}

/* The same, in a frame of its own: see bz_native_search(). */
static __attribute__((noinline, cold)) void report_apart(struct bz_observer *observer,
                                                         enum bz_event_kind kind, uint32_t task,
                                                         uint8_t status, uint32_t arg) {
    bz_native_report(observer, kind, task, status, arg);
}

/* The rules of observe.h that do not depend on the task's past. */
static bool is_right(const struct bz_loop *loop, enum bz_event_kind kind, enum bz_status status,
                     uint32_t arg) {
    const uint32_t with_status = 1u << BZ_EVENT_RESUME | 1u << BZ_EVENT_WAKE |
                                 1u << BZ_EVENT_CANCEL | 1u << BZ_EVENT_UNCANCEL |
                                 1u << BZ_EVENT_EXIT;
    const uint32_t without_arg = 1u << BZ_EVENT_WAKE | 1u << BZ_EVENT_EXIT | 1u << BZ_EVENT_FREE;
    const uint32_t of_running = 1u << BZ_EVENT_SPAWN | 1u << BZ_EVENT_CANCEL;
    uint32_t running = loop->current == NULL ? 0 : loop->current->actor.id;
    return (status == BZ_OK || (with_status >> kind & 1u) != 0) &&
           (arg == 0 || (without_arg >> kind & 1u) == 0) &&
           (arg == running || (of_running >> kind & 1u) == 0);
}

/* The same in a recorded run, and in one that is repeated: the runtime keeps the rules that other
 * sources have to keep. */
static __attribute__((noinline, cold)) void report_checked(struct bz_observer *observer,
                                                           enum bz_event_kind kind, uint32_t task,
                                                           uint8_t status, uint32_t arg) {
    const struct bz_world *world = &bz_container_of(observer, struct bz_native, observer)->world;
    const struct bz_judge *judge = world->judge;
    BZ_CHECK(kind == BZ_EVENT_SPAWN ||
             bz_judge_may_happen(judge, kind, task, (enum bz_status)status, arg));
    BZ_CHECK(is_right(world->loop, kind, (enum bz_status)status, arg));
    BZ_CHECK(kind != BZ_EVENT_CANCEL ||
             (status == BZ_OK) == (judge->shadow.tasks[task].phase != BZ_PHASE_DONE));
    BZ_CHECK(kind != BZ_EVENT_EXIT || judge->shadow.helpers > 0 ||
             world->loop->live_tasks + 1 == judge->shadow.unfinished);
    BZ_CHECK(kind != BZ_EVENT_RESUME || arg == judge->shadow.tasks[task].next_step);
    bz_native_report(observer, kind, task, status, arg);
}

void bz_native_search(struct bz_native *native, bool is_searched) {
    native->world.is_searched = is_searched;
    native->observer.report = is_searched ? report_apart : bz_native_report;
    if (is_searched) {
        bz_image_forget_stacks(native->world.loop);
    }
}

/* A choice that the rules of the runtime leave open. */
static uint32_t choose(struct bz_observer *observer, uint32_t bound) {
    const struct bz_native *native = bz_container_of(observer, struct bz_native, observer);
    return (uint32_t)bz_judge_draw(native->world.judge, "group-order", bound);
}

static void waits_on(struct bz_observer *observer, uint32_t task) {
    const struct bz_native *native = bz_container_of(observer, struct bz_native, observer);
    bz_judge_waits_on(native->world.judge, task);
}

static void watch_step(struct bz_native *native) {
    const struct bz_world_watch *watch = native->watch;
    struct bz_judge *judge = native->world.judge;
    if (watch != NULL && watch->before_step != NULL &&
        !watch->before_step(watch->context, &native->world, judge->step + 1)) {
        bz_judge_give_up(judge);
    }
}

/* A task that was woken in place runs inside the present step. */
static void step_inside(struct bz_observer *observer, struct bz_handle *handle) {
    struct bz_native *native = bz_container_of(observer, struct bz_native, observer);
    struct bz_judge *judge = native->world.judge;
    struct bz_loop *loop = native->world.loop;
    struct bz_outer_step outer;
    watch_step(native);
    bz_judge_begin_inside(judge, &outer, loop->current == NULL ? 0 : loop->current->actor.id);
    bz_container_of(handle, struct bz_task, wake.handle)->stack->cleared_below = NULL;
    bz_driver_step_inside(loop, handle);
    watch_step(native);
    bz_judge_end_inside(judge, &outer);
    bz_sut_may_wait(&native->world);
}

void bz_native_observe(struct bz_native *native) {
    native->observer = (struct bz_observer){
        .report = native->world.judge->sink != NULL ? report_checked : bz_native_report,
        .choose = choose,
        .waits_on = waits_on,
        .step_inside = step_inside,
    };
    bz_driver_observe(native->world.loop, &native->observer);
}
