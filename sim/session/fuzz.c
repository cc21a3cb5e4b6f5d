#include "sim/session/fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/campaign/totals.h"
#include "sim/session/stop.h"
#include "traces/lack.h"
#include "traces/text.h"

#define SLICE_STEPS 2000000u
#define SLICE_RUNS_LEAST 50u /* also of the first slice of an arm */
#define SLICE_RUNS_MOST 100000u
#define SLICE_DEATHS_MAX 4u /* runs that end their process: a hang takes a second or more */
#define DISTINCT_KEPT 4096u /* of an arm; the error of an estimate is about 2 % */
#define MANY_CANCELS 8u
#define SECOND_NS UINT64_C(1000000000)

#define REFUSE(fuzz, ...) bz_findings_report(&(fuzz)->kept, BZ_TROUBLE_FILE, __VA_ARGS__)

static void save(const struct bz_fuzz *fuzz, struct bz_fuzz_arm *arm,
                 const struct bz_campaign_state *state, bool is_last) {
    bz_checkpoint_save(&arm->file, &arm->job, state, is_last, fuzz->kept.on_trouble,
                       fuzz->kept.context);
}

/* --- targets and arms ------------------------------------------------------------------------- */

struct bz_fuzz_target *bz_fuzz_target_of(struct bz_fuzz *fuzz, const struct bz_program *program) {
    for (uint32_t index = 0; index < fuzz->target_count; index++) {
        const struct bz_program *other = &fuzz->targets[index]->program;
        if (other->scenario == program->scenario && other->variant == program->variant) {
            return fuzz->targets[index];
        }
    }
    if (fuzz->target_count == BZ_FUZZ_TARGETS_MAX) {
        (void)REFUSE(fuzz, "more than %u targets (pairs of a scenario and a variant)",
                     BZ_FUZZ_TARGETS_MAX);
        return NULL;
    }
    struct bz_fuzz_target *target = bz_lack_check(calloc(1, sizeof *target), "a target");
    target->program = *program;
    fuzz->targets[fuzz->target_count++] = target;
    return target;
}

/* With the next number in the folder. `is_there`: whether its file is. NULL after a message. */
static struct bz_fuzz_arm *add_arm(struct bz_fuzz *fuzz, bool *is_there) {
    if (fuzz->arm_count == BZ_FUZZ_ARMS_MAX) {
        (void)REFUSE(fuzz, "more than %u arms", BZ_FUZZ_ARMS_MAX);
        return NULL;
    }
    struct bz_fuzz_arm *arm = bz_lack_check(calloc(1, sizeof *arm), "an arm");
    fuzz->arms[fuzz->arm_count++] = arm;
    arm->file.kind = BZ_CHECKPOINT_KIND;
    memcpy(arm->file.folder, fuzz->folders[0], sizeof arm->file.folder);
    *is_there = bz_work_file_set_path(&arm->file, fuzz->arm_count);
    return arm;
}

/* The change that an arm makes to its target's program. */
static const struct kind {
    const struct bz_strategy *strategy; /* NULL: as it is */
    bool is_fifo;
    bool has_no_cancels;
    bool has_many_cancels;
    bool has_default_sizes;
} kinds[] = {{.strategy = NULL},
             {.strategy = &bz_strategy_delay},
             {.strategy = &bz_strategy_urw},
             {.strategy = &bz_strategy_random},
             {.strategy = &bz_strategy_starve},
             {.strategy = &bz_strategy_pct},
             {.strategy = &bz_strategy_swarm},
             {.is_fifo = true},
             {.has_many_cancels = true},
             {.has_no_cancels = true},
             {.has_default_sizes = true}};
#define KIND_COUNT (sizeof kinds / sizeof kinds[0])

/* True if this kind changes something, and nothing that is fixed. */
static bool applies(const struct kind *kind, const struct bz_program *program,
                    const struct bz_fuzz_fixed *fixed) {
    return !(kind->strategy != NULL && fixed->strategy) &&
           !(kind->is_fifo && (fixed->order || program->order == BZ_ORDER_FIFO)) &&
           !((kind->has_no_cancels || kind->has_many_cancels) && fixed->cancels) &&
           !(kind->has_default_sizes && (fixed->sizes || program->scenario->sizes == NULL));
}

