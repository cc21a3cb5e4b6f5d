/* A line of waiters in callback style (callback.h), whose waits cannot be cancelled, except in two
 * styles; with the faults of the designs that use it. */
#ifndef BZ_SCENARIOS_TESTS_DESIGNS_CALLBACK_LINE_H
#define BZ_SCENARIOS_TESTS_DESIGNS_CALLBACK_LINE_H

#include "scenarios/tests/designs/designs.h"
#include "sim/variant/callback.h"

enum fault {
    NO_FAULT,
    LOSES_WAKE_UP, /* of the last but one waiter */
    GRANTS_TWICE,
    KEEPS, /* what a cancelled waiter was granted */
    /* Of completions in place. */
    SETTLES_LATE, /* a permit is free until the waiter that it goes to suspends again */
    WALKS,        /* the line itself, which those that it resumes join again */
    STORES_TWICE, /* an item that was handed over */
    CLOSES_LATE,  /* when all have resumed that the close wakes */
};

/* How waits end. */
enum style { POSTS, POSTS_OR_CANCELLED, MORPHS, IN_PLACE, IN_PLACE_OR_CANCELLED };

struct line {
    struct bz_loop *loop;
    struct bz_list waiters;
    enum fault fault;
    enum style style;
    uint32_t woken;                      /* waiters that have not resumed */
    void (*has_left)(struct line *line); /* a waiter was cancelled; NULL */
};

struct waiter {
    struct bz_request request;
    struct bz_list link;
    struct line *line;
    bool is_granted;
    enum bz_status outcome;
    uint32_t number; /* of those that are woken together */
    uint32_t op;     /* of the read-write lock */
};

static inline void line_init(struct line *line, struct bz_loop *loop, enum fault fault,
                             enum style style) {
    *line = (struct line){.loop = loop, .fault = fault, .style = style};
    bz_list_init(&line->waiters);
}

static inline struct waiter *first_of(const struct bz_list *waiters) {
    return bz_container_of(waiters->next, struct waiter, link);
}

static inline uint32_t length_of(const struct line *line) {
    uint32_t length = 0;
    for (const struct bz_list *link = line->waiters.next; link != &line->waiters;
         link = link->next) {
        length++;
    }
    return length;
}

static inline void grant(struct line *line, struct waiter *waiter) {
    line->woken += !waiter->is_granted;
    waiter->is_granted = true;
}

/* False: nobody waits, or the fault. */
static inline bool wake(struct line *line, struct bz_list *waiters, enum bz_status outcome) {
    if (bz_list_is_empty(waiters) ||
        (line->fault == LOSES_WAKE_UP && waiters->next->next == waiters->prev)) {
        return false;
    }
    struct waiter *first = first_of(waiters);
    bz_list_remove(&first->link);
    first->outcome = outcome;
    grant(line, first);
    if (line->style < IN_PLACE) {
        bz_request_post(&first->request);
    } else {
        bz_request_complete(&first->request, outcome);
    }
    return true;
}

static inline bool wake_first(struct line *line) {
    return wake(line, &line->waiters, BZ_OK);
}

/* Those that wait now, and none that joins meanwhile; none of them can be cancelled any more. */
static inline void wake_all(struct line *line, enum bz_status outcome) {
    struct bz_list now;
    struct bz_list *waiters = line->fault == WALKS ? &line->waiters : &now;
    uint32_t number = 0;
    bz_list_init(&now);
    while (line->fault != WALKS && !bz_list_is_empty(&line->waiters)) {
        struct waiter *first = first_of(&line->waiters);
        bz_list_remove(&first->link);
        bz_list_push_back(&now, &first->link);
        first->number = number++;
        grant(line, first);
    }
    while (wake(line, waiters, outcome)) {
    }
}

static inline void deliver(void *opaque) {
    struct waiter *waiter = opaque;
    bz_request_done(&waiter->request, waiter->outcome);
}

static inline void undo_nothing(void *waiter) {
    (void)waiter;
}

static inline bool cancel(void *opaque) {
    struct waiter *waiter = opaque;
    struct line *line = waiter->line;
    if (waiter->is_granted) {
        return false;
    }
    bz_list_remove(&waiter->link);
    bz_request_done(&waiter->request, BZ_CANCELLED);
    if (line->has_left != NULL) {
        line->has_left(line);
    }
    return true;
}

static inline void join(struct line *line, struct waiter *waiter) {
    waiter->line = line;
    bz_list_push_back(&line->waiters, &waiter->link);
}

/* True: the task was granted what it waited for, and may have been cancelled. */
static inline bool wait_joined(struct line *line, struct waiter *waiter, enum bz_status *status) {
    bool may_leave = line->style == IN_PLACE_OR_CANCELLED || line->style == POSTS_OR_CANCELLED;
    *status =
        bz_request_wait(&waiter->request, line->loop, waiter, deliver, may_leave ? cancel : NULL);
    line->woken -= waiter->is_granted;
    return waiter->is_granted && waiter->outcome == BZ_OK;
}

static inline bool wait_in(struct line *line, struct waiter *waiter, enum bz_status *status) {
    join(line, waiter);
    return wait_joined(line, waiter, status);
}

#endif
