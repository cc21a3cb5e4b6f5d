/* Lets so many in at a time, and answers by callbacks. Nothing here knows of Buzzer. */
#ifndef GATE_H
#define GATE_H

#include "loop.h"

struct gate;
struct ticket;

struct gate *gate_new(struct loop *loop, unsigned places);
void gate_free(struct gate *gate);

/* The loop calls it later, once, with 0, or with -1 after an abort. The ticket is gone then. */
typedef void (*gate_answer)(void *argument, int status);

struct ticket *gate_enter(struct gate *gate, gate_answer answer, void *argument);
void gate_leave(struct gate *gate);

/* Nothing happens if the ticket was admitted. */
void gate_abort(struct ticket *ticket);

#endif
