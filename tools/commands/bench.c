/* buzzer bench: schedules a second, as ratios to a bare context switch; tools/README.md says how it
 * measures. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "primitives/runtime/coro/coro.h"
#include "primitives/runtime/coro/stack.h"
#include "sim/campaign/campaign.h"
#include "sim/choice/pcg.h"
#include "sim/program/program.h"
#include "sim/program/settings.h"
#include "tools/cli/cli.h"
#include "tools/cli/options.h"
#include "tools/cli/progress.h"
#include "tools/report/report.h"
#include "traces/lack.h"

#define REPEATS 40u
#define RUNS_DEFAULT 1000u
#define ROUND_TRIPS 40000u
#define CROWD 16u
#define ORDER_LENGTH 65536u

/* The cases. All use the shipped variant, all oracles, the tape and the digest. */
static const struct {
    const char *name;
    const char *scenario;
    const char *settings; /* in addition to strategy random, order any */
} entries[] = {
    /* no injected cancels: comparable with the figures of other projects */
    {"contended", "contended", "cancel=none"},
    {"contended-injected", "contended", ""},
    {"contended-fifo", "contended", "order=fifo"},
    {"contended-lock", "contended", "primitive=lock"},
    {"restaurant", "restaurant", ""},
    {"handoff", "handoff", ""},
    {"taskgroup", "taskgroup", ""},
    {"timeout", "timeout", ""},
    {"model", "model", ""}, /* 4 tasks x 3 operations, and the check of their history */
};
#define ENTRY_COUNT (sizeof entries / sizeof entries[0])
#define LOOP 0u /* the entry that a campaign is compared with */

struct series {
    double values[REPEATS];
};

struct entry {
    struct bz_program program;
    struct bz_world *world;
    uint64_t next_seed;
    struct series step_ns;
    struct series ratio; /* to the switch measured with each repeat */
};

/* `run contended` with the options that a user has who gives none. */
struct campaign {
    struct bz_program program;
    uint64_t runs;     /* when the last repeat ended */
    uint64_t steps;    /* likewise */
    uint64_t began_ns; /* the next one */
    struct series step_ns;
    struct series ratio;   /* to the switch measured with each repeat */
    struct series to_loop; /* the same to LOOP */
};
#define CAMPAIGN "campaign"
/* Before the first repeat: each draw of sizes has been measured. */
#define WARM_UP_RUNS (BZ_SIZES_SEEDS * BZ_SIZES_DRAWS)

struct bench {
    bool is_json;
    uint64_t runs;
    int code;
    unsigned repeat;
    struct bz_stack_pool *pool;
    struct bz_coro main;
    struct bz_coro crowd[CROWD];
    uint32_t turn; /* in the order, where the next measurement begins */
    uint8_t order[ORDER_LENGTH];
    struct series switch_ns;
    struct entry entries[ENTRY_COUNT];
    struct campaign campaign;
};

static const struct bz_option options[] = {
    {"json", NULL, "Print one JSON document", BZ_OPTION_FLAG, offsetof(struct bench, is_json)},
    {"runs", "N", "Number of schedules in each of the 40 repeats (default 1000)", BZ_OPTION_NUMBER,
     offsetof(struct bench, runs), .least = 1, .most = UINT32_MAX},
    {NULL},
};

static int compare(const void *a, const void *b) {
    double left = *(const double *)a;
    double right = *(const double *)b;
    return (left > right) - (left < right);
}

static struct series sorted(const struct series *series) {
    struct series copy = *series;
    qsort(copy.values, REPEATS, sizeof copy.values[0], compare);
    return copy;
}

static double median(const struct series *series) {
    struct series copy = sorted(series);
    return (copy.values[(REPEATS - 1) / 2] + copy.values[REPEATS / 2]) / 2;
}

static double best(const struct series *series) {
    return sorted(series).values[0];
}

