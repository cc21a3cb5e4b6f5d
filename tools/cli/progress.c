#include "tools/cli/progress.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "sim/session/job.h"
#include "sim/session/stop.h"

#define SECOND_NS UINT64_C(1000000000)
#define TERMINAL_INTERVAL_NS (SECOND_NS / 10)
#define LOG_INTERVAL_NS (30 * SECOND_NS)

void bz_thread_pin(void) {
    cpu_set_t cores;
    int core = sched_getcpu();
    if (core >= 0 && core < CPU_SETSIZE) {
        CPU_ZERO(&cores);
        CPU_SET(core, &cores);
        (void)sched_setaffinity(0, sizeof cores, &cores);
    }
}

void bz_progress_begin(struct bz_progress *progress, bool is_quiet, uint64_t runs_wanted,
                       uint64_t seconds) {
    *progress = (struct bz_progress){.is_quiet = is_quiet,
                                     .is_terminal = isatty(STDERR_FILENO) == 1,
                                     .began_ns = bz_wall_ns(),
                                     .unit = "runs"};
    progress->shown_ns = progress->began_ns;
    progress->runs_wanted = runs_wanted == BZ_RUNS_MAX ? 0 : runs_wanted;
    progress->deadline_ns = seconds != 0 ? progress->began_ns + seconds * SECOND_NS : 0;
}

/* Until what comes first. UINT64_MAX: not known. */
static uint64_t seconds_left(const struct bz_progress *progress, uint64_t now_ns, double rate,
                             uint64_t runs) {
    uint64_t left = UINT64_MAX;
    if (progress->deadline_ns != 0) {
        left = progress->deadline_ns > now_ns ? (progress->deadline_ns - now_ns) / SECOND_NS : 0;
    }
    if (progress->runs_wanted != 0 && rate > 0) {
        uint64_t runs_left = progress->runs_wanted > runs ? progress->runs_wanted - runs : 0;
        double of_runs = (double)runs_left / rate;
        left = of_runs < (double)left ? (uint64_t)of_runs : left;
    }
    return left;
}

/* The width of a line: one that wraps could not be erased. */
static int line_width(const struct bz_progress *progress, int most) {
    struct winsize size;
    bool is_known = progress->is_terminal && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 &&
                    size.ws_col > 1 && size.ws_col <= most;
    return is_known ? size.ws_col - 1 : most;
}

static bool is_time_to_show(const struct bz_progress *progress, uint64_t now_ns) {
    uint64_t interval_ns = progress->is_terminal ? TERMINAL_INTERVAL_NS : LOG_INTERVAL_NS;
    return !progress->is_quiet && now_ns - progress->shown_ns >= interval_ns;
}

static void show(struct bz_progress *progress, uint64_t now_ns, const char *line, int most) {
    progress->shown_ns = now_ns;
    fprintf(stderr, "%s%.*s%s", progress->is_terminal ? "\r\033[K" : "", line_width(progress, most),
            line, progress->is_terminal ? "" : "\n");
    fflush(stderr);
    progress->is_shown = progress->is_terminal;
}

void bz_progress_show_line(struct bz_progress *progress, const char *line) {
    uint64_t now_ns = bz_wall_ns();
    if (is_time_to_show(progress, now_ns)) {
        show(progress, now_ns, line, 160);
    }
}

void bz_progress_show(struct bz_progress *progress, uint64_t runs, uint64_t findings) {
    uint64_t now_ns = bz_wall_ns();
    if (!is_time_to_show(progress, now_ns)) {
        return;
    }
    double rate = (double)(runs - progress->runs_before) * (double)SECOND_NS /
                  (double)(now_ns - progress->began_ns);
    uint64_t left = seconds_left(progress, now_ns, rate, runs);
    char wanted[32] = "";
    char line[160];
    if (progress->runs_wanted != 0) {
        snprintf(wanted, sizeof wanted, " of %" PRIu64, progress->runs_wanted);
    }
    int length = snprintf(line, sizeof line, "%" PRIu64 "%s %s, %.0f %s/s, %" PRIu64 " findings",
                          runs, wanted, progress->unit, rate, progress->unit, findings);
    if (left < UINT64_MAX) {
        snprintf(line + length, sizeof line - (size_t)length, ", %" PRIu64 ":%02u:%02u left",
                 left / 3600, (unsigned)(left / 60 % 60), (unsigned)(left % 60));
    }
    show(progress, now_ns, line, (int)sizeof line);
}

double bz_progress_end(struct bz_progress *progress) {
    if (progress->is_shown) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
        progress->is_shown = false;
    }
    return (double)(bz_wall_ns() - progress->began_ns) / (double)SECOND_NS;
}
