/* A semaphore for that loop, in callback style. Nothing here knows of Buzzer. */
#ifndef EVSEM_H
#define EVSEM_H

#include <stdbool.h>
#include <stddef.h>

#include "evloop.h"

enum evsem_state { EVSEM_IDLE, EVSEM_WAITING, EVSEM_GRANTED, EVSEM_CANCELLED };

/* In the caller's storage until on_done is called. */
struct evsem_request {
    struct evwork work; /* the completion */
    struct evsem *sem;
    struct evsem_request *next;
    enum evsem_state state;
    void (*on_done)(struct evsem_request *request, bool is_granted);
};

struct evsem {
    struct evloop *loop;
    struct evsem_request *waiters; /* the oldest first */
    unsigned free;
    unsigned waiting; /* requests in the list */
    unsigned granted; /* requests whose completion is posted and not delivered */
};

void evsem_init(struct evsem *sem, struct evloop *loop, unsigned permits);

/* The loop calls on_done later, once: with a permit, or without one after a cancel. */
void evsem_acquire(struct evsem *sem, struct evsem_request *request,
                   void (*on_done)(struct evsem_request *request, bool is_granted));
void evsem_release(struct evsem *sem);

/* Before its on_done. False: it is too late. */
bool evsem_cancel(struct evsem_request *request);

#endif
