#include "sim/explore/explore.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/campaign/determinism.h"
#include "sim/explore/checkpoint.h"
#include "sim/explore/search.h"
#include "traces/lack.h"

#define SWEEP_SHARE 4u                   /* times the transitions before it */
#define SWEEP_LEAST (UINT64_C(1) << 18u) /* transitions */

const char *bz_reduction_name(unsigned index) {
    static const char *const names[] = {"snapshots", "states", "queue", "symmetry", "yields"};
    return index < BZ_REDUCE_COUNT ? names[index] : NULL;
}

/* The reductions in force, of those that are wanted. */
static uint32_t reductions(const struct bz_explore_config *config, bool is_any_order) {
    uint32_t wanted = config->reductions;
    if (!bz_snapshot_is_supported() || (wanted & BZ_REDUCE_SNAPSHOTS) == 0) {
        return 0;
    }
    if ((wanted & BZ_REDUCE_STATES) == 0) {
        return BZ_REDUCE_SNAPSHOTS;
    }
    wanted |= BZ_REDUCE_LAG;
    if (!is_any_order) {
        return wanted & (BZ_REDUCE_SNAPSHOTS | BZ_REDUCE_STATES | BZ_REDUCE_LAG);
    }
    return (wanted & BZ_REDUCE_QUEUE) != 0 ? wanted : wanted & ~BZ_REDUCE_SYMMETRY;
}

/* A sweep that does not end soon is put off until after one more round, and begins again then. So
 * rounds and sweeps share the time, and each gets most of it if it ends. */
static uint64_t sweep_max(const struct bz_explore_result *result) {
    uint64_t before = result->transitions_total;
    before = before < SWEEP_LEAST ? SWEEP_LEAST : before;
    return before > UINT64_MAX / SWEEP_SHARE ? UINT64_MAX : before * SWEEP_SHARE;
}

/* True if a sweep has every order. */
static bool is_any(const struct bz_explore_config *config) {
    return config->delays_max == BZ_EXPLORE_UNBOUNDED && config->program->order == BZ_ORDER_ANY;
}

/* One round, or the sweep. */
static bool run(struct bz_search *search, bool is_sweep) {
    const struct bz_explore_config *config = search->config;
    struct bz_explore_result *result = search->result;
    bool is_any_order = is_sweep && is_any(config);
    struct bz_search_bounds bounds = {.deviations =
                                          is_sweep ? BZ_EXPLORE_UNBOUNDED : result->rounds,
                                      .delays = config->delays_max,
                                      .is_any_order = is_any_order,
                                      .transitions = is_sweep ? sweep_max(result) : UINT64_MAX,
                                      .reductions = reductions(config, is_any_order)};
    bool is_ok = bz_search_run(search, &bounds);
    if (is_ok && result->end == BZ_EXPLORE_DONE && !search->is_put_off) {
        result->rounds += !is_sweep;
        result->is_sweep_done |= is_sweep;
        result->is_all |= !search->at.is_short;
        result->is_whole |= !search->at.is_short && !search->at.is_cut;
        if (config->on_round != NULL) {
            config->on_round(config->context, result, is_sweep);
        }
    }
    return is_ok;
}

/* The next round and those after it, up to `last`; fewer if one ends the search. */
static bool run_rounds(struct bz_search *search, uint32_t last) {
    bool is_ok;
    search->at.stage.is_sweep = false;
    search->at.stage.last = last;
    do {
        is_ok = run(search, false);
    } while (is_ok && search->result->end == BZ_EXPLORE_DONE && !search->result->is_all &&
             search->result->rounds <= last);
    return is_ok;
}

/* Rounds until one finds a simplest violation. The sweep's finding is kept only if they are
 * interrupted. */
static bool run_simpler_rounds(struct bz_search *search, uint32_t last) {
    struct bz_explore_result *result = search->result;
    struct bz_explore_result *swept = &search->swept;
    bool is_ok = run_rounds(search, last);
    result->is_minimal = result->finding_count > 0;
    if (!result->is_minimal && result->end != BZ_EXPLORE_LOST) {
        swept->rounds = result->rounds;
        swept->transitions_total = result->transitions_total;
        *result = *swept;
    }
    return is_ok;
}

