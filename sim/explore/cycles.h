/* The graph of a search: its states, and the transitions between them. In it are the schedules that
 * never end, because they go round in cycles. The question is which of these are fair, and starve a
 * task, or make no progress.
 *
 *     bz_cycles_begin(cycles, memory_max_bytes)
 *       ... bz_cycles_add_state(), bz_cycles_add_edge() ...
 *     count = bz_cycles_find(cycles, found, max)
 *     bz_cycles_path(cycles, found[0].state, &path)
 *
 * A set of states is *closed under chance* if the scheduler can stay in it whatever is drawn: an
 * action is a transition without its draws, and only actions count of which every draw leads to a
 * state of the set (an end component, as in Markov decision processes). The set is *fair* if a
 * schedule that stays in it can be fair (weak fairness): each handle that is ready in all of its
 * states is run by one of its actions; and if a timer is pending in all of them, the clock moves.
 *
 * Found are the largest sets of two kinds:
 *
 *     no progress     no operation is called or returns, and no task ends
 *     starvation      one task stands in a line throughout, in one operation, and is overtaken
 * again and again
 *
 * If there is none, then in every fair schedule somebody makes progress again and again, and nobody
 * is overtaken without end. If there is one, another order may still lead out of it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/choice/answers.h"

#define BZ_CYCLES_BYTES_MAX (UINT64_C(1) << 30u)
#define BZ_CYCLE_OUT UINT32_MAX /* no state: the run ends here */
#define BZ_CYCLE_START                                                                             \
    0u                    /* the state before the set-up, which a transition leads to the first    \
                             state from */
#define BZ_CYCLE_BITS 63u /* of handles, and of tasks from 1 on */
#define BZ_CYCLE_CLOCK                                                                             \
    (UINT64_C(1) << BZ_CYCLE_BITS) /* among the ready handles: a timer is pending */
#define BZ_CYCLE_NOBODY UINT8_MAX

struct bz_cycle_state {
    uint64_t ready;       /* handles, as bits, and the clock */
    uint64_t last_action; /* the choices of the last edge, without its draws */
    uint32_t actions;     /* so far */
};

struct bz_cycle_edge {
    uint32_t from;
    uint32_t to;
    uint64_t waits;     /* tasks that are in an operation after it which was called before it */
    uint64_t overtaken; /* tasks that were overtaken in it */
    size_t first_choice;
    uint32_t action; /* of its source; edges of one action differ in what was drawn */
    uint16_t delays; /* of this transition, see explore.h */
    uint16_t draws;
    uint16_t choice_count;
    uint8_t object;   /* where somebody was overtaken; 0: beyond 255, or nowhere */
    uint8_t ran;      /* the bit of the handle; BZ_CYCLE_NOBODY: a cancel, or it has no bit */
    bool is_progress; /* an operation was called or returned, or a task ended */
    bool is_cancel;   /* injected */
};

struct bz_cycles {
    struct bz_cycle_state *states;
    uint32_t state_count;
    uint32_t state_capacity;
    struct bz_cycle_edge *edges;
    uint32_t edge_count;
    uint32_t edge_capacity;
    uint16_t *choices; /* of the edges, one after the other */
    size_t choice_count;
    size_t choice_capacity;
    uintptr_t handles[BZ_CYCLE_BITS]; /* by bit */
    uint32_t handle_count;
    struct bz_cycle_edge edge; /* the present transition: see search.h */
    bool is_full;              /* memory ran out, or the limit on it was reached */
    bool has_many_tasks;       /* more than there are bits for */
};

/* Zeroed before its first use. Keeps its memory, which is `bytes_max`
 * or BZ_CYCLES_BYTES_MAX. */
void bz_cycles_begin(struct bz_cycles *cycles, uint64_t bytes_max);
void bz_cycles_fini(struct bz_cycles *cycles);

/* The bit of a handle, by its address; BZ_CYCLE_NOBODY if there are too many. A handle without a
 * bit may be passed over for ever, as far as fairness goes: so nothing is missed. */
uint8_t bz_cycles_handle(struct bz_cycles *cycles, uintptr_t handle);

/* A new state: returns its number. Sets `is_full` without memory. */
uint32_t bz_cycles_add_state(struct bz_cycles *cycles, uint64_t ready);

/* A transition, with its choices. `draws`: those that are draws, as bits; later ones than 64 are
 * none. Edges of one action come one after the other. */
void bz_cycles_add_edge(struct bz_cycles *cycles, const struct bz_cycle_edge *edge,
                        const uint64_t *choices, uint64_t draws);

struct bz_fair_set {
    uint32_t task;   /* is overtaken for ever; 0: nobody makes progress */
    uint32_t object; /* where it waits; 0: not known */
    uint32_t state_count;
    uint32_t state;         /* one of its states */
    uint32_t default_state; /* one on a cycle of default choices that does the same; BZ_CYCLE_OUT:
                               there is none */
    bool is_closed;         /* nothing but a cancel leads out of it */
};

#define BZ_CYCLES_LACK UINT32_MAX

/* How many there are, of which the first `max` are in `sets`. BZ_CYCLES_LACK without memory. */
uint32_t bz_cycles_find(const struct bz_cycles *cycles, struct bz_fair_set *sets, uint32_t max);

/* A path from the start to a state, with as few deviations as possible. */
struct bz_cycle_path {
    struct bz_answers answers;
    bool has_answers; /* false: they would be too many */
    uint32_t steps;
    uint32_t delays;
    uint32_t cancels;
    uint32_t draws;
};

/* False without memory. */
bool bz_cycles_path(const struct bz_cycles *cycles, uint32_t state, struct bz_cycle_path *path);
