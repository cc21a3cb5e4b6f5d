/* The check that a graph has no cycle, from its edges alone. The workers of a team each see a part
 * of the search, and none of them notices a cycle that goes through the parts of several. So they
 * log their transitions, and the process that waits for them looks at all of them. */
#ifndef BZ_SIM_EXPLORE_CYCLE_CHECK_H
#define BZ_SIM_EXPLORE_CYCLE_CHECK_H

#include <stdbool.h>
#include <stdint.h>

/* From one state to another, by their numbers. No edge leads to the start, which is state 0; such
 * an entry of a log is a place that no worker has used. */
struct bz_edge {
    uint32_t from;
    uint32_t to;
};

#define BZ_EDGES_AT_A_TIME 64u

/* In memory that is shared. It outlives the pauses of a search, and its workers. */
struct bz_edge_log {
    bool is_whole; /* it has every edge since the search began, as far as there was room */
    uint32_t state_count;
    uint64_t count; /* of places that were taken; above the capacity: edges were left out */
    uint64_t capacity;
    struct bz_edge edges[];
};

/* Of so many bytes; bz_edge_log_begin() comes first. NULL without memory. */
struct bz_edge_log *bz_edge_log_new(uint64_t bytes);
void bz_edge_log_destroy(struct bz_edge_log *log);

/* A search begins. */
void bz_edge_log_begin(struct bz_edge_log *log);

/* The places of a worker, which takes several at a time. Zeroed before its first use. */
struct bz_edge_places {
    uint64_t next;
    uint64_t end;
};

static inline void bz_edge_log_add(struct bz_edge_log *log, struct bz_edge_places *places,
                                   uint32_t from, uint32_t to) {
    if (places->next == places->end) {
        places->next = __atomic_fetch_add(&log->count, BZ_EDGES_AT_A_TIME, __ATOMIC_RELAXED);
        places->end = places->next + BZ_EDGES_AT_A_TIME;
    }
    if (places->next < log->capacity) {
        log->edges[places->next] = (struct bz_edge){from, to};
    }
    places->next++;
}

/* True if no edge was left out. */
static inline bool bz_edge_log_has_all(const struct bz_edge_log *log) {
    return log->is_whole && log->count <= log->capacity;
}

enum bz_acyclic {
    BZ_ACYCLIC_NO = 0,
    BZ_ACYCLIC_YES = 1,
    BZ_ACYCLIC_UNKNOWN = 2, /* the log is full, or memory ran out */
};

/* Of the edges so far. O(states + edges). */
enum bz_acyclic bz_edges_are_acyclic(const struct bz_edge_log *log);

#endif
