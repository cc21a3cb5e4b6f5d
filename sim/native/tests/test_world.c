/* A world is used for many runs. The digest depends on the run alone, not on earlier runs,
 * recording or the thread. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "primitives/runtime/room.h"
#include "sim/tests/crowd.h"

#define SEEDS 300u

static uint64_t digest_of(struct bz_world *world, const struct bz_program *program, uint64_t seed) {
    bz_program_run(program, world, seed);
    return world->judge->digest;
}

Test(digest, is_equal_for_equal_seeds_and_differs_otherwise) {
    static const enum bz_order orders[] = {BZ_ORDER_ANY, BZ_ORDER_FIFO};
    for (int index = 0; index < 2; index++) {
        struct bz_program program;
        crowd_program(&program, &crowd_sound, orders[index]);
        struct bz_world *world = bz_program_new_world(&program);
        static uint64_t digests[SEEDS];
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            digests[seed] = digest_of(world, &program, seed);
        }
        uint32_t twins = 0;
        for (uint32_t seed = 0; seed < SEEDS; seed++) {
            for (uint32_t other = 0; other < seed; other++) {
                twins += digests[seed] == digests[other];
            }
        }
        cr_assert_eq(twins, 0);
        /* Backwards, in a used world, and in a fresh one. */
        for (uint64_t seed = SEEDS; seed-- > 0;) {
            cr_assert_eq(digest_of(world, &program, seed), digests[seed]);
        }
        struct bz_world *fresh = bz_program_new_world(&program);
        cr_assert_eq(digest_of(fresh, &program, SEEDS - 1), digests[SEEDS - 1]);
        bz_world_destroy(fresh);
        bz_world_destroy(world);
    }
}

/* A run that a violation stopped does not change the next one. */
Test(reset, leaves_nothing_behind) {
    struct bz_program program;
    crowd_program(&program, &crowd_drops, BZ_ORDER_ANY);
    struct bz_world *world = bz_program_new_world(&program);
    struct bz_world *reference = bz_program_new_world(&program);
    uint32_t violated = 0;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        if (bz_program_run(&program, world, seed) != BZ_RUN_VIOLATED) {
            continue;
        }
        violated++;
        cr_assert_eq(digest_of(world, &program, 7), digest_of(reference, &program, 7));
        cr_assert_eq((void *)world->judge->violation.oracle,
                     (void *)reference->judge->violation.oracle);
        cr_assert_eq(world->judge->step, reference->judge->step);
        cr_assert_eq(world->judge->tape.count, reference->judge->tape.count);
    }
    cr_assert_lt(0, violated);
    bz_world_destroy(reference);
    bz_world_destroy(world);
}

struct counter {
    struct bz_event_sink sink;
    uint64_t digest;
    uint32_t last_step;
    uint64_t last_time_ns;
};

static void count_events(struct bz_event_sink *sink, const struct bz_logged_event *event) {
    struct counter *counter = (struct counter *)(void *)sink;
    counter->digest =
        bz_digest_event(counter->digest, bz_event_low(event->event), bz_event_high(event->event));
    cr_assert_leq(counter->last_step, event->step);
    cr_assert_leq(counter->last_time_ns, event->time_ns);
    counter->last_step = event->step;
    counter->last_time_ns = event->time_ns;
}

/* The digest covers exactly the recorded events, in order of steps and time. Recording does not
 * change it. */
Test(digest, covers_exactly_the_events_that_are_recorded) {
    struct bz_program program;
    crowd_program(&program, &crowd_sound, BZ_ORDER_ANY);
    struct bz_world *world = bz_program_new_world(&program);
    struct bz_program_place place = {.program = &program, .world = world};
    struct bz_source source = bz_program_source(&place);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        uint64_t unwatched = digest_of(world, &program, seed);
        struct counter counter = {.sink = {count_events}, .digest = BZ_DIGEST_SEED};
        (void)bz_judge_run(world->judge, &source,
                           &(struct bz_run_start){.seed = seed, .sink = &counter.sink});
        cr_assert_eq(world->judge->digest, unwatched);
        cr_assert_eq(counter.digest, unwatched);
    }
    bz_world_destroy(world);
}

struct worker {
    pthread_t thread;
    enum bz_order order;
    uint64_t digest;
};

static void *work(void *arg) {
    struct worker *worker = arg;
    struct bz_program program;
    crowd_program(&program, &crowd_sound, worker->order);
    struct bz_world *world = bz_program_new_world(&program);
    worker->digest = 0;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        worker->digest = bz_digest_word(worker->digest, digest_of(world, &program, seed));
    }
    bz_world_destroy(world);
    return NULL;
}

