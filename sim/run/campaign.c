#include "sim/run/campaign.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "sim/choice/pcg.h"
#include "sim/run/determinism.h"
#include "sim/run/distinct.h"

#define CHUNK_RUNS 64u
#define SLOTS_PER_JOB 4u

enum slot_state { SLOT_FREE, SLOT_RUNNING, SLOT_DONE };

/* The result of one chunk of runs; merged in order of `number`. */
struct slot {
    enum slot_state state;
    uint64_t number;
    bool is_last; /* ended early: by a violation or by the stop flag */
    struct bz_campaign_result part;
    uint64_t hashes[CHUNK_RUNS];
    uint64_t handoffs[CHUNK_RUNS]; /* fingerprints */
};

struct campaign {
    const struct bz_campaign_config *config;
    struct bz_campaign_result *result;
    struct bz_program program; /* the config's, with its profile */
    struct bz_distinct distinct;
    struct bz_distinct handoffs;
    uint64_t chunks;
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* the state of a slot, or `stop` */
    uint64_t next_chunk;    /* the next to take; under the mutex, as the states of slots */
    uint32_t slot_count;
    struct slot *slots; /* chunk c uses slot c % slot_count */
    atomic_bool stop;
};

/* --- one chunk -------------------------------------------------------------------------------- */

/* Keeps the first finding of each oracle, and others while there is space. */
static void keep_finding(struct bz_campaign_result *result, const struct bz_finding *finding) {
    bool is_known = false;
    for (uint32_t index = 0; index < result->finding_count; index++) {
        is_known |=
            strcmp(result->findings[index].violation.oracle, finding->violation.oracle) == 0;
    }
    if (result->finding_count < BZ_FINDINGS_MAX) {
        result->findings[result->finding_count++] = *finding;
    } else if (!is_known) {
        result->findings[BZ_FINDINGS_MAX - 1] = *finding;
    }
}

static void add_run(struct slot *slot, const struct bz_judge *judge, uint64_t index) {
    struct bz_campaign_result *part = &slot->part;
    uint64_t hash = bz_seed_mix(bz_judge_digest(judge));
    slot->handoffs[part->runs] = bz_judge_handoffs(judge);
    slot->hashes[part->runs++] = hash;
    part->digest += bz_seed_mix(hash ^ bz_seed_mix(index));
    part->out_of_steps += bz_judge_verdict(judge) == BZ_RUN_OUT_OF_STEPS;
    part->waited += bz_judge_has_waited(judge);
    if (bz_judge_verdict(judge) == BZ_RUN_VIOLATED) {
        struct bz_finding finding = {.seed = bz_judge_seed(judge),
                                     .digest = bz_judge_digest(judge),
                                     .violation = *bz_judge_violation(judge)};
        part->violations++;
        part->by_oracle[bz_oracle_index(finding.violation.oracle)]++;
        keep_finding(part, &finding);
    }
}

static bool should_stop(const struct campaign *campaign) {
    return atomic_load_explicit(&campaign->stop, memory_order_relaxed) ||
           (campaign->config->stop != NULL &&
            __atomic_load_n(campaign->config->stop, __ATOMIC_RELAXED) != 0);
}

static void run_chunk(struct campaign *campaign, struct bz_world *world, struct slot *slot) {
    const struct bz_campaign_config *config = campaign->config;
    uint64_t first = slot->number * CHUNK_RUNS;
    uint64_t count = config->runs - first < CHUNK_RUNS ? config->runs - first : CHUNK_RUNS;
    slot->is_last = false;
    memset(&slot->part, 0, offsetof(struct bz_campaign_result, findings));
    *bz_judge_stats(world->judge) = (struct bz_run_stats){0};
    bz_judge_watch_stop(world->judge, config->stop);
    for (uint64_t index = first; index < first + count && !slot->is_last; index++) {
        uint64_t seed = config->seed_first + index;
        /* a run that was given up counts only its steps */
        if (should_stop(campaign) ||
            bz_program_run(&campaign->program, world, seed) == BZ_RUN_GIVEN_UP) {
            slot->is_last = true;
            break;
        }
        if (bz_determinism_is_due(index)) {
            bz_determinism_judge(&campaign->program, world, config->stop);
        }
        add_run(slot, world->judge, index);
        slot->is_last = bz_judge_verdict(world->judge) == BZ_RUN_VIOLATED && !config->keep_going;
    }
    slot->part.stats = *bz_judge_stats(world->judge);
}

