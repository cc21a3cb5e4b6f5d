#include "sim/run/campaign.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/choice/pcg.h"
#include "sim/run/determinism.h"
#include "sim/run/sizes.h"
#include "sim/run/tally.h"

/* A chunk has about as many steps, and at most so many runs. Its size changes no result. */
#define CHUNK_STEPS 20000u
#define CHUNK_RUNS_FIRST 16u
#define CHUNK_RUNS_MAX 512u
#define CHUNK_DRAWS_MAX (CHUNK_RUNS_MAX / BZ_SIZES_SEEDS + 2)
#define SLOTS_PER_WORKER 3u
/* A worker that was told to stop ends at its next look, or is killed. */
#define STOP_LOOKS_MAX 8u
/* So many kills that nobody explains: something outside goes on with it. */
#define KILLS_MAX 16u
#define STOP_BYTES 64u /* of the flag, which shares no cache line with the workers */

/* A chunk that is cut ends before its last run; the rest is given once it is merged. */
enum slot_state { SLOT_FREE, SLOT_GIVEN, SLOT_CUT, SLOT_DONE };

/* The result of one chunk of runs; merged in order of their seeds. */
struct slot {
    enum slot_state state; /* written by the worker when it is done, else by the campaign */
    bool is_last;          /* ended early: by a violation or by the stop flag */
    bool is_cut;           /* by a new finding, or by a run that ended the process */
    bool is_unfinished;    /* the sums have a part of a run that does not count */
    uint64_t first;        /* index of its first run */
    uint64_t count;
    uint32_t known_count; /* findings of the campaign when the chunk was given */
    struct bz_violation known[BZ_FINDINGS_MAX];
    struct bz_profile profiles[CHUNK_DRAWS_MAX]; /* of its draws (sizes.h) */
    struct bz_campaign_result part;
    uint64_t hashes[CHUNK_RUNS_MAX];
    struct bz_run_mark marks[CHUNK_RUNS_MAX];
};

struct campaign;

/* A child process that runs chunks; its slots are used in turn. */
struct worker {
    struct bz_child child;
    struct bz_world *world;
    struct campaign *campaign;
    int orders[2]; /* a pipe: a byte for each chunk that is given */
    uint32_t given;
    uint32_t taken;  /* by the child, of those given */
    uint32_t merged; /* of those taken */
    uint64_t killed; /* index of the run in which it was last killed, plus 1; 0: none */
    struct slot slots[SLOTS_PER_WORKER];
};

/* Programs with drawn parameters. Chunks come with the profiles of their draws, so that each is
 * measured once, and code that dies then does so here, contained. */
struct drawing {
    struct bz_program program; /* of the last seed that draws */
    uint64_t number;           /* of its draw, plus 1; 0: none */
    struct bz_world *world;    /* that profiles are measured in; NULL: none was */
    struct bz_measured_draws *measured;
    struct bz_measured_draws own;
};

struct campaign {
    const struct bz_campaign_config *config;
    struct bz_campaign_state state;
    bool is_state_last;        /* it was passed on for the last time */
    struct bz_program program; /* the config's, with its profile; of a worker: not contained */
    uint64_t next_run;         /* the first of the next chunk */
    uint64_t end_run;          /* after the last one */
    struct drawing drawing;
    struct bz_world *repeats; /* where this process repeats runs; NULL: it has repeated none */
    uint64_t chunk_runs;
    /* For several processes; both are shared. */
    uint32_t jobs;
    uint32_t deaths;
    uint32_t kills; /* of workers, in runs that were not killed again */
    volatile sig_atomic_t *stop;
    struct worker *workers;
};

/* --- lack of a resource ----------------------------------------------------------------------- */

/* The first lack stands. `sentence` NULL: "out of `resource` for `purpose`". */
static void note_lack(struct bz_campaign_result *part, const char *sentence, const char *resource,
                      const char *purpose) {
    if (part->lack[0] != '\0') {
        return;
    }
    if (sentence == NULL) {
        bz_lack_text(part->lack, sizeof part->lack, resource, purpose);
    } else {
        snprintf(part->lack, sizeof part->lack, "%.*s", (int)sizeof part->lack - 1, sentence);
    }
}

/* The program was not measured. If it was stopped, nothing is lacking. */
static void note_unmeasured(struct campaign *campaign, const char *lack) {
    if (lack[0] != '\0') {
        note_lack(&campaign->state.result, lack, NULL, NULL);
    }
}

