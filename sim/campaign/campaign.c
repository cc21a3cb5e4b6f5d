#include "sim/campaign/campaign.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim/campaign/chunks.h"
#include "sim/campaign/determinism.h"
#include "sim/campaign/totals.h"
#include "sim/choice/pcg.h"
#include "sim/program/sizes.h"

/* --- lack of a resource ----------------------------------------------------------------------- */

void bz_chunk_lack(struct bz_campaign_result *part, const char *sentence, const char *resource,
                   const char *purpose) {
    if (part->lack[0] != '\0') {
        return;
    }
    if (sentence == NULL) {
        bz_lack_text(part->lack, sizeof part->lack, resource, purpose);
    } else {
        bz_lack_copy(part->lack, sentence);
    }
}

/* The program was not measured. If it was stopped, nothing is lacking. */
static void note_unmeasured(struct bz_campaigning *campaign, const char *lack) {
    if (lack[0] != '\0') {
        bz_chunk_lack(&campaign->state.result, lack, NULL, NULL);
    }
}

/* --- one chunk -------------------------------------------------------------------------------- */

/* Adds a finding to those of a chunk, unless the campaign will certainly not keep it. True: it may
 * be new, so the batch ends, and it is merged soon. */
static bool note_finding(const struct bz_batch *batch, struct bz_product *product,
                         const struct bz_finding *finding) {
    struct bz_campaign_result *part = &product->part;
    struct bz_finding *same = bz_tally_find(part, &finding->violation);
    if (same != NULL) {
        same->count++;
        return false;
    }
    bool is_known = false;
    bool has_known_oracle = false;
    for (uint32_t index = 0; index < batch->known_count; index++) {
        is_known |= bz_tally_is_same(&batch->known[index], &finding->violation);
        has_known_oracle |= strcmp(batch->known[index].oracle, finding->violation.oracle) == 0;
    }
    if (!is_known && has_known_oracle && batch->known_count == BZ_FINDINGS_MAX) {
        return false;
    }
    part->findings[part->finding_count++] = *finding;
    return !is_known || part->finding_count == BZ_FINDINGS_MAX;
}

/* Adds a finding of a chunk to those of the campaign. */
static void keep_finding(struct bz_campaigning *campaign, const struct bz_finding *finding) {
    uint32_t place = bz_tally_keep(&campaign->state.result, finding);
    if (place < BZ_FINDINGS_MAX && campaign->config->on_finding != NULL) {
        campaign->config->on_finding(campaign->config->context, place, finding);
    }
}

static void mark_run(struct bz_run_mark *mark, const struct bz_judge *judge) {
    const uint16_t *strikes;
    uint32_t count = bz_judge_strikes(judge, &strikes);
    count = count < BZ_STRIKES_MAX ? count : BZ_STRIKES_MAX; /* code may have written there */
    *mark = (struct bz_run_mark){.seed = bz_judge_seed(judge),
                                 .digest = bz_judge_digest(judge),
                                 .handoffs = bz_judge_handoffs(judge),
                                 .has_passed = bz_judge_verdict(judge) == BZ_RUN_PASSED,
                                 .strike_count = (uint8_t)count};
    memcpy(mark->strikes, strikes, count * sizeof *strikes);
}

/* True if the run has failed, in the way that is wanted. */
static bool has_failed(const struct bz_campaign_config *config, const struct bz_judge *judge) {
    const struct bz_failure *wanted = config->wanted;
    return bz_judge_verdict(judge) == BZ_RUN_VIOLATED &&
           (wanted == NULL || bz_fails_likewise(&wanted->violation, wanted->object, judge));
}

bool bz_chunk_add_run(const struct bz_campaign_config *config, const struct bz_batch *batch,
                      struct bz_product *product, const struct bz_judge *judge) {
    struct bz_campaign_result *part = &product->part;
    uint64_t index = batch->first + part->runs;
    uint64_t hash = bz_seed_mix(bz_judge_digest(judge));
    part->digest_first = part->runs == 0 ? bz_judge_digest(judge) : part->digest_first;
    mark_run(&product->marks[part->runs++], judge);
    part->digest += bz_seed_mix(hash ^ bz_seed_mix(index));
    if (bz_judge_verdict(judge) == BZ_RUN_OUT_OF_STEPS) {
        part->seed_cut = part->out_of_steps++ == 0 ? bz_judge_seed(judge) : part->seed_cut;
    }
    bz_tally_note_cut(part, bz_judge_cut_reason(judge));
    part->waited += bz_judge_has_waited(judge);
    if (!has_failed(config, judge)) {
        return false;
    }
    struct bz_finding finding = {.seed = bz_judge_seed(judge),
                                 .digest = bz_judge_digest(judge),
                                 .count = 1,
                                 .violation = *bz_judge_violation(judge)};
    finding.violation.message[sizeof finding.violation.message - 1] = '\0';
    part->violations++;
    part->by_oracle[bz_oracle_index(finding.violation.oracle)]++;
    return note_finding(batch, product, &finding);
}

