#include "sim/program/replay.h"

#include <stdio.h>
#include <string.h>

#include "sim/choice/strategy_replay.h"
#include "traces/lack.h"
#include "traces/text.h"

/* --- header of a trace ------------------------------------------------------------------------ */

/* Lists inside a trace are separated by commas, inside a token by '+'. */
static void plus_to_comma(char *text) {
    for (; *text != '\0'; text++) {
        *text = *text == '+' ? ',' : *text;
    }
}

/* The member of the trace that holds a setting. */
static const char **member_of(struct bz_trace *trace, const struct bz_setting *setting) {
    return (const char **)(void *)((char *)trace + setting->trace_offset);
}

static void write_header(const struct bz_program *program, struct bz_trace *trace) {
    trace->scenario = bz_trace_string(trace, program->scenario->name);
    trace->variant = bz_trace_string(trace, program->variant->name);
    trace->strategy = program->strategy->name;
    for (struct bz_setting_text item = {0}; bz_program_next_setting(program, &item);) {
        const struct bz_setting *setting = bz_settings;
        while (setting->name != NULL && strcmp(setting->name, item.name) != 0) {
            setting++;
        }
        if (setting->trace_offset != 0) {
            plus_to_comma(item.value);
            *member_of(trace, setting) = bz_trace_string(trace, item.value);
        } else if (!setting->is_late || !item.is_default) { /* a parameter has the empty last one */
            bz_trace_add_param(trace, item.name, item.value);
        }
    }
}

/* The value of a param; NULL: the trace has none of that name. */
static const char *param_of(const struct bz_trace *trace, const char *name) {
    for (size_t index = 0; index < trace->param_count; index++) {
        if (strcmp(trace->params[index].name, name) == 0) {
            return trace->params[index].value;
        }
    }
    return NULL;
}

bool bz_trace_program(const struct bz_trace *trace, const struct bz_catalog *catalog,
                      struct bz_program *program, char *error, size_t error_bytes) {
    struct bz_trace header = *trace;
    bool is_ok = bz_program_find(program, catalog, trace->scenario, trace->variant, trace->strategy,
                                 error, error_bytes);
    for (const struct bz_setting *setting = bz_settings; is_ok && setting->name != NULL;
         setting++) {
        is_ok = setting->trace_offset == 0 ||
                bz_program_set(program, setting->name, *member_of(&header, setting), error,
                               error_bytes);
    }
    for (size_t index = 0; is_ok && index < trace->param_count; index++) {
        is_ok = bz_program_set(program, trace->params[index].name, trace->params[index].value,
                               error, error_bytes);
    }
    is_ok = is_ok && bz_program_check(program, error, error_bytes);
    if (is_ok && param_of(trace, "max-lag") == NULL &&
        bz_trace_lag_ns(trace) > program->lag_max_ns) {
        program->lag_max_ns = BZ_LAG_MAX_ANY_NS; /* an older program has recorded it */
    }
    if (!is_ok && trace->engine != NULL && strcmp(trace->engine, bz_engine()) != 0) {
        size_t used = strlen(error);
        bz_fail(error + used, error_bytes - used, " (recorded by %s; this is %s)", trace->engine,
                bz_engine());
    }
    return is_ok;
}

bool bz_trace_is_offered(const struct bz_trace *trace, const struct bz_catalog *catalog,
                         const struct bz_variant *variant, char *why, size_t why_bytes) {
    const struct bz_scenario *scenario = bz_catalog_scenario(catalog, trace->scenario);
    const char *wanted = param_of(trace, "primitive");
    bool is_known = false;
    for (uint32_t index = 0; scenario != NULL && index < scenario->primitive_count; index++) {
        enum bz_primitive primitive = scenario->primitives[index];
        bool is_wanted = wanted == NULL || strcmp(wanted, bz_primitive_name(primitive)) == 0;
        is_known |= is_wanted;
        if (is_wanted && bz_variant_offers(variant, primitive)) {
            return true;
        }
    }
    return !is_known || /* bz_trace_program() says what is unknown */
           bz_fail(why, why_bytes, "variant '%s' offers no %s", variant->name,
                   wanted != NULL ? wanted : "primitive that the scenario can use");
}

/* --- replaying -------------------------------------------------------------------------------- */

/* A program in a world of its own, as a source of events. */
struct stage {
    struct bz_program_place place;
    struct bz_source source;
};

static bool set_up(struct stage *stage, const struct bz_program *program,
                   struct bz_replay_report *report, char *error, size_t error_bytes) {
    *report = (struct bz_replay_report){.result = BZ_REPLAY_MATCHED};
    stage->place = (struct bz_program_place){program, bz_program_new_world(program)};
    stage->source = bz_program_source(&stage->place);
    if (stage->place.world == NULL) {
        bz_lack_text(report->lack, sizeof report->lack, NULL, "a world to run in");
        return bz_fail(error, error_bytes, "%s", report->lack);
    }
    return true;
}

