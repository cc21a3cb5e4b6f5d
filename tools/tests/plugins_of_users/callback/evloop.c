#include "evloop.h"

#include <stddef.h>

void evloop_post(struct evloop *loop, struct evwork *work) {
    work->next = NULL;
    if (loop->first == NULL) {
        loop->first = work;
    } else {
        loop->last->next = work;
    }
    loop->last = work;
}

void evloop_run(struct evloop *loop) {
    while (loop->first != NULL) {
        struct evwork *work = loop->first;
        loop->first = work->next;
        work->run(work);
    }
}
