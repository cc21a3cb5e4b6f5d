/* The semaphore at work, on its own loop: what ships. */
#include <stdio.h>

#include "evsem.h"

static void on_done(struct evsem_request *request, bool is_granted) {
    printf("%s\n", is_granted ? "granted" : "cancelled");
    if (is_granted) {
        evsem_release(request->sem);
    }
}

int main(void) {
    struct evloop loop = {NULL, NULL};
    struct evsem sem;
    struct evsem_request requests[4];
    evsem_init(&sem, &loop, 1);
    for (size_t index = 0; index < 4; index++) {
        evsem_acquire(&sem, &requests[index], on_done);
    }
    bool is_in_time = evsem_cancel(&requests[0]) && evsem_cancel(&requests[2]);
    evloop_run(&loop);
    printf("%u free, %u waiting\n", sem.free, sem.waiting);
    return !is_in_time;
}
