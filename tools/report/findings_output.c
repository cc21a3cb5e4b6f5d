#include "tools/report/findings_output.h"

#include <inttypes.h>
#include <stdio.h>

#include "tools/cli/cli.h"
#include "tools/cli/options.h"

int bz_findings_output_trouble(struct bz_findings_output *output, enum bz_trouble trouble,
                               const char *message) {
    int code = trouble == BZ_TROUBLE_FILE ? BZ_EXIT_USAGE : BZ_EXIT_INTERNAL;
    code = trouble == BZ_TROUBLE_LACK && output->lack_code != 0 ? output->lack_code : code;
    if (trouble == BZ_TROUBLE_NONE) {
        return BZ_EXIT_OK;
    }
    code = bz_cli_fail(code, "%s", message);
    output->code = code > output->code ? code : output->code;
    return code;
}

void bz_findings_output_on_trouble(void *context, enum bz_trouble trouble, const char *message) {
    (void)bz_findings_output_trouble(context, trouble, message);
}

void bz_findings_output_begin(struct bz_findings_output *output, struct bz_kept_findings *kept) {
    kept->on_trouble = bz_findings_output_on_trouble;
    kept->on_shrinking = bz_findings_show_shrinking;
    kept->context = output;
}

void bz_findings_announce(const struct bz_findings_output *output,
                          const struct bz_kept_findings *kept, uint32_t place) {
    const struct bz_kept_finding *item = &kept->items[place];
    if (!output->is_quiet) {
        (void)bz_cli_fail(BZ_EXIT_OK, "found %s at step %" PRIu64 ": %s",
                          item->failure.violation.oracle, (uint64_t)item->trace.verdict.step,
                          item->token);
    }
}

void bz_findings_print_resume(const char *command, const char *place, const struct bz_text *more) {
    const struct bz_contain *contain = &bz_cli_catalog.contain;
    char quoted[2 * PATH_MAX];
    fflush(stdout);
    fprintf(stderr, "to continue: %s %s --resume %s%s", bz_caller.program, command,
            bz_cli_quoted(place, quoted, sizeof quoted), more->bytes != NULL ? more->bytes : "");
    if (contain->step_ns != 0) {
        fprintf(stderr, " --step-time %" PRIu64, contain->step_ns / 1000000);
    }
    if (contain->memory_bytes != 0) {
        fprintf(stderr, " --max-memory %" PRIu64, contain->memory_bytes >> 20u);
    }
    fputc('\n', stderr);
}

void bz_findings_show_shrinking(void *context, uint64_t runs, const struct bz_shrink_size *best) {
    struct bz_findings_output *output = context;
    char line[160];
    if (!output->is_shown) {
        bz_progress_begin(&output->progress, output->is_quiet, 0, 0);
    }
    output->is_shown = best != NULL;
    if (best == NULL) {
        (void)bz_progress_end(&output->progress);
        return;
    }
    snprintf(line, sizeof line,
             "shrinking: %" PRIu64 " runs, the smallest: %" PRIu32 " deviations, %" PRIu32
             " cancels, %" PRIu32 " tasks, %" PRIu32 " steps",
             runs, best->deviations, best->cancels, best->tasks, best->steps);
    bz_progress_show_line(&output->progress, line);
}
