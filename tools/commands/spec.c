/* buzzer spec: searches all states of an executable specification. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/program/settings.h"
#include "sim/spec/search.h"
#include "tools/cli/cli.h"
#include "tools/cli/options.h"
#include "tools/cli/progress.h"
#include "tools/report/report.h"
#include "traces/lack.h"

#define MEBIBYTE (UINT64_C(1) << 20u)
#define MEMORY_DEFAULT_MIB 4096u
#define STATE_TEXT_BYTES 512u
#define SPECS "tla|buzzer" /* in the order of bz_specs */

struct request {
    const char *name_of_spec;
    const struct bz_spec *spec;
    struct bz_spec_constants constants;
    uint64_t memory_mib;
    bool is_json;
    bool is_quiet;
    struct bz_progress progress;
};

static void set_constant(void *target, const char *option, char *text) {
    struct request *request = target;
    static const char *const names[] = {"permits", "clients"};
    static const char *const shown[] = {"set permits", "set clients"};
    const uint64_t most[] = {BZ_SPEC_PERMITS_MAX, BZ_SPEC_CLIENTS_MAX};
    uint32_t *const values[] = {&request->constants.permits, &request->constants.clients};
    (void)option;
    char *equals = strchr(text, '=');
    if (equals == NULL || equals == text) {
        bz_cli_misuse("--set takes NAME=VALUE, and not '%s'", text);
        return;
    }
    *equals = '\0';
    for (size_t index = 0; index < 2; index++) {
        if (strcmp(text, names[index]) == 0) {
            if (*values[index] != 0) {
                bz_cli_misuse("'%s' is set twice", text);
            }
            *values[index] = (uint32_t)bz_option_number(shown[index], equals + 1, 1, most[index]);
            return;
        }
    }
    bz_cli_misuse("no constant '%s'%s (there are permits and clients)", text,
                  bz_cli_hint(text, names, 2));
}

static void find_spec(void *target) {
    struct request *request = target;
    request->spec = bz_specs[bz_option_word("the command", SPECS, request->name_of_spec) - 1];
}

static const struct bz_option options[] = {
    {"set", "permits=U|clients=N", "Constant of the specification (default: permits=1, clients=2)",
     BZ_OPTION_PARSED, .is_repeatable = true, .parse = set_constant},
    {"max-memory", "MIB", "Memory limit for the states, in MiB (default 4096)", BZ_OPTION_NUMBER,
     offsetof(struct request, memory_mib), .least = 1, .most = UINT64_MAX / MEBIBYTE},
    {"json", NULL, "Print one JSON document", BZ_OPTION_FLAG, offsetof(struct request, is_json)},
    {"quiet", NULL, "Print failures only", BZ_OPTION_FLAG, offsetof(struct request, is_quiet)},
    {NULL},
};

static bool poll_search(void *context, const struct bz_search_counts *so_far) {
    struct request *request = context;
    bz_progress_show(&request->progress, so_far->distinct - so_far->waiting, 0);
    return bz_interrupt_requested == 0;
}

static const char *first_name(const struct bz_spec *spec, const struct bz_search_result *result) {
    return result->first == BZ_SEARCH_DEADLOCK ? "deadlock" : spec->invariants[result->first].name;
}

static void step_text(const struct bz_spec *spec, const struct bz_spec_step *step, char *buffer,
                      size_t size_bytes) {
    if (step->action == BZ_SPEC_NO_ACTION) {
        snprintf(buffer, size_bytes, "Init");
    } else if (step->client == BZ_SPEC_NO_CLIENT) {
        snprintf(buffer, size_bytes, "%s", spec->actions[step->action]);
    } else {
        snprintf(buffer, size_bytes, "%s(c%u)", spec->actions[step->action], step->client + 1u);
    }
}

/* --- for people ------------------------------------------------------------------------------- */

static void print_trace(const struct bz_spec *spec, const struct bz_spec_constants *constants,
                        const struct bz_search_result *result) {
    char action[64];
    char state[STATE_TEXT_BYTES];
    for (uint64_t index = 0; index < result->trace.length; index++) {
        const struct bz_spec_step *step = &result->trace.steps[index];
        step_text(spec, step, action, sizeof action);
        bz_spec_print(spec, constants, step->state, state, sizeof state);
        printf("%4" PRIu64 "  %-20s %s\n", index + 1, action, state);
    }
}

static void print_invariants(const struct request *request, const struct bz_spec *spec,
                             const struct bz_search_result *result) {
    bool is_complete = result->end == BZ_SEARCH_COMPLETE;
    for (uint32_t index = 0; index < spec->invariant_count; index++) {
        const struct bz_spec_invariant *invariant = &spec->invariants[index];
        bool is_broken = (result->broken >> index & 1u) != 0;
        if (is_broken || !request->is_quiet) {
            printf("%s %s: %s\n", invariant->name,
                   is_broken     ? "fails"
                   : is_complete ? "holds"
                                 : "holds so far",
                   invariant->text);
        }
    }
    if (result->counts.deadlocks > 0) {
        printf("deadlock: nothing can happen in %" PRIu64 " state%s\n", result->counts.deadlocks,
               result->counts.deadlocks == 1 ? "" : "s");
    }
}

