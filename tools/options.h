/* The options that name a program: a scenario and what it is run with. Shared by the commands that
 * run something, as an argp child.
 *
 *     struct argp_child children[] = {{&bz_options_argp, 0, "...", 1}, {0}};
 *     case ARGP_KEY_INIT: state->child_inputs[0] = &options;
 */
#ifndef BZ_TOOLS_OPTIONS_H
#define BZ_TOOLS_OPTIONS_H

#include <argp.h>
#include <stdint.h>

#include "sim/run/program.h"

#define BZ_OPTION_SETTINGS_MAX 64u

struct bz_options {
    const char *scenario;
    const char *variant; /* NULL: buzzer */
    struct {
        const char *name;
        const char *value;
    } settings[BZ_OPTION_SETTINGS_MAX];
    unsigned setting_count;
};

extern const struct argp bz_options_argp;

/* Makes the program of the options. An exit code; not BZ_EXIT_OK after a message on stderr. */
int bz_options_program(const struct bz_options *options, const char *name,
                       struct bz_program *program);

/* The value of a numeric option, within limits; else a message, and the process exits. */
uint64_t bz_option_number(struct argp_state *state, const char *option, const char *text,
                          uint64_t least, uint64_t most);

/* A duration, "30s", "5m", "2h", in seconds; likewise. */
uint64_t bz_option_seconds(struct argp_state *state, const char *option, const char *text);

#endif
