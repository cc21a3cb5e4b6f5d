/* The fingerprint of a state, made from that of the state before.
 *
 * A state is words at places. Its sum is that of each word's value times the key of its place, in
 * two halves of 64 bits with keys of their own (multilinear hashing: J. Carter and M. Wegman,
 * 1979). A step changes few words (6 workers of `contended`: 25 of 700), so the sum is that of the
 * state before, and for each word that differs from its snapshot the difference of the values times
 * the key. A sum depends on the words alone, however it was made.
 *
 * States that are compared up to a permutation of interchangeable tasks have more than one sum. See
 * symmetry.h: each such task has a part of the words, and so has the rest. Words that refer to such
 * a task are added in a way that does not depend on its number, and noted.
 */
#pragma once

#include "sim/explore/fingerprint/multiply_128.h"
#include "sim/explore/visited.h"
#include "sim/native/internal.h"
#include "sim/native/snapshot.h"

#define BZ_PART_REFERENCES_MAX 12u /* of an interchangeable task */
#define BZ_REST_REFERENCES_MAX 128u
#define BZ_REFERENCES_MAX (BZ_REST_REFERENCES_MAX + BZ_ALIKE_MAX * BZ_PART_REFERENCES_MAX)

/* Words have parts: one for each interchangeable task, by its index; the rest; and the ready queue,
 * if its order does not count. */
#define BZ_PART_REST BZ_ALIKE_MAX
#define BZ_PART_QUEUE (BZ_ALIKE_MAX + 1u)
#define BZ_PARTS (BZ_ALIKE_MAX + 2u)

/* From a part to an interchangeable task. */
struct bz_reference {
    uint64_t key; /* of the place */
    uint8_t part;
    uint8_t task; /* its index */
    bool is_on_stack;
};

/* Of one state. Zeroed before its first use. Tasks that there are not have no sums. */
struct bz_print {
    uint64_t layout; /* by which it was made; 0: it is not known */
    uint32_t reference_count;
    uint8_t reference_counts[BZ_PARTS];
    struct bz_fingerprint sums[BZ_PARTS];              /* without stacks of interchangeable tasks */
    struct bz_fingerprint stack_sums[BZ_ALIKE_MAX];    /* so that an end of a task is cheap */
    struct bz_reference references[BZ_REFERENCES_MAX]; /* in no order */
};

/* Of all words of an interchangeable task. */
static inline struct bz_fingerprint bz_print_task(const struct bz_print *print, uint32_t index) {
    struct bz_fingerprint sum = print->sums[index];
    sum.high += print->stack_sums[index].high;
    sum.low += print->stack_sums[index].low;
    return sum;
}

/* Of all words that belong to no task. */
static inline struct bz_fingerprint bz_print_rest(const struct bz_print *print) {
    struct bz_fingerprint sum = print->sums[BZ_PART_REST];
    sum.high += print->sums[BZ_PART_QUEUE].high;
    sum.low += print->sums[BZ_PART_QUEUE].low;
    return sum;
}

/* The part and the key of a word; the same for all states with the same layout. */
struct bz_word_role {
    struct bz_fingerprint key;
    uint64_t keep; /* the bits that count */
    uint64_t part;
};

#define BZ_STACK_KEYS 256u
#define BZ_PRINT_OBJECTS_MAX 8u /* with interchangeable tasks */

/* The inputs of the roles: addresses and sizes, without padding. */
struct bz_print_layout {
    uint64_t shadow_tasks;
    uint64_t queue;
    uint64_t queue_end;
    uint64_t object_count;
    struct {
        uint64_t line;
        uint64_t capacity;
    } lines[BZ_PRINT_OBJECTS_MAX];
};

struct bz_symmetry;

struct bz_printer {
    const struct bz_symmetry *symmetry; /* NULL: nobody is interchangeable */
    bool ignores_order;                 /* of the ready queue */
    struct bz_print_layout layout;
    uint64_t layout_number; /* different for every layout that there was */
    struct bz_word_role *roles[BZ_AREAS];
    size_t role_counts[BZ_AREAS];
    size_t role_capacities[BZ_AREAS];
    struct bz_fingerprint stack_keys[BZ_STACK_KEYS]; /* of a task's part, from the top */
};

/* Before a search. Zeroed before its first use. */
void bz_printer_begin(struct bz_printer *printer, const struct bz_symmetry *symmetry,
                      bool ignores_order);
void bz_printer_fini(struct bz_printer *printer);

/* The print of the state that the world is in. `print_before` and `before` are of another state,
 * best of the one before; NULL: there is none. False: there are too many references, or memory ran
 * out. O(bytes), but with a small factor if little has changed. */
bool bz_printer_print(struct bz_printer *printer, const struct bz_world *world,
                      const struct bz_snapshot *before, const struct bz_print *print_before,
                      struct bz_print *print);

/* --- sums ------------------------------------------------------------------------------------- */

/* The count of a word: one to one, so that two words never count the same, and with all bits mixed
 * downward, because the keys spread differences upward only. No word that occurs counts 0. */
static inline uint64_t bz_word_value(uint64_t word) {
    word ^= UINT64_C(0xc2b2ae3d27d4eb4f);
    word = (word ^ (word >> 32u)) * UINT64_C(0x9e3779b97f4a7c15);
    return word ^ (word >> 29u);
}

static inline void bz_sum_add(struct bz_fingerprint *sum, struct bz_fingerprint key,
                              uint64_t value) {
    sum->high += key.high * value;
    sum->low += key.low * value;
}
