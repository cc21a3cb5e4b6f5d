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
 *         world->loop and memory of bz_world_alloc(), or static memory that it clears ...
 *     }
 *     static const struct bz_scenario service = {.name = "service", .summary = "the live service",
 *         .params = params, .setup = setup, BZ_LIVE_SCENARIO};
 *     BZ_SCENARIO_PLUGIN(&service);
 *
 *     cc -o service.so plug_in.c service.c $(pkg-config --cflags --libs buzzer-live)
 *     buzzer run service --plugin service.so --set file=RECORDING
 *
 * <uv.h> needs POSIX: no -std=c11. If main() gives its loop other stacks than the default, the
 * scenario does, too (.stack_bytes). Its parameters are what main() was called with: the recording
 * does not have them.
 *
 * libbuzzer-live takes the place of libbuzzer-primitives and libbuzzer-uv. It has the same
 * functions, and announces to the judge each call of a lock, semaphore, event, condition, barrier
 * or queue of the loop. Other primitives work, and only what the runtime reports of their tasks is
 * judged. So it is with a condition of a lock that is not announced, and a barrier of more than
 * BZ_BARRIER_PARTIES_MAX parties.
 *
 * A digest of all events of the runtime proves before each turn that the run is the recorded one.
 * Violations are reported immediately, before the digest of that turn has been checked. A run that
 * leaves the recording (a changed program, an injected cancel) is cut short there (exit status 5),
 * and says at which line. So is one whose recording goes on beyond what can be repeated, or ends
 * early: after a crash, after uv_stop() with tasks under way, after main()'s first bz_uv_run() if
 * there is another one. Nothing is proved of the rest. */
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

/* Whatever is initialized from now on until setup() returns outlives the tasks, at its place. So
 * the judge may look into it after every step, and finds a wrong level or queue at once. Without
 * this it judges by what the operations do. */
void bz_live_look_inside(struct bz_uv *driver);

/* Names a primitive that was just initialized, in messages and traces: "kitchen". Does nothing if
 * it is not announced. `name` is a literal; that of a queue is for its items. */
void bz_live_name(const void *primitive, const char *name);

BZ_END_DECLS

#endif
