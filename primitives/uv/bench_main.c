/* Measures the driver: uv-bench [PAIRS [WAITERS]], by default 20,000,000 and 100,000. Prints a line
 * for each measurement. The loop is live: libuv polls between turns. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "primitives/runtime/check.h"
#include "primitives/runtime/task.h"
#include "primitives/sync/semaphore.h"
#include "primitives/uv/driver.h"

#define PAIRS_A_STEP 10000u

struct bench {
    struct bz_loop *loop;
    struct bz_uv *driver;
    uv_loop_t uv;
    struct bz_semaphore permits;
    struct bz_uv_op *op;
    uv_sem_t op_begun;
    uint64_t count;
    uint32_t waiters;
};

static void report(const char *name, uint64_t count, uint64_t begin_ns) {
    uint64_t spent_ns = uv_hrtime() - begin_ns + 1;
    printf("%-34s %12" PRIu64 " /s  %8" PRIu64 " ns each\n", name,
           (uint64_t)((__uint128_t)count * 1000000000u / spent_ns), spent_ns / count);
}

static void begin(struct bench *bench, uint32_t permits) {
    const struct bz_loop_config config = {.stack_bytes = 16384};
    bench->loop = bz_loop_new(&config);
    BZ_CHECK(bench->loop != NULL && uv_loop_init(&bench->uv) == 0);
    BZ_CHECK(bz_uv_new(&bench->driver, bench->loop, &bench->uv) == 0);
    bz_semaphore_init(&bench->permits, bench->loop, permits);
}

static void spawn(struct bench *bench, bz_task_fn *fn) {
    struct bz_task *task = bz_task_spawn(bench->loop, "task", 0, fn, bench);
    BZ_CHECK(task != NULL);
    bz_task_detach(task);
}

static void finish(struct bench *bench) {
    BZ_CHECK(bz_uv_run(bench->driver) == BZ_OK);
    bz_uv_close(bench->driver);
    uv_run(&bench->uv, UV_RUN_DEFAULT);
    BZ_CHECK(uv_loop_close(&bench->uv) == 0);
    bz_loop_destroy(bench->loop);
}

/* --- what is measured ------------------------------------------------------------------------- */

static enum bz_status pairs(void *arg) {
    struct bench *bench = arg;
    for (uint64_t done = 0; done < bench->count; done++) {
        BZ_CHECK(bz_semaphore_acquire(&bench->permits) == BZ_OK);
        BZ_CHECK(bz_semaphore_release(&bench->permits) == BZ_OK);
        if (done % PAIRS_A_STEP == 0) {
            BZ_CHECK(bz_yield(bench->loop) == BZ_OK);
        }
    }
    return BZ_OK;
}

static enum bz_status hand_over(void *arg) {
    struct bench *bench = arg;
    while (bench->count > 0) {
        BZ_CHECK(bz_semaphore_acquire(&bench->permits) == BZ_OK);
        bench->count -= bench->count > 0;
        BZ_CHECK(bz_yield(bench->loop) == BZ_OK);
        BZ_CHECK(bz_semaphore_release(&bench->permits) == BZ_OK);
    }
    return BZ_OK;
}

static enum bz_status waiter(void *arg) {
    struct bench *bench = arg;
    BZ_CHECK(bz_semaphore_acquire(&bench->permits) == BZ_OK);
    bench->count++;
    return BZ_OK;
}

static enum bz_status waker(void *arg) {
    struct bench *bench = arg;
    uint64_t begin_ns = uv_hrtime();
    for (uint32_t index = 0; index < bench->waiters; index++) {
        spawn(bench, waiter);
    }
    BZ_CHECK(bz_yield(bench->loop) == BZ_OK);
    BZ_CHECK(bench->permits.queue.waiting_count == bench->waiters);
    report("waiters spawned and queued", bench->waiters, begin_ns);
    begin_ns = uv_hrtime();
    for (uint32_t index = 0; index < bench->waiters; index++) {
        BZ_CHECK(bz_semaphore_release(&bench->permits) == BZ_OK);
    }
    BZ_CHECK(bz_yield(bench->loop) == BZ_OK);
    BZ_CHECK(bench->count == bench->waiters);
    report("waiters released and resumed", bench->waiters, begin_ns);
    return BZ_OK;
}

static enum bz_status yielder(void *arg) {
    struct bench *bench = arg;
    for (uint64_t done = 0; done < bench->count; done++) {
        BZ_CHECK(bz_yield(bench->loop) == BZ_OK);
    }
    return BZ_OK;
}

static enum bz_status asker(void *arg) {
    struct bench *bench = arg;
    for (uint64_t done = 0; done < bench->count; done++) {
        struct bz_uv_op op = {0};
        bz_uv_op_begin(&op, bench->driver);
        bench->op = &op;
        uv_sem_post(&bench->op_begun);
        BZ_CHECK(bz_uv_op_await(&op) == BZ_OK);
    }
    return BZ_OK;
}

static void *answerer(void *arg) {
    struct bench *bench = arg;
    for (uint64_t left = bench->count; left > 0; left--) {
        uv_sem_wait(&bench->op_begun);
        bz_uv_op_post(bench->op, 0);
    }
    return NULL;
}

int main(int argc, char **argv) {
    uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 20000000;
    uint32_t waiters = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 100000;
    if (argc > 3 || count < 1000 || waiters == 0) {
        fprintf(stderr, "usage: %s [PAIRS [WAITERS]]\n", argv[0]);
        return 2;
    }
    struct bench bench = {.waiters = waiters};

    begin(&bench, 1);
    bench.count = count;
    spawn(&bench, pairs);
    uint64_t begin_ns = uv_hrtime();
    finish(&bench);
    report("uncontended acquire and release", count, begin_ns);

    begin(&bench, 1);
    bench.count = count / 20;
    for (unsigned index = 0; index < 64; index++) {
        spawn(&bench, hand_over);
    }
    begin_ns = uv_hrtime();
    finish(&bench);
    report("contended hand-over, 64 tasks", count / 20, begin_ns);

    begin(&bench, 0);
    bench.count = 0;
    spawn(&bench, waker);
    finish(&bench);

    begin(&bench, 0);
    bench.count = count / 20;
    spawn(&bench, yielder);
    begin_ns = uv_hrtime();
    finish(&bench);
    report("turn with one step and one poll", count / 20, begin_ns);

    begin(&bench, 0);
    bench.count = count / 200;
    BZ_CHECK(uv_sem_init(&bench.op_begun, 0) == 0);
    pthread_t thread;
    BZ_CHECK(pthread_create(&thread, NULL, answerer, &bench) == 0);
    spawn(&bench, asker);
    begin_ns = uv_hrtime();
    finish(&bench);
    report("round trip to another thread", count / 200, begin_ns);
    pthread_join(thread, NULL);
    uv_sem_destroy(&bench.op_begun);

    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("%-34s %12ld KiB\n", "most memory in use", usage.ru_maxrss);
    return 0;
}
