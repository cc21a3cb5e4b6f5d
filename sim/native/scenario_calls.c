/* The calls of scenarios to a world: see world.h. */
#include <stdio.h>
#include <string.h>

#include "sim/native/internal.h"
#include "sim/native/world.h"
#include "traces/lack.h"

static inline const struct bz_shadow_task *look_at(const struct bz_world *world,
                                                   const struct bz_task *task) {
    return &world->judge->shadow.tasks[task->actor.id];
}

uint64_t bz_world_suspended_in(struct bz_world *world, struct bz_task *const *tasks, uint32_t count,
                               enum bz_op op) {
    uint64_t set = 0;
    BZ_CHECK(count <= 64);
    for (uint32_t index = 0; index < count; index++) {
        const struct bz_shadow_task *task = look_at(world, tasks[index]);
        set |= (uint64_t)bz_shadow_is_suspended_in(task, op) << index;
    }
    return set;
}

uint64_t bz_world_woken(struct bz_world *world, struct bz_task *const *tasks, uint32_t count) {
    uint64_t set = 0;
    BZ_CHECK(count <= 64);
    for (uint32_t index = 0; index < count; index++) {
        bool is_woken = bz_shadow_window(look_at(world, tasks[index])) == BZ_WINDOW_WOKEN;
        set |= (uint64_t)is_woken << index;
    }
    return set;
}

bool bz_world_is_suspended_in(struct bz_world *world, const struct bz_task *task, enum bz_op op) {
    return bz_shadow_is_suspended_in(look_at(world, task), op);
}

bool bz_world_waits_in(struct bz_world *world, const struct bz_task *task, enum bz_op op) {
    const struct bz_shadow_task *entry = look_at(world, task);
    return entry->phase == BZ_PHASE_SUSPENDED && entry->wait == BZ_WAIT_FUTURE &&
           bz_shadow_op(entry) == op && entry->await == BZ_AWAIT_PENDING && !entry->cancel_pending;
}

bool bz_world_waits_on(struct bz_world *world, const struct bz_task *task) {
    return bz_shadow_waits_on(look_at(world, task));
}

bool bz_world_was_cancelled(struct bz_world *world, const struct bz_task *task) {
    return look_at(world, task)->cancelled_in_op;
}

bool bz_world_only_polls(const struct bz_world *world) {
    return bz_judge_only_polls(world->judge, BZ_POLLS_ANY) > 0;
}

uint32_t bz_world_asked(const struct bz_world *world, const struct bz_task *task) {
    return look_at(world, task)->asked;
}

bool bz_world_has_noted(const struct bz_world *world) {
    return world->loop->has_noted;
}

void bz_world_adopt(struct bz_world *world, const struct bz_task *task) {
    bz_judge_set_helper(world->judge, task->actor.id, false);
}

void bz_world_fire_at_rest(struct bz_world *world, struct bz_timer *timer) {
    bz_native_of(world)->rest_timer = timer;
    bz_world_own_timer(world, timer->fire);
}

void bz_world_interchange_with(struct bz_world *world, struct bz_task *const *tasks, uint32_t count,
                               void *own, size_t own_bytes) {
    struct bz_native *native = bz_native_of(world);
    uint32_t all = count;
    for (uint32_t group = 0; group < native->alike_count; group++) {
        all += native->alike[group].count;
    }
    if (count < 2 || all > BZ_ALIKE_MAX || native->alike_count == BZ_ALIKE_GROUPS_MAX) {
        return;
    }
    struct bz_alike *alike = &native->alike[native->alike_count++];
    *alike = (struct bz_alike){.count = count, .array = tasks, .own = own, .own_bytes = own_bytes};
    memcpy(alike->tasks, tasks, count * sizeof tasks[0]);
}

void bz_world_interchange(struct bz_world *world, struct bz_task *const *tasks, uint32_t count) {
    bz_world_interchange_with(world, tasks, count, NULL, 0);
}

void bz_world_own_timer(struct bz_world *world, void (*fire)(struct bz_timer *timer)) {
    bz_native_of(world)->own_timer = fire;
}

