/* Plug-ins: the option --plugin, and how what it names comes into the catalog.
 *
 *     struct argp_child children[] = {{&bz_plugins_argp, 0, NULL, 0}, {0}};
 *     case ARGP_KEY_INIT: state->child_inputs[0] = &plugins;
 *
 * What is loaded stays loaded until the process ends.
 */
#ifndef BZ_TOOLS_PLUGINS_H
#define BZ_TOOLS_PLUGINS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

#include "sim/variant/variant.h"

#define BZ_PLUGINS_MAX 32u

struct bz_plugins {
    const char *files[BZ_PLUGINS_MAX];
    unsigned count;
};

extern const struct argp bz_plugins_argp;

/* Loads every file and adds its variants to bz_cli_catalog. An exit code; not BZ_EXIT_OK after a
 * message on stderr that begins with `name`. */
int bz_plugins_load(const struct bz_plugins *plugins, const char *name);

/* The shared object that a variant of the catalog comes from; NULL: the program itself. */
const char *bz_plugins_file(const struct bz_variant *variant);

/* Whether a variant from outside can be worked with: names, tables, what it says of its fault.
 * False with a message that does not name it. */
bool bz_plugin_check_variant(const struct bz_variant *variant, char *error, size_t error_bytes);

#endif
