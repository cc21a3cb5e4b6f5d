/* The parts of a history check. */
#pragma once

#include "sim/model/history.h"

/* --- sets of configurations ------------------------------------------------------------------- */

/* A configuration is a row of words: the clients whose unfinished operation has taken effect, as
 * bits; those whose operation was undone; those whose operation has begun, and has not taken
 * effect; of each the answer or the ticket, or how many have passed it while it waits; the state.
 */
enum { BZ_WORD_TOOK, BZ_WORD_UNDONE, BZ_WORD_BEGUN, BZ_WORD_ANSWERS };

/* Rows in the order in which they were added. A place of the hash table has a generation and an
 * index, so a set is emptied in O(1). */
struct bz_configurations {
    uint64_t *words;
    uint64_t *places; /* their number is a power of two */
    uint32_t row_words;
    uint32_t count;
    uint32_t capacity;
    uint32_t place_count;
    uint32_t generation; /* from 1 */
    uint32_t limit;      /* of the capacity */
    bool is_grown;       /* words and places are of its own, no longer in the history's block */
    struct bz_mem *mem;
};

void bz_configurations_clear(struct bz_configurations *set);

/* False: the set is full, or there is no memory for a larger one. Rows may move. */
bool bz_configurations_add(struct bz_configurations *set, const uint64_t *row);

/* Gives back what it has grown by. */
void bz_configurations_free(struct bz_configurations *set);

static inline uint64_t *bz_configurations_row(const struct bz_configurations *set, uint32_t index) {
    return set->words + (size_t)index * set->row_words;
}

/* --- a history -------------------------------------------------------------------------------- */

enum bz_history_event_kind {
    BZ_HISTORY_CALL,
    BZ_HISTORY_RETURN,
    BZ_HISTORY_CANCEL,
    BZ_HISTORY_CANCELLED,
    BZ_HISTORY_PASS, /* `answer` nanoseconds, of no client */
};

struct bz_history_event {
    enum bz_history_event_kind kind;
    uint32_t client;
    uint32_t op;
    uint32_t step; /* of the run; 0: not known */
    int64_t answer;
    int64_t arguments[BZ_MODEL_ARGUMENTS_MAX];
};

/* An unfinished operation. */
struct bz_pending {
    uint32_t op;
    uint32_t number; /* of the event of its call */
    int64_t arguments[BZ_MODEL_ARGUMENTS_MAX];
};

struct bz_history {
    struct bz_mem *mem;
    size_t bytes;
    const struct bz_model *model;
    int64_t parameters[BZ_MODEL_PARAMETERS_MAX];
    uint32_t clients_max;
    uint32_t events_max;
    uint32_t configurations_max;
    uint32_t first_number;
    uint32_t event_count;
    uint32_t step; /* of the run, now */
    uint32_t ways; /* the most of an operation; 1: none has a choice */
    bool ignores_lines;
    bool is_full;                  /* a set of configurations was, in this event */
    bool cannot_undo;              /* the model refused to, in this event */
    uint32_t undoing;              /* the operation that it refused to undo */
    uint64_t pending;              /* clients that have an unfinished operation, as bits */
    uint64_t requested;            /* those with a requested cancel */
    struct bz_pending *operations; /* by client */
    struct bz_history_event *events;
    struct bz_configurations now;     /* every one that explains the events so far */
    struct bz_configurations next;    /* the same with the event at hand */
    struct bz_configurations reached; /* on the way there */
    uint64_t *row;                    /* the one at hand */
    uint64_t *trial;                  /* rows, one for each client if an operation has a choice */
    struct bz_history_finding finding;
};

static inline const struct bz_model_op *bz_history_op(const struct bz_history *history,
                                                      uint32_t client) {
    return &history->model->ops[history->operations[client].op];
}

/* 1 + the index of the argument that the implementation chooses; 0: there is none. */
static inline uint32_t bz_model_chosen(const struct bz_model_op *op) {
    uint32_t index = op->argument_count;
    while (index > 0 && !op->arguments[index - 1].is_chosen) {
        index--;
    }
    return index;
}

static inline uint32_t bz_model_ways(const struct bz_model_op *op) {
    uint32_t chosen = bz_model_chosen(op);
    return chosen == 0
               ? 1
               : (uint32_t)(op->arguments[chosen - 1].most - op->arguments[chosen - 1].least) + 1;
}

/* --- effects (effects.c) ---------------------------------------------------------------------- */

/* Each works on history->row, which has the result if it returns true. `way` is less than
 * history->ways: an operation with fewer ways refuses the others. */
typedef bool bz_effect(struct bz_history *history, const uint64_t *from, uint32_t client,
                       uint32_t way);

/* The client's operation begins, if it has two moments and the model lets it. */
bz_effect bz_effect_begin;

/* The client's operation takes effect, if the model and its line let it. */
bz_effect bz_effect_take;

/* Its or_else takes effect in its place, if the model lets that and the operation has to wait, or
 * has company in its line. */
bz_effect bz_effect_take_else;

static inline bool bz_effect_in_any_way(struct bz_history *history, const uint64_t *from,
                                        uint32_t client, bz_effect *effect) {
    uint32_t way = 0;
    while (way < history->ways && !effect(history, from, client, way)) {
        way++;
    }
    return way < history->ways;
}

/* The event at hand, which `next` shows then. The call is of an operation that begins at once. */
void bz_effects_of_call(struct bz_history *history, uint32_t client);
void bz_effects_of_return(struct bz_history *history, uint32_t client, int64_t answer);
void bz_effects_of_end(struct bz_history *history, uint32_t client);

/* Fills `reached` with what the unfinished operations of these clients may have done, and with the
 * beginnings of those. */
void bz_effects_of(struct bz_history *history, uint64_t clients, uint64_t beginners);

/* Fills `reached` with what the operations whose cancel was requested may have done, and with the
 * beginnings of those of the clients. In a model with a clock, time has passed until it settled. */
void bz_effects_at_rest(struct bz_history *history, uint64_t clients, uint64_t elapsed_ns);

/* Time passes in every configuration of `now`. */
void bz_effects_of_time(struct bz_history *history, uint64_t elapsed_ns);

/* --- what to say (words.c) -------------------------------------------------------------------- */

void bz_history_object(struct bz_history *history, enum bz_history_result result, uint32_t client,
                       const char *format, ...) __attribute__((format(printf, 4, 5)));
void bz_history_say_unexplained(struct bz_history *history, const struct bz_history_event *event);
void bz_history_say_waits(struct bz_history *history, uint32_t client, const char *meanwhile,
                          bool is_in_all);
