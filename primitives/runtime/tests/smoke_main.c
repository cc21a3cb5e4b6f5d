/* A smoke test with a plain main(): for machines and emulators on which the test framework is not
 * at hand. Plays one small busy world of tasks, groups, timeouts, sleeps and cancels twice, checks
 * what must hold, and prints a digest of every event, which is the same on every machine, compiler
 * and switch backend. With an argument, the digest must be equal to it.
 *
 *     exit code 0: all is well; 1: something is not, said on stderr; 2: usage
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "primitives/runtime/driver.h"
#include "primitives/runtime/group.h"
#include "primitives/runtime/loop.h"
#include "primitives/runtime/task.h"
#include "primitives/runtime/timeout.h"

#define WORKERS 40u
#define ROUNDS 25u

struct world {
    struct bz_loop *loop;
    struct bz_observer observer;
    uint64_t digest;
    uint64_t draws;
    struct bz_task *workers[WORKERS];
    uint32_t finished;
    uint32_t cancelled;
    uint32_t timed_out;
    uint32_t failed;
};

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "smoke: '%s' does not hold at line %d\n", #condition, __LINE__);       \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* --- the digest ------------------------------------------------------------------------------- */

static void fold(uint64_t *digest, uint64_t word) {
    for (int byte = 0; byte < 8; byte++) {
        *digest = (*digest ^ (word >> (8 * byte) & 0xff)) * UINT64_C(0x100000001b3); /* FNV-1a */
    }
}

static void on_report(struct bz_observer *observer, enum bz_event_kind kind, uint32_t task,
                      uint8_t status, uint32_t arg) {
    struct world *world = bz_container_of(observer, struct world, observer);
    fold(&world->digest, kind);
    fold(&world->digest, status);
    fold(&world->digest, task);
    fold(&world->digest, arg);
}

/* --- the world -------------------------------------------------------------------------------- */

static uint32_t draw(struct world *world, uint32_t bound) {
    world->draws = world->draws * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((world->draws >> 33) % bound);
}

/* Suspends at the bottom of a few frames, and checks them on the way up. */
static enum bz_status sleep_deep(struct world *world, unsigned depth, uint64_t delay_ns) {
    volatile uint64_t frame[4] = {depth, delay_ns, ~(uint64_t)depth, depth * delay_ns};
    enum bz_status status =
        depth == 0 ? bz_sleep(world->loop, delay_ns) : sleep_deep(world, depth - 1, delay_ns);
    EXPECT(frame[0] == depth && frame[1] == delay_ns && frame[2] == ~(uint64_t)depth &&
           frame[3] == depth * delay_ns);
    return status;
}

static enum bz_status child(void *arg) {
    struct world *world = arg;
    unsigned depth = draw(world, 20);
    uint64_t delay_ns = draw(world, 30);
    enum bz_status status = sleep_deep(world, depth, delay_ns);
    return status == BZ_OK && draw(world, 8) == 0 ? BZ_FAILED : status;
}

static enum bz_status visit(struct world *world) {
    struct bz_timeout scope;
    struct bz_group group;
    enum bz_status status = bz_timeout_enter(world->loop, &scope, 1 + draw(world, 40));
    if (status != BZ_OK) {
        return status;
    }
    status = bz_group_enter(world->loop, &group);
    if (status == BZ_OK) {
        for (uint32_t count = draw(world, 4); status == BZ_OK && count > 0; count--) {
            status = bz_group_spawn(&group, "child", count, child, world, NULL);
        }
        if (status == BZ_OK) {
            status = bz_yield(world->loop);
        }
        status = bz_group_exit(&group, status);
    }
    return bz_timeout_exit(&scope, status);
}

static enum bz_status worker(void *arg) {
    struct world *world = arg;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint64_t before = world->draws;
        enum bz_status status = visit(world);
        EXPECT(status == BZ_OK || status == BZ_CANCELLED || status == BZ_TIMED_OUT ||
               status == BZ_FAILED);
        EXPECT(before != world->draws);
        world->finished += status == BZ_OK;
        world->cancelled += status == BZ_CANCELLED;
        world->timed_out += status == BZ_TIMED_OUT;
        world->failed += status == BZ_FAILED;
        while (bz_task_cancelling(bz_loop_current(world->loop)) > 0) {
            bz_task_uncancel(bz_loop_current(world->loop));
        }
    }
    return BZ_OK;
}

/* Any order, drawn; time goes on when nothing is ready. */
static void drive(struct world *world) {
    struct bz_loop *loop = world->loop;
    for (;;) {
        uint32_t ready = bz_driver_ready_count(loop);
        if (ready == 0) {
            uint64_t deadline_ns = bz_driver_next_deadline_ns(loop);
            if (deadline_ns == BZ_TIME_NEVER) {
                break;
            }
            bz_driver_set_now(loop, deadline_ns);
            bz_driver_queue_due_timers(loop);
            continue;
        }
        if (draw(world, 50) == 0) {
            struct bz_task *victim = world->workers[draw(world, WORKERS)];
            if (!bz_task_is_done(victim)) {
                bz_task_cancel(victim);
            }
        }
        bz_driver_step(loop, bz_driver_take(loop, draw(world, ready)));
    }
}

static uint64_t play(struct bz_loop *loop) {
    static struct world world;
    world = (struct world){.loop = loop, .digest = UINT64_C(0xcbf29ce484222325), .draws = 1};
    world.observer.report = on_report;
    bz_driver_observe(loop, &world.observer);
    for (uint32_t index = 0; index < WORKERS; index++) {
        world.workers[index] = bz_task_spawn(loop, "worker", index + 1, worker, &world);
        EXPECT(world.workers[index] != NULL);
    }
    drive(&world);
    bz_driver_observe(loop, NULL);
    EXPECT(bz_loop_live_tasks(loop) == 0);
    /* A task that is cancelled before its first step plays no round. */
    EXPECT(world.finished + world.cancelled + world.timed_out + world.failed <= WORKERS * ROUNDS);
    EXPECT(world.finished > 0 && world.cancelled > 0 && world.timed_out > 0 && world.failed > 0);
    for (uint32_t index = 0; index < WORKERS; index++) {
        EXPECT(bz_task_is_done(world.workers[index]));
        bz_task_free(world.workers[index]);
    }
    EXPECT(bz_mem_live_blocks(bz_loop_mem(loop)) == 2); /* the ready queue, the timer heap */
    return world.digest;
}

int main(int argc, char **argv) {
    if (argc > 2) {
        fprintf(stderr, "usage: %s [DIGEST]\n", argv[0]);
        return 2;
    }
    struct bz_loop *loop = bz_loop_new(NULL);
    EXPECT(loop != NULL);
    uint64_t digest = play(loop);
    bz_loop_reset(loop);
    EXPECT(play(loop) == digest);
    bz_loop_destroy(loop);
    printf("%016" PRIx64 "\n", digest);
    if (argc == 2 && strtoull(argv[1], NULL, 16) != digest) {
        fprintf(stderr, "smoke: the digest is not %s\n", argv[1]);
        return 1;
    }
    return 0;
}
