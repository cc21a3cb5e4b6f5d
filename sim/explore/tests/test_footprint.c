/* Footprints: steps that are said to commute do. From every state of a random walk, every two ready
 * tasks run in both orders. If their footprints are disjoint, both orders must reach the same
 * state, apart from the order of the ready queue. */
#include "sim/explore/footprint.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "sim/choice/pcg.h"
#include "sim/explore/visited.h"
#include "sim/native/snapshot.h"
#include "sim/tests/toys.h"

#define WALKS 60u
#define TASKS 5u

struct hall {
    struct bz_world *world;
    struct bz_sut_permits suts[3];
    struct bz_task *tasks[TASKS];
};

static enum bz_status uses(struct hall *hall, uint32_t which) {
    struct bz_sut_permits *sut = &hall->suts[which % 3];
    enum bz_status status = bz_sut_acquire(sut);
    if (status == BZ_OK) {
        status = bz_yield(hall->world->loop);
        cr_assert(eq(int, bz_sut_release(sut), BZ_OK));
    }
    return status;
}

/* The last one cancels a task that it sees waiting. */
static enum bz_status guest(void *arg) {
    struct hall *hall = arg;
    uint32_t self = bz_judge_running(hall->world->judge);
    enum bz_status status = BZ_OK;
    for (uint32_t round = 0; status == BZ_OK && round < 3; round++) {
        status = self % 2 == 0 && round == 1 ? bz_sleep(hall->world->loop, self)
                                             : uses(hall, self * (round + 1));
        if (self == TASKS &&
            bz_world_is_suspended_in(hall->world, hall->tasks[round], BZ_OP_ACQUIRE)) {
            bz_task_cancel(hall->tasks[round]);
        }
    }
    return status;
}

/* Chooses this index next, and the default everywhere else. */
struct pointer {
    uint32_t index;
};

static uint32_t pointer_next(void *state, const struct bz_ready *ready, uint32_t count,
                             uint32_t step) {
    (void)ready;
    (void)step;
    cr_assert(lt(u32, ((struct pointer *)state)->index, count));
    return ((struct pointer *)state)->index;
}

static void begin_hall(struct bz_tracker *tracker, struct bz_strategy *strategy,
                       const struct bz_variant *variant) {
    *strategy = stage_strategy;
    strategy->next = pointer_next;
    struct bz_judge_config config = stage_config(BZ_ORDER_ANY);
    config.strategy = strategy;
    config.cancels_max = 0;
    struct bz_world *world = bz_world_new(&config, variant);
    cr_assert(world != NULL);
    bz_tracker_init(tracker, world);
    bz_judge_begin(world->judge, &(struct bz_run_start){.sink = &tracker->sink});
    bz_snapshot_begin(world, true, false);
    struct hall *hall = bz_world_alloc(world, sizeof *hall);
    hall->world = world;
    for (uint32_t index = 0; index < 3; index++) {
        tst_status(
            bz_sut_permits_init(&hall->suts[index], world, BZ_PRIMITIVE_SEMAPHORE, "table", 1),
            BZ_OK);
    }
    for (uint32_t index = 0; index < TASKS; index++) {
        hall->tasks[index] = bz_task_spawn(world->loop, "guest", index + 1, guest, hall);
    }
    bz_judge_end_step(world->judge);
}

/* One step of this task; false if it is not ready. */
static bool step_of(struct bz_tracker *tracker, uint32_t task) {
    struct bz_world *world = tracker->world;
    for (uint32_t index = 0; index < bz_driver_ready_count(world->loop); index++) {
        const struct bz_handle *handle = bz_driver_ready_at(world->loop, index);
        if (handle->role == BZ_ROLE_STEP && handle->owner == task) {
            ((struct pointer *)world->judge->strategy_state)->index = index;
            bz_tracker_begin(tracker);
            cr_assert(bz_world_step(world));
            bz_tracker_end(tracker);
            return tracker->transition == bz_transition_step(task);
        }
    }
    return false;
}

static int compare_words(uint64_t a, uint64_t b) {
    return a < b ? -1 : a > b;
}

