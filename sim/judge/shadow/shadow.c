#include "sim/judge/shadow/shadow.h"

#include <string.h>

#include "primitives/runtime/mem.h"
#include "traces/lack.h"

#define TASK_CAPACITY_FIRST 8u
#define OBJECT_CAPACITY_FIRST 2u
#define LINE_CAPACITY_FIRST 16u

/* --- storage ---------------------------------------------------------------------------------- */

void *bz_shadow_new(struct bz_shadow *shadow, uint32_t count, size_t item_bytes) {
    void *array = bz_mem_alloc(shadow->mem, count * item_bytes);
    if (array == NULL) {
        bz_lack_stop(bz_mem_lacks_room(shadow->mem) ? NULL : "the " BZ_MEM_LIMIT_TEXT " of a judge",
                     "the tasks and objects of a run");
    }
    return array;
}

void *bz_shadow_double(struct bz_shadow *shadow, void *array, uint32_t *capacity,
                       size_t item_bytes) {
    size_t bytes = *capacity * item_bytes;
    void *larger = bz_shadow_new(shadow, 2 * *capacity, item_bytes);
    memcpy(larger, array, bytes);
    bz_mem_free(shadow->mem, array, bytes);
    *capacity *= 2;
    return larger;
}

void bz_shadow_begin(struct bz_shadow *shadow, struct bz_mem *mem) {
    *shadow = (struct bz_shadow){.mem = mem,
                                 .task_capacity = TASK_CAPACITY_FIRST,
                                 .object_capacity = OBJECT_CAPACITY_FIRST,
                                 .dirty_mask = BZ_DIRTY_ALONE};
    shadow->tasks = bz_shadow_new(shadow, TASK_CAPACITY_FIRST, sizeof *shadow->tasks);
    shadow->objects = bz_shadow_new(shadow, OBJECT_CAPACITY_FIRST, sizeof *shadow->objects);
}

static uint64_t dirty_mask(const struct bz_shadow *shadow) {
    bool is_alone = shadow->object_count < BZ_DIRTY_BITS && shadow->helpers == 0;
    return is_alone ? BZ_DIRTY_ALONE : UINT64_MAX;
}

/* The claims that the executable specification requires. */
#define CLAIMS_OF_SPEC (BZ_CLAIM_FIFO | BZ_CLAIM_NO_PASSING | BZ_CLAIM_WAKE_IS_GRANT)

uint32_t bz_shadow_add_object(struct bz_shadow *shadow, struct bz_shadow_object object) {
    if (shadow->object_count + 1 == shadow->object_capacity) {
        shadow->objects = bz_shadow_double(shadow, shadow->objects, &shadow->object_capacity,
                                           sizeof *shadow->objects);
    }
    object.line = bz_shadow_new(shadow, LINE_CAPACITY_FIRST, sizeof *object.line);
    object.line_capacity = LINE_CAPACITY_FIRST;
    object.is_strict = object.is_counted && (object.claims & BZ_CLAIM_NO_PASSING) != 0;
    object.over_released_by = BZ_NO_TASK;
    object.owner = BZ_NO_TASK;
    object.refines = object.look.view != NULL && object.kind == BZ_OBJECT_PERMITS &&
                     (object.claims & CLAIMS_OF_SPEC) == CLAIMS_OF_SPEC;
    if ((object.claims & BZ_CLAIM_LOCKED_EXACT) == 0 || object.look.view == NULL) {
        object.look.locked = NULL; /* it is not judged */
    }
    shadow->objects[++shadow->object_count] = object;
    shadow->dirty_mask = dirty_mask(shadow);
    return shadow->object_count;
}

void bz_shadow_add_task(struct bz_shadow *shadow, const char *name_base, uint32_t name_index) {
    uint32_t id = shadow->task_count + 1;
    if (id == shadow->task_capacity) {
        shadow->tasks =
            bz_shadow_double(shadow, shadow->tasks, &shadow->task_capacity, sizeof *shadow->tasks);
    }
    shadow->task_count = id;
    shadow->unfinished++;
    shadow->tasks[id] = (struct bz_shadow_task){.name_base = name_base,
                                                .name_index = name_index,
                                                .phase = BZ_PHASE_UNSTARTED,
                                                .next_step = 1};
}

/* Steps of helpers name no object, so after a step that named none all are judged. */
void bz_shadow_set_helper(struct bz_shadow *shadow, uint32_t id, bool is_helper) {
    struct bz_shadow_task *task = &shadow->tasks[id];
    if (task->is_helper != is_helper) {
        uint32_t more = is_helper ? 1 : UINT32_MAX;
        task->is_helper = is_helper;
        shadow->helpers += more;
        shadow->unfinished -= task->phase == BZ_PHASE_DONE ? 0 : more;
        shadow->dirty_mask = dirty_mask(shadow);
    }
}

