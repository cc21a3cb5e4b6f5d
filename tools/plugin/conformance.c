#include "tools/plugin/conformance.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "primitives/runtime/loop.h"
#include "primitives/runtime/mem.h"
#include "sim/choice/strategy.h"
#include "sim/program/settings.h"
#include "sim/program/sizes.h"
#include "tools/cli/cli.h"

/* --- what a finding is about ------------------------------------------------------------------ */

static const char *const topic_names[BZ_TOPIC_COUNT] = {"runs",  "statuses", "determinism",
                                                        "leaks", "view",     "behaviour"};

const char *bz_topic_name(enum bz_topic topic) {
    return topic_names[topic];
}

/* The functions that show an implementation to the judge, and can be left out. */
enum shown { SHOWN_NONE, SHOWN_VIEW, SHOWN_LOCKED };
#define SHOWN_COUNT 3

static const struct {
    const char *oracle;
    enum bz_topic topic;
    enum shown asks; /* it compares what this function says */
    const char *meaning;
} about[] = {
    {"crash", BZ_TOPIC_RUNS, SHOWN_NONE, NULL},
    {"stack-overflow", BZ_TOPIC_RUNS, SHOWN_NONE, NULL},
    {"hang", BZ_TOPIC_RUNS, SHOWN_NONE, NULL},
    {"memory", BZ_TOPIC_RUNS, SHOWN_NONE, NULL},
    {"exit", BZ_TOPIC_RUNS, SHOWN_NONE, NULL},
    {"status", BZ_TOPIC_STATUSES, SHOWN_NONE, NULL},
    {"nondeterminism", BZ_TOPIC_DETERMINISM, SHOWN_NONE,
     "Its state must be in the loop's arena (code that calls malloc(): sim/variant/malloc.h), and "
     "nothing may depend on time, addresses, random numbers or threads."},
    {"leak", BZ_TOPIC_LEAKS, SHOWN_NONE,
     "Entries stay in its queue, or its `view` or `queued` counts what is not there."},
    {"pool-entry", BZ_TOPIC_LEAKS, SHOWN_NONE,
     "It keeps a lock for a key that is not in use, or its `entries` is wrong."},
    {"permit-conservation", BZ_TOPIC_BEHAVIOUR, SHOWN_VIEW, NULL},
    {"level-bound", BZ_TOPIC_BEHAVIOUR, SHOWN_VIEW, NULL},
    {"queue-partition", BZ_TOPIC_BEHAVIOUR, SHOWN_VIEW, NULL},
    {"ownership", BZ_TOPIC_BEHAVIOUR, SHOWN_VIEW, NULL},
    {"spec", BZ_TOPIC_BEHAVIOUR, SHOWN_VIEW, NULL},
    {"locked-definition", BZ_TOPIC_BEHAVIOUR, SHOWN_LOCKED, NULL},
    {"assertion", BZ_TOPIC_BEHAVIOUR, SHOWN_LOCKED, NULL},
};
#define ABOUT_COUNT (sizeof about / sizeof about[0])

/* ABOUT_COUNT: what every caller sees. */
static size_t about_oracle(const char *oracle) {
    size_t index = 0;
    while (index < ABOUT_COUNT && strcmp(about[index].oracle, oracle) != 0) {
        index++;
    }
    return index;
}

static const char *const wrong_shown[SHOWN_COUNT] = {
    NULL,
    "Without `view`, the same schedules find nothing: callers see nothing wrong, so `view` is "
    "wrong.",
    "Without `locked`, the same schedules find nothing: the right tasks wait, so `locked` is "
    "wrong.",
};

/* --- the faults ------------------------------------------------------------------------------- */

