/* A scenario: a program under test, written against suts, with its parameters.
 *
 * setup() runs before the first step: it creates subjects and tasks, and returns the scenario's
 * state, which must come from bz_world_alloc(). finish() runs when nothing can run any more and no
 * monitor has objected; it may check and probe, and must not wait. All drawing goes through
 * bz_world_draw() and bz_world_draw_delay_ns().
 */
#ifndef BZ_SIM_RUN_SCENARIO_H
#define BZ_SIM_RUN_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/variant/variant.h"

struct bz_world;

#define BZ_PARAMS_MAX 16u

/* A whole number that a user may set; inclusive limits. */
struct bz_param {
    const char *name; /* NULL ends a list */
    const char *summary;
    int64_t value; /* default */
    int64_t least;
    int64_t most;
};

#define BZ_FILE_NAME_BYTES 200u  /* with the NUL; what a token has room for */
#define BZ_FILE_WORDS 1024u      /* of what a scenario makes of a file */
#define BZ_FILE_BYTES_MAX 65536u /* of the file itself */

/* What a setup is called with: values in the order of the scenario's params, and the file, if one
 * was named. Everything that a run depends on comes before `file_name`: the digest stands for the
 * content. */
struct bz_scenario_args {
    enum bz_primitive primitive;
    int64_t values[BZ_PARAMS_MAX];
    uint64_t file_digest; /* of the bytes of the file; 0: none was named */
    char file_name[BZ_FILE_NAME_BYTES];
    uint64_t file[BZ_FILE_WORDS]; /* what read() made of it */
};

/* A file that a scenario can be given, as the setting `file`. It is read once, when it is set. */
struct bz_scenario_file {
    const char *summary;
    /* Makes of the text what setup() will find in args->file, BZ_FILE_WORDS words of zeros before.
     * The text is not trusted. False with a message that begins with `origin` and names the place;
     * what the variant does not offer is refused, too. */
    bool (*read)(uint64_t *file, const struct bz_variant *variant, const char *text, size_t length,
                 const char *origin, char *error, size_t error_bytes);
    /* The other way, after setup(): writes what `state` will run, whether it was read or drawn, as
     * the text of a file, NUL included, cut to fit. Returns its length without the NUL. */
    size_t (*print)(const void *state, char *text, size_t text_bytes);
};

struct bz_scenario {
    const char *name;
    const char *summary;
    const struct bz_param *params;
    /* Primitives that it can be run with; the first that the variant offers is the default. */
    enum bz_primitive primitives[BZ_PRIMITIVE_COUNT];
    uint32_t primitive_count;
    void *(*setup)(struct bz_world *world, const struct bz_scenario_args *args);
    /* Its tasks share nothing but subjects that have permits: what one task writes, no other reads,
     * unless through bz_world_...() functions. Then the order of two steps that concern different
     * subjects decides nothing, which explore makes use of. */
    bool is_isolated;
    void (*finish)(struct bz_world *world, void *state); /* NULL: nothing */
    const struct bz_scenario_file *file;                 /* NULL: takes none */
};

#endif
