#include "sim/explore/footprint.h"

#include "sim/native/internal.h"

static uint64_t bit(struct bz_footprint *footprint, uint32_t number) {
    footprint->is_world |= number >= 64;
    return UINT64_C(1) << (number % 64);
}

static void access_task(struct bz_tracker *tracker, uint32_t task) {
    const struct bz_shadow *shadow = &tracker->world->judge->shadow;
    struct bz_footprint *footprint = &tracker->footprint;
    footprint->tasks |= bit(footprint, task);
    if (shadow->tasks[task].object != 0) {
        footprint->objects |= bit(footprint, shadow->tasks[task].object);
    }
}

static void begin(struct bz_tracker *tracker, const struct bz_event *event) {
    if (tracker->has_begun) {
        return;
    }
    tracker->has_begun = true;
    if (event->kind == BZ_EVENT_RESUME) {
        tracker->transition = bz_transition_step(event->task);
    } else if (event->kind == BZ_EVENT_INJECT) {
        tracker->transition = bz_transition_cancel(event->task);
        tracker->footprint.is_cancel = true;
    }
}

static void on_event(struct bz_event_sink *sink, const struct bz_logged_event *logged) {
    struct bz_tracker *tracker = (struct bz_tracker *)(void *)sink; /* its first member */
    const struct bz_event *event = &logged->event;
    begin(tracker, event);
    switch (event->kind) {
    case BZ_EVENT_RESUME:
    case BZ_EVENT_WAKE:
    case BZ_EVENT_CANCEL:
    case BZ_EVENT_UNCANCEL:
    case BZ_EVENT_EXIT:
    case BZ_EVENT_INJECT:
        access_task(tracker, event->task);
        break;
    case BZ_EVENT_SUSPEND: {
        /* Inside an operation the future is the variant's own; any other may be shared. */
        bool is_private = event->arg == BZ_WAIT_YIELD ||
                          (event->arg == BZ_WAIT_FUTURE &&
                           tracker->world->judge->shadow.tasks[event->task].op != BZ_OP_NONE);
        access_task(tracker, event->task);
        tracker->footprint.is_world |= !is_private;
        break;
    }
    case BZ_EVENT_CALL:
    case BZ_EVENT_RETURN:
        access_task(tracker, event->task);
        tracker->footprint.objects |= bit(&tracker->footprint, event->object);
        break;
    case BZ_EVENT_DRAW:
        break;
    default:
        tracker->footprint.is_world = true;
        break;
    }
}

void bz_tracker_init(struct bz_tracker *tracker, struct bz_world *world) {
    *tracker = (struct bz_tracker){.sink = {.event = on_event}, .world = world};
}

/* These change when memory, or timers, are used. */
static uint64_t memory_mark(const struct bz_world *world) {
    const struct bz_mem *mem = world->loop->mem;
    const struct bz_mem *shadow = world->judge->shadow.mem;
    return mem->live_blocks + ((uint64_t)mem->used_bytes << 24u) + shadow->live_blocks +
           ((uint64_t)shadow->used_bytes << 24u);
}

static uint64_t timers_mark(const struct bz_world *world) {
    return world->loop->timers_armed + ((uint64_t)world->loop->heap_count << 32u);
}

void bz_tracker_begin(struct bz_tracker *tracker) {
    struct bz_world *world = tracker->world;
    bz_tracker_init(tracker, world);
    tracker->timers_before = timers_mark(world);
    tracker->memory_before = memory_mark(world);
    bz_native_of(world)->looked_at = 0;
}

void bz_tracker_end(struct bz_tracker *tracker) {
    tracker->footprint.tasks |= bz_native_of(tracker->world)->looked_at;
    tracker->footprint.is_world |= tracker->timers_before != timers_mark(tracker->world) ||
                                   tracker->memory_before != memory_mark(tracker->world);
}