/* Adds the first fault of its kind, or counts it. */
static void add_finding(struct bz_conformance *check, const struct bz_program *program,
                        const struct bz_finding *finding) {
    size_t kind = about_oracle(finding->violation.oracle);
    enum bz_topic topic = kind < ABOUT_COUNT ? about[kind].topic : BZ_TOPIC_BEHAVIOUR;
    for (uint32_t index = 0; index < check->fault_count; index++) {
        struct bz_fault_found *fault = &check->faults[index];
        if (fault->oracle != NULL && strcmp(fault->oracle, finding->violation.oracle) == 0) {
            fault->sessions++;
            return;
        }
    }
    if (check->fault_count == BZ_FAULTS_MAX) {
        return;
    }
    struct bz_fault_found *fault = &check->faults[check->fault_count++];
    *fault = (struct bz_fault_found){.topic = topic,
                                     .oracle = finding->violation.oracle,
                                     .meaning = kind < ABOUT_COUNT ? about[kind].meaning : NULL,
                                     .seed = finding->seed,
                                     .digest = finding->digest,
                                     .sessions = 1};
    bz_sizes_draw(program, finding->seed, &fault->program);
    fault->program.variant = check->variant;
    memcpy(fault->message, finding->violation.message, sizeof fault->message);
}

uint32_t bz_conformance_faults(const struct bz_conformance *check, enum bz_topic topic) {
    uint32_t count = 0;
    for (uint32_t index = 0; index < check->fault_count; index++) {
        count += check->faults[index].topic == topic;
    }
    return count;
}

/* --- sessions --------------------------------------------------------------------------------- */

/* A pass over all scenarios. */
struct pass {
    struct bz_conformance *check;
    const struct bz_conformance_config *config;
    const struct bz_variant *variant; /* it may lack what was left out */
    bool is_silent;                   /* nothing was found so far */
    bool is_trial;                    /* its findings are not added */
};

static bool poll_campaign(void *context, const struct bz_campaign_result *so_far) {
    const struct pass *pass = context;
    pass->config->poll(pass->config->context, pass->check->schedules + so_far->runs);
    return true;
}

/* False if something ran out. */
static bool run_session(struct pass *pass, const struct bz_program *program) {
    static struct bz_campaign_result result;
    struct bz_conformance *check = pass->check;
    const struct bz_campaign_config campaign = {.program = program,
                                                .runs = pass->config->runs,
                                                .jobs = pass->config->jobs,
                                                .draws_sizes = true,
                                                .stop = pass->config->stop,
                                                .poll = poll_campaign,
                                                .context = pass};
    bool is_ok = bz_campaign_run(&campaign, &result);
    memcpy(check->lack, result.lack, sizeof check->lack);
    check->is_interrupted |= result.is_interrupted;
    check->schedules += result.runs;
    check->waited += result.waited;
    check->cut += result.out_of_steps;
    pass->is_silent &= result.violations == 0;
    if (is_ok && !pass->is_trial && result.violations > 0) {
        add_finding(check, program, &result.findings[0]);
    }
    return is_ok;
}

static bool uses(const struct bz_scenario *scenario, enum bz_primitive primitive) {
    uint32_t index = 0;
    while (index < scenario->primitive_count && scenario->primitives[index] != primitive) {
        index++;
    }
    return index < scenario->primitive_count;
}

/* Every scenario that can use the primitive, in both orders. */
static bool run_pass(struct pass *pass) {
    struct bz_conformance *check = pass->check;
    const struct bz_strategy *strategy = &bz_strategy_portfolio;
    bool is_ok = true;
    check->scenarios = 0;
    for (const struct bz_scenario *const *next = bz_cli_catalog.scenarios; *next != NULL; next++) {
        if (!uses(*next, check->primitive)) {
            continue;
        }
        check->scenarios++;
        for (unsigned order = 0; order < BZ_ORDER_COUNT && is_ok && !check->is_interrupted;
             order++) {
            struct bz_program program;
            bz_program_init(&program, *next, pass->variant, strategy);
            program.args.primitive = check->primitive;
            program.order = (enum bz_order)order;
            program.contain = bz_cli_catalog.contain;
            program.contain.is_on = true;
            is_ok = (bz_program_measure_or(&program, check->lack) || check->lack[0] == '\0') &&
                    run_session(pass, &program); /* which is stopped, too */
        }
    }
    return is_ok;
}

/* --- what a function shows, or what the implementation does? ---------------------------------- */

static bool is_about(const struct bz_fault_found *fault, enum shown shown) {
    size_t kind = fault->oracle == NULL ? ABOUT_COUNT : about_oracle(fault->oracle);
    return kind < ABOUT_COUNT && about[kind].asks == shown;
}

