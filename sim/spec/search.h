/* Breadth-first search through all states of a specification.
 *
 * Counts are those of TLC: `generated` are the initial state and every transition out of every
 * state; `distinct` are the states; `depth` is the number of states on the longest of all shortest
 * paths from the initial state. There is no symmetry reduction and no hash compaction: the set
 * holds the states themselves. A failing invariant does not stop the search, unless asked to. The
 * counterexample is a shortest one.
 *
 * Memory: 40 to 80 bytes a state. Time: O(1) a transition.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sim/spec/spec.h"

enum bz_search_end {
    BZ_SEARCH_COMPLETE = 0,
    BZ_SEARCH_STOPPED = 1,       /* by poll(), or at a violation */
    BZ_SEARCH_OUT_OF_MEMORY = 2, /* at the limit, or at the system's */
};

struct bz_search_counts {
    uint64_t generated;
    uint64_t distinct;
    uint64_t depth;
    uint64_t deadlocks; /* states without a transition */
    uint64_t waiting;   /* states found and not yet expanded; 0 when the search is complete */
};

struct bz_search_config {
    const struct bz_spec *spec;
    struct bz_spec_constants constants;
    uint64_t memory_max_bytes; /* 0: no limit */
    bool stops_at_violation;
    /* Called every few thousand states; false stops the search. NULL: not called. */
    bool (*poll)(void *context, const struct bz_search_counts *so_far);
    void *context;
};

/* A step of a counterexample; the first one is the initial state, with no action. */
struct bz_search_trace {
    struct bz_spec_step *steps;
    uint64_t length;
};

#define BZ_SEARCH_DEADLOCK 32u /* instead of an invariant's number */

struct bz_search_result {
    enum bz_search_end end;
    struct bz_search_counts counts;
    uint32_t broken;              /* invariants that fail somewhere, as bits */
    bool has_violation;           /* an invariant fails, or there is a deadlock: */
    uint32_t first;               /* the invariant that fails first, or BZ_SEARCH_DEADLOCK */
    struct bz_search_trace trace; /* a shortest one to that state; else empty */
    uint64_t memory_bytes;        /* the most in use at any time */
    bool is_at_limit;             /* OUT_OF_MEMORY: at memory_max_bytes, and not at the system's */
};

/* The constants must be within the limits of spec.h. `result` is freed by the function below. */
void bz_search(const struct bz_search_config *config, struct bz_search_result *result);

void bz_search_result_fini(struct bz_search_result *result);
