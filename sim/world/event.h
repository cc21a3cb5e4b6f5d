/* The events of a simulated run: the runtime's own (primitives/runtime/observe.h) and these.
 *
 * The digest of a run folds every event, in order, field by field, so that it is the same on every
 * compiler, word size and byte order.
 */
#ifndef BZ_SIM_WORLD_EVENT_H
#define BZ_SIM_WORLD_EVENT_H

#include <string.h>

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

/* An event in two words, in registers: a struct on the stack would be written in pieces and read as
 * a whole, and the processor cannot forward that from its store buffer: it waits. */
struct bz_event_words {
    uint64_t low;
    uint64_t high;
};

static inline struct bz_event_words bz_event_pack(struct bz_event event) {
    return (struct bz_event_words){
        .low = (uint64_t)event.kind | (uint64_t)event.status << 8u | (uint64_t)event.detail << 16u |
               (uint64_t)event.window << 24u | (uint64_t)event.task << 32u,
        .high = (uint64_t)event.object | (uint64_t)event.arg << 32u,
    };
}

/* The same of an event in memory, which was stored in two words and is loaded so, again for the
 * store buffer's sake: left alone, a compiler takes all of it into one register. */
static inline struct bz_event_words bz_event_load(const struct bz_event *event) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    struct bz_event_words words;
    memcpy(&words.low, event, sizeof words.low);
    memcpy(&words.high, (const char *)event + sizeof words.low, sizeof words.high);
    return words;
#else
    return bz_event_pack(*event);
#endif
}

static inline struct bz_event bz_event_unpack(struct bz_event_words words) {
    return (struct bz_event){.kind = (uint8_t)words.low,
                             .status = (uint8_t)(words.low >> 8u),
                             .detail = (uint8_t)(words.low >> 16u),
                             .window = (uint8_t)(words.low >> 24u),
                             .task = (uint32_t)(words.low >> 32u),
                             .object = (uint32_t)words.high,
                             .arg = (uint32_t)(words.high >> 32u)};
}

static inline uint64_t bz_digest_event(uint64_t digest, struct bz_event_words event) {
    return bz_digest_word(digest, event.low + event.high * UINT64_C(0xd6e8feb86659fd93));
}

#endif