/* Runs all sessions without the function. If they are silent, the function is what is wrong. */
static bool try_without(struct bz_conformance *check, const struct bz_conformance_config *config,
                        enum shown shown) {
    struct bz_variant variant = *check->variant;
    struct bz_permit_ops ops;
    bool is_asked = false;
    for (uint32_t index = 0; index < check->fault_count; index++) {
        is_asked |= is_about(&check->faults[index], shown);
    }
    if (!is_asked || check->primitive >= BZ_PERMIT_PRIMITIVES) {
        return true;
    }
    ops = *variant.permits[check->primitive];
    if (shown == SHOWN_VIEW) {
        ops.view = NULL;
    } else {
        ops.locked = NULL;
    }
    variant.permits[check->primitive] = &ops;
    struct pass pass = {
        .check = check, .config = config, .variant = &variant, .is_silent = true, .is_trial = true};
    if (!run_pass(&pass)) {
        return false;
    }
    for (uint32_t index = 0; pass.is_silent && !check->is_interrupted && index < check->fault_count;
         index++) {
        struct bz_fault_found *fault = &check->faults[index];
        bool is_compared = shown == SHOWN_VIEW && is_about(fault, SHOWN_LOCKED);
        if (fault->topic == BZ_TOPIC_BEHAVIOUR && fault->oracle != NULL) {
            fault->topic = BZ_TOPIC_VIEW;
            fault->meaning = is_compared ? "This compares `locked` with `view`, which is wrong."
                                         : wrong_shown[shown];
        }
    }
    return true;
}

/* --- leaks ------------------------------------------------------------------------------------ */

#define CHILD_NS UINT64_C(20000000000) /* of CPU time, for the whole */
#define FEW 4                          /* rounds, and cancels */
#define MANY 204
#define KEPT_MAX 50u /* blocks that objects and tasks may keep for good */

struct leaks {
    const struct bz_conformance *check;
    uint64_t blocks[2]; /* of the arena, after few rounds and after many */
    bool is_done;       /* both runs passed */
    bool is_in_fini;
    uint64_t blocks_after_fini; /* more than before init */
};

static bool set_param(struct bz_program *program, const char *name, int64_t value) {
    const struct bz_param *params = program->scenario->params;
    uint32_t index = 0;
    while (params[index].name != NULL && strcmp(params[index].name, name) != 0) {
        index++;
    }
    if (params[index].name != NULL) {
        program->args.values[index] = value;
    }
    return params[index].name != NULL;
}

/* In order fifo, with as many rounds. A task that is cancelled continues where the scenario knows
 * that (`manner` 4); elsewhere there are no cancels. */
static bool has_rounds(struct bz_program *program, int64_t rounds) {
    (void)set_param(program, "cancels", set_param(program, "manner", 4) ? rounds : 0);
    program->order = BZ_ORDER_FIFO;
    program->cancel_windows = 0;
    return set_param(program, "rounds", rounds) || set_param(program, "items", rounds) ||
           set_param(program, "operations", rounds);
}

/* The first scenario of the primitive that has rounds; false: none has. */
static bool find_rounds(const struct bz_conformance *check, struct bz_program *program,
                        int64_t rounds) {
    for (const struct bz_scenario *const *next = bz_cli_catalog.scenarios; *next != NULL; next++) {
        if (uses(*next, check->primitive)) {
            bz_program_init(program, *next, check->variant, &bz_strategy_random);
            program->args.primitive = check->primitive;
            if (has_rounds(program, rounds)) {
                return true;
            }
        }
    }
    return false;
}

static void count_rounds(struct leaks *leaks) {
    bool is_ok = true;
    for (unsigned which = 0; which < 2; which++) {
        struct bz_program program;
        is_ok = is_ok && find_rounds(leaks->check, &program, which == 0 ? FEW : MANY);
        if (is_ok) {
            struct bz_world *world = bz_lack_check(bz_program_new_world(&program), "a simulation");
            is_ok = bz_program_run(&program, world, 0) == BZ_RUN_PASSED;
            leaks->blocks[which] = bz_mem_live_blocks(bz_loop_mem(world->loop));
        }
    }
    leaks->is_done = is_ok;
}

