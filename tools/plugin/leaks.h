/* Memory of the arena that a variant does not give back: counted in a child process. */
#ifndef BZ_TOOLS_PLUGIN_LEAKS_H
#define BZ_TOOLS_PLUGIN_LEAKS_H

#include "sim/contain/contain.h"
#include "sim/variant/variant.h"

#define BZ_LEAKS_FEW 4 /* rounds, and cancels */
#define BZ_LEAKS_MANY 204

struct bz_leaks {
    const struct bz_variant *variant;
    enum bz_primitive primitive;
    uint64_t blocks[2]; /* of the arena, after few rounds and after many */
    bool is_done;       /* both runs passed */
    bool is_in_fini;
    uint64_t blocks_after_fini; /* more than before init */
};

/* Counts what is left; the variant and the primitive are set. */
enum bz_child_state bz_leaks_count(struct bz_leaks *leaks, struct bz_death *death);

#endif
