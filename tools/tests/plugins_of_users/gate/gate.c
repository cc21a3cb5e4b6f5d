#include "gate.h"

#include <stdlib.h>

enum state { QUEUED, ADMITTED, ABORTED };

struct ticket {
    struct ticket *next;
    struct gate *gate;
    gate_answer answer;
    void *argument;
    enum state state;
};

struct gate {
    struct loop *loop;
    unsigned places;
    struct ticket *first, *last;
};

static void *must_have(void *block) {
    if (block == NULL) {
        abort();
    }
    return block;
}

struct gate *gate_new(struct loop *loop, unsigned places) {
    struct gate *gate = must_have(calloc(1, sizeof *gate));
    gate->loop = loop;
    gate->places = places;
    return gate;
}

void gate_free(struct gate *gate) {
    free(gate);
}

static void finish(void *argument) {
    struct ticket *ticket = argument;
    ticket->answer(ticket->argument, ticket->state == ADMITTED ? 0 : -1);
    free(ticket);
}

static void complete(struct ticket *ticket, enum state state) {
    ticket->state = state;
    loop_defer(ticket->gate->loop, finish, ticket);
}

struct ticket *gate_enter(struct gate *gate, gate_answer answer, void *argument) {
    struct ticket *ticket = must_have(malloc(sizeof *ticket));
    *ticket = (struct ticket){NULL, gate, answer, argument, QUEUED};
    if (gate->places > 0) {
        gate->places--;
        complete(ticket, ADMITTED);
        return ticket;
    }
    if (gate->first == NULL) {
        gate->first = ticket;
    } else {
        gate->last->next = ticket;
    }
    gate->last = ticket;
    return ticket;
}

void gate_leave(struct gate *gate) {
    struct ticket *oldest = gate->first;
    if (oldest == NULL) {
        gate->places++;
        return;
    }
    gate->first = oldest->next;
    complete(oldest, ADMITTED);
}

void gate_abort(struct ticket *ticket) {
    struct gate *gate = ticket->gate;
    struct ticket *before = NULL;
    if (ticket->state != QUEUED) {
        return;
    }
    for (struct ticket *each = gate->first; each != ticket; each = each->next) {
        before = each;
    }
    if (before == NULL) {
        gate->first = ticket->next;
    } else {
        before->next = ticket->next;
    }
#if !FAULT
    if (gate->last == ticket) {
        gate->last = before;
    }
#endif
    complete(ticket, ABORTED);
}