/* How much slower the median repeat was than the best. */
static double spread_percent(const struct series *series) {
    double least = best(series);
    return least > 0 ? 100 * (median(series) - least) / least : 0;
}

/* --- the unit: a context switch --------------------------------------------------------------- */

static void switch_back(struct bz_coro *from, struct bz_coro *self) {
    bz_coro_arrive(from);
    for (;;) {
        bz_coro_switch(self, from);
        __asm__ volatile("" ::: "memory"); /* keeps the two switches apart */
        bz_coro_switch(self, from);
    }
}

/* Nanoseconds of a switch in one direction, as a loop uses it: among 16 coroutines in random order,
 * each suspended in one of two places. */
static double measure_switch(struct bench *bench) {
    uint64_t began_ns = bz_thread_cpu_ns();
    for (unsigned trip = 0; trip < ROUND_TRIPS; trip++) {
        uint8_t next = bench->order[bench->turn++ % ORDER_LENGTH];
        bz_coro_switch(&bench->main, &bench->crowd[next]);
    }
    return (double)(bz_thread_cpu_ns() - began_ns) / (2.0 * ROUND_TRIPS);
}

static void begin_switch(struct bench *bench) {
    struct bz_pcg32 pcg;
    bz_pcg32_seed(&pcg, 0, 0);
    for (unsigned index = 0; index < ORDER_LENGTH; index++) {
        bench->order[index] = (uint8_t)bz_pcg32_below(&pcg, CROWD);
    }
    bench->pool = bz_lack_check(bz_stack_pool_new(0), "coroutines");
    for (unsigned index = 0; index < CROWD; index++) {
        bz_coro_init(&bench->crowd[index], bz_lack_check(bz_stack_take(bench->pool), "coroutines"),
                     switch_back);
    }
    (void)measure_switch(bench); /* touches every stack once */
}

/* --- the entries ------------------------------------------------------------------------------ */

static int run_schedules(struct entry *entry, const char *name, uint64_t count) {
    for (; count > 0; count--) {
        uint64_t seed = entry->next_seed++;
        enum bz_run_end end = bz_program_run(&entry->program, entry->world, seed);
        if (end == BZ_RUN_NO_RESOURCE) {
            return bz_cli_fail(BZ_EXIT_INTERNAL, "%s", bz_judge_error(entry->world->judge));
        }
        if (end == BZ_RUN_VIOLATED) {
            return bz_cli_fail(BZ_EXIT_VIOLATION, "%s, seed 0x%" PRIx64 ": %s: %s", name, seed,
                               bz_judge_violation(entry->world->judge)->oracle,
                               bz_judge_violation(entry->world->judge)->message);
        }
    }
    return BZ_EXIT_OK;
}

static int prepare_entry(struct bench *bench, size_t index) {
    struct entry *entry = &bench->entries[index];
    char error[BZ_ERROR_BYTES];
    if (!bz_program_find(&entry->program, &bz_cli_catalog, entries[index].scenario, "buzzer",
                         "random", error, sizeof error) ||
        (entries[index].settings[0] != '\0' &&
         !bz_program_set_list(&entry->program, entries[index].settings, error, sizeof error))) {
        return bz_cli_fail(BZ_EXIT_INTERNAL, "%s: %s", entries[index].name, error);
    }
    entry->world = bz_lack_check(bz_program_new_world(&entry->program), "a world to run in");
    /* warm-up: the first runs allocate */
    return run_schedules(entry, entries[index].name, bench->runs);
}

static int measure_entry(struct bench *bench, size_t index, unsigned repeat) {
    struct entry *entry = &bench->entries[index];
    double switch_ns = measure_switch(bench);
    uint64_t steps = bz_judge_stats(entry->world->judge)->steps;
    uint64_t began_ns = bz_thread_cpu_ns();
    int code = run_schedules(entry, entries[index].name, bench->runs);
    double elapsed_ns = (double)(bz_thread_cpu_ns() - began_ns);
    double step_ns = elapsed_ns / (double)(bz_judge_stats(entry->world->judge)->steps - steps);
    entry->step_ns.values[repeat] = step_ns;
    entry->ratio.values[repeat] = step_ns / switch_ns;
    if (index == 0 || switch_ns < bench->switch_ns.values[repeat]) {
        bench->switch_ns.values[repeat] = switch_ns;
    }
    return code;
}

