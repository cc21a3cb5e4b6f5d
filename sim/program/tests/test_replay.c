/* Replay: a recorded run happens again exactly; an edited one diverges, and says where. */
#include "sim/program/replay.h"

#include "sim/tests/crowd.h"

static uint64_t first_violation(const struct bz_program *program) {
    struct bz_world *world = bz_program_new_world(program);
    uint64_t seed = 0;
    while (bz_program_run(program, world, seed) != BZ_RUN_VIOLATED) {
        seed++;
    }
    bz_world_destroy(world);
    return seed;
}

static void replay(const struct bz_trace *trace, const struct bz_program *program,
                   struct bz_replay_report *report) {
    char error[BZ_ERROR_BYTES] = "";
    cr_assert(bz_replay_trace(trace, program, report, error, sizeof error), "%s", error);
}

Test(replay, recorded_violation_happens_again) {
    static const enum bz_order orders[] = {BZ_ORDER_ANY, BZ_ORDER_FIFO};
    for (int index = 0; index < 2; index++) {
        struct bz_program program;
        struct bz_trace trace;
        struct bz_replay_report report;
        crowd_program(&program, &crowd_drops, orders[index]);
        bz_trace_init(&trace);
        cr_assert(bz_record(&program, first_violation(&program), &trace, &report));
        tst_text(trace.verdict.oracle, "lost-wakeup");
        uint64_t digest = trace.digest;
        replay(&trace, &program, &report);
        cr_assert_eq(report.result, BZ_REPLAY_MATCHED, "step %u: expected %s, got %s", report.step,
                     report.expected, report.got);
        cr_assert_eq(report.digest, digest);
        tst_text(report.violation.oracle, "lost-wakeup");
        tst_text(report.violation.message, trace.verdict.message);
        bz_trace_fini(&trace);
    }
}

Test(replay, changed_choice_diverges_at_its_step) {
    struct bz_program program;
    struct bz_trace trace;
    struct bz_replay_report report;
    crowd_program(&program, &crowd_drops, BZ_ORDER_ANY);
    bz_trace_init(&trace);
    cr_assert(bz_record(&program, first_violation(&program), &trace, &report));
    uint32_t changed = 0;
    for (size_t index = 0; index < trace.choice_count; index++) {
        struct bz_trace_choice *choice = &trace.choices[index];
        if (strcmp(choice->kind, "next") != 0) {
            continue;
        }
        uint64_t n = choice->n;
        choice->n += 1000; /* a handle that never is */
        replay(&trace, &program, &report);
        cr_assert_eq(report.result, BZ_REPLAY_DIVERGED);
        cr_assert_eq(report.step, choice->step, "expected %s, got %s", report.expected, report.got);
        choice->n = n;
        changed++;
    }
    cr_assert_lt(0, changed);
    replay(&trace, &program, &report);
    cr_assert_eq(report.result, BZ_REPLAY_MATCHED);
    bz_trace_fini(&trace);
}
