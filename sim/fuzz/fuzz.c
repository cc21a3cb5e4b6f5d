#include "sim/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/fuzz/coverage.h"
#include "sim/session/totals.h"

#define STEPS_GUESSED 100u /* of a run, where nothing is known */
#define RUNS_LEAST 50u
#define RUNS_MOST 100000u
/* A slice ends after so many runs that ended their process: a hang takes a second or more. */
#define DEATHS_MAX 4u

/* One part of a slice: what bz_campaign_run() calls back with. */
struct part {
    struct bz_fuzz *fuzz;
    const struct bz_fuzz_config *config;
    struct bz_fuzz_arm *arm;
    struct bz_fuzz_target *target;
    bool is_stopped;                  /* by the caller */
    bool has_deaths;                  /* enough deaths */
    struct bz_campaign_result result; /* of the runs that count */
};

/* --- what a campaign calls -------------------------------------------------------------------- */

static void add_run(void *context, const struct bz_run_mark *mark) {
    struct part *part = context;
    bz_coverage_add(part->target, part->fuzz->slice.arm, mark, &part->fuzz->slice);
}

static void keep_result(void *context, const struct bz_campaign_state *state, bool is_last) {
    struct part *part = context;
    if (is_last) {
        part->result = state->result;
    }
}

/* A run that ends its process also ends its chunk, so this is called right after it, and the end of
 * the slice does not depend on the number of workers. */
static bool poll(void *context, const struct bz_campaign_result *so_far) {
    struct part *part = context;
    uint64_t deaths = 0;
    for (uint32_t index = 0; index < bz_oracle_count; index++) {
        deaths += bz_oracle_ends_process(bz_oracles[index].name) ? so_far->by_oracle[index] : 0;
    }
    part->has_deaths = deaths >= DEATHS_MAX;
    part->is_stopped = part->config->poll != NULL &&
                       !part->config->poll(part->config->context, part->fuzz->runs + so_far->runs);
    return !part->has_deaths && !part->is_stopped;
}

/* --- counting --------------------------------------------------------------------------------- */

/* NULL: it is new. */
static struct bz_fuzz_finding *find_same(struct bz_fuzz *fuzz, uint32_t target,
                                         const struct bz_violation *violation) {
    for (uint32_t index = 0; index < fuzz->finding_count; index++) {
        if (fuzz->findings[index].target == target &&
            bz_tally_is_same(&fuzz->findings[index].finding.violation, violation)) {
            return &fuzz->findings[index];
        }
    }
    return NULL;
}

static void add_finding(struct part *part, const struct bz_finding *finding) {
    struct bz_fuzz *fuzz = part->fuzz;
    struct bz_fuzz_finding *same = find_same(fuzz, part->arm->target, &finding->violation);
    if (same != NULL) {
        same->finding.count += finding->count;
        return;
    }
    if (fuzz->finding_count == BZ_FUZZ_FINDINGS_MAX ||
        part->target->finding_count == BZ_FUZZ_FINDINGS_OF_TARGET_MAX) {
        part->target->findings_dropped += finding->count;
        return;
    }
    struct bz_fuzz_finding *added = &fuzz->findings[fuzz->finding_count++];
    *added = (struct bz_fuzz_finding){.target = part->arm->target,
                                      .arm = fuzz->slice.arm,
                                      .finding = *finding,
                                      .slice = fuzz->slices + 1,
                                      .runs = fuzz->runs};
    part->target->finding_count++;
    part->arm->findings++;
    fuzz->slice.new_findings++;
    if (part->config->on_finding != NULL) {
        part->config->on_finding(part->config->context, fuzz->finding_count - 1);
    }
}

/* Adds the part to its arm, its target and the whole. */
static void count(struct part *part) {
    const struct bz_campaign_result *result = &part->result;
    struct bz_fuzz *fuzz = part->fuzz;
    struct bz_fuzz_target *target = part->target;
    for (uint32_t index = 0; index < result->finding_count; index++) {
        add_finding(part, &result->findings[index]);
    }
    uint64_t *const sums[][3] = {
        {&part->arm->runs, &target->runs, &fuzz->runs},
        {&part->arm->steps, &target->steps, &fuzz->steps},
        {&part->arm->violations, &target->violations, &fuzz->violations},
        {&part->arm->out_of_steps, &target->out_of_steps, &fuzz->out_of_steps}};
    const uint64_t values[] = {result->runs, result->stats.steps, result->violations,
                               result->out_of_steps};
    for (size_t row = 0; row < sizeof values / sizeof values[0]; row++) {
        for (size_t column = 0; column < 3; column++) {
            *sums[row][column] += values[row];
        }
    }
    for (unsigned op = 0; op < BZ_OP_COUNT; op++) {
        for (unsigned window = 0; window < BZ_WINDOW_COUNT; window++) {
            target->windows[op][window] += result->stats.windows[op][window];
        }
    }
    fuzz->slice.runs_done += result->runs;
}

/* --- slices ----------------------------------------------------------------------------------- */

/* How many runs have about the steps of a slice. An arm that has not run is taken for the others of
 * its target, and a target that has not, for its profile. */
