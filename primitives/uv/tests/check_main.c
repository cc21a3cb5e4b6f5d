/* Checks the driver of libuv, with a plain main(), so that it also runs under ThreadSanitizer.
 *
 * Exit code 0: all is well; 1: something is not, said on stderr; 77: there is no loopback network.
 * No check depends on how fast the machine is.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "primitives/runtime/task.h"
#include "primitives/runtime/timeout.h"
#include "primitives/sync/semaphore.h"
#include "primitives/uv/tcp.h"

#define MS UINT64_C(1000000)

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "uv-check: '%s' does not hold at line %d\n", #condition, __LINE__);    \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* The environment of a check. */
struct world {
    struct bz_loop *loop;
    struct bz_uv *driver;
    uv_loop_t uv;
    uv_prepare_t before_poll;
    struct bz_semaphore permits;
    struct bz_task *other;
    struct bz_uv_op *op;
    struct bz_uv_tcp *stream;
    struct bz_uv_tcp listener;
    struct sockaddr_in address;
    uint32_t count;
    uint32_t polls;
    uint64_t begin_ns; /* on uv_hrtime() */
    int poll_ms_max;   /* the longest that libuv was to sleep */
};

/* Called after the driver's turn: the handle that was started first comes last. */
static void on_poll(uv_prepare_t *prepare) {
    struct world *world = prepare->data;
    int poll_ms = uv_backend_timeout(&world->uv);
    world->polls++;
    world->poll_ms_max = poll_ms > world->poll_ms_max ? poll_ms : world->poll_ms_max;
}

static void begin(struct world *world) {
    *world = (struct world){.loop = bz_loop_new(NULL), .begin_ns = uv_hrtime()};
    EXPECT(world->loop != NULL && uv_loop_init(&world->uv) == 0);
    uv_prepare_init(&world->uv, &world->before_poll);
    uv_prepare_start(&world->before_poll, on_poll);
    uv_unref((uv_handle_t *)&world->before_poll);
    world->before_poll.data = world;
    EXPECT(bz_uv_new(&world->driver, world->loop, &world->uv) == 0);
    EXPECT(bz_uv_loop(world->driver) == world->loop && bz_uv_uv(world->driver) == &world->uv);
    bz_semaphore_init(&world->permits, world->loop, 0);
}

static struct bz_task *spawn(struct world *world, bz_task_fn *fn) {
    struct bz_task *task = bz_task_spawn(world->loop, "task", 0, fn, world);
    EXPECT(task != NULL);
    bz_task_detach(task);
    return task;
}

static void end(struct world *world) {
    bz_uv_close(world->driver);
    uv_close((uv_handle_t *)&world->before_poll, NULL);
    uv_run(&world->uv, UV_RUN_DEFAULT);
    EXPECT(uv_loop_close(&world->uv) == 0);
    if (bz_loop_live_tasks(world->loop) == 0) {
        EXPECT(bz_mem_live_blocks(bz_loop_mem(world->loop)) == 2); /* the ready queue, the heap */
    }
    bz_loop_destroy(world->loop);
}

static void run(struct world *world, bz_task_fn *fn) {
    spawn(world, fn);
    EXPECT(bz_uv_run(world->driver) == BZ_OK);
    EXPECT(bz_uv_open_ops(world->driver) == 0);
}

/* --- the clock -------------------------------------------------------------------------------- */

static enum bz_status sleeper(void *arg) {
    struct world *world = arg;
    for (uint64_t delay_ns = 1; delay_ns <= 20 * MS; delay_ns = delay_ns * 7 + 3) {
        uint64_t begin_ns = bz_loop_now_ns(world->loop);
        EXPECT(bz_sleep(world->loop, delay_ns) == BZ_OK);
        EXPECT(bz_loop_now_ns(world->loop) >= begin_ns + delay_ns);
        EXPECT(bz_loop_now_ns(world->loop) <= uv_hrtime() - world->begin_ns);
    }
    world->polls = 0;
    EXPECT(bz_sleep(world->loop, 40 * MS) == BZ_OK);
    EXPECT(world->polls <= 4); /* sleeps in the kernel */
    world->poll_ms_max = 0;
    uint64_t wall_ns = uv_hrtime();
    while (uv_hrtime() - wall_ns < 20 * MS) { /* a long turn */
    }
    EXPECT(bz_sleep(world->loop, 25 * MS) == BZ_OK);
    EXPECT(world->poll_ms_max <= 6); /* does not sleep through it once more */
    return BZ_OK;
}

