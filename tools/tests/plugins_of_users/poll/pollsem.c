#include "pollsem.h"

void pollsem_init(struct pollsem *sem, unsigned permits) {
    *sem = (struct pollsem){.free = permits};
}

struct pollsem_acquire pollsem_acquire(struct pollsem *sem) {
    return (struct pollsem_acquire){.sem = sem};
}

static struct pollsem_acquire **find(struct pollsem *sem, const struct pollsem_acquire *wanted) {
    struct pollsem_acquire **link = &sem->waiters;
    while (*link != wanted) {
        link = &(*link)->next;
    }
    return link;
}

bool pollsem_poll(struct pollsem_acquire *acquire, struct pollwaker waker) {
    struct pollsem *sem = acquire->sem;
    if (acquire->state == POLLSEM_GRANTED) {
        sem->granted--;
        acquire->state = POLLSEM_ENDED;
        return true;
    }
    if (acquire->state == POLLSEM_NEW) {
        if (sem->free > 0) {
            sem->free--;
            acquire->state = POLLSEM_ENDED;
            return true;
        }
        *find(sem, NULL) = acquire;
        acquire->state = POLLSEM_WAITING;
    }
    acquire->waker = waker;
    return false;
}

void pollsem_release(struct pollsem *sem) {
    struct pollsem_acquire *oldest = sem->waiters;
    if (oldest == NULL) {
        sem->free++;
        return;
    }
    sem->waiters = oldest->next;
    sem->granted++;
    oldest->state = POLLSEM_GRANTED;
    oldest->waker.wake(oldest->waker.task);
}

void pollsem_drop(struct pollsem_acquire *acquire) {
    struct pollsem *sem = acquire->sem;
    if (acquire->state == POLLSEM_WAITING) {
        *find(sem, acquire) = acquire->next;
    } else if (acquire->state == POLLSEM_GRANTED) { /* woken, and not polled since */
        sem->granted--;
#if !FAULT
        pollsem_release(sem); /* the permit goes to the next one */
#endif
    }
    acquire->state = POLLSEM_ENDED;
}
