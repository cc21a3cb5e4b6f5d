#include "tools/cli/cli.h"
#include "tools/cli/watchdog.h"
#include "tools/show/stepper.h"

int main(int argc, char **argv) {
#ifdef BZ_HAS_NCURSES
    bz_stepper = bz_stepper_run;
#endif
    bz_watchdog_begin(argv);
    return bz_cli_main(argc, argv);
}