/* --- lines of tasks, in order of arrival ------------------------------------------------------ */

/* True if the task that came to this place of the line is still inside that acquire. */
static inline bool is_inside(const struct bz_shadow *shadow, const struct bz_shadow_object *object,
                             uint32_t position) {
    const struct bz_shadow_task *task = &shadow->tasks[object->line[position]];
    return task->op != BZ_OP_NONE && task->arrival == position &&
           &shadow->objects[task->object] == object;
}

bool bz_shadow_stands_live(const struct bz_shadow *shadow, const struct bz_shadow_object *object,
                           uint32_t position) {
    return shadow->tasks[object->line[position]].is_live && is_inside(shadow, object, position);
}

bool bz_shadow_stands_woken(const struct bz_shadow *shadow, const struct bz_shadow_object *object,
                            uint32_t position) {
    const struct bz_shadow_task *task = &shadow->tasks[object->line[position]];
    return task->phase == BZ_PHASE_SUSPENDED && task->inside == BZ_INSIDE_WOKEN &&
           is_inside(shadow, object, position);
}

void bz_shadow_pass_over(struct bz_shadow *shadow, const struct bz_shadow_object *object) {
    for (uint32_t place = object->first_live; object->live > 0 && place < object->line_end;
         place++) {
        if (bz_shadow_stands_live(shadow, object, place)) {
            shadow->tasks[object->line[place]].was_passed_over = true;
        }
    }
}

uint32_t bz_shadow_passed_over(const struct bz_shadow *shadow,
                               const struct bz_shadow_object *object) {
    uint32_t count = 0;
    for (uint32_t place = object->first_live; object->live > 0 && place < object->line_end;
         place++) {
        count += bz_shadow_stands_live(shadow, object, place) &&
                 shadow->tasks[object->line[place]].was_passed_over;
    }
    return count;
}

uint32_t bz_shadow_oldest_live(const struct bz_shadow *shadow, struct bz_shadow_object *object) {
    if (object->live == 0) {
        return 0;
    }
    while (!bz_shadow_stands_live(shadow, object, object->first_live)) {
        object->first_live++;
    }
    return object->line[object->first_live];
}

uint32_t bz_shadow_newest_woken(const struct bz_shadow *shadow,
                                const struct bz_shadow_object *object) {
    for (uint32_t position = object->line_end; position-- > 0;) {
        if (bz_shadow_stands_woken(shadow, object, position)) {
            return object->line[position];
        }
    }
    return 0;
}

/* Gaps belong to tasks that are no longer inside acquire. */
void bz_shadow_close_gaps(struct bz_shadow *shadow, struct bz_shadow_object *object) {
    uint32_t count = 0;
    for (uint32_t position = 0; position < object->line_end; position++) {
        if (is_inside(shadow, object, position)) {
            uint32_t id = object->line[position];
            shadow->tasks[id].arrival = count;
            object->line[count++] = id;
        }
    }
    object->line_end = count;
    object->first_live = 0;
    object->first_woken = 0;
    object->handed_on = 0;
    shadow->line_moves++;
}

/* If there are few gaps, the line gets longer. */
static __attribute__((noinline, cold)) void make_room(struct bz_shadow *shadow,
                                                      struct bz_shadow_object *object) {
    bz_shadow_close_gaps(shadow, object);
    if (object->line_end > object->line_capacity / 2) {
        object->line =
            bz_shadow_double(shadow, object->line, &object->line_capacity, sizeof *object->line);
    }
}

void bz_shadow_join_line(struct bz_shadow *shadow, struct bz_shadow_object *object, uint32_t id) {
    if (object->line_end == object->line_capacity) {
        make_room(shadow, object);
    }
    object->line[object->line_end] = id;
    shadow->tasks[id].arrival = object->line_end++;
    shadow->tasks[id].is_live = true;
    object->live++;
}

void bz_shadow_wait_again(struct bz_shadow *shadow, uint32_t id) {
    struct bz_shadow_task *task = &shadow->tasks[id];
    struct bz_shadow_object *object = &shadow->objects[task->object];
    task->is_live = true;
    object->live++;
    if (task->arrival < object->first_live) {
        object->first_live = task->arrival;
    }
}