Test(threads, do_not_disturb_each_other) {
    enum { WORKERS = 6 };
    struct worker workers[WORKERS];
    struct worker alone[2] = {{.order = BZ_ORDER_ANY}, {.order = BZ_ORDER_FIFO}};
    work(&alone[0]);
    work(&alone[1]);
    cr_assert_neq(alone[0].digest, alone[1].digest);
    for (int index = 0; index < WORKERS; index++) {
        workers[index].order = alone[index % 2].order;
        cr_assert_eq(pthread_create(&workers[index].thread, NULL, work, &workers[index]), 0);
    }
    for (int index = 0; index < WORKERS; index++) {
        pthread_join(workers[index].thread, NULL);
        cr_assert_eq(workers[index].digest, alone[index % 2].digest);
    }
}

/* --- memory that is used again ---------------------------------------------------------------- */

static bool is_small; /* the last world: elsewhere the system gives the same addresses again */

static struct bz_world *world_of(struct bz_program *program, const struct bz_variant *variant,
                                 int64_t guests) {
    crowd_program(program, variant, BZ_ORDER_ANY);
    program->args.values[CROWD_GUESTS] = guests;
    struct bz_world *world = bz_program_new_world(program);
    is_small = bz_judge_mem(world->judge)->mapped_bytes == BZ_ROOM_FIRST_BYTES;
    return world;
}

Test(spare, a_new_world_takes_the_memory_of_an_old_one_and_is_as_good_as_new) {
    struct bz_program program;
    struct bz_program other;
    uint64_t digests[50];
    struct bz_world *world = world_of(&program, &crowd_sound, 5);
    for (uint64_t seed = 0; seed < 50; seed++) {
        digests[seed] = digest_of(world, &program, seed);
    }
    const void *memory = world->judge;
    bz_world_destroy(world);
    world = world_of(&other, &crowd_drops, 7);
    cr_assert(world->judge == memory || !is_small);
    for (uint64_t seed = 0; seed < 50; seed++) {
        (void)bz_program_run(&other, world, seed);
    }
    bz_world_destroy(world);
    world = bz_program_new_world(&program);
    cr_assert(world->judge == memory || !is_small);
    for (uint64_t seed = 0; seed < 50; seed++) {
        cr_assert_eq(digest_of(world, &program, seed), digests[seed]);
    }
    bz_world_destroy(world);
}

Test(spare, memory_of_a_large_run_goes_back_to_the_system) {
    struct bz_program program;
    struct bz_world *world = world_of(&program, &crowd_sound, 100);
    const void *memory = world->judge;
    (void)digest_of(world, &program, 1);
    bz_world_destroy(world);
    world = bz_program_new_world(&program);
    cr_assert((const void *)world->judge != memory || !is_small);
    bz_world_destroy(world);
}

/* It is shared memory, in which the parent's next world will be. */
Test(spare, a_child_process_leaves_what_its_parent_keeps) {
    struct bz_program program;
    struct bz_world *world = world_of(&program, &crowd_sound, 5);
    const void *memory = world->judge;
    bz_world_destroy(world);
    pid_t child = fork();
    if (child == 0) {
        world = bz_program_new_world(&program);
        bool is_other = (const void *)world->judge != memory || !is_small;
        (void)bz_program_run(&program, world, 1);
        _exit(is_other ? 0 : 1);
    }
    int status = 1;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(status, 0);
}

Test(spare, a_world_that_a_child_process_had_is_not_used_again) {
    struct bz_program program;
    struct bz_world *world = world_of(&program, &crowd_sound, 5);
    const void *memory = world->judge;
    program.contain.is_on = true;
    (void)bz_program_run(&program, world, 1);
    bz_world_destroy(world);
    world = bz_program_new_world(&program);
    cr_assert((const void *)world->judge != memory || !is_small);
    bz_world_destroy(world);
}

Test(move, gives_blocks_and_stacks_other_addresses_and_changes_no_run) {
    struct bz_program program;
    struct bz_world *world = world_of(&program, &crowd_sound, 5);
    uintptr_t block_before = 0;
    uintptr_t top_before = 0;
    uint64_t digest = digest_of(world, &program, 3);
    for (uint32_t place = 0; place < BZ_PLACES; place++) {
        bz_world_move(world, place);
        cr_assert_eq(digest_of(world, &program, 3), digest);
        bz_loop_reset(world->loop);
        uintptr_t block = (uintptr_t)bz_mem_alloc(world->loop->mem, 16);
        uintptr_t top = (uintptr_t)bz_stack_top(bz_stack_take(world->loop->stacks));
        cr_assert_neq(block_before / 4096, block / 4096);
        cr_assert_neq(block_before % 4096, block % 4096);
        cr_assert_neq(top_before, top);
        block_before = block;
        top_before = top;
    }
    bz_world_destroy(world);
}
