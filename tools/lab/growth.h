/* buzzer bench --scale: how time and memory grow with tasks and timers. tools/README.md says what
 * is measured. */
#ifndef BZ_TOOLS_LAB_GROWTH_H
#define BZ_TOOLS_LAB_GROWTH_H

#include <stdbool.h>
#include <stdint.h>

#define BZ_SCALE_MOST 10000000u /* tasks or timers */

/* Measures sizes up to `most`, and prints them. An exit code; not BZ_EXIT_OK after a message. */
int bz_scale(const char *command, uint32_t most, bool is_json);

#endif
