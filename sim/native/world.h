/* The world: the C runtime as a source of events. Simulated runs, one after another, on a virtual
 * clock.
 *
 * A world is the driver of a loop (primitives/runtime/driver.h) and its observer. It asks its judge
 * (sim/judge/judge.h) for every choice, and reports every event to it. One step runs exactly one
 * ready handle, or carries out one injected cancel.
 *
 * Loop orders. `fifo` works in turns, as a stock loop does; a turn is the handles that are ready
 * when it begins. The clock advances when nothing is ready. A cancel from outside is injected after
 * the handles that were carried over and before the timers that are due. `any` lets every ready
 * handle go next, and a cancel strike before any step. Under both, a clock jump may make timers due
 * while handles are still ready, or more than one at once: the loop was busy, or woke late.
 *
 * A run stops after the step of its first violation. Tasks are abandoned where they stand.
 */
#ifndef BZ_SIM_NATIVE_WORLD_H
#define BZ_SIM_NATIVE_WORLD_H

#include "primitives/runtime/loop.h"
#include "primitives/runtime/task.h"
#include "sim/judge/judge.h"
#include "sim/variant/variant.h"

BZ_BEGIN_DECLS

struct bz_timer;

struct bz_world {
    struct bz_loop *loop;
    struct bz_judge *judge;
    const struct bz_variant *variant; /* under test */
    bool is_searched;                 /* states are compared: see sut.h */
    bool draws_yields;                /* see bz_world_draw_yields() */
    bool is_uncancelled;              /* see bz_world_may_cancel() */
};

/* The judge gets `config`. The world is its source, unless that names another. NULL without memory.
 */
struct bz_world *bz_world_new(const struct bz_judge_config *config,
                              const struct bz_variant *variant);
void bz_world_destroy(struct bz_world *world);

/* Before the first run, or between two: another loop, whose stacks and limit of memory may be other
 * ones. Its tasks_max stays. False without memory. */
bool bz_world_set_loop(struct bz_world *world, const struct bz_loop_config *config) BZ_MUST_USE;

/* Before the first run, or between two: the blocks and the stacks of the loop lie elsewhere from
 * now on, at addresses that depend on the place, below BZ_PLACES. O(stacks), without a system call.
 */
#define BZ_PLACES 512u
void bz_world_move(struct bz_world *world, uint32_t place);

/* Between two runs: gives the memory of all stacks back to the system. */
void bz_world_drop_stacks(struct bz_world *world);

/* Empties the loop, after the judge has begun a run and before the program is set up. */
void bz_world_begin(struct bz_world *world);

/* Runs until nothing can run, an oracle objects, or the step limit is hit. */
void bz_world_run(struct bz_world *world);

/* Watches one run: bz_world_begin() calls begin(), before the set-up. bz_world_run() makes the run
 * step by step and calls before_step() before each one, with its number, and after_last() when no
 * further one comes. There the watcher may look at the
 * world (look.h). False from before_step() ends the run (BZ_RUN_GIVEN_UP). For people, not for
 * campaigns; the run is the same. `watch` must outlive the run; NULL: no watcher. */
struct bz_world_watch {
    void (*begin)(void *context, struct bz_world *world); /* NULL: nothing */
    bool (*before_step)(void *context, struct bz_world *world, uint32_t step);
    void (*after_last)(void *context, struct bz_world *world); /* NULL: nothing */
    void *context;
};
void bz_world_watch(struct bz_world *world, const struct bz_world_watch *watch);

/* bz_judge_end(). A run in which the loop had to refuse a task or memory ends with
 * BZ_RUN_NO_RESOURCE, whatever the oracles say: they may have judged the refusal. So does one in
 * which the program breaks a rule of the judge. */
void bz_world_end(struct bz_world *world);

/* The same between two steps: ends the run if the loop has refused something. False: the run has
 * ended so. */
bool bz_world_has_resources(struct bz_world *world);

/* One step, for a search (sim/explore). False: nothing can run, and nothing was done. The caller
 * checks whether the run has stopped or hit the step limit. */
bool bz_world_step(struct bz_world *world);

