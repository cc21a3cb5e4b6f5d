#include "tools/interrupt.h"

#include <stddef.h>

volatile sig_atomic_t bz_interrupt_requested;

static void on_signal(int number) {
    (void)number;
    __atomic_store_n(&bz_interrupt_requested, 1, __ATOMIC_RELAXED); /* other threads look, too */
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
}

void bz_interrupt_catch(void) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}
