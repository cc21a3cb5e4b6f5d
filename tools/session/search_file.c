#include "tools/session/search_file.h"

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
#include "tools/session/checkpoint_file.h"
#include "traces/text.h"

#define NUMBER_MAX 1000u
#define FIRST_NS UINT64_C(100000000)
#define INTERVAL_NS UINT64_C(1000000000)
#define SHARE 20u /* of the time, one part at most */

/* search.checkpoint, search-2.checkpoint, ... */
static void set_path(struct bz_search_file *file, unsigned number) {
    char suffix[16] = "";
    size_t length = strlen(file->folder);
    if (number > 1) {
        snprintf(suffix, sizeof suffix, "-%u", number);
    }
    snprintf(file->path, sizeof file->path, "%.*s%ssearch%s.checkpoint", PATH_MAX - 128,
             file->folder, length > 0 && file->folder[length - 1] == '/' ? "" : "/", suffix);
}

static bool exists(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0 || errno != ENOENT;
}

/* --- the code --------------------------------------------------------------------------------- */

static uint64_t digest_of(const char *path) {
    FILE *file = fopen(path, "rb");
    uint64_t digest = file == NULL ? 0 : bz_explore_digest_of(file);
    if (file != NULL) {
        (void)fclose(file);
    }
    return digest;
}

/* What the program and its plug-ins are. */
static void get_digests(const struct bz_program *program, uint64_t *code, uint64_t *plugins) {
    const char *files[BZ_EXPLORE_PLUGINS_MAX];
    uint32_t count = bz_plugins_files(program->scenario, program->variant, files);
    *code = digest_of("/proc/self/exe");
    for (uint32_t index = 0; index < BZ_EXPLORE_PLUGINS_MAX; index++) {
        plugins[index] = index < count ? digest_of(files[index]) : 0;
    }
}

static int check_code(const struct bz_search_file *file) {
    const struct bz_explore_checkpoint *checkpoint = &file->checkpoint;
    const char *files[BZ_EXPLORE_PLUGINS_MAX];
    uint64_t code;
    uint64_t plugins[BZ_EXPLORE_PLUGINS_MAX];
    uint32_t count =
        bz_plugins_files(checkpoint->program.scenario, checkpoint->program.variant, files);
    get_digests(&checkpoint->program, &code, plugins);
    if (code != checkpoint->code_digest) {
        return bz_cli_fail(
            file->name, BZ_EXIT_USAGE,
            "--resume: %s: another build of %s wrote it, and this one may have other "
            "states: continue with that build, or start a new search",
            file->path, bz_cli_program);
    }
    for (uint32_t index = 0; index < BZ_EXPLORE_PLUGINS_MAX; index++) {
        if (plugins[index] != checkpoint->plugin_digests[index]) {
            return bz_cli_fail(file->name, BZ_EXIT_USAGE,
                               "--resume: %s: the plug-in '%s' is not the one that was searched: "
                               "continue with that one, or start a new search",
                               file->path, index < count ? files[index] : "(none)");
        }
    }
    return BZ_EXIT_OK;
}

/* --- writing ---------------------------------------------------------------------------------- */

static void begin_session(struct bz_search_file *file) {
    file->began_ns = bz_wall_ns();
    file->due_ns = file->began_ns + FIRST_NS;
}

int bz_search_file_begin(struct bz_search_file *file, const char *folder) {
    struct bz_explore_checkpoint *checkpoint = &file->checkpoint;
    if (strlen(folder) > PATH_MAX - 600) {
        return bz_cli_fail(file->name, BZ_EXIT_USAGE, "--out: the name of the folder is too long");
    }
    snprintf(file->folder, sizeof file->folder, "%s", folder);
    get_digests(&checkpoint->program, &checkpoint->code_digest, checkpoint->plugin_digests);
    begin_session(file);
    return BZ_EXIT_OK;
}

bool bz_search_file_is_due(const struct bz_search_file *file) {
    return bz_wall_ns() >= file->due_ns;
}

struct writing {
    const struct bz_explore_checkpoint *checkpoint;
    const struct bz_search *search;
};

static bool write_content(void *context, FILE *file) {
    const struct writing *writing = context;
    return bz_explore_checkpoint_write(writing->checkpoint, writing->search, file);
}

void bz_search_file_write(struct bz_search_file *file, const struct bz_search *search) {
    struct writing writing = {&file->checkpoint, search};
    uint64_t now_ns = bz_wall_ns();
    bool is_first = file->path[0] == '\0';
    int lock = is_first ? bz_folder_lock(file->folder) : -1;
    for (unsigned number = 1; is_first && (number == 1 || exists(file->path)); number++) {
        set_path(file, number);
    }
    file->checkpoint.spent_ms = file->before_ms + (now_ns - file->began_ns) / 1000000;
    bool is_written = bz_file_replace_by(file->path, write_content, &writing);
    int problem = errno;
    bz_folder_unlock(lock);
    if (!is_written && !file->has_failed) {
        bz_cli_fail(file->name, BZ_EXIT_USAGE, "%s: cannot be written: %s%s", file->path,
                    strerror(problem),
                    is_first ? "" : "; the last one that was written stays as it is");
    }
    if (!is_written && is_first) {
        file->path[0] = '\0';
    }
    file->has_failed = !is_written;
    uint64_t pause_ns = (bz_wall_ns() - now_ns) * SHARE;
    file->due_ns = bz_wall_ns() + (pause_ns > INTERVAL_NS ? pause_ns : INTERVAL_NS);
}

