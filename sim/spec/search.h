/* Breadth-first search through all states of a specification.
 *
 * It counts as TLC does: generated are the initial state and every transition out of every state;
 * distinct are the states; the depth is the number of states on the longest of all shortest paths
 * from the initial one. Nothing is taken for symmetric, nothing is hashed away: the set holds the
 * states themselves, in an open-addressing table, and the order in which they were found is an
 * array beside it. A failing invariant does not stop the search. The counterexample is a shortest
 * one; no links to parents are kept for it: going back, a state's parent is the first state of the
 * level before that leads to it, which is looked for again.
 *
 * Memory: 8 or 16 bytes a state for the array, and twice to four times that for the table. Each
 * transition is looked up once; the lookups are started ahead of their use, because they miss every
 * cache.
 */
#ifndef BZ_SIM_SPEC_SEARCH_H
#define BZ_SIM_SPEC_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/spec/spec.h"

enum bz_search_end {
    BZ_SEARCH_COMPLETE = 0,
    BZ_SEARCH_STOPPED = 1,       /* poll said so, or a violation was enough */
    BZ_SEARCH_OUT_OF_MEMORY = 2, /* the limit, or the system's */
};

struct bz_search_counts {
    uint64_t generated;
    uint64_t distinct;
    uint64_t depth;
    uint64_t deadlocks; /* states that nothing leads out of */
    uint64_t waiting;   /* states found and not yet looked at; 0 at a complete end */
};

struct bz_search_config {
    const struct bz_spec *spec;
    struct bz_spec_constants constants;
    uint64_t memory_max_bytes; /* 0: no limit of our own */
    bool stops_at_violation;
    /* Called every few thousand states; false stops the search. NULL: nobody asks. */
    bool (*poll)(void *context, const struct bz_search_counts *so_far);
    void *context;
};

/* A step of a counterexample; the first one is the initial state, with no action. */
struct bz_search_trace {
    struct bz_spec_step *steps;
    uint64_t length;
};

#define BZ_SEARCH_DEADLOCK 32u /* in the place of an invariant's number */

struct bz_search_result {
    enum bz_search_end end;
    struct bz_search_counts counts;
    uint32_t broken;              /* invariants that fail somewhere, as bits */
    bool has_violation;           /* an invariant fails, or there is a deadlock */
    uint32_t first;               /* the invariant that fails first, or BZ_SEARCH_DEADLOCK */
    struct bz_search_trace trace; /* to the first such state, a shortest one; else empty */
    uint64_t memory_bytes;        /* at most, at any time */
};

/* The constants must be within the limits of spec.h. */
void bz_search(const struct bz_search_config *config, struct bz_search_result *result);

/* Frees the trace. */
void bz_search_result_fini(struct bz_search_result *result);

#endif
