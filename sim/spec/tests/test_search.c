/* The counts of searches, the invariants, and the need for each guard. */
#include <criterion/criterion.h>
#include <inttypes.h>

#include "sim/spec/guards.h"
#include "sim/spec/packed.h"
#include "sim/spec/search.h"

static struct bz_search_result searched(const struct bz_spec *spec, uint32_t permits,
                                        uint32_t clients) {
    struct bz_search_result result;
    bz_search(&(struct bz_search_config){.spec = spec,
                                         .constants = {.permits = permits, .clients = clients}},
              &result);
    cr_assert_eq(result.end, BZ_SEARCH_COMPLETE);
    cr_assert_eq(result.counts.waiting, 0);
    return result;
}

static void expect_counts(const struct bz_spec *spec, uint32_t permits, uint32_t clients,
                          uint64_t generated, uint64_t distinct, uint64_t depth) {
    struct bz_search_result result = searched(spec, permits, clients);
    cr_assert_eq(result.counts.generated, generated, "%s (%u, %u): %" PRIu64 " generated",
                 spec->name, permits, clients, result.counts.generated);
    cr_assert_eq(result.counts.distinct, distinct, "%s (%u, %u): %" PRIu64 " distinct", spec->name,
                 permits, clients, result.counts.distinct);
    cr_assert_eq(result.counts.depth, depth, "%s (%u, %u): depth %" PRIu64, spec->name, permits,
                 clients, result.counts.depth);
    cr_assert_eq(result.counts.deadlocks, 0);
    bz_search_result_fini(&result);
}

/* The counts of two independent checkers. */
Test(spec_search, counts_of_the_published_specification) {
    expect_counts(&bz_spec_tla, 1, 2, 21, 11, 5);
    expect_counts(&bz_spec_tla, 1, 3, 166, 70, 7);
}

/* The published invariant bounds the queue by the permits; it fails as soon as more clients wait.
 */
Test(spec_search, published_invariant_fails) {
    static const char *const actions[] = {NULL, "Acquire", "AddWaiter", "AddWaiter"};
    struct bz_search_result result = searched(&bz_spec_tla, 1, 2);
    cr_assert_not(result.has_violation);
    cr_assert_eq(result.trace.length, 0);
    bz_search_result_fini(&result);
    result = searched(&bz_spec_tla, 1, 3);
    cr_assert(result.has_violation);
    cr_assert_eq(result.broken, 1);
    cr_assert_eq(result.first, 0);
    cr_assert_eq(result.trace.length, 4);
    for (uint32_t index = 1; index < 4; index++) {
        cr_assert_str_eq((char *)bz_spec_tla.actions[result.trace.steps[index].action],
                         (char *)actions[index]);
        cr_assert_eq(result.trace.steps[index].client, index - 1);
    }
    bz_search_result_fini(&result);
    /* permits + permits + 1 actions: all taken, then one waiter more than the bound. */
    result = searched(&bz_spec_tla, 2, 6);
    cr_assert_eq(result.trace.length, 1 + 2 + 3);
    bz_search_result_fini(&result);
}

Test(spec_search, repaired_specification_holds) {
    for (uint32_t permits = 1; permits <= 3; permits++) {
        for (uint32_t clients = 1; clients <= 5; clients++) {
            struct bz_search_result result = searched(&bz_spec_buzzer, permits, clients);
            cr_assert_not(result.has_violation, "(%u, %u): %s", permits, clients,
                          bz_spec_buzzer.invariants[result.first % 32].name);
            cr_assert_eq(result.counts.deadlocks, 0);
            bz_search_result_fini(&result);
        }
    }
}

/* One client holds a permit or does not; two clients do not wait if there are two permits. */
Test(spec_search, small_counts_by_hand) {
    expect_counts(&bz_spec_buzzer, 1, 1, 3, 2, 2);
    expect_counts(&bz_spec_buzzer, 2, 2, 9, 4, 3);
    expect_counts(&bz_spec_tla, 1, 1, 3, 2, 2);
}

/* Packing and unpacking loses nothing. */
Test(spec_search, packing_is_exact) {
    for (uint32_t clients = 1; clients <= BZ_SPEC_CLIENTS_MAX; clients++) {
        struct bz_packed state = {.level = -1};
        for (uint32_t client = 0; client < clients; client++) {
            bz_packed_set_status(&state, client, client % 6);
            cr_assert(bz_packed_append(&state, clients - 1 - client, clients));
        }
        cr_assert_not(bz_packed_append(&state, 0, clients));
        struct bz_packed copy = bz_packed_load(bz_packed_store(&state));
        cr_assert_eq(copy.level, -1);
        cr_assert_eq(copy.length, clients);
        for (uint32_t client = 0; client < clients; client++) {
            cr_assert_eq(bz_packed_status(&copy, client), client % 6);
            cr_assert_eq(bz_packed_at(&copy, client), clients - 1 - client);
        }
        bz_packed_leave(&copy, clients - 1);
        cr_assert_eq(copy.length, clients - 1);
        cr_assert(clients == 1 || bz_packed_at(&copy, 0) == clients - 2);
    }
}