/* In a child process. */
static void count_blocks(void *context) {
    struct leaks *leaks = context;
    count_rounds(leaks);
    const struct bz_permit_ops *ops = leaks->check->primitive < BZ_PERMIT_PRIMITIVES
                                          ? leaks->check->variant->permits[leaks->check->primitive]
                                          : NULL;
    if (ops != NULL && ops->fini != NULL) {
        struct bz_loop *loop = bz_lack_check(bz_loop_new(NULL), "a loop");
        struct bz_mem *mem = bz_loop_mem(loop);
        void *instance = bz_lack_check(bz_mem_alloc(mem, ops->instance_bytes), "an object");
        for (unsigned time = 0; time < 2; time++) { /* the loop keeps what it takes at first */
            uint64_t before = bz_mem_live_blocks(mem);
            memset(instance, 0, ops->instance_bytes);
            if (ops->init(instance, loop, 1) != BZ_OK) {
                return;
            }
            leaks->is_in_fini = true;
            ops->fini(instance);
            leaks->is_in_fini = false;
            leaks->blocks_after_fini = bz_mem_live_blocks(mem) - before;
        }
    }
}

static void __attribute__((format(printf, 2, 3)))
add_leak(struct bz_conformance *check, const char *format, ...) {
    if (check->fault_count < BZ_FAULTS_MAX) {
        struct bz_fault_found *fault = &check->faults[check->fault_count++];
        va_list arguments;
        va_start(arguments, format);
        *fault = (struct bz_fault_found){.topic = BZ_TOPIC_LEAKS, .sessions = 1};
        vsnprintf(fault->message, sizeof fault->message, format, arguments);
        va_end(arguments);
    }
}

/* False if something ran out. */
static bool find_leaks(struct bz_conformance *check, const struct bz_conformance_config *config) {
    struct bz_contain contain = bz_cli_catalog.contain;
    struct leaks *leaks =
        bz_lack_check(bz_shared_alloc(sizeof *leaks), "a page for a child process");
    struct bz_death death;
    contain.step_ns = CHILD_NS;
    contain.stop = config->stop;
    leaks->check = check;
    enum bz_child_state state = bz_contain_call(&contain, NULL, count_blocks, leaks, &death);
    check->has_counted = leaks->is_done;
    if (state == BZ_CHILD_LACKS) {
        memcpy(check->lack, death.how, sizeof check->lack);
    } else if (state == BZ_CHILD_DIED && leaks->is_in_fini) {
        add_leak(check, "fini ends the process: %s", death.how);
    } else if (leaks->blocks_after_fini > 0) {
        add_leak(check, "after fini, the arena has %llu more %s than before init",
                 (unsigned long long)leaks->blocks_after_fini,
                 leaks->blocks_after_fini == 1 ? "block" : "blocks");
    }
    if (leaks->is_done && leaks->blocks[1] > leaks->blocks[0] + KEPT_MAX) {
        add_leak(check, "%d more rounds of each task leave %llu more blocks in the arena",
                 MANY - FEW, (unsigned long long)(leaks->blocks[1] - leaks->blocks[0]));
    }
    bz_shared_free(leaks, sizeof *leaks);
    return state != BZ_CHILD_LACKS;
}

/* --- the check -------------------------------------------------------------------------------- */

const char *bz_conformance_gap(const struct bz_conformance *check, enum bz_topic topic) {
    const struct bz_permit_ops *permits =
        check->primitive < BZ_PERMIT_PRIMITIVES ? check->variant->permits[check->primitive] : NULL;
    switch (topic) {
    case BZ_TOPIC_LEAKS:
        return check->has_counted ? NULL : "the long run that would show it does not pass";
    case BZ_TOPIC_VIEW:
        return permits != NULL && permits->view == NULL
                   ? "it has no `view`: permits and queue are judged by what callers see"
                   : NULL;
    case BZ_TOPIC_BEHAVIOUR:
        return check->waited == 0 ? "no operation ever waited" : NULL;
    default:
        return NULL;
    }
}

bool bz_conformance_check(struct bz_conformance *check,
                          const struct bz_conformance_config *config) {
    struct pass pass = {
        .check = check, .config = config, .variant = check->variant, .is_silent = true};
    bool is_ok = run_pass(&pass);
    for (unsigned shown = SHOWN_VIEW; is_ok && !check->is_interrupted && shown < SHOWN_COUNT;
         shown++) {
        is_ok = try_without(check, config, (enum shown)shown);
    }
    if (is_ok && !check->is_interrupted) {
        is_ok = find_leaks(check, config);
    }
    return is_ok;
}