static uint64_t slice_runs(const struct bz_fuzz *fuzz, const struct bz_fuzz_arm *arm) {
    const struct bz_fuzz_target *target = fuzz->targets[arm->target];
    uint64_t mean = arm->runs > 0                    ? arm->steps / arm->runs
                    : target->runs > 0               ? target->steps / target->runs
                    : arm->program.profile.steps > 0 ? arm->program.profile.steps
                                                     : STEPS_GUESSED;
    uint64_t runs = fuzz->slice_steps / (mean + 1);
    return runs < RUNS_LEAST ? RUNS_LEAST : runs > RUNS_MOST ? RUNS_MOST : runs;
}

/* Prepares an arm for its first slice of a session. False after a lack. */
static bool prepare(struct bz_fuzz_arm *arm, char *lack) {
    if (arm->draws_sizes && arm->draws == NULL) {
        arm->draws = calloc(1, sizeof *arm->draws);
        if (arm->draws == NULL) {
            bz_lack_text(lack, BZ_LACK_BYTES, NULL, "an arm");
            return false;
        }
    }
    return bz_program_measure_or(&arm->program, lack) ||
           lack[0] == '\0'; /* stopped: so is the slice */
}

/* False after a lack. */
static bool open_slice(struct bz_fuzz *fuzz, char *lack) {
    uint32_t arm = (uint32_t)(fuzz->slices % fuzz->arm_count);
    if (!prepare(&fuzz->arms[arm], lack)) {
        return false;
    }
    fuzz->slice = (struct bz_fuzz_slice){
        .is_open = true, .arm = arm, .runs_wanted = slice_runs(fuzz, &fuzz->arms[arm])};
    return true;
}

static void close_slice(struct bz_fuzz *fuzz) {
    struct bz_fuzz_arm *arm = &fuzz->arms[fuzz->slice.arm];
    arm->slices++;
    fuzz->slices++;
    arm->new_situations += fuzz->slice.new_situations;
    arm->new_handoffs += fuzz->slice.new_handoffs;
    fuzz->slice.is_open = false;
}

/* Runs the rest of the slice, or a part. False after a lack. */
static bool run_part(struct part *part, char *lack) {
    struct bz_fuzz *fuzz = part->fuzz;
    uint64_t wanted = fuzz->slice.runs_wanted - fuzz->slice.runs_done;
    uint64_t left = part->config->runs_max - fuzz->runs;
    struct bz_campaign_config campaign = {.program = &part->arm->program,
                                          .first_run = part->arm->runs,
                                          .runs = wanted < left ? wanted : left,
                                          .jobs = part->config->jobs,
                                          .keep_going = true,
                                          .draws_sizes = part->arm->draws_sizes,
                                          .draws = part->arm->draws,
                                          .stop = part->config->stop,
                                          .poll = poll,
                                          .on_run = add_run,
                                          .on_state = keep_result,
                                          .context = part};
    static struct bz_campaign_result
        unused; /* it may have the steps of a run that does not count */
    if (!prepare(part->arm, lack)) {
        return false;
    }
    part->is_stopped = false;
    part->has_deaths = false;
    bool is_ok = bz_campaign_run(&campaign, &unused);
    count(part);
    if (!is_ok) {
        snprintf(lack, BZ_LACK_BYTES, "%s", unused.lack);
    }
    return is_ok;
}

bool bz_fuzz_run(struct bz_fuzz *fuzz, const struct bz_fuzz_config *config, char *lack) {
    static struct part part;
    bool is_ok = true;
    bool goes_on = true;
    lack[0] = '\0';
    while (is_ok && goes_on && fuzz->runs < config->runs_max) {
        if (!fuzz->slice.is_open && !open_slice(fuzz, lack)) {
            return false;
        }
        struct bz_fuzz_arm *arm = &fuzz->arms[fuzz->slice.arm];
        part = (struct part){
            .fuzz = fuzz, .config = config, .arm = arm, .target = fuzz->targets[arm->target]};
        is_ok = run_part(&part, lack);
        bool is_done = part.has_deaths || fuzz->slice.runs_done == fuzz->slice.runs_wanted;
        goes_on = is_done && !part.is_stopped && (config->stop == NULL || *config->stop == 0);
        if (is_ok && is_done) {
            close_slice(fuzz);
            goes_on = (config->on_slice == NULL || config->on_slice(config->context)) && goes_on;
        }
    }
    return is_ok;
}

void bz_fuzz_sample(struct bz_fuzz *fuzz, uint64_t spent_ms) {
    const struct bz_fuzz_sample *last =
        fuzz->sample_count == 0 ? NULL : &fuzz->samples[fuzz->sample_count - 1];
    if (last != NULL && spent_ms < last->spent_ms + fuzz->sample_every_ms) {
        return;
    }
    if (fuzz->sample_count == BZ_FUZZ_SAMPLES_MAX) {
        fuzz->sample_count /= 2;
        fuzz->sample_every_ms *= 2;
        for (uint32_t index = 0; index < fuzz->sample_count; index++) {
            fuzz->samples[index] = fuzz->samples[2 * index + 1];
        }
    }
    uint64_t situations = 0;
    for (uint32_t target = 0; target < fuzz->target_count; target++) {
        situations += fuzz->targets[target]->situation_count;
    }
    fuzz->samples[fuzz->sample_count++] = (struct bz_fuzz_sample){.spent_ms = spent_ms,
                                                                  .runs = fuzz->runs,
                                                                  .steps = fuzz->steps,
                                                                  .situations = situations,
                                                                  .findings = fuzz->finding_count};
}
