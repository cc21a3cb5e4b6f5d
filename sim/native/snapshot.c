#include "sim/native/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "sim/native/internal.h"

/* A snapshot is the head, the blocks of the judge's arena, the loop's image and the record of the
 * judge's arena. */

bool bz_snapshot_is_supported(void) {
    return bz_image_is_supported();
}

/* --- forgetting ------------------------------------------------------------------------------- */

static void forget_task(struct bz_shadow_task *task) {
    bool is_inside = task->op != BZ_OP_NONE;
    bz_shadow_clear_task(task, BZ_LIFE_NEVER | (is_inside ? 0 : BZ_LIFE_OP) |
                                   (task->phase == BZ_PHASE_SUSPENDED ? 0 : BZ_LIFE_WAIT));
    task->called_step = is_inside ? UINT32_MAX : 0; /* it has waited */
}

/* Wake-ups so far matter only where they are compared with a number: with what a task is owed, and,
 * if the variant claims to count them, with those that are due. */
static void forget_wakes(struct bz_shadow *shadow, uint32_t number) {
    struct bz_shadow_object *object = &shadow->objects[number];
    for (uint32_t id = 1; id <= shadow->task_count; id++) {
        struct bz_shadow_task *task = &shadow->tasks[id];
        if (task->object == number && task->owes_wake > 0) {
            task->owes_wake = task->owes_wake > object->wakes ? task->owes_wake - object->wakes : 0;
        }
    }
    object->wakes_due = object->counts_wakes ? object->wakes_due - object->wakes : 0;
    object->wakes = 0;
}

static void forget_object(struct bz_shadow *shadow, uint32_t number) {
    struct bz_shadow_object *object = &shadow->objects[number];
    bz_shadow_close_gaps(shadow, object);
    memset(object->line + object->line_end, 0,
           (object->line_capacity - object->line_end) * sizeof *object->line);
    bz_shadow_clear_object(object, BZ_LIFE_NEVER);
    forget_wakes(shadow, number);
}

static void forget_shadow(struct bz_shadow *shadow) {
    for (uint32_t id = 0; id <= shadow->task_count; id++) {
        forget_task(&shadow->tasks[id]);
    }
    for (uint32_t number = 1; number <= shadow->object_count; number++) {
        forget_object(shadow, number);
    }
    shadow->handoff_sum = 0;
    shadow->line_moves = 0;
}

/* How often waiters were overtaken matters to `starvation` alone. */
static void forget_overtakings(struct bz_shadow *shadow) {
    for (uint32_t id = 0; id <= shadow->task_count; id++) {
        shadow->tasks[id].overtaken = 0;
    }
}

/* Steps and points are counted from 0 again. */
static void forget_steps(struct bz_native *native) {
    struct bz_judge *judge = native->world.judge;
    judge->step = 0;
    judge->point = 0;
    judge->point_step = 0;
    judge->progress_step = 0;
    judge->clock_step = 0;
    judge->injected_step = 0;
    bz_tape_clear(&judge->tape);
    native->marked_step = UINT32_MAX;
}

void bz_snapshot_normalize(struct bz_world *world) {
    struct bz_judge *judge = world->judge;
    forget_steps(bz_native_of(world));
    if (judge->config.ignores_starvation) {
        forget_overtakings(&judge->shadow);
    }
    forget_shadow(&judge->shadow);
    judge->refused = (struct bz_refusal){0};
    judge->digest = BZ_DIGEST_SEED;
    if (judge->draws_capacity > 0) {
        memset(judge->draws, 0, judge->draws_capacity * sizeof *judge->draws);
    }
    bz_image_normalize(world->loop);
}

void bz_snapshot_begin(struct bz_world *world, bool saves, bool compares) {
    bz_world_begin(world);
    bz_native_search(bz_native_of(world), compares);
    if (saves) {
        bz_arena_wipe(world->loop->mem);
        bz_arena_wipe(world->judge->shadow.mem);
    }
}

/* --- saving ----------------------------------------------------------------------------------- */

static bool reserve(struct bz_snapshot *snapshot, size_t bytes) {
    if (bytes <= snapshot->capacity) {
        return true;
    }
    char *larger = realloc(snapshot->bytes, 2 * bytes);
    if (larger == NULL) {
        return false;
    }
    snapshot->bytes = larger;
    snapshot->capacity = 2 * bytes;
    return true;
}