/* --- one chunk -------------------------------------------------------------------------------- */

/* Adds a finding to those of a chunk, unless the campaign will certainly not keep it. The chunk
 * ends if the finding may be new, so that it is merged soon. */
static void note_finding(struct slot *slot, const struct bz_finding *finding) {
    struct bz_campaign_result *part = &slot->part;
    struct bz_finding *same = bz_tally_find(part, &finding->violation);
    if (same != NULL) {
        same->count++;
        return;
    }
    bool is_known = false;
    bool has_known_oracle = false;
    for (uint32_t index = 0; index < slot->known_count; index++) {
        is_known |= bz_tally_is_same(&slot->known[index], &finding->violation);
        has_known_oracle |= strcmp(slot->known[index].oracle, finding->violation.oracle) == 0;
    }
    if (is_known || !has_known_oracle || slot->known_count < BZ_FINDINGS_MAX) {
        part->findings[part->finding_count++] = *finding;
        slot->is_cut |= !is_known || part->finding_count == BZ_FINDINGS_MAX;
    }
}

/* Adds a finding of a chunk to those of the campaign. */
static void keep_finding(struct campaign *campaign, const struct bz_finding *finding) {
    uint32_t place = bz_tally_keep(&campaign->state.result, finding);
    if (place < BZ_FINDINGS_MAX && campaign->config->on_finding != NULL) {
        campaign->config->on_finding(campaign->config->context, place, finding);
    }
}

static void mark_run(struct bz_run_mark *mark, const struct bz_judge *judge) {
    const uint16_t *strikes;
    uint32_t count = bz_judge_strikes(judge, &strikes);
    *mark = (struct bz_run_mark){.seed = bz_judge_seed(judge),
                                 .digest = bz_judge_digest(judge),
                                 .handoffs = bz_judge_handoffs(judge),
                                 .steps = bz_judge_steps(judge),
                                 .has_passed = bz_judge_verdict(judge) == BZ_RUN_PASSED,
                                 .strike_count = (uint8_t)count};
    memcpy(mark->strikes, strikes, count * sizeof *strikes);
}

/* Whether the run has failed, in the way that is wanted. */
static bool has_failed(const struct bz_campaign_config *config, const struct bz_judge *judge) {
    const struct bz_failure *wanted = config->wanted;
    return bz_judge_verdict(judge) == BZ_RUN_VIOLATED &&
           (wanted == NULL || bz_fails_likewise(&wanted->violation, wanted->object, judge));
}

static void add_run(const struct bz_campaign_config *config, struct slot *slot,
                    const struct bz_judge *judge) {
    struct bz_campaign_result *part = &slot->part;
    uint64_t index = slot->first + part->runs;
    uint64_t hash = bz_seed_mix(bz_judge_digest(judge));
    part->digest_first = part->runs == 0 ? bz_judge_digest(judge) : part->digest_first;
    mark_run(&slot->marks[part->runs], judge);
    slot->hashes[part->runs++] = hash;
    part->digest += bz_seed_mix(hash ^ bz_seed_mix(index));
    if (bz_judge_verdict(judge) == BZ_RUN_OUT_OF_STEPS) {
        part->seed_cut = part->out_of_steps++ == 0 ? bz_judge_seed(judge) : part->seed_cut;
    }
    bz_tally_note_cut(part, bz_judge_cut_reason(judge));
    part->waited += bz_judge_has_waited(judge);
    if (has_failed(config, judge)) {
        struct bz_finding finding = {.seed = bz_judge_seed(judge),
                                     .digest = bz_judge_digest(judge),
                                     .count = 1,
                                     .violation = *bz_judge_violation(judge)};
        part->violations++;
        part->by_oracle[bz_oracle_index(finding.violation.oracle)]++;
        note_finding(slot, &finding);
    }
}

static bool should_stop(const struct campaign *campaign) {
    return campaign->config->stop != NULL &&
           __atomic_load_n(campaign->config->stop, __ATOMIC_RELAXED) != 0;
}

static bool is_drawn(const struct campaign *campaign, uint64_t seed) {
    return campaign->config->draws_sizes && bz_sizes_are_drawn(&campaign->program, seed);
}

