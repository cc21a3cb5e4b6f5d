/* A check in a program of your own: a test in Criterion, Check or GoogleTest, or a main() of yours.
 *
 *     Test(pool, keeps_its_limit) {
 *         cr_assert(bz_check(&(struct bz_check){.scenario = &pool, .variant = &mysem}) == 0);
 *     }
 *
 * A violation is printed as `buzzer run` prints it: shrunk, with the steps that led to it, a token,
 * and the command that replays it in this binary, by a variable of the environment:
 *
 *     BUZZER_REPLAY=TOKEN|TRACE.json PROGRAM             replays the run
 *     BUZZER_REPLAY='COMMAND TOKEN|TRACE.json [OPTION...]' PROGRAM
 *                                                        another command of `buzzer`: explain, show
 *     BUZZER_OPTIONS='--runs 1000000' PROGRAM            more options for every check
 *
 * The code under test is linked with libbuzzer-property (find_package(buzzer): buzzer::property;
 * pkg-config: buzzer-property). A scenario is as in sim/program/scenario_plugin.h, a variant as in
 * sim/variant/plugin.h; here a scenario may also have a runtime of its own, for code with an event
 * loop that cannot be taken out of it (sim/judge/judge.h). Names must be different from those of
 * what is built in.
 *
 * Everything runs in child processes, so a crash, a hang or an exit of the code under test is a
 * finding, and nothing that it does to its memory outlives the check. Call from one thread.
 */
#ifndef BZ_TOOLS_PROPERTY_H
#define BZ_TOOLS_PROPERTY_H

#include "sim/program/scenario_plugin.h"
#include "sim/variant/plugin.h"

BZ_BEGIN_DECLS

struct bz_check {
    const struct bz_scenario *scenario;
    const struct bz_variant
        *variant; /* NULL: the primitives that ship, or the scenario's runtime */
    /* Options of `buzzer run`, between single spaces, no quotes: "--runs 100000 --set workers=6";
     * NULL: none, 10,000 runs from seed 0. */
    const char *options;
};

/* Runs the check as `buzzer run` does. With BUZZER_REPLAY in the environment, it does that instead
 * if the run is of this scenario and variant; if it is not, it says so and does nothing.
 *
 * Returns what `buzzer run` exits with: 0 the property holds, or the replayed run did; 1 a
 * violation was found, or made again by a replay; 2 bad input, for instance an option; 3 the replay
 * diverged: the code has changed; 4 a required window was never hit; 5 interrupted; 70 out of
 * memory, or a fault of Buzzer. Whatever is not 0 or 1 proves nothing. */
int bz_check(const struct bz_check *check);

/* Its result, in words. */
const char *bz_check_reason(int status);

/* Their names in 0.1. */
#define bz_property bz_check
#define bz_property_check bz_check

BZ_END_DECLS

#endif