bool bz_chunk_should_stop(const struct bz_campaigning *campaign) {
    return campaign->config->stop != NULL &&
           __atomic_load_n(campaign->config->stop, __ATOMIC_RELAXED) != 0;
}

static bool is_drawn(const struct bz_campaigning *campaign, uint64_t seed) {
    return campaign->config->draws_sizes && bz_sizes_are_drawn(&campaign->program, seed);
}

/* At which place a batch has the profile of the seed's draw. */
static uint64_t place_of(uint64_t seed) {
    return seed / BZ_SIZES_SEEDS % BZ_CHUNK_DRAWS_MAX;
}

/* Makes the drawn program that of the seed. */
static void draw(struct bz_drawing *drawing, const struct bz_program *program, uint64_t seed) {
    uint64_t number = bz_sizes_number(program, seed) + 1;
    if (drawing->number != number) {
        drawing->number = number;
        bz_sizes_draw(program, seed, &drawing->program);
    }
}

/* The program of a seed, in a world that continues with it. */
static const struct bz_program *enter(struct bz_campaigning *campaign, const struct bz_batch *batch,
                                      struct bz_world *world, uint64_t seed) {
    const struct bz_program *program = &campaign->program;
    if (is_drawn(campaign, seed)) {
        draw(&campaign->drawing, program, seed);
        program = &campaign->drawing.program;
        if (program->strategy->needs_profile) {
            campaign->drawing.program.profile = batch->profiles[place_of(seed)];
        }
    }
    if (campaign->config->draws_sizes) {
        bz_program_enter(program, world);
    }
    return program;
}

bool bz_chunk_measures(const struct bz_campaigning *campaign) {
    return bz_scenario_is_of_suite(campaign->program.scenario) && campaign->jobs == 1 &&
           campaign->program.profile.steps == 0;
}

static bool is_repeated(const struct bz_campaigning *campaign, uint64_t index) {
    return campaign->config->repeats_all ||
           (bz_scenario_is_of_suite(campaign->program.scenario) ? index < BZ_SUITE_REPEATS
                                                                : bz_determinism_is_due(index));
}

/* True if the campaign is over after so many runs, unless there are choices. */
static bool is_last_of_one(const struct bz_campaigning *campaign, uint64_t runs) {
    return bz_scenario_is_of_suite(campaign->program.scenario) && runs == BZ_SUITE_REPEATS &&
           !campaign->config->keep_going && !campaign->config->repeats_all;
}

/* False: the product ends without this run. */
static bool make_run(struct bz_campaigning *campaign, struct bz_world *world,
                     const struct bz_batch *batch, struct bz_product *product, uint64_t index) {
    const struct bz_campaign_config *config = campaign->config;
    uint64_t seed = config->seed_first + index;
    const struct bz_program *program = enter(campaign, batch, world, seed);
    enum bz_run_end end = bz_program_run(program, world, seed);
    /* a run without an end counts only its steps */
    product->is_unfinished = end == BZ_RUN_GIVEN_UP || end == BZ_RUN_NO_RESOURCE;
    if (!product->is_unfinished && is_repeated(campaign, index)) {
        bz_determinism_judge(program, world, &campaign->repeats, index, config->stop);
        end = bz_judge_verdict(world->judge);
    }
    if (end == BZ_RUN_NO_RESOURCE) {
        bz_chunk_lack(&product->part, bz_judge_error(world->judge), NULL, NULL);
    }
    return end != BZ_RUN_NO_RESOURCE && !product->is_unfinished;
}

void bz_chunk_begin(struct bz_product *product) {
    product->is_last = false;
    product->is_unfinished = false;
    memset(&product->part, 0, offsetof(struct bz_campaign_result, findings));
}

