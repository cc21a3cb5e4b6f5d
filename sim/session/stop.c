#include "sim/session/stop.h"

#include <stddef.h>
#include <sys/time.h>
#include <time.h>

#include "sim/program/budget.h"

static uint64_t read_clock_ns(clockid_t clock_id) {
    struct timespec now;
    clock_gettime(clock_id, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

uint64_t bz_wall_ns(void) {
    return read_clock_ns(CLOCK_MONOTONIC);
}

uint64_t bz_thread_cpu_ns(void) {
    return read_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

#define SIGNAL_PAIR_NS UINT64_C(200000000)

volatile sig_atomic_t bz_interrupt_requested;

/* timeout(1) sends each signal twice, to the process and to its group. */
static void on_signal(int number) {
    static uint64_t first_ns;
    uint64_t now_ns = bz_wall_ns();
    if (bz_interrupt_requested != BZ_STOP_INTERRUPT) {
        first_ns = now_ns;
        bz_interrupt_requested = BZ_STOP_INTERRUPT;
    } else if (now_ns - first_ns >= SIGNAL_PAIR_NS) {
        signal(number, SIG_DFL);
        raise(number); /* when the handler returns */
    }
}

void bz_interrupt_catch(void) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct sigaction hangup;
    if (sigaction(SIGHUP, NULL, &hangup) != 0 || hangup.sa_handler != SIG_IGN) { /* nohup(1) */
        sigaction(SIGHUP, &action, NULL);
    }
}

static void on_alarm(int number) {
    sig_atomic_t none = BZ_STOP_NONE; /* an interrupt stays one */
    (void)number;
    (void)__atomic_compare_exchange_n(&bz_interrupt_requested, &none, BZ_STOP_TIME, false,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static void set_alarm(uint64_t seconds) {
    struct itimerval timer = {.it_value = {.tv_sec = (time_t)seconds}};
    struct sigaction action = {.sa_handler = seconds == 0 ? SIG_DFL : on_alarm,
                               .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    if (seconds != 0) {
        sigaction(SIGALRM, &action, NULL);
    }
    setitimer(ITIMER_REAL, &timer, NULL);
    if (seconds == 0) {
        sigaction(SIGALRM, &action, NULL);
    }
}

void bz_time_limit_begin(uint64_t seconds) {
    set_alarm(seconds);
}

bool bz_time_limit_end(void) {
    sig_atomic_t over = BZ_STOP_TIME;
    set_alarm(0);
    return __atomic_compare_exchange_n(&bz_interrupt_requested, &over, BZ_STOP_NONE, false,
                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}
