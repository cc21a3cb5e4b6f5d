/* The tables of the variant `buzzer`, for who builds another variant that differs in one of them.
 */
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

#endif
