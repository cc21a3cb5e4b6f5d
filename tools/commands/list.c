/* buzzer list: what can be named on the command line. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "sim/choice/strategy.h"
#include "sim/judge/judge.h"
#include "sim/program/sizes.h"
#include "tools/cli/cli.h"
#include "tools/cli/options.h"
#include "tools/report/report.h"
#include "tools/report/text_output.h"

#define TEXT_COLUMN 23u

/* A name, and what it is in a column of its own. */
static void print_name(unsigned indent, const char *name, const char *text) {
    struct bz_wrap wrap = {.out = stdout};
    struct bz_text prefix = {0};
    bz_text_add(&prefix, "%*s%-*s ", (int)indent, "", (int)(TEXT_COLUMN - 1 - indent), name);
    bz_wrap_print(&wrap, prefix.bytes, text, TEXT_COLUMN, BZ_COLOUR_NONE);
    bz_text_fini(&prefix);
}

/* A name with its text: an item of `array`, which is returned; without one, a line is printed. */
static struct bz_json *put(struct bz_json *array, const char *name, const char *summary) {
    if (array == NULL) {
        print_name(0, name, summary);
        return NULL;
    }
    struct bz_json *item = bz_json_append_object(array);
    bz_json_add_string(item, "name", name);
    bz_json_add_string(item, "summary", summary);
    return item;
}

/* As text, because a value may be negative. */
static void add_value(struct bz_json *item, const char *key, int64_t value) {
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    bz_json_add_string(item, key, text);
}

static void put_parameter(struct bz_json *array, const struct bz_scenario *scenario,
                          uint32_t index) {
    const struct bz_param *param = &scenario->params[index];
    const struct bz_size *size = bz_sizes_of(scenario, index);
    struct bz_text text = {0};
    if (array != NULL) {
        struct bz_json *item = put(array, param->name, param->summary);
        add_value(item, "default", param->value);
        add_value(item, "least", param->least);
        add_value(item, "most", param->most);
        bz_json_add_bool(item, "drawn", size != NULL);
        return;
    }
    bz_text_add(&text, "%s (%" PRId64 "; %" PRId64 " to %" PRId64, param->summary, param->value,
                param->least, param->most);
    if (size != NULL) {
        bz_text_add(&text, "; drawn %" PRId64 " to %" PRId64, size->least, size->most);
    }
    if (size != NULL && size->large != 0) {
        bz_text_add(&text, ", or %" PRId64, size->large);
    }
    bz_text_add(&text, ")");
    print_name(4, param->name, text.bytes);
    bz_text_fini(&text);
}

static void put_scenario(struct bz_json *array, const struct bz_scenario *scenario) {
    const char *file = scenario->file == NULL ? NULL : scenario->file->summary;
    struct bz_json *item = put(array, scenario->name, scenario->summary);
    struct bz_json *primitives = item == NULL ? NULL : bz_json_add_array(item, "primitives");
    struct bz_text text = {0};
    for (uint32_t index = 0; index < scenario->primitive_count; index++) {
        const char *name = bz_primitive_name(scenario->primitives[index]);
        bz_text_add(&text, "%s%s", index == 0 ? "" : ", ", name);
        if (primitives != NULL) {
            bz_json_append_string(primitives, name);
        }
    }
    if (item == NULL) {
        print_name(4, "primitive", text.bytes == NULL ? "" : text.bytes);
    }
    bz_text_fini(&text);
    struct bz_json *params = item == NULL ? NULL : bz_json_add_array(item, "parameters");
    for (uint32_t index = 0; scenario->params[index].name != NULL; index++) {
        put_parameter(params, scenario, index);
    }
    if (item != NULL) {
        bz_json_add_string(item, "file", file);
    } else if (file != NULL) {
        print_name(4, "file", file);
    }
}

static void put_scenarios(struct bz_json *array) {
    for (const struct bz_scenario *const *next = bz_cli_catalog.scenarios; *next != NULL; next++) {
        put_scenario(array, *next);
    }
}

static void put_fault(struct bz_json *faults, const struct bz_fault *fault) {
    if (faults == NULL) {
        struct bz_wrap wrap = {.out = stdout};
        bz_wrap_printf(&wrap, 6, BZ_COLOUR_NONE, "    declared fault: %s (%s, %s, %s)",
                       fault->summary, fault->project, fault->issue, fault->versions);
        bz_wrap_printf(&wrap, 6, BZ_COLOUR_NONE, "    shows in %s%s%s, caught by %s",
                       fault->scenario, fault->settings != NULL ? " with " : "",
                       fault->settings != NULL ? fault->settings : "", fault->oracle);
        return;
    }
    struct bz_json *item = bz_json_append_object(faults);
    bz_json_add_string(item, "summary", fault->summary);
    bz_json_add_string(item, "project", fault->project);
    bz_json_add_string(item, "issue", fault->issue);
    bz_json_add_string(item, "versions", fault->versions);
    bz_json_add_string(item, "scenario", fault->scenario);
    bz_json_add_string(item, "settings", fault->settings);
    bz_json_add_string(item, "oracle", fault->oracle);
}

