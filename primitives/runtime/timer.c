#include "primitives/runtime/timer.h"

#include "primitives/runtime/heapq.h"
#include "primitives/runtime/internal.h"

#define NOT_IN_HEAP UINT32_MAX

static bool entry_before(const struct bz_heap_entry *a, const struct bz_heap_entry *b) {
    return a->when_ns != b->when_ns ? a->when_ns < b->when_ns : a->order < b->order;
}

static void entry_place(struct bz_loop *loop, uint32_t index, struct bz_heap_entry entry) {
    loop->heap[index] = entry;
    entry.timer->heap_index = index;
}

static void sift_up(struct bz_loop *loop, uint32_t index) {
    struct bz_heap_entry entry = loop->heap[index];
    while (index > 0) {
        uint32_t parent = (index - 1) / 2;
        if (!entry_before(&entry, &loop->heap[parent])) {
            break;
        }
        entry_place(loop, index, loop->heap[parent]);
        index = parent;
    }
    entry_place(loop, index, entry);
}

static void sift_down(struct bz_loop *loop, uint32_t index) {
    struct bz_heap_entry entry = loop->heap[index];
    for (;;) {
        uint32_t child = 2 * index + 1;
        if (child >= loop->heap_count) {
            break;
        }
        if (child + 1 < loop->heap_count &&
            entry_before(&loop->heap[child + 1], &loop->heap[child])) {
            child++;
        }
        if (!entry_before(&loop->heap[child], &entry)) {
            break;
        }
        entry_place(loop, index, loop->heap[child]);
        index = child;
    }
    entry_place(loop, index, entry);
}

static bool heap_grow(struct bz_loop *loop) {
    size_t old_bytes = loop->heap_capacity * sizeof(struct bz_heap_entry);
    struct bz_heap_entry *larger = bz_mem_grow(loop->mem, loop->heap, old_bytes, old_bytes * 2);
    if (larger == NULL) {
        return false;
    }
    loop->heap = larger;
    loop->heap_capacity *= 2;
    return true;
}

static void heap_remove(struct bz_loop *loop, uint32_t index) {
    loop->heap[index].timer->heap_index = NOT_IN_HEAP;
    loop->heap_count--;
    if (index < loop->heap_count) {
        entry_place(loop, index, loop->heap[loop->heap_count]);
        sift_down(loop, index);
        sift_up(loop, index); /* at most one of the two moves it */
    }
}

/* --- the heap of asyncio -----------------------------------------------------------------------
 */

/* Among so many timers, or fewer, those that were disarmed leave the heap only as its first. */
#define DISARMED_TOLERATED 100u

static bool is_earlier(const void *left, const void *right) {
    return ((const struct bz_heap_entry *)left)->when_ns <
           ((const struct bz_heap_entry *)right)->when_ns;
}

static struct bz_heapq heapq_of(const struct bz_loop *loop) {
    return (struct bz_heapq){loop->heap, sizeof loop->heap[0], is_earlier};
}

static bool is_by_heapq(const struct bz_loop *loop) {
    return __builtin_expect(loop->rules->timers == BZ_TIMERS_BY_HEAPQ, 0);
}

/* It says that it is in the heap, but not where. */
static void heapq_push(struct bz_loop *loop, struct bz_timer *timer) {
    struct bz_heapq heap = heapq_of(loop);
    timer->heap_index = 0;
    bz_heapq_to_root(&heap, 0, loop->heap_count++);
}

static void heapq_pop(struct bz_loop *loop) {
    struct bz_heapq heap = heapq_of(loop);
    bz_heapq_drop_first(&heap, loop->heap_count--);
}

/* The entry stays. */
static void heapq_disarm(struct bz_loop *loop, struct bz_timer *timer) {
    struct bz_heap_entry *entry = loop->heap;
    while (entry->timer != timer) {
        BZ_CHECK(++entry < loop->heap + loop->heap_count);
    }
    entry->timer = NULL;
    timer->heap_index = NOT_IN_HEAP;
    loop->heap_disarmed++;
}

/* As asyncio does at the beginning of a turn, before it looks for due timers. */
static void heapq_tidy(struct bz_loop *loop) {
    if (loop->heap_count > DISARMED_TOLERATED && 2 * loop->heap_disarmed > loop->heap_count) {
        struct bz_heapq heap = heapq_of(loop);
        uint32_t kept = 0;
        for (uint32_t index = 0; index < loop->heap_count; index++) {
            loop->heap[kept] = loop->heap[index];
            kept += loop->heap[index].timer != NULL;
        }
        loop->heap_count = kept;
        loop->heap_disarmed = 0;
        bz_heapq_order(&heap, kept);
    }
    while (loop->heap_count > 0 && loop->heap[0].timer == NULL) {
        heapq_pop(loop);
        loop->heap_disarmed--;
    }
}

