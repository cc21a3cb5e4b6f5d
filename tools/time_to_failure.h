/* The time to failure (TTF) of a declared fault: how many schedules it takes until the fault is
 * found, and whether the primitives that ship stay silent on the same seeds.
 *
 * A measurement has several ranges of seeds, one behind the other and of equal length. In each, the
 * entry runs until an oracle objects. The fault counts as found in a range if that oracle is the
 * one that the entry declares. Then the twin, the variant `buzzer`, runs the seeds that the entry
 * ran.
 */
#ifndef BZ_TOOLS_TIME_TO_FAILURE_H
#define BZ_TOOLS_TIME_TO_FAILURE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/run/campaign.h"

#define BZ_TTF_RANGES_MAX 1000u

struct bz_ttf_config {
    uint64_t seed_first;
    uint64_t runs;   /* the length of a range */
    uint32_t ranges; /* how many, at most BZ_TTF_RANGES_MAX; together they must not wrap */
    uint32_t jobs;
    const volatile sig_atomic_t *stop;
    void (*poll)(void *context); /* during long ranges; NULL: never */
    void *context;
};

struct bz_ttf {
    struct bz_program program; /* the entry as it declares itself, under one order */
    uint32_t ranges_done;
    uint32_t ranges_found;
    uint64_t schedules[BZ_TTF_RANGES_MAX]; /* to the finding, of each range; 0: not found */
    struct bz_finding finding;             /* the first; oracle NULL: there was none */
    struct bz_finding other;               /* the first of another oracle; likewise */
    bool has_twin;                         /* false: `buzzer` does not offer this primitive */
    uint64_t twin_runs;                    /* seeds on which the twin was tried */
    struct bz_finding twin_other;          /* what was found there; must be none */
    bool is_interrupted;
};

/* The entry in the scenario and with the settings that it declares. `hunt` is zeroed memory. False
 * with a message. */
bool bz_ttf_init(struct bz_ttf *ttf, const struct bz_variant *entry, const char *strategy,
                 enum bz_order order, char *error, size_t error_bytes);

/* Runs one more range. False without memory or threads. */
bool bz_ttf_run_range(struct bz_ttf *ttf, const struct bz_ttf_config *config);

/* Found in every range that was wanted. */
bool bz_ttf_is_found(const struct bz_ttf *ttf, const struct bz_ttf_config *config);

/* The mean of schedules to the finding, in tenths; 0 if it was never found. */
uint64_t bz_ttf_mean_tenths(const struct bz_ttf *ttf);

#endif
