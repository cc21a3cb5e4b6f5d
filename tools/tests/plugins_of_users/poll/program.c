/* The semaphore at work, with an executor of its own: what ships. */
#include <stdio.h>

#include "pollsem.h"

#define GUESTS 4

struct guest {
    struct pollsem_acquire acquire;
    bool is_woken;
};

static void wake(void *guest) {
    ((struct guest *)guest)->is_woken = true;
}

/* Polls who was woken; who is served releases at the end of the turn. */
static void turn(struct pollsem *sem, struct guest *guests) {
    unsigned served = 0;
    for (size_t index = 0; index < GUESTS; index++) {
        bool is_woken = guests[index].is_woken;
        guests[index].is_woken = false;
        if (is_woken &&
            pollsem_poll(&guests[index].acquire, (struct pollwaker){wake, &guests[index]})) {
            printf("guest %zu is served\n", index);
            served++;
        }
    }
    while (served-- > 0) {
        pollsem_release(sem);
    }
}

int main(void) {
    struct pollsem sem;
    struct guest guests[GUESTS];
    pollsem_init(&sem, 1);
    for (size_t index = 0; index < GUESTS; index++) {
        guests[index] = (struct guest){pollsem_acquire(&sem), true};
    }
    turn(&sem, guests);
    if (guests[1].is_woken) {
        guests[1].is_woken = false;
        pollsem_drop(&guests[1].acquire);
        printf("guest 1 leaves\n");
    }
    turn(&sem, guests);
    turn(&sem, guests);
    printf("%u free\n", sem.free);
    return sem.free != 1;
}