/* --- merging, in order ------------------------------------------------------------------------ */

/* Adds a chunk to the result. False if the campaign ends here. */
static bool merge(struct campaign *campaign, const struct slot *slot) {
    struct bz_campaign_result *result = campaign->result;
    const struct bz_campaign_result *part = &slot->part;
    result->runs += part->runs;
    result->violations += part->violations;
    result->out_of_steps += part->out_of_steps;
    result->waited += part->waited;
    result->digest += part->digest;
    result->stats.runs += part->stats.runs;
    result->stats.steps += part->stats.steps;
    result->stats.injected += part->stats.injected;
    for (unsigned op = 0; op < BZ_OP_COUNT; op++) {
        for (unsigned window = 0; window < BZ_WINDOW_COUNT; window++) {
            result->stats.windows[op][window] += part->stats.windows[op][window];
        }
    }
    for (uint64_t index = 0; index < part->runs; index++) {
        bz_distinct_add(&campaign->distinct, slot->hashes[index]);
        bz_distinct_add(&campaign->handoffs, slot->handoffs[index]);
    }
    for (uint32_t index = 0; index < BZ_ORACLES_MAX; index++) {
        result->by_oracle[index] += part->by_oracle[index];
    }
    for (uint32_t index = 0; index < part->finding_count; index++) {
        keep_finding(result, &part->findings[index]);
    }
    result->distinct = bz_distinct_count(&campaign->distinct);
    result->distinct_is_exact = bz_distinct_is_exact(&campaign->distinct);
    result->handoff_orders = bz_distinct_count(&campaign->handoffs);
    result->handoff_orders_once = bz_distinct_once(&campaign->handoffs);
    result->handoff_new_ppm = bz_distinct_new_ppm(&campaign->handoffs);
    result->handoff_is_exact = bz_distinct_is_exact(&campaign->handoffs);
    return !slot->is_last && (campaign->config->poll == NULL ||
                              campaign->config->poll(campaign->config->context, result));
}

/* --- one worker, in the calling thread -------------------------------------------------------- */

static bool run_alone(struct campaign *campaign) {
    struct bz_world *world = bz_program_new_world(&campaign->program);
    if (world == NULL) {
        return false;
    }
    for (uint64_t number = 0; number < campaign->chunks; number++) {
        campaign->slots[0].number = number;
        run_chunk(campaign, world, &campaign->slots[0]);
        if (!merge(campaign, &campaign->slots[0])) {
            break;
        }
    }
    bz_world_destroy(world);
    return true;
}

/* --- several workers -------------------------------------------------------------------------- */

/* Takes the next chunk when its slot is free. NULL if there is none. */
static struct slot *take_chunk(struct campaign *campaign) {
    pthread_mutex_lock(&campaign->mutex);
    struct slot *slot = NULL;
    while (!should_stop(campaign) && campaign->next_chunk < campaign->chunks) {
        struct slot *candidate = &campaign->slots[campaign->next_chunk % campaign->slot_count];
        if (candidate->state == SLOT_FREE) {
            slot = candidate;
            slot->state = SLOT_RUNNING;
            slot->number = campaign->next_chunk++;
            break;
        }
        pthread_cond_wait(&campaign->changed, &campaign->mutex);
    }
    pthread_mutex_unlock(&campaign->mutex);
    return slot;
}

static void set_state(struct campaign *campaign, struct slot *slot, enum slot_state state) {
    pthread_mutex_lock(&campaign->mutex);
    slot->state = state;
    pthread_cond_broadcast(&campaign->changed);
    pthread_mutex_unlock(&campaign->mutex);
}

static void stop(struct campaign *campaign) {
    pthread_mutex_lock(&campaign->mutex);
    atomic_store(&campaign->stop, true);
    pthread_cond_broadcast(&campaign->changed);
    pthread_mutex_unlock(&campaign->mutex);
}

