/* The world: one simulated run after another, on a virtual clock.
 *
 * A world is the driver of a loop (primitives/runtime/driver.h) and its observer. It asks a
 * strategy for every choice, writes the answers that are not dull on the tape, keeps the book,
 * folds every event into the digest, and lets its monitors look after every step. One step runs
 * exactly one ready handle, or carries out one injected cancel.
 *
 *     bz_world_new
 *       bz_world_begin            a seed, a strategy
 *         ... the scenario creates objects and tasks ...
 *       bz_world_run              to the end, or to the first violation
 *       ... read world->violation, digest, tape, stats ...
 *       bz_world_begin            the next run; nothing of the last one is left
 *     bz_world_destroy
 *
 * Loop orders. `fifo` is what a stock loop does: turn by turn, a turn being the handles that are
 * ready when it begins. The clock advances when nothing is ready. Then events from outside come
 * before timers that are due: a cancel is injected after the handles that were carried over and
 * before the timers of the turn. `any` lets every ready handle go next, and a cancel strike before
 * any step. Under both, a clock jump may make timers due while handles are still ready: the loop
 * was busy.
 *
 * A run stops after the step in which a monitor objects. Tasks are abandoned where they stand.
 * Nothing on the path of a step allocates, once the largest run has been seen.
 */
#ifndef BZ_SIM_WORLD_WORLD_H
#define BZ_SIM_WORLD_WORLD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "primitives/runtime/internal.h"
#include "sim/choice/strategy.h"
#include "sim/choice/tape.h"
#include "sim/variant/variant.h"
#include "sim/world/book.h"
#include "sim/world/event.h"
#include "sim/world/monitor.h"

enum bz_order {
    BZ_ORDER_ANY = 0,
    BZ_ORDER_FIFO = 1,
};

/* "any", "fifo"; NULL for none. */
const char *bz_order_name(enum bz_order order);

#define BZ_STEPS_MAX_DEFAULT 100000u
#define BZ_STEPS_LIMIT 100000000u /* no run may be allowed more */
#define BZ_STEPS_BETWEEN_LOOKS 65536u
#define BZ_CANCELS_MAX_DEFAULT 2u
#define BZ_TIME_MAX_NS ((UINT64_C(1) << 53) - 1) /* what a JSON number can hold exactly */
#define BZ_STARVATION_BOUND_DEFAULT 64u

struct bz_world_config {
    const struct bz_strategy *strategy;
    const struct bz_variant *variant;
    const struct bz_monitor *const *monitors; /* ends with NULL; at most BZ_MONITORS_MAX */
    enum bz_order order;
    uint32_t cancel_windows;   /* bit mask of 1 << enum bz_window that may be injected into */
    uint32_t cancels_max;      /* injected cancels of one run */
    uint32_t steps_max;        /* 0: BZ_STEPS_MAX_DEFAULT */
    bool judges_liveness;      /* the schedule is fair, or replays a fair one */
    uint32_t starvation_bound; /* overtakings that a waiter must put up with; 0: default */
    const struct bz_profile *profile; /* for strategies that need one; NULL */
    const struct bz_answers *answers; /* for the strategy that follows one; NULL */
    /* Looked at every BZ_STEPS_BETWEEN_LOOKS steps: not 0 gives the run up, as bz_world_stop()
     * does. May be set by a signal handler. NULL: none. */
    const volatile sig_atomic_t *stop;
};

enum bz_run_end {
    BZ_RUN_PASSED = 0,
    BZ_RUN_VIOLATED = 1,
    BZ_RUN_OUT_OF_STEPS = 2, /* the step limit, with progress until the end */
    BZ_RUN_DIVERGED = 3,     /* given up, without a verdict: see bz_world_stop() */
};

#define BZ_MESSAGE_BYTES 512u

struct bz_violation {
    const char *oracle; /* NULL: none */
    uint32_t also;      /* other monitors that objected in the same step, by index */
    uint32_t step;
    uint32_t task;
    uint32_t object;
    uint64_t time_ns;
    char message[BZ_MESSAGE_BYTES];
};

/* Hits of cancels per operation and window, and sizes, added up over runs. */
struct bz_world_stats {
    uint64_t runs;
    uint64_t steps;
    uint64_t injected;                              /* cancels by the harness */
    uint64_t windows[BZ_OP_COUNT][BZ_WINDOW_COUNT]; /* all cancels, whoever asked */
};

