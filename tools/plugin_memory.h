/* Where a variant from a plug-in keeps its state: in the arena of the loop, as it must, or
 * elsewhere. Measured in a child process, from outside: malloc() and the static variables of the
 * shared object are compared before and after some runs, and the arena before and after a small
 * program without a judge. */
#ifndef BZ_TOOLS_PLUGIN_MEMORY_H
#define BZ_TOOLS_PLUGIN_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/variant/variant.h"
#include "traces/lack.h"

struct bz_plugin_memory {
    bool is_measured;       /* the four that follow */
    uint32_t runs;          /* that were compared */
    uint64_t heap_bytes;    /* that they took from malloc() and did not give back */
    uint64_t static_bytes;  /* of static variables that they changed */
    char static_place[160]; /* the first of them */
    char imports[160];      /* "malloc(), time()": it calls what a variant should not; or empty.
                               Known even if nothing was measured. */
    bool is_finished;       /* the small program came to its end */
    uint64_t blocks_left;   /* of the arena, by three operations that have ended */
    uint64_t blocks_after_fini;
    uint64_t heap_held_bytes; /* of malloc(), by an object, and by tasks that wait for it */
    bool is_in_fini;
    char fini_death[BZ_LACK_BYTES]; /* not empty: how fini ended the process */
};

/* Whether there is a small program for the primitive. */
bool bz_plugin_memory_has_tour(enum bz_primitive primitive);

/* False if memory or processes ran out, with a sentence in `lack`, BZ_LACK_BYTES. A child that dies
 * elsewhere than in fini, which is called here alone, leaves is_measured or is_finished false: the
 * runs of a judge say why. */
bool bz_plugin_memory_measure(struct bz_plugin_memory *memory, const struct bz_variant *variant,
                              enum bz_primitive primitive, char *lack);

#endif
