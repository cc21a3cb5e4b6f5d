#include "sim/session/stored_traces.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/session/stop.h"
#include "sim/session/transfer.h"
#include "traces/text.h"

/* Its token, if the seed of the trace leads to it. */
static void name_run(struct bz_stored_failure *failure, const struct bz_program *program) {
    const struct bz_trace *record = &failure->record;
    struct bz_trace again;
    struct bz_replay_report report;
    bz_trace_init(&again);
    if (bz_record(program, record->seed, &again, &report) && again.digest == record->digest) {
        bz_token_format(program, record->seed, record->digest, failure->token,
                        sizeof failure->token);
    }
    bz_trace_fini(&again);
}

/* Takes over the record of the run: after a strict replay that is the trace. */
static void keep_failed(struct bz_stored *stored, const char *path, struct bz_trace *trace,
                        struct bz_carry *carry) {
    if (stored->failed >= BZ_STORED_MAX) {
        return;
    }
    struct bz_stored_failure *failure = &stored->failures[stored->failed];
    *failure = (struct bz_stored_failure){
        .is_as_recorded = carry->result == BZ_CARRY_FAILS,
        .is_same_run = carry->is_strict || (carry->record.digest == trace->digest &&
                                            strcmp(carry->record.variant, trace->variant) == 0)};
    snprintf(failure->path, sizeof failure->path, "%s", path);
    struct bz_trace *record = carry->is_strict ? trace : &carry->record;
    failure->record = *record; /* with all that it owns */
    bz_trace_init(record);
    if (failure->is_same_run) {
        name_run(failure, &carry->program);
    }
}

static void count(struct bz_stored *stored, const char *path, struct bz_trace *trace,
                  struct bz_carry *carry) {
    const struct bz_replay_report *report = &carry->report;
    switch (carry->result) {
    case BZ_CARRY_FAILS:
    case BZ_CARRY_FAILS_OTHERWISE:
        keep_failed(stored, path, trace, carry);
        stored->failed++;
        stored->tried++;
        break;
    case BZ_CARRY_PASSES:
        stored->passed++;
        stored->unfit += report->choices_made < report->choices;
        stored->tried++;
        break;
    case BZ_CARRY_CUT_SHORT:
        stored->cut++;
        break;
    default:
        break;
    }
}

/* True if the schedule can be one of the campaign's. Else its failure says nothing of them. */
static bool may_come(struct bz_stored *stored, const struct bz_trace *trace,
                     const struct bz_program *program) {
    bool is_other =
        program->order == BZ_ORDER_FIFO && strcmp(trace->order, bz_order_name(BZ_ORDER_FIFO)) != 0;
    uint64_t lag_max_ns = program->lag_max_ns == BZ_LAG_MAX_NONE_NS ? 0 : program->lag_max_ns;
    bool is_slower = !is_other && bz_trace_lag_ns(trace) > lag_max_ns;
    stored->other += is_other;
    stored->slower += is_slower;
    return !is_other && !is_slower;
}

/* --- trying ----------------------------------------------------------------------------------- */

/* Own: of a violation that a campaign of this scenario and variant has kept. */
static bool is_wanted(const struct bz_stored *stored, const struct bz_trace *trace,
                      const struct bz_program *program) {
    return strcmp(trace->scenario, program->scenario->name) == 0 &&
           (!stored->is_own ||
            (trace->verdict.oracle != NULL && strcmp(trace->variant, program->variant->name) == 0));
}

static enum bz_trouble try_trace(struct bz_stored *stored, const char *path, struct bz_trace *trace,
                                 const struct bz_program *program, char *error,
                                 size_t error_bytes) {
    struct bz_carry carry;
    enum bz_trouble trouble = BZ_TROUBLE_NONE;
    bz_carry(&carry, trace, stored->catalog, stored->is_own ? NULL : program->variant);
    if (carry.result == BZ_CARRY_LACKS || (carry.result == BZ_CARRY_REFUSED && !stored->is_own)) {
        trouble = carry.result == BZ_CARRY_LACKS ? BZ_TROUBLE_LACK : BZ_TROUBLE_FILE;
        bz_fail(error, error_bytes, "%s%s: %s", stored->is_own ? "" : "--corpus: ", path,
                carry.message);
    }
    count(stored, path, trace, &carry);
    bz_carry_fini(&carry);
    return trouble;
}

static enum bz_trouble try_file(struct bz_stored *stored, const char *path,
                                const struct bz_program *program, char *error, size_t error_bytes) {
    char reason[BZ_ERROR_BYTES];
    struct bz_trace trace;
    enum bz_trouble trouble = BZ_TROUBLE_NONE;
    bz_trace_init(&trace);
    if (!bz_trace_read(&trace, path, reason, sizeof reason)) {
        trouble = stored->is_own ? trouble : BZ_TROUBLE_FILE;
        bz_fail(error, error_bytes, "--corpus: %s", reason);
    } else if (is_wanted(stored, &trace, program) && may_come(stored, &trace, program)) {
        stored->is_cut_off = stored->is_own && stored->tried + stored->cut >= BZ_STORED_OWN_MAX;
        if (!stored->is_cut_off) {
            trouble = try_trace(stored, path, &trace, program, error, error_bytes);
        }
    }
    bz_trace_fini(&trace);
    return trouble;
}

enum bz_trouble bz_stored_try(struct bz_stored *stored, const char *folder,
                              const struct bz_program *program, char *error, size_t error_bytes) {
    struct dirent **entries;
    char path[PATH_MAX];
    int files = bz_carry_list(folder, &entries);
    enum bz_trouble trouble = BZ_TROUBLE_NONE;
    if (files < 0) {
        bool is_lack = errno == ENOMEM;
        bz_fail(error, error_bytes, "--corpus: cannot read the folder '%s': %s", folder,
                strerror(errno));
        return stored->is_own ? BZ_TROUBLE_NONE /* it can be written to, if not read */
               : is_lack      ? BZ_TROUBLE_LACK
                              : BZ_TROUBLE_FILE;
    }
    for (int index = 0; index < files; index++) {
        int length = snprintf(path, sizeof path, "%s/%s", folder, entries[index]->d_name);
        bool is_path = length > 0 && (size_t)length < sizeof path;
        if (trouble == BZ_TROUBLE_NONE && bz_interrupt_requested == 0 && !stored->is_cut_off) {
            trouble =
                is_path ? try_file(stored, path, program, error, error_bytes) : BZ_TROUBLE_FILE;
        }
        if (!is_path) {
            bz_fail(error, error_bytes, "a path in '%.64s...' is too long", folder);
        }
        free(entries[index]);
    }
    free(entries);
    return trouble;
}

bool bz_stored_is_same_folder(const char *a, const char *b) {
    struct stat left;
    struct stat right;
    return stat(a, &left) == 0 && stat(b, &right) == 0 && left.st_dev == right.st_dev &&
           left.st_ino == right.st_ino;
}
