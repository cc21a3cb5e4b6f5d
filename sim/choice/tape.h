/* The choice tape: the choices of one run that were not the default, in order. Its memory is kept
 * from run to run: recording allocates only when a run has more choices than any before it. Not
 * thread-safe. */
#ifndef BZ_SIM_CHOICE_TAPE_H
#define BZ_SIM_CHOICE_TAPE_H

#include <stdbool.h>
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

/* Doubles the capacity. False without memory, and nothing has changed. */
bool bz_tape_grow(struct bz_tape *tape);

static inline bool bz_tape_append(struct bz_tape *tape, struct bz_choice choice) {
    if (tape->count == tape->capacity && !bz_tape_grow(tape)) {
        return false;
    }
    tape->choices[tape->count++] = choice;
    return true;
}

/* Makes `tape` equal to `other`, or, without memory, to its beginning. */
bool bz_tape_copy(struct bz_tape *tape, const struct bz_tape *other);

BZ_END_DECLS

#endif
