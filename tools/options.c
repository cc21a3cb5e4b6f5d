#include "tools/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/judge/record.h"
#include "sim/run/settings.h"
#include "tools/cli.h"

enum {
    OPTION_VARIANT = 0x1000, /* beyond every character: no short form */
    OPTION_STRATEGY,
    OPTION_ORDER,
    OPTION_CANCEL,
    OPTION_MAX_CANCELS,
    OPTION_MAX_STEPS,
    OPTION_STARVATION_BOUND,
    OPTION_PRIMITIVE,
    OPTION_SET,
};

static const struct argp_option options_table[] = {
    {"variant", OPTION_VARIANT, "V", 0, "Implementation under test (buzzer)", 0},
    {"strategy", OPTION_STRATEGY, "S", 0,
     "Who answers the choices (portfolio; explore tries every answer)", 0},
    {"order", OPTION_ORDER, "ORDER", 0,
     "any: every ready handle may go next; fifo: as stock loops do (any)", 0},
    {"cancel", OPTION_CANCEL, "WINDOWS", 0,
     "Where cancels are injected: none, any, or windows separated by commas (any)", 0},
    {"max-cancels", OPTION_MAX_CANCELS, "N", 0, "Injected cancels in a run, at most", 0},
    {"max-steps", OPTION_MAX_STEPS, "N", 0, "Steps of a run, at most", 0},
    {"starvation-bound", OPTION_STARVATION_BOUND, "N", 0,
     "Overtakings that a waiter must put up with", 0},
    {"primitive", OPTION_PRIMITIVE, "P", 0, "semaphore, bounded or lock", 0},
    {"set", OPTION_SET, "NAME=VALUE", 0,
     "Sets a parameter of the scenario, see 'buzzer list scenarios'", 0},
    {0},
};

static const char *setting_name(int key) {
    switch (key) {
    case OPTION_STRATEGY:
        return "strategy";
    case OPTION_ORDER:
        return "order";
    case OPTION_CANCEL:
        return "cancel";
    case OPTION_MAX_CANCELS:
        return "max-cancels";
    case OPTION_MAX_STEPS:
        return "max-steps";
    case OPTION_STARVATION_BOUND:
        return "starvation-bound";
    case OPTION_PRIMITIVE:
        return "primitive";
    default:
        return NULL;
    }
}

static void add_setting(struct argp_state *state, struct bz_options *options, const char *name,
                        const char *value) {
    for (unsigned index = 0; index < options->setting_count; index++) {
        if (strcmp(options->settings[index].name, name) == 0) {
            argp_error(state, "'%s' is set twice, to '%s' and to '%s'", name,
                       options->settings[index].value, value);
        }
    }
    if (options->setting_count == BZ_OPTION_SETTINGS_MAX) {
        argp_error(state, "more than %u settings", BZ_OPTION_SETTINGS_MAX);
    }
    options->settings[options->setting_count].name = name;
    options->settings[options->setting_count++].value = value;
}

static error_t parse_option(int key, char *arg, struct argp_state *state) {
    struct bz_options *options = state->input;
    const char *name = setting_name(key);
    if (name != NULL) {
        add_setting(state, options, name, arg);
        return 0;
    }
    switch (key) {
    case OPTION_VARIANT:
        if (options->variant != NULL) {
            argp_error(state, "--variant is given twice");
        }
        options->variant = arg;
        return 0;
    case OPTION_SET: {
        char *equals = strchr(arg, '=');
        if (equals == NULL || equals == arg) {
            argp_error(state, "--set takes NAME=VALUE, and not '%s'", arg);
            return 0;
        }
        *equals = '\0';
        add_setting(state, options, arg, equals + 1);
        return 0;
    }
    case ARGP_KEY_ARG:
        if (options->scenario != NULL) {
            argp_error(state, "one scenario only; '%s' is too much", arg);
        }
        options->scenario = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp bz_options_argp = {.options = options_table, .parser = parse_option};

int bz_options_program(const struct bz_options *options, const char *name,
                       struct bz_program *program) {
    char error[BZ_ERROR_BYTES];
    if (options->scenario == NULL) {
        return bz_cli_fail(name, BZ_EXIT_USAGE,
                           "a scenario is missing ('buzzer list scenarios' lists them)");
    }
    const char *variant = options->variant != NULL ? options->variant : "buzzer";
    const char *strategy = NULL;
    for (unsigned index = 0; index < options->setting_count; index++) {
        if (strcmp(options->settings[index].name, "strategy") == 0) {
            strategy = options->settings[index].value;
        }
    }
    if (!bz_program_find(program, &bz_cli_catalog, options->scenario, variant, strategy, error,
                         sizeof error)) {
        return bz_cli_fail(name, BZ_EXIT_USAGE, "%s", error);
    }
    for (unsigned index = 0; index < options->setting_count; index++) {
        if (strcmp(options->settings[index].name, "strategy") != 0 &&
            !bz_program_set(program, options->settings[index].name, options->settings[index].value,
                            error, sizeof error)) {
            return bz_cli_fail(name, BZ_EXIT_USAGE, "%s", error);
        }
    }
    return BZ_EXIT_OK;
}

uint64_t bz_option_number(struct argp_state *state, const char *option, const char *text,
                          uint64_t least, uint64_t most) {
    uint64_t value = 0;
    if (!bz_parse_u64(text, &value)) {
        argp_error(state, "--%s takes a whole number of 64 bits, decimal or 0x..., and not '%s'",
                   option, text);
    } else if (value < least || value > most) {
        argp_error(state, "--%s takes %" PRIu64 " to %" PRIu64 ", and not '%s'", option, least,
                   most, text);
    }
    return value;
}

uint64_t bz_option_seconds(struct argp_state *state, const char *option, const char *text) {
    static const uint64_t hour_seconds = 3600;
    static const uint64_t seconds_max = UINT64_C(1000000000);
    char digits[32] = "";
    size_t length = strlen(text);
    uint64_t value = 0;
    if (length >= 2 && length <= sizeof digits) {
        memcpy(digits, text, length - 1);
        digits[length - 1] = '\0';
    }
    char unit = length > 0 ? text[length - 1] : '\0';
    uint64_t factor = unit == 's' ? 1 : unit == 'm' ? 60 : unit == 'h' ? hour_seconds : 0;
    if (factor == 0 || !bz_parse_u64(digits, &value) || value == 0 ||
        value > seconds_max / factor) {
        argp_error(state, "--%s takes a whole number with s, m or h, as in 30s, and not '%s'",
                   option, text);
        return 0;
    }
    return value * factor;
}
