/* Runs a script on the objects of the variant under test. */
#ifndef BZ_SCENARIOS_PROGRAM_INTERPRET_H
#define BZ_SCENARIOS_PROGRAM_INTERPRET_H

#include "scenarios/program/script.h"

struct bz_world;
struct bz_interpreter;

/* Creates the objects and the tasks. `script` must live as long as the run; the variant offers
 * every primitive in it. An object that the variant refuses to set up so becomes, if it `is_drawn`,
 * a plainer one, in the script, too; in a file it is what the oracle `assertion` objects to. */
struct bz_interpreter *bz_interpreter_new(struct bz_world *world, struct bz_script *script,
                                          bool is_drawn);

/* Once every task has ended: probes and empties the objects. */
void bz_interpreter_finish(struct bz_interpreter *interpreter);

/* What it runs. */
const struct bz_script *bz_interpreter_script(const struct bz_interpreter *interpreter);

#endif
