/* Why a campaign that found nothing may have tested nothing. */
#pragma once

#include "sim/campaign/campaign.h"

#define BZ_WARNINGS_MAX 3u
#define BZ_WARNING_BYTES 256u

struct bz_warning {
    const char *name; /* no-wait, no-cancel, one-schedule: a contract, see README.md */
    const char *text;
};

struct bz_warnings {
    struct bz_warning items[BZ_WARNINGS_MAX];
    uint32_t count;
};

/* For a campaign, or a search, in which no operation ever waited. */
const char *bz_warning_no_wait(const struct bz_program *program);

/* Lists the warnings about a campaign without a violation. A short campaign may miss a window by
 * chance, so it gets none unless `is_strict`. */
void bz_warnings_find(const struct bz_program *program, const struct bz_campaign_result *result,
                      bool is_strict, struct bz_warnings *warnings);
