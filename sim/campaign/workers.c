/* A campaign in child processes. Code under test may write over whatever it can write to, so this
 * process trusts nothing of that: batches are read-only to workers, and products have a sum that
 * their worker makes from memory of its own. Of a product whose sum is wrong, and of runs that
 * ended their process, nothing is used: the runs are made again, and those that may be to blame
 * each in a process of its own. A run that then does it again is a finding. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/campaign/chunks.h"
#include "sim/campaign/totals.h"
#include "sim/choice/pcg.h"
#include "sim/judge/internal.h"

#define SLOTS_PER_WORKER 3u
/* A worker that was told to stop ends at its next look, or is killed. */
#define STOP_LOOKS_MAX 8u
/* So many kills that nobody explains: something outside kills again. */
#define KILLS_MAX 16u

/* Written by this process alone. */
struct board {
    volatile sig_atomic_t stop;
    struct given {
        uint64_t number; /* grows with each batch for this slot */
        struct bz_batch batch;
    } given[]; /* SLOTS_PER_WORKER for each worker */
};

/* Written by a worker. */
struct lane {
    struct slot {
        uint64_t done;   /* runs of the current batch: a hint */
        uint64_t number; /* of the last batch that is done */
        uint64_t sum;
        struct bz_product product;
    } slots[SLOTS_PER_WORKER];
};

enum slot_state { SLOT_GIVEN, SLOT_DONE, SLOT_BROKEN };

/* Runs of a chunk, by index, that are each made in a process of its own; none if `from` is `to`. */
struct doubt {
    uint64_t from;
    uint64_t to;
    bool is_unexplained; /* a product was broken, and it is not known which of them does it */
    bool has_death;      /* the only one has ended its process, and is not made again */
    bool sums_up;        /* the sums of `death` have the runs of the batch before it, too */
    struct bz_product death;
};

/* A child process that runs chunks; its slots are used in turn. */
struct worker {
    struct bz_child child;
    struct bz_world *world;
    struct team *team;
    int bell[2];    /* a pipe: a byte for each batch that is given */
    uint32_t given; /* chunks */
    uint32_t merged;
    uint32_t begins_with; /* the first chunk of this process */
    struct given *board;
    struct lane *lane;
    struct doubt doubts[SLOTS_PER_WORKER];
};

struct team {
    struct bz_campaigning *campaign;
    size_t board_bytes;
    struct board *board;
    struct bz_product *product; /* that is merged; in a worker, that is made */
    uint32_t deaths;
    uint32_t kills; /* of workers, in runs that were not killed again */
    uint32_t jobs;
    struct worker *workers;
    struct worker **line; /* of the chunks that are not merged yet, in order, by place */
    uint32_t line_begin;
    uint32_t line_end;
};

/* --- products --------------------------------------------------------------------------------- */

static uint64_t add_words(uint64_t sum, const void *words, size_t bytes) {
    const char *from = words;
    for (size_t at = 0; at + sizeof sum <= bytes; at += sizeof sum) {
        uint64_t word;
        memcpy(&word, from + at, sizeof word);
        sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        sum ^= sum >> 32u;
    }
    return sum;
}

#define HEAD_BYTES offsetof(struct bz_product, part.findings)
_Static_assert(HEAD_BYTES % 8 == 0 && sizeof(struct bz_finding) % 8 == 0 &&
                   sizeof(struct bz_run_mark) % 8 == 0,
               "sums are over whole words");

/* Copies what is in use of a product. False: it makes no sense. */
static bool copy_product(struct bz_product *to, const struct bz_product *from) {
    memcpy(to, from, HEAD_BYTES);
    const struct bz_campaign_result *part = &to->part;
    if (part->runs > BZ_CHUNK_RUNS_MAX || part->finding_count > BZ_FINDINGS_MAX) {
        return false;
    }
    memcpy(to->part.findings, from->part.findings, part->finding_count * sizeof *part->findings);
    memcpy(to->marks, from->marks, part->runs * sizeof *to->marks);
    return true;
}