/* Where the chunk has the profile of the seed's draw. */
static struct bz_profile *profile_of(struct slot *slot, uint64_t seed) {
    return &slot->profiles[seed / BZ_SIZES_SEEDS % CHUNK_DRAWS_MAX];
}

/* Makes the drawn program that of the seed. */
static void draw(struct drawing *drawing, const struct bz_program *program, uint64_t seed) {
    uint64_t number = bz_sizes_number(seed) + 1;
    if (drawing->number != number) {
        drawing->number = number;
        bz_sizes_draw(program, seed, &drawing->program);
    }
}

/* The program of a seed, in a world that goes on with it. */
static const struct bz_program *enter(struct campaign *campaign, struct slot *slot,
                                      struct bz_world *world, uint64_t seed) {
    const struct bz_program *program = &campaign->program;
    if (is_drawn(campaign, seed)) {
        draw(&campaign->drawing, program, seed);
        campaign->drawing.program.profile = *profile_of(slot, seed);
        program = &campaign->drawing.program;
    }
    if (campaign->config->draws_sizes) {
        bz_program_enter(program, world);
    }
    return program;
}

/* Runs what is left of the chunk. */
static void run_chunk(struct campaign *campaign, struct bz_world *world, struct slot *slot) {
    const struct bz_campaign_config *config = campaign->config;
    *bz_judge_stats(world->judge) = (struct bz_run_stats){0};
    bz_judge_watch_stop(world->judge, config->stop);
    while (slot->part.runs < slot->count && !slot->is_last && !slot->is_cut) {
        uint64_t index = slot->first + slot->part.runs;
        uint64_t seed = config->seed_first + index;
        if (should_stop(campaign)) {
            slot->is_last = true;
            break;
        }
        const struct bz_program *program = enter(campaign, slot, world, seed);
        enum bz_run_end end = bz_program_run(program, world, seed);
        if (end == BZ_RUN_NO_RESOURCE) {
            note_lack(&slot->part, bz_judge_error(world->judge), NULL, NULL);
        }
        /* a run without an end counts only its steps */
        if (end == BZ_RUN_GIVEN_UP || end == BZ_RUN_NO_RESOURCE) {
            slot->is_last = true;
            slot->is_unfinished = true;
            break;
        }
        bool is_due = bz_determinism_is_due(index) && !bz_program_is_recording(&campaign->program);
        if (config->repeats_all || is_due) {
            bz_determinism_judge(program, world, &campaign->repeats, index, config->stop);
            if (bz_judge_verdict(world->judge) == BZ_RUN_NO_RESOURCE) {
                note_lack(&slot->part, bz_judge_error(world->judge), NULL, NULL);
                slot->is_last = true;
                break;
            }
        }
        add_run(config, slot, world->judge);
        slot->is_last =
            slot->part.lack[0] != '\0' || (!config->keep_going && slot->part.violations > 0);
    }
    bz_tally_add_stats(&slot->part.stats, bz_judge_stats(world->judge));
}

static bool is_rest_left(const struct slot *slot) {
    return slot->is_cut && !slot->is_last && slot->part.runs < slot->count;
}

static void begin_chunk(const struct campaign *campaign, struct slot *slot, uint64_t first,
                        uint64_t count) {
    const struct bz_campaign_result *result = &campaign->state.result;
    slot->is_last = false;
    slot->is_cut = false;
    slot->is_unfinished = false;
    slot->first = first;
    slot->count = count;
    slot->known_count = result->finding_count;
    for (uint32_t index = 0; index < result->finding_count; index++) {
        slot->known[index] = result->findings[index].violation;
    }
    memset(&slot->part, 0, offsetof(struct bz_campaign_result, findings));
}

/* Measures the profile of a seed's draw, unless it is known. False after a note. */
static bool measure_draw(struct campaign *campaign, struct slot *slot, uint64_t seed) {
    struct drawing *drawing = &campaign->drawing;
    uint64_t number = bz_sizes_number(seed) + 1;
    uint64_t *measured = &drawing->measured->items[number % BZ_SIZES_DRAWS].number;
    struct bz_profile *profile = &drawing->measured->items[number % BZ_SIZES_DRAWS].profile;
    if (*measured != number) {
        char lack[BZ_LACK_BYTES];
        draw(drawing, &campaign->program, seed);
        if (!bz_program_measure_in(&drawing->program, &drawing->world, campaign->config->stop,
                                   lack)) {
            note_unmeasured(campaign, lack);
            return false;
        }
        *measured = number;
        *profile = drawing->program.profile;
    }
    *profile_of(slot, seed) = *profile;
    return true;
}

