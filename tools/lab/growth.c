/* buzzer-lab scale: how time and memory grow with tasks and timers. tools/lab/README.md says what
 * is measured. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "primitives/runtime/timer.h"
#include "sim/choice/pcg.h"
#include "sim/program/program.h"
#include "sim/program/settings.h"
#include "tools/cli/cli.h"
#include "tools/cli/options.h"
#include "tools/cli/progress.h"
#include "tools/lab/lab.h"
#include "traces/lack.h"

#define SCALE_MOST 10000000u /* tasks or timers */
#define REPEATS 9u
#define REPEAT_STEPS 20000u

/* --- steps: ns a step, by strategy and tasks -------------------------------------------------- */

static const uint32_t sizes[] = {4, 16, 64, 256, 1000, 10000};
#define SIZE_COUNT (sizeof sizes / sizeof sizes[0])
#define RATIO_SIZE 4u /* the index of 1,000 tasks */

/* With two permits nearly all tasks wait; with one each, all are ready at every step. */
static const struct {
    const char *name;
    uint32_t permits; /* 0: as many as tasks */
} programs[] = {{"waiting", 2}, {"ready", 0}};
#define STRATEGIES_MAX 16u
#define PROGRAM_COUNT (sizeof programs / sizeof programs[0])

struct cell {
    struct bz_program program;
    struct bz_world *world;
    uint64_t next_seed;
    double step_ns; /* of the best repeat */
};

struct row {
    const char *program;
    const char *strategy;
    struct cell cells[SIZE_COUNT];
};

/* Many waiting tasks, or timers, in one run. */
enum crowd_kind { CROWD_TASKS, CROWD_TIMERS, CROWD_KINDS };
#define CROWD_COUNT 5u
/* Of the loop of a crowd. */
#if SIZE_MAX > UINT32_MAX
#define CROWD_BYTES ((size_t)1 << 33)
#else
#define CROWD_BYTES ((size_t)1 << 28)
#endif

static const char *const crowd_names[] = {"waiting tasks", "timers"};
static const uint32_t crowd_most[] = {1000000, SCALE_MOST};

struct crowd {
    uint32_t count;
    uint64_t bytes;
    uint64_t steps;
    double each_ns;
};

struct scale {
    uint32_t most;
    size_t size_count;
    size_t size_ratio; /* the index of the size that is compared with the first */
    size_t row_count;
    struct row rows[PROGRAM_COUNT * STRATEGIES_MAX];
    size_t crowd_counts[CROWD_KINDS];
    struct crowd crowds[CROWD_KINDS][CROWD_COUNT];
};

static int find_program(struct cell *cell, const char *command, const char *strategy,
                        uint32_t tasks, uint32_t permits, const char *others) {
    char error[BZ_ERROR_BYTES];
    char list[BZ_ERROR_BYTES];
    snprintf(list, sizeof list, "cancel=none,max-steps=%u,workers=%u,permits=%u%s", BZ_STEPS_LIMIT,
             tasks, permits == 0 ? tasks : permits, others);
    bool is_found = bz_program_find(&cell->program, &bz_cli_catalog, "contended", "buzzer",
                                    strategy, error, sizeof error) &&
                    bz_program_set_list(&cell->program, list, error, sizeof error);
    return is_found ? BZ_EXIT_OK : bz_cli_fail(command, BZ_EXIT_INTERNAL, "%s", error);
}

static int run_once(struct cell *cell, const char *command) {
    const struct bz_judge *judge = cell->world->judge;
    if (bz_program_run(&cell->program, cell->world, cell->next_seed++) == BZ_RUN_PASSED) {
        return BZ_EXIT_OK;
    }
    const char *error = bz_judge_error(judge);
    const char *oracle = bz_judge_violation(judge)->oracle;
    return bz_cli_fail(command, BZ_EXIT_INTERNAL, "%s: %s", cell->program.scenario->name,
                       error != NULL    ? error
                       : oracle != NULL ? oracle
                                        : "the run was cut short");
}

/* The first run, which allocates, is not measured. */
static int start(struct cell *cell, const char *command) {
    if (!bz_program_measure(&cell->program)) {
        return bz_cli_fail(command, BZ_EXIT_INTERNAL, "out of memory for a profile");
    }
    cell->world = bz_lack_check(bz_program_new_world(&cell->program), "a world to run in");
    return run_once(cell, command);
}

