#include "tools/session/shard_files.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/session/totals.h"
#include "tools/cli/cli.h"
#include "traces/lack.h"

#define SUFFIX ".checkpoint"
#define LISTED_MAX 20u /* shards that a text names */

/* --- which files ------------------------------------------------------------------------------ */

/* Not the checkpoint of a search, which is nothing to merge. */
static int is_result(const struct dirent *entry) {
    size_t length = strlen(entry->d_name);
    size_t suffix = sizeof SUFFIX - 1;
    bool is_checkpoint = length > suffix && strcmp(entry->d_name + length - suffix, SUFFIX) == 0;
    return is_checkpoint && strncmp(entry->d_name, "search", 6) != 0;
}

static void add_file(struct bz_shard_files *shards, const char *folder, const char *name) {
    size_t bytes = strlen(folder) + strlen(name) + 2;
    size_t size = (shards->count + 1) * sizeof *shards->files;
    char *path = bz_lack_check(malloc(bytes), "the names of files");
    snprintf(path, bytes, "%s%s%s", folder, folder[0] == '\0' ? "" : "/", name);
    shards->files = bz_lack_check(realloc(shards->files, size), "the names of files");
    shards->files[shards->count++] = (struct bz_shard_file){.path = path};
}

int bz_shard_files_add(struct bz_shard_files *shards, const char *path) {
    struct stat status;
    struct dirent **entries;
    if (strlen(path) >= PATH_MAX - 256) {
        return bz_cli_fail(shards->name, BZ_EXIT_USAGE, "the name '%.64s...' is too long", path);
    }
    if (stat(path, &status) != 0) {
        return bz_cli_fail(shards->name, BZ_EXIT_USAGE, "'%s': %s", path, strerror(errno));
    }
    if (!S_ISDIR(status.st_mode)) {
        add_file(shards, "", path);
        return BZ_EXIT_OK;
    }
    int count = scandir(path, &entries, is_result, alphasort);
    if (count < 0) {
        return bz_cli_fail(shards->name, bz_cli_exit_of_errno(errno), "'%s': %s", path,
                           strerror(errno));
    }
    for (int index = 0; index < count; index++) {
        add_file(shards, path, entries[index]->d_name);
        free(entries[index]);
    }
    free(entries);
    return count > 0 ? BZ_EXIT_OK
                     : bz_cli_fail(shards->name, BZ_EXIT_USAGE,
                                   "there is no result in '%s': 'run --shard I/N --out DIR' "
                                   "writes one",
                                   path);
}

/* --- reading ---------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b) {
    const struct bz_shard_file *first = a;
    const struct bz_shard_file *second = b;
    return (first->number > second->number) - (first->number < second->number);
}

/* One that does not belong to the campaign is refused. */
static int check(const struct bz_shard_files *shards, const struct bz_checkpoint_file *file) {
    const struct bz_checkpoint_file *of = &shards->of;
    char reason[2 * BZ_TOKEN_BYTES + 64];
    if (strcmp(of->job.version, bz_engine_version()) != 0) {
        return bz_cli_fail(shards->name, BZ_EXIT_USAGE,
                           "%s was written by version '%s', and this is %s: merge with the "
                           "program that ran the shards",
                           of->path, of->job.version, bz_engine_version());
    }
    if (bz_job_differs(&of->job, &file->job, reason, sizeof reason)) {
        return bz_cli_fail(shards->name, BZ_EXIT_USAGE, "%s does not belong to %s: %s", file->path,
                           of->path, reason);
    }
    return BZ_EXIT_OK;
}

/* Reads each for its place. */
static int survey(struct bz_shard_files *shards, struct bz_campaign_state *state) {
    static struct bz_checkpoint_file file;
    file.name = shards->name;
    shards->of.name = shards->name;
    for (size_t index = 0; index < shards->count; index++) {
        int code = bz_checkpoint_file_read(&file, shards->files[index].path, state);
        if (code == BZ_EXIT_OK && index == 0) {
            shards->of = file;
        }
        code = code == BZ_EXIT_OK ? check(shards, &file) : code;
        if (code != BZ_EXIT_OK) {
            return code;
        }
        shards->files[index].number = file.job.shard.number;
    }
    qsort(shards->files, shards->count, sizeof *shards->files, compare);
    for (size_t index = 1; index < shards->count; index++) {
        const struct bz_shard_file *file_here = &shards->files[index];
        if (file_here->number == file_here[-1].number) {
            return bz_cli_fail(shards->name, BZ_EXIT_USAGE,
                               "%s and %s overlap: both are shard %" PRIu32 " of %" PRIu32,
                               file_here[-1].path, file_here->path, file_here->number,
                               shards->of.job.shard.count);
        }
    }
    return BZ_EXIT_OK;
}

/* A shard that still runs may have replaced its file by now. */
static int join(struct bz_shard_files *shards, struct bz_shard_file *shard,
                struct bz_campaign_state *part, struct bz_campaign_state *sum) {
    static struct bz_checkpoint_file file;
    file.name = shards->name;
    int code = bz_checkpoint_file_read(&file, shard->path, part);
    code = code == BZ_EXIT_OK ? check(shards, &file) : code;
    if (code == BZ_EXIT_OK && file.job.shard.number != shard->number) {
        code = bz_cli_fail(shards->name, BZ_EXIT_USAGE, "%s was changed while it was read",
                           shard->path);
    }
    code = code == BZ_EXIT_OK ? bz_checkpoint_file_check_code(&file, part) : code;
    if (code == BZ_EXIT_OK) {
        shard->runs = part->result.runs;
        shard->is_finished = bz_job_is_finished(&file.job, part);
        shards->spent_ms += file.job.spent_ms;
        bz_tally_join(sum, part);
    }
    return code;
}

