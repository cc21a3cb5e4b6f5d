#include "sim/explore/explore.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/explore/search.h"
#include "sim/run/determinism.h"

const char *bz_reduction_name(unsigned index) {
    static const char *const names[] = {"snapshots", "states", "queue", "sleep"};
    return index < BZ_REDUCE_COUNT ? names[index] : NULL;
}

/* The reductions in force, of those that are wanted. */
static uint32_t reductions(const struct bz_explore_config *config, bool is_sweep) {
    const struct bz_program *program = config->program;
    uint32_t wanted = config->reductions;
    if (!bz_snapshot_is_supported() || (wanted & BZ_REDUCE_SNAPSHOTS) == 0) {
        return 0;
    }
    if ((wanted & BZ_REDUCE_STATES) == 0) {
        return BZ_REDUCE_SNAPSHOTS;
    }
    if (!is_sweep || program->order != BZ_ORDER_ANY) {
        return BZ_REDUCE_SNAPSHOTS | BZ_REDUCE_STATES;
    }
    return program->scenario->is_isolated ? wanted : wanted & ~BZ_REDUCE_SLEEP;
}

/* One round, or the sweep. */
static bool run(struct bz_search *search, bool is_sweep, bool *is_whole) {
    const struct bz_explore_config *config = search->config;
    struct bz_explore_result *result = search->result;
    struct bz_search_bounds bounds = {.is_sweep = is_sweep,
                                      .deviations = result->rounds,
                                      .delays = config->delays_max,
                                      .reductions = reductions(config, is_sweep)};
    bool is_ok = bz_search_run(search, &bounds, is_whole);
    if (is_ok && result->end == BZ_EXPLORE_DONE) {
        result->rounds += !is_sweep;
        result->is_sweep_done |= is_sweep;
        result->is_whole |= *is_whole;
        if (config->on_round != NULL) {
            config->on_round(config->context, result, is_sweep);
        }
    }
    return is_ok;
}

/* The most delays and cancels that the bounds allow. */
static uint32_t rounds_max(const struct bz_explore_config *config) {
    uint32_t cancels = bz_search_cancels_max(config);
    return config->delays_max > UINT32_MAX - cancels ? UINT32_MAX : config->delays_max + cancels;
}

/* The next round and those after it, up to `last`; fewer if one ends the search. */
static bool run_rounds(struct bz_search *search, uint32_t last) {
    bool is_whole = false;
    bool is_ok;
    do {
        is_ok = run(search, false, &is_whole);
    } while (is_ok && search->result->end == BZ_EXPLORE_DONE && !is_whole &&
             search->result->rounds <= last);
    return is_ok;
}

/* After a violation in the sweep: goes on with rounds until one finds a simplest violation. The
 * sweep's finding is kept only if they are interrupted. */
static bool simplify(struct bz_search *search) {
    struct bz_explore_result *result = search->result;
    struct bz_explore_result swept = *result;
    uint32_t deviations = swept.findings[0].delays + swept.findings[0].cancels;
    result->finding_count = 0;
    result->violations_digest = 0;
    result->end = BZ_EXPLORE_DONE;
    bool is_ok = run_rounds(search, deviations);
    result->is_minimal = result->finding_count > 0;
    if (!result->is_minimal) {
        swept.rounds = result->rounds;
        swept.transitions_total = result->transitions_total;
        *result = swept;
    }
    return is_ok;
}

/* The only finding of a program that does not repeat a path, even without snapshots. */
static void report_nondeterminism(struct bz_search *search) {
    struct bz_explore_result *result = search->result;
    struct bz_explore_finding *finding = &result->findings[0];
    result->rounds = 0; /* nothing is proved */
    result->is_minimal = false;
    result->finding_count = 1;
    *finding = (struct bz_explore_finding){
        .violation = {.oracle = "nondeterminism", .step = search->frame_count - 1}};
    snprintf(finding->violation.message, sizeof finding->violation.message,
             "the same choices led to two different runs, which differ at step %" PRIu32
             " at the latest; something besides the choices decides, such as a static variable",
             finding->violation.step);
    struct bz_cost cost = bz_search_cost(search, 0, search->point_count);
    finding->delays = cost.delays;
    finding->cancels = cost.cancels;
    finding->has_answers = bz_search_answers(search, &finding->answers);
}

