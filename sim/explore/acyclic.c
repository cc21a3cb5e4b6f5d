#include "sim/explore/acyclic.h"

#include <stdlib.h>

#include "sim/run/contain.h"

bool bz_edge_log_init(struct bz_edge_log *log, uint64_t bytes) {
    *log = (struct bz_edge_log){.capacity = bytes / sizeof *log->edges};
    log->edges = bytes > SIZE_MAX ? NULL : bz_shared_alloc(log->capacity * sizeof *log->edges);
    return log->edges != NULL;
}

void bz_edge_log_fini(struct bz_edge_log *log) {
    bz_shared_free(log->edges, log->capacity * sizeof *log->edges);
    *log = (struct bz_edge_log){.edges = NULL};
}

/* The edges of state s lead to targets[first[s]] to targets[first[s + 1] - 1]; `arrivals` counts
 * those that lead to a state. */
struct sorted {
    uint64_t *first;
    uint32_t *targets;
    uint32_t *arrivals;
    uint32_t *queue;
};

static void sort(struct sorted *sorted, const struct bz_edge_log *const *logs, uint32_t log_count,
                 uint32_t state_count) {
    for (uint32_t number = 0; number < log_count; number++) {
        for (uint64_t index = 0; index < logs[number]->count; index++) {
            sorted->first[logs[number]->edges[index].from + 2]++;
            sorted->arrivals[logs[number]->edges[index].to]++;
        }
    }
    for (uint32_t state = 2; state <= state_count + 1; state++) {
        sorted->first[state] += sorted->first[state - 1];
    }
    for (uint32_t number = 0; number < log_count; number++) {
        for (uint64_t index = 0; index < logs[number]->count; index++) {
            const struct bz_edge *edge = &logs[number]->edges[index];
            sorted->targets[sorted->first[edge->from + 1]++] = edge->to;
        }
    }
}

/* Takes away states that no edge leads to, with their edges, until there are none (Kahn, 1962).
 * Returns how many. */
static uint32_t take_away(struct sorted *sorted, uint32_t state_count) {
    uint32_t taken = 0;
    uint32_t queued = 0;
    for (uint32_t state = 0; state < state_count; state++) {
        if (sorted->arrivals[state] == 0) {
            sorted->queue[queued++] = state;
        }
    }
    for (; taken < queued; taken++) {
        uint32_t state = sorted->queue[taken];
        for (uint64_t index = sorted->first[state]; index < sorted->first[state + 1]; index++) {
            uint32_t target = sorted->targets[index];
            if (--sorted->arrivals[target] == 0) {
                sorted->queue[queued++] = target;
            }
        }
    }
    return taken;
}

enum bz_acyclic bz_edges_are_acyclic(const struct bz_edge_log *const *logs, uint32_t log_count,
                                     uint32_t state_count) {
    uint64_t edge_count = 1;
    bool is_full = false;
    for (uint32_t number = 0; number < log_count; number++) {
        edge_count += logs[number]->count;
        is_full |= logs[number]->is_full;
    }
    struct sorted sorted = {
        .first = calloc((size_t)state_count + 2, sizeof *sorted.first),
        .targets = calloc(edge_count, sizeof *sorted.targets),
        .arrivals = calloc((size_t)state_count + 1, sizeof *sorted.arrivals),
        .queue = calloc((size_t)state_count + 1, sizeof *sorted.queue),
    };
    enum bz_acyclic answer = BZ_ACYCLIC_UNKNOWN;
    if (!is_full && sorted.first != NULL && sorted.targets != NULL && sorted.arrivals != NULL &&
        sorted.queue != NULL) {
        sort(&sorted, logs, log_count, state_count);
        answer = take_away(&sorted, state_count) == state_count ? BZ_ACYCLIC_YES : BZ_ACYCLIC_NO;
    }
    free(sorted.first);
    free(sorted.targets);
    free(sorted.arrivals);
    free(sorted.queue);
    return answer;
}
