/* Every status that an operation may not return is a finding, in every scenario that calls it. */
#include "scenarios/tests/seeds.h"

#define SEEDS 1000u
#define TELLING 5u
#define CALLING_SEEDS 20u

/* --- a variant that lies ---------------------------------------------------------------------- */

enum lying {
    ACQUIRE,
    RELEASE,
    EVENT_WAIT,
    CONDITION_ACQUIRE,
    CONDITION_RELEASE,
    CONDITION_WAIT,
    NOTIFY,
    BARRIER_WAIT,
    PUT,
    GET,
    TRY_PUT,
    TRY_GET,
    TASK_DONE,
    JOIN,
    POOL_ACQUIRE,
    POOL_RELEASE,
    ANSWER,
    DEFERRED_RELEASE,
    SCOPE_ENTER,
    SCOPE_EXIT,
    LYING_COUNT
};

static const char *const lying_names[LYING_COUNT] = {"acquire",
                                                     "release",
                                                     "event wait",
                                                     "condition acquire",
                                                     "condition release",
                                                     "condition wait",
                                                     "notify",
                                                     "barrier wait",
                                                     "put",
                                                     "get",
                                                     "try-put",
                                                     "try-get",
                                                     "task_done",
                                                     "join",
                                                     "pool acquire",
                                                     "pool release",
                                                     "answer",
                                                     "deferred release",
                                                     "scope enter",
                                                     "scope exit"};

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

#define REAL(table) (bz_variant_buzzer.table)
#define LIE_OR(operation, call) return lies(operation) ? lie.status : (call)

static enum bz_status acquire_semaphore(void *instance) {
    LIE_OR(ACQUIRE, REAL(permits[BZ_PRIMITIVE_SEMAPHORE])->acquire(instance));
}
static enum bz_status release_semaphore(void *instance) {
    LIE_OR(RELEASE, REAL(permits[BZ_PRIMITIVE_SEMAPHORE])->release(instance));
}
static enum bz_status acquire_bounded(void *instance) {
    LIE_OR(ACQUIRE, REAL(permits[BZ_PRIMITIVE_BOUNDED])->acquire(instance));
}
static enum bz_status release_bounded(void *instance) {
    LIE_OR(RELEASE, REAL(permits[BZ_PRIMITIVE_BOUNDED])->release(instance));
}
static enum bz_status acquire_lock(void *instance) {
    LIE_OR(ACQUIRE, REAL(permits[BZ_PRIMITIVE_LOCK])->acquire(instance));
}
static enum bz_status release_lock(void *instance) {
    LIE_OR(RELEASE, REAL(permits[BZ_PRIMITIVE_LOCK])->release(instance));
}
static enum bz_status event_wait(void *instance) {
    LIE_OR(EVENT_WAIT, REAL(event)->wait(instance));
}
static enum bz_status condition_acquire(void *instance) {
    LIE_OR(CONDITION_ACQUIRE, REAL(condition)->acquire(instance));
}
static enum bz_status condition_release(void *instance) {
    LIE_OR(CONDITION_RELEASE, REAL(condition)->release(instance));
}
static enum bz_status condition_wait(void *instance) {
    LIE_OR(CONDITION_WAIT, REAL(condition)->wait(instance));
}
static enum bz_status notify(void *instance, uint32_t count) {
    LIE_OR(NOTIFY, REAL(condition)->notify(instance, count));
}
static enum bz_status barrier_wait(void *instance, uint32_t *index) {
    LIE_OR(BARRIER_WAIT, REAL(barrier)->wait(instance, index));
}
static enum bz_status put(void *instance, uint64_t value, int64_t priority) {
    LIE_OR(PUT, REAL(queue)->put(instance, value, priority));
}
static enum bz_status get(void *instance, uint64_t *value) {
    LIE_OR(GET, REAL(queue)->get(instance, value));
}
static enum bz_status try_put(void *instance, uint64_t value, int64_t priority) {
    LIE_OR(TRY_PUT, REAL(queue)->try_put(instance, value, priority));
}
static enum bz_status try_get(void *instance, uint64_t *value) {
    LIE_OR(TRY_GET, REAL(queue)->try_get(instance, value));
}
static enum bz_status task_done(void *instance) {
    LIE_OR(TASK_DONE, REAL(queue)->task_done(instance));
}
static enum bz_status join(void *instance) {
    LIE_OR(JOIN, REAL(queue)->join(instance));
}
static enum bz_status pool_acquire(void *instance, uint64_t key) {
    LIE_OR(POOL_ACQUIRE, REAL(pool)->acquire(instance, key));
}
static enum bz_status pool_release(void *instance, uint64_t key) {
    LIE_OR(POOL_RELEASE, REAL(pool)->release(instance, key));
}
static void deferred_acquire(void *instance, struct bz_deferred_request *request) {
    if (lies(ANSWER)) {
        request->answer(request, lie.status);
    } else {
        REAL(deferred)->acquire(instance, request);
    }
}
static enum bz_status deferred_release(void *instance) {
    LIE_OR(DEFERRED_RELEASE, REAL(deferred)->release(instance));
}
static enum bz_status scope_enter(void *scope, struct bz_loop *loop, uint64_t delay_ns) {
    LIE_OR(SCOPE_ENTER, REAL(scope)->enter(scope, loop, delay_ns));
}
static enum bz_status scope_exit(void *scope, enum bz_status status) {
    enum bz_status real = REAL(scope)->exit(scope, status);
    return lies(SCOPE_EXIT) ? lie.status : real;
}

static struct bz_permit_ops permits[BZ_PERMIT_PRIMITIVES];
static struct bz_event_ops event;
static struct bz_condition_ops condition;
static struct bz_barrier_ops barrier;
static struct bz_queue_ops queue;
static struct bz_pool_ops pool;
static struct bz_deferred_ops deferred;
static struct bz_scope_ops scope;

static struct bz_variant liar(void) {
    struct bz_variant variant = bz_variant_buzzer;
    for (uint32_t index = 0; index < BZ_PERMIT_PRIMITIVES; index++) {
        permits[index] = *bz_variant_buzzer.permits[index];
        variant.permits[index] = &permits[index];
    }
    permits[BZ_PRIMITIVE_SEMAPHORE].acquire = acquire_semaphore;
    permits[BZ_PRIMITIVE_SEMAPHORE].release = release_semaphore;
    permits[BZ_PRIMITIVE_BOUNDED].acquire = acquire_bounded;
    permits[BZ_PRIMITIVE_BOUNDED].release = release_bounded;
    permits[BZ_PRIMITIVE_LOCK].acquire = acquire_lock;
    permits[BZ_PRIMITIVE_LOCK].release = release_lock;
    event = *bz_variant_buzzer.event;
    event.wait = event_wait;
    condition = *bz_variant_buzzer.condition;
    condition.acquire = condition_acquire;
    condition.release = condition_release;
    condition.wait = condition_wait;
    condition.notify = notify;
    barrier = *bz_variant_buzzer.barrier;
    barrier.wait = barrier_wait;
    queue = *bz_variant_buzzer.queue;
    queue.put = put;
    queue.get = get;
    queue.try_put = try_put;
    queue.try_get = try_get;
    queue.task_done = task_done;
    queue.join = join;
    pool = *bz_variant_buzzer.pool;
    pool.acquire = pool_acquire;
    pool.release = pool_release;
    deferred = *bz_variant_buzzer.deferred;
    deferred.acquire = deferred_acquire;
    deferred.release = deferred_release;
    scope = *bz_variant_buzzer.scope;
    scope.enter = scope_enter;
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

/* Whether the program calls the operation. */
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