static int repeat_runs(struct cell *cell, const char *command) {
    uint64_t began_ns = bz_thread_cpu_ns();
    uint64_t steps = 0;
    int code = BZ_EXIT_OK;
    for (; steps < REPEAT_STEPS && code == BZ_EXIT_OK;
         steps += bz_judge_steps(cell->world->judge)) {
        code = run_once(cell, command);
    }
    double step_ns = (double)(bz_thread_cpu_ns() - began_ns) / (double)steps;
    cell->step_ns = cell->step_ns == 0 || step_ns < cell->step_ns ? step_ns : cell->step_ns;
    return code;
}

static int measure_row(struct row *row, const char *command, size_t size_count) {
    int code = BZ_EXIT_OK;
    for (size_t size = 0; size < size_count && code == BZ_EXIT_OK; size++) {
        code = start(&row->cells[size], command);
    }
    for (unsigned repeat = 0; repeat < REPEATS; repeat++) {
        for (size_t size = 0; size < size_count && code == BZ_EXIT_OK; size++) {
            code = repeat_runs(&row->cells[size], command);
        }
    }
    for (size_t size = 0; size < size_count; size++) {
        bz_world_destroy(row->cells[size].world);
        row->cells[size].world = NULL;
    }
    return code;
}

/* A row of each program and strategy that chooses. */
static int measure_rows(struct scale *scale, const char *command) {
    int code = BZ_EXIT_OK;
    for (size_t program = 0; program < PROGRAM_COUNT; program++) {
        for (size_t index = 0; bz_strategies[index] != &bz_strategy_answers; index++) {
            struct row *row = &scale->rows[scale->row_count++];
            row->program = programs[program].name;
            row->strategy = bz_strategies[index]->name;
            for (size_t size = 0; size < scale->size_count && code == BZ_EXIT_OK; size++) {
                code = find_program(&row->cells[size], command, row->strategy, sizes[size],
                                    programs[program].permits, "");
            }
            code = code == BZ_EXIT_OK ? measure_row(row, command, scale->size_count) : code;
        }
    }
    return code;
}

/* --- crowds: memory and time of many at once -------------------------------------------------- */

/* Timers, all armed in the set-up, for instants in no order. */
enum { TIMERS };

static const struct bz_param timer_params[] = {
    {"timers", "armed in the set-up", 1, 1, SCALE_MOST},
    {NULL, NULL, 0, 0, 0},
};

static void fire(struct bz_timer *timer) {
    (void)timer;
}

static void *arm_all(struct bz_world *world, const struct bz_scenario_args *args) {
    size_t count = (size_t)args->values[TIMERS];
    struct bz_timer *timers = bz_world_alloc(world, count * sizeof *timers);
    bz_world_own_timer(world, fire);
    for (size_t index = 0; index < count; index++) {
        bz_timer_init(&timers[index], world->loop, fire);
        bool is_armed = bz_timer_arm(&timers[index], bz_seed_mix(index) >> 32u);
        bz_world_assert(world, is_armed, "timer %zu could not be armed", index);
    }
    return timers;
}

static const struct bz_scenario timers_scenario = {
    .name = "timers", .summary = "timers alone", .params = timer_params, .setup = arm_all};

