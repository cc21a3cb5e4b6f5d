#include "sim/session/checkpoint.h"

#include <inttypes.h>
#include <string.h>

#include "sim/judge/event.h"
#include "sim/program/token.h"
#include "sim/session/stop.h"
#include "sim/session/work.h"
#include "traces/text.h"
#include "traces/words.h"

/* --- the parts, for both directions ----------------------------------------------------------- */

/* The tables whose rows a body names by number. */
static uint64_t fold_name(uint64_t digest, const char *name) {
    for (; name != NULL && *name != '\0'; name++) {
        digest = bz_digest_word(digest, (unsigned char)*name);
    }
    return bz_digest_word(digest, 0);
}

/* True if the numbers of oracles, operations, windows and situations are those of this program. */
static bool pass_numbering(struct bz_work *work) {
    uint64_t own = bz_digest_word(BZ_DIGEST_SEED, BZ_SITUATIONS);
    for (uint32_t index = 0; index < bz_oracle_count; index++) {
        own = fold_name(own, bz_oracles[index].name);
    }
    for (unsigned op = 0; op < BZ_OP_COUNT; op++) {
        own = fold_name(own, bz_op_name(op));
    }
    for (unsigned window = 0; window < BZ_WINDOW_COUNT; window++) {
        own = fold_name(own, bz_window_name(window));
    }
    uint64_t numbering = own;
    bz_work_u64(work, &numbering);
    return bz_work_check(work, numbering == own);
}

/* A whole campaign is shard 1 of 1. */
static void pass_shard(struct bz_work *work, struct bz_job *job) {
    bool is_whole = !work->is_read && job->shard.count <= 1;
    struct bz_shard shard = is_whole ? (struct bz_shard){1, 1} : job->shard;
    uint64_t campaign_runs = is_whole ? job->runs : job->campaign_runs;
    bz_work_u32(work, &shard.number);
    bz_work_u32(work, &shard.count);
    bz_work_u64(work, &campaign_runs);
    if (work->is_read) {
        job->shard = shard;
        job->campaign_runs = campaign_runs;
        (void)bz_work_check(work, shard.number > 0 && shard.number <= shard.count &&
                                      shard.count <= BZ_SHARDS_MAX &&
                                      bz_shard_runs(&shard, campaign_runs) == job->runs);
    }
}

static void pass_job(struct bz_work *work, struct bz_job *job) {
    bz_work_u64(work, &job->runs);
    pass_shard(work, job);
    bz_work_u64(work, &job->limit_ms);
    bz_work_u64(work, &job->slices);
    bz_work_u64(work, &job->deaths);
    bz_work_bool(work, &job->keep_going);
    bz_work_bool(work, &job->keeps_size);
    bz_work_bool(work, &job->draws_sizes);
    bz_work_u32(work, &job->program.pinned);
    for (unsigned op = 0; op < BZ_OP_COUNT; op++) {
        bz_work_u32(work, &job->required[op]);
    }
}

/* Every number of a result that does not follow from the others. */
static void pass_sums(struct bz_work *work, struct bz_campaign_result *result) {
    uint64_t *const sums[] = {&result->runs,       &result->violations,  &result->out_of_steps,
                              &result->seed_cut,   &result->waited,      &result->digest_first,
                              &result->stats.runs, &result->stats.steps, &result->stats.injected};
    for (size_t index = 0; index < sizeof sums / sizeof sums[0]; index++) {
        bz_work_u64(work, sums[index]);
    }
    for (unsigned op = 0; op < BZ_OP_COUNT; op++) {
        for (unsigned window = 0; window < BZ_WINDOW_COUNT; window++) {
            bz_work_u64(work, &result->stats.windows[op][window]);
        }
    }
    uint64_t failed = 0;
    for (uint32_t index = 0; index < bz_oracle_count; index++) {
        bz_work_u64(work, &result->by_oracle[index]);
        failed += result->by_oracle[index];
    }
    (void)bz_work_check(work, failed == result->violations && failed <= result->runs);
}

