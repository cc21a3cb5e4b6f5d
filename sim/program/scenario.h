/* A scenario: a program under test with its parameters.
 *
 * setup() runs before the first step. It creates instrumented objects and tasks, and returns the
 * scenario's state, allocated with bz_world_alloc(). finish() runs when nothing can run any more
 * and no oracle was violated; it may check and probe, and must not wait. All drawing uses
 * bz_world_draw() and bz_world_draw_delay_ns(). */
#ifndef BZ_SIM_PROGRAM_SCENARIO_H
#define BZ_SIM_PROGRAM_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/variant/variant.h"

BZ_BEGIN_DECLS

struct bz_judge;
struct bz_world;

#define BZ_PARAMS_MAX 16u

/* An integer that a user may set; inclusive limits. */
struct bz_param {
    const char *name; /* NULL ends a list */
    const char *summary;
    int64_t value; /* default */
    int64_t least;
    int64_t most;
};

/* The range that a campaign draws a parameter from (sizes.h): least..most. `large`, which is above
 * `most` and the default, which then is above 0, is for the few long runs; 0: none.
 *
 * A second row of the same parameter has its long tail: the range for runs that are ten or a
 * hundred times as long. A parameter whose first row has `large` makes runs longer in proportion.
 * In the second row, `large` is BZ_TAIL_TASKS if the parameter counts tasks, which overtake each
 * other, or what no more than all tasks can use, such as permits; else 0. */
#define BZ_TAIL_TASKS 1

struct bz_size {
    const char *name; /* of the parameter; NULL ends a list */
    int64_t least;
    int64_t most;
    int64_t large;
};

#define BZ_FILE_NAME_BYTES 200u  /* with the NUL; limited by tokens */
#define BZ_FILE_WORDS 1024u      /* of the parsed file */
#define BZ_FILE_BYTES_MAX 65536u /* of the file itself */

/* The arguments of setup(): values in the order of the params, and the file, if any. Everything
 * that a run depends on comes before `file_name`: the digest represents the content. */
struct bz_scenario_args {
    enum bz_primitive primitive;
    int64_t values[BZ_PARAMS_MAX];
    uint64_t file_digest; /* of its bytes; 0: no file */
    char file_name[BZ_FILE_NAME_BYTES];
    uint64_t file[BZ_FILE_WORDS]; /* the result of read() */
};

/* The file of a scenario, set with `file`. It is read once. */
struct bz_scenario_file {
    const char *summary;
    /* Parses the text into `file`, BZ_FILE_WORDS zeroed words that setup() finds in args->file. The
     * text is not trusted. False with a message that starts with `origin` and names the place; also
     * refuses what the variant does not offer. */
    bool (*read)(uint64_t *file, const struct bz_variant *variant, const char *text, size_t length,
                 const char *origin, char *error, size_t error_bytes);
    /* The inverse, after setup(): prints the program of `state`, whether read or drawn, as the text
     * of a file, cut to fit, with a NUL. Returns the full length. NULL: not offered. */
    size_t (*print)(const void *state, char *text, size_t text_bytes);
};

/* Another runtime than the one in C: an interpreter, say. It makes whole runs itself, as a source
 * of sim/judge/judge.h does; the functions are those of struct bz_judge_config. */
struct bz_runtime {
    const char *variant; /* the only one that it runs with; it offers no primitive */
    void (*run)(void *context, struct bz_judge *judge);
    bool (*callback_is_ready)(void *context);
    bool (*variant_is_busy)(void *context);
    void *context;
    uint32_t step_ns;    /* CPU time of a step, roughly, for budgets; 0: as in C */
    bool is_suite;       /* one of many short campaigns: see campaign.h */
    const char *outside; /* what else may decide, for `nondeterminism`: "a static variable" */
};

/* Initializes `primitives` and `primitive_count`. */
#define BZ_SCENARIO_USES(...)                                                                      \
    .primitives = {__VA_ARGS__},                                                                   \
    .primitive_count = sizeof((enum bz_primitive[]){__VA_ARGS__}) / sizeof(enum bz_primitive)

/* A scenario of another runtime has no primitives, no set-up and no finish. It runs with a variant
 * that offers no primitive: the name of that runtime. */
struct bz_scenario {
    const char *name;
    const char *summary;
    const struct bz_param *params;
    /* Primitives that it can use; the default is the first that the variant offers. */
    enum bz_primitive primitives[BZ_PRIMITIVE_COUNT];
    uint32_t primitive_count;
    void *(*setup)(struct bz_world *world, const struct bz_scenario_args *args);
    /* It makes no cancel and no timeout if bz_world_may_cancel() is false, and ends all the same.
     */
    bool runs_uncancelled;
    void (*finish)(struct bz_world *world, void *state); /* NULL: nothing */
    const struct bz_scenario_file *file;                 /* NULL: takes none */
    const struct bz_runtime *runtime;                    /* NULL: the one in C */
    size_t stack_bytes;          /* of each task, in the runtime in C; 0: the default of a loop */
    const struct bz_size *sizes; /* NULL: campaigns draw no parameter */
    /* The parameter that is the size of the object under test; NULL: none. Its default and what is
     * drawn keep to what the variant offers (`offers` of struct bz_variant). */
    const char *size;
    uint32_t parties_more; /* than that parameter, if the object is a barrier */
};

static inline bool bz_scenario_is_of_suite(const struct bz_scenario *scenario) {
    return scenario->runtime != NULL && scenario->runtime->is_suite;
}

/* True if it can use the primitive. */
static inline bool bz_scenario_uses(const struct bz_scenario *scenario,
                                    enum bz_primitive primitive) {
    uint32_t index = 0;
    while (index < scenario->primitive_count && scenario->primitives[index] != primitive) {
        index++;
    }
    return index < scenario->primitive_count;
}

BZ_END_DECLS

#endif