/* Where logged events go while a run is recorded, and where a replay compares. */
struct bz_event_sink {
    void (*event)(struct bz_event_sink *sink, const struct bz_logged_event *event);
};

/* What a world was like when its scenario had been set up and nothing had run yet. */
struct bz_setup_image {
    const void *program; /* whose setup it was; NULL: there is no image */
    void *program_copy;  /* what it was like: another one in its place is not the same */
    size_t program_bytes;
    void *state;       /* what the setup returned */
    void *arena_block; /* in which the image lies */
    void *arena;
    size_t arena_bytes;
    struct bz_loop loop;
    struct bz_book book;
    uint64_t digest;
    uint32_t stacks; /* handed out to its tasks */
};

struct bz_world {
    struct bz_observer observer; /* first: the loop knows the world by it */
    struct bz_world_config config;
    struct bz_loop *loop;
    struct bz_book book;
    struct bz_tape tape;
    void *strategy_state;
    uint64_t seed;
    uint64_t digest;
    uint32_t step;        /* the one that runs, or ran last; 0 before the first */
    bool outside_is_past; /* fifo: this turn's events from outside have come */
    uint32_t cancel_gap;
    uint32_t point; /* fifo: points for a cancel since step point_step - 1 */
    uint32_t point_step;
    uint32_t jump_gap;
    uint32_t cancels_left;
    uint32_t progress_step; /* the last step in which an operation returned or a task ended */
    uint32_t *draws;        /* draws so far, per task */
    uint32_t draws_capacity;
    enum bz_run_end end;
    bool is_stopped;
    bool is_over;         /* nothing can run any more */
    bool picks_early;     /* a step may be picked before the last one is noted: no replay */
    uint32_t plain_until; /* see run_plain(); 0 as soon as the run is stopped */
    uint32_t pause_at;    /* the last step before config.stop is looked at */
    struct bz_violation violation;
    struct bz_world_stats stats;
    struct bz_event_sink *sink; /* NULL: record light */
    bool is_watched;            /* somebody wants to see every event */
    bool is_searched;           /* states are compared: see snapshot.h */
    bool has_drawn;             /* something was drawn, or a cancel counted, in this run */
    struct bz_setup_image setup;
    bool has_subscribers;
    uint32_t subscriber_count[BZ_EVENT_KIND_COUNT];
    const struct bz_monitor *subscribers[BZ_EVENT_KIND_COUNT][BZ_MONITORS_MAX];
    uint32_t closer_count; /* monitors with an on_end */
    const struct bz_monitor *closers[BZ_MONITORS_MAX];
    struct bz_cancel_candidate *candidates;
    uint32_t candidates_capacity;
    uint32_t marked_step;      /* see bz_world_mark_step() */
    uint64_t looked_at;        /* tasks that scenarios have asked about, as bits; see footprint.h */
    struct bz_profile profile; /* its own copy of the config's */
    struct bz_event call;      /* held back, see note.h; kind 0: none */
};

/* NULL without memory. `config` is copied; what it points to must live as long as the world. */
struct bz_world *bz_world_new(const struct bz_world_config *config);
void bz_world_destroy(struct bz_world *world);

/* Starts a run: everything of the one before is gone. `tape` is for strategies that replay, or
 * NULL; it must not be the world's own. `sink` may be NULL. */
void bz_world_begin(struct bz_world *world, uint64_t seed, const struct bz_tape *tape,
                    struct bz_event_sink *sink);

/* Most scenarios are set up in the same way for every seed: they create tasks, and draw nothing.
 * Then the set-up is kept as an image of the arena and copied back for the next run, as dejafu
 * (Haskell) runs a deterministic set-up once and explores what follows.
 *
 * bz_world_keep_setup(), called right after the setup, keeps it if it was of that kind; `program`
 * is all that the setup depended on, and is compared byte by byte. bz_world_begin_again() is
 * bz_world_begin() and that setup in one; it answers false, and has done nothing, if there is no
 * image of this program, or somebody watches. Not under Address- or ThreadSanitizer. */
void bz_world_keep_setup(struct bz_world *world, const void *program, size_t program_bytes,
                         void *state);
