/* Carries the schedule of a trace over to code as it is now: after a fix, the old trace is the
 * regression test.
 *
 * A strict replay demands the same events, so it diverges as soon as the code has changed. Here the
 * choices are made leniently: one that no longer fits is the default. Only its verdict counts. */
#pragma once

#include <stdbool.h>

#include "sim/program/replay.h"

enum bz_carry_result {
    BZ_CARRY_FAILS = 0,       /* as recorded: the same oracle and object */
    BZ_CARRY_FAILS_OTHERWISE, /* another oracle or object, or it was recorded as passing */
    BZ_CARRY_PASSES,
    BZ_CARRY_CUT_SHORT,      /* it hit the step limit: it proves nothing */
    BZ_CARRY_NOT_APPLICABLE, /* the variant does not offer the primitive or size; see `message` */
    BZ_CARRY_REFUSED,        /* the trace makes no sense; see `message` */
    BZ_CARRY_LACKS,          /* a resource ran out; see `message` */
};
#define BZ_CARRY_COUNT 7

/* "fails", "fails-otherwise", "passes", "cut-short", "not-applicable", "unreadable", "lacks". */
const char *bz_carry_name(enum bz_carry_result result);

struct bz_carry {
    enum bz_carry_result result;
    bool is_strict; /* every event was as recorded */
    struct bz_program program;
    struct bz_trace record; /* of the run; empty after a strict replay */
    struct bz_replay_report report;
    const struct bz_trace_verdict *verdict; /* of the run; NULL: there was none */
    char message[BZ_ERROR_BYTES];
};

/* Carries the trace over to `variant`. NULL: the recorded variant, whose code may have changed: a
 * strict replay comes first, and what it confirms is not carried. The trace must outlive `carry`,
 * which the caller releases in any case. */
void bz_carry(struct bz_carry *carry, const struct bz_trace *trace,
              const struct bz_catalog *catalog, const struct bz_variant *variant);
void bz_carry_fini(struct bz_carry *carry);

/* The *.json of a folder in the order of their names; the caller frees the entries and the list.
 * Returns how many, or -1 with errno. */
struct dirent;
int bz_carry_list(const char *folder, struct dirent ***entries);
