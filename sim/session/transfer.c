#include "sim/session/transfer.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "traces/text.h"

const char *bz_carry_name(enum bz_carry_result result) {
    static const char *const names[BZ_CARRY_COUNT] = {
        "fails", "fails-otherwise", "passes", "cut-short", "not-applicable", "unreadable", "lacks"};
    return names[result];
}

static enum bz_carry_result judge(const struct bz_carry *carry, const struct bz_trace *trace) {
    const struct bz_trace_verdict *verdict = carry->verdict;
    if (verdict->oracle == NULL) {
        return carry->report.end == BZ_RUN_PASSED ? BZ_CARRY_PASSES : BZ_CARRY_CUT_SHORT;
    }
    return bz_is(verdict->oracle, trace->verdict.oracle) &&
                   bz_is(verdict->object, trace->verdict.object)
               ? BZ_CARRY_FAILS
               : BZ_CARRY_FAILS_OTHERWISE;
}

/* One run cannot show that two differ. */
static bool is_one_run_enough(const struct bz_trace *trace, char *why, size_t why_bytes) {
    bool is_enough = !bz_is(trace->verdict.oracle, "nondeterminism");
    return is_enough || bz_fail(why, why_bytes,
                                "it was recorded for nondeterminism, which one run cannot show; a "
                                "campaign can");
}

static enum bz_carry_result failure(const struct bz_carry *carry) {
    return carry->report.lack[0] != '\0' ? BZ_CARRY_LACKS : BZ_CARRY_REFUSED;
}

void bz_carry(struct bz_carry *carry, const struct bz_trace *trace,
              const struct bz_catalog *catalog, const struct bz_variant *variant) {
    struct bz_trace named = *trace; /* a shallow copy */
    char *error = carry->message;
    *carry = (struct bz_carry){.result = BZ_CARRY_REFUSED};
    bz_trace_init(&carry->record);
    if (variant != NULL) {
        named.variant = variant->name;
    }
    if ((variant != NULL &&
         !bz_trace_is_offered(trace, catalog, variant, error, sizeof carry->message)) ||
        !is_one_run_enough(trace, error, sizeof carry->message)) {
        carry->result = BZ_CARRY_NOT_APPLICABLE;
        return;
    }
    if (!bz_trace_program(&named, catalog, &carry->program, error, sizeof carry->message)) {
        bool is_sized = carry->program.scenario == NULL || bz_program_is_offered(&carry->program);
        carry->result = is_sized ? BZ_CARRY_REFUSED : BZ_CARRY_NOT_APPLICABLE;
        return;
    }
    if (variant == NULL) {
        if (!bz_replay_trace(trace, &carry->program, &carry->report, error,
                             sizeof carry->message)) {
            carry->result = failure(carry);
            return;
        }
        carry->is_strict = carry->report.result == BZ_REPLAY_MATCHED;
    }
    if (!carry->is_strict && !bz_replay_lenient(trace, &carry->program, NULL, &carry->record,
                                                &carry->report, error, sizeof carry->message)) {
        carry->result = failure(carry);
        return;
    }
    carry->verdict = carry->is_strict ? &trace->verdict : &carry->record.verdict;
    carry->result = judge(carry, trace);
}

void bz_carry_fini(struct bz_carry *carry) {
    bz_trace_fini(&carry->record);
}

static int is_trace(const struct dirent *entry) {
    size_t length = strlen(entry->d_name);
    return length > 5 && strcmp(entry->d_name + length - 5, ".json") == 0;
}

int bz_carry_list(const char *folder, struct dirent ***entries) {
    return scandir(folder, entries, is_trace, alphasort);
}
