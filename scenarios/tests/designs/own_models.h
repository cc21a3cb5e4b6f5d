/* Designs with a model of their own. DESIGN_OF_MODEL() makes a design and its faulty sibling of
 * struct TYPE, which begins with a struct base, TYPE_call() and MODEL(TYPE, ...). */
#ifndef BZ_SCENARIOS_TESTS_DESIGNS_OWN_MODELS_H
#define BZ_SCENARIOS_TESTS_DESIGNS_OWN_MODELS_H

#include <string.h>

#include "scenarios/tests/designs/designs.h"
#include "scenarios/variants/modelled.h"

struct base {
    struct bz_deque queue;
    int64_t capacity; /* the parameter of the model */
    bool is_faulty;
};

static inline enum bz_status base_init(void *instance, struct bz_loop *loop,
                                       const int64_t *parameters) {
    struct base *base = instance;
    bz_deque_init(&base->queue, loop);
    base->capacity = parameters[0];
    return BZ_OK;
}

static inline enum bz_status base_init_faulty(void *instance, struct bz_loop *loop,
                                              const int64_t *parameters) {
    ((struct base *)instance)->is_faulty = true;
    return base_init(instance, loop, parameters);
}

#define DESIGN_OF_MODEL(type, summary)                                                             \
    static const struct bz_modelled_ops type##_ops = {sizeof(struct type), &type##_model,          \
                                                      base_init, type##_call};                     \
    static const struct bz_modelled_ops type##_faulty_ops = {sizeof(struct type), &type##_model,   \
                                                             base_init_faulty, type##_call};       \
    DESIGN(type, 0, summary, .modelled = &type##_ops);                                             \
    DESIGN(type##_faulty, 0, summary ", with a fault", .modelled = &type##_faulty_ops)

#define MODEL(type, state_, count, ...)                                                            \
    static const struct bz_model type##_model = {.name = #type,                                    \
                                                 .state_bytes = sizeof(state_),                    \
                                                 .parameter_count = count,                         \
                                                 .ops = type##_model_ops,                          \
                                                 .op_count = sizeof type##_model_ops /             \
                                                             sizeof type##_model_ops[0],           \
                                                 .step = type##_step,                              \
                                                 __VA_ARGS__}

#endif
