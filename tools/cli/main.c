#include <stdlib.h>
#include <string.h>

#include "tools/cli/cli.h"
#include "tools/show/stepper.h"

/* True if built-in code, too, is to run in processes of its own: then its crashes and hangs are
 * findings. */
static bool is_contained(void) {
    const char *value = getenv("BUZZER_CONTAIN");
    return value != NULL && value[0] != '\0' && strcmp(value, "0") != 0;
}

int main(int argc, char **argv) {
#ifdef BZ_HAS_NCURSES
    bz_stepper = bz_stepper_run;
#endif
    bz_cli_catalog.contain.is_on = is_contained();
    return bz_cli_main(argc, argv);
}
