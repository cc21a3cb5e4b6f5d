/* A watchdog over code that is built in, which runs in this process: where a step of it takes
 * bz_watchdog_ms of CPU time, the program begins again, with that code in processes of its own as a
 * plug-in is. There the step is the finding `hang`, and signals are heeded.
 *
 * The environment variable BUZZER_CONTAIN=1 asks for those processes from the beginning: then a
 * crash is a finding, too. The program that begins again has the value "again". */
#pragma once

#include <stdbool.h>

extern unsigned bz_watchdog_ms; /* 2000; a test has less patience */

/* At the begin of the program, with the words of its command line, before a parser changes them.
 * It costs a signal every quarter of that time. */
void bz_watchdog_begin(char **words);

/* The program has begun again, so what it creates first may be there already. */
bool bz_watchdog_has_begun_again(void);

/* From now on a step may take its time: somebody debugs it. */
void bz_watchdog_end(void);
