#include "loop.h"

#include <stdlib.h>

struct job {
    struct job *next;
    void (*function)(void *);
    void *argument;
};

void loop_defer(struct loop *loop, void (*function)(void *), void *argument) {
    struct job *job = malloc(sizeof *job);
    if (job == NULL) {
        abort();
    }
    *job = (struct job){NULL, function, argument};
    if (loop->first == NULL) {
        loop->first = job;
    } else {
        loop->last->next = job;
    }
    loop->last = job;
}

void loop_run(struct loop *loop) {
    while (loop->first != NULL) {
        struct job *job = loop->first;
        loop->first = job->next;
        job->function(job->argument);
        free(job);
    }
}
