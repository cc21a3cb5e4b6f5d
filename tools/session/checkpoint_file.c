#include "tools/session/checkpoint_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/program/settings.h"
#include "sim/session/folder.h"
#include "tools/cli/cli.h"
#include "tools/cli/progress.h"
#include "tools/plugin/plugins.h"
#include "traces/lack.h"
#include "traces/text.h"

#define NUMBER_MAX 1000u
#define INTERVAL_NS UINT64_C(1000000000)
#define SHARE 20u /* of the time, one part at most */

static bool exists(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0 || errno != ENOENT;
}

bool bz_checkpoint_file_set_path(struct bz_checkpoint_file *file, unsigned number) {
    char suffix[16] = "";
    size_t length = strlen(file->folder);
    if (number > 1) {
        snprintf(suffix, sizeof suffix, "-%u", number);
    }
    snprintf(file->path, sizeof file->path, "%.*s%scampaign%s.checkpoint", PATH_MAX - 64,
             file->folder, length > 0 && file->folder[length - 1] == '/' ? "" : "/", suffix);
    return exists(file->path);
}

static bool read_file(struct bz_checkpoint_file *file, struct bz_campaign_state *state, char *error,
                      size_t error_bytes) {
    size_t length;
    char *text = bz_file_read(file->path, BZ_CHECKPOINT_BYTES_MAX, &length, error, error_bytes);
    bool is_read = text != NULL && bz_checkpoint_parse(&file->job, state, &bz_cli_catalog, text,
                                                       length, file->path, error, error_bytes);
    free(text);
    return is_read;
}

/* --- writing ---------------------------------------------------------------------------------- */

uint64_t bz_checkpoint_file_spent_ms(const struct bz_checkpoint_file *file) {
    return file->before_ms + (bz_wall_ns() - file->began_ns) / 1000000;
}

void bz_checkpoint_file_write(struct bz_checkpoint_file *file,
                              const struct bz_campaign_state *state, bool is_last) {
    uint64_t now_ns = bz_wall_ns();
    if (!is_last && now_ns < file->due_ns) {
        return;
    }
    file->job.spent_ms = bz_checkpoint_file_spent_ms(file);
    char *text = bz_checkpoint_print(&file->job, state);
    bool is_written = bz_file_replace(file->path, text, strlen(text));
    int problem = errno;
    free(text);
    if (!is_written && !file->has_failed) {
        bz_cli_fail(file->name, BZ_EXIT_USAGE, "%s: cannot be written: %s", file->path,
                    strerror(problem));
    }
    file->has_failed = !is_written;
    uint64_t pause_ns = (bz_wall_ns() - now_ns) * SHARE;
    file->due_ns = bz_wall_ns() + (pause_ns > INTERVAL_NS ? pause_ns : INTERVAL_NS);
}

/* Whether the file may be replaced: there is none, or its campaign is finished. */
static bool is_free(const struct bz_checkpoint_file *file, struct bz_campaign_state *state) {
    struct bz_checkpoint_file other = *file;
    char error[BZ_ERROR_BYTES];
    return !exists(file->path) ||
           (read_file(&other, state, error, sizeof error) && bz_job_is_finished(&other.job, state));
}

int bz_checkpoint_file_create(struct bz_checkpoint_file *file, const char *folder) {
    struct bz_campaign_state *state = bz_lack_check(malloc(sizeof *state), "a checkpoint");
    unsigned number = 1;
    snprintf(file->folder, sizeof file->folder, "%s", folder);
    int lock = bz_folder_lock(folder);
    (void)bz_checkpoint_file_set_path(file, number);
    while (number < NUMBER_MAX && !is_free(file, state)) {
        (void)bz_checkpoint_file_set_path(file, ++number);
    }
    file->began_ns = bz_wall_ns();
    bz_campaign_begin(state);
    bz_checkpoint_file_write(file, state, true);
    free(state);
    bz_folder_unlock(lock);
    return file->has_failed ? BZ_EXIT_USAGE : BZ_EXIT_OK;
}

/* --- shards ----------------------------------------------------------------------------------- */