static void sort_queue(struct bz_snapshot *snapshot) {
    uint64_t *words = (uint64_t *)(void *)(snapshot->bytes + snapshot->queue_offset);
    for (uint32_t index = 1; index < snapshot->queue_count; index++) {
        for (uint32_t place = index; place > 0 && compare_words(words[place - 1], words[place]) > 0;
             place--) {
            uint64_t word = words[place];
            words[place] = words[place - 1];
            words[place - 1] = word;
        }
    }
}

/* Runs both steps in this order; returns their footprints and the state after them. False: the
 * second one can no longer run. */
static bool run_both(struct bz_tracker *tracker, const struct bz_snapshot *from,
                     const uint32_t *order, struct bz_footprint *prints,
                     struct bz_snapshot *after) {
    bz_snapshot_restore(tracker->world, from);
    for (uint32_t index = 0; index < 2; index++) {
        if (!step_of(tracker, order[index])) {
            return false;
        }
        prints[index] = tracker->footprint;
        bz_snapshot_normalize(tracker->world);
    }
    cr_assert(bz_snapshot_save(tracker->world, after));
    sort_queue(after);
    return true;
}

/* The live bytes of the stacks, which come last in a snapshot. */
static size_t stack_bytes(const struct bz_world *world) {
    size_t sum = 0;
    for (uint32_t id = 1; id <= TASKS; id++) {
        const struct bz_task *task = bz_world_find_task(world, id);
        if (task != NULL && task->stack != NULL) {
            sum += (size_t)((char *)bz_stack_top(task->stack) - (char *)task->coro.sp);
        }
    }
    return sum;
}

/* Continues from there with the defaults; returns the digest. */
static uint64_t run_on(struct bz_tracker *tracker, const struct bz_snapshot *from) {
    struct bz_world *world = tracker->world;
    bz_snapshot_restore(world, from);
    world->judge->digest = BZ_DIGEST_SEED;
    ((struct pointer *)world->judge->strategy_state)->index = 0;
    while (!world->judge->is_stopped && bz_world_step(world)) {
    }
    return world->judge->digest;
}

/* True if they are said to commute. Then all memory must be the same, and so must all that follows.
 * (Stacks are not compared: the gaps of their frames hold old values that nobody reads.) */
static bool expect_honest(struct bz_tracker *tracker, const struct bz_snapshot *from, uint32_t a,
                          uint32_t b) {
    static struct bz_snapshot after[2];
    struct bz_footprint prints[2];
    struct bz_footprint others[2];
    if (!run_both(tracker, from, (const uint32_t[]){a, b}, prints, &after[0]) ||
        !bz_footprints_commute(&prints[0], &prints[1], 0)) {
        return false;
    }
    cr_assert(run_both(tracker, from, (const uint32_t[]){b, a}, others, &after[1]),
              "%u stops %u, or enables it", b, a);
    cr_assert(bz_footprints_commute(&others[0], &others[1], 0), "%u, %u: only one way", a, b);
    cr_assert(eq(sz, after[0].state_bytes, after[1].state_bytes));
    size_t arena_bytes = after[0].state_bytes - stack_bytes(tracker->world);
    cr_assert(eq(int, memcmp(after[0].bytes, after[1].bytes, arena_bytes), 0),
              "tasks %u and %u do not commute", a, b);
    cr_assert(eq(u64, run_on(tracker, &after[0]), run_on(tracker, &after[1])),
              "what follows %u and %u is not the same", a, b);
    return true;
}

static uint32_t walk(const struct bz_variant *variant, uint64_t seed) {
    struct bz_tracker tracker;
    struct bz_strategy strategy;
    struct bz_pcg32 stream;
    struct bz_snapshot here = {.bytes = NULL};
    uint32_t commuting = 0;
    begin_hall(&tracker, &strategy, variant);
    struct bz_world *world = tracker.world;
    bz_pcg32_seed(&stream, seed, 1);
    for (bool goes_on = true; goes_on && !world->judge->is_stopped;) {
        bz_snapshot_normalize(world);
        cr_assert(bz_snapshot_save(world, &here));
        for (uint32_t a = 1; a <= TASKS; a++) {
            for (uint32_t b = a + 1; b <= TASKS; b++) {
                commuting += expect_honest(&tracker, &here, a, b);
            }
        }
        bz_snapshot_restore(world, &here);
        uint32_t count = bz_driver_ready_count(world->loop);
        ((struct pointer *)world->judge->strategy_state)->index =
            count == 0 ? 0 : (uint32_t)bz_pcg32_below64(&stream, count);
        goes_on = bz_world_step(world);
    }
    bz_snapshot_fini(&here);
    bz_world_destroy(world);
    return commuting;
}

