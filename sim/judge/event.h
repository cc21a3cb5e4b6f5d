/* The events of a run: what a runtime reports (primitives/runtime/observe.h), and what a program
 * does with the objects under test (traces/words.h).
 *
 * The digest of a run folds every event, in order, field by field. It is the same on every
 * compiler, word size and byte order.
 */
#ifndef BZ_SIM_JUDGE_EVENT_H
#define BZ_SIM_JUDGE_EVENT_H

#include <stdint.h>

#include "traces/words.h"

BZ_BEGIN_DECLS

struct bz_event {
    uint8_t kind; /* enum bz_event_kind or bz_program_event_kind: they describe the other fields */
    uint8_t status;  /* enum bz_status */
    uint8_t op;      /* enum bz_op; the judge fills in that of a cancel */
    uint8_t window;  /* enum bz_window; the judge fills in that of a cancel */
    uint32_t task;   /* number of the task, 1 is the first; 0: none */
    uint32_t object; /* number of the object, 1 is the first; 0: none */
    uint32_t arg;
};

#define BZ_SAID_BYTES 64u

/* An event with the step and the time at which it happened. */
struct bz_logged_event {
    uint64_t time_ns;
    uint32_t step; /* 0: before the first step, while the program sets up */
    struct bz_event event;
    uint64_t held;     /* see struct bz_trace_event; UINT64_MAX: it says nothing */
    const char *where; /* of a suspend: the line of the program; of a draw: what it came to; NULL */
    char said[BZ_SAID_BYTES]; /* of a call or a return: the operation in the program's words; "" */
};

/* Where logged events go. */
struct bz_event_sink {
    void (*event)(struct bz_event_sink *sink, const struct bz_logged_event *event);
};

#define BZ_DIGEST_SEED UINT64_C(0x627a7a65722f3120)

/* Folds one word into a rolling digest, as wyhash and MurmurHash do. Not cryptographic. */
static inline uint64_t bz_digest_word(uint64_t digest, uint64_t word) {
    digest = (digest ^ word) * UINT64_C(0x9fb21c651e98df25);
    return digest ^ (digest >> 29u);
}

/* The two words of an event, in any byte order of the machine. */
static inline uint64_t bz_event_low(struct bz_event event) {
    return (uint64_t)event.kind | (uint64_t)event.status << 8u | (uint64_t)event.op << 16u |
           (uint64_t)event.window << 24u | (uint64_t)event.task << 32u;
}

static inline uint64_t bz_event_high(struct bz_event event) {
    return (uint64_t)event.object | (uint64_t)event.arg << 32u;
}

static inline struct bz_event bz_event_from(uint64_t low, uint64_t high) {
    struct bz_event event;
    event.kind = (uint8_t)low;
    event.status = (uint8_t)(low >> 8u);
    event.op = (uint8_t)(low >> 16u);
    event.window = (uint8_t)(low >> 24u);
    event.task = (uint32_t)(low >> 32u);
    event.object = (uint32_t)high;
    event.arg = (uint32_t)(high >> 32u);
    return event;
}

static inline uint64_t bz_digest_event(uint64_t digest, uint64_t low, uint64_t high) {
    return bz_digest_word(digest, low + high * UINT64_C(0xd6e8feb86659fd93));
}

BZ_END_DECLS

#endif