/* The profiles of its draws. False after a note, or if it was stopped. */
static bool measure_draws(struct campaign *campaign, struct slot *slot) {
    uint64_t seed = campaign->config->seed_first + slot->first;
    bool is_ok = true;
    for (uint64_t left = slot->count; is_ok && left > 0; left--, seed++) {
        is_ok = !is_drawn(campaign, seed) || measure_draw(campaign, slot, seed);
    }
    return is_ok;
}

/* Makes the slot the next chunk. One ends where a campaign of cut runs does, or where seeds wrap.
 * False after a note. */
static bool give(struct campaign *campaign, struct slot *slot) {
    uint64_t cut_max = campaign->config->cut_runs_max;
    uint64_t end =
        campaign->next_run < cut_max && cut_max < campaign->end_run ? cut_max : campaign->end_run;
    uint64_t left = end - campaign->next_run;
    uint64_t to_wrap = -(campaign->config->seed_first + campaign->next_run) - 1;
    left = left - 1 < to_wrap ? left : to_wrap + 1;
    begin_chunk(campaign, slot, campaign->next_run,
                left < campaign->chunk_runs ? left : campaign->chunk_runs);
    campaign->next_run += slot->count;
    return measure_draws(campaign, slot);
}

/* --- merging, in order ------------------------------------------------------------------------ */

/* What follows from the sums. */
static void sum_up(struct campaign *campaign) {
    const struct bz_campaign_result *result = &campaign->state.result;
    bz_tally_sum_up(&campaign->state);
    if (result->stats.steps > 0) {
        uint64_t fitting = CHUNK_STEPS * result->runs / result->stats.steps;
        campaign->chunk_runs = fitting < 1                ? 1
                               : fitting < CHUNK_RUNS_MAX ? fitting
                                                          : CHUNK_RUNS_MAX;
    }
}

static void pass_state_on(struct campaign *campaign, bool is_last) {
    if (campaign->config->on_state != NULL && !campaign->is_state_last) {
        campaign->is_state_last = is_last;
        campaign->config->on_state(campaign->config->context, &campaign->state, is_last);
    }
}

/* Adds a chunk to the result. False if the campaign ends here. */
static bool merge(struct campaign *campaign, const struct slot *slot) {
    struct bz_campaign_result *result = &campaign->state.result;
    const struct bz_campaign_result *part = &slot->part;
    if (slot->is_unfinished) { /* nobody can go on from what follows */
        pass_state_on(campaign, true);
    }
    bz_tally_add(result, part);
    if (part->lack[0] != '\0') {
        note_lack(result, part->lack, NULL, NULL);
    }
    bool has_marks = campaign->config->on_run != NULL && !campaign->is_state_last;
    for (uint64_t index = 0; has_marks && index < part->runs; index++) {
        campaign->config->on_run(campaign->config->context, &slot->marks[index]);
    }
    for (uint64_t index = 0; index < part->runs; index++) {
        bz_distinct_add(&campaign->state.distinct, slot->hashes[index]);
        bz_distinct_add(&campaign->state.handoffs, slot->marks[index].handoffs);
    }
    for (uint32_t index = 0; index < part->finding_count; index++) {
        keep_finding(campaign, &part->findings[index]);
    }
    sum_up(campaign);
    pass_state_on(campaign, slot->is_last);
    result->is_cut_off = part->runs > 0 && result->out_of_steps == result->runs &&
                         result->runs == campaign->config->cut_runs_max;
    return !slot->is_last && !result->is_cut_off &&
           (campaign->config->poll == NULL ||
            campaign->config->poll(campaign->config->context, result));
}

/* --- in this process -------------------------------------------------------------------------- */

static void run_alone(struct campaign *campaign) {
    struct slot *slot = malloc(sizeof *slot);
    struct bz_world *world = bz_program_new_world(&campaign->program);
    bool goes_on = slot != NULL && world != NULL;
    if (!goes_on) {
        note_lack(&campaign->state.result, NULL, NULL, "a world to run in");
    }
    while (goes_on && campaign->next_run < campaign->end_run) {
        goes_on = give(campaign, slot);
        if (!goes_on) {
            break;
        }
        run_chunk(campaign, world, slot);
        goes_on = merge(campaign, slot);
        campaign->next_run = slot->first + slot->part.runs;
    }
    bz_world_destroy(world);
    bz_world_destroy(campaign->repeats);
    free(slot);
}

