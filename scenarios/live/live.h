/* A live run, repeated in the simulator and judged there.
 *
 * A program on libuv (primitives/uv) records what the outside did (BZ_RECORD=FILE). This library
 * runs the same tasks in `buzzer`: completions, their data and the time of each turn come from the
 * recording, every step has the order that it had live, and the oracles judge each one. The tasks
 * stay as they are. A plug-in takes the place of main():
 *
 *     #include "scenarios/live/live.h"
 *
 *     static void *setup(struct bz_world *world, const struct bz_scenario_args *args) {
 *         struct bz_uv *driver = bz_live_begin(world, args);
 *         if (driver == NULL) {
 *             return NULL;
 *         }
 *         ... what main() does between bz_uv_new() and bz_uv_run(), in the same order, with
 *         world->loop and memory of bz_world_alloc() ...
 *     }
 *     static const struct bz_scenario service = {.name = "service", .summary = "the live service",
 *         .params = params, .setup = setup, BZ_LIVE_SCENARIO};
 *     BZ_SCENARIO_PLUGIN(&service);
 *
 *     cc -shared -fPIC -o service.so plug_in.c service.o $(pkg-config --cflags --libs buzzer-live)
 *     buzzer run service --plugin service.so --set file=RECORDING --runs 1
 *
 * libbuzzer-live takes the place of libbuzzer-primitives and libbuzzer-uv. It has the same
 * functions, and announces to the judge each call of a lock, semaphore, event, condition, barrier
 * or queue. Other primitives work, and only what the runtime reports of their tasks is judged.
 *
 * A digest of all events of the runtime proves before each turn that the run is the recorded one.
 * A run that leaves the recording (a changed program, an injected cancel) is cut short there
 * (exit status 5), and says at which line. So is one whose recording ends early: the program
 * crashed, or was stopped while tasks waited for the outside. Nothing is proved of the rest. What
 * main() does after its first bz_uv_run() is not repeated.
 *
 * An object that is initialized in setup() must live as long as the run: the judge looks into it.
 * One that is initialized later may end earlier; it is judged by what it does alone. */
#ifndef BZ_LIVE_LIVE_H
#define BZ_LIVE_LIVE_H

#include "primitives/uv/driver.h"
#include "sim/run/scenario_plugin.h"

BZ_BEGIN_DECLS

extern const struct bz_scenario_file bz_live_file;

/* For the initializer of a scenario. */
#define BZ_LIVE_SCENARIO                                                                           \
    .primitives = {BZ_PRIMITIVE_SEMAPHORE}, .primitive_count = 1, .file = &bz_live_file

/* First in setup(): a driver whose outside is the recording. It ends with the run. NULL: the run is
 * cut short, and the judge says why. */
struct bz_uv *bz_live_begin(struct bz_world *world, const struct bz_scenario_args *args);

BZ_END_DECLS

#endif
