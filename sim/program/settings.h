/* Settings: a program as text, one name=value at a time.
 *
 * The command line, a token, a trace and a JSON report all name the same settings: those of the
 * table below, which says all that is known of each, and the parameters of the scenario.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "sim/program/catalog.h"
#include "sim/program/program.h"

#define BZ_ERROR_BYTES 1024u
#define BZ_SETTING_BYTES 512u /* of the longest value */

struct bz_setting {
    const char *name;     /* NULL ends the table */
    const char *argument; /* of the option --NAME, "N"; NULL: --set NAME=VALUE alone */
    const char *help;     /* of the option */
    /* The field of struct bz_program; a setting with the value of bz_program_init() is a default.
     */
    size_t offset;
    size_t bytes;
    uint32_t least, most; /* of a number */
    size_t trace_offset;  /* of its member of struct bz_trace; 0: it is one of the trace's params */
    bool is_late; /* older programs do not know it: no param of a trace if it is a default */
    bool (*set)(const struct bz_setting *setting, struct bz_program *program, const char *value,
                char *error, size_t error_bytes);
    /* Prints nothing for a program that does not have the setting. */
    void (*print)(const struct bz_setting *setting, const struct bz_program *program, char *value,
                  size_t value_bytes);
};
extern const struct bz_setting bz_settings[];

/* Starts a program from names. False with a message that names the culprit, the nearest valid name
 * and where to find the list. `strategy` NULL: the default, portfolio. */
bool bz_program_find(struct bz_program *program, const struct bz_catalog *catalog,
                     const char *scenario, const char *variant, const char *strategy, char *error,
                     size_t error_bytes);

/* Changes one setting. False with a message, and nothing is changed. */
bool bz_program_set(struct bz_program *program, const char *name, const char *value, char *error,
                    size_t error_bytes);

/* Applies "name=value,name=value". */
bool bz_program_set_list(struct bz_program *program, const char *list, char *error,
                         size_t error_bytes);

/* After the last setting: false with a message if the variant does not offer a size that was set.
 * The list above is checked. */
bool bz_program_check(const struct bz_program *program, char *error, size_t error_bytes);

/* A setting of a program as text. */
struct bz_setting_text {
    unsigned index; /* of the next one */
    const char *name;
    char value[BZ_SETTING_BYTES];
    bool is_default;
};

/* The next setting of the program, in a fixed order. False after the last.
 *
 *     for (struct bz_setting_text setting = {0}; bz_program_next_setting(program, &setting);) */
bool bz_program_next_setting(const struct bz_program *program, struct bz_setting_text *setting);