static void pass_finding(struct bz_work *work, struct bz_finding *finding) {
    struct bz_violation *violation = &finding->violation;
    uint32_t oracle = work->is_read ? 0 : bz_oracle_index(violation->oracle);
    uint32_t op = violation->op;
    uint32_t window = violation->window;
    bz_work_u64(work, &finding->seed);
    bz_work_u64(work, &finding->digest);
    bz_work_u64(work, &finding->count);
    bz_work_u32(work, &oracle);
    bz_work_u64(work, &violation->also);
    bz_work_u32(work, &violation->step);
    bz_work_u32(work, &violation->task);
    bz_work_u32(work, &violation->object);
    bz_work_u32(work, &op);
    bz_work_u32(work, &window);
    bz_work_u64(work, &violation->time_ns);
    bz_work_text(work, violation->message, sizeof violation->message);
    bool is_ok = bz_work_check(work, oracle < bz_oracle_count && op < BZ_OP_COUNT &&
                                         window < BZ_WINDOW_COUNT);
    if (is_ok && work->is_read) {
        violation->oracle = bz_oracles[oracle].name;
        violation->op = (enum bz_op)op;
        violation->window = (enum bz_window)window;
    }
}

static void pass_findings(struct bz_work *work, struct bz_campaign_result *result) {
    bz_work_u32(work, &result->finding_count);
    bool is_ok = bz_work_check(work, result->finding_count <= BZ_FINDINGS_MAX &&
                                         (result->finding_count > 0) == (result->violations > 0));
    uint32_t count =
        result->finding_count < BZ_FINDINGS_MAX ? result->finding_count : BZ_FINDINGS_MAX;
    for (uint32_t index = 0; is_ok && index < count; index++) {
        pass_finding(work, &result->findings[index]);
    }
}

static void pass_sketch(struct bz_work *work, uint64_t total, struct bz_distinct *distinct) {
    uint32_t count = distinct->count;
    distinct->total = work->is_read ? total : distinct->total;
    bz_work_u64(work, &distinct->skip_mask);
    bz_work_u32(work, &count);
    bool is_ok = bz_work_check(work, (distinct->skip_mask & (distinct->skip_mask + 1)) == 0 &&
                                         count <= BZ_DISTINCT_KEPT);
    for (uint32_t index = 0; is_ok && index < count; index++) {
        uint64_t hash = distinct->kept[index];
        bool is_again = distinct->again[index];
        bz_work_u64(work, &hash);
        bz_work_bool(work, &is_again);
        is_ok = !work->is_read ||
                bz_work_check(work, work->is_ok && bz_distinct_put_back(distinct, hash, is_again));
    }
}

/* Few of the bits are set: their words, each after its place. The place after the last one is the
 * end. */
#define SITUATION_WORDS (BZ_SITUATIONS / 64)

static void pass_situations(struct bz_work *work, uint64_t *situations) {
    bool is_ok = true;
    for (uint32_t place = 0; is_ok && place < SITUATION_WORDS; place++) {
        while (!work->is_read && place < SITUATION_WORDS && situations[place] == 0) {
            place++;
        }
        bz_work_u32(work, &place);
        is_ok = bz_work_check(work, place <= SITUATION_WORDS);
        if (is_ok && place < SITUATION_WORDS) {
            bz_work_u64(work, &situations[place]);
        }
    }
}

static void pass_body(struct bz_work *work, struct bz_job *job, struct bz_campaign_state *state) {
    pass_job(work, job);
    pass_sums(work, &state->result);
    pass_findings(work, &state->result);
    pass_sketch(work, state->result.runs, &state->distinct);
    pass_sketch(work, state->result.runs, &state->handoffs);
    pass_situations(work, state->situations);
}

/* --- files ------------------------------------------------------------------------------------ */

bool bz_checkpoint_write(const struct bz_job *job, const struct bz_campaign_state *state,
                         FILE *file) {
    struct bz_work_head head = {.kind = BZ_CHECKPOINT_KIND,
                                .done = state->result.runs,
                                .spent_ms = job->spent_ms,
                                .is_finished = bz_job_is_finished(job, state)};
    (void)bz_token_format(&job->program, job->seed_first, state->result.digest, head.token,
                          sizeof head.token);
    struct bz_work work = bz_work_begin(file, &head);
    (void)pass_numbering(&work);
    /* Written, and so not changed. */
    pass_body(&work, (struct bz_job *)(uintptr_t)job, (struct bz_campaign_state *)(uintptr_t)state);
    return bz_work_end(&work);
}

