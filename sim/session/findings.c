#include "sim/session/findings.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "sim/session/stop.h"
#include "traces/text.h"

bool bz_findings_report(const struct bz_kept_findings *kept, enum bz_trouble trouble,
                        const char *format, ...) {
    char message[BZ_ERROR_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    kept->on_trouble(kept->context, trouble, message);
    return false;
}

/* Writes the trace, if there is a folder. False after a message. */
static bool write_trace(const struct bz_kept_findings *kept, const struct bz_trace *trace,
                        uint64_t seed, const char *kind, char path[PATH_MAX]) {
    char error[BZ_ERROR_BYTES];
    return kept->folder == NULL ||
           bz_folder_write_trace(trace, seed, kind, kept->folder, path, error, sizeof error) ||
           bz_findings_report(kept, BZ_TROUBLE_FILE, "%s", error);
}

/* Without memory for its trace, a finding keeps its verdict and its token. */
static void keep_verdict(struct bz_trace *trace, const struct bz_finding *finding) {
    bz_trace_fini(trace);
    trace->seed = finding->seed;
    trace->verdict = (struct bz_trace_verdict){.result = "violation",
                                               .oracle = finding->violation.oracle,
                                               .step = finding->violation.step,
                                               .message = finding->violation.message};
}

static bool is_confirmed(const struct bz_trace *trace, const struct bz_finding *finding) {
    return trace->digest == finding->digest && trace->verdict.oracle != NULL &&
           strcmp(trace->verdict.oracle, finding->violation.oracle) == 0 &&
           trace->verdict.step == finding->violation.step;
}

/* Records the run of `item`, which has its token. False after a message. */
static bool record(const struct bz_kept_findings *kept, struct bz_kept_finding *item,
                   const struct bz_finding *finding) {
    struct bz_replay_report report_of_run;
    if (!bz_record(&item->program, finding->seed, &item->trace, &report_of_run)) {
        keep_verdict(&item->trace, finding);
        return bz_findings_report(kept, BZ_TROUBLE_LACK,
                                  "the finding of seed 0x%" PRIx64 " was not recorded: %s",
                                  finding->seed, report_of_run.lack);
    }
    memcpy(item->failure.object, report_of_run.object, sizeof report_of_run.object);
    if (strcmp(finding->violation.oracle, "nondeterminism") == 0) {
        /* The two runs of the recording may be equal, and say less than those of the campaign. */
        bz_trace_overrule(&item->trace, &finding->violation, finding->violation.message);
    } else if (!is_confirmed(&item->trace, finding)) {
        bz_trace_contradict(&item->trace, &finding->violation, finding->digest);
    }
    if (kept->folder != NULL && item->trace.event_count == BZ_TRACE_EVENTS_MAX) {
        return bz_findings_report(kept, BZ_TROUBLE_FILE,
                                  "the run of seed 0x%" PRIx64
                                  " has more than the %u events that a trace "
                                  "may have; its token replays it",
                                  finding->seed, BZ_TRACE_EVENTS_MAX);
    }
    return write_trace(kept, &item->trace, finding->seed, "", item->path);
}

void bz_findings_drop(struct bz_kept_finding *item) {
    bz_trace_fini(&item->trace);
    bz_trace_fini(&item->small);
}

void bz_findings_truncate(struct bz_kept_findings *kept, uint32_t count) {
    while (kept->count > count) {
        bz_findings_drop(&kept->items[--kept->count]);
    }
}

bool bz_findings_keep(struct bz_kept_findings *kept, uint32_t place,
                      const struct bz_program *program, const struct bz_finding *finding) {
    struct bz_kept_finding *item = &kept->items[place];
    if (place == kept->count) {
        kept->count++;
    } else {
        bz_findings_drop(item);
    }
    *item = (struct bz_kept_finding){.failure.violation = finding->violation, .program = *program};
    item->program.contain.is_quiet = true; /* its run has printed what it prints */
    bz_trace_init(&item->trace);
    bz_trace_init(&item->small);
    bz_token_format(program, finding->seed, finding->digest, item->token, sizeof item->token);
    return record(kept, item, finding);
}

/* --- the smallest run ------------------------------------------------------------------------- */

struct bz_budget bz_search_limits_begin(const struct bz_search_limits *limits) {
    bz_time_limit_begin(limits->seconds != 0 ? limits->seconds : BZ_SEARCH_SECONDS);
    return (struct bz_budget){.steps = limits->steps, .stop = &bz_interrupt_requested};
}

static bool is_shrinkable(const struct bz_trace *trace) {
    const char *oracle = trace->verdict.oracle;
    return oracle != NULL && strcmp(oracle, "hang") != 0 && strcmp(oracle, "memory") != 0 &&
           strcmp(oracle, "nondeterminism") != 0;
}

/* Shrinks the run of `trace` into an empty trace. False: it stays as it is. */
static bool shrink(const struct bz_kept_findings *kept, const struct bz_program *program,
                   const struct bz_trace *trace, struct bz_shrink_result *result,
                   struct bz_trace *small) {
    char error[BZ_ERROR_BYTES];
    if (!is_shrinkable(trace) || bz_interrupt_requested != 0) {
        return false;
    }
    const struct bz_shrink_config config = {.program = program,
                                            .trace = trace,
                                            .budget = bz_search_limits_begin(&kept->limits),
                                            .on_progress = kept->on_shrinking,
                                            .context = kept->context};
    bool is_shrunk = bz_shrink(&config, result) &&
                     result->end != BZ_SHRINK_INTERRUPTED; /* the next session does it */
    (void)bz_time_limit_end();
    if (kept->on_shrinking != NULL) {
        kept->on_shrinking(kept->context, result->runs, NULL);
    }
    if (is_shrunk && !bz_shrink_record(result, small, error, sizeof error)) {
        is_shrunk = false; /* code that is not deterministic; the finding itself stands */
        bz_trace_fini(small);
        bz_trace_init(small);
    }
    if (result->lack[0] != '\0') {
        (void)bz_findings_report(kept, BZ_TROUBLE_LACK, "a finding was not shrunk: %s",
                                 result->lack);
    }
    return is_shrunk;
}

void bz_findings_shrink(struct bz_kept_findings *kept, uint32_t place) {
    struct bz_kept_finding *item = &kept->items[place];
    static struct bz_shrink_result result;
    result = (struct bz_shrink_result){.runs = 0};
    item->is_shrunk = shrink(kept, &item->program, &item->trace, &result, &item->small);
    item->is_interrupted =
        !item->is_shrunk && bz_interrupt_requested != 0 && is_shrinkable(&item->trace);
    if (item->is_shrunk) {
        item->small_size = result.after;
        item->small_program = result.program;
        bz_shrink_end_text(&result, item->small_end, sizeof item->small_end);
        if (result.has_answers) {
            bz_token_format(&result.program, item->small.seed, result.digest, item->small_token,
                            sizeof item->small_token);
        }
        (void)write_trace(kept, &item->small, item->trace.seed, "-shrunk", item->small_path);
    }
    bz_shrink_fini(&result);
}

static bool is_same_when_small(const struct bz_kept_finding *a, const struct bz_kept_finding *b) {
    return a->is_shrunk && b->is_shrunk && a->small_token[0] != '\0' &&
           strcmp(a->small_token, b->small_token) == 0 &&
           strcmp(a->failure.violation.oracle, b->failure.violation.oracle) == 0;
}

static void merge(struct bz_kept_findings *kept) {
    uint32_t count = 0;
    for (uint32_t index = 0; index < kept->count; index++) {
        struct bz_kept_finding *item = &kept->items[index];
        uint32_t same = 0;
        while (same < count && !is_same_when_small(&kept->items[same], item)) {
            same++;
        }
        if (same < count) {
            kept->items[same].count += item->count;
            bz_findings_drop(item);
        } else if (count++ != index) {
            kept->items[same] = *item;
        }
    }
    kept->count = count;
}

/* --- the witness on a FIFO loop --------------------------------------------------------------- */

static void keep_witness(const struct bz_kept_findings *kept, struct bz_kept_finding *item,
                         const struct bz_witness *witness) {
    static struct bz_shrink_result result;
    struct bz_trace trace;
    struct bz_trace small;
    struct bz_replay_report report_of_run;
    bz_trace_init(&trace);
    bz_trace_init(&small);
    result = (struct bz_shrink_result){.runs = 0};
    bz_token_format(&witness->program, witness->finding.seed, witness->finding.digest,
                    item->fifo.token, sizeof item->fifo.token);
    if (!bz_record(&witness->program, witness->finding.seed, &trace, &report_of_run)) {
        (void)bz_findings_report(kept, BZ_TROUBLE_LACK, "%s", report_of_run.lack);
    } else if (!is_confirmed(&trace, &witness->finding)) {
        item->fifo.token[0] = '\0'; /* no witness: it does not come again */
    } else {
        bool is_shrunk =
            !kept->keeps_size && shrink(kept, &witness->program, &trace, &result, &small);
        if (is_shrunk && result.has_answers) {
            bz_token_format(&result.program, small.seed, result.digest, item->fifo.token,
                            sizeof item->fifo.token);
        }
        item->fifo.lag_ns = bz_trace_lag_ns(is_shrunk && result.has_answers ? &small : &trace);
        if (bz_interrupt_requested == 0) { /* else the next session does it */
            (void)write_trace(kept, is_shrunk ? &small : &trace, witness->finding.seed, "-fifo",
                              item->fifo.path);
        }
    }
    bz_shrink_fini(&result);
    bz_trace_fini(&small);
    bz_trace_fini(&trace);
}

/* In the smallest run's program, with half of the budget, and then in its own. False without
 * memory. */
static bool search_programs(const struct bz_kept_findings *kept, const struct bz_kept_finding *item,
                            struct bz_witness *witness) {
    struct bz_budget budget = bz_search_limits_begin(&kept->limits);
    uint64_t steps = bz_budget_steps(&budget, &item->program);
    bool is_ok = true;
    *witness = (struct bz_witness){.is_found = false};
    if (item->is_shrunk) {
        budget.steps = (steps + 1) / 2;
        is_ok = bz_witness_search(&item->small_program, &item->failure, &budget, witness);
        steps -= witness->steps < steps ? witness->steps : steps - 1;
    }
    budget.steps = steps;
    return is_ok && (witness->is_found ||
                     bz_witness_search(&item->program, &item->failure, &budget, witness));
}

void bz_findings_search_witness(struct bz_kept_findings *kept, uint32_t place) {
    static struct bz_witness witness;
    struct bz_kept_finding *item = &kept->items[place];
    for (uint32_t index = 0; index < place; index++) {
        const struct bz_kept_finding *like = &kept->items[index];
        if (bz_failures_are_alike(&like->failure, &item->failure)) {
            item->fifo = like->fifo;
            return;
        }
    }
    bool is_ok = search_programs(kept, item, &witness);
    bool is_time_over = bz_time_limit_end();
    if (!is_ok) {
        (void)bz_findings_report(kept, BZ_TROUBLE_LACK, "%s", witness.lack);
        return;
    }
    item->fifo.is_searched = witness.is_searched && bz_interrupt_requested == 0;
    item->fifo.runs = witness.runs;
    if (is_time_over) {
        snprintf(item->fifo.end, sizeof item->fifo.end, "the time was over (--shrink-time)");
    } else if (witness.is_cut) {
        snprintf(item->fifo.end, sizeof item->fifo.end,
                 "the budget of %" PRIu64 " steps was spent (--shrink-steps)",
                 bz_budget_steps(&(struct bz_budget){.steps = kept->limits.steps}, &item->program));
    }
    if (witness.is_found) {
        keep_witness(kept, item, &witness);
    }
}

void bz_findings_finish(struct bz_kept_findings *kept, const struct bz_campaign_result *result,
                        bool merges) {
    for (uint32_t index = 0; index < result->finding_count; index++) {
        kept->items[index].count = result->findings[index].count;
        if (!kept->keeps_size) {
            bz_findings_shrink(kept, index);
        }
    }
    if (merges) {
        merge(kept);
    }
    for (uint32_t index = 0; index < kept->count; index++) {
        bz_findings_search_witness(kept, index);
    }
}

void bz_findings_keep_cut(struct bz_kept_finding *cut, const struct bz_program *program,
                          uint64_t seed) {
    struct bz_replay_report report;
    *cut = (struct bz_kept_finding){.count = 0};
    bz_trace_init(&cut->trace);
    bz_trace_init(&cut->small);
    if (bz_record(program, seed, &cut->trace, &report) && report.result == BZ_REPLAY_MATCHED &&
        strcmp(cut->trace.verdict.result, "cut") == 0) {
        bz_token_format(program, seed, cut->trace.digest, cut->token, sizeof cut->token);
    }
}
