/* The events of a simulated run: the runtime's own (primitives/runtime/observe.h) and these.
 *
 * The digest of a run folds every event, in order, field by field, so that it is the same on every
 * compiler, word size and byte order.
 */
#ifndef BZ_SIM_WORLD_EVENT_H
#define BZ_SIM_WORLD_EVENT_H

#include <stdint.h>

#include "primitives/runtime/observe.h"
#include "sim/choice/choice.h"

enum bz_sim_event_kind {
    BZ_EVENT_CALL = 16, /* task calls operation detail (enum bz_op) of object */
    /* It returns; status. An operation in which nothing happened in between has no CALL of its own:
     * it was done at once. A release that is accepted has no RETURN. */
    BZ_EVENT_RETURN = 17,
    BZ_EVENT_CLOCK = 18, /* the clock moves on; arg: low, object: high 32 bits of the time */
    /* A step that is an outside cancel of task; a CANCEL event follows. arg: points of this step
     * that passed before it. */
    BZ_EVENT_INJECT = 19,
    BZ_EVENT_NOTE = 20, /* the scenario says something; arg: its number */
    /* task drew a datum or a delay, detail (enum bz_choice_kind); arg: low, object: high 32 bits */
    BZ_EVENT_DRAW = 21,
};
#define BZ_EVENT_KIND_COUNT 22

/* Operations: of primitives, and what else a task may be suspended in. */
enum bz_op {
    BZ_OP_NONE = 0,
    BZ_OP_START = 1, /* waits for its first step */
    BZ_OP_YIELD = 2,
    BZ_OP_SLEEP = 3,
    BZ_OP_JOIN = 4,  /* other tasks: a join, the end of a group */
    BZ_OP_AWAIT = 5, /* a future of the scenario's own */
    BZ_OP_RUN = 6,   /* it runs, or has ended */
    BZ_OP_ACQUIRE = 7,
    BZ_OP_RELEASE = 8,
    BZ_OP_WAIT = 9, /* of an event, a condition, a barrier */
    BZ_OP_PUT = 10,
    BZ_OP_GET = 11,
    BZ_OP_NOTIFY = 12, /* from here on: what never waits. arg: how many, UINT32_MAX for all */
    BZ_OP_SET = 13,
    BZ_OP_CLEAR = 14,
    BZ_OP_ABORT = 15,
    BZ_OP_RESET = 16,
    BZ_OP_SHUTDOWN = 17,
    BZ_OP_DONE = 18,
};
#define BZ_OP_COUNT 19

struct bz_event {
    uint8_t kind;    /* enum bz_event_kind, enum bz_sim_event_kind */
    uint8_t status;  /* enum bz_status */
    uint8_t detail;  /* as the kind says; a cancel: enum bz_op that it strikes in */
    uint8_t window;  /* a cancel: enum bz_window */
    uint32_t task;   /* id of the task concerned, 1 is the first; 0: none */
    uint32_t object; /* number of the object concerned; 0: none */
    uint32_t arg;
};

/* Stable names for traces; NULL where there is none. */
const char *bz_event_name(unsigned kind);
const char *bz_op_name(enum bz_op op);
const char *bz_wait_name(enum bz_wait wait);
const char *bz_role_name(unsigned role);

/* An event as it is logged: with the step and the time at which it happened. */
struct bz_logged_event {
    uint64_t time_ns;
    uint32_t step; /* 0: before the first step, while the scenario sets up */
    struct bz_event event;
};

/* Folds one word into a rolling digest. Multiply-rotate, in the manner of wyhash and MurmurHash;
 * not cryptographic. */
static inline uint64_t bz_digest_word(uint64_t digest, uint64_t word) {
    digest = (digest ^ word) * UINT64_C(0x9fb21c651e98df25);
    return digest ^ (digest >> 29u);
}

#define BZ_DIGEST_SEED UINT64_C(0x627a7a65722f3120)

static inline uint64_t bz_digest_event(uint64_t digest, struct bz_event event) {
    uint64_t low = (uint64_t)event.kind | (uint64_t)event.status << 8u |
                   (uint64_t)event.detail << 16u | (uint64_t)event.window << 24u |
                   (uint64_t)event.task << 32u;
    uint64_t high = (uint64_t)event.object | (uint64_t)event.arg << 32u;
    return bz_digest_word(digest, low + high * UINT64_C(0xd6e8feb86659fd93));
}

#endif