/* The campaign has come as far as a repeat is long, so the entries have theirs. */
static void take_repeat(struct bench *bench, double step_ns) {
    struct campaign *campaign = &bench->campaign;
    unsigned repeat = bench->repeat++;
    for (size_t index = 0; index < ENTRY_COUNT && bench->code == BZ_EXIT_OK; index++) {
        bench->code = measure_entry(bench, index, repeat);
    }
    campaign->step_ns.values[repeat] = step_ns;
    campaign->ratio.values[repeat] = step_ns / bench->switch_ns.values[repeat];
    campaign->to_loop.values[repeat] = step_ns / bench->entries[LOOP].step_ns.values[repeat];
}

static bool look_at_campaign(void *context, const struct bz_campaign_result *so_far) {
    struct bench *bench = context;
    struct campaign *campaign = &bench->campaign;
    bool is_warm = campaign->runs != 0;
    if (so_far->runs < (is_warm ? campaign->runs + bench->runs : WARM_UP_RUNS)) {
        return true;
    }
    if (is_warm) {
        uint64_t elapsed_ns = bz_thread_cpu_ns() - campaign->began_ns;
        take_repeat(bench, (double)elapsed_ns / (double)(so_far->stats.steps - campaign->steps));
    }
    campaign->runs = so_far->runs;
    campaign->steps = so_far->stats.steps;
    campaign->began_ns = bz_thread_cpu_ns();
    return bench->repeat < REPEATS && bench->code == BZ_EXIT_OK;
}

static int run_campaign(struct bench *bench) {
    static struct bz_campaign_result result;
    struct bz_program *program = &bench->campaign.program;
    char error[BZ_ERROR_BYTES];
    if (!bz_program_find(program, &bz_cli_catalog, entries[LOOP].scenario, "buzzer", "portfolio",
                         error, sizeof error)) {
        return bz_cli_fail(BZ_EXIT_INTERNAL, CAMPAIGN ": %s", error);
    }
    const struct bz_campaign_config config = {.program = program,
                                              .runs = UINT64_MAX,
                                              .draws_sizes = true,
                                              .poll = look_at_campaign,
                                              .context = bench};
    if (!bz_campaign_run(&config, &result)) {
        return bz_cli_fail(BZ_EXIT_INTERNAL, CAMPAIGN ": %s", result.lack);
    }
    if (result.violations > 0) {
        return bz_cli_fail(BZ_EXIT_VIOLATION, CAMPAIGN ", seed 0x%" PRIx64 ": %s: %s",
                           result.findings[0].seed, result.findings[0].violation.oracle,
                           result.findings[0].violation.message);
    }
    return bench->code;
}

static int measure(struct bench *bench) {
    int code = BZ_EXIT_OK;
    for (size_t index = 0; index < ENTRY_COUNT && code == BZ_EXIT_OK; index++) {
        code = prepare_entry(bench, index);
    }
    return code == BZ_EXIT_OK ? run_campaign(bench) : code;
}

/* --- the result ------------------------------------------------------------------------------- */

struct row {
    const char *name;
    double steps_per_schedule;
    const struct series *step_ns;
    const struct series *ratio;
};

static struct row row_of(const struct bench *bench, size_t index) {
    const struct campaign *campaign = &bench->campaign;
    if (index == ENTRY_COUNT) {
        return (struct row){CAMPAIGN, (double)campaign->steps / (double)campaign->runs,
                            &campaign->step_ns, &campaign->ratio};
    }
    const struct entry *entry = &bench->entries[index];
    const struct bz_run_stats *stats = bz_judge_stats(entry->world->judge);
    return (struct row){entries[index].name, (double)stats->steps / (double)stats->runs,
                        &entry->step_ns, &entry->ratio};
}