bool bz_replay_trace(const struct bz_trace *trace, const struct bz_program *program,
                     struct bz_replay_report *report, char *error, size_t error_bytes) {
    struct stage stage;
    bool is_ok =
        set_up(&stage, program, report, error, error_bytes) &&
        bz_judge_replay(stage.place.world->judge, &stage.source, trace, report, error, error_bytes);
    bz_world_destroy(stage.place.world);
    return is_ok;
}

bool bz_replay_lenient(const struct bz_trace *trace, const struct bz_program *program,
                       const struct bz_world_watch *watch, struct bz_trace *record,
                       struct bz_replay_report *report, char *error, size_t error_bytes) {
    struct stage stage;
    bool is_ok = set_up(&stage, program, report, error, error_bytes);
    if (is_ok) {
        bz_world_watch(stage.place.world, watch);
        write_header(program, record);
        is_ok = bz_judge_replay_lenient(stage.place.world->judge, &stage.source, trace, record,
                                        report, error, error_bytes);
    }
    bz_world_destroy(stage.place.world);
    return is_ok;
}

/* The program that setup() builds from a tape, as text. */
struct printing {
    const struct bz_program *program;
    struct bz_world *world;
    char *text;
    size_t text_bytes;
    size_t length;
};

static void set_up_and_print(void *context, struct bz_judge *judge) {
    struct printing *printing = context;
    const struct bz_scenario *scenario = printing->program->scenario;
    bz_world_begin(printing->world);
    void *state = scenario->setup(printing->world, &printing->program->args);
    printing->length = scenario->file->print(state, printing->text, printing->text_bytes);
    bz_judge_give_up(judge);
}

bool bz_trace_print_program(const struct bz_trace *trace, const struct bz_program *program,
                            char *text, size_t text_bytes, size_t *length, char *error,
                            size_t error_bytes) {
    if (program->scenario->file == NULL || program->scenario->file->print == NULL) {
        return bz_fail(error, error_bytes, "scenario '%s' writes no file", program->scenario->name);
    }
    struct bz_tape tape;
    bz_tape_init(&tape, NULL);
    struct printing printing = {.program = program,
                                .world = bz_program_new_world(program),
                                .text = text,
                                .text_bytes = text_bytes};
    struct bz_source source = {.run = set_up_and_print, .context = &printing};
    bool is_ok = bz_trace_to_tape(trace, &tape, error, error_bytes);
    if (is_ok) {
        struct bz_run_start start = {
            .seed = trace->seed, .strategy = &bz_strategy_replay_lenient, .tape = &tape};
        if (printing.world == NULL ||
            bz_judge_run(printing.world->judge, &source, &start) == BZ_RUN_NO_RESOURCE) {
            bz_lack_stop(NULL, "the program of a trace");
        }
        *length = printing.length;
    }
    bz_world_destroy(printing.world);
    bz_tape_fini(&tape);
    return is_ok;
}

/* --- recording -------------------------------------------------------------------------------- */

bool bz_record_kept(const struct bz_program *given, const struct bz_kept_run *run,
                    struct bz_trace *trace, struct bz_replay_report *report) {
    struct stage stage;
    struct bz_program unstopped = *given; /* what was found is recorded, even after Ctrl-C */
    unstopped.contain.stop = NULL;
    if (set_up(&stage, &unstopped, report, NULL, 0)) {
        write_header(&unstopped, trace);
        bz_judge_record(stage.place.world->judge, &stage.source, run, trace, report);
    }
    bz_world_destroy(stage.place.world);
    return report->lack[0] == '\0';
}

/* A seed's run in a world of its own. */
static bool play_seed(struct stage *stage, struct bz_program *program, uint64_t seed,
                      struct bz_replay_report *report) {
    program->contain.stop = NULL;
    if (program->contain.is_on) { /* in one process; a lack shows in the run */
        (void)bz_program_measure(program);
    }
    if (set_up(stage, program, report, NULL, 0) &&
        bz_program_run(program, stage->place.world, seed) == BZ_RUN_NO_RESOURCE) {
        bz_lack_copy(report->lack, bz_judge_error(stage->place.world->judge));
    }
    return report->lack[0] == '\0';
}

bool bz_seed_digest(const struct bz_program *given, uint64_t seed, uint64_t *digest, char *lack) {
    struct stage stage;
    struct bz_program program = *given;
    struct bz_replay_report report;
    if (play_seed(&stage, &program, seed, &report)) {
        *digest = bz_judge_digest(stage.place.world->judge);
    }
    bz_lack_copy(lack, report.lack);
    bz_world_destroy(stage.place.world);
    return lack[0] == '\0';
}

/* Uses two worlds, so that addresses differ between the two runs. */
bool bz_record(const struct bz_program *given, uint64_t seed, struct bz_trace *trace,
               struct bz_replay_report *report) {
    struct stage light;
    struct bz_program unstopped = *given;
    if (play_seed(&light, &unstopped, seed, report)) {
        struct bz_kept_run run;
        bz_judge_keep(light.place.world->judge, &run);
        (void)bz_record_kept(given, &run, trace, report);
        bz_kept_run_fini(&run);
    }
    bz_world_destroy(light.place.world);
    return report->lack[0] == '\0';
}
