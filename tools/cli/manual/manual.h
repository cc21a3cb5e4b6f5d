/* Manual pages in mdoc(7). That of a command is made of its table of options, so that they are
 * described once, and of its part of tools/cli/manual/manual.txt, which is written by hand: what
 * stands in the DESCRIPTION, and from a line "# EXAMPLES" on, what stands behind the EXIT STATUS.
 */
#pragma once

#include "tools/cli/cli.h"

/* Prints the page of the command; NULL: buzzer(1). It does not return for a command. */
void bz_manual_print(const struct bz_command *command);
