/* Shared by the files of sim/native; sim/explore uses it as well. Not installed. */
#pragma once

#include <sys/types.h>

#include "primitives/runtime/internal.h"
#include "sim/choice/ready_set.h"
#include "sim/judge/internal.h"
#include "sim/native/world.h"

/* The image of a world right after the set-up of its program. */
struct bz_setup_image {
    const void *program; /* of the set-up; NULL: there is no image */
    void *program_copy;  /* its bytes, because another program may take its place */
    size_t program_bytes;
    void *state; /* what the set-up returned */
    char *arenas_block;
    char *arenas; /* in the block: the loop's memory, then the judge's */
    size_t loop_bytes;
    size_t shadow_bytes;
    struct bz_loop loop;
    struct bz_shadow shadow;
    uint64_t digest;
    struct bz_timer *rest_timer;
    struct bz_refusals *refusals;
    uint32_t stacks; /* handed out to its tasks */
};

/* Interchangeable tasks, with consecutive numbers. */
struct bz_alike {
    const struct bz_task *tasks[BZ_ALIKE_MAX];
    uint32_t count;
    const void *array; /* the program's own, which never changes */
    char *own;         /* own_bytes for each */
    size_t own_bytes;
};

/* See bz_world_refuse_memory(). In the arena of the loop, and so a part of each state. */
struct bz_refusals {
    uint32_t left;
    bool may_refuse;  /* what runs now is under test, although it is no operation of an object */
    bool has_refused; /* in this run */
};

/* Programs that take turns in a world: a campaign's own, and one with drawn parameters. */
#define BZ_SETUPS_KEPT 2u

struct bz_native {
    struct bz_world world;       /* first */
    struct bz_observer observer; /* bz_native_report() finds the world by it */
    bool is_over;                /* nothing can run any more */
    bool outside_is_past;        /* fifo: this turn's outside events have passed */
    bool is_in_init;             /* a variant sets up an object */
    const struct bz_handle *ran; /* in the last step of a search; NULL: none, a cancel struck */
    uint32_t marked_step;        /* see bz_world_mark_step() */
    void (*own_timer)(struct bz_timer *timer); /* see bz_world_own_timer() */
    void (*own_callback)(struct bz_callback *callback, struct bz_future *future);
    struct bz_timer *rest_timer;                /* see bz_world_fire_at_rest() */
    struct bz_refusals *refusals;               /* NULL: no allocation fails by choice */
    struct bz_alike alike[BZ_ALIKE_GROUPS_MAX]; /* see bz_world_interchange() */
    uint32_t alike_count;
    struct bz_ready *ready; /* the names of the ready handles, for strategies that read them */
    uint32_t ready_capacity;
    struct bz_ready_set many; /* the ready handles, while there are many */
    bool has_many;            /* `many` is kept; but for what became ready in the last step */
    uint32_t many_withdrawn;  /* ready_withdrawn of the loop when that was so */
    struct bz_setup_image setups[BZ_SETUPS_KEPT];
    const struct bz_world_watch *watch; /* NULL: no watcher */
    pid_t owner;                        /* the process that made it */
    uint32_t children;                  /* that had been started before: see bz_spare_begin() */
};

/* The observer, see BZ_REPORT in primitives/runtime/internal.h. */
void bz_native_report(struct bz_observer *observer, enum bz_event_kind kind, uint32_t task,
                      uint8_t status, uint32_t arg);

/* Begins to observe the loop, for a run. */
void bz_native_observe(struct bz_native *native);

/* What the judge asks of its source (sim/judge/judge.h); `source` is the world. O(handles). */
bool bz_native_callback_is_ready(void *source);
uint64_t bz_native_variant_until_ns(void *source);
bool bz_native_variant_is_busy(void *source);

/* Judge and loop of a world that is destroyed become those of the next one (world_memory.c), unless
 * a child process was started in between: to map their memory, to touch and to unmap it takes
 * longer than many a campaign. False: it has to be released, or there is none. Thread-safe. */
void bz_spare_begin(struct bz_native *native);
bool bz_spare_keep(struct bz_native *native);
bool bz_spare_take(struct bz_native *native, const struct bz_judge_config *config);
void bz_spare_child_starts(void);

static inline struct bz_native *bz_native_of(const struct bz_world *world) {
    return (struct bz_native *)(uintptr_t)world; /* its first member */
}

/* States will be compared (sut.h): so the judge's work must leave nothing in the frames of tasks,
 * into which the compiler may otherwise inline it. */
void bz_native_search(struct bz_native *native, bool is_searched);

/* Judges the timers, after `queued` of them became due, or the clock advanced from `was_ns`. False:
 * an oracle objects. */
bool bz_native_judge_timers(struct bz_native *native, uint64_t was_ns, uint32_t queued);

/* Of few events, those at which a request is delivered, or should be: judges, then reports one. */
static inline bool bz_native_is_delivery(enum bz_event_kind kind, uint8_t status) {
    return (status == BZ_CANCELLED) | (kind == BZ_EVENT_UNCANCEL) | (kind == BZ_EVENT_EXIT);
}
void bz_native_report_delivery(struct bz_native *native, enum bz_event_kind kind, uint32_t id,
                               enum bz_status status, uint32_t arg);

/* If a run has passed: judges what the loop still keeps. */
void bz_native_judge_kept(struct bz_native *native);

/* True if a task was suspended with an exception that is not in the loop's arena. Then it is not in
 * a snapshot either. */
static inline bool bz_native_has_outside(const struct bz_world *world) {
    return world->loop->exceptions.are_outside;
}

/* Says if allocations fail by choice in the run that begins. */
void bz_native_let_refuse(struct bz_native *native, struct bz_refusals *refusals);

/* Drops the images of set-ups. */
void bz_native_forget_setups(struct bz_native *native);

/* As the loop sets it, and not with any other value. */
static inline bool bz_is_set(const bool *flag) {
    return *(const unsigned char *)flag == 1;
}

/* The refusals of the loop since the last reset. Code under test may have written there: a value
 * that is none of the loop's counts as no refusal. */
enum bz_shortage {
    BZ_SHORT_OF_NOTHING = 0,
    BZ_SHORT_OF_STACKS = 1,
    BZ_SHORT_OF_MEMORY = 2,
    BZ_SHORT_OF_TASKS = 3,
    BZ_SHORT_OF_ROOM = 4, /* the system has no memory for it, though the loop might have */
};

static inline enum bz_shortage bz_shortage(const struct bz_world *world) {
    const struct bz_loop *loop = world->loop;
    return bz_is_set(&loop->stacks->is_exhausted) ? BZ_SHORT_OF_STACKS
           : bz_is_set(&loop->mem->is_exhausted)
               ? (bz_is_set(&loop->mem->lacks_room) ? BZ_SHORT_OF_ROOM : BZ_SHORT_OF_MEMORY)
           : loop->tasks_max == BZ_TASKS_MAX && loop->tasks_created == BZ_TASKS_MAX
               ? BZ_SHORT_OF_TASKS
               : BZ_SHORT_OF_NOTHING;
}
