#include "sim/explore/cycle_check.h"

#include <stdlib.h>

#include "sim/contain/contain.h"

static size_t bytes_of(uint32_t count) {
    return sizeof(struct bz_edge_logs) + count * sizeof(struct bz_edge_log);
}

struct bz_edge_logs *bz_edge_logs_new(uint32_t count, uint64_t bytes) {
    struct bz_edge_logs *logs = bz_shared_alloc(bytes_of(count));
    uint64_t capacity = bytes / count / sizeof(struct bz_edge);
    if (logs == NULL || bytes > SIZE_MAX) {
        bz_shared_free(logs, bytes_of(count));
        return NULL;
    }
    for (; logs->count < count; logs->count++) {
        struct bz_edge_log *log = &logs->logs[logs->count];
        log->capacity = capacity;
        log->edges = bz_shared_alloc(capacity * sizeof *log->edges);
        if (log->edges == NULL) {
            bz_edge_logs_destroy(logs);
            return NULL;
        }
    }
    return logs;
}

void bz_edge_logs_destroy(struct bz_edge_logs *logs) {
    if (logs == NULL) {
        return;
    }
    size_t bytes = bytes_of(logs->count);
    for (uint32_t number = 0; number < logs->count; number++) {
        struct bz_edge_log *log = &logs->logs[number];
        bz_shared_free(log->edges, log->capacity * sizeof *log->edges);
    }
    bz_shared_free(logs, bytes);
}

void bz_edge_logs_begin(struct bz_edge_logs *logs) {
    logs->is_whole = true;
    logs->state_count = 1;
    for (uint32_t number = 0; number < logs->count; number++) {
        logs->logs[number].count = 0;
        logs->logs[number].is_full = false;
    }
}

bool bz_edge_logs_count(const struct bz_edge_logs *logs, uint64_t *count) {
    bool has_all = logs->is_whole;
    *count = 0;
    for (uint32_t number = 0; number < logs->count; number++) {
        *count += logs->logs[number].count;
        has_all &= !logs->logs[number].is_full;
    }
    *count = has_all ? *count : 0;
    return has_all;
}

/* The edges of state s lead to targets[first[s]] to targets[first[s + 1] - 1]; `arrivals` counts
 * those that lead to a state. */
struct sorted {
    uint64_t *first;
    uint32_t *targets;
    uint32_t *arrivals;
    uint32_t *queue;
};

static void sort(struct sorted *sorted, const struct bz_edge_logs *logs) {
    for (uint32_t number = 0; number < logs->count; number++) {
        const struct bz_edge_log *log = &logs->logs[number];
        for (uint64_t index = 0; index < log->count; index++) {
            sorted->first[log->edges[index].from + 2]++;
            sorted->arrivals[log->edges[index].to]++;
        }
    }
    for (uint32_t state = 2; state <= logs->state_count + 1; state++) {
        sorted->first[state] += sorted->first[state - 1];
    }
    for (uint32_t number = 0; number < logs->count; number++) {
        const struct bz_edge_log *log = &logs->logs[number];
        for (uint64_t index = 0; index < log->count; index++) {
            const struct bz_edge *edge = &log->edges[index];
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

enum bz_acyclic bz_edges_are_acyclic(const struct bz_edge_logs *logs) {
    uint32_t state_count = logs->state_count;
    uint64_t edge_count = 1;
    bool is_full = false;
    for (uint32_t number = 0; number < logs->count; number++) {
        edge_count += logs->logs[number].count;
        is_full |= logs->logs[number].is_full;
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
        sort(&sorted, logs);
        answer = take_away(&sorted, state_count) == state_count ? BZ_ACYCLIC_YES : BZ_ACYCLIC_NO;
    }
    free(sorted.first);
    free(sorted.targets);
    free(sorted.arrivals);
    free(sorted.queue);
    return answer;
}
