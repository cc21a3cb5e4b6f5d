#include "scenarios/bare_loop.h"

#include <stdbool.h>

#include "primitives/runtime/internal.h"
#include "primitives/runtime/place.h"
#include "primitives/sync/semaphore.h"
#include "sim/choice/choice.h"
#include "sim/choice/pcg.h"

/* The defaults of `contended`. */
#define PERMITS 2u
#define WORKERS 4u
#define ROUNDS 2u
#define PATIENCE 8u

struct bare_worker {
    struct bz_bare *bare;
    struct bz_task *task;
    bool is_inside; /* acquire */
};

struct bz_bare {
    struct bz_loop *loop;
    struct bz_semaphore semaphore;
    struct bz_pcg32 choices; /* the streams of `random` */
    struct bz_pcg32 data;
    struct bare_worker workers[WORKERS];
};

static enum bz_status work(void *arg) {
    struct bare_worker *worker = arg;
    struct bz_bare *bare = worker->bare;
    enum bz_status status = BZ_OK;
    for (unsigned round = 0; round < ROUNDS && status == BZ_OK; round++) {
        worker->is_inside = true;
        status = bz_semaphore_acquire(&bare->semaphore);
        worker->is_inside = false;
        if (status == BZ_OK) {
            status = bz_yield(bare->loop);
            BZ_CHECK(bz_semaphore_release(&bare->semaphore) == BZ_OK);
        }
    }
    return status;
}

static enum bz_status cancel_one(void *arg) {
    struct bz_bare *bare = arg;
    uint32_t inside = 0;
    for (uint64_t left = bz_pcg32_below64(&bare->data, PATIENCE); left > 0; left--) {
        enum bz_status status = bz_yield(bare->loop);
        if (status != BZ_OK) {
            return status;
        }
    }
    for (unsigned index = 0; index < WORKERS; index++) {
        inside += bare->workers[index].is_inside;
    }
    uint64_t skip = inside == 0 ? 0 : bz_pcg32_below64(&bare->data, inside);
    for (unsigned index = 0; index < WORKERS; index++) {
        if (bare->workers[index].is_inside && skip-- == 0) {
            (void)bz_task_cancel(bare->workers[index].task);
            break;
        }
    }
    return BZ_OK;
}

static bool set_up(struct bz_bare *bare) {
    bz_loop_reset(bare->loop);
    bz_semaphore_init(&bare->semaphore, bare->loop, PERMITS);
    for (unsigned index = 0; index < WORKERS; index++) {
        struct bare_worker *worker = &bare->workers[index];
        worker->bare = bare;
        worker->is_inside = false;
        worker->task = bz_task_spawn(bare->loop, "worker", index + 1, work, worker);
        if (worker->task == NULL) {
            return false;
        }
    }
    return bz_task_spawn(bare->loop, "canceller", 0, cancel_one, bare) != NULL;
}

__attribute__((hot)) uint32_t bz_bare_run(struct bz_bare *bare, uint64_t seed) {
    struct bz_loop *loop = bare->loop;
    uint64_t mixed = bz_seed_mix(seed);
    uint32_t steps = 0;
    bz_pcg32_seed(&bare->choices, mixed, BZ_CHOICE_NEXT);
    bz_pcg32_seed(&bare->data, mixed, BZ_CHOICE_DATA);
    if (!set_up(bare)) {
        return 0;
    }
    for (; loop->ready_count > 0; steps++) {
        uint32_t count = loop->ready_count;
        uint32_t index = count == 1 ? 0 : bz_pcg32_below(&bare->choices, count);
        bz_loop_step(loop, bz_loop_take(loop, index));
    }
    return steps;
}

struct bz_bare *bz_bare_new(void) {
    struct bz_bare *bare = bz_place_new(sizeof *bare, NULL);
    if (bare != NULL && (bare->loop = bz_loop_new(NULL)) == NULL) {
        bz_place_free(bare, sizeof *bare);
        return NULL;
    }
    return bare;
}

void bz_bare_destroy(struct bz_bare *bare) {
    if (bare != NULL) {
        bz_loop_destroy(bare->loop);
        bz_place_free(bare, sizeof *bare);
    }
}
