/* The gate at work, on its own loop: what ships. */
#include "gate.h"

#include <stdio.h>

static struct gate *gate;

static void answer(void *argument, int status) {
    printf("%s %s\n", (const char *)argument, status == 0 ? "is in" : "has left");
    if (status == 0) {
        gate_leave(gate);
    }
}

int main(void) {
    static struct loop loop;
    gate = gate_new(&loop, 1);
    gate_enter(gate, answer, "Ann");
    gate_abort(gate_enter(gate, answer, "Bob"));
    gate_enter(gate, answer, "Cleo");
    loop_run(&loop);
    gate_free(gate);
    return 0;
}
