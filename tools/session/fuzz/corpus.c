#include "tools/session/fuzz/corpus.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/program/replay.h"
#include "traces/lack.h"
#include "traces/text.h"
#include "traces/trace.h"

#define PREFIX "fuzz-"
#define NAME_BYTES 256u

/* The names that the folder is to have. */
struct names {
    char (*items)[NAME_BYTES];
    size_t count;
};

static bool is_wanted(const struct names *names, const char *name) {
    size_t index = 0;
    while (index < names->count && strcmp(names->items[index], name) != 0) {
        index++;
    }
    return index < names->count;
}

static void name_example(const struct bz_fuzz *fuzz, const struct bz_fuzz_example *example,
                         char name[NAME_BYTES]) {
    const struct bz_program *program = &fuzz->arms[example->arm].program;
    snprintf(name, NAME_BYTES, PREFIX "%.70s_%.70s_%s_0x%" PRIx64 ".json", program->scenario->name,
             program->variant->name, fuzz->arms[example->arm].name, example->seed);
    for (char *character = name; *character != '\0'; character++) {
        *character = *character == '/' || *character == ' ' ? '_' : *character;
    }
}

/* A run that is not what it was (the code has changed) is left out: `is_kept` false. */
static bool write_example(const struct bz_fuzz *fuzz, const struct bz_fuzz_example *example,
                          const char *path, bool *is_kept) {
    static struct bz_program program;
    struct bz_replay_report report;
    struct bz_trace trace;
    bool is_ok = true;
    bz_fuzz_program(fuzz, example->arm, example->seed, &program);
    bz_trace_init(&trace);
    *is_kept = bz_record(&program, example->seed, &trace, &report) &&
               trace.digest == example->digest && trace.event_count < BZ_TRACE_EVENTS_MAX;
    if (*is_kept) {
        char *text = bz_lack_check(bz_trace_print(&trace), "a trace of the corpus");
        is_ok = bz_file_replace(path, text, strlen(text));
        free(text);
    }
    bz_trace_fini(&trace);
    return is_ok;
}

static void remove_others(const char *folder, const struct names *names) {
    DIR *dir = opendir(folder);
    char path[PATH_MAX + NAME_MAX + 2];
    for (const struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        size_t length = strlen(entry->d_name);
        bool is_own = strncmp(entry->d_name, PREFIX, sizeof PREFIX - 1) == 0 && length > 5 &&
                      strcmp(entry->d_name + length - 5, ".json") == 0;
        if (is_own && !is_wanted(names, entry->d_name)) {
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
            (void)unlink(path);
        }
    }
    if (dir != NULL) {
        closedir(dir);
    }
}

/* Adds the examples of a target. False with errno. */
static bool add_target(const struct bz_fuzz *fuzz, const struct bz_fuzz_target *target,
                       const char *folder, struct names *names) {
    uint32_t chosen[BZ_FUZZ_SITUATIONS_MAX];
    uint32_t count = bz_fuzz_cover(target, chosen);
    char path[PATH_MAX + NAME_BYTES + 2];
    struct stat status;
    bool is_ok = true;
    size_t bytes = (names->count + count + 1) * sizeof *names->items;
    names->items = bz_lack_check(realloc(names->items, bytes), "the names of a corpus");
    for (uint32_t index = 0; is_ok && index < count; index++) {
        const struct bz_fuzz_example *example = &target->situations[chosen[index]].shortest;
        char *name = names->items[names->count];
        bool is_kept = true;
        name_example(fuzz, example, name);
        snprintf(path, sizeof path, "%s/%s", folder, name);
        if (stat(path, &status) != 0) {
            is_ok = write_example(fuzz, example, path, &is_kept);
        }
        names->count += is_kept;
    }
    return is_ok;
}

bool bz_fuzz_corpus_write(const struct bz_fuzz *fuzz, const char *folder, uint64_t *count) {
    struct names names = {NULL, 0};
    bool is_ok = true;
    for (uint32_t target = 0; is_ok && target < fuzz->target_count; target++) {
        is_ok = add_target(fuzz, fuzz->targets[target], folder, &names);
    }
    int problem = errno;
    if (is_ok) {
        remove_others(folder, &names);
    }
    *count = names.count;
    free(names.items);
    errno = problem;
    return is_ok;
}
