#include "sim/choice/tape.h"

#include <stdlib.h>
#include <string.h>

#define CAPACITY_FIRST 256u

void bz_tape_init(struct bz_tape *tape, struct bz_mem *mem) {
    *tape = (struct bz_tape){.mem = mem};
}

void bz_tape_fini(struct bz_tape *tape) {
    if (tape->mem == NULL) {
        free(tape->choices);
    } else {
        bz_mem_free(tape->mem, tape->choices, tape->capacity * sizeof *tape->choices);
    }
    bz_tape_init(tape, tape->mem);
}

bool bz_tape_grow(struct bz_tape *tape) {
    size_t capacity = tape->capacity == 0 ? CAPACITY_FIRST : tape->capacity * 2;
    struct bz_choice *larger =
        tape->mem == NULL ? realloc(tape->choices, capacity * sizeof *larger)
                          : bz_mem_grow(tape->mem, tape->choices, tape->capacity * sizeof *larger,
                                        capacity * sizeof *larger);
    if (larger == NULL) {
        return false;
    }
    tape->choices = larger;
    tape->capacity = capacity;
    return true;
}

bool bz_tape_copy(struct bz_tape *tape, const struct bz_tape *other) {
    bool is_ok = true;
    bz_tape_clear(tape);
    for (size_t index = 0; is_ok && index < other->count; index++) {
        is_ok = bz_tape_append(tape, other->choices[index]);
    }
    return is_ok;
}
