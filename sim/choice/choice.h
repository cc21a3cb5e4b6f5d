/* What is chosen: the one door through which two runs of the same program may differ.
 *
 *   kind     question                                     dull answer (0, and not on the tape)
 *   next     which ready handle runs now?                 the oldest one (FIFO)
 *   cancel   is a task cancelled here, and which?         none
 *   delay    does the clock jump, though work is ready?   no
 *            how long does this take (virtual time)?      the least
 *   data     what does the program draw?                  0
 *
 * A choice is recorded with the place where it was made and with the identity of what was chosen,
 * never with a position in a queue. The place of next, cancel and a clock jump is the step; the
 * place of data and of a drawn delay is the how-manieth draw of which task it is. So an edited
 * choice leaves the meaning of all others alone, and taking an entry away makes its place dull.
 */
#ifndef BZ_SIM_CHOICE_CHOICE_H
#define BZ_SIM_CHOICE_CHOICE_H

#include <stdint.h>

enum bz_choice_kind {
    BZ_CHOICE_NEXT = 0,
    BZ_CHOICE_CANCEL = 1,
    BZ_CHOICE_DELAY = 2,
    BZ_CHOICE_DATA = 3,
};
#define BZ_CHOICE_KIND_COUNT 4

/* "next", "cancel", "delay", "data"; NULL for no kind. */
const char *bz_choice_kind_name(enum bz_choice_kind kind);

/* Where a cancel can strike. DESIGN's names, plus running: a task that cancels itself. */
enum bz_window {
    BZ_WINDOW_NONE = 0,
    BZ_WINDOW_UNSTARTED = 1,  /* created, its first step has not run */
    BZ_WINDOW_WAITING = 2,    /* suspended on a pending future */
    BZ_WINDOW_WOKEN = 3,      /* the future has a result, the task has not resumed: the window */
    BZ_WINDOW_SLEEPING = 4,   /* suspended on time or on a bare yield, owns nothing */
    BZ_WINDOW_HOLDING = 5,    /* owns a permit, suspended elsewhere */
    BZ_WINDOW_CANCELLING = 6, /* an earlier request is on its way: this is the second */
    BZ_WINDOW_DONE = 7,       /* the task has ended */
    BZ_WINDOW_RUNNING = 8,    /* the task cancels itself; never injected */
};
#define BZ_WINDOW_COUNT 9

/* Windows that a cancel can be injected into, as a bit mask of 1 << window. */
#define BZ_WINDOWS_ALL 0xfeu
#define BZ_WINDOWS_NONE 0u

/* "unstarted", ...; NULL for no window. */
const char *bz_window_name(enum bz_window window);

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

#endif
