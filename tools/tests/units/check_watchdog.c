/* A program of its own, for it begins again: a step that does not end, and many short ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "scenarios/scenarios.h"
#include "sim/program/program.h"
#include "tools/cli/cli.h"
#include "tools/cli/watchdog.h"

static bool is_short;

static enum bz_status spin(void *arg) {
    struct bz_world *world = arg;
    enum bz_status status = BZ_OK;
    clock_t end = clock() + 2 * CLOCKS_PER_SEC * BZ_WATCHDOG_MS / 1000;
    while (status == BZ_OK && clock() < end) {
        status = is_short ? bz_yield(world->loop) : BZ_OK;
    }
    return status;
}

static void *setup(struct bz_world *world, const struct bz_scenario_args *args) {
    (void)args;
    (void)bz_task_spawn(world->loop, "spinner", 1, spin, world);
    return world;
}

static const struct bz_param params[] = {{NULL, NULL, 0, 0, 0}};
static const struct bz_scenario spinning = {.name = "spinning",
                                            .summary = "one task",
                                            .params = params,
                                            .primitives = {BZ_PRIMITIVE_LOCK},
                                            .primitive_count = 1,
                                            .setup = setup};

/* The exit status of this program with that word. */
static int status_of(char *program, const char *word) {
    char mode[16];
    char *words[] = {program, mode, NULL};
    int status = -1;
    snprintf(mode, sizeof mode, "%s", word);
    pid_t pid = fork();
    if (pid == 0) {
        execv("/proc/self/exe", words);
        _exit(2);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid ? status : -1;
}

/* short: the run ends. long: the program begins again, with the same words. */
static int run(char **argv) {
    struct bz_program program;
    is_short = strcmp(argv[1], "short") == 0;
    bz_watchdog_begin(argv);
    if (bz_cli_catalog.contain.is_on) {
        return is_short ? 1 : 0;
    }
    bz_program_init(&program, &spinning, bz_variants[0], bz_strategy_find("fifo"));
    program.steps_max = UINT32_MAX;
    struct bz_world *world = bz_program_new_world(&program);
    enum bz_run_end end = world == NULL ? BZ_RUN_NO_RESOURCE : bz_program_run(&program, world, 0);
    bz_world_destroy(world);
    return is_short && end == BZ_RUN_PASSED ? 0 : 1;
}

int main(int argc, char **argv) {
    if (argc == 2) {
        return run(argv);
    }
    int is_silent = status_of(argv[0], "short") == 0;
    int fires = status_of(argv[0], "long") == 0;
    printf("short steps: %s; a step that does not end: %s\n", is_silent ? "ok" : "failed",
           fires ? "ok" : "failed");
    return is_silent && fires ? 0 : 1;
}