/* Most programs have the same set-up for every seed: they create tasks, and draw nothing. The image
 * of such a set-up is kept and copied back for the next run (dejafu for Haskell does the same).
 *
 * bz_world_keep_setup(), right after the set-up, keeps it if it qualifies. `program` is all that
 * the set-up depends on; it is compared byte by byte. bz_world_begin_again() begins a run and
 * restores the set-up. It returns false, and does nothing, if there is no image of this program, or
 * if `start` has a sink. Not under Address- or ThreadSanitizer. */
void bz_world_keep_setup(struct bz_world *world, const void *program, size_t program_bytes,
                         void *state);
bool bz_world_begin_again(struct bz_world *world, const void *program,
                          const struct bz_run_start *start, void **state);

/* --- for scenarios ---------------------------------------------------------------------------- */

/* Draws a datum below `bound` (1 to 2^53 - 1, what a JSON number holds exactly), or a virtual delay
 * in [least_ns, most_ns]. `label` is a literal that says what for. The default is 0, or the least.
 */
static inline uint64_t bz_world_draw(struct bz_world *world, const char *label, uint64_t bound) {
    return bz_judge_draw(world->judge, label, bound);
}

/* The same, if the program knows which values below 64 matter most, as bits. */
static inline uint64_t bz_world_draw_favoured(struct bz_world *world, const char *label,
                                              uint64_t bound, uint64_t favoured) {
    return bz_judge_draw_favoured(world->judge, label, bound, favoured);
}

/* Draws how often the running task yields from here on, in a row: it does nothing in between, and
 * nothing can tell afterwards how often it was. So one yield stands for more in a search of every
 * order (sim/README.md). */
static inline uint64_t bz_world_draw_yields(struct bz_world *world, const char *label,
                                            uint64_t bound) {
    world->draws_yields = true;
    uint64_t value = bz_judge_draw(world->judge, label, bound);
    world->draws_yields = false;
    return value;
}

static inline uint64_t bz_world_draw_delay_ns(struct bz_world *world, const char *label,
                                              uint64_t least_ns, uint64_t most_ns) {
    return bz_judge_draw_delay_ns(world->judge, label, least_ns, most_ns);
}

/* True if the program may cancel a task, or set a timeout. False with `--cancel off`, which only a
 * scenario with `runs_uncancelled` accepts. */
static inline bool bz_world_may_cancel(const struct bz_world *world) {
    return !world->is_uncancelled;
}

/* The scenario's own check: oracle `assertion` when `condition` is false. */
#define bz_world_assert(world, condition, ...)                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            bz_judge_violate((world)->judge, "assertion", bz_judge_running((world)->judge), 0,     \
                             __VA_ARGS__);                                                         \
        }                                                                                          \
    } while (0)

/* True if the task is suspended inside this operation. */
bool bz_world_is_suspended_in(struct bz_world *world, const struct bz_task *task, enum bz_op op);

/* The same for `count` tasks, at most 64, as bits; the first task is the lowest. */
uint64_t bz_world_suspended_in(struct bz_world *world, struct bz_task *const *tasks, uint32_t count,
                               enum bz_op op);

/* Of `count` tasks, at most 64, those that are in the window `woken`, as bits. */
uint64_t bz_world_woken(struct bz_world *world, struct bz_task *const *tasks, uint32_t count);

/* True if the task is suspended inside this operation on a future that is still pending, and no
 * cancel is on its way. */
bool bz_world_waits_in(struct bz_world *world, const struct bz_task *task, enum bz_op op);

/* True if the task was asked to cancel and waits on, because its wait cannot be cancelled
 * (sim/variant/callback.h). It learns of the request when the wait is over. */
bool bz_world_waits_on(struct bz_world *world, const struct bz_task *task);

/* True if a cancel has reached the task inside the operation that it is in. */
bool bz_world_was_cancelled(struct bz_world *world, const struct bz_task *task);

/* How many cancels of the task were accepted in its life that came from tasks of the program or
 * from outside: not from timers, callbacks, or tasks of the variant. Exact below BZ_ASKED_MAX. */
#define BZ_ASKED_MAX 127u
uint32_t bz_world_asked(const struct bz_world *world, const struct bz_task *task);

/* True if the running task has not been suspended since the mark was set. (Step numbers do not
 * tell: a search goes back and forth between steps.) */
void bz_world_mark_step(struct bz_world *world);
bool bz_world_is_marked_step(const struct bz_world *world);

/* True if the running task has waited in its last operation, which it called when the
 * mark was set: it was suspended on a future, and not only in a yield or a sleep. */
