#include "tools/stored_traces.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/carry.h"
#include "tools/cli.h"
#include "tools/diagnosis.h"
#include "tools/plugins.h"

static void keep_failed(struct bz_stored *stored, const char *path, struct bz_carry *carry) {
    const struct bz_trace_verdict *verdict = &carry->record.verdict;
    if (stored->failed >= BZ_STORED_MAX) {
        return;
    }
    struct bz_stored_failure *failure = &stored->failures[stored->failed];
    *failure = (struct bz_stored_failure){.is_as_recorded = carry->result == BZ_CARRY_FAILS,
                                          .step = verdict->step};
    snprintf(failure->path, sizeof failure->path, "%s", path);
    snprintf(failure->oracle, sizeof failure->oracle, "%s", verdict->oracle);
    snprintf(failure->object, sizeof failure->object, "%s",
             verdict->object != NULL ? verdict->object : "");
    snprintf(failure->message, sizeof failure->message, "%s",
             verdict->message != NULL ? verdict->message : "");
    failure->record = carry->record; /* with all that it owns */
    bz_trace_init(&carry->record);
}

static int try_trace(struct bz_stored *stored, const char *name, const char *path,
                     const struct bz_trace *trace, const struct bz_program *program) {
    struct bz_carry carry;
    int code = BZ_EXIT_OK;
    bz_carry(&carry, trace, program->variant);
    if (carry.result == BZ_CARRY_REFUSED || carry.result == BZ_CARRY_LACKS) {
        code = bz_cli_fail(name, carry.result == BZ_CARRY_LACKS ? BZ_EXIT_INTERNAL : BZ_EXIT_USAGE,
                           "--corpus: %s: %s", path, carry.message);
    }
    bool has_failed = carry.result == BZ_CARRY_FAILS || carry.result == BZ_CARRY_FAILS_OTHERWISE;
    stored->tried += has_failed || carry.result == BZ_CARRY_PASSES;
    if (has_failed) {
        keep_failed(stored, path, &carry);
        stored->failed++;
    }
    bz_carry_fini(&carry);
    return code;
}

static int try_file(struct bz_stored *stored, const char *name, const char *folder,
                    const char *file, const struct bz_program *program) {
    char path[PATH_MAX];
    char error[BZ_ERROR_BYTES];
    struct bz_trace trace;
    int code = BZ_EXIT_OK;
    int length = snprintf(path, sizeof path, "%s/%s", folder, file);
    if (length < 0 || (size_t)length >= sizeof path) {
        return bz_cli_fail(name, BZ_EXIT_USAGE, "--corpus: a path in '%.64s...' is too long",
                           folder);
    }
    bz_trace_init(&trace);
    if (!bz_trace_read(&trace, path, error, sizeof error)) {
        code = bz_cli_fail(name, BZ_EXIT_USAGE, "--corpus: %s", error);
    } else if (strcmp(trace.scenario, program->scenario->name) == 0) {
        code = try_trace(stored, name, path, &trace, program);
    }
    bz_trace_fini(&trace);
    return code;
}

int bz_stored_try(struct bz_stored *stored, const char *name, const char *folder,
                  const struct bz_program *program) {
    struct dirent **entries;
    int count = bz_carry_list(folder, &entries);
    int code = BZ_EXIT_OK;
    if (count < 0) {
        return bz_cli_fail(name, bz_cli_exit_of_errno(errno),
                           "--corpus: cannot read the folder '%s': %s", folder, strerror(errno));
    }
    for (int index = 0; index < count; index++) {
        if (code == BZ_EXIT_OK && bz_interrupt_requested == 0) {
            code = try_file(stored, name, folder, entries[index]->d_name, program);
        }
        free(entries[index]);
    }
    free(entries);
    return code;
}

static uint64_t kept(const struct bz_stored *stored) {
    return stored->failed < BZ_STORED_MAX ? stored->failed : BZ_STORED_MAX;
}

/* `is_first`: with its timeline. The others are often the same run, made smaller. */
static void print_failure(const struct bz_stored_failure *failure, const struct bz_program *program,
                          bool is_first) {
    const char *plugin = bz_plugins_file(program->variant);
    bool has_object = failure->object[0] != '\0';
    char quoted[4 * PATH_MAX];
    printf("stored trace %s fails%s: %s%s%s%s at step %" PRIu64 "\n", failure->path,
           failure->is_as_recorded ? " as recorded" : "", failure->oracle,
           has_object ? " of '" : "", failure->object, has_object ? "'" : "", failure->step);
    if (is_first) {
        printf("\n");
        bz_diagnosis_print(
            stdout, &(struct bz_diagnosis){.trace = &failure->record, .variant = program->variant});
    } else {
        printf("  %s\n", failure->message);
    }
    printf("  replay  %s%s%s", bz_cli_replay, plugin != NULL ? " --plugin " : "",
           plugin != NULL ? bz_cli_quoted(plugin, quoted, sizeof quoted) : "");
    if (strncmp(bz_cli_replay, bz_cli_program, strlen(bz_cli_program)) == 0) {
        printf(" --variant %s", program->variant->name); /* else it is no command of the program */
    }
    printf(" %s\n\n", bz_cli_quoted(failure->path, quoted, sizeof quoted));
}

void bz_stored_print(const struct bz_stored *stored, const struct bz_program *program,
                     bool is_quiet) {
    for (uint64_t index = 0; index < kept(stored); index++) {
        print_failure(&stored->failures[index], program, index == 0);
    }
    if (!is_quiet) {
        printf("stored traces: %" PRIu64 " tried, %" PRIu64 " failed\n\n", stored->tried,
               stored->failed);
    }
}

void bz_stored_add_json(const struct bz_stored *stored, struct bz_json *object) {
    struct bz_json *root = bz_json_add_object(object, "stored");
    bz_json_add_number(root, "tried", stored->tried);
    bz_json_add_number(root, "failed", stored->failed);
    struct bz_json *array = bz_json_add_array(root, "failures");
    for (uint64_t index = 0; index < kept(stored); index++) {
        const struct bz_stored_failure *failure = &stored->failures[index];
        struct bz_json *item = bz_json_append_object(array);
        bz_json_add_string(item, "trace", failure->path);
        bz_json_add_bool(item, "as_recorded", failure->is_as_recorded);
        bz_json_add_string(item, "oracle", failure->oracle);
        bz_json_add_string(item, "object", failure->object[0] != '\0' ? failure->object : NULL);
        bz_json_add_number(item, "step", failure->step);
        bz_json_add_string(item, "message", failure->message);
    }
}
