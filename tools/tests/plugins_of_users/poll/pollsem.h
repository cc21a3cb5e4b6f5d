/* A semaphore in poll style, as Rust has them. Nothing here knows of Buzzer. */
#ifndef POLLSEM_H
#define POLLSEM_H

#include <stdbool.h>
#include <stddef.h>

/* A future calls this when it should be polled again. */
struct pollwaker {
    void (*wake)(void *task);
    void *task;
};

struct pollsem {
    struct pollsem_acquire *waiters; /* the oldest first */
    unsigned free;
    unsigned granted; /* to futures that were not polled since */
};

enum pollsem_state { POLLSEM_NEW, POLLSEM_WAITING, POLLSEM_GRANTED, POLLSEM_ENDED };

/* A future, in the caller's storage until it is ready or dropped. */
struct pollsem_acquire {
    struct pollsem *sem;
    struct pollsem_acquire *next;
    struct pollwaker waker; /* of the last poll */
    enum pollsem_state state;
};

void pollsem_init(struct pollsem *sem, unsigned permits);

/* Nothing happens until the future is polled. */
struct pollsem_acquire pollsem_acquire(struct pollsem *sem);

/* True: it has a permit. Not for a future that was ready. */
bool pollsem_poll(struct pollsem_acquire *acquire, struct pollwaker waker);

/* The caller does not want the permit any more. */
void pollsem_drop(struct pollsem_acquire *acquire);

void pollsem_release(struct pollsem *sem);

#endif
