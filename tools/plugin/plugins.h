/* Plug-ins: shared objects with variants, scenarios or both. A loaded one stays loaded. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "sim/program/program.h"
#include "tools/report/text_output.h"

/* Loads a plug-in and adds what it has to bz_cli_catalog. It is loaded in a child process before,
 * in case that its constructors crash, exit or hang. Returns an exit code, after a message unless
 * it is BZ_EXIT_OK. */
int bz_plugins_load(const char *file);

bool bz_plugins_are_loaded(void);

/* True if the scenario or variant is from a plug-in: its runs are contained
 * (sim/contain/contain.h). */
bool bz_plugins_is_foreign(const void *part);

/* The shared object that holds the scenario or variant; NULL: the program itself. */
const char *bz_plugins_file(const void *part);

/* True if the program's scenario, its variant or both are from plug-ins. */
bool bz_plugins_have(const struct bz_program *program);

/* The files of both, each once; returns how many. NULL: unknown. */
uint32_t bz_plugins_files(const struct bz_scenario *scenario, const struct bz_variant *variant,
                          const char *files[2]);

/* Adds the options that load what both are from, each with a space before it: nothing,
 * " --plugin A.so", or " --plugin A.so --plugin B.so". */
void bz_plugins_add_options(struct bz_text *text, const struct bz_scenario *scenario,
                            const struct bz_variant *variant);

/* Checks the name, the tables and the declared fault of a variant. False with a message that does
 * not name the variant. */
bool bz_plugin_check_variant(const struct bz_variant *variant, char *error, size_t error_bytes);

/* The same for the name, the parameters and the functions of a scenario. */
bool bz_plugin_check_scenario(const struct bz_scenario *scenario, char *error, size_t error_bytes);

/* The name of the next claim that has no effect for the primitives that the variant offers; NULL:
 * there is none. `*next` is 0 at first. */
const char *bz_plugin_next_idle_claim(const struct bz_variant *variant, size_t *next);

/* About completions that are not in place: bz_request_done() in a step of another task. */
extern const char bz_plugin_note[];

/* The next change of the claims, or of the rules, that may make the judge silent: of what an author
 * can overlook, or promise by mistake. `tried` is the variant with it, `text` says what it means if
 * nothing is found then. False: there is none. `*next` is 0 at first. */
bool bz_plugin_next_trial(const struct bz_variant *variant, enum bz_primitive primitive,
                          size_t *next, struct bz_variant *tried, char *text, size_t text_bytes);

/* Which function the variant lacks that would show the judge its state; NULL: none. */
const char *bz_plugin_lacks_view(const struct bz_variant *variant, enum bz_primitive primitive);

/* --- leaks ------------------------------------------------------------------------------------ */

/* Memory of the arena that a variant does not give back: counted in a child process. */
#define BZ_LEAKS_FEW 4 /* rounds, and cancels */
#define BZ_LEAKS_MANY 204

struct bz_leaks {
    const struct bz_variant *variant;
    enum bz_primitive primitive;
    uint64_t blocks[2]; /* of the arena, after few rounds and after many */
    bool is_done;       /* both runs passed */
    bool is_in_fini;
    uint64_t blocks_after_fini; /* more than before init */
    uint32_t message_count;
    char messages[2][BZ_MESSAGE_BYTES]; /* what is left, in sentences */
};

/* Counts what is left; the variant and the primitive are set. */
enum bz_child_state bz_leaks_count(struct bz_leaks *leaks, struct bz_death *death);