void bz_chunk_run(struct bz_campaigning *campaign, struct bz_world *world,
                  const struct bz_batch *batch, struct bz_product *product, uint64_t *done) {
    bool is_cut = false;
    bz_chunk_begin(product);
    *bz_judge_stats(world->judge) = (struct bz_run_stats){0};
    bz_judge_watch_stop(world->judge, campaign->config->stop);
    while (product->part.runs < batch->count && !product->is_last && !is_cut) {
        if (bz_chunk_should_stop(campaign) ||
            !make_run(campaign, world, batch, product, batch->first + product->part.runs)) {
            product->is_last = true;
            break;
        }
        is_cut = bz_chunk_add_run(campaign->config, batch, product, world->judge);
        product->part.noted += bz_world_has_noted(world);
        product->part.is_complete = is_last_of_one(campaign, batch->first + product->part.runs) &&
                                    !bz_judge_has_choice(world->judge);
        __atomic_store_n(done, product->part.runs, __ATOMIC_RELAXED);
        product->is_last = product->part.lack[0] != '\0' || product->part.is_complete ||
                           (!campaign->config->keep_going && product->part.violations > 0);
    }
    bz_tally_add_stats(&product->part.stats, bz_judge_stats(world->judge), 1);
}

void bz_chunk_go_on(const struct bz_campaigning *campaign, struct bz_batch *batch, uint64_t first) {
    const struct bz_campaign_result *result = &campaign->state.result;
    batch->first = first;
    batch->count = batch->end - first;
    batch->is_alone = false;
    batch->known_count = result->finding_count;
    for (uint32_t index = 0; index < result->finding_count; index++) {
        batch->known[index] = result->findings[index].violation;
    }
}

/* Where the profile of a seed's draw is kept; `number` is that of its draw, plus 1. */
static struct bz_measured_draw *draw_of(const struct bz_campaigning *campaign, uint64_t seed,
                                        uint64_t *number) {
    *number = bz_sizes_number(&campaign->program, seed) + 1;
    return &campaign->drawing.measured->items[*number % BZ_SIZES_DRAWS];
}

static bool is_measured(const struct bz_campaigning *campaign, uint64_t seed) {
    uint64_t number;
    return draw_of(campaign, seed, &number)->number == number;
}

static void keep_profile(struct bz_campaigning *campaign, uint64_t seed,
                         const struct bz_profile *profile) {
    uint64_t number;
    struct bz_measured_draw *measured = draw_of(campaign, seed, &number);
    measured->number = profile->steps == 0 ? 0 : number;
    measured->profile = *profile;
}

/* Measures the profile of a seed's draw, unless it is known. False after a note. */
static bool measure_draw(struct bz_campaigning *campaign, struct bz_batch *batch, uint64_t seed) {
    struct bz_drawing *drawing = &campaign->drawing;
    uint64_t number;
    if (!is_measured(campaign, seed)) {
        char lack[BZ_LACK_BYTES];
        draw(drawing, &campaign->program, seed);
        if (!bz_program_measure_in(&drawing->program, &drawing->world, campaign->config->stop,
                                   lack)) {
            note_unmeasured(campaign, lack);
            return false;
        }
        keep_profile(campaign, seed, &drawing->program.profile);
    }
    batch->profiles[place_of(seed)] = draw_of(campaign, seed, &number)->profile;
    return true;
}

/* --- those of a batch together */

#define AHEAD_RUNS 160u

struct unmeasured {
    struct bz_campaigning *campaign;
    uint64_t seeds[BZ_CHUNK_DRAWS_MAX]; /* one of each draw */
    uint32_t count;
};

static const struct bz_program *unmeasured_program(void *context, uint32_t index) {
    const struct unmeasured *unmeasured = context;
    struct bz_drawing *drawing = &unmeasured->campaign->drawing;
    draw(drawing, &unmeasured->campaign->program, unmeasured->seeds[index]);
    drawing->program.profile.steps = 0;
    return &drawing->program;
}

static void list_unmeasured(struct unmeasured *unmeasured, uint64_t seed) {
    const struct bz_program *program = &unmeasured->campaign->program;
    uint32_t count = unmeasured->count;
    bool is_listed = count > 0 && bz_sizes_number(program, unmeasured->seeds[count - 1]) ==
                                      bz_sizes_number(program, seed);
    if (!is_listed && count < BZ_CHUNK_DRAWS_MAX && !is_measured(unmeasured->campaign, seed)) {
        unmeasured->seeds[unmeasured->count++] = seed;
    }
}

/* Code that dies is measured draw by draw, from then on. */
static void measure_together(struct unmeasured *unmeasured) {
    struct bz_campaigning *campaign = unmeasured->campaign;
    struct bz_drawing *drawing = &campaign->drawing;
    struct bz_profile profiles[BZ_CHUNK_DRAWS_MAX];
    struct bz_measuring measuring = {unmeasured_program, unmeasured, unmeasured->count, profiles};
    if (drawing->world == NULL) {
        drawing->world = bz_program_new_world(unmeasured_program(unmeasured, 0));
    }
    if (drawing->world == NULL) {
        return;
    }
    bz_judge_watch_stop(drawing->world->judge, campaign->config->stop);
    drawing->is_each_alone =
        !bz_program_measure_together(&measuring, drawing->world, &campaign->program.contain);
    if (drawing->is_each_alone) {
        bz_world_destroy(drawing->world);
        drawing->world = NULL;
        return;
    }
    for (uint32_t index = 0; index < unmeasured->count; index++) {
        keep_profile(campaign, unmeasured->seeds[index], &profiles[index]);
    }
}

