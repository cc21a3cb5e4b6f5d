/* The kinds of slots that draw.c expands, and the words of a focus. Private to these two. */
#pragma once

#include "scenarios/program/script.h"

/* Weights out of SLOT_KINDS: the rest uses an object. */
enum slot_kind {
    SLOT_NOTHING = 0,
    SLOT_YIELD = 1, /* and 2 */
    SLOT_SLEEP = 3,
    SLOT_CANCEL = 4,
    SLOT_TIMEOUT = 5,
    SLOT_GROUP = 6,
    SLOT_FAIL = 7,
    SLOT_USE = 8,
    SLOT_KINDS = 20,
    /* of version 2 */
    SLOT_CATCH = 20,
    SLOT_FINALLY = 21,
    SLOT_UNCANCEL = 22,
    SLOT_AWAIT = 23,
    SLOT_SPAWN = 24,
    SLOT_BODY = 25, /* a group with a body */
    SLOT_LOOK = 26, /* and 27: locked, size, try-acquire, shutdown, misuse */
    SLOT_KINDS_2 = 28,
    /* of more=2 */
    SLOT_GATHER = 28,
    SLOT_WAIT_FOR = 29,
    SLOT_BREAK = 30, /* and 31: abort, reset, steal, misuse */
    SLOT_KINDS_3 = 32,
    /* of a focus alone */
    SLOT_GIVE = 32, /* the other side of the object, and more than one of it */
    SLOT_PUT,       /* or as SLOT_GIVE, if the object is no queue */
    SLOT_GET,
    SLOT_JOIN,
    SLOT_SHUTDOWN,
    SLOT_CANCEL_SELF,
    SLOT_RESCHEDULE,
    SLOT_CREATE_TASK,
};

/* The letter behind `letter` in its word, or the first one of another word. `letter` NULL: that,
 * too. */
const char *bz_focus_draw(const struct bz_script_focus *focus, const char *letter,
                          struct bz_judge *judge);
/* Its enum slot_kind. */
uint32_t bz_focus_slot(const char *letter);
/* How many letters are in the brackets behind it; `drawn` without brackets. */
uint32_t bz_focus_span(const char *letter, uint32_t drawn);
