/* buzzer bench: how many schedules a second, as ratios to a bare context switch.
 *
 * Everything is measured in one process and one thread, in its processor time, on one core if the
 * system lets it choose. The repeats of all entries take turns, so that a disturbance hits all of
 * them; the median is reported, and how far the extremes are apart.
 */
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/campaign/run.h"
#include "sim/campaign/settings.h"
#include "tools/cli.h"
#include "tools/options.h"
#include "tools/progress.h"
#include "tools/report_json.h"
#include "tools/yardstick.h"

#define REPEATS 5u
#define RUNS_DEFAULT 20000u

enum { OPTION_JSON = 0x5000, OPTION_RUNS };

static const struct argp_option options_table[] = {
    {"json", OPTION_JSON, NULL, 0, "Print one JSON document", 0},
    {"runs", OPTION_RUNS, "N", 0, "Schedules in each of the repeats (20000)", 0},
    {0},
};

/* What is measured: all oracles, the tape and the digest, with the variant that ships. */
static const struct {
    const char *name;
    const char *scenario;
    const char *settings; /* beyond strategy random, order any */
} entries[] = {
    {"contended", "contended", ""},
    {"contended-fifo", "contended", "order=fifo"},
    {"contended-lock", "contended", "primitive=lock"},
    {"restaurant", "restaurant", ""},
    {"handoff", "handoff", ""},
    {"taskgroup", "taskgroup", ""},
    {"timeout", "timeout", ""},
};
#define ENTRY_COUNT (sizeof entries / sizeof entries[0])

struct series {
    double values[REPEATS];
};

struct bench {
    bool is_json;
    uint64_t runs;
    struct series switch_ns;
    struct series own_switch_ns;
    struct series step_ns[ENTRY_COUNT];
    uint64_t steps[ENTRY_COUNT];
};

