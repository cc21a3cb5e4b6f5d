/* taskgroup: the children of a task group compete for permits, and one fails.
 *
 * A drawn child fails at a drawn moment: before an acquire, while it holds a permit, or after the
 * release. The group then cancels the siblings wherever they are: in the queue, in the window, or
 * at work. Each gives back what it holds. When the group has ended, a checker takes every permit.
 *
 * With `body` the parent's body may wait or fail as well, or the group is cancelled from outside.
 * Sitters wait until they are cancelled: if nothing else can run, the group owes them that, or the
 * host cancels the parent. Peers run beside the group (runtime/peers.c). */
#include "primitives/runtime/driver.h"
#include "primitives/runtime/group.h"
#include "primitives/runtime/rules.h"
#include "primitives/runtime/timer.h"
#include "scenarios/scenario_support.h"
#include "scenarios/scenarios.h"
#include "scenarios/variants/variants.h"

enum { PERMITS, CHILDREN, ROUNDS, HOLD, BODY, SITTERS, REFUSALS, RULES, PEERS, BLOCKS };

static const struct bz_param params[] = {
    {"permits", "permits of the semaphore (a lock has one)", 2, 1, 1000},
    {"children", "tasks of the group", 5, 1, 1000},
    {"rounds", "acquire-release rounds of each child", 2, 1, 1000},
    {"hold", "yields while a permit is held", 2, 0, 1000},
    {"body", "1: the body may wait or fail, a child may spawn a sibling, and perhaps none fails", 0,
     0, 1},
    {"sitters", "further children, which wait until they are cancelled", 0, 0, 1000},
    BZ_REFUSALS_PARAM,
    {"rules",
     "as in asyncio 3.11, 1: groups cancel their children in any order; 2: take their request "
     "back before they wait; 4: uncancel() clears no request; or a sum of these",
     0, 0, 7},
    {"peers", "tasks beside the group, which complete, cancel, join and watch each other", 0, 0,
     1000},
    {"blocks", "so many acts with drawn blocks of an arena of the runtime come before", 0, 0, 1000},
    {NULL, NULL, 0, 0, 0},
};

static const struct bz_size sizes[] = {
    {"permits", 1, 3, 0},
    {"children", 1, 8, 14},
    {"rounds", 1, 4, 8},
    {"hold", 0, 3, 0},
    {"body", 0, 1, 0},
    {"sitters", 0, 2, 0},
    BZ_REFUSALS_SIZE,
    {"rules", 0, 7, 0},
    {"peers", 0, 5, 0},
    {"blocks", 0, 12, 0},
    {"permits", 4, 65, BZ_TAIL_TASKS},
    {"children", 9, 129, BZ_TAIL_TASKS},
    {"rounds", 5, 257, 0},
    {NULL, 0, 0, 0},
};

/* Where in a round the failing child fails. */
enum moment { BEFORE_ACQUIRE, WHILE_HOLDING, AFTER_RELEASE, MOMENTS };

/* How the body of the parent ends. */
enum body { AT_ONCE, AFTER_YIELDS, WHEN_CANCELLED, BY_FAILING, BODIES };
#define BODY_YIELDS 4

struct child {
    struct taskgroup *state;
    uint64_t fails_at; /* round * MOMENTS + moment; UINT64_MAX: it does not fail */
    uint32_t task_id;  /* 0: it has not begun */
};

struct taskgroup {
    struct bz_scene scene;
    struct bz_group group;
    struct bz_task *parent;
    struct bz_checker checker;
    struct bz_timer host;
    struct bz_peers *peers;
    struct bz_rules rules;
    uint64_t blocks;  /* of the loop's memory, before the children */
    uint32_t spawned; /* children */
    uint32_t running; /* children that have begun and not ended */
    uint32_t sitting; /* tasks that wait until they are cancelled */
    uint32_t failed;  /* children, and the body */
    uint32_t struck;  /* cancels of the parent by the host */
    bool was_asked;   /* by the group to cancel, before the exit */
    bool has_ended;
    struct child children[]; /* room for a sibling of each, which it may spawn */
};