static struct bz_search_result mutant(struct bz_spec_constants constants, bool goes_on) {
    struct bz_search_result result;
    bz_search(&(struct bz_search_config){.spec = &bz_spec_buzzer,
                                         .constants = constants,
                                         .memory_max_bytes = UINT64_C(1) << 23u,
                                         .stops_at_violation = !goes_on},
              &result);
    return result;
}

static bool is_same_step(const struct bz_spec_step *a, const struct bz_spec_step *b) {
    return a->action == b->action && a->client == b->client &&
           a->state.word[0] == b->state.word[0] && a->state.word[1] == b->state.word[1];
}

/* The trace leads from the initial state by transitions of the specification. */
static void expect_trace(const struct bz_spec_constants *constants,
                         const struct bz_search_trace *trace) {
    struct bz_spec_step steps[BZ_SPEC_STEPS_MAX];
    uint32_t broken;
    cr_assert(trace->length >= 1);
    for (uint64_t index = 1; index < trace->length; index++) {
        uint32_t count =
            bz_spec_buzzer.expand(constants, trace->steps[index - 1].state, steps, &broken);
        bool is_found = false;
        for (uint32_t number = 0; number < count; number++) {
            is_found |= is_same_step(&steps[number], &trace->steps[index]);
        }
        cr_assert(is_found, "step %" PRIu64 " is none", index);
        cr_assert_eq(broken, 0, "wrong before its end");
    }
    bz_spec_buzzer.expand(constants, trace->steps[trace->length - 1].state, steps, &broken);
    cr_assert_neq(broken, 0);
}

/* Without any one guard of an action, an invariant fails. */
Test(spec_search, every_guard_is_needed) {
    uint32_t guards = 0;
    for (uint32_t action = 0; action < BZ_SPEC_ACTION_COUNT; action++) {
        uint32_t left = bz_spec_guards_of((enum bz_spec_action)action);
        for (; left != 0; left &= left - 1) {
            uint32_t guard = left & -left;
            struct bz_spec_constants constants = {.permits = 2,
                                                  .clients = 4,
                                                  .left_out_action = (uint8_t)action,
                                                  .left_out_guards = guard};
            struct bz_search_result result = mutant(constants, false);
            cr_assert(result.has_violation, "%s without '%s'",
                      bz_spec_action_name((enum bz_spec_action)action),
                      bz_spec_guard_text((enum bz_spec_action)action, guard));
            expect_trace(&constants, &result.trace);
            bz_search_result_fini(&result);
            guards++;
        }
    }
    cr_assert_eq(guards, 14);
}

/* Each invariant fails for some missing guard or forbidden action. */
Test(spec_search, every_invariant_can_fail) {
    uint32_t failed = 0;
    for (uint32_t action = 0; action < BZ_SPEC_ACTION_COUNT; action++) {
        struct bz_search_result result = mutant(
            (struct bz_spec_constants){
                .permits = 2, .clients = 4, .forbidden_actions = 1u << action},
            true);
        failed |= result.broken;
        bool is_cancel = action == BZ_SPEC_CANCEL_WAITING || action == BZ_SPEC_CANCEL_WOKEN;
        bool follows_cancel = action == BZ_SPEC_REMOVE || action == BZ_SPEC_GIVE_BACK;
        cr_assert(is_cancel || follows_cancel || result.has_violation, "without %s",
                  bz_spec_action_name((enum bz_spec_action)action));
        bz_search_result_fini(&result);
        uint32_t left = bz_spec_guards_of((enum bz_spec_action)action);
        for (; left != 0; left &= left - 1) {
            result = mutant((struct bz_spec_constants){.permits = 2,
                                                       .clients = 4,
                                                       .left_out_action = (uint8_t)action,
                                                       .left_out_guards = left & -left},
                            true);
            failed |= result.broken;
            bz_search_result_fini(&result);
        }
    }
    cr_assert_eq(failed, (1u << bz_spec_buzzer.invariant_count) - 1u, "%x", failed);
}

static bool after_some(void *context, const struct bz_search_counts *so_far) {
    uint64_t *polls = context;
    cr_assert_geq(so_far->distinct, so_far->waiting);
    return ++*polls < 3;
}

Test(spec_search, stops_when_asked_or_out_of_memory) {
    uint64_t polls = 0;
    struct bz_search_result result;
    struct bz_search_config config = {.spec = &bz_spec_buzzer,
                                      .constants = {.permits = 3, .clients = 7},
                                      .poll = after_some,
                                      .context = &polls};
    bz_search(&config, &result);
    cr_assert_eq(result.end, BZ_SEARCH_STOPPED);
    cr_assert_eq(polls, 3);
    cr_assert_lt(0, result.counts.waiting);
    bz_search_result_fini(&result);
    config.poll = NULL;
    config.memory_max_bytes = UINT64_C(1) << 20u;
    bz_search(&config, &result);
    cr_assert_eq(result.end, BZ_SEARCH_OUT_OF_MEMORY);
    cr_assert_leq(result.memory_bytes, config.memory_max_bytes);
    cr_assert_lt(10000, result.counts.distinct);
    bz_search_result_fini(&result);
}
