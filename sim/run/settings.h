/* Settings: a program as text, one name=value at a time.
 *
 * The command line, a token and a trace all name the same settings:
 *     order         any | fifo
 *     cancel        any | none | windows, separated by ',' or '+'
 *     max-cancels, max-steps, starvation-bound       numbers
 *     primitive     semaphore | bounded | lock
 *     strategy      a strategy's name
 *     answers       of the strategy `answers`: see sim/choice/answers.h
 *     file          a file's name, of a scenario that takes one; see input.h
 *     anything else a parameter of the scenario
 */
#ifndef BZ_SIM_RUN_SETTINGS_H
#define BZ_SIM_RUN_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/run/catalog.h"
#include "sim/run/program.h"

#define BZ_ERROR_BYTES 1024u
#define BZ_SETTING_BYTES 512u /* of the longest value */

/* Starts a program from names. False with a message that names the culprit, the nearest valid name
 * and where to find the list. `strategy` NULL: the default,
 * portfolio. */
bool bz_program_find(struct bz_program *program, const struct bz_catalog *catalog,
                     const char *scenario, const char *variant, const char *strategy, char *error,
                     size_t error_bytes);

/* Changes one setting. False with a message, and nothing is changed. */
bool bz_program_set(struct bz_program *program, const char *name, const char *value, char *error,
                    size_t error_bytes);

/* Applies "name=value,name=value". */
bool bz_program_set_list(struct bz_program *program, const char *list, char *error,
                         size_t error_bytes);

/* The index-th setting of the program as text: its name, its value in `value`, and whether it is
 * the default. NULL after the last. The order is fixed. */
const char *bz_program_setting(const struct bz_program *program, unsigned index, char *value,
                               size_t value_bytes, bool *is_default);

#endif
