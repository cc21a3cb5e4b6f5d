/* Contained code must not start another process, which would act on the same judge and outlive
 * both.
 *
 * The system refuses it: fork(), _Fork() and the system call itself end the process by SIGSYS.
 * Threads may be started, and other programs as posix_spawn() does it. Where the system has no such
 * filter, fork() alone is noticed, by pthread_atfork(). When a child has ended, the processes and
 * programs that it left behind are killed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* From now on, in this process. */
void bz_refuse_forks(void);

/* This process becomes the parent of whatever its children leave. */
void bz_reap_orphans(void);

pid_t bz_fork_own(void);

/* In the parent: `child`, of bz_fork_own(), has ended; kills what it has left. */
void bz_kill_orphans(pid_t child);

/* Kills the processes of bz_fork_own(), for a parent that is about to become another program.
 * May be called in a signal handler. */
void bz_kill_forks(void);
