/* Plug-ins: shared objects with variants. What is loaded stays loaded until the process ends. */
#ifndef BZ_TOOLS_PLUGINS_H
#define BZ_TOOLS_PLUGINS_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/variant/variant.h"

/* Loads the file of --plugin and adds its variants to bz_cli_catalog. An exit code; not BZ_EXIT_OK
 * after a message on stderr that begins with `name`. */
int bz_plugins_load(const char *file, const char *name);

/* The shared object that a variant of the catalog comes from; NULL: the program itself. */
const char *bz_plugins_file(const struct bz_variant *variant);

/* Whether a variant from outside can be worked with: names, tables, what it says of its fault.
 * False with a message that does not name it. */
bool bz_plugin_check_variant(const struct bz_variant *variant, char *error, size_t error_bytes);

#endif
