/* What a bare context switch costs on this machine, here and now. */
#ifndef BZ_TOOLS_YARDSTICK_H
#define BZ_TOOLS_YARDSTICK_H

#include <stdbool.h>

/* Nanoseconds of one switch in one direction, of the thread's processor time: the textbook switch,
 * and the runtime's own. On a machine without the former both are the latter. False without
 * memory. */
bool bz_yardstick_measure(double *switch_ns, double *own_switch_ns);

#endif
