/* buzzer corpus: replays every trace of a folder. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/run/replay.h"
#include "tools/cli.h"
#include "tools/options.h"
#include "tools/plugins.h"
#include "tools/report.h"

struct corpus {
    const char *name;
    const char *folder;
    bool is_json;
    struct bz_json *root;
    struct bz_json *results;
    uint64_t matched;
    uint64_t diverged;
    uint64_t unreadable;
    bool is_out;         /* of memory: the rest was not replayed */
    uint64_t of_plugins; /* traces of their variants */
};

static const struct bz_option options[] = {
    {"json", NULL, "Print one JSON document", BZ_OPTION_FLAG, offsetof(struct corpus, is_json)},
    {NULL},
};

/* The corpus of the source tree, or else the one installed with the program. */
static const char *default_folder(char *buffer, size_t size_bytes) {
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (access("traces/corpus", F_OK) == 0 || length <= 0) {
        return "traces/corpus";
    }
    program[length] = '\0';
    for (int level = 0; level < 2; level++) { /* PREFIX/bin/buzzer */
        char *slash = strrchr(program, '/');
        if (slash != NULL) {
            *slash = '\0';
        }
    }
    int written = snprintf(buffer, size_bytes, "%s/share/buzzer/corpus", program);
    bool is_there = written > 0 && (size_t)written < size_bytes && access(buffer, F_OK) == 0;
    return is_there ? buffer : "traces/corpus";
}

static int is_trace(const struct dirent *entry) {
    size_t length = strlen(entry->d_name);
    return length > 5 && strcmp(entry->d_name + length - 5, ".json") == 0;
}

static void note_unreadable(struct corpus *corpus, const char *file, const char *error) {
    corpus->unreadable++;
    bz_cli_fail(corpus->name, BZ_EXIT_USAGE, "%s", error);
    if (corpus->is_json) {
        struct bz_json *item = bz_json_append_object(corpus->results);
        bz_json_add_string(item, "file", file);
        bz_json_add_string(item, "result", "unreadable");
        bz_json_add_string(item, "message", error);
    } else {
        printf("%-10s %s\n", "unreadable", file);
    }
}

static void note_replayed(struct corpus *corpus, const char *file,
                          const struct bz_replay_report *report) {
    bool is_matched = report->result == BZ_REPLAY_MATCHED;
    corpus->matched += is_matched;
    corpus->diverged += !is_matched;
    if (corpus->is_json) {
        struct bz_json *item = bz_json_append_object(corpus->results);
        bz_json_add_string(item, "file", file);
        bz_json_add_replay(item, report);
    } else if (is_matched) {
        printf("%-10s %s: %" PRIu32 " steps, %s\n", "matched", file, report->steps,
               report->violation.oracle != NULL ? report->violation.oracle : "pass");
    } else {
        printf("%-10s %s: step %" PRIu32 ", expected %s, got %s\n", "diverged", file, report->step,
               report->expected, report->got);
    }
}

static void replay_file(struct corpus *corpus, const char *file) {
    char path[PATH_MAX];
    char error[BZ_ERROR_BYTES];
    char message[BZ_ERROR_BYTES + PATH_MAX + 2];
    struct bz_trace trace;
    struct bz_program program;
    struct bz_replay_report report = {.lack = ""};
    bz_trace_init(&trace);
    int length = snprintf(path, sizeof path, "%s/%s", corpus->folder, file);
    if (length < 0 || (size_t)length >= sizeof path) {
        note_unreadable(corpus, file, "the path is too long");
    } else if (!bz_trace_read(&trace, path, error, sizeof error)) {
        note_unreadable(corpus, file, error); /* the message names the file */
    } else if (!bz_trace_program(&trace, &bz_cli_catalog, &program, error, sizeof error) ||
               !bz_replay_trace(&trace, &program, &report, error, sizeof error)) {
        snprintf(message, sizeof message, "%s: %s", path, error);
        corpus->is_out = report.lack[0] != '\0';
        if (corpus->is_out) {
            bz_cli_fail(corpus->name, BZ_EXIT_INTERNAL, "%s", message);
        } else {
            note_unreadable(corpus, file, message);
        }
    } else {
        corpus->of_plugins += bz_plugins_file(program.variant) != NULL;
        note_replayed(corpus, file, &report);
    }
    bz_trace_fini(&trace);
}

static void finish(struct corpus *corpus, int code) {
    uint64_t total = corpus->matched + corpus->diverged + corpus->unreadable;
    if (!corpus->is_json) {
        printf("%" PRIu64 " traces: %" PRIu64 " matched, %" PRIu64 " diverged, %" PRIu64
               " unreadable\n",
               total, corpus->matched, corpus->diverged, corpus->unreadable);
        return;
    }
    bz_json_add_number(corpus->root, "total", total);
    bz_json_add_number(corpus->root, "matched", corpus->matched);
    bz_json_add_number(corpus->root, "diverged", corpus->diverged);
    bz_json_add_number(corpus->root, "unreadable", corpus->unreadable);
    bz_json_add_number(corpus->root, "exit_code", (uint64_t)code);
    bz_json_put(corpus->root);
}

int bz_command_corpus(int argc, char **argv) {
    struct corpus corpus = {.name = argv[0]};
    const struct bz_syntax syntax = {
        .options = options,
        .target = &corpus,
        .args_doc = "[DIR]",
        .arguments = &corpus.folder,
        .arguments_max = 1,
        .takes_plugins = true,
        .doc = "Replays every *.json of a folder (traces/corpus). Exit status: 0 all matched, 3 "
               "one diverged, 2 one is unreadable, or there is none, 4 none is of a variant of the "
               "plug-ins."};
    char folder[PATH_MAX];
    struct dirent **entries;
    int code = bz_options_parse(&syntax, argc, argv);
    if (code != BZ_EXIT_OK) {
        return code;
    }
    if (corpus.folder == NULL) {
        corpus.folder = default_folder(folder, sizeof folder);
    }
    int count = scandir(corpus.folder, &entries, is_trace, alphasort);
    if (count < 0) {
        return bz_cli_fail(argv[0], bz_cli_exit_of_errno(errno), "cannot read the folder '%s': %s",
                           corpus.folder, strerror(errno));
    }
    if (count == 0) {
        free(entries);
        return bz_cli_fail(argv[0], BZ_EXIT_USAGE, "no *.json in '%s': nothing was replayed",
                           corpus.folder);
    }
    if (corpus.is_json) {
        corpus.root = bz_json_new_object();
        bz_json_add_string(corpus.root, "folder", corpus.folder);
        corpus.results = bz_json_add_array(corpus.root, "results");
    }
    for (int index = 0; index < count; index++) {
        if (!corpus.is_out) {
            replay_file(&corpus, entries[index]->d_name);
        }
        free(entries[index]);
    }
    free(entries);
    code = corpus.is_out           ? BZ_EXIT_INTERNAL
           : corpus.diverged > 0   ? BZ_EXIT_DIVERGED
           : corpus.unreadable > 0 ? BZ_EXIT_USAGE
                                   : BZ_EXIT_OK;
    if (code == BZ_EXIT_OK && corpus.of_plugins == 0 && bz_options_has_plugins()) {
        code = bz_cli_fail(argv[0], BZ_EXIT_UNPROVED,
                           "the plug-in is not tested: no trace of '%s' is of one of its variants",
                           corpus.folder);
    }
    finish(&corpus, code);
    return code;
}