static const char *set_aside_path(const struct bz_search_file *file, char *path, size_t bytes) {
    snprintf(path, bytes, "%s" BZ_SEARCH_ASIDE, file->path);
    return path;
}

bool bz_search_file_set_aside(const struct bz_search_file *file) {
    char path[PATH_MAX + 16];
    return file->path[0] != '\0' &&
           (link(file->path, set_aside_path(file, path, sizeof path)) == 0 || errno == EEXIST);
}

void bz_search_file_remove(struct bz_search_file *file) {
    char path[PATH_MAX + 16];
    if (file->path[0] != '\0') {
        (void)unlink(file->path);
        (void)unlink(set_aside_path(file, path, sizeof path));
        file->path[0] = '\0';
    }
}

/* --- reading ---------------------------------------------------------------------------------- */

/* How many checkpoints the folder has; the path is that of the last one. */
static unsigned take_census(struct bz_search_file *file, char *list, size_t list_bytes) {
    unsigned count = 0;
    unsigned last = 1;
    list[0] = '\0';
    for (unsigned number = 1; number < NUMBER_MAX; number++) {
        set_path(file, number);
        if (exists(file->path)) {
            size_t used = strlen(list);
            const char *slash = strrchr(file->path, '/');
            snprintf(list + used, list_bytes - used, "%s%.64s", count > 0 ? ", " : "",
                     slash == NULL ? file->path : slash + 1);
            count++;
            last = number;
        }
    }
    set_path(file, last);
    return count;
}

/* Finds the file of the argument. */
static int choose(struct bz_search_file *file, const char *argument) {
    struct stat status;
    char list[BZ_ERROR_BYTES];
    if (argument[0] == '\0' || strlen(argument) > PATH_MAX - 600) {
        return bz_cli_fail(file->name, BZ_EXIT_USAGE,
                           "--resume takes the folder of a search, and not '%.64s'", argument);
    }
    if (stat(argument, &status) != 0 || !S_ISDIR(status.st_mode)) {
        const char *slash = strrchr(argument, '/');
        size_t length = slash == NULL ? 0 : (size_t)(slash - argument);
        snprintf(file->path, sizeof file->path, "%s", argument);
        snprintf(file->folder, sizeof file->folder, "%.*s", length == 0 ? 1 : (int)length,
                 slash == NULL ? "." : argument);
        return BZ_EXIT_OK;
    }
    snprintf(file->folder, sizeof file->folder, "%s", argument);
    unsigned count = take_census(file, list, sizeof list);
    if (count == 0) {
        return bz_cli_fail(
            file->name, BZ_EXIT_USAGE,
            "--resume: there is no '%s': the search is complete, was stopped at once, or had no "
            "--out",
            file->path);
    }
    return count == 1
               ? BZ_EXIT_OK
               : bz_cli_fail(file->name, BZ_EXIT_USAGE,
                             "--resume: %u searches in '%s' are unfinished; name the file of "
                             "one: %s",
                             count, file->folder, list);
}

int bz_search_file_open(struct bz_search_file *file, const char *argument) {
    char error[BZ_ERROR_BYTES];
    char partial[PATH_MAX + 16];
    int code = choose(file, argument);
    if (code != BZ_EXIT_OK) {
        return code;
    }
    int descriptor = bz_file_open(file->path, error, sizeof error);
    if (descriptor < 0) {
        return bz_cli_fail(file->name, BZ_EXIT_USAGE, "--resume: %s", error);
    }
    FILE *stream = bz_lack_check(fdopen(descriptor, "rb"), "a checkpoint");
    if (!bz_explore_checkpoint_open(&file->checkpoint, stream, &bz_cli_catalog, file->path, error,
                                    sizeof error)) {
        return bz_cli_fail(file->name, BZ_EXIT_USAGE, "--resume: %s", error);
    }
    code = check_code(file);
    if (code != BZ_EXIT_OK) {
        bz_explore_checkpoint_close(&file->checkpoint);
        return code;
    }
    snprintf(partial, sizeof partial, "%s.tmp-0", file->path);
    (void)unlink(partial); /* of a session that was killed while it wrote */
    file->before_ms = file->checkpoint.spent_ms;
    begin_session(file);
    return BZ_EXIT_OK;
}

void bz_search_file_print_command(const struct bz_search_file *file) {
    struct bz_search_file other = *file;
    char list[BZ_ERROR_BYTES];
    struct bz_text plugins = {0};
    bool is_only = take_census(&other, list, sizeof list) == 1;
    bz_plugins_add_options(&plugins, file->checkpoint.program.scenario,
                           file->checkpoint.program.variant);
    bz_checkpoint_file_print_resume("explore", is_only ? file->folder : file->path, &plugins);
    bz_text_fini(&plugins);
}