static enum bz_status out_of_time(void *arg) {
    struct world *world = arg;
    struct bz_timeout scope;
    EXPECT(bz_timeout_enter(world->loop, &scope, 2 * MS) == BZ_OK);
    EXPECT(bz_timeout_exit(&scope, bz_semaphore_acquire(&world->permits)) == BZ_TIMED_OUT);
    return BZ_OK;
}

static void check_clock(void) {
    struct world world;
    begin(&world);
    run(&world, sleeper);
    run(&world, out_of_time);
    end(&world);
}

/* --- the end of a run ------------------------------------------------------------------------- */

static enum bz_status acquirer(void *arg) {
    struct world *world = arg;
    return bz_semaphore_acquire(&world->permits);
}

static void on_late(uv_timer_t *timer) {
    struct world *world = timer->data;
    EXPECT(bz_semaphore_release(&world->permits) == BZ_OK);
    bz_uv_wake(world->driver);
    uv_close((uv_handle_t *)timer, NULL);
}

static void on_late_close(uv_handle_t *handle) {
    struct world *world = handle->data;
    EXPECT(bz_semaphore_release(&world->permits) == BZ_OK);
    bz_uv_wake(world->driver);
}

static enum bz_status stopper(void *arg) {
    struct world *world = arg;
    uv_stop(&world->uv);
    return bz_sleep(world->loop, MS);
}

/* A deadlock ends the run; whoever calls uv_run() and wakes from callbacks is served. */
static void check_end(void) {
    struct world world;
    begin(&world);
    EXPECT(bz_uv_run(world.driver) == BZ_OK); /* nothing to do */
    struct bz_task *task = spawn(&world, acquirer);
    EXPECT(bz_uv_run(world.driver) == BZ_INVALID_STATE);
    EXPECT(bz_loop_live_tasks(world.loop) == 1);
    bz_task_cancel(task);
    EXPECT(bz_uv_run(world.driver) == BZ_OK);
    spawn(&world, stopper);
    EXPECT(bz_uv_run(world.driver) == BZ_INVALID_STATE);
    EXPECT(bz_uv_run(world.driver) == BZ_OK); /* goes on */

    uv_timer_t timer;
    uv_timer_init(&world.uv, &timer);
    timer.data = &world;
    uv_timer_start(&timer, on_late, 1, 0);
    spawn(&world, acquirer);
    uv_run(&world.uv, UV_RUN_DEFAULT);
    EXPECT(bz_loop_live_tasks(world.loop) == 0);

    uv_timer_init(&world.uv, &timer);
    timer.data = &world;
    spawn(&world, acquirer);
    uv_close((uv_handle_t *)&timer, on_late_close);
    EXPECT(bz_uv_run(world.driver) == BZ_OK);
    end(&world);
}

/* --- other threads ---------------------------------------------------------------------------- */

#define THREADS 4u
#define POSTS 500u

struct posting {
    struct world *world;
    uv_mutex_t mutex;
    uv_cond_t cond;
    struct bz_list ops; /* to be posted */
    bool is_over;
};

struct posted {
    struct bz_uv_op op;
    struct bz_list link;
};

static void *poster(void *arg) {
    struct posting *posting = arg;
    uv_mutex_lock(&posting->mutex);
    for (;;) {
        struct bz_list *link = bz_list_pop_front(&posting->ops);
        if (link != NULL) {
            uv_mutex_unlock(&posting->mutex);
            bz_uv_op_post(&bz_container_of(link, struct posted, link)->op, 7);
            uv_mutex_lock(&posting->mutex);
        } else if (posting->is_over) {
            break;
        } else {
            uv_cond_wait(&posting->cond, &posting->mutex);
        }
    }
    uv_mutex_unlock(&posting->mutex);
    return NULL;
}

static enum bz_status awaiter(void *arg) {
    struct posting *posting = arg;
    for (unsigned round = 0; round < POSTS; round++) {
        struct posted posted = {.op = {0}};
        bz_uv_op_begin(&posted.op, posting->world->driver);
        uv_mutex_lock(&posting->mutex);
        bz_list_push_back(&posting->ops, &posted.link);
        uv_cond_signal(&posting->cond);
        uv_mutex_unlock(&posting->mutex);
        EXPECT(bz_uv_op_await(&posted.op) == BZ_OK && posted.op.value == 7);
        posting->world->count++;
    }
    return BZ_OK;
}