bool bz_world_has_waited(const struct bz_world *world);

/* bz_sleep() of the running task. The oracle `timer` judges when it ends. */
enum bz_status bz_world_sleep(const struct bz_world *world, uint64_t delay_ns) BZ_MUST_USE;

/* True if tasks poll inside operations, and all others wait: nothing else comes from the program
 * before a poll succeeds, or a timer fires. O(tasks). */
bool bz_world_only_polls(const struct bz_world *world);

/* A timer of the program's own that fires whenever nothing else can run, now or later, and tasks of
 * the program have not ended, unless each of these waits on (bz_world_waits_on()). It may cancel a
 * task that is meant to wait forever. In the set-up. A `fire` of NULL ends that. It also fires if
 * only tasks that poll inside an operation can run, and all must wait (struct bz_introspection). */
void bz_world_fire_at_rest(struct bz_world *world, struct bz_timer *timer);

/* Said in the set-up: these tasks are interchangeable, so a search may take two states for one that
 * differ in their order alone (sim/explore/fingerprint/symmetry.h). It promises:
 * - They have the same body and argument, consecutive numbers, and live as long as the run.
 * - No task uses its number or name, and `tasks` is a set to all that read it: what is done with
 *   one could be done with any other in the same situation. (A draw among these is fine:
 *   every value is tried.) The array never changes.
 * - finish() does not depend on their order either.
 * Not promised, but checked: that the code under test does not ask for the number or the name of a
 * task. Tasks that differ in their role are groups of their own, each said in a call of its own.
 * Ignored: a group of one, and what is beyond BZ_ALIKE_GROUPS_MAX groups or BZ_ALIKE_MAX tasks. */
#define BZ_ALIKE_MAX 16u
#define BZ_ALIKE_GROUPS_MAX 4u
void bz_world_interchange(struct bz_world *world, struct bz_task *const *tasks, uint32_t count);

/* The same for tasks that each have `own_bytes` of the program's memory to themselves: those of
 * tasks[n] are at own + n * own_bytes. Their contents, and pointers into them, change
 * places with the task. */
void bz_world_interchange_with(struct bz_world *world, struct bz_task *const *tasks, uint32_t count,
                               void *own, size_t own_bytes);

/* Any task created during the run counts as a helper of the variant (bz_judge_set_helper()) unless
 * the program adopts it right away. Likewise a callback, or a timer
 * that is not of bz_sleep() or bz_timeout_enter(), is the variant's unless it calls the function
 * that the program says is its own: one function for each. */
void bz_world_adopt(struct bz_world *world, const struct bz_task *task);
void bz_world_own_timer(struct bz_world *world, void (*fire)(struct bz_timer *timer));
void bz_world_own_callback(struct bz_world *world,
                           void (*fn)(struct bz_callback *callback, struct bz_future *future));

/* In the set-up: up to `count` allocations of this run fail, which ones is drawn ("no-memory"),
 * inside operations of objects with BZ_CLAIM_SURVIVES_NO_MEMORY, and between the two calls of
 * bz_world_may_refuse(), around a call of the runtime that does not wait. */
void bz_world_refuse_memory(struct bz_world *world, uint32_t count);
void bz_world_may_refuse(struct bz_world *world, bool may_refuse);

/* True if one has failed. */
bool bz_world_has_refused_memory(const struct bz_world *world);

/* True if an operation returned `status` because an allocation failed, or because the variant says
 * that it has no room for any number of waiters: the program does without. */
bool bz_world_is_refused(const struct bz_world *world, enum bz_status status);

/* Zeroed memory for a scenario's own state; it lasts as long as the run. Calls bz_lack_stop() when
 * the loop's arena is exhausted. */
void *bz_world_alloc(struct bz_world *world, size_t size_bytes);

/* A name for a task or an object that is no literal: `name` and `suffix`, where the judge finds it
 * as long as the run and its record, also if a child process makes the run. */
const char *bz_world_name(struct bz_world *world, const char *name, const char *suffix);

/* True if a completion of the last run was noted in a step of another task: bz_request_done() in
 * sim/variant/callback.h. */
bool bz_world_has_noted(const struct bz_world *world);

/* The task of that number; NULL if its memory was given back. O(tasks). */
struct bz_task *bz_world_find_task(const struct bz_world *world, uint32_t id);

BZ_END_DECLS

#endif