/* The whole search, with these reductions or none. */
static bool explore(const struct bz_explore_config *given, bool visits_all,
                    struct bz_explore_result *result) {
    struct bz_explore_config config = *given;
    config.states_max = config.states_max == 0 ? BZ_EXPLORE_STATES_MAX_DEFAULT : config.states_max;
    bool has_sweep = config.delays_max == BZ_EXPLORE_UNBOUNDED;
    uint32_t before_sweep =
        config.rounds_before_sweep == 0 ? BZ_EXPLORE_ROUNDS_DEFAULT : config.rounds_before_sweep;
    *result = (struct bz_explore_result){.is_minimal = true,
                                         .has_outside_state = result->has_outside_state};
    struct bz_search *search = bz_search_new(&config, result);
    if (search == NULL) {
        return false;
    }
    search->visits_all = visits_all;
    uint32_t last = has_sweep ? before_sweep - 1 : rounds_max(&config);
    bool is_ok = run_rounds(search, last);
    if (is_ok && has_sweep && result->end == BZ_EXPLORE_DONE && !result->is_whole) {
        bool is_whole;
        result->is_minimal = result->finding_count > 0; /* by a round, with keep_going */
        is_ok = run(search, true, &is_whole);
        if (is_ok && result->end == BZ_EXPLORE_FOUND) {
            is_ok = simplify(search);
        }
    }
    if (is_ok && result->end == BZ_EXPLORE_NONDETERMINISM) {
        report_nondeterminism(search);
    }
    bz_search_destroy(search);
    return is_ok;
}

/* --- snapshots, or none ----------------------------------------------------------------------- */

#define CPU_SECONDS_OF_TRIAL 2u

/* Stops each search of a trial after its first thousand transitions. */
static bool stop_soon(void *context, const struct bz_explore_progress *progress) {
    (void)context;
    return progress->transitions == 0;
}

/* The child of a trial: searches a little with snapshots, and visits every path a second time. */
static _Noreturn void try_snapshots(const struct bz_explore_config *config, int answer) {
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGXCPU};
    static struct bz_explore_result result;
    struct bz_explore_config trial = *config;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0) {
        (void)dup2(null, STDOUT_FILENO);
        (void)dup2(null, STDERR_FILENO);
    }
    for (size_t index = 0; index < sizeof deadly / sizeof deadly[0]; index++) {
        signal(deadly[index], SIG_DFL);
    }
    (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    (void)setrlimit(RLIMIT_CPU, &(struct rlimit){CPU_SECONDS_OF_TRIAL, CPU_SECONDS_OF_TRIAL + 1});
    trial.poll = stop_soon;
    trial.on_round = NULL;
    trial.keep_going = true;
    if (explore(&trial, true, &result) && result.end != BZ_EXPLORE_NONDETERMINISM) {
        (void)!write(answer, "y", 1);
    }
    _exit(0);
}

/* Whether snapshots have all of the variant's state, as far as a trial in a process of its own
 * shows: going back to a snapshot may leave a variant with memory that it has freed. */
static bool snapshots_fit(const struct bz_explore_config *config) {
    int ends[2];
    char answer = 'y'; /* without a process, too */
    if (pipe(ends) != 0) {
        return true;
    }
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        try_snapshots(config, ends[1]);
    }
    close(ends[1]);
    if (child > 0) {
        ssize_t got;
        do {
            got = read(ends[0], &answer, 1);
        } while (got < 0 && errno == EINTR);
        answer = got == 1 ? answer : 'n';
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    close(ends[0]);
    return answer == 'y';
}

bool bz_explore(const struct bz_explore_config *given, struct bz_explore_result *result) {
    struct bz_explore_config config = *given;
    bool has_snapshots =
        bz_snapshot_is_supported() && (config.reductions & BZ_REDUCE_SNAPSHOTS) != 0;
    bool is_ok = true;
    result->has_outside_state = false;
    bool fits = !has_snapshots || !config.is_foreign || snapshots_fit(&config);
    if (fits) {
        is_ok = explore(&config, false, result);
        fits = !is_ok || !has_snapshots || result->end != BZ_EXPLORE_NONDETERMINISM;
    }
    if (!fits) {
        config.reductions = 0;
        result->has_outside_state = true;
        if (config.on_outside_state != NULL) {
            config.on_outside_state(config.context);
        }
        is_ok = explore(&config, false, result);
    }
    return is_ok;
}

bool bz_explore_is_complete(const struct bz_explore_config *config,
                            const struct bz_explore_result *result) {
    bool is_bounded = config->delays_max != BZ_EXPLORE_UNBOUNDED;
    bool is_all = result->is_whole || (is_bounded && result->rounds > rounds_max(config));
    return result->end == BZ_EXPLORE_DONE && is_all && result->sampled_draw == NULL &&
           !result->is_out_of_steps;
}

bool bz_explore_repeat(const struct bz_program *program, const struct bz_explore_finding *finding,
                       struct bz_program *repeat, struct bz_finding *found) {
    *repeat = *program;
    repeat->strategy = &bz_strategy_answers;
    repeat->answers = finding->answers;
    struct bz_world *world = finding->has_answers ? bz_program_new_world(repeat) : NULL;
    if (world == NULL) {
        return false;
    }
    const struct bz_violation *violation = bz_judge_violation(world->judge);
    bool is_nondeterminism = strcmp(finding->violation.oracle, "nondeterminism") == 0;
    bool is_violated = bz_program_run(repeat, world, 0) == BZ_RUN_VIOLATED;
    if (is_nondeterminism) {
        bz_determinism_judge(repeat, world, NULL);
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
