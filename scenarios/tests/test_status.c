/* Every status that an operation may not return is a finding, in every scenario that calls it. */
#include "scenarios/tests/seeds.h"

#define SEEDS 1000u
#define TELLING 5u
#define CALLING_SEEDS 20u

/* --- a variant that lies ---------------------------------------------------------------------- */

/* The operations that return a status: a name, the table and its member, parameters, arguments. */
#define LIES(LIE)                                                                                  \
    LIE(semaphore_acquire, permits[BZ_PRIMITIVE_SEMAPHORE], acquire, (void *it), (it))             \
    LIE(semaphore_release, permits[BZ_PRIMITIVE_SEMAPHORE], release, (void *it), (it))             \
    LIE(bounded_acquire, permits[BZ_PRIMITIVE_BOUNDED], acquire, (void *it), (it))                 \
    LIE(bounded_release, permits[BZ_PRIMITIVE_BOUNDED], release, (void *it), (it))                 \
    LIE(lock_acquire, permits[BZ_PRIMITIVE_LOCK], acquire, (void *it), (it))                       \
    LIE(lock_release, permits[BZ_PRIMITIVE_LOCK], release, (void *it), (it))                       \
    LIE(event_wait, event, wait, (void *it), (it))                                                 \
    LIE(condition_acquire, condition, acquire, (void *it), (it))                                   \
    LIE(condition_release, condition, release, (void *it), (it))                                   \
    LIE(condition_wait, condition, wait, (void *it), (it))                                         \
    LIE(notify, condition, notify, (void *it, uint32_t count), (it, count))                        \
    LIE(barrier_wait, barrier, wait, (void *it, uint32_t *index), (it, index))                     \
    LIE(put, queue, put, (void *it, uint64_t value, int64_t priority), (it, value, priority))      \
    LIE(get, queue, get, (void *it, uint64_t *value), (it, value))                                 \
    LIE(try_put, queue, try_put, (void *it, uint64_t value, int64_t priority),                     \
        (it, value, priority))                                                                     \
    LIE(try_get, queue, try_get, (void *it, uint64_t *value), (it, value))                         \
    LIE(task_done, queue, task_done, (void *it), (it))                                             \
    LIE(join, queue, join, (void *it), (it))                                                       \
    LIE(pool_acquire, pool, acquire, (void *it, uint64_t key), (it, key))                          \
    LIE(pool_release, pool, release, (void *it, uint64_t key), (it, key))                          \
    LIE(deferred_release, deferred, release, (void *it), (it))                                     \
    LIE(scope_enter, scope, enter, (void *it, struct bz_loop *loop, uint64_t delay_ns),            \
        (it, loop, delay_ns))

#define NUMBER(name, ...) IS_##name,
enum lying { LIES(NUMBER) IS_ANSWER, IS_SCOPE_EXIT, LYING_COUNT };

#define NAME(name, ...) #name,
static const char *const lying_names[LYING_COUNT] = {LIES(NAME) "answer", "scope_exit"};

/* In place of one call in `every`, the operation does nothing and returns `status`. */
static struct {
    enum lying operation;
    enum bz_status status;
    uint32_t every;
    uint32_t calls;
} lie;

static bool lies(enum lying operation) {
    return operation == lie.operation && ++lie.calls % lie.every == 0;
}

