/* buzzer list: what can be named on the command line. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/choice/strategy.h"
#include "sim/judge/judge.h"
#include "tools/cli.h"
#include "tools/options.h"

static void print_scenarios(void) {
    for (const struct bz_scenario *const *item = bz_cli_catalog.scenarios; *item != NULL; item++) {
        const struct bz_scenario *scenario = *item;
        printf("%-22s %s\n", scenario->name, scenario->summary);
        printf("    %-18s", "primitive");
        for (uint32_t index = 0; index < scenario->primitive_count; index++) {
            printf("%s%s", index == 0 ? " " : ", ", bz_primitive_name(scenario->primitives[index]));
        }
        printf("\n");
        for (const struct bz_param *param = scenario->params; param->name != NULL; param++) {
            printf("    %-18s %s (%" PRId64 "; %" PRId64 " to %" PRId64 ")\n", param->name,
                   param->summary, param->value, param->least, param->most);
        }
        if (scenario->file != NULL) {
            printf("    %-18s %s\n", "file", scenario->file->summary);
        }
    }
}

static void print_fault(const struct bz_fault *fault) {
    printf("    declared fault: %s (%s, %s, %s)\n", fault->summary, fault->project, fault->issue,
           fault->versions);
    printf("    shows in %s%s%s, caught by %s\n", fault->scenario,
           fault->settings != NULL ? " with " : "", fault->settings != NULL ? fault->settings : "",
           fault->oracle);
}

static void print_variants(void) {
    for (const struct bz_variant *const *item = bz_cli_catalog.variants; *item != NULL; item++) {
        const struct bz_variant *variant = *item;
        printf("%-22s %s\n", variant->name, variant->summary);
        if (variant->fault != NULL) {
            print_fault(variant->fault);
        }
        for (const struct bz_fault *const *fault = variant->declared;
             fault != NULL && *fault != NULL; fault++) {
            print_fault(*fault);
        }
    }
}

static void print_strategies(void) {
    for (const struct bz_strategy *const *item = bz_strategies; *item != NULL; item++) {
        printf("%-22s %s\n", (*item)->name, (*item)->summary);
    }
}

static void print_oracles(void) {
    for (uint32_t index = 0; index < bz_oracle_count; index++) {
        printf("%-22s %s\n", bz_oracles[index].name, bz_oracles[index].summary);
    }
}

static void print_windows(void) {
    static const char *const summaries[BZ_WINDOW_COUNT] = {
        [BZ_WINDOW_UNSTARTED] = "created, its first step has not run",
        [BZ_WINDOW_WAITING] = "suspended, and what it waits for is pending",
        [BZ_WINDOW_WOKEN] = "the result is set, and it has not resumed",
        [BZ_WINDOW_SLEEPING] = "suspended on time or a bare yield, owns nothing",
        [BZ_WINDOW_HOLDING] = "owns a permit, suspended elsewhere",
        [BZ_WINDOW_CANCELLING] = "an earlier request is on its way: this is the second",
        [BZ_WINDOW_DONE] = "it has ended",
        [BZ_WINDOW_RUNNING] = "it cancels itself; never injected",
    };
    for (unsigned window = 1; window < BZ_WINDOW_COUNT; window++) {
        printf("%-22s %s\n", bz_window_name((enum bz_window)window), summaries[window]);
    }
}

static const struct {
    const char *name;
    void (*print)(void);
} topics[] = {
    {"scenarios", print_scenarios}, {"variants", print_variants}, {"strategies", print_strategies},
    {"oracles", print_oracles},     {"windows", print_windows},
};
#define TOPIC_COUNT (sizeof topics / sizeof topics[0])

int bz_command_list(int argc, char **argv) {
    static const struct bz_option no_options[] = {{NULL}};
    const char *names[TOPIC_COUNT];
    const char *topic = NULL;
    const struct bz_syntax syntax = {
        .options = no_options,
        .args_doc = "[scenarios|variants|strategies|oracles|windows]",
        .arguments = &topic,
        .arguments_max = 1,
        .takes_plugins = true,
        .doc = "Lists what can be named, each with a line about it (everything). A parameter is "
               "followed by its default and its limits."};
    bool is_found = false;
    int code = bz_options_parse(&syntax, argc, argv);
    if (code != BZ_EXIT_OK) {
        return code;
    }
    for (size_t index = 0; index < TOPIC_COUNT; index++) {
        names[index] = topics[index].name;
        if (topic == NULL) {
            printf("%s%s:\n\n", index == 0 ? "" : "\n", topics[index].name);
        }
        if (topic == NULL || strcmp(topic, topics[index].name) == 0) {
            topics[index].print();
            is_found = true;
        }
    }
    if (!is_found) {
        return bz_cli_fail(argv[0], BZ_EXIT_USAGE,
                           "no list of '%s'%s (there are scenarios, variants, strategies, oracles "
                           "and windows)",
                           topic, bz_cli_hint(topic, names, TOPIC_COUNT));
    }
    return BZ_EXIT_OK;
}