/* Makes an arm and its checkpoint. False after a message. */
static bool make_arm(struct bz_fuzz *fuzz, struct bz_fuzz_target *target, const struct kind *kind,
                     const struct bz_fuzz_fixed *fixed, const struct bz_campaign_state *none) {
    bool is_there;
    struct bz_fuzz_arm *arm = add_arm(fuzz, &is_there);
    if (arm == NULL) {
        return false;
    }
    struct bz_job *job = &arm->job;
    struct bz_program *program = &job->program;
    arm->target = target;
    *job = (struct bz_job){.program = target->program, .keep_going = true};
    job->draws_sizes =
        !kind->has_default_sizes && !fixed->has_default_sizes && program->scenario->sizes != NULL;
    program->strategy = kind->strategy != NULL ? kind->strategy : program->strategy;
    program->order = kind->is_fifo ? BZ_ORDER_FIFO : program->order;
    program->cancel_windows = kind->has_no_cancels ? 0 : program->cancel_windows;
    program->cancels_max = kind->has_many_cancels ? MANY_CANCELS : program->cancels_max;
    bz_work_file_begin(&arm->file, 0);
    save(fuzz, arm, none, true);
    return !arm->file.has_failed;
}

/* --- the folder ------------------------------------------------------------------------------- */

/* Two campaigns must not write into one folder. The lock lasts as long as the process. */
static bool open_folder(struct bz_fuzz *fuzz, const char *path, const char *option) {
    static const char *const parts[] = {"", "/findings", "/corpus"};
    char error[BZ_ERROR_BYTES];
    for (size_t part = 0; part < 3; part++) {
        snprintf(fuzz->folders[part], PATH_MAX, "%.*s%s", PATH_MAX - 300, path, parts[part]);
        if (!bz_folder_prepare(fuzz->folders[part], error, sizeof error)) {
            return REFUSE(fuzz, "%s", error);
        }
    }
    fuzz->kept.folder = fuzz->folders[1];
    int lock = open(fuzz->folders[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return lock < 0 || flock(lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK ||
           REFUSE(fuzz, "--%s: another process runs the campaign of '%s'", option, path);
}

/* True if the folder has a campaign, also one of `run`; the path of its first checkpoint. */
static bool has_campaign(const char *folder, struct bz_work_file *first) {
    first->kind = BZ_CHECKPOINT_KIND;
    snprintf(first->folder, sizeof first->folder, "%.*s", PATH_MAX - 300, folder);
    return bz_work_file_set_path(first, 1);
}

bool bz_fuzz_is_of(const char *folder) {
    static const char *const parts[] = {"findings", "corpus"};
    char path[PATH_MAX];
    struct stat status;
    bool is_there = true;
    for (size_t part = 0; is_there && part < 2; part++) {
        snprintf(path, sizeof path, "%.*s/%s", PATH_MAX - 300, folder, parts[part]);
        is_there = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    }
    return is_there;
}

bool bz_fuzz_create(struct bz_fuzz *fuzz, const char *folder, const struct bz_fuzz_fixed *fixed) {
    struct bz_work_file first;
    bool is_ok = open_folder(fuzz, folder, "out");
    if (is_ok && has_campaign(folder, &first)) {
        is_ok = REFUSE(fuzz,
                       "--out: '%s' already has a campaign: continue it with --resume, or choose "
                       "another folder",
                       folder);
    }
    struct bz_campaign_state *none = bz_lack_check(calloc(1, sizeof *none), "a campaign");
    bz_campaign_begin(none);
    for (size_t kind = 0; kind < KIND_COUNT; kind++) {
        for (uint32_t target = 0; is_ok && target < fuzz->target_count; target++) {
            if (applies(&kinds[kind], &fuzz->targets[target]->program, fixed)) {
                is_ok = make_arm(fuzz, fuzz->targets[target], &kinds[kind], fixed, none);
            }
        }
    }
    free(none);
    return is_ok;
}

/* False after a message. The first run of an arm shows whether the code has changed. */
static bool read_arm(struct bz_fuzz *fuzz, struct bz_fuzz_arm *arm, struct bz_campaign_state *state,
                     bool *is_checked) {
    char error[BZ_ERROR_BYTES];
    bool is_ok =
        bz_checkpoint_load(&arm->job, state, fuzz->catalog, &arm->file, error, sizeof error);
    if (is_ok && !*is_checked && state->result.runs > 0) {
        *is_checked = true;
        is_ok = bz_checkpoint_check_code(&arm->job, state, arm->file.path, error, sizeof error);
    }
    if (!is_ok) {
        return REFUSE(fuzz, "%s", error);
    }
    arm->target = bz_fuzz_target_of(fuzz, &arm->job.program);
    bz_tally_sum_up(state);
    arm->result = state->result;
    for (size_t word = 0; arm->target != NULL && word < BZ_SITUATIONS / 64; word++) {
        arm->target->situations[word] |= state->situations[word];
    }
    return arm->target != NULL;
}

bool bz_fuzz_open(struct bz_fuzz *fuzz, const char *folder) {
    struct bz_work_file first;
    if (!has_campaign(folder, &first)) {
        return REFUSE(fuzz, "--resume: there is no '%s': 'fuzz --out' writes one", first.path);
    }
    if (!bz_fuzz_is_of(folder)) {
        return REFUSE(fuzz, "--resume: '%s' is of another command: use 'run --resume %s'",
                      first.path, folder);
    }
    struct bz_campaign_state *state = bz_lack_check(calloc(1, sizeof *state), "a campaign");
    bool is_ok = open_folder(fuzz, folder, "resume");
    bool is_checked = false;
    bool is_there = true;
    while (is_ok && is_there) {
        struct bz_fuzz_arm *arm = add_arm(fuzz, &is_there);
        is_ok = arm != NULL && (!is_there || read_arm(fuzz, arm, state, &is_checked));
    }
    if (!is_there) {
        free(fuzz->arms[--fuzz->arm_count]);
    }
    free(state);
    return is_ok;
}

void bz_fuzz_fini(struct bz_fuzz *fuzz) {
    for (uint32_t arm = 0; arm < fuzz->arm_count; arm++) {
        free(fuzz->arms[arm]->draws);
        free(fuzz->arms[arm]);
    }
    for (uint32_t target = 0; target < fuzz->target_count; target++) {
        free(fuzz->targets[target]);
    }
    for (uint32_t index = 0; index < fuzz->finding_count; index++) {
        bz_findings_drop(&fuzz->findings[index].kept);
    }
    free(fuzz->findings);
}

/* --- findings --------------------------------------------------------------------------------- */

/* Records a finding of an arm, unless an arm of the same target has found it. Shrinks it, unless an
 * earlier session did: then `small_path` alone says so. */
static void keep(struct bz_fuzz *fuzz, const struct bz_fuzz_arm *arm,
                 const struct bz_finding *finding) {
    static struct bz_program program;
    struct bz_kept_findings *kept = &fuzz->kept;
    for (uint32_t index = 0; index < fuzz->finding_count; index++) {
        const struct bz_fuzz_finding *other = &fuzz->findings[index];
        if (other->arm->target == arm->target &&
            bz_tally_is_same(&other->kept.failure.violation, &finding->violation)) {
            return;
        }
    }
    bz_job_program(&arm->job, finding->seed, &program);
    bool is_kept = bz_findings_keep(kept, 0, &program, finding);
    fuzz->on_finding(kept->context, kept);
    char *small = kept->items[0].small_path;
    bz_folder_trace_path(program.scenario->name, program.variant->name, finding->seed, "-shrunk",
                         kept->folder, 1, small);
    if (access(small, F_OK) != 0) {
        small[0] = '\0';
        if (is_kept) {
            bz_findings_shrink(kept, 0);
        }
    }
    size_t bytes = (fuzz->finding_count + 1) * sizeof *fuzz->findings;
    fuzz->findings = bz_lack_check(realloc(fuzz->findings, bytes), "the findings");
    fuzz->findings[fuzz->finding_count++] =
        (struct bz_fuzz_finding){.arm = arm, .kept = kept->items[0]}; /* with all that it owns */
    kept->count = 0;
}

/* Those of earlier sessions: first the ones whose trace is there, because another arm may have
 * found the same. */
static void keep_earlier(struct bz_fuzz *fuzz) {
    char path[PATH_MAX];
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t index = 0; index < fuzz->arm_count; index++) {
            const struct bz_fuzz_arm *arm = fuzz->arms[index];
            const struct bz_program *program = &arm->target->program;
            for (uint32_t place = 0; place < arm->result.finding_count; place++) {
                const struct bz_finding *finding = &arm->result.findings[place];
                bz_folder_trace_path(program->scenario->name, program->variant->name, finding->seed,
                                     "", fuzz->folders[1], 1, path);
                if (pass == 1 || access(path, F_OK) == 0) {
                    keep(fuzz, arm, finding);
                }
            }
        }
    }
}

/* Each has the runs of all arms of its target. */
static void count_findings(struct bz_fuzz *fuzz) {
    for (uint32_t index = 0; index < fuzz->finding_count; index++) {
        struct bz_fuzz_finding *finding = &fuzz->findings[index];
        finding->kept.count = 0;
        for (uint32_t arm = 0; arm < fuzz->arm_count; arm++) {
            const struct bz_finding *same =
                bz_tally_find(&fuzz->arms[arm]->result, &finding->kept.failure.violation);
            bool is_counted = same != NULL && fuzz->arms[arm]->target == finding->arm->target;
            finding->kept.count += is_counted ? same->count : 0;
        }
    }
}

/* --- a slice ---------------------------------------------------------------------------------- */

struct bz_campaign_result bz_fuzz_sum(const struct bz_fuzz *fuzz) {
    struct bz_campaign_result sum = {.runs = 0};
    for (uint32_t index = 0; index < fuzz->arm_count; index++) {
        bz_tally_add(&sum, &fuzz->arms[index]->result);
    }
    return sum;
}

bool bz_fuzz_is_done(const struct bz_fuzz *fuzz, uint64_t runs) {
    return (fuzz->runs != 0 && runs >= fuzz->runs) ||
           (fuzz->seconds != 0 && bz_wall_ns() - fuzz->began_ns >= fuzz->seconds * SECOND_NS);
}

static uint64_t deaths_of(const struct bz_campaign_result *result) {
    uint64_t deaths = 0;
    for (uint32_t index = 0; index < bz_oracle_count; index++) {
        deaths += bz_oracle_ends_process(bz_oracles[index].name) ? result->by_oracle[index] : 0;
    }
    return deaths;
}

/* A run that ends its process ends its chunk, too, so this is called right after it, and the end of
 * the slice does not depend on the number of workers. */
static bool poll_slice(void *context, const struct bz_campaign_result *so_far) {
    struct bz_fuzz *fuzz = context;
    uint64_t runs = fuzz->runs_before + so_far->runs - fuzz->arm->result.runs;
    fuzz->on_progress(fuzz->kept.context, runs, fuzz->finding_count);
    fuzz->has_deaths = deaths_of(so_far) >= fuzz->arm->job.deaths + SLICE_DEATHS_MAX;
    return !fuzz->has_deaths && !fuzz->has_failed && bz_interrupt_requested == 0 &&
           !bz_fuzz_is_done(fuzz, runs);
}

static void on_finding(void *context, uint32_t place, const struct bz_finding *finding) {
    struct bz_fuzz *fuzz = context;
    (void)place;
    keep(fuzz, fuzz->arm, finding);
}

/* Writes a run with a new situation into the corpus. */
static void on_run(void *context, const struct bz_run_mark *mark) {
    static struct bz_program program;
    struct bz_fuzz *fuzz = context;
    struct bz_replay_report report;
    struct bz_trace trace;
    char path[PATH_MAX];
    char error[BZ_ERROR_BYTES];
    if (fuzz->has_failed || !bz_tally_note_strikes(fuzz->arm->target->situations, mark)) {
        return;
    }
    bz_job_program(&fuzz->arm->job, mark->seed, &program);
    bz_trace_init(&trace);
    if (bz_record(&program, mark->seed, &trace, &report) && trace.digest == mark->digest &&
        trace.event_count < BZ_TRACE_EVENTS_MAX) {
        fuzz->has_failed = !bz_folder_write_trace(&trace, mark->seed, "", fuzz->folders[2], path,
                                                  error, sizeof error);
        if (fuzz->has_failed) {
            (void)REFUSE(fuzz, "%s", error);
        }
    }
    bz_trace_fini(&trace);
}

static void on_state(void *context, const struct bz_campaign_state *state, bool is_last) {
    struct bz_fuzz *fuzz = context;
    struct bz_job *job = &fuzz->arm->job;
    if (is_last) {
        fuzz->arm->result = state->result;
        if (fuzz->has_deaths || state->result.runs == job->runs) {
            job->slices++;
            job->runs = state->result.runs;
        }
    }
    if (!fuzz->has_failed) {
        save(fuzz, fuzz->arm, state, is_last);
    }
}

/* That of an open slice, or else the first of those that have had the fewest. */
static struct bz_fuzz_arm *next_arm(const struct bz_fuzz *fuzz) {
    struct bz_fuzz_arm *next = fuzz->arms[0];
    for (uint32_t index = 0; index < fuzz->arm_count; index++) {
        struct bz_fuzz_arm *arm = fuzz->arms[index];
        if (arm->result.runs < arm->job.runs) {
            return arm;
        }
        next = arm->job.slices < next->job.slices ? arm : next;
    }
    return next;
}

/* As many runs as have about the steps of a slice. */
static uint64_t slice_runs(const struct bz_campaign_result *result) {
    uint64_t runs = result->runs == 0 ? 0 : SLICE_STEPS / (result->stats.steps / result->runs + 1);
    return runs < SLICE_RUNS_LEAST  ? SLICE_RUNS_LEAST
           : runs > SLICE_RUNS_MOST ? SLICE_RUNS_MOST
                                    : runs;
}

/* Where the arm stands. False after a message. */
static bool read_state(const struct bz_fuzz *fuzz, const struct bz_fuzz_arm *arm,
                       struct bz_campaign_state *state) {
    static struct bz_job job;
    char error[BZ_ERROR_BYTES];
    bz_campaign_begin(state);
    bool is_ok = arm->result.runs == 0 ||
                 bz_checkpoint_load(&job, state, fuzz->catalog, &arm->file, error, sizeof error);
    state->distinct.capacity = DISTINCT_KEPT;
    state->handoffs.capacity = DISTINCT_KEPT;
    return is_ok || REFUSE(fuzz, "%s", error);
}

/* The parts that an arm needs for a slice. */
static void open_slice(struct bz_fuzz *fuzz, struct bz_fuzz_arm *arm) {
    struct bz_job *job = &arm->job;
    if (arm->result.runs == job->runs) {
        job->runs += slice_runs(&arm->result);
        job->deaths = deaths_of(&arm->result);
    }
    if (job->draws_sizes && arm->draws == NULL) {
        arm->draws = bz_lack_check(calloc(1, sizeof *arm->draws), "an arm");
    }
    (void)bz_program_measure(&job->program); /* once; a lack shows in the campaign */
    fuzz->arm = arm;
    fuzz->has_deaths = false;
    bz_work_file_begin(&arm->file, job->spent_ms);
}

/* Runs a slice, or what is left of it. False after a message. */
static bool run_slice(struct bz_fuzz *fuzz, struct bz_fuzz_arm *arm,
                      struct bz_campaign_state *state) {
    static struct bz_campaign_result result;
    uint64_t left = fuzz->runs == 0 ? BZ_RUNS_MAX : fuzz->runs - fuzz->runs_before;
    if (!read_state(fuzz, arm, state)) {
        return false;
    }
    open_slice(fuzz, arm);
    const struct bz_job *job = &arm->job;
    uint64_t wanted = job->runs - arm->result.runs;
    struct bz_campaign_config config = bz_job_campaign(job);
    config.runs = arm->result.runs + (wanted < left ? wanted : left);
    config.jobs = fuzz->jobs;
    config.draws = arm->draws;
    config.stop = &bz_interrupt_requested;
    config.poll = poll_slice;
    config.from = state;
    config.on_finding = on_finding;
    config.on_run = on_run;
    config.on_state = on_state;
    config.context = fuzz;
    bool is_ok = bz_campaign_run(&config, &result);
    if (!is_ok) {
        fuzz->kept.on_trouble(fuzz->kept.context, BZ_TROUBLE_LACK, result.lack);
    }
    return is_ok && !arm->file.has_failed && !fuzz->has_failed;
}

bool bz_fuzz_run(struct bz_fuzz *fuzz) {
    struct bz_campaign_state *state = bz_lack_check(calloc(1, sizeof *state), "a campaign");
    bool is_ok = true;
    fuzz->began_ns = bz_wall_ns();
    fuzz->runs_before = bz_fuzz_sum(fuzz).runs;
    keep_earlier(fuzz);
    while (is_ok && bz_interrupt_requested == 0 && !bz_fuzz_is_done(fuzz, fuzz->runs_before)) {
        is_ok = run_slice(fuzz, next_arm(fuzz), state);
        fuzz->runs_before = bz_fuzz_sum(fuzz).runs;
    }
    count_findings(fuzz);
    free(state);
    return is_ok;
}
