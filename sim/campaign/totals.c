#include "sim/campaign/totals.h"

#include <stdio.h>
#include <string.h>

bool bz_tally_is_same(const struct bz_violation *a, const struct bz_violation *b) {
    return a->object == b->object && a->op == b->op && a->window == b->window &&
           strcmp(a->oracle, b->oracle) == 0;
}

struct bz_finding *bz_tally_find(struct bz_campaign_result *result,
                                 const struct bz_violation *violation) {
    for (uint32_t index = 0; index < result->finding_count; index++) {
        if (bz_tally_is_same(&result->findings[index].violation, violation)) {
            return &result->findings[index];
        }
    }
    return NULL;
}

/* Where a new finding is kept; BZ_FINDINGS_MAX: nowhere. */
static uint32_t place_of(const struct bz_campaign_result *result, const char *oracle) {
    if (result->finding_count < BZ_FINDINGS_MAX) {
        return result->finding_count;
    }
    uint32_t place = BZ_FINDINGS_MAX;
    for (uint32_t index = 0; index < BZ_FINDINGS_MAX; index++) {
        const char *its_oracle = result->findings[index].violation.oracle;
        bool is_first = true;
        for (uint32_t earlier = 0; earlier < index; earlier++) {
            is_first &= strcmp(result->findings[earlier].violation.oracle, its_oracle) != 0;
        }
        if (strcmp(its_oracle, oracle) == 0) {
            return BZ_FINDINGS_MAX;
        }
        place = is_first ? place : index;
    }
    return place;
}

uint32_t bz_tally_keep(struct bz_campaign_result *result, const struct bz_finding *finding) {
    struct bz_finding *same = bz_tally_find(result, &finding->violation);
    if (same != NULL) {
        same->count += finding->count;
        return BZ_FINDINGS_MAX;
    }
    uint32_t place = place_of(result, finding->violation.oracle);
    if (place < BZ_FINDINGS_MAX) {
        result->findings[place] = *finding;
        result->finding_count += place == result->finding_count;
    }
    return place;
}

void bz_tally_add_stats(struct bz_run_stats *sum, const struct bz_run_stats *part, uint64_t times) {
    sum->runs += times * part->runs;
    sum->steps += times * part->steps;
    sum->injected += times * part->injected;
    for (unsigned op = 0; op < BZ_OP_COUNT; op++) {
        for (unsigned window = 0; window < BZ_WINDOW_COUNT; window++) {
            sum->windows[op][window] += times * part->windows[op][window];
        }
    }
}

bool bz_tally_note_strikes(uint64_t *situations, const struct bz_run_mark *mark) {
    bool is_new = false;
    for (uint32_t index = 0; mark->has_passed && index < mark->strike_count; index++) {
        uint32_t number = mark->strikes[index] % BZ_SITUATIONS; /* code may have written there */
        uint64_t bit = UINT64_C(1) << number % 64;
        is_new |= (situations[number / 64] & bit) == 0;
        situations[number / 64] |= bit;
    }
    return is_new;
}

void bz_tally_note_cut(struct bz_campaign_result *result, const char *reason) {
    if (reason != NULL && reason[0] != '\0' && result->cut[0] == '\0') {
        snprintf(result->cut, sizeof result->cut, "%s", reason);
    }
}

void bz_tally_add(struct bz_campaign_result *result, const struct bz_campaign_result *part) {
    result->digest_first = result->runs == 0 ? part->digest_first : result->digest_first;
    result->runs += part->runs;
    result->violations += part->violations;
    result->seed_cut = result->out_of_steps == 0 ? part->seed_cut : result->seed_cut;
    result->out_of_steps += part->out_of_steps;
    bz_tally_note_cut(result, part->cut);
    result->waited += part->waited;
    result->noted += part->noted;
    result->digest += part->digest;
    bz_tally_add_stats(&result->stats, &part->stats, 1);
    for (uint32_t index = 0; index < BZ_ORACLES_MAX; index++) {
        result->by_oracle[index] += part->by_oracle[index];
    }
}

void bz_tally_sum_up(struct bz_campaign_state *state) {
    struct bz_campaign_result *result = &state->result;
    result->distinct = bz_distinct_count(&state->distinct);
    result->distinct_is_exact = bz_distinct_is_exact(&state->distinct);
    result->handoff_orders = bz_distinct_count(&state->handoffs);
    result->handoff_orders_once = bz_distinct_once(&state->handoffs);
    result->handoff_new_ppm = bz_distinct_new_ppm(&state->handoffs);
    result->handoff_is_exact = bz_distinct_is_exact(&state->handoffs);
    result->situations = 0;
    for (size_t word = 0; word < BZ_SITUATIONS / 64; word++) {
        for (uint64_t left = state->situations[word]; left != 0; left &= left - 1) {
            result->situations++;
        }
    }
}

void bz_tally_join(struct bz_campaign_state *state, const struct bz_campaign_state *part) {
    bz_tally_add(&state->result, &part->result);
    for (uint32_t index = 0; index < part->result.finding_count; index++) {
        (void)bz_tally_keep(&state->result, &part->result.findings[index]);
    }
    bz_distinct_join(&state->distinct, &part->distinct);
    bz_distinct_join(&state->handoffs, &part->handoffs);
    for (size_t word = 0; word < BZ_SITUATIONS / 64; word++) {
        state->situations[word] |= part->situations[word];
    }
    bz_tally_sum_up(state);
}

bool bz_tally_has_all(const struct bz_campaign_result *result) {
    uint64_t counted = 0;
    for (uint32_t index = 0; index < result->finding_count; index++) {
        counted += result->findings[index].count;
    }
    return counted == result->violations;
}
