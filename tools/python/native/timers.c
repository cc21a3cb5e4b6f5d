/* The timers of a loop: a heap with the very moves of the module heapq, which asyncio uses.
 *
 * A real clock continues between two readings, so two timers that a stock loop arms with the same
 * delay never have the same time: the one that was armed first is the first. Here the clock stands
 * still, so of timers with the same time the one that was made of an earlier reading comes first.
 * Those of one reading (`when = loop.time() + 1`, and several call_at(when)) come as the heap
 * leaves them, which is the stock loop's order again. */
#include "primitives/runtime/heapq.h"
#include "tools/python/native/native.h"

/* As asyncio.base_events: cancelled timers leave a heap of more than so many once they are more
 * than half. Before, they leave it at its head. */
#define SWEPT_FROM 100u

static bool is_before(const void *left, const void *right) {
    const struct bz_py_handle *a = *(struct bz_py_handle *const *)left;
    const struct bz_py_handle *b = *(struct bz_py_handle *const *)right;
    return a->when_ns != b->when_ns   ? a->when_ns < b->when_ns && !bz_py_is_nan(a->when_ns)
           : a->reading != b->reading ? a->reading < b->reading
                                      : a->when_s < b->when_s;
}

static struct bz_heapq heap_of(const struct bz_py_loop *loop) {
    return (struct bz_heapq){loop->heap, sizeof *loop->heap, is_before};
}

bool bz_py_timers_push(struct bz_py_loop *loop, struct bz_py_handle *handle) {
    if (loop->heap_count == loop->heap_capacity &&
        !bz_py_grow((void **)&loop->heap, &loop->heap_capacity, sizeof *loop->heap)) {
        return false;
    }
    Py_INCREF(handle);
    handle->loop = loop;
    handle->is_armed = true;
    loop->heap[loop->heap_count++] = handle;
    struct bz_heapq heap = heap_of(loop);
    bz_heapq_to_root(&heap, 0, loop->heap_count - 1);
    return true;
}

struct bz_py_handle *bz_py_timers_pop(struct bz_py_loop *loop) {
    struct bz_py_handle *first = loop->heap[0];
    struct bz_heapq heap = heap_of(loop);
    bz_heapq_drop_first(&heap, loop->heap_count--);
    first->loop = NULL;
    first->is_armed = false;
    return first;
}

static void rebuild(struct bz_py_loop *loop) {
    uint32_t kept = 0;
    for (uint32_t index = 0; index < loop->heap_count; index++) {
        struct bz_py_handle *handle = loop->heap[index];
        if (handle->is_cancelled) {
            handle->loop = NULL;
            Py_DECREF(handle);
        } else {
            loop->heap[kept++] = handle;
        }
    }
    loop->heap_count = kept;
    struct bz_heapq heap = heap_of(loop);
    bz_heapq_order(&heap, kept);
    loop->cancelled_timers = 0;
}

void bz_py_timers_sweep(struct bz_py_loop *loop) {
    if (loop->heap_count > SWEPT_FROM && 2 * loop->cancelled_timers > loop->heap_count) {
        rebuild(loop);
    }
    while (loop->heap_count > 0 && loop->heap[0]->is_cancelled) {
        loop->cancelled_timers--;
        Py_DECREF(bz_py_timers_pop(loop));
    }
}
