/* A loop of one's own: callbacks are posted to it, and it runs them later, the oldest first. */
#ifndef EVLOOP_H
#define EVLOOP_H

struct evwork {
    void (*run)(struct evwork *work);
    struct evwork *next;
};

struct evloop {
    struct evwork *first;
    struct evwork *last;
};

/* The work is in the caller's storage until it runs. */
void evloop_post(struct evloop *loop, struct evwork *work);

/* Runs until nothing is posted. */
void evloop_run(struct evloop *loop);

#endif
