#include "scenarios/live/tests/party.h"

#include <stdlib.h>

#include "primitives/runtime/task.h"
#include "primitives/runtime/timeout.h"
#include "primitives/runtime/timer.h"

#define MS UINT64_C(1000000)
#define TIP 7u /* of every guest: values of a queue may repeat */

/* --- a wait for the outside: some milliseconds in a thread of libuv's pool ----------------------
 */

struct nap {
    struct bz_uv_op op;
    uv_work_t work;
};

static void asleep(uv_work_t *work) {
    (void)work;
    uv_sleep(2);
}

static void awake(uv_work_t *work, int status) {
    bz_uv_op_complete(&bz_container_of(work, struct nap, work)->op, status);
}

static enum bz_status nap(struct party *party) {
    struct nap nap = {.op = {.withdraws = false}};
    bz_uv_op_begin(&nap.op, party->driver);
    if (!bz_uv_is_replay(party->driver)) {
        BZ_CHECK(uv_queue_work(bz_uv_uv(party->driver), &nap.work, asleep, awake) == 0);
    }
    return bz_uv_op_await(&nap.op);
}

/* --- the guests ------------------------------------------------------------------------------- */

static enum bz_status is_fine(enum bz_status status) {
    BZ_CHECK(status == BZ_OK);
    return status;
}

/* A lock of its own, on the stack of the task: it ends before the run does. */
static void think(struct party *party) {
    struct bz_lock mind;
    bz_lock_init(&mind, party->loop);
    is_fine(bz_lock_acquire(&mind));
    is_fine(bz_yield(party->loop));
    is_fine(bz_lock_release(&mind));
}

static void eat(struct party *party) {
    struct bz_timeout patience;
    is_fine(bz_timeout_enter(party->loop, &patience, 1 * MS));
    enum bz_status status = bz_timeout_exit(&patience, bz_semaphore_acquire(&party->tables));
    if (status == BZ_TIMED_OUT) {
        status = bz_semaphore_acquire(&party->tables);
    }
    is_fine(status);
    is_fine(nap(party));
    if (party->mode != PARTY_FORGETS) {
        is_fine(bz_semaphore_release(&party->tables));
    }
}

static enum bz_status guest(void *arg) {
    struct party *party = arg;
    is_fine(bz_sync_event_wait(&party->doors));
    think(party);
    eat(party);
    is_fine(bz_queue_put(&party->orders, TIP));
    is_fine(bz_lock_acquire(&party->kitchen));
    while (party->dishes == 0) {
        is_fine(bz_condition_wait(&party->served));
    }
    party->dishes--;
    is_fine(bz_lock_release(&party->kitchen));
    if (party->mode == PARTY_STOPS && !bz_uv_is_replay(party->driver)) {
        uv_stop(bz_uv_uv(party->driver));
    }
    if (party->mode == PARTY_CRASHES && !bz_uv_is_replay(party->driver)) {
        _Exit(9);
    }
    is_fine(bz_barrier_wait(&party->toast, NULL));
    party->guests_left++;
    return BZ_OK;
}

/* Locks of another loop, which a task drives: nobody announces them. */
static enum bz_status elsewhere(void *arg) {
    struct bz_lock *lock = arg;
    is_fine(bz_lock_acquire(lock));
    return bz_lock_release(lock);
}

static void drive_another_loop(void) {
    struct bz_loop *loop = bz_loop_new(NULL);
    struct bz_lock lock;
    BZ_CHECK(loop != NULL);
    bz_lock_init(&lock, loop);
    for (uint32_t number = 1; number <= 2; number++) {
        struct bz_task *task = bz_task_spawn(loop, "elsewhere", number, elsewhere, &lock);
        BZ_CHECK(task != NULL);
        bz_task_detach(task);
    }
    is_fine(bz_loop_run(loop));
    bz_loop_destroy(loop);
}

/* A callback of the loop that wakes a getter. */
static void tip(struct bz_timer *timer) {
    struct party *party = bz_container_of(timer, struct party, tip_jar);
    is_fine(bz_queue_try_put(&party->orders, TIP));
}

/* Changes its mind in the window: it was given a table, and has not resumed. */
static enum bz_status early_guest(void *arg) {
    struct party *party = arg;
    enum bz_status status = bz_semaphore_acquire(&party->tables);
    BZ_CHECK(status == BZ_CANCELLED);
    return BZ_OK;
}

static void turn_away(struct party *party) {
    is_fine(bz_semaphore_acquire(&party->tables));
    struct bz_task *task = bz_task_spawn(party->loop, "early-guest", 0, early_guest, party);
    BZ_CHECK(task != NULL);
    is_fine(nap(party));
    is_fine(bz_semaphore_release(&party->tables));
    bz_task_cancel(task);
    is_fine(bz_task_join(task));
    bz_task_free(task);
}

static enum bz_status host(void *arg) {
    struct party *party = arg;
    uint64_t first = 0;
    drive_another_loop();
    turn_away(party);
    BZ_CHECK(bz_timer_arm(&party->tip_jar, bz_loop_now_ns(party->loop) + 1));
    is_fine(bz_queue_get(&party->orders, &first));
    is_fine(bz_queue_task_done(&party->orders));
    BZ_CHECK(first == TIP);
    bz_sync_event_set(&party->doors);
    for (unsigned count = 0; count < GUESTS; count++) {
        uint64_t tip = 0;
        is_fine(bz_queue_get(&party->orders, &tip));
        party->tips += tip;
        is_fine(bz_queue_task_done(&party->orders));
        is_fine(bz_lock_acquire(&party->kitchen));
        party->dishes++;
        is_fine(bz_condition_notify(&party->served, 1));
        is_fine(bz_lock_release(&party->kitchen));
    }
    is_fine(bz_queue_join(&party->orders));
    BZ_CHECK(party->tips == GUESTS * TIP);
    return BZ_OK;
}

static void spawn(struct party *party, const char *name, uint32_t number,
                  enum bz_status (*body)(void *)) {
    struct bz_task *task = bz_task_spawn(party->loop, name, number, body, party);
    BZ_CHECK(task != NULL);
    bz_task_detach(task);
}

void party_start(struct party *party, struct bz_uv *driver, enum party_mode mode) {
    party->driver = driver;
    party->loop = bz_uv_loop(driver);
    party->mode = mode;
    bz_semaphore_init(&party->tables, party->loop, 1);
    bz_lock_init(&party->kitchen, party->loop);
    bz_condition_init(&party->served, &party->kitchen);
    bz_sync_event_init(&party->doors, party->loop);
    is_fine(bz_barrier_init(&party->toast, party->loop, GUESTS));
    bz_timer_init(&party->tip_jar, party->loop, tip);
    is_fine(bz_queue_init(&party->orders, party->loop, BZ_QUEUE_FIFO, 2));
    spawn(party, "host", 0, host);
    for (uint32_t number = 1; number <= GUESTS; number++) {
        spawn(party, "guest", number, guest);
    }
}