static bool has_failed(enum bz_status status) {
    return status != BZ_OK && status != BZ_CANCELLED;
}

/* The cancels of the parent that are not the group's. */
static uint32_t from_outside(const struct taskgroup *state) {
    return bz_world_asked(state->scene.world, state->parent) + state->struck;
}

/* Something has happened for which the group has to cancel its children. */
static bool has_cause(const struct taskgroup *state) {
    return state->failed > 0 || from_outside(state) > 0;
}

/* --- the children ----------------------------------------------------------------------------- */

/* When a group asks its parent to cancel, its children are cancelled already. */
static void check_siblings(const struct taskgroup *state) {
    struct bz_world *world = state->scene.world;
    bool has_asked = bz_task_cancelling(state->parent) > from_outside(state);
    bool is_cancelled = bz_task_cancelling(bz_loop_current(world->loop)) > 0;
    bz_world_assert(world, !has_asked || is_cancelled,
                    "the group has cancelled its body, and not this child");
}

static enum bz_status play_round(const struct child *child, uint64_t round) {
    struct bz_scene *scene = &child->state->scene;
    check_siblings(child->state);
    if (child->fails_at == round * MOMENTS + BEFORE_ACQUIRE) {
        return BZ_FAILED;
    }
    enum bz_status status = bz_sut_acquire(&scene->sut);
    if (status != BZ_OK) {
        return status;
    }
    status = bz_yield_times(scene->world, (uint64_t)scene->values[HOLD]);
    if (status == BZ_OK && child->fails_at == round * MOMENTS + WHILE_HOLDING) {
        status = BZ_FAILED;
    }
    bz_check_released(scene->world, bz_sut_release(&scene->sut));
    if (status == BZ_OK && child->fails_at == round * MOMENTS + AFTER_RELEASE) {
        status = BZ_FAILED;
    }
    return status;
}

/* Waits until its task is cancelled. */
static enum bz_status sit(struct taskgroup *state) {
    struct bz_future never;
    bz_future_init(&never, state->scene.world->loop);
    state->sitting++;
    bz_sut_may_wait(state->scene.world);
    enum bz_status status = bz_future_await(&never);
    state->sitting--;
    return status;
}

static enum bz_status play(const struct child *child) {
    enum bz_status status = BZ_OK;
    uint64_t rounds = (uint64_t)child->state->scene.values[ROUNDS];
    for (uint64_t round = 0; status == BZ_OK && round < rounds; round++) {
        status = play_round(child, round);
    }
    return status;
}

static enum bz_status spawn(struct taskgroup *state, bz_task_fn *fn) {
    struct bz_world *world = state->scene.world;
    struct child *child = &state->children[state->spawned];
    enum bz_status status =
        bz_scene_spawn_child(world, &state->group, state->spawned + 1, fn, child);
    state->spawned += status == BZ_OK;
    bool is_fine = status == BZ_OK || (status == BZ_INVALID_STATE && has_cause(state)) ||
                   bz_world_is_refused(state->scene.world, status);
    bz_world_assert(world, is_fine, "a child could not be spawned: %s", bz_status_word(status));
    return status;
}

static void begin(struct taskgroup *state, struct child *child) {
    child->task_id = bz_task_id(bz_loop_current(state->scene.world->loop));
    bz_world_assert(state->scene.world, !state->has_ended, "a child outlives its group");
    state->running++;
}

static enum bz_status end(struct taskgroup *state, enum bz_status status) {
    struct bz_world *world = state->scene.world;
    uint32_t asked = bz_world_asked(world, bz_loop_current(world->loop));
    uint32_t count = bz_task_cancelling(bz_loop_current(world->loop));
    check_siblings(state);
    state->running--;
    state->failed += has_failed(status);
    bz_world_assert(world, status != BZ_CANCELLED || asked > 0 || has_cause(state),
                    "a child was cancelled, although neither the body nor a child has failed");
    bz_world_assert(world, asked == BZ_ASKED_MAX || count <= asked + 1,
                    "the group cancelled a child %u times", count - asked);
    return status;
}