static void check_threads(void) {
    struct world world;
    begin(&world);
    struct posting posting = {.world = &world};
    pthread_t threads[THREADS];
    bz_list_init(&posting.ops);
    EXPECT(uv_mutex_init(&posting.mutex) == 0 && uv_cond_init(&posting.cond) == 0);
    for (unsigned index = 0; index < THREADS; index++) {
        EXPECT(pthread_create(&threads[index], NULL, poster, &posting) == 0);
        struct bz_task *task = bz_task_spawn(world.loop, "awaiter", index + 1, awaiter, &posting);
        EXPECT(task != NULL);
        bz_task_detach(task);
    }
    EXPECT(bz_uv_run(world.driver) == BZ_OK && world.count == THREADS * POSTS);
    uv_mutex_lock(&posting.mutex);
    posting.is_over = true;
    uv_cond_broadcast(&posting.cond);
    uv_mutex_unlock(&posting.mutex);
    for (unsigned index = 0; index < THREADS; index++) {
        pthread_join(threads[index], NULL);
    }
    uv_cond_destroy(&posting.cond);
    uv_mutex_destroy(&posting.mutex);
    end(&world);
}

/* --- cancelling operations -------------------------------------------------------------------- */

struct nap {
    struct bz_uv_op op;
    uv_work_t work;
    uv_sem_t end;
    unsigned hurried;
};

static void nap_work(uv_work_t *work) {
    uv_sem_wait(&bz_container_of(work, struct nap, work)->end);
}

static void nap_after(uv_work_t *work, int status) {
    bz_uv_op_complete(&bz_container_of(work, struct nap, work)->op, status);
}

static void nap_hurry(struct bz_uv_op *op) {
    struct nap *nap = bz_container_of(op, struct nap, op);
    nap->hurried++;
    uv_sem_post(&nap->end);
}

static enum bz_status napper(void *arg) {
    struct world *world = arg;
    struct nap nap = {.op = {.on_cancel = nap_hurry}};
    EXPECT(uv_sem_init(&nap.end, 0) == 0);
    bz_uv_op_begin(&nap.op, world->driver);
    world->op = &nap.op;
    EXPECT(uv_queue_work(&world->uv, &nap.work, nap_work, nap_after) == 0);
    enum bz_status status = bz_uv_op_await(&nap.op);
    EXPECT(nap.op.is_done && nap.op.value == 0); /* the thread is through with it */
    EXPECT(nap.hurried == (status == BZ_CANCELLED));
    uv_sem_destroy(&nap.end);
    world->op = NULL;
    return status;
}

/* Cancels twice: the hook is called once, and the task leaves only after the completion. */
static enum bz_status canceller(void *arg) {
    struct world *world = arg;
    struct bz_task *task = bz_task_spawn(world->loop, "napper", 0, napper, world);
    EXPECT(task != NULL && bz_yield(world->loop) == BZ_OK && world->op != NULL);
    bz_task_cancel(task);
    EXPECT(bz_yield(world->loop) == BZ_OK);
    bz_task_cancel(task);
    EXPECT(bz_task_join(task) == BZ_CANCELLED && world->op == NULL);
    bz_task_free(task);

    task = bz_task_spawn(world->loop, "napper", 0, napper, world);
    EXPECT(task != NULL && bz_yield(world->loop) == BZ_OK);
    uv_sem_post(&bz_container_of(world->op, struct nap, op)->end);
    EXPECT(bz_task_join(task) == BZ_OK);
    bz_task_free(task);

    /* Completed and cancelled in one step: nothing is lost. */
    struct bz_uv_op op = {0};
    bz_uv_op_begin(&op, world->driver);
    bz_uv_op_complete(&op, 5);
    bz_task_cancel(bz_loop_current(world->loop));
    EXPECT(bz_uv_op_await(&op) == BZ_CANCELLED && op.is_done && op.value == 5);
    bz_task_uncancel(bz_loop_current(world->loop));
    return BZ_OK;
}

static void withdraw(struct bz_uv_op *op) {
    struct world *world = op->data;
    world->count++;
}