int bz_shard_files_join(struct bz_shard_files *shards, struct bz_campaign_state *sum) {
    struct bz_campaign_state *part = bz_lack_check(malloc(sizeof *part), "a shard");
    int code = survey(shards, part);
    for (size_t index = 0; code == BZ_EXIT_OK && index < shards->count; index++) {
        code = join(shards, &shards->files[index], part, sum);
    }
    free(part);
    return code;
}

/* --- what they cover -------------------------------------------------------------------------- */

/* One shard after the other: `file` is NULL if it has none. */
struct place {
    struct bz_shard shard;
    size_t next; /* of the files */
    const struct bz_shard_file *file;
    uint64_t first; /* run */
    uint64_t runs;  /* wanted */
};

static bool next_place(const struct bz_shard_files *shards, struct place *place) {
    const struct bz_job *campaign = &shards->of.job;
    place->shard.count = campaign->shard.count;
    if (place->shard.number == place->shard.count) {
        return false;
    }
    place->shard.number++;
    place->first = bz_shard_first(&place->shard, campaign->campaign_runs);
    place->runs = bz_shard_runs(&place->shard, campaign->campaign_runs);
    bool is_there =
        place->next < shards->count && shards->files[place->next].number == place->shard.number;
    place->file = is_there ? &shards->files[place->next++] : NULL;
    return true;
}

static bool is_complete(const struct place *place) {
    return place->file != NULL && place->file->is_finished;
}

static uint64_t done(const struct place *place) {
    return place->file == NULL ? 0 : place->file->runs;
}

uint32_t bz_shard_files_missing(const struct bz_shard_files *shards) {
    struct place place = {.next = 0};
    uint32_t missing = 0;
    while (next_place(shards, &place)) {
        missing += !is_complete(&place);
    }
    return missing;
}

/* Runs have numbers, but a shard with a limit of time has no last one. */
static void add_missing(const struct bz_shard_files *shards, const struct place *place,
                        struct bz_text *text) {
    bool is_timed = shards->of.job.limit_ms != 0;
    bz_text_add(text, "missing  shard %" PRIu32 "/%" PRIu32 ": ", place->shard.number,
                place->shard.count);
    if (is_timed && place->file == NULL) {
        bz_text_add(text, "all of its time\n");
    } else if (is_timed) {
        bz_text_add(text, "the rest of its time, after %" PRIu64 " runs\n", done(place));
    } else {
        bz_text_add(text, "runs %" PRIu64 " to %" PRIu64 "\n", place->first + done(place),
                    place->first + place->runs - 1);
    }
}

void bz_shard_files_text(const struct bz_shard_files *shards, struct bz_text *text) {
    uint32_t missing = bz_shard_files_missing(shards);
    uint32_t count = shards->of.job.shard.count;
    struct place place = {.next = 0};
    uint32_t listed = 0;
    bz_text_add(text, "shards   %" PRIu32 " of %" PRIu32 " complete\n", count - missing, count);
    while (listed < LISTED_MAX && next_place(shards, &place)) {
        if (!is_complete(&place)) {
            add_missing(shards, &place, text);
            listed++;
        }
    }
    if (listed < missing) {
        bz_text_add(text, "         and %" PRIu32 " further shards\n", missing - listed);
    }
}

static void add_range(struct bz_json *ranges, uint64_t first, uint64_t runs) {
    if (runs > 0) {
        struct bz_json *range = bz_json_append_object(ranges);
        bz_json_add_hex(range, "first_run", first);
        bz_json_add_number(range, "runs", runs);
    }
}

void bz_shard_files_add_json(const struct bz_shard_files *shards, struct bz_json *root) {
    uint32_t count = shards->of.job.shard.count;
    struct bz_json *object = bz_json_add_object(root, "shards");
    bz_json_add_number(object, "count", count);
    bz_json_add_number(object, "complete", count - bz_shard_files_missing(shards));
    struct bz_json *ranges = bz_json_add_array(object, "ranges");
    struct bz_json *missing = bz_json_add_array(object, "missing");
    struct place place = {.next = 0};
    uint64_t first = 0; /* of the range so far */
    uint64_t end = 0;
    while (next_place(shards, &place)) {
        if (place.first != end) {
            add_range(ranges, first, end - first);
            first = place.first;
        }
        end = place.first + done(&place);
        if (!is_complete(&place)) {
            struct bz_json *item = bz_json_append_object(missing);
            bz_json_add_number(item, "shard", place.shard.number);
            bz_json_add_hex(item, "first_run", end);
            bz_json_add_hex(item, "runs", place.runs - done(&place));
        }
    }
    add_range(ranges, first, end - first);
}

void bz_shard_files_fini(struct bz_shard_files *shards) {
    for (size_t index = 0; index < shards->count; index++) {
        free(shards->files[index].path);
    }
    free(shards->files);
}
