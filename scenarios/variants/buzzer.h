/* The tables of the variant `buzzer`, and how their functions are written. */
#ifndef BZ_SCENARIOS_VARIANTS_BUZZER_H
#define BZ_SCENARIOS_VARIANTS_BUZZER_H

#include "sim/variant/variant.h"

extern const struct bz_event_ops bz_buzzer_event_ops;
extern const struct bz_condition_ops bz_buzzer_condition_ops;
extern const struct bz_barrier_ops bz_buzzer_barrier_ops;
extern const struct bz_queue_ops bz_buzzer_queue_ops;
extern const struct bz_pool_ops bz_buzzer_pool_ops;
extern const struct bz_deferred_ops bz_buzzer_deferred_ops;
extern const struct bz_scope_ops bz_buzzer_scope_ops;

/* These define an operation that calls a function of the primitive. The instance is the primitive,
 * or begins with it. */
#define BZ_BUZZER_CALL(result, name, function)                                                     \
    static result name(void *instance) {                                                           \
        return function(instance);                                                                 \
    }

#define BZ_BUZZER_CALL_WITH(result, name, function, type)                                          \
    static result name(void *instance, type argument) {                                            \
        return function(instance, argument);                                                       \
    }

#define BZ_BUZZER_DO(name, function)                                                               \
    static void name(void *instance) {                                                             \
        function(instance);                                                                        \
    }

#endif
