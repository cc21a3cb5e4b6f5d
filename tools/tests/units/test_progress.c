/* Progress without a terminal: a line every 30 seconds. The clock is not moved: what was shown is
 * said to be older. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sim/session/job.h"
#include "tools/cli/progress.h"

#define SECOND_NS UINT64_C(1000000000)

/* What is printed if the last line is `seconds` old, as old as the work itself, of which `runs` are
 * done. */
static const char *shown(struct bz_progress progress, uint64_t seconds, uint64_t runs) {
    static char text[512];
    FILE *file = tmpfile();
    int stderr_copy = dup(STDERR_FILENO);
    cr_assert(file != NULL && stderr_copy >= 0);
    dup2(fileno(file), STDERR_FILENO);
    progress.is_terminal = false;
    progress.began_ns -= seconds * SECOND_NS;
    progress.shown_ns = progress.began_ns;
    bz_progress_show(&progress, runs, 3);
    bz_progress_show(&progress, runs, 3); /* not due again */
    fflush(stderr);
    dup2(stderr_copy, STDERR_FILENO);
    close(stderr_copy);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

/* Rates depend on the time that the test takes. */
static void expect(const char *text, const char *begin, const char *end) {
    cr_assert(strncmp(text, begin, strlen(begin)) == 0, "%s", text);
    cr_assert(strlen(text) >= strlen(end) && strcmp(text + strlen(text) - strlen(end), end) == 0,
              "%s", text);
    cr_assert(strchr(text, '\n') == text + strlen(text) - 1, "not one line: %s", text);
}

Test(progress, every_30_seconds) {
    struct bz_progress progress;
    bz_progress_begin(&progress, false, 0, 0);
    cr_assert_str_eq(shown(progress, 29, 100), "");
    bz_progress_begin(&progress, false, BZ_RUNS_MAX, 0);
    expect(shown(progress, 31, 100), "100 runs, ", "3 findings\n");
    bz_progress_begin(&progress, false, 0, 0);
    expect(shown(progress, 40, 4000), "4000 runs, ", " runs/s, 3 findings\n");
}

Test(progress, not_if_quiet) {
    struct bz_progress progress;
    bz_progress_begin(&progress, true, 0, 0);
    cr_assert_str_eq(shown(progress, 31, 100), "");
}

Test(progress, what_comes_first_is_left) {
    struct bz_progress progress;
    bz_progress_begin(&progress, false, 8000, 0);
    expect(shown(progress, 40, 4000), "4000 of 8000 runs, ", "3 findings, 0:00:40 left\n");
    bz_progress_begin(&progress, false, 8000, 7200);
    expect(shown(progress, 40, 4000), "4000 of 8000 runs, ", "3 findings, 0:00:40 left\n");
    bz_progress_begin(&progress, false, 8000000, 20);
    expect(shown(progress, 40, 4000), "4000 of 8000000 runs, ", "3 findings, 0:00:19 left\n");
    bz_progress_begin(&progress, false, 0, 20);
    expect(shown(progress, 40, 4000), "4000 runs, ", "3 findings, 0:00:19 left\n");
}
