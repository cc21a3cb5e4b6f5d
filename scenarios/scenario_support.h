/* Shared by the scenarios: the head of their state, their tasks, yields, cancels and checks. */
#pragma once

#include "primitives/runtime/check.h"
#include "primitives/runtime/task.h"
#include "primitives/sync/lock.h"
#include "sim/native/sut.h"
#include "sim/native/world.h"
#include "sim/program/scenario.h"

/* The state of a scenario begins with this. */
struct bz_scene {
    struct bz_world *world;
    const int64_t *values;     /* of the parameters */
    struct bz_sut_permits sut; /* of a scenario about permits, as the next */
    uint32_t permits;
};

/* Zeroed state of `state_bytes`, with world and values set. */
void *bz_scene_new(struct bz_world *world, const struct bz_scenario_args *args, size_t state_bytes);

/* Bodies of this program may return BZ_FAILED; otherwise the oracle `status` objects. */
void bz_scene_may_fail(struct bz_world *world);

/* Sets up `scene->sut` with `permits` permits, or with one for a lock. The rest of a set-up is for
 * when this, or bz_scene_is_set_up() with the status of another object, says true. */
bool bz_scene_init_permits(struct bz_scene *scene, const struct bz_scenario_args *args,
                           const char *name, int64_t permits);
bool bz_scene_is_set_up(struct bz_world *world, enum bz_status status);

/* True if the variant claims this of the primitive. */
static inline bool bz_scene_claims(const struct bz_world *world, enum bz_primitive primitive,
                                   uint32_t claim) {
    return (bz_variant_claims(world->variant, primitive) & claim) != 0;
}

/* The parameter `refusals` of scenarios that have one. */
#define BZ_REFUSALS_PARAM                                                                          \
    {                                                                                              \
        "refusals", "allocations that may fail in what claims SURVIVES_NO_MEMORY, and in groups",  \
            0, 0, 1000                                                                             \
    }
#define BZ_REFUSALS_SIZE                                                                           \
    { "refusals", 0, 5, 0 }

/* The `finish` of a scenario about permits. */
void bz_scene_finish_permits(struct bz_world *world, void *scene);

/* --- tasks ------------------------------------------------------------------------------------ */

/* Creates a task, or `count` tasks, numbered from 1, with the state of the scenario as argument.
 * `tasks` may be NULL. */
struct bz_task *bz_scene_spawn(struct bz_world *world, const char *name, uint32_t index,
                               bz_task_fn *fn, void *state);
void bz_scene_spawn_all(struct bz_world *world, struct bz_task **tasks, int64_t count,
                        const char *name, bz_task_fn *fn, void *state);

/* The same for tasks that are interchangeable (bz_world_interchange()). */
void bz_scene_spawn_alike(struct bz_world *world, struct bz_task **tasks, int64_t count,
                          const char *name, bz_task_fn *fn, void *state);

/* Creates the task "child" of a group (primitives/runtime/group.h); returns what that says. */
struct bz_group;
enum bz_status bz_scene_spawn_child(struct bz_world *world, struct bz_group *group, uint32_t index,
                                    bz_task_fn *fn, void *arg) BZ_MUST_USE;

/* A task whose end is reported: to a callback, which no cancel prevents. */
struct bz_member {
    void *state;
    void (*on_end)(void *state);
    struct bz_task *task;
    struct bz_callback ends;
};

void bz_scene_spawn_member(struct bz_world *world, struct bz_member *member, const char *name,
                           uint32_t index, bz_task_fn *fn, void *state,
                           void (*on_end)(void *state));

/* Several tasks, numbered from 1, which are interchangeable (bz_world_interchange()). */
void bz_scene_spawn_members(struct bz_world *world, struct bz_member *members, int64_t count,
                            const char *name, bz_task_fn *fn, void *state,
                            void (*on_end)(void *state));

/* How cancels come: the parameter `manner` of scenarios that have one. */
enum bz_manner {
    BZ_MANNER_ONE,     /* the canceller strikes one task at a time */
    BZ_MANNER_SEVERAL, /* two to four cancels at once; one task may get more than one */
    BZ_MANNER_TWICE,   /* two requests at once for one task, which may have been woken */
    BZ_MANNER_SELF,    /* as ONE; and a task may cancel itself right before an operation */
    BZ_MANNER_GO_ON,   /* as ONE; and a task that was cancelled continues with its next round */
};
#define BZ_MANNER_SUMMARY                                                                          \
    "cancels come 0: one by one; 1: several at once; 2: twice for one task; 3: also from the "     \
    "task itself; 4: as 0, but a cancelled task continues with its next round"

struct bz_canceller {
    struct bz_world *world;
    struct bz_task *const *tasks;
    uint32_t count;
    uint32_t ops;
    int64_t patience;
    int64_t strikes;
    enum bz_manner manner;
};

/* The task "canceller": `strikes` times it yields 0..patience-1 times and cancels one of the
 * `count` tasks, as bz_cancel_one_inside() does. */