/* Completed, then withdrawn before it was delivered. */
static enum bz_status withdrawer(void *arg) {
    struct world *world = arg;
    struct bz_uv_op op = {.on_cancel = withdraw, .withdraws = true, .data = world};
    bz_uv_op_begin(&op, world->driver);
    bz_task_cancel(bz_loop_current(world->loop));
    world->op = &op;
    EXPECT(bz_uv_op_await(&op) == BZ_CANCELLED && !op.is_done && world->count == 1);
    return BZ_CANCELLED;
}

static enum bz_status completer(void *arg) {
    struct world *world = arg;
    EXPECT(bz_yield(world->loop) == BZ_OK);
    bz_uv_op_complete(world->op, 1);
    return BZ_OK;
}

static void check_cancel(void) {
    struct world world;
    begin(&world);
    run(&world, canceller);
    spawn(&world, completer);
    run(&world, withdrawer);
    end(&world);
}

/* --- TCP -------------------------------------------------------------------------------------- */

/* Opens the listener of the world. */
static void listen_here(struct world *world) {
    uv_ip4_addr("127.0.0.1", 0, &world->address);
    enum bz_status status =
        bz_uv_tcp_listen(&world->listener, world->driver, (struct sockaddr *)&world->address, 8);
    if (status != BZ_OK) {
        printf("skipped: there is no loopback network: %s\n", uv_strerror(world->listener.error));
        exit(77);
    }
    int size = sizeof world->address;
    EXPECT(uv_tcp_getsockname(&world->listener.handle, (struct sockaddr *)&world->address, &size) ==
           0);
}

static enum bz_status echo(void *arg) {
    struct world *world = arg;
    struct bz_uv_tcp stream;
    char buffer[7];
    size_t count = 0;
    enum bz_status status = bz_uv_tcp_accept(&world->listener, &stream);
    if (status != BZ_OK) {
        return status;
    }
    while (status == BZ_OK) {
        status = bz_uv_tcp_read(&stream, buffer, sizeof buffer, &count);
        if (status == BZ_OK) {
            status = bz_uv_tcp_write(&stream, buffer, count);
        }
    }
    EXPECT(status == BZ_CLOSED);
    return bz_uv_tcp_close(&stream);
}

static enum bz_status caller(void *arg) {
    struct world *world = arg;
    struct bz_uv_tcp stream;
    char buffer[64];
    size_t count;
    listen_here(world);
    struct bz_task *task = bz_task_spawn(world->loop, "echo", 0, echo, world);
    EXPECT(task != NULL);
    EXPECT(bz_uv_tcp_connect(&stream, world->driver, (struct sockaddr *)&world->address) == BZ_OK);
    for (unsigned round = 0; round < 3; round++) {
        EXPECT(bz_uv_tcp_write(&stream, "hello, world", 12) == BZ_OK);
        for (size_t got = 0; got < 12; got += count) {
            EXPECT(bz_uv_tcp_read(&stream, buffer, 12 - got, &count) == BZ_OK);
            EXPECT(memcmp(buffer, &"hello, world"[got], count) == 0);
        }
        EXPECT(bz_sleep(world->loop, MS) == BZ_OK);
    }
    struct bz_timeout scope;
    EXPECT(bz_timeout_enter(world->loop, &scope, 2 * MS) == BZ_OK);
    enum bz_status status = bz_uv_tcp_read(&stream, buffer, sizeof buffer, &count);
    EXPECT(bz_timeout_exit(&scope, status) == BZ_TIMED_OUT && count == 0);
    EXPECT(bz_uv_tcp_write(&stream, "bye", 3) == BZ_OK); /* the read left it as it was */
    EXPECT(bz_uv_tcp_read(&stream, buffer, 3, &count) == BZ_OK && count > 0);
    EXPECT(bz_uv_tcp_close(&stream) == BZ_OK);
    EXPECT(bz_task_join(task) == BZ_OK);
    bz_task_free(task);
    return bz_uv_tcp_close(&world->listener);
}

/* Writes until the peer's buffers are full, and is cancelled then. */
static enum bz_status flooder(void *arg) {
    struct world *world = arg;
    static char block[1 << 20];
    enum bz_status status = BZ_OK;
    while (status == BZ_OK) {
        world->count++;
        status = bz_uv_tcp_write(world->stream, block, sizeof block);
    }
    EXPECT(bz_uv_tcp_write(world->stream, block, 1) == BZ_FAILED);
    EXPECT(world->stream->error == UV_ECANCELED);
    return status;
}