static bool needs_profile(const struct bz_campaigning *campaign, uint64_t seed) {
    return is_drawn(campaign, seed) && !bz_sizes_are_tail(&campaign->program, seed);
}

/* The profiles of its draws. False after a note, or if it was stopped. The first batches are short,
 * so a process measures for those that follow, too. */
static bool measure_draws(struct bz_campaigning *campaign, struct bz_batch *batch) {
    uint64_t first = campaign->config->seed_first + batch->first;
    uint64_t left = campaign->end_run - batch->first;
    uint64_t ahead = left < AHEAD_RUNS ? left : AHEAD_RUNS;
    struct unmeasured unmeasured = {.campaign = campaign};
    bool is_ok = true;
    ahead = ahead < batch->count ? batch->count : ahead;
    for (uint64_t seed = first; seed - first < ahead; seed++) {
        if (needs_profile(campaign, seed)) {
            list_unmeasured(&unmeasured, seed);
        }
    }
    if (unmeasured.count > 1 && campaign->program.contain.is_on &&
        campaign->program.strategy->needs_profile && !campaign->drawing.is_each_alone) {
        measure_together(&unmeasured);
    }
    for (uint64_t seed = first; is_ok && seed - first < batch->count; seed++) {
        is_ok = !needs_profile(campaign, seed) || measure_draw(campaign, batch, seed);
    }
    return is_ok;
}

bool bz_chunk_give(struct bz_campaigning *campaign, struct bz_batch *batch) {
    uint64_t cut_max = campaign->config->cut_runs_max;
    uint64_t end =
        campaign->next_run < cut_max && cut_max < campaign->end_run ? cut_max : campaign->end_run;
    uint64_t left = end - campaign->next_run;
    uint64_t to_wrap = -(campaign->config->seed_first + campaign->next_run) - 1;
    left = left - 1 < to_wrap ? left : to_wrap + 1;
    batch->end = campaign->next_run + (left < campaign->chunk_runs ? left : campaign->chunk_runs);
    bz_chunk_go_on(campaign, batch, campaign->next_run);
    campaign->next_run = batch->end;
    return measure_draws(campaign, batch);
}

/* --- merging, in order ------------------------------------------------------------------------ */

/* Updates the figures that follow from the sums. */
static void sum_up(struct bz_campaigning *campaign) {
    const struct bz_campaign_result *result = &campaign->state.result;
    bz_tally_sum_up(&campaign->state);
    if (result->stats.steps > 0) {
        uint64_t fitting = BZ_CHUNK_STEPS * result->runs / result->stats.steps;
        campaign->chunk_runs = fitting < 1                   ? 1
                               : fitting < BZ_CHUNK_RUNS_MAX ? fitting
                                                             : BZ_CHUNK_RUNS_MAX;
    }
}

static void pass_state_on(struct bz_campaigning *campaign, bool is_last) {
    if (campaign->config->on_state != NULL && !campaign->is_state_last) {
        campaign->is_state_last = is_last;
        campaign->config->on_state(campaign->config->context, &campaign->state, is_last);
    }
}

bool bz_chunk_merge(struct bz_campaigning *campaign, const struct bz_product *product) {
    struct bz_campaign_result *result = &campaign->state.result;
    const struct bz_campaign_result *part = &product->part;
    if (product->is_unfinished) { /* nobody can continue from what follows */
        pass_state_on(campaign, true);
    }
    bz_tally_add(result, part);
    result->is_complete = part->is_complete;
    if (part->lack[0] != '\0') {
        bz_chunk_lack(result, part->lack, NULL, NULL);
    }
    bool has_marks = campaign->config->on_run != NULL && !campaign->is_state_last;
    for (uint64_t index = 0; has_marks && index < part->runs; index++) {
        campaign->config->on_run(campaign->config->context, &product->marks[index]);
    }
    for (uint64_t index = 0; index < part->runs; index++) {
        bz_distinct_add(&campaign->state.distinct, bz_seed_mix(product->marks[index].digest));
        bz_distinct_add(&campaign->state.handoffs, product->marks[index].handoffs);
        (void)bz_tally_note_strikes(campaign->state.situations, &product->marks[index]);
    }
    for (uint32_t index = 0; index < part->finding_count; index++) {
        keep_finding(campaign, &part->findings[index]);
    }
    sum_up(campaign);
    pass_state_on(campaign, product->is_last);
    result->is_cut_off = part->runs > 0 && result->out_of_steps == result->runs &&
                         result->runs == campaign->config->cut_runs_max;
    return !product->is_last && !result->is_cut_off &&
           (campaign->config->poll == NULL ||
            campaign->config->poll(campaign->config->context, result));
}

