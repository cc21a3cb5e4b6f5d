#include "sim/world/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "sim/world/world.h"

/* A snapshot begins with this; the loop's image follows. */
struct head {
    struct bz_book book;
    uint32_t cancels_left;
    uint32_t outside_is_past;
};

bool bz_snapshot_is_supported(void) {
    return bz_image_is_supported();
}

/* --- forgetting ------------------------------------------------------------------------------- */

/* What only the operation that it was in, or the release that it made, has a use for. */
static void forget_task(struct bz_book_task *task) {
    task->next_step = 0;
    task->over_released_before = 0;
    task->took_back = false;
    task->gave_up = false;
    if (task->phase != BZ_PHASE_SUSPENDED) {
        task->wait = 0;
        task->answer = 0;
        task->inside = 0;
    }
    if (task->op == BZ_OP_NONE) {
        task->arrival = 0;
        task->overtaken = 0;
        task->owes_wake = 0;
        task->was_granted = false;
        task->cancelled_in_op = false;
    }
}

/* Wake-ups so far count only where there is a number to hold them against. */
static void forget_wakes(struct bz_book *book, uint32_t number) {
    struct bz_object *object = &book->objects[number];
    for (uint32_t id = 1; id <= book->task_count; id++) {
        struct bz_book_task *task = &book->tasks[id];
        if (task->object == number && task->owes_wake > 0) {
            task->owes_wake = task->owes_wake > object->wakes ? task->owes_wake - object->wakes : 0;
        }
    }
    object->wakes_due = object->wakes_due - object->wakes;
    object->wakes = 0;
}

static void forget_object(struct bz_book *book, uint32_t number) {
    struct bz_object *object = &book->objects[number];
    bz_book_close_gaps(book, object);
    memset(object->line + object->line_end, 0,
           (object->line_capacity - object->line_end) * sizeof *object->line);
    object->handed_on = 0;
    object->return_task = 0;
    object->return_step = 0;
    object->return_status = 0;
    object->view = (struct bz_permit_view){0};
    object->had_last = 0;
    memset(object->handed, 0, sizeof object->handed);
    forget_wakes(book, number);
}

void bz_snapshot_forget(struct bz_world *world) {
    struct bz_book *book = &world->book;
    for (uint32_t id = 0; id <= book->task_count; id++) {
        forget_task(&book->tasks[id]);
    }
    for (uint32_t number = 1; number <= book->object_count; number++) {
        forget_object(book, number);
    }
    book->touched &= ~UINT64_C(1); /* that of no object; the others have been looked at */
    memset(book->far, 0, book->object_capacity * sizeof *book->far);
    book->grant = (struct bz_grant){0};
    book->refused = (struct bz_refusal){0};
    book->handoff_sum = 0;
    memset(book->detail, 0, sizeof book->detail);
    bz_tape_clear(&world->tape);
    if (world->draws_capacity > 0) {
        memset(world->draws, 0, world->draws_capacity * sizeof *world->draws);
    }
    world->digest = BZ_DIGEST_SEED;
    world->step = 0;
    world->marked_step = UINT32_MAX;
    world->point = 0;
    world->point_step = 0;
    world->progress_step = 0;
    bz_image_canonicalize(world->loop);
}

void bz_snapshot_wipe(struct bz_world *world) {
    bz_image_wipe(world->loop);
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

bool bz_snapshot_save(const struct bz_world *world, struct bz_snapshot *snapshot) {
    BZ_CHECK(world->call.kind == 0 && world->book.touched == 0 && world->book.far_count == 0);
    if (!reserve(snapshot, sizeof(struct head) + bz_image_bytes(world->loop))) {
        return false;
    }
    struct head head;
    memset(&head, 0, sizeof head); /* padding is compared, too */
    memcpy(&head.book, &world->book, sizeof head.book);
    head.cancels_left = world->cancels_left;
    head.outside_is_past = world->outside_is_past;
    memcpy(snapshot->bytes, &head, sizeof head);
    struct bz_image_layout layout;
    (void)bz_image_save(world->loop, snapshot->bytes + sizeof head, &layout);
    snapshot->state_bytes = sizeof head + layout.state_bytes;
    snapshot->queue_offset = sizeof head + layout.queue_offset;
    snapshot->queue_count = layout.queue_count;
    return true;
}

void bz_snapshot_restore(struct bz_world *world, const struct bz_snapshot *snapshot) {
    const struct head *head = (const struct head *)(const void *)snapshot->bytes;
    memcpy(&world->book, &head->book, sizeof world->book);
    world->cancels_left = head->cancels_left;
    world->outside_is_past = head->outside_is_past != 0;
    bz_image_restore(world->loop, snapshot->bytes + sizeof *head);
    world->call.kind = 0;
    world->step = 0;
    world->marked_step = UINT32_MAX;
    world->point = 0;
    world->point_step = 0;
    world->progress_step = 0;
    world->end = BZ_RUN_PASSED;
    world->is_stopped = false;
    world->violation.oracle = NULL;
    bz_tape_clear(&world->tape);
}

void bz_snapshot_fini(struct bz_snapshot *snapshot) {
    free(snapshot->bytes);
    *snapshot = (struct bz_snapshot){.bytes = NULL};
}
