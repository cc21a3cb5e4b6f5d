/* The primitives that ship and have no table of operations. Each is a variant of its own,
 * `buzzer/NAME`, with the model that judges it in the scenario `model`.
 *
 * Where an operation may end with another status than BZ_OK and BZ_CANCELLED, its answer is that
 * status, negated. Most operations that never wait, as try_acquire, are not modelled. */
#pragma once

#include "scenarios/variants/variants.h"
#include "sim/model/model.h"

extern const struct bz_model bz_model_capacity_limiter, bz_model_channel, bz_model_deferred_queue;
extern const struct bz_model bz_model_notify, bz_model_oneshot, bz_model_rate_limiter;
extern const struct bz_model bz_model_rwlock, bz_model_select, bz_model_weighted_semaphore;

/* A model by the `ops`, OP_COUNT and step() of its file, and further members. */
#define BZ_MODEL(name_, state, ...)                                                                \
    {                                                                                              \
        .name = name_, .state_bytes = sizeof(state), .ops = ops, .op_count = OP_COUNT,             \
        .step = step, __VA_ARGS__                                                                  \
    }

/* The argument of an operation that puts a value. */
#define BZ_MODEL_VALUE                                                                             \
    .argument_count = 1,                                                                           \
    .arguments = {{.name = "value", .least = 1, .most = INT32_MAX, .is_fresh = true}}

/* A line of numbers, the oldest first, in the state of a model. */
#define BZ_MODEL_LINE_MAX 16 /* as many as the scenario has tasks */
struct bz_model_line {
    int64_t count;
    int64_t numbers[BZ_MODEL_LINE_MAX]; /* 0 beyond the count */
};

static inline void bz_model_line_push(struct bz_model_line *line, int64_t number) {
    line->numbers[line->count++] = number;
}

/* The index of a number; the count: it is not there. */
static inline int64_t bz_model_line_find(const struct bz_model_line *line, int64_t number) {
    int64_t index = 0;
    while (index < line->count && line->numbers[index] != number) {
        index++;
    }
    return index;
}

/* Takes out the number at an index. */
static inline int64_t bz_model_line_take(struct bz_model_line *line, int64_t index) {
    int64_t number = line->numbers[index];
    for (line->count--; index < line->count; index++) {
        line->numbers[index] = line->numbers[index + 1];
    }
    line->numbers[line->count] = 0;
    return number;
}

/* Takes out a number; false: it is not there. */
static inline bool bz_model_line_remove(struct bz_model_line *line, int64_t number) {
    int64_t index = bz_model_line_find(line, number);
    if (index == line->count) {
        return false;
    }
    (void)bz_model_line_take(line, index);
    return true;
}

/* A weighted semaphore has so many permits more than its parameter, so that a task can ask for as
 * many at once. */
#define BZ_MODEL_WEIGHT_MAX 3

/* A channel of the model begins with so many senders. */
#define BZ_MODEL_SENDERS 3u

/* A select waits at up to so many ports. Its answer is the value, or the status negated, and the
 * port. */
#define BZ_MODEL_PORTS 2
#define BZ_MODEL_ALL_PORTS ((1 << BZ_MODEL_PORTS) - 1)
#define BZ_MODEL_SELECTED(value, port) ((value)*BZ_MODEL_PORTS + (port))

/* More than the scenario has tasks. A task borrows for itself, in the place of its number. */
#define BZ_MODEL_BORROWERS 64u

/* The result of struct bz_modelled_ops.call for an operation that ended with this status. */
static inline enum bz_status bz_modelled_ended(enum bz_status status, int64_t *answer) {
    if (status != BZ_CANCELLED && status != BZ_OK) {
        *answer = -(int64_t)status;
        return BZ_OK;
    }
    return status;
}

/* A variant that offers a primitive of this type, by the call() of its file. */
#define BZ_VARIANT_OF_MODEL(identifier, name_, summary_, type, model_, init_)                      \
    static const struct bz_modelled_ops modelled_##identifier = {                                  \
        .instance_bytes = sizeof(type), .model = &(model_), .init = init_, .call = call};          \
    const struct bz_variant bz_variant_##identifier = {                                            \
        .version = BZ_VARIANT_VERSION,                                                             \
        .claims = BZ_CLAIM_REFUSES_MISUSE,                                                         \
        .name = name_,                                                                             \
        .summary = summary_ ", in the scenario `model`",                                           \
        .modelled = &modelled_##identifier,                                                        \
    }