Test(footprint, what_commutes_by_footprint_commutes) {
    uint32_t commuting = 0;
    if (!bz_snapshot_is_supported()) {
        cr_skip_test("there are no snapshots");
    }
    for (uint64_t seed = 0; seed < WALKS; seed++) {
        commuting += walk(&bz_variant_buzzer, seed) + walk(&bz_variant_zoo_sem_woken_cancel, seed) +
                     walk(&bz_variant_zoo_tk_1898, seed); /* which allocates its waiters */
    }
    cr_assert(lt(u32, 100, commuting), "%u pairs", commuting);
}

Test(footprint, what_has_something_in_common_does_not_commute) {
    struct bz_footprint a = {.tasks = 2, .objects = 2};
    struct bz_footprint b = {.tasks = 4, .objects = 4};
    cr_assert(bz_footprints_commute(&a, &b, 0));
    b.objects = 6;
    cr_assert(eq(int, bz_footprints_commute(&a, &b, 9), false));
    b = (struct bz_footprint){.tasks = 6};
    cr_assert(eq(int, bz_footprints_commute(&a, &b, 9), false));
    b = (struct bz_footprint){.is_world = true};
    cr_assert(eq(int, bz_footprints_commute(&a, &b, 9), false));
    cr_assert(eq(int, bz_footprints_commute(&b, &a, 9), false));
    a = (struct bz_footprint){.tasks = 2, .is_cancel = true};
    b = (struct bz_footprint){.tasks = 4, .is_cancel = true};
    cr_assert(bz_footprints_commute(&a, &b, 2));
    cr_assert(eq(int, bz_footprints_commute(&a, &b, 1), false));
    bz_footprint_add(&a, &b);
    cr_assert(eq(u64, a.tasks, 6));
}

Test(footprint, transitions_have_a_bit_each_as_far_as_there_are_bits) {
    uint64_t seen = 0;
    for (uint32_t task = 1; task <= BZ_TRANSITION_TASKS_MAX; task++) {
        cr_assert(eq(u64, seen & bz_transition_step(task), 0));
        seen |= bz_transition_step(task);
        cr_assert(eq(u64, seen & bz_transition_cancel(task), 0));
        seen |= bz_transition_cancel(task);
    }
    cr_assert(eq(u64, seen, (UINT64_C(1) << 62u) - 1));
    cr_assert(eq(u64, bz_transition_step(0), BZ_TRANSITION_NONE));
    cr_assert(eq(u64, bz_transition_step(BZ_TRANSITION_TASKS_MAX + 1), BZ_TRANSITION_NONE));
    cr_assert(eq(u64, bz_transition_cancel(BZ_TRANSITION_TASKS_MAX + 1), BZ_TRANSITION_NONE));
}

Test(footprint, a_task_that_is_looked_at_belongs_to_it) {
    struct bz_tracker tracker;
    struct bz_strategy strategy;
    begin_hall(&tracker, &strategy, &bz_variant_buzzer);
    bz_tracker_begin(&tracker);
    const struct bz_task *task = bz_world_find_task(tracker.world, 3);
    cr_assert(eq(int, bz_world_is_suspended_in(tracker.world, task, BZ_OP_ACQUIRE), false));
    bz_tracker_end(&tracker);
    cr_assert(eq(u64, tracker.footprint.tasks, UINT64_C(1) << 3u));
    bz_tracker_begin(&tracker);
    bz_tracker_end(&tracker);
    cr_assert(eq(u64, tracker.footprint.tasks, 0));
    bz_world_destroy(tracker.world);
}