static enum bz_status sibling_main(void *arg) {
    struct child *child = arg;
    begin(child->state, child);
    return end(child->state, play(child));
}

/* A child may spawn a sibling, unless the group has cancelled it. */
static void spawn_sibling(struct taskgroup *state, enum bz_status status) {
    struct bz_world *world = state->scene.world;
    bool is_aborted =
        status == BZ_CANCELLED && bz_world_asked(world, bz_loop_current(world->loop)) == 0;
    enum bz_status left = bz_group_exit(&state->group, BZ_OK);
    bz_world_assert(world, left == BZ_INVALID_STATE, "a child left the group of its parent: %s",
                    bz_status_word(left));
    if (bz_world_draw(world, "sibling", 2) == 1) {
        bool is_spawned = spawn(state, sibling_main) == BZ_OK;
        bz_world_assert(world, !is_spawned || !is_aborted,
                        "a group that cancels its children let one be spawned");
    }
}

/* A cancelled child may fail while it cleans up. */
static enum bz_status clean_up(struct taskgroup *state, enum bz_status status) {
    bool fails = status == BZ_CANCELLED && bz_world_draw(state->scene.world, "clean-up", 4) == 1;
    return fails ? BZ_FAILED : status;
}

static enum bz_status child_main(void *arg) {
    struct child *child = arg;
    begin(child->state, child);
    enum bz_status status = play(child);
    if (child->state->scene.values[BODY] == 1) {
        spawn_sibling(child->state, status);
        status = clean_up(child->state, status);
    }
    return end(child->state, status);
}

static enum bz_status sitter_main(void *arg) {
    struct child *child = arg;
    begin(child->state, child);
    return end(child->state, sit(child->state));
}

/* --- the parent ------------------------------------------------------------------------------- */

static enum bz_status spawn_all(struct taskgroup *state) {
    const int64_t *values = state->scene.values;
    enum bz_status status = BZ_OK;
    for (int64_t left = values[CHILDREN] + values[SITTERS]; status == BZ_OK && left > 0; left--) {
        status = spawn(state, left > values[SITTERS] ? child_main : sitter_main);
        status = bz_world_is_refused(state->scene.world, status) ? BZ_OK : status;
        if (status == BZ_OK && values[BODY] == 1) {
            status = bz_yield_below(state->scene.world, "pace", 2);
        }
    }
    return status;
}

static enum bz_status body(struct taskgroup *state) {
    struct bz_world *world = state->scene.world;
    enum bz_status status = spawn_all(state);
    if (state->scene.values[BODY] == 0 || status != BZ_OK) {
        return status;
    }
    enum body how = (enum body)bz_world_draw(world, "body", BODIES);
    if (how == WHEN_CANCELLED) {
        return sit(state);
    }
    if (how != AT_ONCE) {
        status = bz_yield_below(world, "work", BODY_YIELDS);
    }
    return status == BZ_OK && how == BY_FAILING ? BZ_FAILED : status;
}

/* The group has taken its own request back, unless that came while it waited, and no other. */
static void check_requests(const struct taskgroup *state, enum bz_status status) {
    bool rearms = state->rules.group == BZ_GROUP_REARMS;
    uint32_t asked = from_outside(state);
    asked -= rearms && status == BZ_FAILED && asked > 0; /* it asks for that again */
    uint32_t most = asked + (!rearms && state->failed > 0 && !state->was_asked);
    uint32_t count = bz_task_cancelling(state->parent);
    bz_world_assert(state->scene.world,
                    (count >= asked && count <= most) || asked >= BZ_ASKED_MAX - 1,
                    "the group left %u cancel requests, and %u were from outside", count, asked);
}

