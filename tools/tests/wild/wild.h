/* A library as Debian installs it, unchanged, in the cage: what its shared object calls is replaced
 * (memory, clock, descriptors), and its static variables belong to one object of one run.
 *
 *     __attribute__((constructor)) static void load(void) {
 *         wild_library("libpth.so", hooks); -- once for each shared object
 *     }
 *     init:       wild_begin(&in->cage, loop);  -- static variables as they were loaded
 *     each call:  wild_enter(&in->cage); ... wild_leave(&in->cage);
 *
 * Between enter and leave malloc() is the arena of the loop, the clocks are the loop's, and the
 * static variables are those of the object. The library is the plug-in's own: it must not be one
 * that the program uses. Nothing of this is for threads. */
#ifndef WILD_H
#define WILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/variant/callback.h"

#define WILD_KEYS 32u

struct wild_hook {
    const char *name; /* of a function that the library calls; NULL: the end */
    void *function;   /* called instead */
};

/* One object under test, inside its instance. */
struct wild {
    struct bz_loop *loop;
    unsigned char *statics;    /* of the library, while the object is not entered */
    struct wild *outer;        /* that was entered before */
    void *specific[WILD_KEYS]; /* pthread_getspecific() */
    unsigned depth;
    struct bz_handle handle; /* of the next turn */
    void (*turn)(struct wild *cage);
    bool has_turn;
};

/* Replaces the functions that the library of this name (its beginning) calls. */
void wild_library(const char *name, const struct wild_hook *hooks);

bool wild_begin(struct wild *cage, struct bz_loop *loop); /* false: no memory */
void wild_end(struct wild *cage);
void wild_enter(struct wild *cage);
void wild_leave(struct wild *cage);

/* For a library with a loop: one turn of it becomes a step of Buzzer's. */
void wild_turn_soon(struct wild *cage, void (*turn)(struct wild *cage));

/* The object that is entered; NULL: none. */
struct wild *wild_inside(void);

#endif
