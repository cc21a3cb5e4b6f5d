/* Whether a graph has a cycle, from its edges alone. The workers of a team each see a part of the
 * search, and none of them notices a cycle that goes through the parts of several. So each logs its
 * transitions, and the process that waits for them looks at all of them. */
#ifndef BZ_SIM_EXPLORE_CYCLE_CHECK_H
#define BZ_SIM_EXPLORE_CYCLE_CHECK_H

#include <stdbool.h>
#include <stdint.h>

/* From one state to another, by their numbers. */
struct bz_edge {
    uint32_t from;
    uint32_t to;
};

struct bz_edge_log {
    struct bz_edge *edges;
    uint64_t count;
    uint64_t capacity;
    bool is_full; /* an edge was left out */
};

/* All in memory that is shared. They outlive the pauses of a search, and its workers. */
struct bz_edge_logs {
    bool is_whole;        /* they have every edge since the search began */
    uint32_t state_count; /* the start is state 0 */
    uint32_t count;
    struct bz_edge_log logs[];
};

/* For `count` workers, of so many bytes in all; bz_edge_logs_begin() comes first. NULL without
 * memory. */
struct bz_edge_logs *bz_edge_logs_new(uint32_t count, uint64_t bytes);
void bz_edge_logs_destroy(struct bz_edge_logs *logs);

/* A search begins. */
void bz_edge_logs_begin(struct bz_edge_logs *logs);

static inline void bz_edge_log_add(struct bz_edge_log *log, uint32_t from, uint32_t to) {
    log->is_full |= log->count == log->capacity;
    if (log->count < log->capacity) {
        log->edges[log->count++] = (struct bz_edge){from, to};
    }
}

/* How many edges there are. False, and 0, if the logs are not whole or one is full. */
bool bz_edge_logs_count(const struct bz_edge_logs *logs, uint64_t *count);

enum bz_acyclic {
    BZ_ACYCLIC_NO = 0,
    BZ_ACYCLIC_YES = 1,
    BZ_ACYCLIC_UNKNOWN = 2, /* a log is full, or memory ran out */
};

/* Of the edges so far. O(states + edges). */
enum bz_acyclic bz_edges_are_acyclic(const struct bz_edge_logs *logs);

#endif
