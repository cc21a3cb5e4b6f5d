/* The parts of a variant that are not judged. */
#include <assert.h>
#include <stdio.h>

#include "tools/plugin/plugins.h"

#define BIT(primitive) (1u << BZ_PRIMITIVE_##primitive)
#define EVERY UINT32_MAX
#define COUNTED                                                                                    \
    (BIT(SEMAPHORE) | BIT(BOUNDED) | BIT(LOCK) | BIT(QUEUE) | BIT(POOL) | BIT(DEFERRED) |          \
     BIT(RESOURCE_POOL))
#define UNCOUNTED (BIT(EVENT) | BIT(CONDITION) | BIT(BARRIER))
#define ROW(claim) #claim, BZ_CLAIM_##claim

/* Where a claim has an effect. A primitive in doubt is listed. */
static const struct {
    const char *name;
    uint32_t claim;
    uint32_t primitives;
    uint32_t needy; /* those of them where it needs one of these claims as well */
    uint32_t needs;
} effects[] = {
    {ROW(FIFO), COUNTED | UNCOUNTED, UNCOUNTED, BZ_CLAIM_WAKE_IS_GRANT},
    {ROW(LOCKED_EXACT), BIT(SEMAPHORE) | BIT(BOUNDED) | BIT(LOCK), 0, 0},
    {ROW(REFUSES_MISUSE), EVERY & ~(BIT(SEMAPHORE) | BIT(BARRIER) | BIT(SCOPE)), BIT(EVENT),
     BZ_CLAIM_SINGLE_CONSUMER},
    {ROW(WAKE_IS_GRANT), COUNTED | UNCOUNTED, 0, 0},
    {ROW(WORK_CONSERVING), COUNTED | UNCOUNTED, 0, 0},
    {ROW(TAKES_AT_RETURN), BIT(QUEUE), 0, 0},
    {ROW(EXACT_NOTIFY), BIT(CONDITION), 0, 0},
    {ROW(NO_PASSING), COUNTED, EVERY, BZ_CLAIM_FIFO | BZ_CLAIM_LOCKED_EXACT},
    {ROW(UNORDERED_ITEMS), BIT(QUEUE), 0, 0},
    {ROW(MAY_FAIL), EVERY, 0, 0},
    {ROW(OWN_DEADLINES), EVERY, 0, 0},
    {ROW(UNORDERED_TIES), BIT(QUEUE), 0, 0},
    {ROW(UNAIDED), EVERY, 0, 0},
    {ROW(BREAKS_ALL), BIT(BARRIER), 0, 0},
    {ROW(SURVIVES_NO_MEMORY), EVERY, 0, 0},
    {ROW(UNFAIR), EVERY, 0, 0},
    {ROW(SINGLE_CONSUMER), BIT(EVENT) | BIT(QUEUE), 0, 0},
    {ROW(SINGLE_PRODUCER), BIT(QUEUE), 0, 0},
    {ROW(WAIT_MORPHING), UNCOUNTED, 0, 0},
    {ROW(MAY_DELIVER), BIT(QUEUE), 0, 0},
};
static_assert(sizeof effects / sizeof effects[0] == __builtin_popcount(BZ_CLAIMS_ALL),
              "every claim has a row");

const char *bz_plugin_next_idle_claim(const struct bz_variant *variant, size_t *next) {
    while (*next < sizeof effects / sizeof effects[0]) {
        size_t row = (*next)++;
        bool has_effect = (variant->claims & effects[row].claim) == 0; /* it is not made */
        for (int index = 0; index < BZ_PRIMITIVE_COUNT; index++) {
            enum bz_primitive primitive = (enum bz_primitive)index;
            uint32_t claims = bz_variant_claims(variant, primitive);
            uint32_t needs = (effects[row].needy >> index & 1u) != 0 ? effects[row].needs : claims;
            has_effect |= bz_variant_offers(variant, primitive) &&
                          (effects[row].primitives >> index & 1u) != 0 &&
                          (claims & effects[row].claim) != 0 && (claims & needs) != 0;
        }
        if (!has_effect) {
            return effects[row].name;
        }
    }
    return NULL;
}

