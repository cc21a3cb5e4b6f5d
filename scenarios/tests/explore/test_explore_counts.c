/* The number of states is a property of the program under test, not of the compiler. These numbers
 * are the same for gcc with -O2, gcc with -O3 and link-time optimization, and clang. A change of
 * a scenario, of the runtime or of a reduction may change them; a change of the compiler must not.
 *
 * Not in the table are scenarios whose frames have words that are never read again, in different
 * places for different compilers (sim/README.md), and `barrier`, whose states have no end.
 */
#include "scenarios/tests/explore/explored.h"

static const struct row {
    const char *scenario;
    const char *settings; /* NULL: the defaults; "": the small ones; or others */
    uint32_t cancels;
    uint64_t states;
    uint64_t transitions;
} rows[] = {
    {"contended", NULL, 0, 662, 2104},
    {"contended", NULL, 1, 3389, 14029},
    {"contended", NULL, 2, 11170, 52966},
    {"contended", "", 1, 239, 708},
    {"deferred", "", 1, 124, 265},
    {"event", "", 1, 391, 1084},
    {"handoff", "", 1, 129, 220},
    {"model", "", 1, 4228, 6058},
    {"pool", "", 1, 242, 717},
    {"restaurant", "", 1, 933, 3874},
    {"taskgroup", "", 0, 6414, 12564},
    {"timeout", "", 0, 2274, 6459},
};

Test(explore_counts, do_not_depend_on_the_compiler) {
    TST_NEEDS_SNAPSHOTS();
    for (size_t index = 0; index < sizeof rows / sizeof rows[0]; index++) {
        const struct row *row = &rows[index];
        bool is_small = row->settings != NULL && row->settings[0] == '\0';
        const char *settings = is_small ? tst_small_settings(row->scenario) : row->settings;
        struct bz_program program =
            tst_explored_program(tst_scenario(row->scenario), &bz_variant_buzzer, settings);
        program.cancels_max = row->cancels;
        struct bz_explore_result result =
            tst_explore(&(struct bz_explore_config){.program = &program,
                                                    .delays_max = BZ_EXPLORE_UNBOUNDED,
                                                    .reductions = BZ_REDUCE_ALL,
                                                    .rounds_before_sweep = 1,
                                                    .states_max = 200000});
        cr_expect_eq(result.states, row->states, "%s, %s, %u cancels", row->scenario,
                     settings == NULL ? "" : settings, row->cancels);
        cr_expect_eq(result.transitions, row->transitions, "%s, %s, %u cancels", row->scenario,
                     settings == NULL ? "" : settings, row->cancels);
    }
}