/* After a violation in the sweep. */
static bool simplify(struct bz_search *search) {
    struct bz_explore_result *result = search->result;
    search->at.stage.simplifies = true;
    search->swept = *result;
    result->finding_count = 0;
    result->told = 0;
    result->violations_digest = 0;
    result->end = BZ_EXPLORE_DONE;
    return run_simpler_rounds(search, bz_deviations_sum(&search->swept.findings[0].deviations));
}

/* False, after a note of what ran out. `search` may be NULL. */
static bool end_for_lack(const struct bz_search *search, struct bz_explore_result *result) {
    const char *error = search == NULL ? NULL : bz_judge_error(search->world->judge);
    if (error != NULL) {
        bz_lack_copy(result->lack, error);
    } else {
        bz_lack_text(result->lack, sizeof result->lack, NULL, "the states of a search");
    }
    result->end = BZ_EXPLORE_NO_RESOURCE;
    return false;
}

/* The only finding of a program that does not repeat a path, even without snapshots. */
static void report_nondeterminism(struct bz_search *search) {
    struct bz_explore_result *result = search->result;
    struct bz_explore_finding *finding = &result->findings[0];
    result->rounds = 0; /* nothing is proved */
    result->is_minimal = false;
    result->finding_count = 1;
    result->told = 0;
    *finding = (struct bz_explore_finding){
        .violation = {.oracle = bz_oracle_name("nondeterminism"), .step = search->frame_count - 1}};
    snprintf(finding->violation.message, sizeof finding->violation.message,
             "the same choices led to two different runs, which differ at step %" PRIu32
             " at the latest; something besides the choices decides, such as a static variable, "
             "memory of malloc(), or an address",
             finding->violation.step);
    finding->deviations = bz_search_cost(search, 0, search->point_count);
    finding->has_answers = bz_search_answers(search, &finding->answers);
}

/* The sweep, for a while that is in proportion to what was searched before. */
static bool sweep(struct bz_search *search) {
    struct bz_explore_result *result = search->result;
    if (!search->at.stage.is_sweep) { /* else it continues */
        search->at.stage.is_sweep = true;
        search->at.stage.had_findings = result->finding_count > 0;
    }
    bool is_ok = run(search, true);
    result->is_minimal &= search->at.stage.had_findings || result->finding_count == 0;
    return is_ok && result->end == BZ_EXPLORE_FOUND ? simplify(search) : is_ok;
}

/* After a complete search. A finding is one of its sweep. If it is interrupted, the search is, too:
 * it continues from what was kept of the sweep. */
static bool judge_liveness(struct bz_search *search) {
    struct bz_explore_result *result = search->result;
    bz_search_liveness(search);
    if (result->end != BZ_EXPLORE_FOUND) {
        return true;
    }
    result->is_sweep_done = false;
    result->is_all = false;
    result->is_whole = false;
    result->is_minimal = false;
    return simplify(search);
}

/* Completes the result, whatever ended the search. */
static bool end(struct bz_search *search, bool is_ok) {
    search->result->unsound = search->at.unsound;
    return is_ok || end_for_lack(search, search->result);
}

bool bz_search_explore(struct bz_search *search) {
    struct bz_explore_result *result = search->result;
    struct bz_record *record = search->record;
    bool is_ok = true;
    uint32_t before_sweep = search->config->rounds_before_sweep == 0
                                ? BZ_EXPLORE_ROUNDS_DEFAULT
                                : search->config->rounds_before_sweep;
    if (bz_search_has_whole_runs(search)) {
        before_sweep = BZ_EXPLORE_UNBOUNDED; /* a sweep knows no states: it would hardly end */
    }
    if (record != NULL && record->goes_on) {
        search->at = record->at;
        search->swept = record->swept;
        *result = record->result;
        result->end = BZ_EXPLORE_DONE;
    } else {
        search->at.stage = (struct bz_search_stage){.last = before_sweep - 1};
    }
    if (search->at.stage.simplifies) {
        return end(search, run_simpler_rounds(search, search->at.stage.last));
    }
    if (result->end == BZ_EXPLORE_DONE && !search->at.stage.is_sweep) {
        is_ok = run_rounds(search, search->at.stage.last);
    }
    while (is_ok && result->end == BZ_EXPLORE_DONE && !result->is_all) {
        is_ok = sweep(search);
        if (is_ok && search->is_put_off) {
            is_ok = run_rounds(search, result->rounds);
        }
    }
    if (is_ok && result->end == BZ_EXPLORE_DONE) {
        is_ok = judge_liveness(search);
    }
    if (is_ok && result->end == BZ_EXPLORE_NONDETERMINISM) {
        report_nondeterminism(search);
    }
    return end(search, is_ok);
}

