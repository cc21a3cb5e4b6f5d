/* Weighted semaphore: a count of free permits; no request passes an older one. */
#include "primitives/sync/weighted_semaphore.h"

#include "scenarios/variants/modelled.h"

enum { ACQUIRE, RELEASE, ACQUIRE_WRONGLY, OP_COUNT };
enum { ACQUIRES_NONE, ACQUIRES_TOO_MANY }; /* the argument of the last one */

static int64_t permits_of(const int64_t *parameters) {
    return parameters[0] + BZ_MODEL_WEIGHT_MAX - 1;
}

static void start(void *state, const int64_t *parameters) {
    *(int64_t *)state = permits_of(parameters);
}

static bool step(void *state, uint32_t op, const int64_t *arguments, int64_t *answer) {
    int64_t *free = state;
    if (op == ACQUIRE_WRONGLY) {
        *answer = -BZ_INVALID_ARGUMENT;
        return true;
    }
    *free += op == RELEASE ? arguments[0] : -arguments[0];
    return *free >= 0;
}

#define PERMITS                                                                                    \
    .argument_count = 1, .arguments = {{.name = "permits", .least = 1, .most = BZ_MODEL_WEIGHT_MAX}}

static const struct bz_model_op ops[] = {
    [ACQUIRE] =
        {.name = "acquire", .line = 1, .cancel = BZ_MODEL_CANCEL_UNDOES, .undo = RELEASE, PERMITS},
    [RELEASE] = {.name = "release", .gives_back = 1 + ACQUIRE, PERMITS},
    [ACQUIRE_WRONGLY] =
        {.name = "acquire_wrongly",
         .is_extra = true,
         .argument_count = 1,
         .arguments = {{.name = "how", .least = ACQUIRES_NONE, .most = ACQUIRES_TOO_MANY}}},
};

const struct bz_model bz_model_weighted_semaphore =
    BZ_MODEL("weighted_semaphore", int64_t, .parameter_count = 1, .start = start);

/* --- what ships ------------------------------------------------------------------------------- */

static enum bz_status init(void *instance, struct bz_loop *loop, const int64_t *parameters) {
    bz_weighted_semaphore_init(instance, loop, (uint32_t)permits_of(parameters));
    return BZ_OK;
}

static enum bz_status call(void *instance, uint32_t op, const int64_t *arguments, int64_t *answer) {
    const struct bz_weighted_semaphore *semaphore = instance;
    bool is_wrong = op == ACQUIRE_WRONGLY;
    uint32_t permits = !is_wrong                       ? (uint32_t)arguments[0]
                       : arguments[0] == ACQUIRES_NONE ? 0
                                                       : semaphore->bound + 1;
    return bz_modelled_ended(op == RELEASE ? bz_weighted_semaphore_release(instance, permits)
                                           : bz_weighted_semaphore_acquire(instance, permits),
                             answer);
}

BZ_VARIANT_OF_MODEL(weighted_semaphore, "buzzer/weighted-semaphore",
                    "the weighted semaphore that ships", struct bz_weighted_semaphore,
                    bz_model_weighted_semaphore, init);