static void *work(void *arg) {
    struct campaign *campaign = arg;
    struct bz_world *world = bz_program_new_world(&campaign->program);
    struct slot *slot;
    if (world == NULL) {
        stop(campaign);
        return arg;
    }
    while ((slot = take_chunk(campaign)) != NULL) {
        run_chunk(campaign, world, slot);
        set_state(campaign, slot, SLOT_DONE);
    }
    /* The merging thread may wait for a chunk that no worker takes. */
    pthread_mutex_lock(&campaign->mutex);
    pthread_cond_broadcast(&campaign->changed);
    pthread_mutex_unlock(&campaign->mutex);
    bz_world_destroy(world);
    return NULL;
}

/* Waits for a chunk. NULL if no worker has taken it and none will. */
static struct slot *wait_for_chunk(struct campaign *campaign, uint64_t number) {
    struct slot *slot = &campaign->slots[number % campaign->slot_count];
    pthread_mutex_lock(&campaign->mutex);
    while (slot->state != SLOT_DONE || slot->number != number) {
        bool is_taken = campaign->next_chunk > number;
        if (!is_taken && should_stop(campaign)) {
            slot = NULL;
            break;
        }
        pthread_cond_wait(&campaign->changed, &campaign->mutex);
    }
    pthread_mutex_unlock(&campaign->mutex);
    return slot;
}

static void merge_all(struct campaign *campaign) {
    bool goes_on = true;
    for (uint64_t number = 0; goes_on && number < campaign->chunks; number++) {
        struct slot *slot = wait_for_chunk(campaign, number);
        goes_on = slot != NULL && merge(campaign, slot);
        if (slot != NULL && goes_on) {
            set_state(campaign, slot, SLOT_FREE);
        }
    }
}

static bool run_together(struct campaign *campaign, uint32_t jobs) {
    pthread_t threads[BZ_JOBS_MAX];
    uint32_t started = 0;
    while (started < jobs && pthread_create(&threads[started], NULL, work, campaign) == 0) {
        started++;
    }
    if (started == jobs) {
        merge_all(campaign);
    }
    stop(campaign);
    bool is_ok = started == jobs;
    for (uint32_t index = 0; index < started; index++) {
        void *failed;
        is_ok &= pthread_join(threads[index], &failed) == 0 && failed == NULL;
    }
    return is_ok;
}

/* --- all of it -------------------------------------------------------------------------------- */

bool bz_campaign_run(const struct bz_campaign_config *config, struct bz_campaign_result *result) {
    uint32_t jobs = config->jobs == 0 ? 1 : config->jobs;
    jobs = jobs > BZ_JOBS_MAX ? BZ_JOBS_MAX : jobs;
    *result = (struct bz_campaign_result){
        .distinct_is_exact = true, .handoff_new_ppm = 1000000, .handoff_is_exact = true};
    struct campaign *campaign = calloc(1, sizeof *campaign);
    if (campaign == NULL) {
        return false;
    }
    campaign->config = config;
    campaign->result = result;
    campaign->program = *config->program;
    campaign->chunks = config->runs / CHUNK_RUNS + (config->runs % CHUNK_RUNS != 0);
    campaign->slot_count = jobs == 1 ? 1 : jobs * SLOTS_PER_JOB;
    campaign->slots = calloc(campaign->slot_count, sizeof *campaign->slots);
    bz_distinct_init(&campaign->distinct, BZ_DISTINCT_KEPT);
    bz_distinct_init(&campaign->handoffs, BZ_DISTINCT_KEPT);
    pthread_mutex_init(&campaign->mutex, NULL);
    pthread_cond_init(&campaign->changed, NULL);
    bool is_ok = campaign->slots != NULL && bz_program_measure(&campaign->program) &&
                 (jobs == 1 ? run_alone(campaign) : run_together(campaign, jobs));
    bool is_stopped_by_finding = result->violations > 0 && !config->keep_going;
    result->is_interrupted = result->runs < config->runs && !is_stopped_by_finding;
    pthread_cond_destroy(&campaign->changed);
    pthread_mutex_destroy(&campaign->mutex);
    free(campaign->slots);
    free(campaign);
    return is_ok;
}
