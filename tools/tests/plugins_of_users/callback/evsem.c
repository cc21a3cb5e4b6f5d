#include "evsem.h"

void evsem_init(struct evsem *sem, struct evloop *loop, unsigned permits) {
    *sem = (struct evsem){.loop = loop, .free = permits};
}

static void complete(struct evwork *work) {
    struct evsem_request *request = (struct evsem_request *)work; /* its first member */
    bool is_granted = request->state == EVSEM_GRANTED;
    request->sem->granted -= is_granted;
    request->state = EVSEM_IDLE;
    request->on_done(request, is_granted);
}

static void finish(struct evsem_request *request, enum evsem_state state) {
    request->state = state;
    request->sem->granted += state == EVSEM_GRANTED;
    evloop_post(request->sem->loop, &request->work);
}

void evsem_acquire(struct evsem *sem, struct evsem_request *request,
                   void (*on_done)(struct evsem_request *request, bool is_granted)) {
    *request = (struct evsem_request){.work = {.run = complete}, .sem = sem, .on_done = on_done};
    if (sem->free > 0) {
        sem->free--;
        finish(request, EVSEM_GRANTED);
        return;
    }
    struct evsem_request **end = &sem->waiters;
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = request;
    sem->waiting++;
    request->state = EVSEM_WAITING;
}

void evsem_release(struct evsem *sem) {
    struct evsem_request *oldest = sem->waiters;
    if (oldest == NULL) {
        sem->free++;
        return;
    }
    sem->waiters = oldest->next;
    sem->waiting--;
    finish(oldest, EVSEM_GRANTED);
}

bool evsem_cancel(struct evsem_request *request) {
    struct evsem *sem = request->sem;
    if (request->state == EVSEM_WAITING) {
        struct evsem_request **link = &sem->waiters;
        while (*link != request) {
            link = &(*link)->next;
        }
        *link = request->next;
        sem->waiting--;
        finish(request, EVSEM_CANCELLED);
        return true;
    }
    if (request->state == EVSEM_GRANTED) { /* posted, and not delivered */
        request->state = EVSEM_CANCELLED;
        sem->granted--;
#if !FAULT
        evsem_release(sem); /* the permit goes to the next one */
#endif
        return true;
    }
    return false;
}