static uint64_t resident_bytes(void) {
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long long pages = 0;
    if (file != NULL) {
        if (fscanf(file, "%*u %llu", &pages) != 1) {
            pages = 0;
        }
        fclose(file);
    }
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* One run of a program with `count` tasks or timers, in a world of its own. */
static int measure_crowd(struct crowd *crowd, const char *command, struct cell *cell) {
    uint64_t before_bytes = resident_bytes();
    uint64_t began_ns = bz_thread_cpu_ns();
    cell->world = bz_lack_check(bz_program_new_world(&cell->program), "a world to run in");
    if (!bz_world_set_loop(cell->world, &(struct bz_loop_config){.mem_limit_bytes = CROWD_BYTES})) {
        return bz_cli_fail(command, BZ_EXIT_INTERNAL, "out of memory for a loop");
    }
    int code = run_once(cell, command);
    crowd->each_ns = (double)(bz_thread_cpu_ns() - began_ns) / crowd->count;
    uint64_t bytes = resident_bytes();
    crowd->bytes = bytes > before_bytes ? bytes - before_bytes : 0;
    crowd->steps = bz_judge_steps(cell->world->judge);
    bz_world_destroy(cell->world);
    return code;
}

static int measure_crowds(struct scale *scale, const char *command) {
    static const uint32_t counts[] = {1000, 10000, 100000, 1000000, SCALE_MOST};
    int code = BZ_EXIT_OK;
    for (unsigned kind = 0; kind < CROWD_KINDS; kind++) {
        uint32_t most = scale->most < crowd_most[kind] ? scale->most : crowd_most[kind];
        for (size_t index = 0; index < CROWD_COUNT && code == BZ_EXIT_OK; index++) {
            struct cell cell = {.next_seed = 0};
            struct crowd *crowd = &scale->crowds[kind][index];
            if (index > 0 && counts[index] > most) {
                break;
            }
            crowd->count = counts[index] < most ? counts[index] : most;
            scale->crowd_counts[kind]++;
            if (kind == CROWD_TASKS) {
                /* while the first task yields, all others come to wait */
                code =
                    find_program(&cell, command, "random", crowd->count, 1, ",rounds=1,cancels=0");
            } else {
                bz_program_init(&cell.program, &timers_scenario,
                                bz_catalog_variant(&bz_cli_catalog, "buzzer"), &bz_strategy_random);
                cell.program.args.values[TIMERS] = crowd->count;
                cell.program.steps_max = BZ_STEPS_LIMIT;
            }
            code = code == BZ_EXIT_OK ? measure_crowd(crowd, command, &cell) : code;
        }
    }
    return code;
}

/* --- reports ---------------------------------------------------------------------------------- */

static double ratio(const struct row *row, size_t size) {
    return row->cells[size].step_ns / row->cells[0].step_ns;
}

static void print_text(const struct scale *scale) {
    printf("ns/step by tasks     ");
    for (size_t size = 0; size < scale->size_count; size++) {
        printf("%9u", sizes[size]);
    }
    printf("  %u:%u\n", sizes[scale->size_ratio], sizes[0]);
    for (size_t index = 0; index < scale->row_count; index++) {
        const struct row *row = &scale->rows[index];
        printf("%-9s%-12s", row->program, row->strategy);
        for (size_t size = 0; size < scale->size_count; size++) {
            printf("%9.1f", row->cells[size].step_ns);
        }
        printf("%7.2f\n", ratio(row, scale->size_ratio));
    }
    for (unsigned kind = 0; kind < CROWD_KINDS; kind++) {
        printf("\n%-21s%12s%12s%12s\n", crowd_names[kind], "bytes each", "MiB in all", "ns each");
        for (size_t index = 0; index < scale->crowd_counts[kind]; index++) {
            const struct crowd *crowd = &scale->crowds[kind][index];
            printf("%-21u%12.0f%12.0f%12.1f\n", crowd->count, (double)crowd->bytes / crowd->count,
                   (double)crowd->bytes / 1048576.0, crowd->each_ns);
        }
    }
    printf(
        "\nProcessor time; the best of %u repeats of %u steps. waiting: 2 permits; ready: as many "
        "as tasks.\n",
        REPEATS, REPEAT_STEPS);
}

static const struct bz_option options[] = {
    {"most", "N", "The largest number of tasks or timers (default 10000000)", BZ_OPTION_NUMBER32,
     offsetof(struct scale, most), .least = 1, .most = SCALE_MOST},
    {NULL},
};

int bz_command_scale(int argc, char **argv) {
    struct scale *scale = bz_lack_check(calloc(1, sizeof *scale), "the measurements");
    const struct bz_syntax syntax = {.options = options,
                                     .target = scale,
                                     .doc = "Measures how the time of a step and the memory grow "
                                            "with tasks and timers."};
    scale->most = SCALE_MOST;
    (void)bz_options_parse(&syntax, argc, argv);
    bz_thread_pin();
    while (scale->size_count < SIZE_COUNT &&
           (scale->size_count == 0 || sizes[scale->size_count] <= scale->most)) {
        scale->size_ratio = scale->size_count <= RATIO_SIZE ? scale->size_count : RATIO_SIZE;
        scale->size_count++;
    }
    int code = measure_rows(scale, argv[0]);
    code = code == BZ_EXIT_OK ? measure_crowds(scale, argv[0]) : code;
    if (code == BZ_EXIT_OK) {
        print_text(scale);
    }
    free(scale);
    return code;
}
