/* The other side of a lock-step: an interpreter that runs tools/python/lockstep/player.py. It reads
 * programs and their runs, and at its end it has one answer. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#define BZ_PARTNER_ERROR_BYTES 512u

struct bz_partner {
    pid_t pid;
    int to;
    FILE *answer; /* a file without a name */
};

/* The name and the version that the interpreter prints. */
struct bz_python {
    char implementation[32];
    unsigned version[3];
};

/* Asks it, in a process that ends at once. False with a message: there is no such program, or it is
 * no Python. */
bool bz_partner_ask(const char *python, struct bz_python *answer, char *error);

/* The version of Twisted that the interpreter has, as text. False with a message: it has none. */
bool bz_partner_ask_twisted(const char *python, char *version, size_t bytes, char *error);

/* Starts the player. `is_pure`: tasks and futures are those in Python, not those in C;
 * `is_twisted`: the primitives are Twisted's. False with a message. */
bool bz_partner_start(struct bz_partner *partner, const char *python, bool is_pure, bool is_twisted,
                      char *error);

/* Sends a program and its run. False: the interpreter has ended, as it does after a difference, or
 * a signal interrupts this process. */
bool bz_partner_send(struct bz_partner *partner, const char *text, size_t length);

/* No more programs come. Waits for its end, and fills `answer` with its line: {"same": 12} or,
 * after a difference, more members; "" if it died. */
void bz_partner_end(struct bz_partner *partner, char *answer, size_t bytes);
