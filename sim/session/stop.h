/* The ends of a session from outside: signals and real time. No other part of the simulator reads a
 * clock, except for the limits of child processes. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Ctrl-C during long work: the first signal requests an orderly end, a second one, 0.2 seconds
 * later or more, kills the process. So do SIGTERM, and SIGHUP unless it is ignored (nohup). */
extern volatile sig_atomic_t bz_interrupt_requested; /* not 0 after such a signal */
void bz_interrupt_catch(void);                       /* installs the handler */

/* A limit in real time, by SIGALRM: when it is over, bz_interrupt_requested becomes BZ_STOP_TIME
 * (sim/program/budget.h), as if a signal had stopped what continues. The end takes that back; true
 * if it was over. */
void bz_time_limit_begin(uint64_t seconds);
bool bz_time_limit_end(void);

uint64_t bz_wall_ns(void);       /* monotonic */
uint64_t bz_thread_cpu_ns(void); /* spent by the calling thread */