static uint64_t sum_of(const struct bz_product *product, uint64_t number) {
    const struct bz_campaign_result *part = &product->part;
    uint64_t sum = add_words(bz_seed_mix(number), product, HEAD_BYTES);
    sum = add_words(sum, part->findings, part->finding_count * sizeof *part->findings);
    return add_words(sum, product->marks, part->runs * sizeof *product->marks);
}

static struct slot *slot_of(struct worker *worker, uint32_t chunk) {
    return &worker->lane->slots[chunk % SLOTS_PER_WORKER];
}

static struct given *given_of(struct worker *worker, uint32_t chunk) {
    return &worker->board[chunk % SLOTS_PER_WORKER];
}

/* For the batch that the slot has got. */
static void publish(struct worker *worker, uint32_t chunk, const struct bz_product *product) {
    struct slot *slot = slot_of(worker, chunk);
    uint64_t number = given_of(worker, chunk)->number;
    (void)copy_product(&slot->product, product);
    slot->sum = sum_of(product, number);
    __atomic_store_n(&slot->number, number, __ATOMIC_RELEASE);
}

/* --- in the child ----------------------------------------------------------------------------- */

/* The life of a worker, whose team is a copy of its own. */
static void work(void *context) {
    struct worker *worker = context;
    struct team *team = worker->team;
    struct bz_campaigning *campaign = team->campaign;
    struct bz_campaign_config config = *campaign->config;
    uint64_t ran[SLOTS_PER_WORKER]; /* the last batch of each slot */
    uint32_t chunk = worker->begins_with;
    char byte;
    (void)mprotect(team->board, team->board_bytes, PROT_READ);
    config.stop = &team->board->stop;
    campaign->config = &config;
    campaign->program.contain.is_on = false;
    campaign->drawing.number = 0; /* its program is contained */
    for (uint32_t slot = 0; slot < SLOTS_PER_WORKER; slot++) {
        ran[slot] = worker->lane->slots[slot].number;
    }
    bool measures = bz_chunk_measures(campaign);
    if (measures) {
        char lack[BZ_LACK_BYTES];
        (void)bz_program_measure_in(&campaign->program, &worker->world, config.stop, lack);
    } /* if it cannot, the first run says why */
    while (!bz_chunk_should_stop(campaign)) {
        const struct given *given = given_of(worker, chunk);
        uint64_t *last = &ran[chunk % SLOTS_PER_WORKER];
        if (__atomic_load_n(&given->number, __ATOMIC_ACQUIRE) == *last) {
            (void)!read(worker->bell[0], &byte, 1); /* waits */
            continue;
        }
        *last = given->number;
        bz_chunk_run(campaign, worker->world, &given->batch, team->product,
                     &slot_of(worker, chunk)->done);
        if (!bz_judge_is_unharmed(worker->world->judge, worker->child.before,
                                  config.draws_sizes || measures)) {
            bz_child_is_overwritten();
        }
        bool is_last = given->batch.is_alone; /* once it is published, there may be another batch */
        uint32_t next = chunk + !bz_chunk_is_rest_left(&given->batch, team->product);
        publish(worker, chunk, team->product);
        bz_child_tell();
        if (is_last) {
            break;
        }
        chunk = next;
    }
}

/* --- batches --------------------------------------------------------------------------------- */

/* Tells the worker of the batch that it has got. */
static void hand_over(struct worker *worker, uint32_t chunk) {
    struct given *given = given_of(worker, chunk);
    slot_of(worker, chunk)->done = 0;
    slot_of(worker, chunk)->number = given->number;
    __atomic_store_n(&given->number, given->number + 1, __ATOMIC_RELEASE);
    (void)!write(worker->bell[1], "", 1); /* full: it has bytes to read */
}

static enum slot_state state_of(struct worker *worker, uint32_t chunk) {
    uint64_t number = __atomic_load_n(&slot_of(worker, chunk)->number, __ATOMIC_ACQUIRE);
    uint64_t given = given_of(worker, chunk)->number;
    return number == given ? SLOT_DONE : number == given - 1 ? SLOT_GIVEN : SLOT_BROKEN;
}