static void print_text(const struct bench *bench) {
    double switch_ns = best(&bench->switch_ns);
    printf("%-18s %12s %12s %9s %9s %8s\n", "", "schedules/s", "steps/s", "ns/step", "switches",
           "spread");
    printf("%-18s %12s %12s %9.2f %9.2f %7.1f%%\n", "context switch", "", "", switch_ns, 1.0,
           spread_percent(&bench->switch_ns));
    for (size_t index = 0; index <= ENTRY_COUNT; index++) {
        struct row row = row_of(bench, index);
        double step_ns = best(row.step_ns);
        printf("%-18s %12.0f %12.0f %9.2f %9.2f %7.1f%%\n", row.name,
               1e9 / (step_ns * row.steps_per_schedule), 1e9 / step_ns, step_ns, median(row.ratio),
               spread_percent(row.step_ns));
    }
    printf("\n" CAMPAIGN ": `run contended` with default options; a step takes %.2f times as long "
           "as in the\n"
           "loop of the row `contended`, the median of the repeats.\n",
           median(&bench->campaign.to_loop));
    printf(
        "\nThe best of %u repeats of %" PRIu64 " schedules, processor time of one thread.\n"
        "switches: ns/step as a multiple of the runtime's context switch, one direction, measured\n"
        "with each repeat; the median. spread: how much slower the median repeat was than the "
        "best.\n",
        REPEATS, bench->runs);
}

static void print_json(const struct bench *bench) {
    struct bz_json *root = bz_json_new_object();
    bz_json_add_decimal(root, "switch_ns", best(&bench->switch_ns));
    bz_json_add_decimal(root, "switch_spread_percent", spread_percent(&bench->switch_ns));
    bz_json_add_decimal(root, "campaign_to_contended", median(&bench->campaign.to_loop));
    bz_json_add_number(root, "repeats", REPEATS);
    bz_json_add_number(root, "runs", bench->runs);
    struct bz_json *results = bz_json_add_array(root, "results");
    for (size_t index = 0; index <= ENTRY_COUNT; index++) {
        struct row row = row_of(bench, index);
        double step_ns = best(row.step_ns);
        struct bz_json *item = bz_json_append_object(results);
        bz_json_add_string(item, "name", row.name);
        bz_json_add_decimal(item, "schedules_per_s", 1e9 / (step_ns * row.steps_per_schedule));
        bz_json_add_decimal(item, "steps_per_s", 1e9 / step_ns);
        bz_json_add_decimal(item, "ns_per_step", step_ns);
        bz_json_add_decimal(item, "ratio_to_switch", median(row.ratio));
        bz_json_add_decimal(item, "spread_percent", spread_percent(row.step_ns));
    }
    bz_json_put(root);
}

int bz_command_bench(int argc, char **argv) {
    static struct bench bench;
    bench = (struct bench){.runs = RUNS_DEFAULT};
    const struct bz_syntax syntax = {.options = options,
                                     .target = &bench,
                                     .doc = "Measures how fast schedules run here, next to what a "
                                            "bare context switch costs in the same process."};
    (void)bz_options_parse(&syntax, argc, argv);
    bz_thread_pin();
    begin_switch(&bench);
    int code = measure(&bench);
    if (code == BZ_EXIT_OK && bench.is_json) {
        print_json(&bench);
    } else if (code == BZ_EXIT_OK) {
        print_text(&bench);
    }
    for (size_t index = 0; index < ENTRY_COUNT; index++) {
        bz_world_destroy(bench.entries[index].world);
    }
    bz_stack_pool_destroy(bench.pool); /* the coroutines are abandoned */
    return code;
}