bool bz_checkpoint_read(struct bz_job *job, struct bz_campaign_state *state,
                        const struct bz_catalog *catalog, FILE *file, const char *origin,
                        char *error, size_t error_bytes) {
    char reason[BZ_ERROR_BYTES];
    struct bz_work work;
    struct bz_work_head head;
    struct bz_token token;
    if (!bz_work_open(&work, file, BZ_CHECKPOINT_KIND, &head, origin, error, error_bytes)) {
        return false;
    }
    job->version[0] = '\0';
    if (bz_token_split(&token, head.token, reason, sizeof reason) && token.version != NULL) {
        snprintf(job->version, sizeof job->version, "%s", token.version);
    }
    job->spent_ms = head.spent_ms;
    bz_campaign_begin(state);
    if (!pass_numbering(&work)) {
        return bz_work_refuse_version(origin, error, error_bytes);
    }
    if (!bz_token_parse(head.token, catalog, &job->program, &job->seed_first, &state->result.digest,
                        reason, sizeof reason)) {
        return bz_fail(error, error_bytes, "%s: %s", origin, reason);
    }
    pass_body(&work, job, state);
    return bz_work_check(&work, state->result.runs <= job->runs) ||
           bz_work_refuse(origin, error, error_bytes);
}

bool bz_checkpoint_load(struct bz_job *job, struct bz_campaign_state *state,
                        const struct bz_catalog *catalog, const struct bz_work_file *file,
                        char *error, size_t error_bytes) {
    FILE *content = bz_work_file_open(file, error, error_bytes);
    if (content == NULL) {
        return false;
    }
    bool is_ok = bz_checkpoint_read(job, state, catalog, content, file->path, error, error_bytes);
    (void)fclose(content);
    return is_ok;
}

struct saving {
    const struct bz_job *job;
    const struct bz_campaign_state *state;
};

static bool write_content(void *context, FILE *file) {
    const struct saving *saving = context;
    return bz_checkpoint_write(saving->job, saving->state, file);
}

void bz_checkpoint_save(struct bz_work_file *file, struct bz_job *job,
                        const struct bz_campaign_state *state, bool is_last,
                        bz_trouble_fn *on_trouble, void *context) {
    char error[BZ_ERROR_BYTES];
    struct saving saving = {job, state};
    if (!is_last && !bz_work_file_is_due(file)) {
        return;
    }
    job->spent_ms = bz_work_file_spent_ms(file);
    if (!bz_work_file_write(file, write_content, &saving, error, sizeof error) &&
        error[0] != '\0') {
        on_trouble(context, BZ_TROUBLE_FILE, error);
    }
}

bool bz_checkpoint_check_code(const struct bz_job *job, const struct bz_campaign_state *state,
                              const char *origin, char *error, size_t error_bytes) {
    uint64_t seed = job->seed_first + bz_job_first_run(job);
    static struct bz_program program;
    bz_job_program(job, seed, &program);
    bool is_measured = state->result.runs > 0 && bz_program_measure(&program);
    struct bz_world *world = is_measured ? bz_program_new_world(&program) : NULL;
    if (world == NULL) {
        return true; /* a lack shows later */
    }
    enum bz_run_end end = bz_program_run(&program, world, seed);
    uint64_t digest = bz_judge_digest(world->judge);
    bz_world_destroy(world);
    return end == BZ_RUN_NO_RESOURCE || bz_interrupt_requested != 0 ||
           digest == state->result.digest_first ||
           bz_fail(error, error_bytes,
                   "%s: seed 0x%" PRIx64 " had digest %016" PRIx64 ", and has %016" PRIx64
                   " now: the code has changed, or something besides the choices decides; start a "
                   "new campaign",
                   origin, seed, state->result.digest_first, digest);
}