static void print_result(const struct request *request, const struct bz_spec *spec,
                         const struct bz_search_result *result) {
    const struct bz_search_counts *counts = &result->counts;
    if (!request->is_quiet) {
        printf("%" PRIu64 " states generated, %" PRIu64 " distinct, depth %" PRIu64 "\n",
               counts->generated, counts->distinct, counts->depth);
        if (result->end == BZ_SEARCH_COMPLETE) {
            const struct bz_spec_constants *constants = &request->constants;
            printf("complete: every state of '%s' with %u permit%s and %u client%s\n", spec->name,
                   constants->permits, constants->permits == 1 ? "" : "s", constants->clients,
                   constants->clients == 1 ? "" : "s");
        } else {
            printf("not complete: %" PRIu64 " states were found but not searched\n",
                   counts->waiting);
        }
    }
    print_invariants(request, spec, result);
    if (result->has_violation) {
        printf("\n%s: a shortest counterexample, %" PRIu64 " states\n", first_name(spec, result),
               result->trace.length);
        print_trace(spec, &request->constants, result);
    }
}

/* --- for programs ----------------------------------------------------------------------------- */

static void add_trace(struct bz_json *root, const struct bz_spec *spec,
                      const struct bz_spec_constants *constants,
                      const struct bz_search_result *result) {
    char text[STATE_TEXT_BYTES];
    struct bz_json *counterexample = bz_json_add_object(root, "counterexample");
    bz_json_add_string(counterexample, "invariant", first_name(spec, result));
    struct bz_json *states = bz_json_add_array(counterexample, "states");
    for (uint64_t index = 0; index < result->trace.length; index++) {
        const struct bz_spec_step *step = &result->trace.steps[index];
        struct bz_json *item = bz_json_append_object(states);
        step_text(spec, step, text, sizeof text);
        bz_json_add_string(item, "action", text);
        bz_spec_print(spec, constants, step->state, text, sizeof text);
        bz_json_add_string(item, "state", text);
    }
}

static void put_json(const struct request *request, const struct bz_spec *spec,
                     const struct bz_search_result *result, double seconds, int code) {
    struct bz_json *root = bz_json_new_object();
    bz_json_add_string(root, "spec", spec->name);
    bz_json_add_number(root, "permits", request->constants.permits);
    bz_json_add_number(root, "clients", request->constants.clients);
    bz_json_add_number(root, "generated", result->counts.generated);
    bz_json_add_number(root, "distinct", result->counts.distinct);
    bz_json_add_number(root, "depth", result->counts.depth);
    bz_json_add_number(root, "deadlocks", result->counts.deadlocks);
    bz_json_add_bool(root, "complete", result->end == BZ_SEARCH_COMPLETE);
    struct bz_json *invariants = bz_json_add_array(root, "invariants");
    for (uint32_t index = 0; index < spec->invariant_count; index++) {
        struct bz_json *item = bz_json_append_object(invariants);
        bz_json_add_string(item, "name", spec->invariants[index].name);
        bz_json_add_bool(item, "holds", (result->broken >> index & 1u) == 0);
        bz_json_add_string(item, "formula", spec->invariants[index].text);
    }
    if (result->has_violation) {
        add_trace(root, spec, &request->constants, result);
    } else {
        bz_json_add_string(root, "counterexample", NULL);
    }
    bz_json_add_decimal(root, "seconds", seconds);
    bz_json_add_number(root, "memory_bytes", result->memory_bytes);
    bz_json_add_bool(root, "interrupted", result->end == BZ_SEARCH_STOPPED);
    bz_json_add_number(root, "exit_code", (uint64_t)code);
    bz_json_put(root);
}

int bz_command_spec(int argc, char **argv) {
    struct request request = {.memory_mib = MEMORY_DEFAULT_MIB};
    struct bz_search_result result;
    const struct bz_syntax syntax = {
        .options = options,
        .target = &request,
        .args_doc = SPECS,
        .arguments = &request.name_of_spec,
        .arguments_max = 1,
        .missing = "a specification (tla or buzzer)",
        .check = find_spec,
        .doc = "Searches every state of an executable specification and checks its invariants. "
               "'tla' is the published specification of asyncio's semaphore, 'buzzer' the repaired "
               "one, which the primitives that ship refine. Exit status: 0 all invariants hold, 1 "
               "one fails, 5 interrupted or out of memory before the search was complete."};
    (void)bz_options_parse(&syntax, argc, argv);
    const struct bz_spec *spec = request.spec;
    request.constants.permits += request.constants.permits == 0 ? 1 : 0;
    request.constants.clients += request.constants.clients == 0 ? 2 : 0;
    bz_interrupt_catch();
    bz_progress_begin(&request.progress, request.is_quiet, 0, 0);
    request.progress.unit = "states";
    bz_search(&(struct bz_search_config){.spec = spec,
                                         .constants = request.constants,
                                         .memory_max_bytes = request.memory_mib * MEBIBYTE,
                                         .poll = poll_search,
                                         .context = &request},
              &result);
    double seconds = bz_progress_end(&request.progress);
    int code = result.end != BZ_SEARCH_COMPLETE ? BZ_EXIT_INTERRUPTED
               : result.has_violation           ? BZ_EXIT_VIOLATION
                                                : BZ_EXIT_OK;
    if (result.end == BZ_SEARCH_OUT_OF_MEMORY && !result.is_at_limit) {
        char lack[BZ_LACK_BYTES];
        bz_cli_fail(BZ_EXIT_INTERRUPTED, "%s",
                    bz_lack_text(lack, sizeof lack, NULL, "the states of a search"));
    } else if (result.end == BZ_SEARCH_OUT_OF_MEMORY) {
        bz_cli_fail(BZ_EXIT_INTERRUPTED,
                    "out of memory after %" PRIu64 " states: --max-memory is %" PRIu64 " MiB",
                    result.counts.distinct, request.memory_mib);
    }
    if (request.is_json) {
        put_json(&request, spec, &result, seconds, code);
    } else {
        print_result(&request, spec, &result);
    }
    bz_search_result_fini(&result);
    return code;
}