/* --- in child processes ----------------------------------------------------------------------- */

static struct slot *slot_of(struct worker *worker, uint32_t number) {
    return &worker->slots[number % SLOTS_PER_WORKER];
}

static bool has_more(const struct worker *worker) {
    return __atomic_load_n(&worker->given, __ATOMIC_ACQUIRE) != worker->taken;
}

static enum slot_state state_of(const struct slot *slot) {
    return __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE);
}

/* Whether its next chunk may run: it is there, and does not wait to be merged. */
static bool may_run(struct worker *worker) {
    return has_more(worker) && state_of(slot_of(worker, worker->taken)) == SLOT_GIVEN;
}

static void finish(struct worker *worker) {
    struct slot *slot = slot_of(worker, worker->taken);
    bool is_rest = is_rest_left(slot);
    worker->taken += !is_rest;
    __atomic_store_n(&slot->state, is_rest ? SLOT_CUT : SLOT_DONE, __ATOMIC_RELEASE);
}

/* The life of a child. The campaign is a copy of its own; workers and stop flag are shared. */
static void work(void *context) {
    struct worker *worker = context;
    struct campaign *campaign = worker->campaign;
    struct bz_campaign_config config = *campaign->config;
    char byte;
    config.stop = campaign->stop;
    campaign->config = &config;
    campaign->program.contain.is_on = false;
    campaign->drawing.number = 0; /* its program is contained */
    while (!should_stop(campaign)) {
        if (may_run(worker)) {
            run_chunk(campaign, worker->world, slot_of(worker, worker->taken));
            finish(worker);
            bz_child_tell();
        } else {
            (void)!read(worker->orders[0], &byte, 1); /* waits */
        }
    }
}

static bool start_worker(struct campaign *campaign, struct worker *worker) {
    bz_world_destroy(worker->world); /* what died may have left it in any state */
    worker->world = bz_program_new_world(&campaign->program);
    if (worker->world == NULL) {
        note_lack(&campaign->state.result, NULL, NULL, "a world to run in");
        return false;
    }
    if (!bz_child_start(&worker->child, &campaign->program.contain, worker->world, work, worker)) {
        note_lack(&campaign->state.result, NULL, "processes", "the workers of a campaign");
        return false;
    }
    return true;
}

/* The run that killed the worker is a finding of its chunk. */
static void bury(struct campaign *campaign, struct worker *worker, const struct bz_death *death) {
    struct slot *slot = slot_of(worker, worker->taken);
    struct bz_judge *judge = worker->world->judge;
    bz_judge_died(judge, death->oracle, death->how);
    bz_tally_add_stats(&slot->part.stats, bz_judge_stats(judge));
    add_run(campaign->config, slot, judge);
    slot->is_last = (!campaign->config->keep_going && slot->part.violations > 0) ||
                    ++campaign->deaths == campaign->config->deaths_max;
    slot->is_cut = true; /* the next one may take its time to die, too */
    finish(worker);
}

/* A worker was killed, by its run or from outside: its chunk begins again. False: by the run. */
static bool begin_again(struct campaign *campaign, struct worker *worker) {
    struct slot *slot = slot_of(worker, worker->taken);
    uint64_t run = slot->first + slot->part.runs + 1;
    if (worker->killed == run) {
        campaign->kills--;
        return false;
    }
    worker->killed = run;
    campaign->kills++;
    begin_chunk(campaign, slot, slot->first, slot->count);
    return true;
}

/* Buries a worker that died, and starts one if there is more to run. False after a note. */
static bool look_after(struct campaign *campaign, struct worker *worker) {
    struct bz_death death;
    worker->child.may_sleep = !may_run(worker); /* it waits for orders */
    enum bz_child_state state =
        worker->child.pid == 0 ? BZ_CHILD_RUNS : bz_child_look(&worker->child, &death);
    if (state == BZ_CHILD_LACKS) {
        note_lack(&campaign->state.result, death.how, NULL, NULL);
        return false;
    }
    bool is_killed = state == BZ_CHILD_DIED && death.is_killed;
    if (state != BZ_CHILD_RUNS && may_run(worker) &&
        !(is_killed && begin_again(campaign, worker))) {
        bury(campaign, worker, &death);
    }
    if (campaign->kills > KILLS_MAX) {
        note_lack(&campaign->state.result, BZ_KILLED_TEXT, NULL, NULL);
        return false;
    }
    return worker->child.pid != 0 || !has_more(worker) || start_worker(campaign, worker);
}

