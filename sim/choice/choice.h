/* A choice: two runs of the same program differ in their choices, and in nothing else.
 *
 *   kind     choice point                                 default (0, and not on the tape)
 *   next     which ready handle runs now?                 the oldest (FIFO)
 *   cancel   is a task cancelled here, and which?         none
 *   delay    does a step take until the next timer?       no
 *            does a timer come at another moment of its   no
 *            instant?
 *            how long does this take (virtual time)?      the least
 *   data     what does the program draw?                  0
 *
 * A choice is recorded with its place and with the identity of what was chosen, never with a
 * position in a queue. The place of next, cancel and a clock jump is the step; the place of a draw
 * is the task and the number of its draw. So editing one choice leaves the meaning of the others
 * alone, and deleting one restores the default at its place.
 */
#ifndef BZ_SIM_CHOICE_CHOICE_H
#define BZ_SIM_CHOICE_CHOICE_H

#include <stdint.h>

#include "traces/words.h"

BZ_BEGIN_DECLS

/* The value of a clock jump, and of the first choice of a step to move a timer; later ones count
 * up. */
#define BZ_CHOICE_LAG 1u
#define BZ_CHOICE_RETIME 2u

/* One entry of the tape. Fields that a kind does not use are 0. */
struct bz_choice {
    uint64_t bound;    /* data and drawn delays: exclusive; else 0 */
    uint64_t value;    /* data, delay; cancel: points of this step that passed before it */
    const char *label; /* data and drawn delays: what for; a literal, or interned by a reader */
    uint32_t step;     /* the step about to run, 1 is the first */
    uint32_t owner;    /* next: whose handle; cancel: the victim; data, delay: who draws; 0: none */
    uint32_t nth;      /* next: handle number of its role; cancel: the victim's next step;
                          data, delay: draw number of that task */
    uint8_t kind;      /* enum bz_choice_kind */
    uint8_t role;      /* next: enum bz_role */
    uint8_t window;    /* cancel: enum bz_window */
};

BZ_END_DECLS

#endif
