/* A loop of one's own: calls a function later, the oldest first. */
#ifndef LOOP_H
#define LOOP_H

struct loop {
    struct job *first, *last;
};

void loop_defer(struct loop *loop, void (*function)(void *), void *argument);

/* Until nothing is deferred. */
void loop_run(struct loop *loop);

#endif
