/* The timers of a loop: a heap with the very moves of the module heapq, which asyncio uses.
 *
 * A real clock continues between two readings, so two timers that a stock loop arms with the same
 * delay never have the same time: the one that was armed first is the first. Here the clock stands
 * still, so of timers with the same time the one that was made of an earlier reading comes first.
 * Those of one reading (`when = loop.time() + 1`, and several call_at(when)) come as the heap
 * leaves them, which is the stock loop's order again.
 *
 * That is the clock of a loop that wakes late, by more than passes between two readings. In order
 * fifo, a run may have another one, which is a choice on the tape:
 *
 *     prompt   the loop wakes at once: a timer that is armed then has as little delay as the timer
 *              that woke the loop, of which it has the `origin`, and comes before all that were
 *              armed after that one
 *     coarse   it stands still between readings, and equal times are as the heap leaves them */
#include "primitives/runtime/heapq.h"
#include "tools/python/native/native.h"

/* As asyncio.base_events: cancelled timers leave a heap of more than so many once they are more
 * than half. Before, they leave it at its head. */
#define SWEPT_FROM 100u

static bool is_coarse(struct bz_py_loop *loop) {
    struct bz_py_loop *root = loop->root;
    if (root->is_coarse == BZ_PY_UNASKED && loop->is_fifo && root->is_prompt != BZ_PY_YES) {
        root->is_coarse = bz_judge_retimes(loop->judge) ? BZ_PY_YES : BZ_PY_NO;
    }
    return root->is_coarse == BZ_PY_YES;
}

/* A new timer has the latest reading: only where the loop takes timers out, two of equal time make
 * it ask for the clock. */
static bool is_before(const void *left, const void *right) {
    const struct bz_py_handle *a = *(struct bz_py_handle *const *)left;
    const struct bz_py_handle *b = *(struct bz_py_handle *const *)right;
    if (a->when_ns != b->when_ns) {
        return a->when_ns < b->when_ns && !bz_py_is_nan(a->when_ns);
    }
    if (a->origin != b->origin && a->loop->root->is_prompt == BZ_PY_YES) {
        return a->origin < b->origin;
    }
    if (a->reading < b->reading
            ? !is_coarse(a->loop)
            : a->reading > b->reading && a->loop->root->is_coarse != BZ_PY_YES) {
        return a->reading < b->reading;
    }
    return a->when_s < b->when_s;
}

static void enter_instant(struct bz_py_loop *loop) {
    if (loop->instant_ns != loop->root->now_ns) {
        loop->instant_ns = loop->root->now_ns;
        loop->origin = loop->own_origin = 0;
    }
}

void bz_py_timers_read(struct bz_py_loop *loop) {
    enter_instant(loop);
    loop->readings++;
    if (loop->origin == 0) {
        loop->own_origin = loop->readings;
    }
    loop->read_origin = loop->origin == 0 ? loop->readings : loop->origin;
}

static void note_fired(struct bz_py_loop *loop, const struct bz_py_handle *timer) {
    if (timer->when_ns == (int64_t)loop->root->now_ns) {
        enter_instant(loop);
        loop->origin = timer->origin > loop->origin ? timer->origin : loop->origin;
        loop->origin = loop->own_origin > loop->origin ? loop->own_origin : loop->origin;
    }
}

void bz_py_timers_choose_clock(struct bz_py_loop *loop) {
    struct bz_py_loop *root = loop->root;
    if (root->is_prompt == BZ_PY_UNASKED && loop->is_fifo && loop->heap_count > 1 &&
        root->is_coarse != BZ_PY_YES) {
        root->is_prompt = bz_judge_retimes(loop->judge) ? BZ_PY_YES : BZ_PY_NO;
    }
}

bool bz_py_timers_split(const struct bz_py_handle *timer, const struct bz_py_handle *before) {
    struct bz_py_loop *root = timer->loop->root;
    bool is_same = before != NULL && before->when_ns == timer->when_ns &&
                   (before->reading == timer->reading || root->is_coarse == BZ_PY_YES);
    if (is_same || !timer->is_ahead || timer->when_ns != (int64_t)root->now_ns ||
        !bz_judge_retimes(root->judge)) {
        return false;
    }
    root->is_coarse = BZ_PY_NO; /* that clock would show it as due */
    return true;
}

static struct bz_heapq heap_of(const struct bz_py_loop *loop) {
    return (struct bz_heapq){loop->heap, sizeof *loop->heap, is_before};
}

/* A timer at exactly the same time, which no clock tells apart: the program armed both with one
 * number, or with one that it had rounded. NULL: none. */
static const struct bz_py_handle *find_twin(const struct bz_py_loop *loop,
                                            const struct bz_py_handle *handle) {
    bool is_whole = PyLong_Check(handle->when);
    for (uint32_t index = 0; index < loop->heap_count; index++) {
        const struct bz_py_handle *other = loop->heap[index];
        if (other->when == handle->when || (is_whole && other->when_ns == handle->when_ns &&
                                            other->when != NULL && PyLong_Check(other->when))) {
            return other;
        }
    }
    return NULL;
}

bool bz_py_timers_push(struct bz_py_loop *loop, struct bz_py_handle *handle) {
    if (loop->heap_count == loop->heap_capacity &&
        !bz_py_grow((void **)&loop->heap, &loop->heap_capacity, sizeof *loop->heap)) {
        return false;
    }
    Py_INCREF(handle);
    handle->loop = loop;
    handle->is_armed = true;
    handle->is_ahead = handle->when_ns > (int64_t)loop->root->now_ns;
    handle->reading = loop->readings;
    handle->origin = loop->read_origin;
    const struct bz_py_handle *twin =
        handle->when != NULL && bz_judge_is_newer(loop->judge, BZ_OLDER_NEVER_RETIMES)
            ? find_twin(loop, handle)
            : NULL;
    if (twin != NULL && twin->reading < handle->reading) {
        handle->reading = twin->reading;
        handle->origin = twin->origin;
        if (loop->root->is_coarse == BZ_PY_UNASKED) {
            loop->root->is_coarse = BZ_PY_NO; /* no choice is made in the middle of a step */
        }
    }
    loop->heap[loop->heap_count++] = handle;
    struct bz_heapq heap = heap_of(loop);
    bz_heapq_to_root(&heap, 0, loop->heap_count - 1);
    return true;
}

struct bz_py_handle *bz_py_timers_pop(struct bz_py_loop *loop) {
    struct bz_py_handle *first = loop->heap[0];
    struct bz_heapq heap = heap_of(loop);
    bz_heapq_drop_first(&heap, loop->heap_count--);
    note_fired(loop, first);
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
