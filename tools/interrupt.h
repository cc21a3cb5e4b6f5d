/* Ctrl-C during long work: the first signal asks for an end in good order, the second one ends the
 * process. */
#ifndef BZ_TOOLS_INTERRUPT_H
#define BZ_TOOLS_INTERRUPT_H

#include <signal.h>

/* Not 0 once SIGINT or SIGTERM has come. */
extern volatile sig_atomic_t bz_interrupt_requested;

/* Catches both from now on. */
void bz_interrupt_catch(void);

#endif