/* An error of the body or of a child comes first, then a cancel from outside, which the exit itself
 * may have received. */
static void check_end(const struct taskgroup *state, enum bz_status of_body,
                      enum bz_status status) {
    struct bz_world *world = state->scene.world;
    enum bz_status due = state->failed > 0 ? BZ_FAILED : of_body;
    bool is_fine = status == due || (due == BZ_OK && bz_is_cancelled(world, status));
    bz_world_assert(world, is_fine, "the group ended with %s, and %s was due",
                    bz_status_word(status), bz_status_word(due));
    bz_world_assert(world, state->running == 0 && state->group.errors == state->failed,
                    "the group ended with %u children and counted %u of %u errors", state->running,
                    state->group.errors, state->failed);
    bz_world_assert(world, state->failed == 0 || has_failed(state->group.first_error),
                    "the first error of the group is %s", bz_status_word(state->group.first_error));
    check_requests(state, status);
}

static void check_freed(const struct taskgroup *state) {
    const struct bz_loop *loop = state->scene.world->loop;
    const struct bz_task *task = NULL;
    while ((task = bz_driver_next_task(loop, task)) != NULL) {
        for (uint32_t index = 0; index < state->spawned; index++) {
            bz_world_assert(state->scene.world, state->children[index].task_id != bz_task_id(task),
                            "the group has ended and has not freed child-%u", index + 1);
        }
    }
}

/* A group that has ended takes no child and no exit, and a cancel from outside is not lost. */
static void check_afterwards(struct taskgroup *state, enum bz_status status) {
    struct bz_world *world = state->scene.world;
    check_freed(state);
    enum bz_status spawned = bz_group_spawn(&state->group, "late", 0, sitter_main, NULL, NULL);
    enum bz_status left = bz_group_exit(&state->group, BZ_OK);
    bz_world_assert(world, spawned == BZ_INVALID_STATE && left == BZ_INVALID_STATE,
                    "a group that has ended answered %s to spawn and %s to exit",
                    bz_status_word(spawned), bz_status_word(left));
    bool is_due = status == BZ_OK || (status == BZ_FAILED && state->rules.group == BZ_GROUP_REARMS);
    if (is_due && bz_task_cancelling(state->parent) > 0) {
        bz_sut_may_wait(world);
        status = bz_yield(world->loop);
        bz_world_assert(world, status == BZ_CANCELLED,
                        "the cancel of a group came to nothing: the next await returned %s",
                        bz_status_word(status));
    }
}

static enum bz_status parent(void *arg) {
    struct taskgroup *state = arg;
    enum bz_status entered = bz_group_enter(state->scene.world->loop, &state->group);
    bz_world_assert(state->scene.world, entered == BZ_OK, "a task could not enter a group: %s",
                    bz_status_word(entered));
    enum bz_status of_body = body(state);
    of_body = of_body == BZ_INVALID_STATE ? BZ_OK : of_body;
    state->failed += has_failed(of_body);
    state->was_asked = bz_task_cancelling(state->parent) > from_outside(state);
    enum bz_status status = bz_group_exit(&state->group, of_body);
    state->has_ended = true;
    check_end(state, of_body, status);
    if (state->scene.values[BODY] == 1) {
        check_afterwards(state, status);
    }
    return status;
}

/* Nothing else can run. */
static void host_looks(struct bz_timer *timer) {
    struct taskgroup *state = bz_container_of(timer, struct taskgroup, host);
    timer->fire = NULL; /* if it is a deadlock, the oracle says so */
    bz_world_assert(state->scene.world, state->sitting == 0 || !has_cause(state),
                    "the group cancelled neither its children nor its body, although %s",
                    state->failed > 0 ? "one has failed" : "it was cancelled itself");
    if (state->sitting > 0) {
        state->struck += bz_task_cancel(state->parent);
    }
}

/* --- setting up ------------------------------------------------------------------------------- */