int bz_checkpoint_file_of_shard(struct bz_checkpoint_file *file, const char *folder,
                                struct bz_campaign_state *state, bool *is_there) {
    char error[BZ_ERROR_BYTES];
    struct bz_job wanted = file->job;
    const struct bz_shard *shard = &wanted.shard;
    snprintf(file->folder, sizeof file->folder, "%s", folder);
    snprintf(file->path, sizeof file->path, "%.*s/shard-%" PRIu32 "-of-%" PRIu32 ".checkpoint",
             PATH_MAX - 64, folder, shard->number, shard->count);
    snprintf(wanted.version, sizeof wanted.version, "%s", bz_engine_version());
    file->began_ns = bz_wall_ns();
    *is_there = exists(file->path);
    if (!*is_there) {
        bz_checkpoint_file_write(file, state, true);
        return file->has_failed ? BZ_EXIT_USAGE : BZ_EXIT_OK;
    }
    if (!read_file(file, state, error, sizeof error)) {
        return bz_cli_fail(file->name, BZ_EXIT_USAGE, "--shard: %s; delete it to start over",
                           error);
    }
    if (bz_job_differs(&wanted, &file->job, error, sizeof error)) {
        return bz_cli_fail(file->name, BZ_EXIT_USAGE,
                           "--shard: '%s' belongs to another campaign: %s; name another folder",
                           file->path, error);
    }
    file->before_ms = file->job.spent_ms;
    file->due_ns = file->began_ns + INTERVAL_NS;
    return BZ_EXIT_OK;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* The checkpoints of a folder. */
struct census {
    unsigned count;
    unsigned unfinished;      /* of them; one that cannot be read counts */
    unsigned last_unfinished; /* its number; 0: none */
    char list[BZ_ERROR_BYTES];
};

/* Reads them all; the path of `file` and its checkpoint are those of the last one. */
static void take_census(struct bz_checkpoint_file *file, struct bz_campaign_state *state,
                        struct census *census) {
    char error[BZ_ERROR_BYTES];
    *census = (struct census){.count = 0};
    while (census->count < NUMBER_MAX && bz_checkpoint_file_set_path(file, census->count + 1)) {
        census->count++;
        if (!read_file(file, state, error, sizeof error) ||
            !bz_job_is_finished(&file->job, state)) {
            size_t used = strlen(census->list);
            snprintf(census->list + used, sizeof census->list - used, "%s%s", used > 0 ? ", " : "",
                     file->path);
            census->unfinished++;
            census->last_unfinished = census->count;
        }
    }
}

/* Finds the unfinished campaign of a folder, or its only one. */
static int choose(struct bz_checkpoint_file *file, struct bz_campaign_state *state) {
    struct census census;
    take_census(file, state, &census);
    (void)bz_checkpoint_file_set_path(file, census.unfinished > 0 ? census.last_unfinished : 1);
    if (census.count == 0) {
        return bz_cli_fail(file->name, BZ_EXIT_USAGE,
                           "--resume: there is no '%s': only a campaign with --out writes one",
                           file->path);
    }
    if (census.unfinished > 1) {
        return bz_cli_fail(
            file->name, BZ_EXIT_USAGE,
            "--resume: %u campaigns in '%s' are unfinished; name the file of one: %s",
            census.unfinished, file->folder, census.list);
    }
    if (census.unfinished == 0 && census.count > 1) {
        return bz_cli_fail(file->name, BZ_EXIT_USAGE,
                           "--resume: all %u campaigns in '%s' are finished; for the report of "
                           "one, name its file, as '%s'",
                           census.count, file->folder, file->path);
    }
    return BZ_EXIT_OK;
}

int bz_checkpoint_file_read(struct bz_checkpoint_file *file, const char *path,
                            struct bz_campaign_state *state) {
    char error[BZ_ERROR_BYTES];
    snprintf(file->path, sizeof file->path, "%s", path);
    return read_file(file, state, error, sizeof error)
               ? BZ_EXIT_OK
               : bz_cli_fail(file->name, BZ_EXIT_USAGE, "%s", error);
}

int bz_checkpoint_file_open(struct bz_checkpoint_file *file, const char *argument,
                            struct bz_campaign_state *state) {
    struct stat status;
    char error[BZ_ERROR_BYTES];
    if (argument[0] == '\0' || strlen(argument) > PATH_MAX - 600) {
        return bz_cli_fail(file->name, BZ_EXIT_USAGE,
                           "--resume takes the folder of a campaign, and not '%.64s'", argument);
    }
    if (stat(argument, &status) == 0 && S_ISDIR(status.st_mode)) {
        snprintf(file->folder, sizeof file->folder, "%s", argument);
        int code = choose(file, state);
        if (code != BZ_EXIT_OK) {
            return code;
        }
    } else {
        const char *slash = strrchr(argument, '/');
        size_t length = slash == NULL ? 0 : (size_t)(slash - argument);
        snprintf(file->path, sizeof file->path, "%s", argument);
        snprintf(file->folder, sizeof file->folder, "%.*s", length == 0 ? 1 : (int)length,
                 slash == NULL ? "." : argument);
    }
    if (!read_file(file, state, error, sizeof error)) {
        return bz_cli_fail(file->name, BZ_EXIT_USAGE, "--resume: %s", error);
    }
    file->before_ms = file->job.spent_ms;
    file->began_ns = bz_wall_ns();
    file->due_ns = file->began_ns + INTERVAL_NS;
    return BZ_EXIT_OK;
}

int bz_checkpoint_file_check_code(const struct bz_checkpoint_file *file,
                                  const struct bz_campaign_state *state) {
    const struct bz_job *job = &file->job;
    uint64_t seed = job->seed_first + bz_job_first_run(job);
    static struct bz_program program;
    bz_job_program(job, seed, &program);
    bool is_measured = state->result.runs > 0 && bz_program_measure(&program);
    struct bz_world *world = is_measured ? bz_program_new_world(&program) : NULL;
    if (world == NULL) {
        return BZ_EXIT_OK; /* a lack shows later */
    }
    enum bz_run_end end = bz_program_run(&program, world, seed);
    uint64_t digest = bz_judge_digest(world->judge);
    bz_world_destroy(world);
    return end == BZ_RUN_NO_RESOURCE || bz_interrupt_requested != 0 ||
                   digest == state->result.digest_first
               ? BZ_EXIT_OK
               : bz_cli_fail(file->name, BZ_EXIT_USAGE,
                             "%s: seed 0x%" PRIx64 " had digest %016" PRIx64 ", and has %016" PRIx64
                             " now: the code has changed, or something "
                             "besides the choices decides; start a new campaign",
                             file->path, seed, state->result.digest_first, digest);
}

void bz_checkpoint_file_print_resume(const char *command, const char *place,
                                     const struct bz_text *more) {
    const struct bz_contain *contain = &bz_cli_catalog.contain;
    char quoted[2 * PATH_MAX];
    fflush(stdout);
    fprintf(stderr, "to continue: %s %s --resume %s%s", bz_cli_program, command,
            bz_cli_quoted(place, quoted, sizeof quoted), more->bytes != NULL ? more->bytes : "");
    if (contain->step_ns != 0) {
        fprintf(stderr, " --step-time %" PRIu64, contain->step_ns / 1000000);
    }
    if (contain->memory_bytes != 0) {
        fprintf(stderr, " --max-memory %" PRIu64, contain->memory_bytes >> 20u);
    }
    fputc('\n', stderr);
}

void bz_checkpoint_file_print_command(const struct bz_checkpoint_file *file, bool is_strict) {
    struct bz_campaign_state *state = bz_lack_check(malloc(sizeof *state), "a checkpoint");
    struct bz_checkpoint_file other = *file;
    struct census census;
    struct bz_text more = {0};
    take_census(&other, state, &census);
    free(state);
    bz_plugins_add_options(&more, file->job.program.scenario, file->job.program.variant);
    bz_text_add(&more, "%s", is_strict ? " --strict" : "");
    bz_checkpoint_file_print_resume("run", census.unfinished == 1 ? file->folder : file->path,
                                    &more);
    bz_text_fini(&more);
}
