/* A property test in a program of your own: in Criterion, Check, GoogleTest, or a main() of yours.
 * Your binary becomes the program `buzzer`, with your scenarios and variants among its own.
 *
 *     static const struct bz_property keeps_permits = {.scenario = &pool, .variant = &mysem};
 *     static const struct bz_property *const properties[] = {&keeps_permits, NULL};
 *
 *     Test(pool, keeps_permits) {
 *         cr_assert(bz_property_check(&keeps_permits) == 0);
 *     }
 *
 *     int main(int argc, char **argv) {
 *         bz_property_main(argc, argv, properties);
 *         ... what main() of the test framework does
 *     }
 *
 * A violation is printed as `buzzer run` prints it: shrunk, with the steps that led to it, a token,
 * and the command that replays it in this binary. Under a framework that has a main() of its own,
 * leave ours out: then the environment variable BUZZER_REPLAY takes the place of --buzzer-replay.
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

struct bz_property {
    const struct bz_scenario *scenario;
    const struct bz_variant
        *variant; /* NULL: the primitives that ship, or the scenario's runtime */
    /* Options of `buzzer run`, between single spaces, no quotes: "--runs 100000 --set workers=6";
     * NULL: none, 10,000 runs from seed 0. */
    const char *options;
};

/* Runs the property as `buzzer run` does. With BUZZER_REPLAY=TOKEN in the environment, or the path
 * of a trace, it replays that instead if it is of this scenario and variant. If it is not, it says
 * so and does nothing; bz_property_main() refuses a run that is of none of the properties.
 *
 * Returns what `buzzer run` exits with: 0 the property holds, or the replayed run did; 1 a
 * violation was found, or made again by a replay; 2 bad input, for instance an option; 3 the replay
 * diverged: the code has changed; 4 a required window was never hit; 5 interrupted; 70 out of
 * memory, or a fault of Buzzer. Whatever is not 0 or 1 proves nothing. */
int bz_property_check(const struct bz_property *property);

/* Ends the process if the command line asks for it; otherwise it returns, and the framework may
 * read the command line.
 *
 *     PROGRAM --buzzer-replay TOKEN|TRACE [OPTION...]   replays a run, as `buzzer replay` does
 *     PROGRAM --buzzer COMMAND [ARGUMENT...]            any other command: run, explain, shrink
 *
 * Called first in main(). The list ends with NULL. */
void bz_property_main(int argc, char **argv, const struct bz_property *const *properties);

BZ_END_DECLS

#endif
