/* Plug-ins: shared objects with variants. A loaded one stays loaded. */
#ifndef BZ_TOOLS_PLUGINS_H
#define BZ_TOOLS_PLUGINS_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/variant/variant.h"

/* Loads a plug-in and adds its variants to bz_cli_catalog. It is loaded in a child process before,
 * in case that its constructors crash, exit or hang. Returns an exit code, after a message that
 * starts with `name` unless it is BZ_EXIT_OK. */
int bz_plugins_load(const char *file, const char *name);

bool bz_plugins_are_loaded(void);

/* Whether the variant is from a plug-in: its runs are contained (sim/run/contain.h). */
bool bz_plugins_is_foreign(const struct bz_variant *variant);

/* The shared object that holds the variant; NULL: the program itself. */
const char *bz_plugins_file(const struct bz_variant *variant);

/* Checks the name, the tables and the declared fault of a variant. False with a message that does
 * not name the variant. */
bool bz_plugin_check_variant(const struct bz_variant *variant, char *error, size_t error_bytes);

#endif
