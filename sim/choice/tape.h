/* The choice tape: the choices of one run that were not the default, in order. Its memory is kept
 * from run to run: recording allocates only when a run has more choices than any before it. Not
 * thread-safe. */
#ifndef BZ_SIM_CHOICE_TAPE_H
#define BZ_SIM_CHOICE_TAPE_H

#include <stddef.h>

#include "primitives/runtime/mem.h"
#include "sim/choice/choice.h"

BZ_BEGIN_DECLS

struct bz_tape {
    struct bz_choice *choices;
    size_t count;
    size_t capacity;
    struct bz_mem *mem; /* where the choices lie; NULL: malloc() */
};

/* `mem` NULL: malloc(). */
void bz_tape_init(struct bz_tape *tape, struct bz_mem *mem);
void bz_tape_fini(struct bz_tape *tape);

static inline void bz_tape_clear(struct bz_tape *tape) {
    tape->count = 0;
}

/* Doubles the capacity. Stops the process without memory, as do the functions below. */
void bz_tape_grow(struct bz_tape *tape);

/* The place of the next entry. */
static inline struct bz_choice *bz_tape_next(struct bz_tape *tape) {
    if (__builtin_expect(tape->count == tape->capacity, 0)) {
        bz_tape_grow(tape);
    }
    return &tape->choices[tape->count];
}

static inline void bz_tape_append(struct bz_tape *tape, struct bz_choice choice) {
    *bz_tape_next(tape) = choice;
    tape->count++;
}

/* Makes `tape` equal to `other`. */
void bz_tape_copy(struct bz_tape *tape, const struct bz_tape *other);

BZ_END_DECLS

#endif
