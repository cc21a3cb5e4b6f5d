/* Shared by all tests of primitives: a FIFO driver with its own clock, a log of words, and the
 * check that nothing is left behind.
 *
 * What a test does between two turns (release, cancel, set_result) is an event from outside, like
 * an I/O callback. "Cancel, then release" within one turn is two lines in that order.
 */
#ifndef BZ_TESTS_SUPPORT_H
#define BZ_TESTS_SUPPORT_H

#include <criterion/criterion.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "primitives/runtime/coro/san.h"
#include "primitives/runtime/internal.h"
#include "primitives/runtime/mem.h"

/* Seeds of a long test: a sanitizer is several times as slow. */
#define TST_SEEDS(count) (BZ_SAN_ADDRESS ? (count) / 4 : (count))

#define tst_text(actual, expected) cr_assert_str_eq((char *)(actual), (char *)(expected))

/* Compares two statuses by name, so that a failure reads well. */
#define tst_status(actual, expected) tst_text(bz_status_name(actual), bz_status_name(expected))

/* --- the log ---------------------------------------------------------------------------------- */

struct tst_log {
    size_t length;
    char text[8192];
};

/* Appends words; entries are separated by one blank. */
__attribute__((format(printf, 2, 3))) static inline void tst_say(struct tst_log *log,
                                                                 const char *format, ...) {
    size_t room = sizeof log->text - log->length;
    va_list arguments;
    va_start(arguments, format);
    int separator = log->length > 0;
    if (separator) {
        log->text[log->length] = ' ';
    }
    int written = vsnprintf(log->text + log->length + separator, room - 1, format, arguments);
    va_end(arguments);
    cr_assert(written >= 0 && (size_t)written + 2 < room, "the log of the test is full");
    log->length += (size_t)(written + separator);
}

/* The log so far must be `expected`. */
#define tst_expect(log, expected) tst_text((log)->text, expected)

static inline void tst_forget(struct tst_log *log) {
    log->length = 0;
    log->text[0] = '\0';
}

/* --- the driver ------------------------------------------------------------------------------- */

/* One turn: due timers are queued, then exactly what is in the queue runs, in order. */
static inline void tst_turn(struct bz_loop *loop) {
    bz_driver_begin_turn(loop);
    while (bz_driver_turn_left(loop) > 0) {
        bz_driver_step(loop, bz_driver_take(loop, 0));
    }
}

static inline void tst_turns(struct bz_loop *loop, unsigned count) {
    while (count-- > 0) {
        tst_turn(loop);
    }
}

static inline void tst_advance(struct bz_loop *loop, uint64_t delay_ns) {
    bz_driver_set_now(loop, bz_loop_now_ns(loop) + delay_ns);
}

/* True if there is something to run; time jumps to the next deadline if nothing is ready now. */
static inline bool tst_more(struct bz_loop *loop) {
    uint64_t deadline_ns = bz_driver_next_deadline_ns(loop);
    if (bz_driver_ready_count(loop) == 0 && deadline_ns != BZ_TIME_NEVER &&
        deadline_ns > bz_loop_now_ns(loop)) {
        bz_driver_set_now(loop, deadline_ns);
    }
    return bz_driver_ready_count(loop) > 0 || deadline_ns != BZ_TIME_NEVER;
}

/* Turns until nothing is ready and no timer is armed. */
static inline void tst_run(struct bz_loop *loop) {
    while (tst_more(loop)) {
        tst_turn(loop);
    }
}

/* --- the loop --------------------------------------------------------------------------------- */

/* Blocks that a loop owns itself: its ready queue and its timer heap. */
#define TST_LOOP_BLOCKS 2u

static inline struct bz_loop *tst_begin_with(const struct bz_loop_config *config) {
    struct bz_loop *loop = bz_loop_new(config);
    cr_assert_not_null(loop);
    cr_assert_eq(bz_mem_live_blocks(bz_loop_mem(loop)), TST_LOOP_BLOCKS);
    return loop;
}

static inline struct bz_loop *tst_begin(void) {
    return tst_begin_with(NULL);
}

/* The last line of a test: every task has ended, nothing is queued, and every block was freed. */
static inline void tst_end(struct bz_loop *loop) {
    cr_assert_eq(bz_loop_live_tasks(loop), 0);
    cr_assert_eq(bz_driver_ready_count(loop), 0);
    cr_assert_eq(loop->ready_promised, 0);
    cr_assert_eq(bz_driver_next_deadline_ns(loop), BZ_TIME_NEVER);
    cr_assert_eq(bz_mem_live_blocks(bz_loop_mem(loop)), TST_LOOP_BLOCKS);
    bz_loop_destroy(loop);
}

static inline struct bz_task *tst_spawn(struct bz_loop *loop, bz_task_fn *fn, void *arg) {
    struct bz_task *task = bz_task_spawn(loop, "task", 0, fn, arg);
    cr_assert_not_null(task);
    return task;
}

/* Spawns a task that frees itself. */
static inline void tst_start(struct bz_loop *loop, bz_task_fn *fn, void *arg) {
    bz_task_detach(tst_spawn(loop, fn, arg));
}

/* Queues a handle. */
static inline void tst_call_soon(struct bz_loop *loop, struct bz_handle *handle,
                                 void (*run)(struct bz_handle *)) {
    bool is_queued = bz_loop_call_soon(loop, handle, run);
    cr_assert(is_queued);
}

/* Allocates all memory that is left, down to the smallest block. */
static inline void tst_exhaust(struct bz_mem *mem) {
    for (size_t size_bytes = 1 << 20; size_bytes > 0; size_bytes /= 2) {
        while (bz_mem_alloc(mem, size_bytes) != NULL) {
        }
    }
}

/* The outcome of a done task, which is freed. */
static inline enum bz_status tst_outcome(struct bz_task *task) {
    cr_assert(bz_task_is_done(task), "the task has not ended");
    enum bz_status status = (enum bz_status)task->done.status;
    bz_task_free(task);
    return status;
}

/* --- draws ------------------------------------------------------------------------------------ */

/* A small generator of the tests' own (xorshift64*): equal on every machine. */
struct tst_draw {
    uint64_t state;
};

static inline struct tst_draw tst_draw_seeded(uint64_t seed) {
    return (struct tst_draw){.state = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15) | 1};
}

static inline uint32_t tst_draw(struct tst_draw *draw, uint32_t bound) {
    draw->state ^= draw->state >> 12;
    draw->state ^= draw->state << 25;
    draw->state ^= draw->state >> 27;
    uint64_t bits = draw->state * UINT64_C(0x2545f4914f6cdd1d);
    return (uint32_t)(((bits >> 32) * bound) >> 32);
}

#endif