uint32_t bz_shadow_count_waiting_on(const struct bz_shadow *shadow) {
    uint32_t count = 0;
    for (uint32_t id = 1; id <= shadow->task_count; id++) {
        count += bz_shadow_waits_on(&shadow->tasks[id]);
    }
    return count;
}

/* --- hand-offs -------------------------------------------------------------------------------- */

void bz_shadow_add_handoff(struct bz_shadow *shadow, uint32_t number, uint32_t task) {
    uint64_t from = shadow->objects[number].had_last;
    shadow->handoff_sum += bz_seed_mix(bz_seed_mix(number) ^ (from << 32u | task));
}

void bz_shadow_take_in_order(struct bz_shadow *shadow, uint32_t number, uint32_t task) {
    struct bz_shadow_object *taken = &shadow->objects[number];
    for (uint32_t other = 1; taken->rank == BZ_RANK_OF_RUN && other <= shadow->object_count;
         other++) {
        struct bz_shadow_object *held = &shadow->objects[other];
        bool is_held = held->owner == task && held->rank == BZ_RANK_OF_RUN;
        held->followers |= (uint64_t)is_held << number % 64;
    }
    taken->owner = task;
}

uint64_t bz_shadow_handoffs(const struct bz_shadow *shadow) {
    uint64_t fingerprint = shadow->handoff_sum;
    for (uint32_t number = 1; number <= shadow->object_count; number++) {
        const uint64_t *handed = shadow->objects[number].handed;
        fingerprint =
            bz_digest_word(fingerprint, handed[0] + handed[1] * UINT64_C(0xd6e8feb86659fd93));
    }
    return bz_seed_mix(fingerprint);
}

/* --- windows ---------------------------------------------------------------------------------- */

/* The windows of a suspended task, by what it waits for and whether it holds a permit. */
#define SUSPENDED_STATES 8
#define IN_ANY_STATE(window)                                                                       \
    { window, window, window, window, window, window, window, window }

/* A table, without a branch on the state of a task that was picked at random. */
enum bz_window bz_shadow_window(const struct bz_shadow_task *task) {
    static const uint8_t windows[][2][SUSPENDED_STATES] = {
        /* no cancel is on its way; one is */
        [BZ_PHASE_UNSTARTED] = {IN_ANY_STATE(BZ_WINDOW_UNSTARTED),
                                IN_ANY_STATE(BZ_WINDOW_CANCELLING)},
        [BZ_PHASE_RUNNING] = {IN_ANY_STATE(BZ_WINDOW_RUNNING), IN_ANY_STATE(BZ_WINDOW_RUNNING)},
        [BZ_PHASE_DONE] = {IN_ANY_STATE(BZ_WINDOW_DONE), IN_ANY_STATE(BZ_WINDOW_DONE)},
        [BZ_PHASE_SUSPENDED] = {{BZ_WINDOW_SLEEPING, BZ_WINDOW_SLEEPING, BZ_WINDOW_WAITING,
                                 BZ_WINDOW_WOKEN, BZ_WINDOW_HOLDING, BZ_WINDOW_HOLDING,
                                 BZ_WINDOW_HOLDING, BZ_WINDOW_HOLDING},
                                IN_ANY_STATE(BZ_WINDOW_CANCELLING)},
    };
    bool is_decided = task->await != BZ_AWAIT_PENDING;
    bool waits_for_somebody = (task->wait == BZ_WAIT_FUTURE) | (task->wait == BZ_WAIT_JOIN);
    bool is_inside_op = (task->op != BZ_OP_NONE) & waits_for_somebody;
    bool is_holding = (task->holdings > 0) & !is_inside_op;
    unsigned state = is_decided | waits_for_somebody << 1u | is_holding << 2u;
    return (enum bz_window)windows[task->phase][task->cancel_pending][state];
}

enum bz_op bz_shadow_op(const struct bz_shadow_task *task) {
    static const uint8_t by_wait[] = {[BZ_WAIT_NONE] = BZ_OP_RUN,    [BZ_WAIT_FUTURE] = BZ_OP_AWAIT,
                                      [BZ_WAIT_YIELD] = BZ_OP_YIELD, [BZ_WAIT_SLEEP] = BZ_OP_SLEEP,
                                      [BZ_WAIT_JOIN] = BZ_OP_JOIN,   [BZ_WAIT_INSIDE] = BZ_OP_RUN};
    if (task->op != BZ_OP_NONE) {
        return (enum bz_op)task->op;
    }
    if (task->phase == BZ_PHASE_UNSTARTED) {
        return BZ_OP_START;
    }
    return task->phase == BZ_PHASE_SUSPENDED ? (enum bz_op)by_wait[task->wait] : BZ_OP_RUN;
}