#define DEFINE(name, table, member, parameters, arguments)                                         \
    static enum bz_status name parameters {                                                        \
        return lies(IS_##name) ? lie.status : bz_variant_buzzer.table->member arguments;           \
    }
LIES(DEFINE)

static void answer(void *it, struct bz_deferred_request *request) {
    if (lies(IS_ANSWER)) {
        request->answer(request, lie.status);
    } else {
        bz_variant_buzzer.deferred->acquire(it, request);
    }
}

static enum bz_status scope_exit(void *it, enum bz_status status) {
    enum bz_status real = bz_variant_buzzer.scope->exit(it, status);
    return lies(IS_SCOPE_EXIT) ? lie.status : real;
}

static struct bz_permit_ops permits[BZ_PERMIT_PRIMITIVES];
static struct bz_event_ops event;
static struct bz_condition_ops condition;
static struct bz_barrier_ops barrier;
static struct bz_queue_ops queue;
static struct bz_pool_ops pool;
static struct bz_deferred_ops deferred;
static struct bz_scope_ops scope;

#define REPLACE(name, table, member, ...) table.member = name;

static struct bz_variant liar(void) {
    struct bz_variant variant = bz_variant_buzzer;
    for (uint32_t index = 0; index < BZ_PERMIT_PRIMITIVES; index++) {
        permits[index] = *bz_variant_buzzer.permits[index];
        variant.permits[index] = &permits[index];
    }
    event = *bz_variant_buzzer.event;
    condition = *bz_variant_buzzer.condition;
    barrier = *bz_variant_buzzer.barrier;
    queue = *bz_variant_buzzer.queue;
    pool = *bz_variant_buzzer.pool;
    deferred = *bz_variant_buzzer.deferred;
    scope = *bz_variant_buzzer.scope;
    LIES(REPLACE)
    deferred.acquire = answer;
    scope.exit = scope_exit;
    variant.event = &event;
    variant.condition = &condition;
    variant.barrier = &barrier;
    variant.queue = &queue;
    variant.pool = &pool;
    variant.deferred = &deferred;
    variant.scope = &scope;
    return variant;
}

/* --- the tests -------------------------------------------------------------------------------- */

static const enum bz_status statuses[] = {(enum bz_status)99,
                                          (enum bz_status) - 1,
                                          (enum bz_status)BZ_STATUS_COUNT,
                                          BZ_CANCELLED,
                                          BZ_TIMED_OUT,
                                          BZ_FAILED,
                                          BZ_NOT_HELD,
                                          BZ_INVALID_STATE,
                                          BZ_INVALID_ARGUMENT,
                                          BZ_NO_MEMORY,
                                          BZ_BROKEN,
                                          BZ_CLOSED,
                                          BZ_EMPTY,
                                          BZ_FULL};

/* True if the program calls the operation. */
static bool calls_it(const struct bz_program *program) {
    struct bz_world *world = bz_program_new_world(program);
    uint32_t every = lie.every;
    lie.every = UINT32_MAX;
    lie.calls = 0;
    for (uint64_t seed = 0; seed < CALLING_SEEDS && lie.calls == 0; seed++) {
        (void)bz_program_run(program, world, seed);
    }
    lie.every = every;
    bz_world_destroy(world);
    return lie.calls > 0;
}

/* A wrong status that is rare may be right by chance: the queue may be full. */
static void expect_found(const struct bz_program *program) {
    for (size_t index = 0; index < sizeof statuses / sizeof statuses[0]; index++) {
        lie.status = statuses[index];
        lie.calls = 0;
        struct tst_seeds result = tst_run_seeds(program, SEEDS);
        cr_assert(result.violation.oracle != NULL || lie.calls / lie.every < TELLING,
                  "%s with %s: nobody minds that %s returns %d in one of %u calls (%u)",
                  program->scenario->name, bz_primitive_name(program->args.primitive),
                  lying_names[lie.operation], (int)lie.status, lie.every, lie.calls);
    }
}

/* In every scenario that calls the operation, with each of its primitives. */
static uint32_t expect_found_everywhere(uint32_t every) {
    struct bz_variant variant = liar();
    uint32_t programs = 0;
    lie.every = every;
    for (lie.operation = 0; lie.operation < LYING_COUNT; lie.operation++) {
        for (const struct bz_scenario *const *next = bz_scenarios; *next != NULL; next++) {
            if (every > 1 && *next == &bz_scenario_program) {
                continue; /* it calls each operation too rarely */
            }
            for (uint32_t which = 0; which < (*next)->primitive_count; which++) {
                struct bz_program program = tst_program(*next, &variant, BZ_ORDER_ANY);
                program.args.primitive = (*next)->primitives[which];
                if (bz_variant_offers(&variant, program.args.primitive) && calls_it(&program)) {
                    expect_found(&program);
                    programs++;
                }
            }
        }
    }
    return programs;
}

Test(status, that_is_wrong_always_is_found) {
    cr_assert_lt(60, expect_found_everywhere(1));
}

Test(status, that_is_wrong_now_and_then_is_found) {
    (void)expect_found_everywhere(100);
}