static struct doubt *doubt_of(struct worker *worker, uint32_t chunk) {
    return &worker->doubts[chunk % SLOTS_PER_WORKER];
}

/* The rest of a chunk, from `first` on, or less of it. */
static void give_rest(struct worker *worker, uint32_t chunk, uint64_t first) {
    struct bz_batch *batch = &given_of(worker, chunk)->batch;
    const struct doubt *doubt = doubt_of(worker, chunk);
    bool is_inside = first >= doubt->from && first < doubt->to;
    bz_chunk_go_on(worker->team->campaign, batch, first);
    batch->is_alone = first < doubt->to;
    batch->count = is_inside ? 1 : first < doubt->from ? doubt->from - first : batch->count;
    if (is_inside && doubt->has_death) { /* in the place of what came of the batch before it */
        publish(worker, chunk, &doubt->death);
    } else {
        hand_over(worker, chunk);
    }
}

/* The chunk that the worker runs; `given` if it waits for one. */
static uint32_t running(struct worker *worker) {
    uint32_t chunk = worker->merged;
    while (chunk != worker->given && state_of(worker, chunk) == SLOT_DONE) {
        if (bz_chunk_is_rest_left(&given_of(worker, chunk)->batch,
                                  &slot_of(worker, chunk)->product)) {
            return worker->given; /* once what it has done is merged */
        }
        chunk++;
    }
    return chunk;
}

/* --- what went wrong -------------------------------------------------------------------------- */

/* A world in which nobody has written. False after a note. */
static bool renew_world(struct worker *worker) {
    struct bz_campaigning *campaign = worker->team->campaign;
    bz_world_destroy(worker->world);
    worker->world = bz_program_new_world(&campaign->program);
    if (worker->world == NULL) {
        bz_chunk_lack(&campaign->state.result, NULL, NULL, "a world to run in");
    }
    return worker->world != NULL;
}

/* The run is to blame: makes its product, which is a finding. `death` NULL: for a broken product.
 * False after a note. */
static bool blame(struct worker *worker, uint32_t chunk, uint64_t run,
                  const struct bz_death *death) {
    struct team *team = worker->team;
    const struct bz_campaign_config *config = team->campaign->config;
    struct doubt *doubt = doubt_of(worker, chunk);
    struct bz_judge *judge = worker->world->judge;
    doubt->sums_up = true;
    if (death == NULL || bz_judge_seed(judge) != config->seed_first + run ||
        bz_judge_stats(judge)->runs == 0) { /* nothing is left of the run */
        death = &bz_death_overwritten;
        if (!renew_world(worker)) {
            return false;
        }
        judge = worker->world->judge;
        bz_judge_begin(judge, &(struct bz_run_start){.seed = config->seed_first + run});
        doubt->sums_up = false;
    }
    struct bz_batch batch = given_of(worker, chunk)->batch;
    batch.first = run;
    bz_judge_died(judge, death->oracle, death->how);
    bz_chunk_begin(&doubt->death);
    bz_tally_add_stats(&doubt->death.part.stats, bz_judge_stats(judge), 1);
    (void)bz_chunk_add_run(config, &batch, &doubt->death, judge);
    team->deaths++;
    doubt->death.is_last = (!config->keep_going && doubt->death.part.violations > 0) ||
                           team->deaths == config->deaths_max;
    doubt->from = run;
    doubt->to = run + 1;
    doubt->is_unexplained = false;
    doubt->has_death = true;
    return true;
}

/* A process has ended in runs of this chunk, or their product is broken (`death` NULL): the batch
 * begins again. A run that may be blameless is to blame only if it does so in a process of its own.
 * False after a note. */