void bz_world_own_callback(struct bz_world *world,
                           void (*fn)(struct bz_callback *callback, struct bz_future *future)) {
    bz_native_of(world)->own_callback = fn;
}

bool bz_world_has_waited(const struct bz_world *world) {
    const struct bz_shadow *shadow = &world->judge->shadow;
    const struct bz_shadow_task *task = &shadow->tasks[shadow->running];
    return !bz_world_is_marked_step(world) && ((task->wait == BZ_WAIT_FUTURE) | task->was_granted);
}

void bz_world_mark_step(struct bz_world *world) {
    bz_native_of(world)->marked_step = world->judge->step;
}

bool bz_world_is_marked_step(const struct bz_world *world) {
    return bz_native_of(world)->marked_step == world->judge->step;
}

/* --- memory ----------------------------------------------------------------------------------- */

#define REFUSAL_OF 4u /* one of so many allocations */

/* True if the running task is in an operation of an object that claims to survive it, or in a call
 * of which the program said so. */
static bool is_tested(const struct bz_native *native) {
    const struct bz_judge *judge = native->world.judge;
    const struct bz_shadow_task *task = &judge->shadow.tasks[judge->shadow.running];
    uint32_t object = judge->call.kind != 0 ? judge->call.object : task->object;
    return native->refusals->may_refuse ||
           (judge->shadow.objects[object].claims & BZ_CLAIM_SURVIVES_NO_MEMORY) != 0;
}

static bool refuses(void *context) {
    struct bz_native *native = context;
    struct bz_judge *judge = native->world.judge;
    struct bz_refusals *refusals = native->refusals;
    if (refusals->left == 0 || bz_judge_running(judge) == 0 || !is_tested(native) ||
        bz_judge_draw(judge, "no-memory", REFUSAL_OF) != 1) {
        return false;
    }
    refusals->left--;
    refusals->has_refused = true;
    return true;
}

void bz_native_let_refuse(struct bz_native *native, struct bz_refusals *refusals) {
    native->refusals = refusals;
    bz_mem_let_refuse(native->world.loop->mem, refusals == NULL ? NULL : refuses, native);
}

void bz_world_refuse_memory(struct bz_world *world, uint32_t count) {
    if (count > 0) {
        struct bz_refusals *refusals = bz_world_alloc(world, sizeof *refusals);
        refusals->left = count;
        bz_native_let_refuse(bz_native_of(world), refusals);
    }
}

void bz_world_may_refuse(struct bz_world *world, bool may_refuse) {
    struct bz_refusals *refusals = bz_native_of(world)->refusals;
    if (refusals != NULL) {
        refusals->may_refuse = may_refuse;
    }
}

bool bz_world_has_refused_memory(const struct bz_world *world) {
    const struct bz_refusals *refusals = bz_native_of(world)->refusals;
    return refusals != NULL && refusals->has_refused;
}

bool bz_world_is_refused(const struct bz_world *world, enum bz_status status) {
    return status == BZ_NO_MEMORY &&
           (bz_world_has_refused_memory(world) || world->variant->waiters_max > 0);
}

void *bz_world_alloc(struct bz_world *world, size_t size_bytes) {
    void *block = bz_mem_alloc(world->loop->mem, size_bytes);
    if (block == NULL) {
        bz_lack_stop(bz_mem_lacks_room(world->loop->mem) ? NULL
                                                         : "the " BZ_MEM_LIMIT_TEXT " of a loop",
                     "the state of a scenario");
    }
    return block;
}

const char *bz_world_name(struct bz_world *world, const char *name, const char *suffix) {
    size_t bytes = strlen(name) + strlen(suffix) + 1;
    char *copy = bz_mem_alloc(world->judge->shadow.mem, bytes);
    if (copy == NULL) {
        bz_lack_stop("the " BZ_MEM_LIMIT_TEXT " of a judge", "the names of tasks and objects");
    }
    snprintf(copy, bytes, "%s%s", name, suffix);
    return copy;
}

struct bz_task *bz_world_find_task(const struct bz_world *world, uint32_t id) {
    struct bz_task *task = bz_driver_next_task(world->loop, NULL);
    while (task != NULL && task->actor.id != id) {
        task = bz_driver_next_task(world->loop, task);
    }
    return task;
}