/* The whole search, with these reductions or none. */
static bool explore(const struct bz_explore_config *config, struct bz_explore_result *result) {
    if (config->program->contain.is_on) {
        return bz_search_contained(config, result);
    }
    struct bz_search *search = bz_search_new(config, result);
    bool is_ok = search != NULL || end_for_lack(NULL, result);
    if (is_ok && bz_search_load(config, search)) {
        do {
            is_ok = bz_search_explore(search);
        } while (is_ok && bz_record_keep(config, search));
    }
    bz_search_destroy(search);
    return is_ok;
}

bool bz_explore(const struct bz_explore_config *given, struct bz_explore_result *result) {
    struct bz_explore_config config = *given;
    config.memory_max_bytes = config.memory_max_bytes == 0 ? UINT64_MAX : config.memory_max_bytes;
    config.states_max = config.states_max == 0 ? BZ_EXPLORE_STATES_MAX_DEFAULT : config.states_max;
    if (!bz_snapshot_is_supported() || config.program->scenario->runtime != NULL) {
        config.reductions = 0;
    }
    bool has_snapshots = (config.reductions & BZ_REDUCE_SNAPSHOTS) != 0;
    bool is_ok = true;
    *result = (struct bz_explore_result){.is_minimal = true};
    bool fits = !has_snapshots || config.from == NULL ||
                !bz_explore_checkpoint_has_outside_state(config.from);
    if (fits) {
        is_ok = explore(&config, result);
        fits = !is_ok || !has_snapshots || !bz_search_is_spoilt(&config, result);
        config.from = NULL;
    }
    if (!fits) {
        config.reductions = 0;
        *result = (struct bz_explore_result){.is_minimal = true, .has_outside_state = true};
        if (config.on_outside_state != NULL) {
            config.on_outside_state(config.context);
        }
        is_ok = explore(&config, result);
    }
    for (uint32_t place = 0; config.on_finding != NULL && place < result->finding_count; place++) {
        if ((result->told & 1u << place) == 0) {
            config.on_finding(config.context, place, &result->findings[place]);
        }
    }
    return is_ok;
}

bool bz_explore_is_complete(const struct bz_explore_result *result) {
    return result->end == BZ_EXPLORE_DONE && result->is_all && result->sampled_draw == NULL &&
           !result->is_out_of_steps;
}

bool bz_explore_repeat(const struct bz_program *program, const struct bz_explore_finding *finding,
                       struct bz_program *repeat, struct bz_finding *found) {
    *repeat = *program;
    repeat->strategy = &bz_strategy_answers;
    repeat->answers = finding->answers;
    *found = (struct bz_finding){.seed = 0};
    if (!finding->has_answers) {
        return false;
    }
    struct bz_program unstopped = *repeat; /* an interrupt does not make a finding another one */
    unstopped.contain.stop = NULL;
    struct bz_world *world = bz_program_new_world(&unstopped);
    if (world == NULL) {
        bz_lack_text(found->violation.message, BZ_LACK_BYTES, NULL, "a world to run in");
        return false;
    }
    const struct bz_violation *violation = bz_judge_violation(world->judge);
    bool is_nondeterminism = strcmp(finding->violation.oracle, "nondeterminism") == 0;
    bool is_violated = bz_program_run(&unstopped, world, 0) == BZ_RUN_VIOLATED;
    if (is_nondeterminism) {
        struct bz_world *other = NULL;
        bz_determinism_judge(&unstopped, world, &other, 0, NULL);
        bz_world_destroy(other);
        is_violated = bz_judge_verdict(world->judge) == BZ_RUN_VIOLATED;
    }
    bool is_same = is_violated && strcmp(violation->oracle, finding->violation.oracle) == 0;
    if (is_nondeterminism && !is_same) { /* further runs may be equal */
        violation = &finding->violation;
        is_same = true;
    }
    *found = (struct bz_finding){.digest = bz_judge_digest(world->judge), .violation = *violation};
    bz_world_destroy(world);
    return is_same;
}
