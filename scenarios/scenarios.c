#include "scenarios/scenarios.h"

#include <stddef.h>
#include <string.h>

const struct bz_scenario *const bz_scenarios[] = {
    &bz_scenario_contended, &bz_scenario_handoff, &bz_scenario_restaurant,
    &bz_scenario_taskgroup, &bz_scenario_timeout, NULL,
};

const struct bz_variant *const bz_variants[] = {
    &bz_variant_buzzer,
    &bz_variant_zoo_lock_double_grant,
    &bz_variant_zoo_lock_stale_queue,
    &bz_variant_zoo_lock_woken_cancel,
    &bz_variant_zoo_sem_barge,
    &bz_variant_zoo_sem_flag_stuck,
    &bz_variant_zoo_sem_woken_cancel,
    &bz_variant_zoo_toy_lifo,
    NULL,
};

const struct bz_scenario *bz_scenario_find(const char *name) {
    for (const struct bz_scenario *const *next = bz_scenarios; *next != NULL; next++) {
        if (strcmp((*next)->name, name) == 0) {
            return *next;
        }
    }
    return NULL;
}

const struct bz_variant *bz_variant_find(const char *name) {
    for (const struct bz_variant *const *next = bz_variants; *next != NULL; next++) {
        if (strcmp((*next)->name, name) == 0) {
            return *next;
        }
    }
    return NULL;
}
