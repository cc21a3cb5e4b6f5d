#include "sim/run/campaign.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/choice/pcg.h"
#include "sim/run/distinct.h"

#define CHUNK_RUNS 64u
#define SLOTS_PER_JOB 4u
/* Every so many runs, one is run twice: the cheapest proof that there is nothing but the seed. */
#define RERUN_EVERY 4096u

enum slot_state { SLOT_FREE, SLOT_RUNNING, SLOT_DONE };

/* What came of one chunk of runs; merged in order of `number`. */
struct slot {
    enum slot_state state;
    uint64_t number;
    uint32_t runs; /* finished */
    bool is_last;  /* ended before its time: by a violation, or by the stop flag */
    uint64_t violations;
    uint64_t out_of_steps;
    uint64_t digest;
    uint64_t by_oracle[BZ_ORACLES_MAX];
    uint64_t hashes[CHUNK_RUNS];
    uint64_t handoffs[CHUNK_RUNS]; /* fingerprints */
    struct bz_run_stats stats;
    uint32_t finding_count;
    struct bz_finding findings[BZ_FINDINGS_MAX];
};

struct campaign {
    const struct bz_campaign_config *config;
    struct bz_campaign_result *result;
    struct bz_program program; /* config's, with its profile */
    struct bz_distinct distinct;
    struct bz_distinct handoffs;
    uint64_t chunks;
    pthread_mutex_t mutex;
    pthread_cond_t slot_freed;
    pthread_cond_t slot_done;
    uint64_t next_chunk; /* the next to be taken; under the mutex, as all slot states */
    uint64_t merged;     /* chunks merged */
    uint32_t slot_count;
    struct slot *slots; /* chunk c lives in slot c % slot_count */
    atomic_bool stop;
};

/* --- one chunk -------------------------------------------------------------------------------- */

/* Keeps the first finding of each oracle, and others while there is room. */
static void keep_finding(struct bz_finding *findings, uint32_t *count,
                         const struct bz_finding *finding) {
    bool is_known = false;
    for (uint32_t index = 0; index < *count; index++) {
        is_known |= strcmp(findings[index].violation.oracle, finding->violation.oracle) == 0;
    }
    if (*count < BZ_FINDINGS_MAX) {
        findings[(*count)++] = *finding;
    } else if (!is_known) {
        findings[BZ_FINDINGS_MAX - 1] = *finding;
    }
}

/* The verdict that the seed gives again, in another world, so that nothing lies at the same address
 * as before, if the run is not the same. Without memory for it, or the time, nothing is said. */
static void judge_determinism(const struct campaign *campaign, struct bz_world *world,
                              uint64_t seed) {
    struct bz_judge *judge = world->judge;
    struct bz_world *other = bz_program_new_world(&campaign->program);
    if (other == NULL) {
        return;
    }
    bz_judge_watch_stop(other->judge, campaign->config->stop);
    enum bz_run_end end = bz_program_run(&campaign->program, other, seed);
    uint64_t digest = bz_judge_digest(other->judge);
    bz_world_destroy(other);
    if (end != BZ_RUN_GIVEN_UP &&
        (digest != bz_judge_digest(judge) || end != bz_judge_verdict(judge))) {
        bz_judge_overrule(judge, "nondeterminism",
                          "the same seed gave digest %016" PRIx64 ", then %016" PRIx64
                          ": something besides the choices decides",
                          bz_judge_digest(judge), digest);
    }
}

