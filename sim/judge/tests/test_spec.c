/* spec: it fires on steps that are no transition of the specification, alone or beside other
 * oracles, and is silent about variants that refine the specification. */
#include "sim/tests/crowd.h"

#define CLAIMS (TOY_CLAIMS_ALL | BZ_CLAIM_NO_PASSING)

/* --- toys ------------------------------------------------------------------------------------- */

/* Semaphores whose newcomers queue behind woken waiters. */
#define STRICT_TOY(name_, ...) TOY(name_, CLAIMS, .acquire = bz_zoo_semaphore_acquire, __VA_ARGS__)

/* Every newcomer queues; a callback wakes those that fit. */
static enum bz_status queues_acquire(void *instance) {
    struct toy_deferring *toy = instance;
    struct bz_deque *queue = &toy->semaphore.queue;
    if (toy->semaphore.value > 0 && !bz_deque_has_live(queue)) {
        toy_defer(toy, toy_on_wakes);
    }
    struct bz_waiter waiter;
    enum bz_status status = bz_deque_wait(queue, &waiter);
    toy->semaphore.value -= status == BZ_OK;
    bz_zoo_semaphore_wake_all_that_fit(&toy->semaphore);
    return status;
}

#define QUEUES .instance_bytes = sizeof(struct toy_deferring), .acquire = queues_acquire

/* A task that would be the first in the queue polls instead, and has precedence. Others queue. */
struct first_polls {
    struct bz_zoo_semaphore semaphore;
    uint32_t pollers;
};

static enum bz_status first_polls_acquire(void *instance) {
    struct first_polls *toy = instance;
    struct bz_zoo_semaphore *semaphore = &toy->semaphore;
    enum bz_status status;
    if (bz_zoo_semaphore_try(semaphore)) {
        return BZ_OK;
    }
    if (toy->pollers == 0 && bz_deque_length(&semaphore->queue) == 0) {
        toy->pollers++;
        status = toy_poll(semaphore);
        toy->pollers--;
    } else {
        struct bz_waiter waiter;
        status = bz_deque_wait(&semaphore->queue, &waiter);
        semaphore->value -= status == BZ_OK;
    }
    if (toy->pollers == 0) {
        bz_zoo_semaphore_wake_all_that_fit(semaphore);
    }
    return status;
}

static enum bz_status first_polls_release(void *instance) {
    struct first_polls *toy = instance;
    toy->semaphore.value++;
    if (toy->pollers == 0) {
        bz_zoo_semaphore_wake_all_that_fit(&toy->semaphore);
    }
    return BZ_OK;
}

#define FIRST_POLLS                                                                                \
    .instance_bytes = sizeof(struct first_polls), .acquire = first_polls_acquire,                  \
    .release = first_polls_release

/* Yields once before it acquires. */
static enum bz_status checkpoints_acquire(void *instance) {
    struct bz_zoo_semaphore *toy = instance;
    enum bz_status status = bz_yield(toy->queue.loop);
    return status == BZ_OK ? bz_zoo_semaphore_acquire(toy) : status;
}

/* A cancelled acquire takes a permit along. zoo/mb-160 does so only in the window. */
static enum bz_status keeps_acquire(void *instance) {
    struct bz_zoo_semaphore *toy = instance;
    enum bz_status status = bz_zoo_semaphore_acquire(toy);
    toy->value -= status != BZ_OK && toy->value > 0;
    return status;
}

static enum bz_status helps(void *arg) {
    (void)arg;
    return BZ_OK;
}

/* The first acquire takes a permit at once, and spawns a task before it returns. Later ones are
 * those of `queues`. */
static enum bz_status spawns_acquire(void *instance) {
    struct toy_deferring *toy = instance;
    if (toy->semaphore.value < toy->semaphore.permits) {
        return queues_acquire(toy);
    }
    struct bz_task *helper = bz_task_spawn(toy->semaphore.queue.loop, "helper", 1, helps, NULL);
    cr_assert_not_null(helper);
    toy->semaphore.value--;
    return BZ_OK;
}

STRICT_TOY(queues, QUEUES);
STRICT_TOY(queues_unseen, QUEUES, .view = NULL);
TOY(queues_unclaimed, TOY_CLAIMS_ALL, QUEUES);
TOY(queues_inexact, CLAIMS & ~BZ_CLAIM_LOCKED_EXACT, QUEUES); /* an acquire may wait at any time */
STRICT_TOY(spawns, QUEUES, .acquire = spawns_acquire);
STRICT_TOY(first_polls, FIRST_POLLS);
STRICT_TOY(checkpoints, .acquire = checkpoints_acquire);
STRICT_TOY(crowds, .acquire = toy_acquire_at_once);
STRICT_TOY(keeps, .acquire = keeps_acquire);
STRICT_TOY(takes_nothing, .acquire = toy_acquire_nothing);
STRICT_TOY(mints, .release = toy_release_two);
STRICT_TOY(miscounts, .view = toy_view_twice);

/* The claims of entries of the zoo, and BZ_CLAIM_NO_PASSING: without that, `spec` is silent. */
#define ZOO_CLAIMS (BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT | BZ_CLAIM_NO_PASSING)
TOY_OFFERS(lifo, ZOO_CLAIMS, .permits = {[BZ_PRIMITIVE_LOCK] = &bz_zoo_ops_toy_lifo});
TOY_OFFERS(barges, ZOO_CLAIMS, .permits = {[BZ_PRIMITIVE_SEMAPHORE] = &bz_zoo_ops_sem_barge});
TOY_OFFERS(double_grant, ZOO_CLAIMS,
           .permits = {[BZ_PRIMITIVE_LOCK] = &bz_zoo_ops_lock_double_grant});

