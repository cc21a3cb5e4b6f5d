#include "sim/session/job.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/program/sizes.h"
#include "sim/program/token.h"

static bool is_part(const struct bz_job *job) {
    return job->shard.count > 1;
}

uint64_t bz_job_first_run(const struct bz_job *job) {
    return is_part(job) ? bz_shard_first(&job->shard, job->campaign_runs) : 0;
}

bool bz_job_is_finished(const struct bz_job *job, const struct bz_campaign_state *state) {
    const struct bz_campaign_result *result = &state->result;
    bool is_time_up = job->limit_ms != 0 && job->spent_ms >= job->limit_ms;
    return result->runs >= job->runs || is_time_up || (result->violations > 0 && !job->keep_going);
}

void bz_job_program(const struct bz_job *job, uint64_t seed, struct bz_program *program) {
    *program = job->program;
    if (job->draws_sizes) {
        bz_sizes_draw(&job->program, seed, program);
    }
}

/* Its program and its first seed, in one word. */
static const char *name_of(const struct bz_job *job, char token[BZ_TOKEN_BYTES]) {
    bz_token_format(&job->program, job->seed_first, 0, token, BZ_TOKEN_BYTES);
    token[strcspn(token, "#")] = '\0';
    return token;
}

bool bz_job_differs(const struct bz_job *job, const struct bz_job *other, char *reason,
                    size_t reason_bytes) {
    char token[BZ_TOKEN_BYTES];
    char other_token[BZ_TOKEN_BYTES];
    name_of(job, token);
    name_of(other, other_token);
    reason[0] = '\0';
    if (strcmp(job->version, other->version) != 0) {
        snprintf(reason, reason_bytes, "it was written by version '%s', and not by '%s'",
                 other->version, job->version);
    } else if (strcmp(token, other_token) != 0) {
        snprintf(reason, reason_bytes, "it is of '%s', and not of '%s'", other_token, token);
    } else if (other->shard.count != job->shard.count) {
        snprintf(reason, reason_bytes, "it has %" PRIu32 " shards, and not %" PRIu32,
                 other->shard.count, job->shard.count);
    } else if ((other->limit_ms == 0) != (job->limit_ms == 0)) {
        snprintf(reason, reason_bytes, "it has %s limit of time, and should have %s",
                 other->limit_ms == 0 ? "no" : "a", other->limit_ms == 0 ? "one" : "none");
    } else if (other->campaign_runs != job->campaign_runs) {
        snprintf(reason, reason_bytes, "its campaign has %" PRIu64 " runs, not %" PRIu64,
                 other->campaign_runs, job->campaign_runs);
    } else if (other->draws_sizes != job->draws_sizes ||
               other->program.pinned != job->program.pinned) {
        snprintf(reason, reason_bytes, "its runs have other drawn sizes");
    } else if (memcmp(other->required, job->required, sizeof other->required) != 0) {
        snprintf(reason, reason_bytes, "it requires other windows");
    }
    return reason[0] != '\0';
}

struct bz_campaign_config bz_job_campaign(const struct bz_job *job) {
    return (struct bz_campaign_config){.program = &job->program,
                                       .seed_first = job->seed_first,
                                       .first_run = bz_job_first_run(job),
                                       .runs = job->runs,
                                       .keep_going = job->keep_going,
                                       .draws_sizes = job->draws_sizes};
}