bool bz_world_begin_again(struct bz_world *world, const void *program, uint64_t seed,
                          const struct bz_tape *tape, struct bz_event_sink *sink, void **state);

/* Runs until nothing can run, a monitor objects, or the step limit is hit. */
enum bz_run_end bz_world_run(struct bz_world *world);

/* For who drives a world step by step: what bz_world_run() does before the first step, and one
 * step. False: nothing can run any more, and nothing was done. Stops of the run and the step limit
 * are the caller's to see. */
void bz_world_look(struct bz_world *world);
bool bz_world_step(struct bz_world *world);

/* After a run that passed: lets the monitors look at what is left. Changes world->end. */
enum bz_run_end bz_world_finish(struct bz_world *world);

/* Objects to what is going on, in the name of monitor `oracle`. The first objection is the run's
 * violation; others of the same step are noted beside it. */
void bz_world_violate(struct bz_world *world, const char *oracle, uint32_t task, uint32_t object,
                      const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Stops the run after this step without a verdict (BZ_RUN_DIVERGED). */
void bz_world_stop(struct bz_world *world);

/* --- for scenarios ---------------------------------------------------------------------------- */

/* Draws a datum below `bound` (1 to 2^53 - 1, what a JSON number holds exactly). `label` is a
 * literal that says what for. */
uint64_t bz_world_draw(struct bz_world *world, const char *label, uint64_t bound);

/* Draws a virtual delay in [least_ns, most_ns]; dull is the least. */
uint64_t bz_world_draw_delay_ns(struct bz_world *world, const char *label, uint64_t least_ns,
                                uint64_t most_ns);

/* Puts a mark into the trace; `number` means what the scenario says it means. */
void bz_world_note(struct bz_world *world, uint32_t number);

/* The scenario's own check: oracle "assertion" when `condition` is false. */
#define bz_world_assert(world, condition, ...)                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            bz_world_violate((world), "assertion", bz_world_current_task(world), 0, __VA_ARGS__);  \
        }                                                                                          \
    } while (0)

/* True if the task is suspended inside this operation. */
bool bz_world_is_suspended_in(struct bz_world *world, const struct bz_task *task, enum bz_op op);

/* Which of the `count` tasks, at most 64, are, as bits: the first task is the lowest. One call for
 * all of them, and no branch. */
uint64_t bz_world_suspended_in(struct bz_world *world, struct bz_task *const *tasks, uint32_t count,
                               enum bz_op op);

/* Whether this is still the step in which the mark was set: the running task has not been suspended
 * since. (The number of a step is no help: who searches goes back and forth between steps, and does
 * not count them.) */
static inline void bz_world_mark_step(struct bz_world *world) {
    world->marked_step = world->step;
}

static inline bool bz_world_is_marked_step(const struct bz_world *world) {
    return world->marked_step == world->step;
}

/* Zeroed memory for a scenario's own state; it lasts as long as the run. Stops the process when the
 * loop's arena is exhausted. */
void *bz_world_alloc(struct bz_world *world, size_t size_bytes);

/* The task of that number; NULL if its memory was given back. O(tasks). */
struct bz_task *bz_world_find_task(const struct bz_world *world, uint32_t id);

/* Number of the running task, 0 between tasks. */
static inline uint32_t bz_world_current_task(const struct bz_world *world) {
    const struct bz_task *task = world->loop->current;
    return task == NULL ? 0 : bz_task_id(task);
}

/* Name of a task for messages; "loop" for 0. Returns `buffer`. */
const char *bz_world_task_name(const struct bz_world *world, uint32_t task, char *buffer,
                               size_t size_bytes);

/* --- for the files of this folder ------------------------------------------------------------- */

/* What every run begins with, besides a loop that nothing has run on. */
void bz_world_begin_run(struct bz_world *world, uint64_t seed, const struct bz_tape *tape,
                        struct bz_event_sink *sink);

/* Drops the image of the set-up, if there is one. */
void bz_world_forget_setup(struct bz_world *world);

/* Takes note of an event of the simulation's own. */
void bz_world_event(struct bz_world *world, struct bz_event event);

/* Looks at the objects that the step concerned, and forgets that it touched them. */
void bz_world_inspect_touched(struct bz_world *world);

/* Asks for a cancel at this point, and carries it out as a step of its own. False: none. */
bool bz_world_inject(struct bz_world *world);

#endif