Test(spec, timelines) {
    static const struct stage_row rows[] = {
        /* --- tests --- */
        /* A callback will wake it: no wake-up is lost, nobody is overtaken, and locked() is right.
         * But it waits beside a free permit with nobody ahead of it. */
        {"spec/fires_when_a_newcomer_queues_beside_a_free_permit", &queues,
         "permits 1; a: yield; b: acquire yield release; a b",
         "spec 2: Enqueue of b at 'table' is no transition of the specification: it needs W or R "
         "or level = 0; level 1, W 0, R 0"},
        /* The first acquire of the step does not wait. It must not hide the second, which does. */
        {"spec/fires_for_the_second_of_two_acquires_in_one_step", &spawns,
         "permits 2; a: acquire yield release; a"},
        {"", &spawns, "permits 2; a: acquire acquire yield release release; a",
         "spec 1: Enqueue of a at 'table' is no transition of the specification: it needs W or R "
         "or level = 0; level 1, W 0, R 0"},
        /* The oldest takes the permit, and overtakes nobody. Nobody woke it, for it polls. */
        {"spec/is_silent_when_the_oldest_polls_and_another_waits", &first_polls,
         "permits 1; a-c: acquire yield release; a b c a b"},
        /* A poller that finds nobody waiting counts as a newcomer. */
        {"spec/is_silent_when_a_poller_comes_in_alone", &first_polls,
         "permits 1; a-b: acquire yield release; a b a b b"},
        /* It is suspended beside a free permit, and does not wait for one: it has not queued. */
        {"spec/is_silent_when_an_acquire_yields_before_it_takes", &checkpoints,
         "permits 1; a: acquire yield release; b: yield yield; a b a b a"},
        {"spec/is_silent_without_a_view_or_the_claims", &queues_unseen,
         "permits 1; a: acquire yield release; a"},
        {"", &queues_unclaimed, "permits 1; a: acquire yield release; a"},
        {"", &queues_inexact, "permits 1; a: acquire yield release; a"},
        /* A newcomer may queue beside a free permit if R is not 0. A woken waiter that is cancelled
         * gives its permit back. */
        {"spec/is_silent_when_a_newcomer_queues_behind_a_woken_one", &bz_variant_buzzer,
         "permits 2; a-d: acquire yield release; a b c a b d c d"},
        {"", &bz_variant_buzzer,
         "permits 1; a: acquire yield release; b: ~acquire; c: acquire yield release; a b c a !b b "
         "c"},
        {NULL},
    };
    stage_rows(rows);
}

/* At the first newcomer, not at the second, which finds a waiter. */
Test(spec, fires_at_the_step_and_for_the_task) {
    struct stage stage;
    stage_begin(&stage, &queues, 2);
    stage_act(&stage, STAGE_SCRIPTS("acquire", "acquire"), "a b");
    stage_expect_violation(&stage, "spec", 1, "Enqueue of a");
    cr_assert_eq(stage.world->judge->violation.task, 1);
    cr_assert_eq(stage.world->judge->violation.also, 0, "others object, too");
    stage_end(&stage);
}

/* Runs until this oracle objects. */
static void run_until_violation(const struct bz_variant *variant, const char *oracle) {
    struct bz_program program;
    crowd_program(&program, variant, BZ_ORDER_ANY);
    program.cancels_max = 4;
    struct bz_world *world = bz_program_new_world(&program);
    uint32_t index = bz_oracle_index("spec");
    uint64_t seed = 0;
    while (seed < 5000 && bz_program_run(&program, world, seed) == BZ_RUN_PASSED) {
        seed++;
    }
    cr_assert_not_null((void *)world->judge->violation.oracle, "%s", variant->name);
    tst_text(world->judge->violation.oracle, oracle);
    bool is_noted = (world->judge->violation.also >> index & 1u) != 0;
    cr_assert(is_noted, "%s: %s alone", variant->name, oracle);
    bz_world_destroy(world);
}

/* Another oracle gives the verdict, and `also` has spec. */
Test(spec, objects_beside_other_oracles) {
    run_until_violation(&crowds, "mutual-exclusion");
    run_until_violation(&lifo, "fifo");
    run_until_violation(&barges, "fifo");
    run_until_violation(&keeps, "ownership");
    run_until_violation(&takes_nothing, "ownership");
    run_until_violation(&mints, "permit-conservation");
    run_until_violation(&double_grant, "level-bound");
    run_until_violation(&miscounts, "queue-partition");
}

/* Thousands of runs of `buzzer`, with cancels in every window. */
Test(spec, never_objects_to_what_refines_it) {
    for (int order = 0; order < 2; order++) {
        struct bz_program program;
        crowd_program(&program, &bz_variant_buzzer, order == 0 ? BZ_ORDER_ANY : BZ_ORDER_FIFO);
        program.cancels_max = 4;
        struct bz_world *world = bz_program_new_world(&program);
        for (uint64_t seed = 0; seed < 5000; seed++) {
            bz_program_run(&program, world, seed);
            cr_assert_eq(world->judge->end, BZ_RUN_PASSED, "seed %llu: %s",
                         (unsigned long long)seed, world->judge->violation.message);
        }
        cr_assert_lt(0, world->judge->stats.windows[BZ_OP_ACQUIRE][BZ_WINDOW_WOKEN]);
        bz_world_destroy(world);
    }
}