static uint32_t heapq_queue_due(struct bz_loop *loop) {
    uint32_t queued = 0;
    heapq_tidy(loop);
    while (loop->heap_count > 0 && loop->heap[0].when_ns <= loop->now_ns) {
        struct bz_timer *timer = loop->heap[0].timer;
        heapq_pop(loop);
        if (timer == NULL) {
            loop->heap_disarmed--;
            continue;
        }
        timer->heap_index = NOT_IN_HEAP;
        bz_ready_push(loop, &timer->handle);
        queued++;
    }
    return queued;
}

/* --- timers ----------------------------------------------------------------------------------- */

static void timer_run(struct bz_handle *handle) {
    struct bz_timer *timer = bz_container_of(handle, struct bz_timer, handle);
    timer->fire(timer);
}

void bz_timer_init(struct bz_timer *timer, struct bz_loop *loop,
                   void (*fire)(struct bz_timer *timer)) {
    bz_handle_init(&timer->handle, bz_loop_actor(loop), BZ_ROLE_TIMER, timer_run);
    timer->loop = loop;
    timer->fire = fire;
    timer->heap_index = NOT_IN_HEAP;
}

bool bz_timer_arm(struct bz_timer *timer, uint64_t when_ns) {
    struct bz_loop *loop = timer->loop;
    BZ_CHECK(timer->heap_index == NOT_IN_HEAP && !timer->handle.is_ready);
    if (when_ns == BZ_TIME_NEVER) {
        return true;
    }
    if (!bz_ready_reserve(loop, 1) ||
        (loop->heap_count == loop->heap_capacity && !heap_grow(loop))) {
        return false;
    }
    loop->ready_promised++;
    timer->when_ns = when_ns;
    timer->order = loop->timers_armed++;
    loop->heap[loop->heap_count] = (struct bz_heap_entry){when_ns, timer->order, timer};
    if (is_by_heapq(loop)) {
        heapq_push(loop, timer);
    } else {
        sift_up(loop, loop->heap_count++);
    }
    return true;
}

bool bz_timer_arm_now(struct bz_timer *timer) {
    struct bz_loop *loop = timer->loop;
    BZ_CHECK(timer->heap_index == NOT_IN_HEAP);
    if (!bz_ready_promise(loop)) {
        return false;
    }
    timer->when_ns = BZ_TIME_NEVER;
    bz_ready_push(loop, &timer->handle);
    return true;
}

void bz_timer_disarm(struct bz_timer *timer) {
    struct bz_loop *loop = timer->loop;
    if (timer->heap_index != NOT_IN_HEAP) {
        if (is_by_heapq(loop)) {
            heapq_disarm(loop, timer);
        } else {
            heap_remove(loop, timer->heap_index);
        }
    } else if (timer->handle.is_ready) {
        uint32_t index = loop->ready_count - 1;
        while (loop->ready[index] != &timer->handle) {
            BZ_CHECK(index-- > 0);
        }
        bz_driver_take(loop, index);
        loop->ready_withdrawn++;
    } else {
        return;
    }
    loop->ready_promised--;
}

uint32_t bz_driver_queue_due_timers(struct bz_loop *loop) {
    if (is_by_heapq(loop)) {
        return heapq_queue_due(loop);
    }
    uint32_t queued = 0;
    while (loop->heap_count > 0 && loop->heap[0].when_ns <= loop->now_ns) {
        struct bz_timer *timer = loop->heap[0].timer;
        heap_remove(loop, 0);
        bz_ready_push(loop, &timer->handle);
        queued++;
    }
    return queued;
}

/* --- asyncio.sleep(): a future that a timer completes ----------------------------------------- */

struct sleeper {
    struct bz_timer timer;
    struct bz_future future;
};

void bz_sleeper_fire(struct bz_timer *timer) {
    struct sleeper *sleeper = bz_container_of(timer, struct sleeper, timer);
    (void)bz_future_set_result(&sleeper->future, 0); /* refused if cancelled meanwhile */
}

/* In a frame of its own, as in sync/condition.c. */
static __attribute__((noinline)) enum bz_status sleep_for(struct bz_loop *loop, uint64_t delay_ns) {
    struct sleeper sleeper;
    bz_future_init(&sleeper.future, loop);
    bz_timer_init(&sleeper.timer, loop, bz_sleeper_fire);
    if (!bz_timer_arm(&sleeper.timer, bz_time_after(loop->now_ns, delay_ns))) {
        return BZ_NO_MEMORY;
    }
    enum bz_status status = bz_future_await_as(&sleeper.future, BZ_WAIT_SLEEP);
    bz_timer_disarm(&sleeper.timer);
    return status;
}

enum bz_status bz_sleep(struct bz_loop *loop, uint64_t delay_ns) {
    return delay_ns == 0 ? bz_yield(loop) : sleep_for(loop, delay_ns);
}