static void choose_failing(struct taskgroup *state) {
    struct bz_world *world = state->scene.world;
    const int64_t *values = state->scene.values;
    uint64_t failing = bz_world_draw(world, "failing", (uint64_t)values[CHILDREN]);
    uint64_t moment = bz_world_draw(world, "moment", (uint64_t)values[ROUNDS] * MOMENTS);
    if (values[BODY] == 0 || bz_world_draw(world, "spared", 2) == 0) {
        state->children[failing].fails_at = moment;
    }
}

/* Those of the variant, and further ones. */
static void set_rules(struct taskgroup *state) {
    struct bz_world *world = state->scene.world;
    int64_t more = state->scene.values[RULES];
    state->rules = world->variant->rules == NULL ? (struct bz_rules){0} : *world->variant->rules;
    if (more != 0) {
        state->rules.children = (more & 1) != 0 ? BZ_CHILDREN_BY_CHOICE : state->rules.children;
        state->rules.group = (more & 2) != 0 ? BZ_GROUP_LOSES : state->rules.group;
        state->rules.uncancel = (more & 4) != 0 ? BZ_UNCANCEL_COUNTS : state->rules.uncancel;
        bz_loop_set_rules(world->loop, &state->rules);
    }
}

static void *setup(struct bz_world *world, const struct bz_scenario_args *args) {
    const int64_t *values = args->values;
    size_t count = (size_t)(2 * values[CHILDREN] + values[SITTERS]);
    struct taskgroup *state =
        bz_scene_new(world, args, sizeof *state + count * sizeof state->children[0]);
    for (size_t index = 0; index < count; index++) {
        state->children[index] = (struct child){.state = state, .fails_at = UINT64_MAX};
    }
    set_rules(state);
    if (values[BLOCKS] > 0) {
        bz_play_blocks(world, values[BLOCKS]);
    }
    bz_scene_may_fail(world);
    choose_failing(state);
    if (bz_scene_init_permits(&state->scene, args, "permits", values[PERMITS])) {
        bz_world_refuse_memory(world, (uint32_t)values[REFUSALS]);
        state->parent = bz_scene_spawn(world, "parent", 0, parent, state);
        bz_checker_spawn(&state->checker, &state->scene, &state->parent, 1);
    }
    enum bz_status entered = bz_group_enter(world->loop, &state->group);
    bz_world_assert(world, entered == BZ_INVALID_STATE, "the loop could enter a group: %s",
                    bz_status_word(entered));
    if (values[BODY] == 1 || values[SITTERS] > 0) {
        bz_timer_init(&state->host, world->loop, host_looks);
        bz_world_fire_at_rest(world, &state->host);
    }
    state->peers = bz_peers_spawn(world, values[PEERS]);
    state->blocks = bz_mem_live_blocks(bz_loop_mem(world->loop));
    return state;
}

/* The locks and semaphores that ship allocate nothing, so groups have freed all that is new. */
static void finish(struct bz_world *world, void *arg) {
    const struct taskgroup *state = arg;
    uint64_t blocks = bz_mem_live_blocks(bz_loop_mem(world->loop)) + bz_peers_finish(state->peers);
    bz_world_assert(world, world->variant != &bz_variant_buzzer || blocks == state->blocks,
                    "the loop has %llu blocks of memory, and had %llu before the group",
                    (unsigned long long)blocks, (unsigned long long)state->blocks);
    bz_scene_finish_permits(world, arg);
}

const struct bz_scenario bz_scenario_taskgroup = {
    .name = "taskgroup",
    .summary = "one child of a task group fails, and its siblings are cancelled at the permits",
    .params = params,
    BZ_SCENARIO_USES(BZ_PRIMITIVE_SEMAPHORE, BZ_PRIMITIVE_BOUNDED, BZ_PRIMITIVE_LOCK),
    .setup = setup,
    .finish = finish,
    .sizes = sizes,
    .size = "permits",
};
