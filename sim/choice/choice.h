/* What is chosen: the one door through which two runs of the same program may differ.
 *
 *   kind     question                                     default answer (0, and not on the tape)
 *   next     which ready handle runs now?                 the oldest one (FIFO)
 *   cancel   is a task cancelled here, and which?         none
 *   delay    does the clock jump, though work is ready?   no
 *            how long does this take (virtual time)?      the least
 *   data     what does the program draw?                  0
 *
 * A choice is recorded with the place where it was made and with the identity of what was chosen,
 * never with a position in a queue. The place of next, cancel and a clock jump is the step; the
 * place of data and of a drawn delay is the how-manieth draw of which task it is. So an edited
 * choice leaves the meaning of all others alone, and taking an entry away makes its place default.
 */
#ifndef BZ_SIM_CHOICE_CHOICE_H
#define BZ_SIM_CHOICE_CHOICE_H

#include <stdint.h>

#include "traces/words.h"

BZ_BEGIN_DECLS

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