/* --- in this process -------------------------------------------------------------------------- */

static void run_alone(struct bz_campaigning *campaign) {
    struct bz_batch *batch = malloc(sizeof *batch);
    struct bz_product *product = malloc(sizeof *product);
    struct bz_world *world = bz_program_new_world(&campaign->program);
    bool goes_on = batch != NULL && product != NULL && world != NULL;
    uint64_t done;
    if (!goes_on) {
        bz_chunk_lack(&campaign->state.result, NULL, NULL, "a world to run in");
    }
    while (goes_on && campaign->next_run < campaign->end_run) {
        goes_on = bz_chunk_give(campaign, batch);
        if (!goes_on) {
            break;
        }
        bz_chunk_run(campaign, world, batch, product, &done);
        goes_on = bz_chunk_merge(campaign, product);
        campaign->next_run = batch->first + product->part.runs;
    }
    bz_world_destroy(world);
    bz_world_destroy(campaign->repeats);
    free(product);
    free(batch);
}

/* --- all of it -------------------------------------------------------------------------------- */

void bz_campaign_begin(struct bz_campaign_state *state) {
    memset(&state->result, 0, sizeof state->result);
    memset(state->situations, 0, sizeof state->situations);
    bz_distinct_init(&state->distinct, BZ_DISTINCT_KEPT);
    bz_distinct_init(&state->handoffs, BZ_DISTINCT_KEPT);
}

/* Touches what `from` uses of its sketches, whose memory is mostly empty. */
static void continue_from(struct bz_campaign_state *state, const struct bz_campaign_state *from) {
    state->result = from->result;
    memcpy(state->situations, from->situations, sizeof state->situations);
    state->distinct.capacity = from->distinct.capacity;
    state->handoffs.capacity = from->handoffs.capacity;
    bz_distinct_join(&state->distinct, &from->distinct);
    bz_distinct_join(&state->handoffs, &from->handoffs);
}

bool bz_campaign_run(const struct bz_campaign_config *config, struct bz_campaign_result *result) {
    /* Its sketches are large, and stay empty in a short campaign: pages that nobody has touched. */
    struct bz_campaigning *campaign =
        mmap(NULL, sizeof *campaign, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (campaign == MAP_FAILED) {
        *result = (struct bz_campaign_result){.runs = 0};
        bz_chunk_lack(result, NULL, NULL, "a campaign");
        return false;
    }
    campaign->config = config;
    bz_campaign_begin(&campaign->state);
    if (config->from != NULL && config->from->result.runs > 0) {
        continue_from(&campaign->state, config->from);
    }
    campaign->next_run = config->first_run + campaign->state.result.runs;
    campaign->end_run = config->first_run + config->runs;
    campaign->program = *config->program;
    campaign->chunk_runs = BZ_CHUNK_RUNS_FIRST;
    campaign->drawing.measured = config->draws != NULL ? config->draws : &campaign->drawing.own;
    campaign->jobs = config->jobs == 0 ? 1 : config->jobs;
    campaign->jobs = campaign->jobs > BZ_JOBS_MAX ? BZ_JOBS_MAX : campaign->jobs;
    sum_up(campaign);
    char lack[BZ_LACK_BYTES];
    if (!bz_chunk_measures(campaign) && !bz_program_measure_or(&campaign->program, lack)) {
        note_unmeasured(campaign, lack);
    } else if (campaign->jobs == 1 && !campaign->program.contain.is_on) {
        run_alone(campaign);
    } else {
        bz_campaign_run_together(campaign);
    }
    bz_world_destroy(campaign->drawing.world);
    pass_state_on(campaign, true);
    *result = campaign->state.result;
    bool is_stopped_by_finding = result->violations > 0 && !config->keep_going;
    result->is_cut_off = result->is_cut_off && result->runs < config->runs;
    result->is_interrupted = result->runs < config->runs && !is_stopped_by_finding &&
                             !result->is_cut_off && !result->is_complete;
    munmap(campaign, sizeof *campaign);
    return result->lack[0] == '\0';
}
