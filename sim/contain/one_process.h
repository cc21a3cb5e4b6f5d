/* In a child process: code under test must not start another one, which would act on the same judge
 * and outlive both. The system refuses it: fork(), _Fork() and the system call itself end the
 * process by SIGSYS. Threads may be started, and other programs as posix_spawn() does it. Where the
 * system has no such filter, only fork() is noticed, by pthread_atfork(). */
#ifndef BZ_SIM_CONTAIN_ONE_PROCESS_H
#define BZ_SIM_CONTAIN_ONE_PROCESS_H

void bz_refuse_forks(void);

#endif