static void note_run(struct slot *slot, const struct bz_judge *judge, uint64_t index) {
    uint64_t hash = bz_seed_mix(bz_judge_digest(judge));
    slot->handoffs[slot->runs] = bz_judge_handoffs(judge);
    slot->hashes[slot->runs++] = hash;
    slot->digest += bz_seed_mix(hash ^ bz_seed_mix(index));
    slot->out_of_steps += bz_judge_verdict(judge) == BZ_RUN_OUT_OF_STEPS;
    if (bz_judge_verdict(judge) == BZ_RUN_VIOLATED) {
        struct bz_finding finding = {.seed = bz_judge_seed(judge),
                                     .digest = bz_judge_digest(judge),
                                     .violation = *bz_judge_violation(judge)};
        slot->violations++;
        slot->by_oracle[bz_oracle_index(finding.violation.oracle)]++;
        keep_finding(slot->findings, &slot->finding_count, &finding);
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
    slot->runs = 0;
    slot->is_last = false;
    slot->violations = 0;
    slot->out_of_steps = 0;
    slot->digest = 0;
    slot->finding_count = 0;
    memset(slot->by_oracle, 0, sizeof slot->by_oracle);
    *bz_judge_stats(world->judge) = (struct bz_run_stats){0};
    bz_judge_watch_stop(world->judge, config->stop);
    for (uint64_t index = first; index < first + count && !slot->is_last; index++) {
        if (should_stop(campaign)) {
            slot->is_last = true;
            break;
        }
        uint64_t seed = config->seed_first + index;
        if (bz_program_run(&campaign->program, world, seed) == BZ_RUN_GIVEN_UP) {
            /* it counts for nothing but its steps */
            slot->is_last = true;
            break;
        }
        if (index % RERUN_EVERY == 0) {
            judge_determinism(campaign, world, seed);
        }
        note_run(slot, world->judge, index);
        slot->is_last = bz_judge_verdict(world->judge) == BZ_RUN_VIOLATED && !config->keep_going;
    }
    slot->stats = *bz_judge_stats(world->judge);
}

/* --- merging, in order ------------------------------------------------------------------------ */

static void add_stats(struct bz_run_stats *sum, const struct bz_run_stats *stats) {
    sum->runs += stats->runs;
    sum->steps += stats->steps;
    sum->injected += stats->injected;
    for (unsigned op = 0; op < BZ_OP_COUNT; op++) {
        for (unsigned window = 0; window < BZ_WINDOW_COUNT; window++) {
            sum->windows[op][window] += stats->windows[op][window];
        }
    }
}

/* Adds a chunk to the result; false if the campaign ends with it. */
static bool merge(struct campaign *campaign, const struct slot *slot) {
    struct bz_campaign_result *result = campaign->result;
    result->runs += slot->runs;
    result->violations += slot->violations;
    result->out_of_steps += slot->out_of_steps;
    result->digest += slot->digest;
    add_stats(&result->stats, &slot->stats);
    for (uint32_t index = 0; index < slot->runs; index++) {
        bz_distinct_add(&campaign->distinct, slot->hashes[index]);
        bz_distinct_add(&campaign->handoffs, slot->handoffs[index]);
    }
    for (uint32_t index = 0; index < BZ_ORACLES_MAX; index++) {
        result->by_oracle[index] += slot->by_oracle[index];
    }
    for (uint32_t index = 0; index < slot->finding_count; index++) {
        keep_finding(result->findings, &result->finding_count, &slot->findings[index]);
    }
    result->distinct = bz_distinct_count(&campaign->distinct);
    result->distinct_is_exact = bz_distinct_is_exact(&campaign->distinct);
    result->handoff_orders = bz_distinct_count(&campaign->handoffs);
    result->handoff_orders_once = bz_distinct_once(&campaign->handoffs);
    result->handoff_new_ppm = bz_distinct_new_ppm(&campaign->handoffs);
    result->handoff_is_exact = bz_distinct_is_exact(&campaign->handoffs);
    if (slot->is_last) {
        return false;
    }
    return campaign->config->poll == NULL ||
           campaign->config->poll(campaign->config->context, result);
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

/* Takes the next chunk, once its slot is free; NULL when there is no more to do. */
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
        pthread_cond_wait(&campaign->slot_freed, &campaign->mutex);
    }
    pthread_mutex_unlock(&campaign->mutex);
    return slot;
}

static void *work(void *arg) {
    struct campaign *campaign = arg;
    struct bz_world *world = bz_program_new_world(&campaign->program);
    struct slot *slot;
    if (world == NULL) {
        atomic_store(&campaign->stop, true);
    }
    while ((slot = take_chunk(campaign)) != NULL) {
        run_chunk(campaign, world, slot);
        pthread_mutex_lock(&campaign->mutex);
        slot->state = SLOT_DONE;
        pthread_cond_signal(&campaign->slot_done);
        pthread_mutex_unlock(&campaign->mutex);
    }
    /* The merging thread may be waiting for a chunk that nobody will take. */
    pthread_mutex_lock(&campaign->mutex);
    pthread_cond_signal(&campaign->slot_done);
    pthread_mutex_unlock(&campaign->mutex);
    bz_world_destroy(world);
    return world == NULL ? arg : NULL;
}

/* Waits for chunk number `number`; NULL if nobody took it and nobody will. */
static struct slot *wait_for_chunk(struct campaign *campaign, uint64_t number) {
    struct slot *slot = &campaign->slots[number % campaign->slot_count];
    pthread_mutex_lock(&campaign->mutex);
    while (slot->state != SLOT_DONE || slot->number != number) {
        bool is_taken = campaign->next_chunk > number;
        if (!is_taken && should_stop(campaign)) {
            slot = NULL;
            break;
        }
        pthread_cond_wait(&campaign->slot_done, &campaign->mutex);
    }
    pthread_mutex_unlock(&campaign->mutex);
    return slot;
}

static void free_slot(struct campaign *campaign, struct slot *slot) {
    pthread_mutex_lock(&campaign->mutex);
    slot->state = SLOT_FREE;
    pthread_cond_broadcast(&campaign->slot_freed);
    pthread_mutex_unlock(&campaign->mutex);
}

static void merge_all(struct campaign *campaign) {
    for (uint64_t number = 0; number < campaign->chunks; number++) {
        struct slot *slot = wait_for_chunk(campaign, number);
        if (slot == NULL) {
            break;
        }
        bool goes_on = merge(campaign, slot);
        if (!goes_on) {
            atomic_store(&campaign->stop, true);
        }
        free_slot(campaign, slot);
        if (!goes_on) {
            break;
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
    atomic_store(&campaign->stop, true);
    pthread_mutex_lock(&campaign->mutex);
    pthread_cond_broadcast(&campaign->slot_freed);
    pthread_mutex_unlock(&campaign->mutex);
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
    pthread_cond_init(&campaign->slot_freed, NULL);
    pthread_cond_init(&campaign->slot_done, NULL);
    bool is_ok = campaign->slots != NULL && bz_program_measure(&campaign->program) &&
                 (jobs == 1 ? run_alone(campaign) : run_together(campaign, jobs));
    bool is_stopped_by_finding = result->violations > 0 && !config->keep_going;
    result->is_interrupted = result->runs < config->runs && !is_stopped_by_finding;
    pthread_cond_destroy(&campaign->slot_done);
    pthread_cond_destroy(&campaign->slot_freed);
    pthread_mutex_destroy(&campaign->mutex);
    free(campaign->slots);
    free(campaign);
    return is_ok;
}
