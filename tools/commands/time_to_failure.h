/* The time to failure (TTF) of a declared fault: how many schedules run until it is found, and
 * whether the shipped primitives pass on the same seeds.
 *
 * A measurement has several adjacent ranges of seeds, all of the same length. In each, the entry
 * runs until an oracle is violated. The fault counts as found if that is the declared oracle. Then
 * the twin, the variant `buzzer`, runs the same seeds. */
#ifndef BZ_TOOLS_COMMANDS_TIME_TO_FAILURE_H
#define BZ_TOOLS_COMMANDS_TIME_TO_FAILURE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/session/campaign.h"

#define BZ_TTF_RANGES_MAX 1000u

struct bz_ttf_config {
    uint64_t seed_first;
    uint64_t runs;   /* the length of a range */
    uint32_t ranges; /* at most BZ_TTF_RANGES_MAX; all seeds together must not wrap */
    uint32_t jobs;
    bool has_default_sizes; /* no run has drawn parameters */
    const volatile sig_atomic_t *stop;
    void (*poll)(void *context); /* during long ranges; NULL: never */
    void *context;
};

struct bz_ttf {
    struct bz_program program; /* with the declared settings, under one order */
    bool draws_sizes;
    uint32_t ranges_done;
    uint32_t ranges_found;
    uint64_t schedules[BZ_TTF_RANGES_MAX]; /* to the finding, for each range; 0: not found */
    struct bz_finding finding;             /* the first; oracle NULL: none */
    struct bz_finding other;               /* the first of another oracle; likewise */
    const struct bz_variant *twin;         /* NULL: `buzzer` does not offer this primitive */
    uint64_t twin_runs;                    /* seeds that the twin ran */
    struct bz_finding twin_other;          /* the twin's first violation; expected to be none */
    bool is_interrupted;
    char lack[BZ_LACK_BYTES]; /* not empty: this ran out */
};

/* Sets up the entry in its declared scenario and settings. `ttf` is zeroed memory. False with a
 * message. */
bool bz_ttf_init(struct bz_ttf *ttf, const struct bz_variant *entry, const char *strategy,
                 enum bz_order order, char *error, size_t error_bytes);

/* Runs one more range. False if memory or processes run out: see ttf->lack. */
bool bz_ttf_run_range(struct bz_ttf *ttf, const struct bz_ttf_config *config);

/* Found in every range. */
bool bz_ttf_is_found(const struct bz_ttf *ttf, const struct bz_ttf_config *config);

/* The mean number of schedules to the finding, in tenths; 0 if it was never found. */
uint64_t bz_ttf_mean_tenths(const struct bz_ttf *ttf);

#endif