void bz_snapshot_look(const struct bz_world *world, struct bz_live_areas *live) {
    const struct bz_judge *judge = world->judge;
    const struct bz_mem *mem = judge->shadow.mem;
    const struct bz_loop *loop = world->loop;
    BZ_CHECK(judge->call.kind == 0 && judge->shadow.dirty == 0);
    memcpy(&live->head.shadow, &judge->shadow, sizeof live->head.shadow);
    live->head.now_ns = judge->now_ns;
    live->head.blocks_bytes = bz_arena_blocks_bytes(mem);
    live->head.live_blocks = loop->mem->live_blocks;
    live->head.cancels_left = judge->cancels_left;
    live->head.outside_is_past = bz_native_of(world)->outside_is_past;
    live->areas[BZ_AREA_HEAD] =
        (struct bz_snapshot_area){(const char *)&live->head, sizeof live->head};
    live->areas[BZ_AREA_SHADOW] =
        (struct bz_snapshot_area){bz_arena_blocks(mem), live->head.blocks_bytes};
    live->areas[BZ_AREA_LOOP] = (struct bz_snapshot_area){(const char *)loop, sizeof *loop};
    live->areas[BZ_AREA_BLOCKS] =
        (struct bz_snapshot_area){bz_arena_blocks(loop->mem), bz_arena_blocks_bytes(loop->mem)};
}

bool bz_snapshot_save(const struct bz_world *world, struct bz_snapshot *snapshot) {
    const struct bz_mem *mem = world->judge->shadow.mem;
    struct bz_live_areas live;
    bz_snapshot_look(world, &live);
    if (!reserve(snapshot, sizeof live.head + live.head.blocks_bytes + bz_image_bytes(world->loop) +
                               bz_arena_record_bytes(mem))) {
        return false;
    }
    memcpy(snapshot->bytes, &live.head, sizeof live.head);
    snapshot->lag_ns = world->judge->lag_ns;
    char *image = bz_arena_save_blocks(mem, snapshot->bytes + sizeof live.head);
    size_t image_bytes = bz_image_save(world->loop, image, &snapshot->layout);
    (void)bz_arena_save_record(mem, image + image_bytes);
    snapshot->record = image + image_bytes;
    snapshot->image = image;
    snapshot->state_bytes = (size_t)(image - snapshot->bytes) + snapshot->layout.state_bytes;
    snapshot->areas[BZ_AREA_HEAD].bytes = snapshot->bytes;
    snapshot->areas[BZ_AREA_SHADOW].bytes = snapshot->bytes + sizeof live.head;
    snapshot->areas[BZ_AREA_LOOP].bytes = image;
    snapshot->areas[BZ_AREA_BLOCKS].bytes = image + sizeof *world->loop;
    for (int area = 0; area < BZ_AREAS; area++) {
        snapshot->areas[area].count = live.areas[area].count;
    }
    return true;
}

void bz_snapshot_restore(struct bz_world *world, const struct bz_snapshot *snapshot) {
    const struct bz_snapshot_head *head =
        (const struct bz_snapshot_head *)(const void *)snapshot->bytes;
    struct bz_native *native = bz_native_of(world);
    struct bz_judge *judge = world->judge;
    memcpy(&judge->shadow, &head->shadow, sizeof judge->shadow);
    judge->now_ns = head->now_ns;
    judge->cancels_left = head->cancels_left;
    judge->lag_ns = snapshot->lag_ns;
    native->outside_is_past = head->outside_is_past != 0;
    (void)bz_arena_restore_blocks(judge->shadow.mem, snapshot->bytes + sizeof *head,
                                  head->blocks_bytes);
    bz_image_restore(world->loop, snapshot->image, &snapshot->layout);
    (void)bz_arena_restore_record(judge->shadow.mem, snapshot->record);
    judge->call.kind = 0;
    judge->end = BZ_RUN_PASSED;
    judge->is_stopped = false;
    judge->overtime.is_livelock = false; /* bz_judge_exhaust() */
    judge->violation.oracle = NULL;
    forget_steps(native);
}

void bz_snapshot_fini(struct bz_snapshot *snapshot) {
    free(snapshot->bytes);
    *snapshot = (struct bz_snapshot){.bytes = NULL};
}
