/* A program of its own, for it begins again: a step that does not end, in a run and in a search,
 * and many that end, also in runs that are all alike. */
#include <stdbool.h>
#include <stdint.h>
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

#define PATIENCE_MS 200 /* of CPU time, of the watchdog */

static bool is_short;
static clock_t spin_ms = 2 * PATIENCE_MS;
static unsigned runs = 1;

static enum bz_status spin(void *arg) {
    struct bz_world *world = arg;
    enum bz_status status = BZ_OK;
    clock_t end = clock() + CLOCKS_PER_SEC * spin_ms / 1000;
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

/* The exit status of this program with those words. */
static int status_of(const char *const *words) {
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) {
        execv("/proc/self/exe", (char **)(uintptr_t)words);
        _exit(2);
    }
    bool has_ended = pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status);
    return has_ended ? WEXITSTATUS(status) : -1;
}

/* short: the run ends. alike: so do all of several that have one long step each. long: the program
 * begins again, with the same words, and the timer of the first one does not end it. */
static int run(char **argv) {
    struct bz_program program;
    is_short = strcmp(argv[1], "short") == 0;
    bool is_alike = strcmp(argv[1], "alike") == 0;
    if (is_alike) {
        spin_ms = PATIENCE_MS / 4;
        runs = 6;
    }
    bz_watchdog_begin(argv);
    if (bz_cli_catalog.contain.is_on) {
        for (clock_t end = clock() + CLOCKS_PER_SEC * PATIENCE_MS / 2000; clock() < end;) {
        }
        return !is_short && !is_alike && bz_watchdog_has_begun_again() ? 0 : 1;
    }
    bz_program_init(&program, &spinning, bz_variants[0], bz_strategy_find("fifo"));
    program.steps_max = UINT32_MAX;
    struct bz_world *world = bz_program_new_world(&program);
    enum bz_run_end end = world == NULL ? BZ_RUN_NO_RESOURCE : BZ_RUN_PASSED;
    for (; runs > 0 && end == BZ_RUN_PASSED; runs--) {
        end = bz_program_run(&program, world, 0);
    }
    bz_world_destroy(world);
    return (is_short || is_alike) && end == BZ_RUN_PASSED ? 0 : 1;
}

/* A command of the program, with the scenario that spins. */
static int call(int argc, char **argv) {
    static const struct bz_scenario *const all[] = {&spinning, NULL};
    bz_cli_catalog.scenarios = all;
    bz_watchdog_begin(argv);
    return bz_cli_main(argc, argv);
}

int main(int argc, char **argv) {
    char folder[] = "/tmp/buzzer-watchdog-XXXXXX";
    char remove[64];
    const char *const short_words[] = {argv[0], "short", NULL};
    const char *const long_words[] = {argv[0], "long", NULL};
    const char *const alike_words[] = {argv[0], "alike", NULL};
    const char *const explore[] = {argv[0],       "explore", "spinning", "--quiet",
                                   "--step-time", "100",     NULL};
    const char *const fuzz[] = {argv[0],       "fuzz", "spinning", "--out", folder,
                                "--runs",      "2",    "--cancel", "none",  "--quiet",
                                "--step-time", "100",  NULL};
    bz_watchdog_ms = PATIENCE_MS;
    if (argc > 1) {
        return argc == 2 ? run(argv) : call(argc, argv);
    }
    bool is_silent = status_of(short_words) == 0;
    bool fires = status_of(long_words) == 0;
    bool is_silent_if_alike = status_of(alike_words) == 0;
    bool is_explored = status_of(explore) == BZ_EXIT_VIOLATION;
    bool has_folder = mkdtemp(folder) != NULL;
    bool is_found = has_folder && status_of(fuzz) == BZ_EXIT_VIOLATION;
    snprintf(remove, sizeof remove, "rm -rf %s", folder);
    bool is_removed = has_folder && system(remove) == 0;
    printf("short steps: %s; a step that does not end: %s; a campaign with one: %s\n",
           is_silent ? "ok" : "failed", fires ? "ok" : "failed", is_found ? "ok" : "failed");
    printf("long steps of runs that are alike: %s; a search with a step that does not end: %s\n",
           is_silent_if_alike ? "ok" : "failed", is_explored ? "ok" : "failed");
    return is_silent && fires && is_silent_if_alike && is_explored && is_found && is_removed ? 0
                                                                                             : 1;
}
