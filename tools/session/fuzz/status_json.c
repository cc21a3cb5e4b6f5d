/* The document of a long campaign's status. */
#include "tools/report/report.h"
#include "tools/session/fuzz/status.h"

static void add_windows(struct bz_json *item, const struct bz_fuzz_target *target) {
    struct bz_run_stats stats = {.runs = target->runs};
    for (unsigned op = 0; op < BZ_OP_COUNT; op++) {
        for (unsigned window = 0; window < BZ_WINDOW_COUNT; window++) {
            stats.windows[op][window] = target->windows[op][window];
        }
    }
    bz_json_add_windows(item, &stats);
    char words[BZ_WORDS_BYTES];
    struct bz_json *missed = bz_json_add_array(item, "never_struck");
    for (uint32_t index = 0; bz_fuzz_missed(target, index, words); index++) {
        bz_json_append_string(missed, words);
    }
}

static void add_target(struct bz_json *targets, const struct bz_fuzz_target *target) {
    struct bz_json *item = bz_json_append_object(targets);
    bz_json_add_program(item, &target->program);
    bz_json_add_number(item, "runs", target->runs);
    bz_json_add_number(item, "steps", target->steps);
    bz_json_add_number(item, "violations", target->violations);
    bz_json_add_number(item, "out_of_steps", target->out_of_steps);
    bz_json_add_number(item, "handoff_orders", bz_distinct_count(&target->handoffs));
    bz_json_add_number(item, "handoff_orders_once", bz_distinct_once(&target->handoffs));
    bz_json_add_number(item, "handoff_new_ppm", bz_distinct_new_ppm(&target->handoffs));
    bz_json_add_bool(item, "handoff_exact", bz_distinct_is_exact(&target->handoffs));
    bz_json_add_number(item, "situations", target->situation_count);
    bz_json_add_number(item, "situations_once", bz_fuzz_situations_once(target));
    bz_json_add_number(item, "situation_new_ppm", bz_fuzz_new_situation_ppm(target));
    bz_json_add_number(item, "findings_dropped", target->findings_dropped);
    add_windows(item, target);
}

static void add_arm(struct bz_json *arms, const struct bz_fuzz_arm *arm) {
    struct bz_json *item = bz_json_append_object(arms);
    bz_json_add_string(item, "name", arm->name);
    bz_json_add_number(item, "target", arm->target);
    bz_json_add_number(item, "runs", arm->runs);
    bz_json_add_number(item, "steps", arm->steps);
    bz_json_add_number(item, "slices", arm->slices);
    bz_json_add_number(item, "violations", arm->violations);
    bz_json_add_number(item, "new_handoff_orders", arm->new_handoffs);
    bz_json_add_number(item, "new_situations", arm->new_situations);
    bz_json_add_number(item, "new_findings", arm->findings);
}

static void add_text(struct bz_json *item, const char *key, const char *text) {
    bz_json_add_string(item, key, text[0] == '\0' ? NULL : text);
}

static void add_finding(struct bz_json *findings, const struct bz_fuzz_finding *finding,
                        const struct bz_fuzz *fuzz) {
    const struct bz_violation *violation = &finding->finding.violation;
    struct bz_json *item = bz_json_append_object(findings);
    bz_json_add_number(item, "target", finding->target);
    bz_json_add_string(item, "arm", fuzz->arms[finding->arm].name);
    bz_json_add_string(item, "oracle", violation->oracle);
    bz_json_add_string(item, "operation", bz_op_name(violation->op));
    bz_json_add_string(item, "window", bz_window_name(violation->window));
    bz_json_add_hex(item, "seed", finding->finding.seed);
    bz_json_add_number(item, "step", violation->step);
    bz_json_add_string(item, "message", violation->message);
    bz_json_add_number(item, "count", finding->finding.count);
    bz_json_add_number(item, "slice", finding->slice);
    bz_json_add_number(item, "runs_before", finding->runs);
    bz_json_add_decimal(item, "after_s", (double)finding->spent_ms / 1000);
    add_text(item, "token", finding->token);
    add_text(item, "shrunk_token", finding->small_token);
    add_text(item, "trace", finding->file);
    add_text(item, "shrunk_trace", finding->small_file);
}

struct bz_json *bz_fuzz_status_json(const struct bz_fuzz_status *status) {
    const struct bz_fuzz *fuzz = status->fuzz;
    struct bz_json *root = bz_json_new_object();
    bz_json_add_string(root, "version", bz_engine_version());
    bz_json_add_string(root, "state", status->state);
    bz_json_add_number(root, "slices", fuzz->slices);
    bz_json_add_number(root, "slice_steps", fuzz->slice_steps);
    bz_json_add_number(root, "runs", fuzz->runs);
    bz_json_add_number(root, "steps", fuzz->steps);
    bz_json_add_number(root, "violations", fuzz->violations);
    bz_json_add_number(root, "out_of_steps", fuzz->out_of_steps);
    bz_json_add_number(root, "examples", status->examples);
    bz_json_add_decimal(root, "seconds", (double)status->order->spent_ms / 1000);
    bz_json_add_number(root, "runs_per_s", bz_fuzz_rate(status));
    struct bz_json *findings = bz_json_add_array(root, "findings");
    for (uint32_t index = 0; index < fuzz->finding_count; index++) {
        add_finding(findings, &fuzz->findings[index], fuzz);
    }
    struct bz_json *targets = bz_json_add_array(root, "targets");
    for (uint32_t index = 0; index < fuzz->target_count; index++) {
        add_target(targets, fuzz->targets[index]);
    }
    struct bz_json *arms = bz_json_add_array(root, "arms");
    for (uint32_t index = 0; index < fuzz->arm_count; index++) {
        add_arm(arms, &fuzz->arms[index]);
    }
    struct bz_json *samples = bz_json_add_array(root, "samples");
    for (uint32_t index = 0; index < fuzz->sample_count; index++) {
        const struct bz_fuzz_sample *sample = &fuzz->samples[index];
        struct bz_json *item = bz_json_append_object(samples);
        bz_json_add_decimal(item, "after_s", (double)sample->spent_ms / 1000);
        bz_json_add_number(item, "runs", sample->runs);
        bz_json_add_number(item, "steps", sample->steps);
        bz_json_add_number(item, "situations", sample->situations);
        bz_json_add_number(item, "findings", sample->findings);
    }
    return root;
}
