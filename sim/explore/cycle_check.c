#include "sim/explore/cycle_check.h"

#include <stdlib.h>
#include <string.h>

#include "sim/contain/contain.h"

static size_t bytes_of(uint64_t capacity) {
    return sizeof(struct bz_edge_log) + (size_t)capacity * sizeof(struct bz_edge);
}

struct bz_edge_log *bz_edge_log_new(uint64_t bytes) {
    uint64_t capacity = bytes / sizeof(struct bz_edge);
    struct bz_edge_log *log = bytes > SIZE_MAX / 2 ? NULL : bz_shared_alloc(bytes_of(capacity));
    if (log != NULL) {
        log->capacity = capacity;
    }
    return log;
}

void bz_edge_log_destroy(struct bz_edge_log *log) {
    if (log != NULL) {
        bz_shared_free(log, bytes_of(log->capacity));
    }
}

void bz_edge_log_begin(struct bz_edge_log *log) {
    uint64_t used = log->count < log->capacity ? log->count : log->capacity;
    memset(log->edges, 0, (size_t)used * sizeof log->edges[0]);
    log->is_whole = true;
    log->state_count = 1;
    log->count = 0;
}

/* The edges of state s lead to targets[first[s]] to targets[first[s + 1] - 1]; `arrivals` counts
 * those that lead to a state. */
struct sorted {
    uint64_t *first;
    uint32_t *targets;
    uint32_t *arrivals;
    uint32_t *queue;
};

static void sort(struct sorted *sorted, const struct bz_edge_log *log) {
    for (uint64_t index = 0; index < log->count; index++) {
        const struct bz_edge *edge = &log->edges[index];
        sorted->first[edge->from + 2] += edge->to != 0;
        sorted->arrivals[edge->to] += edge->to != 0;
    }
    for (uint32_t state = 2; state <= log->state_count + 1; state++) {
        sorted->first[state] += sorted->first[state - 1];
    }
    for (uint64_t index = 0; index < log->count; index++) {
        const struct bz_edge *edge = &log->edges[index];
        if (edge->to != 0) {
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

enum bz_acyclic bz_edges_are_acyclic(const struct bz_edge_log *log) {
    size_t states = (size_t)log->state_count + 2;
    if (!bz_edge_log_has_all(log)) {
        return BZ_ACYCLIC_UNKNOWN;
    }
    struct sorted sorted = {
        .first = calloc(states, sizeof *sorted.first),
        .targets = calloc((size_t)log->count + 1, sizeof *sorted.targets),
        .arrivals = calloc(states, sizeof *sorted.arrivals),
        .queue = calloc(states, sizeof *sorted.queue),
    };
    enum bz_acyclic answer = BZ_ACYCLIC_UNKNOWN;
    if (sorted.first != NULL && sorted.targets != NULL && sorted.arrivals != NULL &&
        sorted.queue != NULL) {
        sort(&sorted, log);
        answer = take_away(&sorted, log->state_count) == log->state_count ? BZ_ACYCLIC_YES
                                                                          : BZ_ACYCLIC_NO;
    }
    free(sorted.first);
    free(sorted.targets);
    free(sorted.arrivals);
    free(sorted.queue);
    return answer;
}