static error_t parse_option(int key, char *arg, struct argp_state *state) {
    struct bench *bench = state->input;
    switch (key) {
    case OPTION_JSON:
        bench->is_json = true;
        return 0;
    case OPTION_RUNS:
        bench->runs = bz_option_number(state, "runs", arg, 1, UINT32_MAX);
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s' is too much", arg);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* A move to another core would cost a cold cache. A system that does not allow it loses little. */
static void pin_to_this_core(void) {
    cpu_set_t cores;
    int core = sched_getcpu();
    if (core < 0 || core >= CPU_SETSIZE) {
        return;
    }
    CPU_ZERO(&cores);
    CPU_SET(core, &cores);
    (void)sched_setaffinity(0, sizeof cores, &cores);
}

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
    return sorted(series).values[REPEATS / 2];
}

/* The distance of the extremes as a percentage of the median. */
static double spread_percent(const struct series *series) {
    struct series copy = sorted(series);
    double middle = copy.values[REPEATS / 2];
    return middle > 0 ? 100 * (copy.values[REPEATS - 1] - copy.values[0]) / middle : 0;
}

static int measure_entry(struct bench *bench, const char *name, size_t entry, unsigned repeat) {
    struct bz_program program;
    char error[BZ_ERROR_BYTES];
    if (!bz_program_find(&program, &bz_cli_catalog, entries[entry].scenario, "buzzer", "random",
                         error, sizeof error) ||
        (entries[entry].settings[0] != '\0' &&
         !bz_program_set_list(&program, entries[entry].settings, error, sizeof error))) {
        return bz_cli_fail(name, BZ_EXIT_INTERNAL, "%s: %s", entries[entry].name, error);
    }
    struct bz_world *world = bz_program_new_world(&program, NULL);
    if (world == NULL) {
        return bz_cli_fail(name, BZ_EXIT_INTERNAL, "out of memory");
    }
    /* The first runs pay for the memory of all. */
    uint64_t warm_up = bench->runs / 20 + 1;
    uint64_t began_ns = 0;
    uint64_t steps_before = 0;
    int code = BZ_EXIT_OK;
    for (uint64_t seed = 0; seed < warm_up + bench->runs && code == BZ_EXIT_OK; seed++) {
        if (seed == warm_up) {
            steps_before = world->stats.steps;
            began_ns = bz_thread_cpu_ns();
        }
        if (bz_program_run(&program, world, seed, NULL, NULL) == BZ_RUN_VIOLATED) {
            code = bz_cli_fail(name, BZ_EXIT_VIOLATION, "%s, seed 0x%" PRIx64 ": %s: %s",
                               entries[entry].name, seed, world->violation.oracle,
                               world->violation.message);
        }
    }
    double elapsed_ns = (double)(bz_thread_cpu_ns() - began_ns);
    bench->steps[entry] = world->stats.steps - steps_before;
    bench->step_ns[entry].values[repeat] = elapsed_ns / (double)bench->steps[entry];
    bz_world_destroy(world);
    return code;
}

static double schedules_per_s(const struct bench *bench, size_t entry) {
    return 1e9 * (double)bench->runs /
           (median(&bench->step_ns[entry]) * (double)bench->steps[entry]);
}

static void print_text(const struct bench *bench) {
    double switch_ns = median(&bench->switch_ns);
    double own_ns = median(&bench->own_switch_ns);
    printf("%-16s %12s %12s %9s %9s %8s\n", "", "schedules/s", "steps/s", "ns/step", "switches",
           "spread");
    printf("%-16s %12s %12s %9.2f %9.2f %7.1f%%\n", "textbook switch", "", "", switch_ns, 1.0,
           spread_percent(&bench->switch_ns));
    printf("%-16s %12s %12s %9.2f %9.2f %7.1f%%\n", "runtime's switch", "", "", own_ns,
           own_ns / switch_ns, spread_percent(&bench->own_switch_ns));
    for (size_t entry = 0; entry < ENTRY_COUNT; entry++) {
        double step_ns = median(&bench->step_ns[entry]);
        printf("%-16s %12.0f %12.0f %9.2f %9.2f %7.1f%%\n", entries[entry].name,
               schedules_per_s(bench, entry), 1e9 / step_ns, step_ns, step_ns / switch_ns,
               spread_percent(&bench->step_ns[entry]));
    }
    printf("\nMedians of %u repeats of %" PRIu64 " schedules, processor time of one thread.\n"
           "switches: ns/step as a multiple of the textbook switch, one direction.\n",
           REPEATS, bench->runs);
}

static void print_json(const struct bench *bench) {
    double switch_ns = median(&bench->switch_ns);
    struct bz_json *root = bz_json_new_object();
    bz_json_add_decimal(root, "switch_ns", switch_ns);
    bz_json_add_decimal(root, "switch_spread_percent", spread_percent(&bench->switch_ns));
    bz_json_add_decimal(root, "own_switch_ns", median(&bench->own_switch_ns));
    bz_json_add_number(root, "repeats", REPEATS);
    bz_json_add_number(root, "runs", bench->runs);
    struct bz_json *results = bz_json_add_array(root, "results");
    for (size_t entry = 0; entry < ENTRY_COUNT; entry++) {
        double step_ns = median(&bench->step_ns[entry]);
        struct bz_json *item = bz_json_append_object(results);
        bz_json_add_string(item, "name", entries[entry].name);
        bz_json_add_decimal(item, "schedules_per_s", schedules_per_s(bench, entry));
        bz_json_add_decimal(item, "steps_per_s", 1e9 / step_ns);
        bz_json_add_decimal(item, "ns_per_step", step_ns);
        bz_json_add_decimal(item, "ratio_to_switch", step_ns / switch_ns);
        bz_json_add_decimal(item, "spread_percent", spread_percent(&bench->step_ns[entry]));
    }
    bz_json_put(root);
}

static int command_bench(int argc, char **argv) {
    const struct argp argp = {.options = options_table,
                              .parser = parse_option,
                              .doc = "Measures how fast schedules run here, next to what a bare "
                                     "context switch costs in the same process."};
    struct bench bench = {.runs = RUNS_DEFAULT};
    bz_cli_parse(&argp, argc, argv, &bench);
    pin_to_this_core();
    for (unsigned repeat = 0; repeat < REPEATS; repeat++) {
        if (!bz_yardstick_measure(&bench.switch_ns.values[repeat],
                                  &bench.own_switch_ns.values[repeat])) {
            return bz_cli_fail(argv[0], BZ_EXIT_INTERNAL, "out of memory");
        }
        for (size_t entry = 0; entry < ENTRY_COUNT; entry++) {
            int code = measure_entry(&bench, argv[0], entry, repeat);
            if (code != BZ_EXIT_OK) {
                return code;
            }
        }
    }
    if (bench.is_json) {
        print_json(&bench);
    } else {
        print_text(&bench);
    }
    return BZ_EXIT_OK;
}

const struct bz_command bz_command_bench = {
    .name = "bench",
    .summary = "measure how fast schedules run on this machine",
    .run = command_bench,
};
