/* The other side of a lock-step: an interpreter that runs tools/python/lockstep/player.py. */
#ifndef BZ_TOOLS_LAB_LOCKSTEP_PARTNER_H
#define BZ_TOOLS_LAB_LOCKSTEP_PARTNER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define BZ_PARTNER_ERROR_BYTES 512u
#define BZ_PARTNER_REPLY_BYTES 65536u

enum bz_reply {
    BZ_REPLY_SAME,
    BZ_REPLY_DIFFERS,     /* partner->reply is the difference, as JSON */
    BZ_REPLY_DIED,        /* the interpreter has ended, or says what nobody understands */
    BZ_REPLY_INTERRUPTED, /* by a signal to this process */
};

struct bz_partner {
    const char *python;
    pid_t pid; /* 0: none */
    int to;
    int from;
    size_t received; /* bytes of `reply`, of which the first line may be taken already */
    size_t taken;
    char reply[BZ_PARTNER_REPLY_BYTES];
};

/* The name and the version that the interpreter prints. */
struct bz_python {
    char implementation[32];
    unsigned version[3];
};

/* Asks it, in a process that ends at once. False with a message: there is no such program, or it is
 * no Python 3. */
bool bz_partner_ask(const char *python, struct bz_python *answer, char *error);

/* The version of Twisted that the interpreter has, as text. False with a message: it has none. */
bool bz_partner_ask_twisted(const char *python, char *version, size_t bytes, char *error);

/* Starts the player. `is_pure`: tasks and futures are those in Python, not those in C;
 * `is_twisted`: the primitives are Twisted's. False with a message. */
bool bz_partner_start(struct bz_partner *partner, const char *python, bool is_pure, bool is_twisted,
                      char *error);

/* Sends a program and its run; false if the interpreter has ended. The answers come in the same
 * order; at most a few may be due, or both sides wait for ever. */
bool bz_partner_send(struct bz_partner *partner, const char *text, size_t length);
enum bz_reply bz_partner_receive(struct bz_partner *partner);

void bz_partner_stop(struct bz_partner *partner);

#endif