static enum bz_status reader(void *arg) {
    struct world *world = arg;
    char buffer[4];
    size_t count;
    enum bz_status status = bz_uv_tcp_read(world->stream, buffer, sizeof buffer, &count);
    EXPECT(status == BZ_CANCELLED || world->stream->error == UV_ECANCELED);
    return status;
}

static enum bz_status unsociable(void *arg) {
    struct world *world = arg;
    struct bz_uv_tcp stream;
    struct bz_uv_tcp peer;
    listen_here(world);

    /* Acceptors are served in order; one that is cancelled leaves the queue. */
    struct bz_task *echoes[2];
    for (unsigned index = 0; index < 2; index++) {
        echoes[index] = bz_task_spawn(world->loop, "echo", index, echo, world);
        EXPECT(echoes[index] != NULL && bz_yield(world->loop) == BZ_OK);
    }
    bz_task_cancel(echoes[0]);
    EXPECT(bz_task_join(echoes[0]) == BZ_CANCELLED);
    EXPECT(bz_uv_tcp_connect(&stream, world->driver, (struct sockaddr *)&world->address) == BZ_OK);
    EXPECT(bz_uv_tcp_close(&stream) == BZ_OK && bz_task_join(echoes[1]) == BZ_OK);
    bz_task_free(echoes[0]);
    bz_task_free(echoes[1]);

    /* A cancelled write closes the stream, and wakes its reader. A second reader is refused. */
    EXPECT(bz_uv_tcp_connect(&stream, world->driver, (struct sockaddr *)&world->address) == BZ_OK);
    EXPECT(bz_uv_tcp_accept(&world->listener, &peer) == BZ_OK);
    world->stream = &stream;
    struct bz_task *tasks[2] = {bz_task_spawn(world->loop, "flooder", 0, flooder, world),
                                bz_task_spawn(world->loop, "reader", 0, reader, world)};
    EXPECT(tasks[0] != NULL && tasks[1] != NULL && bz_yield(world->loop) == BZ_OK);
    char byte;
    size_t count;
    EXPECT(bz_uv_tcp_read(&stream, &byte, 1, &count) == BZ_INVALID_STATE);
    uint32_t before;
    do {
        before = world->count;
        EXPECT(bz_sleep(world->loop, 10 * MS) == BZ_OK);
    } while (world->count != before);
    bz_task_cancel(tasks[0]);
    EXPECT(bz_task_join(tasks[0]) == BZ_CANCELLED && bz_task_join(tasks[1]) == BZ_FAILED);
    bz_task_free(tasks[0]);
    bz_task_free(tasks[1]);
    EXPECT(bz_uv_tcp_close(&stream) == BZ_OK && bz_uv_tcp_close(&peer) == BZ_OK);

    /* A cancelled connect; a connection that nobody accepts; one that is refused. */
    bz_task_cancel(bz_loop_current(world->loop));
    enum bz_status status =
        bz_uv_tcp_connect(&stream, world->driver, (struct sockaddr *)&world->address);
    EXPECT(status == BZ_CANCELLED);
    bz_task_uncancel(bz_loop_current(world->loop));
    EXPECT(bz_uv_tcp_close(&stream) == BZ_OK);
    EXPECT(bz_uv_tcp_connect(&stream, world->driver, (struct sockaddr *)&world->address) == BZ_OK);
    EXPECT(bz_uv_tcp_close(&stream) == BZ_OK);
    EXPECT(bz_uv_tcp_close(&world->listener) == BZ_OK);
    EXPECT(bz_uv_tcp_connect(&stream, world->driver, (struct sockaddr *)&world->address) ==
           BZ_FAILED);
    EXPECT(stream.error == UV_ECONNREFUSED && bz_uv_tcp_close(&stream) == BZ_OK);
    return BZ_OK;
}

static void check_tcp(void) {
    struct world world;
    begin(&world);
    run(&world, caller);
    run(&world, unsociable);
    end(&world);
}

int main(void) {
    check_clock();
    check_end();
    check_threads();
    check_cancel();
    check_tcp();
    printf("the clock, the end, threads, cancels and TCP: all is well\n");
    return 0;
}