static bool begin_again(struct worker *worker, uint32_t chunk, const struct bz_death *death) {
    const struct bz_batch *batch = &given_of(worker, chunk)->batch;
    struct doubt *doubt = doubt_of(worker, chunk);
    uint64_t first = batch->first;
    uint64_t done = slot_of(worker, chunk)->done;
    uint64_t run = first + (done < batch->count ? done : batch->count - 1);
    bool is_alone = batch->is_alone && batch->count == 1;
    bool is_killed = death != NULL && death->is_killed;
    bool is_doubtful = death == NULL || is_killed || strcmp(death->oracle, "memory") == 0;
    worker->team->kills += is_killed && !is_alone;
    worker->team->kills -= is_killed && is_alone && worker->team->kills > 0;
    if (is_alone || !is_doubtful) {
        if (!blame(worker, chunk, run, death)) {
            return false;
        }
    } else {
        doubt->from = death == NULL ? first : run;
        doubt->to = death == NULL ? batch->end : run + 1;
        doubt->is_unexplained = death == NULL;
        doubt->has_death = false;
    }
    give_rest(worker, chunk, first);
    return true;
}

/* The same of a worker that measures: then it may have died while it did that. So the program is
 * measured here, and what is to blame shows the next time. */
static bool begin_after(struct worker *worker, uint32_t chunk, const struct bz_death *death) {
    struct bz_campaigning *campaign = worker->team->campaign;
    char lack[BZ_LACK_BYTES];
    if (!bz_chunk_measures(campaign)) {
        return begin_again(worker, chunk, death);
    }
    if (!bz_program_measure_or(&campaign->program, lack)) {
        bz_chunk_lack(&campaign->state.result, lack, NULL, NULL);
        return false;
    }
    give_rest(worker, chunk, given_of(worker, chunk)->batch.first);
    return true;
}

/* Before a product is merged: the sums of a death become its own. The last run of those that may
 * have broken one is blamed if no other is. False after a note. */
static bool settle_doubt(struct worker *worker, uint32_t chunk) {
    struct bz_product *product = worker->team->product;
    struct doubt *doubt = doubt_of(worker, chunk);
    uint64_t next = given_of(worker, chunk)->batch.first + product->part.runs;
    if (doubt->has_death && doubt->sums_up && next <= doubt->from) {
        bz_tally_add_stats(&doubt->death.part.stats, &product->part.stats, UINT64_MAX);
    }
    if (doubt->is_unexplained && next == doubt->to) {
        bool is_ok = blame(worker, chunk, next - 1, NULL);
        memcpy(product, &doubt->death, sizeof *product);
        return is_ok;
    }
    return true;
}

/* --- in this process -------------------------------------------------------------------------- */

/* Only this worker's process shares memory with the campaign; no other child does, for it may be
 * one in which code is measured. */
static bool fork_worker(struct worker *worker) {
    struct team *team = worker->team;
    struct bz_judge *judge = worker->world->judge;
    bz_shared_inherit(team->board, team->board_bytes, true);
    bz_shared_inherit(worker->lane, sizeof *worker->lane, true);
    bool is_ok = bz_child_start(&worker->child, &team->campaign->program.contain, worker->world,
                                work, worker);
    bz_shared_inherit(team->board, team->board_bytes, false);
    bz_shared_inherit(worker->lane, sizeof *worker->lane, false);
    bz_judge_inherit(judge, false);
    return is_ok;
}

static bool start_worker(struct worker *worker) {
    struct bz_campaigning *campaign = worker->team->campaign;
    if (!renew_world(worker)) { /* what died may have left it in any state */
        return false;
    }
    worker->begins_with = running(worker);
    if (!fork_worker(worker)) {
        bz_chunk_lack(&campaign->state.result, NULL, "processes", "the workers of a campaign");
        return false;
    }
    return true;
}

/* Starts a worker if there is more to run, also after one that died. False after a note. */
static bool look_after(struct worker *worker) {
    struct bz_campaign_result *result = &worker->team->campaign->state.result;
    struct bz_death death;
    uint32_t chunk = running(worker);
    worker->child.may_sleep = chunk == worker->given; /* it waits for a batch */
    enum bz_child_state state =
        worker->child.pid == 0 ? BZ_CHILD_RUNS : bz_child_look(&worker->child, &death);
    chunk = running(worker);
    if (state == BZ_CHILD_LACKS) {
        bz_chunk_lack(result, death.how, NULL, NULL);
        return false;
    }
    if (state == BZ_CHILD_DIED && chunk != worker->given && !begin_after(worker, chunk, &death)) {
        return false;
    }
    if (worker->team->kills > KILLS_MAX) {
        bz_chunk_lack(result, BZ_KILLED_TEXT, NULL, NULL);
        return false;
    }
    return worker->child.pid != 0 || running(worker) == worker->given || start_worker(worker);
}

