/* A FIFO witness of a finding under the order `any`.
 *
 * Under `any` every ready handle may go next, as on Trio or tokio. asyncio and libuv run handles in
 * order, so there a finding matters only if it has a witness under `fifo`. The search is a campaign
 * of BZ_WITNESS_RUNS runs; it ends before with its budget, and with BZ_WITNESS_DEATHS runs that end
 * their process, which take their time. Finding none proves nothing. */
#pragma once

#include <stdbool.h>

#include "sim/campaign/campaign.h"
#include "sim/program/budget.h"

#define BZ_WITNESS_RUNS 10000u
#define BZ_WITNESS_DEATHS 4u

struct bz_witness {
    bool is_searched; /* false: the program already runs under `fifo` */
    bool is_found;
    uint64_t runs; /* that were made */
    uint64_t steps;
    bool is_cut;               /* the budget was spent before all of them were made */
    struct bz_program program; /* the same under `fifo` */
    struct bz_finding finding; /* the first run that fails in the same way */
    char lack[BZ_LACK_BYTES];  /* after false: what ran out */
};

/* Searches a run of the program under `fifo` that fails in this way. False if memory runs out. */
bool bz_witness_search(const struct bz_program *program, const struct bz_failure *wanted,
                       const struct bz_budget *budget, struct bz_witness *witness);