const char bz_plugin_note[] =
    "NOTE: bz_request_done() is called in a step of another task, so the continuation runs in a "
    "later one. If your code runs it inside release(), put() or set(), call bz_request_complete(): "
    "faults of re-entrancy are not seen otherwise.";

#define WAIVERS                                                                                    \
    (BZ_CLAIM_UNORDERED_ITEMS | BZ_CLAIM_UNORDERED_TIES | BZ_CLAIM_MAY_FAIL |                      \
     BZ_CLAIM_OWN_DEADLINES | BZ_CLAIM_UNFAIR | BZ_CLAIM_SINGLE_CONSUMER |                         \
     BZ_CLAIM_SINGLE_PRODUCER | BZ_CLAIM_WAIT_MORPHING | BZ_CLAIM_MAY_DELIVER)

bool bz_plugin_next_trial(const struct bz_variant *variant, enum bz_primitive primitive,
                          size_t *next, struct bz_variant *tried, char *text, size_t text_bytes) {
    static const struct bz_rules keeps = {.woken = BZ_WOKEN_KEEPS_RESULT};
    const size_t rows = sizeof effects / sizeof effects[0];
    *tried = *variant;
    while (*next < rows) {
        size_t row = (*next)++;
        uint32_t claim = effects[row].claim;
        bool is_waiver = (claim & WAIVERS) != 0;
        bool is_made = (bz_variant_claims(variant, primitive) & claim) != 0;
        if (is_made != is_waiver && (effects[row].primitives >> primitive & 1u) != 0) {
            claim |= claim == BZ_CLAIM_SINGLE_PRODUCER ? BZ_CLAIM_SINGLE_CONSUMER : 0;
            tried->claims ^= claim & (is_waiver ? ~variant->claims : UINT32_MAX);
            snprintf(text, text_bytes,
                     "%s the claim %s%s, the same schedules find nothing: %s your code?",
                     is_waiver ? "With" : "Without",
                     claim == effects[row].claim ? "" : "SINGLE_CONSUMER and the claim ",
                     effects[row].name, is_waiver ? "does it describe" : "is it true of");
            return true;
        }
    }
    tried->rules = &keeps;
    snprintf(text, text_bytes,
             "With the rules BZ_WOKEN_KEEPS_RESULT, the same schedules find "
             "nothing: is a cancel after the wake-up too late for your code?");
    return (*next)++ == rows && variant->rules == NULL;
}

const char *bz_plugin_lacks_view(const struct bz_variant *variant, enum bz_primitive primitive) {
    const void *table = bz_variant_table(variant, primitive);
#define LACKS(NAME, ops, member)                                                                   \
    (primitive == BZ_PRIMITIVE_##NAME && ((const struct ops *)table)->member == NULL)
    if (primitive < BZ_PERMIT_PRIMITIVES) {
        return ((const struct bz_permit_ops *)table)->view == NULL
                   ? "it has no `view`: permits and queue are judged by what callers see"
                   : NULL;
    }
    bool lacks_queued =
        LACKS(EVENT, bz_event_ops, queued) || LACKS(CONDITION, bz_condition_ops, queued) ||
        LACKS(BARRIER, bz_barrier_ops, queued) || LACKS(QUEUE, bz_queue_ops, queued) ||
        LACKS(DEFERRED, bz_deferred_ops, queued) ||
        LACKS(RESOURCE_POOL, bz_resource_pool_ops, queued);
    return lacks_queued ? "it has no `queued`: entries that it leaves in its queue are not seen"
           : LACKS(POOL, bz_pool_ops, entries)
               ? "it has no `entries`: locks that it keeps for nobody are not seen"
               : NULL;
}
