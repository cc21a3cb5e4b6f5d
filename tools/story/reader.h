/* The state of story.c while sentences.c reads the events. Private to the story. */
#pragma once

#include "tools/story/story.h"

/* A growing array of line numbers. */
struct bz_line_list {
    uint32_t *lines;
    size_t count;
    size_t capacity;
};

struct bz_story_object {
    uint32_t set_line;          /* of the last set that was not cleared; BZ_STORY_NONE */
    uint32_t take_line;         /* the last one that took something or cleared */
    uint32_t root;              /* the object whose last_line counts for all that share a state */
    uint32_t last_line;         /* the last one about the object */
    struct bz_line_list left;   /* lines that left a permit, an item, a slot that nobody took yet */
    struct bz_line_list failed; /* lines with which an operation that had waited failed */
};

struct bz_story_task {
    uint32_t arrow_from; /* who spawned it, until its first line */
    uint32_t last_line;  /* BZ_STORY_NONE */
    uint32_t call_line;  /* of the pending operation, if there is one */
    uint32_t wait_line;  /* the same: where it began to wait */
    uint32_t waker_line; /* the same: who woke it */
    uint64_t draws;
    const char *call_text; /* the pending operation in the program's words; NULL */
    bool is_call_unsaid;   /* the pending operation has no line so far */
    bool is_expected;      /* it waits for more than its turn: its resume gets a line */
    bool is_inside;        /* a task that it has woken in place runs inside its call */
};

struct bz_reader {
    struct bz_story *story;
    char place[BZ_TRACE_NAME_BYTES_MAX + 8]; /* of a suspend, as a clause */
    char call[BZ_TRACE_NAME_BYTES_MAX + 64]; /* an operation and its object */
    const struct bz_trace *trace;
    size_t line_capacity;
    size_t arrow_capacity;
    struct bz_ledger *ledger;        /* of the story: before the present event */
    struct bz_story_task *tasks;     /* by number; 0 is the loop */
    struct bz_story_object *objects; /* by number, from 1 on */
    uint32_t *hold_lines;            /* the line with which each permit of the ledger was got */
    size_t choice;                   /* the next one that may be about a draw */
    size_t jump;                     /* the same of a jump of the clock */
    /* The step that is read. */
    uint64_t step;
    uint32_t running;   /* the task that runs; 0: the loop */
    uint32_t loop_line; /* of the loop, in this step; BZ_STORY_NONE */
    uint32_t injected;  /* the task that an injection strikes */
    bool is_injection;
    bool is_over;     /* its task is suspended: what follows comes from outside of the loop */
    bool is_timer;    /* the loop runs a timer, of task number `handle_task` */
    bool is_callback; /* or a callback of it */
    uint32_t handle_task;
    uint32_t jump_line; /* the last jump of the clock, at jump_ns; BZ_STORY_NONE */
    uint64_t jump_ns;
    /* The event that is read, its task and its object; 0: none. */
    const struct bz_trace_event *event;
    uint32_t event_index;
    uint32_t task;
    uint32_t object;
};

/* --- story.c: what is kept --- */

/* Adds a line about the present event; returns its number. */
uint32_t bz_reader_add_line(struct bz_reader *reader, uint32_t task, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Replaces the text of a line. */
void bz_reader_set_text(struct bz_reader *reader, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* To the newest line. Not if `from` is no line or the line itself. */
void bz_reader_add_arrow(struct bz_reader *reader, uint32_t from, enum bz_arrow_kind kind);

void bz_line_list_push(struct bz_line_list *list, uint32_t line);

/* Takes the line out of the list, or the newest one for BZ_STORY_NONE. Returns the line, or
 * BZ_STORY_NONE if it is not there. */
uint32_t bz_line_list_take(struct bz_line_list *list, uint32_t line);

/* --- sentences.c: what each event says --- */

void bz_reader_say(struct bz_reader *reader);
