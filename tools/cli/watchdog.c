#include "tools/cli/watchdog.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "sim/contain/one_process.h"
#include "sim/judge/inspect.h"
#include "sim/program/budget.h"
#include "tools/cli/cli.h"

#define MARK "BUZZER_CONTAIN"
#define AGAIN "again" /* its value in the program that begins again */
#define TICKS 4

extern char **environ;

unsigned bz_watchdog_ms = 2000;
static char **own_words;
static char **next_environment;
static bool has_begun_again;

static void say(const char *text) {
    (void)!write(STDERR_FILENO, text, strlen(text));
}

static void begin_again(void) {
    bz_kill_forks();
    if (bz_interrupt_requested == BZ_STOP_INTERRUPT) {
        say("buzzer: interrupted in a step that does not end\n");
        _exit(BZ_EXIT_INTERRUPTED);
    }
    say("buzzer: a step does not end; the program begins again, with the code under test in "
        "processes of their own (" MARK "=1)\n");
    bz_watchdog_end(); /* the next program would inherit the timer, and die of it */
    (void)execve("/proc/self/exe", own_words, next_environment);
}

static void on_tick(int number) {
    static uint64_t seen;
    static int ticks;
    const struct bz_judge *judge = bz_judge_last_begun();
    bool is_in_step = judge != NULL && bz_judge_running(judge) != 0;
    uint64_t progress = is_in_step ? bz_judge_progress(judge) : 0;
    (void)number;
    ticks = is_in_step && progress == seen ? ticks + 1 : 0;
    seen = progress;
    if (ticks == TICKS) {
        begin_again();
    }
}

/* The words, `more` unless it is NULL, and NULL; to the end of the process. NULL without memory. */
static char **copy(char **words, const char *more) {
    size_t count = 0;
    while (words[count] != NULL) {
        count++;
    }
    char **copied = calloc(count + 2, sizeof *copied);
    bool is_ok = copied != NULL;
    for (size_t index = 0; is_ok && index < count + (more != NULL); index++) {
        copied[index] = strdup(index < count ? words[index] : more);
        is_ok = copied[index] != NULL;
    }
    return is_ok ? copied : NULL;
}

void bz_watchdog_begin(char **words) {
    const char *value = getenv(MARK);
    if (value != NULL && value[0] != '\0' && strcmp(value, "0") != 0) {
        bz_cli_catalog.contain.is_on = true;
        has_begun_again = strcmp(value, AGAIN) == 0;
        return;
    }
    (void)unsetenv(MARK); /* the program that begins again has it once */
    own_words = copy(words, NULL);
    next_environment = copy(environ, MARK "=" AGAIN);
    if (own_words == NULL || next_environment == NULL) {
        return; /* without it, all else works */
    }
    struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART | SA_NODEFER};
    struct timeval tick = {.tv_usec = 1000 * (bz_watchdog_ms / TICKS)};
    struct itimerval timer = {.it_interval = tick, .it_value = tick};
    sigemptyset(&action.sa_mask);
    sigaction(SIGPROF, &action, NULL);
    setitimer(ITIMER_PROF, &timer, NULL);
}

bool bz_watchdog_has_begun_again(void) {
    return has_begun_again;
}

void bz_watchdog_end(void) {
    struct itimerval timer = {.it_value = {.tv_sec = 0}};
    setitimer(ITIMER_PROF, &timer, NULL);
}