/* Gives chunks to all workers that have a free slot, one each at a time. `line` lists the workers
 * of the chunks that are not merged yet, in order. False after a note. */
static bool give_chunks(struct campaign *campaign, struct worker **line, uint32_t *line_end,
                        uint32_t line_begin) {
    uint32_t places = campaign->jobs * SLOTS_PER_WORKER;
    /* What fails at once, and takes its time to die, is not measured far ahead. */
    uint32_t most = campaign->state.result.runs == 0 ? campaign->jobs : places;
    for (uint32_t index = 0; index < most && *line_end - line_begin < most; index++) {
        struct worker *worker = &campaign->workers[index % campaign->jobs];
        struct slot *slot = slot_of(worker, worker->given);
        if (slot->state == SLOT_FREE && campaign->next_run < campaign->end_run) {
            if (!give(campaign, slot)) {
                return false;
            }
            slot->state = SLOT_GIVEN;
            line[(*line_end)++ % places] = worker;
            __atomic_store_n(&worker->given, worker->given + 1, __ATOMIC_RELEASE);
            (void)!write(worker->orders[1], "", 1); /* full: it has bytes to read */
        }
    }
    return true;
}

/* Merges the chunks that are done, from the first. False: the campaign ends here. */
static bool merge_done(struct campaign *campaign, struct worker **line, uint32_t *line_begin,
                       uint32_t line_end) {
    uint32_t places = campaign->jobs * SLOTS_PER_WORKER;
    while (*line_begin != line_end) {
        struct worker *worker = line[*line_begin % places];
        struct slot *slot = slot_of(worker, worker->merged);
        enum slot_state state = state_of(slot);
        if (state == SLOT_GIVEN) {
            return true;
        }
        if (!merge(campaign, slot)) {
            return false;
        }
        if (state == SLOT_CUT) { /* stays at its place of the line */
            begin_chunk(campaign, slot, slot->first + slot->part.runs,
                        slot->count - slot->part.runs);
            __atomic_store_n(&slot->state, SLOT_GIVEN, __ATOMIC_RELEASE);
            (void)!write(worker->orders[1], "", 1);
        } else {
            (*line_begin)++;
            worker->merged++;
            slot->state = SLOT_FREE;
        }
    }
    return true;
}

/* Waits for the workers, but not for long: one may hang. Then their unfinished chunks are done. */
static void stop_workers(struct campaign *campaign) {
    __atomic_store_n(campaign->stop, 1, __ATOMIC_RELAXED);
    for (uint32_t index = 0; index < campaign->jobs; index++) {
        struct worker *worker = &campaign->workers[index];
        struct bz_death death;
        uint32_t looks = 0;
        (void)!write(worker->orders[1], "", 1);
        while (worker->child.pid != 0 && bz_child_look(&worker->child, &death) == BZ_CHILD_RUNS) {
            struct bz_child *const child[] = {&worker->child};
            if (looks++ == STOP_LOOKS_MAX) {
                bz_child_kill(&worker->child);
                if (has_more(worker)) {
                    bz_tally_add_stats(&slot_of(worker, worker->taken)->part.stats,
                                       bz_judge_stats(worker->world->judge));
                }
            } else {
                bz_child_wait(child, 1);
            }
        }
        while (has_more(worker)) {
            struct slot *slot = slot_of(worker, worker->taken);
            slot->is_unfinished = state_of(slot) == SLOT_GIVEN;
            slot->is_last = true;
            finish(worker);
        }
    }
}

