/* Contained code must not start another process, which would act on the same judge and outlive
 * both.
 *
 * The system refuses it: fork(), _Fork() and the system call itself end the process by SIGSYS.
 * Threads may be started, and other programs as posix_spawn() does it. Where the system has no such
 * filter, fork() is noticed by pthread_atfork(), and other copies of a process are without the code
 * of plug-ins: they notice that at their first instruction there. When a child has ended, the
 * processes and programs that it left behind are killed. */
#ifndef BZ_SIM_CONTAIN_ONE_PROCESS_H
#define BZ_SIM_CONTAIN_ONE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* From now on, in this process. */
void bz_refuse_forks(void);
bool bz_forks_are_refused(void);

/* The file that `part` is loaded from is a plug-in: no copy of a process has its code, but those of
 * bz_fork_with_code(). This process becomes the parent of whatever its children leave. */
void bz_guard_code(const void *part);

pid_t bz_fork_with_code(void);

/* In a child: waits until its copies, if there are any, have ended, or one has set `told`. */
void bz_await_copies(const uint64_t *told);

/* In the parent: `child`, of bz_fork_with_code(), has ended; kills what it has left. */
void bz_kill_orphans(pid_t child);

/* Kills the processes of bz_fork_with_code(), for a parent that is about to become another program.
 * May be called in a signal handler. */
void bz_kill_forks(void);

#endif