/* Gives chunks to all workers that have a free slot, one each at a time. False after a note. */
static bool give_chunks(struct team *team) {
    struct bz_campaigning *campaign = team->campaign;
    uint32_t places = team->jobs * SLOTS_PER_WORKER;
    /* A program that fails at once, and takes its time to die, is not measured far ahead. */
    uint32_t most = campaign->state.result.runs == 0 ? team->jobs : places;
    for (uint32_t index = 0; index < most && team->line_end - team->line_begin < most; index++) {
        struct worker *worker = &team->workers[index % team->jobs];
        if (worker->given - worker->merged < SLOTS_PER_WORKER &&
            campaign->next_run < campaign->end_run) {
            doubt_of(worker, worker->given)->from = 0;
            doubt_of(worker, worker->given)->to = 0;
            doubt_of(worker, worker->given)->is_unexplained = false;
            doubt_of(worker, worker->given)->has_death = false;
            if (!bz_chunk_give(campaign, &given_of(worker, worker->given)->batch)) {
                return false;
            }
            team->line[team->line_end++ % places] = worker;
            hand_over(worker, worker->given);
            worker->given++;
        }
    }
    return true;
}

/* Copies the product of a chunk. False: it is broken. */
static bool take(struct worker *worker, uint32_t chunk) {
    const struct slot *slot = slot_of(worker, chunk);
    const struct given *given = given_of(worker, chunk);
    struct bz_product *product = worker->team->product;
    uint64_t seed = worker->team->campaign->config->seed_first + given->batch.first;
    bool is_sound = copy_product(product, &slot->product) &&
                    slot->sum == sum_of(product, given->number) &&
                    product->part.runs <= given->batch.count;
    for (uint64_t run = 0; is_sound && run < product->part.runs; run++) {
        is_sound = product->marks[run].seed == seed + run;
    }
    return is_sound;
}

enum next { NEXT_WAITS, NEXT_MERGED, NEXT_ENDS };

/* Merges the first chunk of the line, or what there is of it. */
static enum next merge_next(struct team *team) {
    struct worker *worker = team->line[team->line_begin % (team->jobs * SLOTS_PER_WORKER)];
    uint32_t chunk = worker->merged;
    const struct bz_batch *batch = &given_of(worker, chunk)->batch;
    enum slot_state state = state_of(worker, chunk);
    if (state == SLOT_GIVEN) {
        return NEXT_WAITS;
    }
    if (state == SLOT_BROKEN || !take(worker, chunk)) {
        bz_child_kill(&worker->child);
        return begin_again(worker, chunk, NULL) ? NEXT_WAITS : NEXT_ENDS;
    }
    if (!settle_doubt(worker, chunk) || !bz_chunk_merge(team->campaign, team->product)) {
        return NEXT_ENDS;
    }
    if (bz_chunk_is_rest_left(batch, team->product)) { /* stays at its place of the line */
        give_rest(worker, chunk, batch->first + team->product->part.runs);
    } else {
        team->line_begin++;
        worker->merged++;
    }
    return NEXT_MERGED;
}

/* Merges the chunks that are done. `merged` counts them. False: the campaign ends here. */
static bool merge_done(struct team *team, uint32_t *merged) {
    enum next next = NEXT_MERGED;
    for (*merged = 0; next == NEXT_MERGED && team->line_begin != team->line_end; (*merged)++) {
        next = merge_next(team);
    }
    *merged -= next == NEXT_WAITS;
    return next != NEXT_ENDS;
}