struct bz_canceller *bz_canceller_spawn(struct bz_world *world, struct bz_task *const *tasks,
                                        int64_t count, uint32_t ops, int64_t patience,
                                        int64_t strikes);

/* Cancels one of `tasks`, drawn as "victim" among those suspended inside one of `ops`, which are
 * bits 1 << enum bz_op, and returns it. The draw favours those that were woken and have not
 * resumed. If there is none, nothing is drawn: NULL. */
struct bz_task *bz_cancel_one_inside(struct bz_world *world, struct bz_task *const *tasks,
                                     uint32_t count, uint32_t ops);

struct bz_checker {
    struct bz_scene *scene;
    struct bz_task *const *tasks;
    uint32_t task_count;
    struct bz_task *task; /* its own */
};

/* The task "checker": waits for the tasks, which live as long as the run, and takes every permit
 * once. A missing permit is found by the oracles, an acquire that fails without a cancel by the
 * checker. */
void bz_checker_spawn(struct bz_checker *checker, struct bz_scene *scene,
                      struct bz_task *const *tasks, uint32_t task_count);

/* So many tasks that complete, cancel, join and watch each other, compared with a model of tasks
 * and futures (runtime/peers.c). NULL: none. The second, in `finish`, returns how many tasks were
 * freed. */
struct bz_peers *bz_peers_spawn(struct bz_world *world, int64_t count);
uint32_t bz_peers_finish(const struct bz_peers *peers);

/* An operation that one task at a time may call, as the variant claims: others wait for their turn.
 * The turn ends before the task does anything else. */
struct bz_turn {
    struct bz_lock lock;
    bool is_single; /* false: everybody has it at once */
};
static inline void bz_turn_init(struct bz_turn *turn, struct bz_world *world,
                                enum bz_primitive primitive, uint32_t claim) {
    bz_lock_init(&turn->lock, world->loop);
    turn->is_single = bz_scene_claims(world, primitive, claim);
}

static inline BZ_MUST_USE enum bz_status bz_turn_take(struct bz_turn *turn) {
    return turn->is_single ? bz_lock_acquire(&turn->lock) : BZ_OK;
}

/* Without waiting: false if another task has it. */
static inline bool bz_turn_try(struct bz_turn *turn) {
    return !turn->is_single || bz_lock_try_acquire(&turn->lock) == BZ_OK;
}

static inline void bz_turn_pass(struct bz_turn *turn) {
    if (turn->is_single) {
        BZ_CHECK(bz_lock_release(&turn->lock) == BZ_OK);
    }
}

/* --- inside a task ---------------------------------------------------------------------------- */

/* These end early when the task is cancelled, and return that. The drawn ones yield 0..bound-1
 * times, or sleep least_ns..most_ns. */
static inline BZ_MUST_USE enum bz_status bz_yield_times(struct bz_world *world, uint64_t times) {
    enum bz_status status = BZ_OK;
    for (; status == BZ_OK && times > 0; times--) {
        bz_sut_may_wait(world);
        status = bz_yield(world->loop);
    }
    return status;
}

static inline BZ_MUST_USE enum bz_status bz_yield_below(struct bz_world *world, const char *label,
                                                        int64_t bound) {
    return bz_yield_times(world, bz_world_draw_yields(world, label, (uint64_t)bound));
}

static inline BZ_MUST_USE enum bz_status bz_nap(const struct bz_world *world, uint64_t delay_ns) {
    bz_sut_may_wait(world);
    return bz_world_sleep(world, delay_ns);
}

static inline BZ_MUST_USE enum bz_status bz_sleep_drawn(struct bz_world *world, const char *label,
                                                        uint64_t least_ns, int64_t most_ns) {
    return bz_nap(world, bz_world_draw_delay_ns(world, label, least_ns, (uint64_t)most_ns));
}

/* True if the running task ended an operation with `status` because it was cancelled. */
static inline bool bz_is_cancelled(const struct bz_world *world, enum bz_status status) {
    return status == BZ_CANCELLED && bz_task_cancelling(bz_loop_current(world->loop)) > 0;
}

/* The same, or because there was no room for it. */
static inline bool bz_is_cut_off(const struct bz_world *world, enum bz_status status) {
    return bz_is_cancelled(world, status) || bz_world_is_refused(world, status);
}

/* Before an operation, and after a round with its result: the manner of the running task's
 * cancels. The second returns what it continues with. */
void bz_cancel_self(struct bz_world *world, enum bz_manner manner);
enum bz_status bz_end_of_round(struct bz_world *world, enum bz_manner manner,
                               enum bz_status status) BZ_MUST_USE;

/* The parameter `chain` of the scenario deferred, and `blocks` of taskgroup. */
void bz_play_chains(struct bz_world *world, int64_t plans);
void bz_play_blocks(struct bz_world *world, int64_t acts);

/* The status that a release by the holder must return. */
static inline void bz_check_released(struct bz_world *world, enum bz_status status) {
    const char *name = bz_status_name(status);
    bz_world_assert(world, status == BZ_OK, "the release by its holder was refused: %s",
                    name == NULL ? "there is no such status" : name);
}
