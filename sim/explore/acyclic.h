/* Whether a graph has a cycle, from its edges alone. The workers of a team each see a part of the
 * search, and none of them notices a cycle that goes through the parts of several. So each logs its
 * transitions, and the process that waits for them looks at all of them. */
#ifndef BZ_SIM_EXPLORE_ACYCLIC_H
#define BZ_SIM_EXPLORE_ACYCLIC_H

#include <stdbool.h>
#include <stdint.h>

/* From one state to another, by their numbers. */
struct bz_edge {
    uint32_t from;
    uint32_t to;
};

struct bz_edge_log {
    struct bz_edge *edges; /* in memory that is shared */
    uint64_t count;
    uint64_t capacity;
    bool is_full; /* an edge was left out */
};

/* False without memory. */
bool bz_edge_log_init(struct bz_edge_log *log, uint64_t bytes);
void bz_edge_log_fini(struct bz_edge_log *log);

static inline void bz_edge_log_add(struct bz_edge_log *log, uint32_t from, uint32_t to) {
    log->is_full |= log->count == log->capacity;
    if (log->count < log->capacity) {
        log->edges[log->count++] = (struct bz_edge){from, to};
    }
}

enum bz_acyclic {
    BZ_ACYCLIC_NO = 0,
    BZ_ACYCLIC_YES = 1,
    BZ_ACYCLIC_UNKNOWN = 2, /* a log is full, or memory ran out */
};

/* Of `state_count` states and the edges of `log_count` logs. O(states + edges). */
enum bz_acyclic bz_edges_are_acyclic(const struct bz_edge_log *const *logs, uint32_t log_count,
                                     uint32_t state_count);

#endif
