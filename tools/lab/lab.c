/* The program buzzer-lab: what shows that Buzzer itself is right, and how it grows. Not installed.
 */
#include "tools/lab/lab.h"

#include "tools/cli/cli.h"

static const struct bz_command commands[] = {
    {"lockstep", "compare a reference with the real interpreter, step by step",
     bz_command_lockstep},
    {"scale", "measure how time and memory grow with tasks and timers", bz_command_scale},
    {0},
};

int main(int argc, char **argv) {
    bz_commands = commands;
    bz_caller.program = "buzzer-lab";
    return bz_cli_main(argc, argv);
}