static void run_in_children(struct campaign *campaign) {
    struct worker *line[BZ_JOBS_MAX * SLOTS_PER_WORKER];
    struct bz_child *children[BZ_JOBS_MAX];
    uint32_t line_begin = 0;
    uint32_t line_end = 0;
    bool is_ok = true;
    bool goes_on = true;
    while (is_ok && goes_on && !should_stop(campaign)) {
        size_t alive = 0;
        is_ok = give_chunks(campaign, line, &line_end, line_begin);
        if (!is_ok || line_begin == line_end) {
            break;
        }
        for (uint32_t index = 0; is_ok && index < campaign->jobs; index++) {
            is_ok = look_after(campaign, &campaign->workers[index]);
            if (campaign->workers[index].child.pid != 0) {
                children[alive++] = &campaign->workers[index].child;
            }
        }
        uint32_t merged = line_begin;
        goes_on = is_ok && merge_done(campaign, line, &line_begin, line_end);
        if (goes_on && merged == line_begin) {
            bz_child_wait(children, alive);
        }
    }
    stop_workers(campaign);
    if (is_ok && goes_on) { /* stopped from outside: what is complete counts */
        (void)merge_done(campaign, line, &line_begin, line_end);
    }
}

static void run_together(struct campaign *campaign) {
    size_t bytes = STOP_BYTES + campaign->jobs * sizeof *campaign->workers;
    void *shared = bz_shared_alloc(bytes);
    uint32_t opened = 0;
    if (shared == NULL) {
        note_lack(&campaign->state.result, NULL, NULL, "the workers of a campaign");
        return;
    }
    campaign->stop = shared;
    campaign->workers = (struct worker *)(void *)((char *)shared + STOP_BYTES);
    bool is_ok = true;
    for (; is_ok && opened < campaign->jobs; opened += is_ok) {
        campaign->workers[opened].campaign = campaign;
        is_ok = pipe(campaign->workers[opened].orders) == 0 &&
                fcntl(campaign->workers[opened].orders[1], F_SETFL, O_NONBLOCK) == 0;
    }
    if (is_ok) {
        run_in_children(campaign);
    } else {
        note_lack(&campaign->state.result, NULL, "file descriptors", "the workers of a campaign");
    }
    for (uint32_t index = 0; index < opened; index++) {
        close(campaign->workers[index].orders[0]);
        close(campaign->workers[index].orders[1]);
        bz_world_destroy(campaign->workers[index].world);
    }
    bz_shared_free(shared, bytes);
}

/* --- all of it -------------------------------------------------------------------------------- */

void bz_campaign_begin(struct bz_campaign_state *state) {
    memset(state, 0, sizeof *state);
    bz_distinct_init(&state->distinct, BZ_DISTINCT_KEPT);
    bz_distinct_init(&state->handoffs, BZ_DISTINCT_KEPT);
}

bool bz_campaign_run(const struct bz_campaign_config *config, struct bz_campaign_result *result) {
    struct campaign *campaign = calloc(1, sizeof *campaign);
    if (campaign == NULL) {
        *result = (struct bz_campaign_result){.runs = 0};
        note_lack(result, NULL, NULL, "a campaign");
        return false;
    }
    campaign->config = config;
    if (config->from != NULL) {
        campaign->state = *config->from;
    } else {
        bz_campaign_begin(&campaign->state);
    }
    campaign->next_run = config->first_run + campaign->state.result.runs;
    campaign->end_run = config->first_run + config->runs;
    campaign->program = *config->program;
    campaign->chunk_runs = CHUNK_RUNS_FIRST;
    campaign->drawing.measured = config->draws != NULL ? config->draws : &campaign->drawing.own;
    campaign->jobs = config->jobs == 0 ? 1 : config->jobs;
    campaign->jobs = campaign->jobs > BZ_JOBS_MAX ? BZ_JOBS_MAX : campaign->jobs;
    sum_up(campaign);
    char lack[BZ_LACK_BYTES];
    if (!bz_program_measure_or(&campaign->program, lack)) {
        note_unmeasured(campaign, lack);
    } else if (campaign->jobs == 1 && !campaign->program.contain.is_on) {
        run_alone(campaign);
    } else {
        run_together(campaign);
    }
    bz_world_destroy(campaign->drawing.world);
    pass_state_on(campaign, true);
    *result = campaign->state.result;
    bool is_stopped_by_finding = result->violations > 0 && !config->keep_going;
    result->is_cut_off = result->is_cut_off && result->runs < config->runs;
    result->is_interrupted =
        result->runs < config->runs && !is_stopped_by_finding && !result->is_cut_off;
    free(campaign);
    return result->lack[0] == '\0';
}
