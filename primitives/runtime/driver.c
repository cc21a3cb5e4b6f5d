#include "primitives/runtime/internal.h"

uint32_t bz_driver_ready_count(const struct bz_loop *loop) {
    return loop->ready_count;
}

struct bz_handle *bz_driver_ready_at(const struct bz_loop *loop, uint32_t index) {
    return loop->ready[index];
}

/* Of the timers behind a head that was disarmed. */
static uint64_t earliest_ns(const struct bz_loop *loop) {
    uint64_t first_ns = BZ_TIME_NEVER;
    for (uint32_t index = 0; index < loop->heap_count; index++) {
        const struct bz_heap_entry *entry = &loop->heap[index];
        first_ns = entry->timer != NULL && entry->when_ns < first_ns ? entry->when_ns : first_ns;
    }
    return first_ns;
}

uint64_t bz_driver_next_deadline_ns(const struct bz_loop *loop) {
    if (loop->heap_count == 0) {
        return BZ_TIME_NEVER;
    }
    return __builtin_expect(loop->heap[0].timer != NULL, 1) ? loop->heap[0].when_ns
                                                            : earliest_ns(loop);
}

void bz_driver_set_now(struct bz_loop *loop, uint64_t now_ns) {
    BZ_CHECK(now_ns >= loop->now_ns);
    loop->now_ns = now_ns;
}

void bz_driver_begin_turn(struct bz_loop *loop) {
    uint32_t carried = loop->ready_count;
    loop->turn_left = carried + bz_driver_queue_due_timers(loop);
}

uint32_t bz_driver_turn_left(const struct bz_loop *loop) {
    return loop->turn_left;
}

struct bz_handle *bz_driver_take(struct bz_loop *loop, uint32_t index) {
    return bz_loop_take(loop, index);
}

void bz_driver_step(struct bz_loop *loop, struct bz_handle *handle) {
    bz_loop_step(loop, handle);
}

void bz_driver_observe(struct bz_loop *loop, struct bz_observer *observer) {
    loop->observer = observer;
}

struct bz_task *bz_driver_next_task(const struct bz_loop *loop, const struct bz_task *task) {
    struct bz_list *link = task == NULL ? loop->tasks.next : task->siblings.next;
    return link == &loop->tasks ? NULL : bz_container_of(link, struct bz_task, siblings);
}

struct bz_task *bz_driver_newest_task(const struct bz_loop *loop) {
    bool is_empty = bz_list_is_empty(&loop->tasks);
    return is_empty ? NULL : bz_container_of(loop->tasks.prev, struct bz_task, siblings);
}