static void put_variants(struct bz_json *array) {
    for (const struct bz_variant *const *next = bz_cli_catalog.variants; *next != NULL; next++) {
        const struct bz_variant *variant = *next;
        struct bz_json *item = put(array, variant->name, variant->summary);
        struct bz_json *primitives = item == NULL ? NULL : bz_json_add_array(item, "primitives");
        for (unsigned index = 0; primitives != NULL && index < BZ_PRIMITIVE_COUNT; index++) {
            if (bz_variant_offers(variant, (enum bz_primitive)index)) {
                bz_json_append_string(primitives, bz_primitive_name((enum bz_primitive)index));
            }
        }
        struct bz_json *faults = item == NULL ? NULL : bz_json_add_array(item, "faults");
        if (variant->fault != NULL) {
            put_fault(faults, variant->fault);
        }
        for (const struct bz_fault *const *fault = variant->declared;
             fault != NULL && *fault != NULL; fault++) {
            put_fault(faults, *fault);
        }
    }
}

static void put_strategies(struct bz_json *array) {
    for (const struct bz_strategy *const *next = bz_strategies; *next != NULL; next++) {
        put(array, (*next)->name, (*next)->summary);
    }
}

static void put_oracles(struct bz_json *array) {
    for (uint32_t index = 0; index < bz_oracle_count; index++) {
        put(array, bz_oracles[index].name, bz_oracles[index].summary);
    }
}

static const char *const window_summaries[BZ_WINDOW_COUNT] = {
    [BZ_WINDOW_UNSTARTED] = "created, its first step has not run",
    [BZ_WINDOW_WAITING] = "suspended, and what it waits for is pending",
    [BZ_WINDOW_WOKEN] = "the result is set, and it has not resumed",
    [BZ_WINDOW_SLEEPING] = "suspended on time or a bare yield, owns nothing",
    [BZ_WINDOW_HOLDING] = "owns a permit, suspended elsewhere",
    [BZ_WINDOW_CANCELLING] = "an earlier request is on its way: this is the second",
    [BZ_WINDOW_DONE] = "it has ended",
    [BZ_WINDOW_RUNNING] = "it cancels itself; never injected",
};

static void put_windows(struct bz_json *array) {
    for (unsigned window = 1; window < BZ_WINDOW_COUNT; window++) {
        put(array, bz_window_name((enum bz_window)window), window_summaries[window]);
    }
}

/* --- the command ------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    void (*put)(struct bz_json *array);
} topics[] = {{"scenarios", put_scenarios},
              {"variants", put_variants},
              {"strategies", put_strategies},
              {"oracles", put_oracles},
              {"windows", put_windows}};
#define TOPIC_COUNT (sizeof topics / sizeof topics[0])
#define TOPIC_WORDS "scenarios|variants|strategies|oracles|windows"

struct list {
    const char *topic; /* NULL: all */
    uint32_t number;   /* of it, from 1 on */
    bool is_json;
};

static const struct bz_option options[] = {
    {"json", NULL, "Print one JSON document", BZ_OPTION_FLAG, offsetof(struct list, is_json)},
    {NULL},
};

static void check_topic(void *target) {
    struct list *list = target;
    list->number =
        list->topic == NULL ? 0 : bz_option_word("the command", TOPIC_WORDS, list->topic);
}

static bool is_wanted(const struct list *list, size_t topic) {
    return list->topic == NULL || list->number == topic + 1;
}

static void put_json(const struct list *list) {
    struct bz_json *root = bz_json_new_object();
    for (size_t index = 0; index < TOPIC_COUNT; index++) {
        if (is_wanted(list, index)) {
            topics[index].put(bz_json_add_array(root, topics[index].name));
        }
    }
    bz_json_put(root);
}

static void print_text(const struct list *list) {
    for (size_t index = 0; index < TOPIC_COUNT; index++) {
        if (list->topic == NULL) {
            printf("%s%s:\n\n", index == 0 ? "" : "\n", topics[index].name);
        }
        if (is_wanted(list, index)) {
            topics[index].put(NULL);
        }
    }
}

int bz_command_list(int argc, char **argv) {
    struct list list = {.topic = NULL};
    const struct bz_syntax syntax = {
        .options = options,
        .target = &list,
        .args_doc = "[" TOPIC_WORDS "]",
        .arguments = &list.topic,
        .arguments_max = 1,
        .plugins = BZ_PLUGINS_LOADED,
        .check = check_topic,
        .doc = "Lists scenarios, variants, strategies, oracles or windows, with a line about each "
               "(default: all). A parameter is followed by its default and its limits."};
    int code = bz_options_parse(&syntax, argc, argv);
    if (code != BZ_EXIT_OK) {
        return code;
    }
    (list.is_json ? put_json : print_text)(&list);
    return BZ_EXIT_OK;
}
