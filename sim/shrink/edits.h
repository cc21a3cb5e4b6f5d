/* Edits: the choices of a run that are not the default, in a form that can be changed.
 *
 * A tape names the place of a choice by its step. If an earlier choice is taken away, steps get
 * other numbers, and the rest of the tape does not fit any more. An edit names what is chosen, and
 * how many opportunities pass before:
 *
 *     next    this handle runs before its turn, when it was ready at `passes` choices and not taken
 *     cancel  this task, before its n-th step and in this window, after `passes` cancel points
 *             since its step before that one
 *     jump    the clock jumps for the n-th time, after `passes` points since the jump before
 *     draw    the n-th draw of this task gives this value
 *
 * The strategy `edits` makes the choices of a list of edits; or of a tape, or of a script
 * (choice/answers.h). It notes what it chose as edits and as a script, and which choices there
 * were. Its state is a board.
 *
 * A contained run is made on a board that it shares with its child process. Its code may write over
 * that. So the process that asks has a board of its own, and takes over only what fits the tape of
 * the judge, which is checked as well (judge/adopt.c).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/choice/answers.h"
#include "sim/choice/rng.h"
#include "sim/choice/strategy.h"
#include "sim/choice/strategy_replay.h"

#define BZ_EDITS_MAX 4096u       /* of a run */
#define BZ_EDITS_TASKS_MAX 4096u /* of a run */
#define BZ_EDITS_AT_ONCE 8u      /* handles of one owner and role; with more, counts may differ */
#define BZ_EDITS_RARE 16u        /* of so many points, a free run has one cancel or clock jump */
#define BZ_EDITS_LOOP_DRAWS_MAX 1024u /* whose labels are noted */
#define BZ_EDITS_POINTS_MAX 4096u     /* choice points that are noted; later ones are not */

struct bz_edit {
    uint64_t value;    /* draw: what it gives; else: how many opportunities pass */
    uint64_t bound;    /* draw: exclusive */
    const char *label; /* draw */
    uint32_t owner;    /* as in struct bz_choice */
    uint32_t nth;      /* likewise; jump: its number */
    uint8_t kind;      /* enum bz_choice_kind; a jump is BZ_CHOICE_DELAY without label */
    uint8_t part;      /* next: enum bz_role; cancel: enum bz_window */
    /* Of an edit that was made: where, and its entry in a script. */
    uint32_t step;
    uint32_t question;
    uint64_t answer;
};

struct bz_edits {
    uint32_t count;
    struct bz_edit items[BZ_EDITS_MAX];
};

/* A choice point of a run. */
struct bz_edit_point {
    uint64_t answers; /* that are worth a try: 0 to answers - 1 */
    uint8_t kind;     /* BZ_CHOICE_DELAY: a clock jump; BZ_CHOICE_DATA: any draw */
};

enum bz_edit_source { BZ_EDIT_BY_EDITS = 0, BZ_EDIT_BY_SCRIPT = 1, BZ_EDIT_BY_TAPE = 2 };

/* How often a handle, or a cancel, was there to be chosen. */
struct bz_edit_seen {
    uint64_t run;  /* the run that it is about */
    uint64_t seen; /* so often */
    uint32_t nth;
    uint32_t item; /* its edit; UINT32_MAX: none */
    uint8_t part;
};

struct bz_board {
    /* Where the choices come from. */
    enum bz_edit_source source;
    struct bz_edits edits;
    uint32_t forced_question; /* beside edits, this choice point takes forced_answer; 0: none */
    uint64_t forced_answer;
    struct bz_answers script;
    bool is_free;        /* the choices after the step free_after are drawn: why.h */
    uint32_t free_after; /* a step */
    uint64_t free_seed;  /* with that of the run */
    struct bz_rng free;
    /* The choices that were made. */
    struct bz_edits made;
    bool is_full;   /* there was more than a list can hold: the run cannot be edited */
    bool is_harmed; /* contained code has written over it; is_full, too */
    uint32_t point_count;
    struct bz_edit_point points[BZ_EDITS_POINTS_MAX];
    /* Of the present run. */
    struct bz_replay_state replay;
    uint64_t run;
    uint64_t looked;     /* handles and candidates that the strategy was shown */
    uint32_t loop_draws; /* that no task made: those of the setup */
    const char *loop_labels[BZ_EDITS_LOOP_DRAWS_MAX];
    uint32_t question;
    uint32_t script_cursor;
    uint32_t jumps;
    uint64_t jump_seen;
    uint32_t jump_item;
    bool is_used[BZ_EDITS_MAX];
    uint32_t table[2 * BZ_EDITS_MAX]; /* a hash table of edits: index plus 1 */
    uint32_t table_mask;
    struct bz_edit_seen handles[BZ_EDITS_TASKS_MAX][BZ_ROLE_COUNT][BZ_EDITS_AT_ONCE];
    struct bz_edit_seen victims[BZ_EDITS_TASKS_MAX];
};

/* bz_run_start.context is the board. A tape, if that is the source, must fit strictly. */
extern const struct bz_strategy bz_strategy_edits;

void bz_edits_copy(struct bz_edits *to, const struct bz_edits *from);

/* In the process that asks, before a contained run: copies what the choices come from. */
void bz_board_give(struct bz_board *shared, const struct bz_board *own);

/* After it: copies what was chosen, and which choice points there were. Follows no pointer of the
 * shared board. False, and `own` is full, if it makes no sense. */
bool bz_board_take(struct bz_board *own, const struct bz_board *shared, const struct bz_tape *tape);

/* The cost of a run of so many steps: a step with a thousand tasks costs more than one with two.
 */
static inline uint64_t bz_edits_cost(const struct bz_board *board, uint32_t steps) {
    return steps + board->looked / 8;
}

/* The script of what was made. False if it is too long for one (choice/answers.h). */
bool bz_edits_script(const struct bz_edits *made, struct bz_answers *script);

/* The first pair of unequal numbers decides: below 0 if its first number is less; 0: there is none.
 */
int bz_compare_pairs(const uint64_t (*pairs)[2], size_t count);

/* A total order of edits, by kind, owner and so on; 0: equal. */
int bz_edit_compare(const struct bz_edit *a, const struct bz_edit *b);