/* Waits for the workers, but not for long: one may hang. Their unfinished work is lost. */
static void stop_workers(struct team *team) {
    team->board->stop = 1;
    for (uint32_t index = 0; index < team->jobs; index++) {
        struct worker *worker = &team->workers[index];
        struct bz_death death;
        uint32_t looks = 0;
        (void)!write(worker->bell[1], "", 1);
        while (worker->child.pid != 0 && bz_child_look(&worker->child, &death) == BZ_CHILD_RUNS) {
            struct bz_child *const child[] = {&worker->child};
            if (looks++ == STOP_LOOKS_MAX) {
                bz_child_kill(&worker->child);
            } else {
                bz_child_wait(child, 1);
            }
        }
    }
}

static void run_in_children(struct team *team) {
    const struct bz_campaigning *campaign = team->campaign;
    struct bz_child *children[BZ_JOBS_MAX];
    uint32_t merged;
    bool is_ok = true;
    bool goes_on = true;
    while (is_ok && goes_on && !bz_chunk_should_stop(campaign)) {
        size_t alive = 0;
        is_ok = give_chunks(team);
        if (!is_ok || team->line_begin == team->line_end) {
            break;
        }
        for (uint32_t index = 0; is_ok && index < team->jobs; index++) {
            is_ok = look_after(&team->workers[index]);
            if (team->workers[index].child.pid != 0) {
                children[alive++] = &team->workers[index].child;
            }
        }
        goes_on = is_ok && merge_done(team, &merged);
        if (goes_on && merged == 0) {
            bz_child_wait(children, alive);
        }
    }
    stop_workers(team);
    if (is_ok && goes_on) { /* stopped from outside: what is complete counts */
        (void)merge_done(team, &merged);
    }
}

/* --- a team ----------------------------------------------------------------------------------- */

static bool open_worker(struct team *team, uint32_t index) {
    struct worker *worker = &team->workers[index];
    worker->team = team;
    worker->board = &team->board->given[(size_t)index * SLOTS_PER_WORKER];
    worker->lane = bz_shared_alloc(sizeof *worker->lane);
    if (worker->lane != NULL) {
        bz_shared_inherit(worker->lane, sizeof *worker->lane, false);
    } else {
        bz_chunk_lack(&team->campaign->state.result, NULL, NULL, "the workers of a campaign");
        return false;
    }
    bool is_ok = pipe(worker->bell) == 0;
    if (!is_ok || fcntl(worker->bell[1], F_SETFL, O_NONBLOCK) != 0) {
        bz_chunk_lack(&team->campaign->state.result, NULL, "file descriptors",
                      "the workers of a campaign");
        if (is_ok) {
            close(worker->bell[0]);
            close(worker->bell[1]);
        }
        bz_shared_free(worker->lane, sizeof *worker->lane);
        return false;
    }
    return true;
}

static void close_worker(struct worker *worker) {
    close(worker->bell[0]);
    close(worker->bell[1]);
    bz_world_destroy(worker->world);
    bz_shared_free(worker->lane, sizeof *worker->lane);
}

void bz_campaign_run_together(struct bz_campaigning *campaign) {
    uint32_t jobs = campaign->jobs;
    size_t chunks = (size_t)jobs * SLOTS_PER_WORKER;
    struct team team = {.campaign = campaign,
                        .jobs = jobs,
                        .board_bytes = sizeof *team.board + chunks * sizeof *team.board->given};
    team.board = bz_shared_alloc(team.board_bytes);
    team.product = malloc(sizeof *team.product);
    team.workers = calloc(jobs, sizeof *team.workers);
    team.line = calloc(chunks, sizeof(struct worker *));
    uint32_t opened = 0;
    if (team.board == NULL || team.product == NULL || team.workers == NULL || team.line == NULL) {
        bz_chunk_lack(&campaign->state.result, NULL, NULL, "the workers of a campaign");
    } else {
        bz_shared_inherit(team.board, team.board_bytes, false);
        while (opened < jobs && open_worker(&team, opened)) {
            opened++;
        }
        if (opened == jobs) {
            run_in_children(&team);
        }
    }
    for (uint32_t index = 0; index < opened; index++) {
        close_worker(&team.workers[index]);
    }
    free(team.line);
    free(team.workers);
    free(team.product);
    bz_shared_free(team.board, team.board_bytes);
}
