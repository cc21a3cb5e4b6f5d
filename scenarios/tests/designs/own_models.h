/* Designs with a model of their own. DESIGN_OF_MODEL() makes a design and its faulty sibling of
 * struct TYPE, TYPE_begin(), TYPE_call() and MODEL(TYPE, ...). */
#ifndef BZ_SCENARIOS_TESTS_DESIGNS_OWN_MODELS_H
#define BZ_SCENARIOS_TESTS_DESIGNS_OWN_MODELS_H

#include <string.h>

#include "scenarios/tests/designs/designs.h"
#include "scenarios/variants/modelled.h"

#define DESIGN_OF_MODEL(name, type, summary)                                                       \
    static enum bz_status name##_init(void *instance, struct bz_loop *loop,                        \
                                      const int64_t *parameters) {                                 \
        return type##_begin(instance, loop, parameters[0], false);                                 \
    }                                                                                              \
    static enum bz_status name##_faulty_init(void *instance, struct bz_loop *loop,                 \
                                             const int64_t *parameters) {                          \
        return type##_begin(instance, loop, parameters[0], true);                                  \
    }                                                                                              \
    static const struct bz_modelled_ops name##_ops = {sizeof(struct type), &type##_model,          \
                                                      name##_init, type##_call};                   \
    static const struct bz_modelled_ops name##_faulty_ops = {sizeof(struct type), &type##_model,   \
                                                             name##_faulty_init, type##_call};     \
    DESIGN(name, 0, summary, .modelled = &name##_ops);                                             \
    DESIGN(name##_faulty, 0, summary ", with a fault", .modelled = &name##_faulty_ops)

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
