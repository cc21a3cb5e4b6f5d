/* Reads the events of a trace into lines, arrows and spans. Private to the story. */
#ifndef BZ_TOOLS_STORY_READER_H
#define BZ_TOOLS_STORY_READER_H

#include "tools/story/story.h"

/* A growing array of line numbers. */
struct bz_line_list {
    uint32_t *lines;
    size_t count;
    size_t capacity;
};

/* A permit that a task owns: it stands in the list of its task and in that of its object. */
struct bz_story_holding {
    uint32_t object;
    uint32_t line;    /* that acquired it */
    uint32_t below;   /* the next one of the task; 0: none */
    uint32_t newer;   /* of the object */
    uint32_t older;   /* of the object */
    bool is_given_up; /* meanwhile: its owner waits for a condition of which it is the lock */
};

struct bz_story_object {
    const char *name;
    uint32_t partner; /* items and slots of one queue, a condition and its lock; 0: none */
    bool is_condition;
    uint32_t newest_holding;    /* 0: none */
    uint32_t last_in_queue;     /* the newest task that is inside an operation and has waited */
    uint32_t set_line;          /* of the last set that was not cleared; BZ_STORY_NONE */
    uint32_t take_line;         /* the last one that took something or cleared */
    uint32_t root;              /* the object whose last_line counts for all that share a state */
    uint32_t last_line;         /* the last one about the object */
    struct bz_line_list left;   /* lines that left a permit, an item, a slot that nobody took yet */
    struct bz_line_list failed; /* lines with which an operation that had waited failed */
};

struct bz_story_task {
    const char *op;        /* pending; NULL: none */
    uint32_t object;       /* of it; 0: none */
    uint32_t arrow_from;   /* who spawned it, until its first line */
    uint32_t last_line;    /* BZ_STORY_NONE */
    uint32_t call_line;    /* of the pending operation, if there is one */
    uint32_t wait_line;    /* the same: where it began to wait */
    uint32_t waker_line;   /* the same: who woke it */
    uint32_t holding;      /* the newest of its permits; 0: none */
    uint32_t released;     /* the line of the permit that its last release gave up */
    uint32_t queue_before; /* tasks; 0: none */
    uint32_t queue_after;
    uint64_t draws;
    const char *wait; /* what it is suspended on */
    bool is_queued;
    bool is_call_unsaid; /* the pending operation has no line so far */
    bool has_started;
    bool has_ended;
    bool is_expected; /* it waits for more than its turn: its resume gets a line */
    bool is_struck;
    struct bz_span span; /* the current one; its end is open */
};

struct bz_reader {
    struct bz_story *story;
    char place[BZ_TRACE_NAME_BYTES_MAX + 8]; /* of a suspend, as a clause */
    const struct bz_trace *trace;
    size_t line_capacity;
    size_t arrow_capacity;
    size_t span_capacity;
    struct bz_story_task *tasks;     /* by number; 0 is the loop */
    struct bz_story_object *objects; /* from 1 on */
    uint32_t object_count;
    uint32_t *slots; /* of a hash table of objects by name */
    uint32_t slot_mask;
    struct bz_story_holding *holdings; /* from 1 on */
    size_t holding_count;
    size_t holding_capacity;
    size_t choice; /* the next one that may be about a draw */
    size_t jump;   /* the same of a jump of the clock */
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

/* --- reader.c: what is kept --- */

/* The object of that name; 0 for NULL. */
uint32_t bz_reader_object(struct bz_reader *reader, const char *name);

/* Adds a line about the present event; returns its number. */
uint32_t bz_reader_add_line(struct bz_reader *reader, uint32_t task, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Replaces the text of a line. */
void bz_reader_set_text(struct bz_reader *reader, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* To the newest line. Not if `from` is no line or the line itself. */
void bz_reader_add_arrow(struct bz_reader *reader, uint32_t from, enum bz_arrow_kind kind);

void bz_reader_begin_span(struct bz_reader *reader, uint32_t task, uint64_t step,
                          enum bz_span_kind kind, const char *object);

void bz_line_list_push(struct bz_line_list *list, uint32_t line);

/* Takes the line out of the list, or the newest one for BZ_STORY_NONE. Returns the line, or
 * BZ_STORY_NONE if it is not there. */
uint32_t bz_line_list_take(struct bz_line_list *list, uint32_t line);

/* The permits that tasks own. */
void bz_reader_hold(struct bz_reader *reader, uint32_t task, uint32_t object, uint32_t line);
uint32_t bz_reader_give_up(struct bz_reader *reader, uint32_t task, uint32_t object); /* its line */
void bz_reader_set_aside(struct bz_reader *reader, uint32_t task, uint32_t object, bool is_aside);
bool bz_reader_is_holding(const struct bz_reader *reader, uint32_t task);

/* The queue of an object: the tasks that wait there, in order of arrival. */
void bz_reader_join_queue(struct bz_reader *reader, uint32_t task);
void bz_reader_leave_queue(struct bz_reader *reader, uint32_t task);

/* --- sayings.c: what each event says --- */

void bz_reader_say(struct bz_reader *reader);

#endif
