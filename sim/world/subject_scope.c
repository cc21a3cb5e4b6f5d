#include "sim/world/subject_scope.h"

#include "primitives/runtime/check.h"
#include "primitives/runtime/mem.h"
#include "primitives/runtime/timer.h"
#include "sim/world/world.h"

void bz_scope_subject_init(struct bz_scope_subject *subject, struct bz_world *world) {
    BZ_CHECK(world->config.variant->scope != NULL);
    *subject = (struct bz_scope_subject){.world = world, .ops = world->config.variant->scope};
}

/* The task's line in the book, with everything until now in it. */
static const struct bz_book_task *look_up(struct bz_world *world) {
    return &world->book.tasks[bz_world_current_task(world)];
}

enum bz_status bz_scope_subject_enter(struct bz_scope_subject *subject,
                                      struct bz_scope_entry *entry, struct bz_scope_entry *outer,
                                      uint64_t delay_ns) {
    struct bz_world *world = subject->world;
    void *scope = bz_subject_instance(world, subject->ops->scope_bytes);
    if (scope == NULL) {
        return BZ_NO_MEMORY;
    }
    const struct bz_book_task *task = look_up(world);
    *entry = (struct bz_scope_entry){
        .subject = subject,
        .outer = outer,
        .scope = scope,
        .task = bz_loop_current(world->loop),
        .due_ns = bz_time_after(bz_loop_now_ns(world->loop), delay_ns),
        .cancels = task->cancels,
        .was_pending = task->cancel_pending,
    };
    entry->cancelling = bz_task_cancelling(entry->task);
    enum bz_status status = subject->ops->enter(scope, world->loop, delay_ns);
    if (status != BZ_OK) {
        bz_mem_free(bz_loop_mem(world->loop), scope, subject->ops->scope_bytes);
    }
    return status;
}

static void tell(const struct bz_scope_entry *entry, enum bz_bad_count what, uint32_t due,
                 uint32_t count) {
    bz_subject_tell(entry->subject->world, BZ_FACT_BAD_COUNT, 0, what,
                    (uint64_t)due << 32u | count);
}

/* `due`: the count if nothing was taken back. */
static void judge(struct bz_scope_entry *entry, enum bz_status body, enum bz_status status) {
    struct bz_world *world = entry->subject->world;
    const struct bz_book_task *task = look_up(world);
    uint32_t requests = task->cancels - entry->cancels - entry->taken_back;
    uint32_t due = entry->cancelling + requests;
    uint32_t count = bz_task_cancelling(entry->task);
    bool has_taken = requests > 0 && count + 1 == due;
    bool has_turned = body == BZ_CANCELLED && status == BZ_TIMED_OUT;
    bool was_asked = entry->was_pending || requests > 1;
    if ((count != due && !has_taken) || (has_turned && !has_taken)) {
        tell(entry, BZ_BAD_COUNT_OFF, has_turned && requests > 0 ? due - 1 : due, count);
    } else if (has_taken && bz_loop_now_ns(world->loop) < entry->due_ns) {
        tell(entry, BZ_BAD_COUNT_EARLY, due, count);
    } else if (status != body && !has_turned) {
        tell(entry, BZ_BAD_COUNT_CHANGED, due, count);
    } else if (has_turned && was_asked && !task->cancel_pending) {
        tell(entry, BZ_BAD_COUNT_SWALLOWED, due - 1, count);
    } else if (has_taken && !was_asked && body == BZ_CANCELLED && !has_turned) {
        tell(entry, BZ_BAD_COUNT_UNSAID, due - 1, count);
    }
    if (entry->outer != NULL) {
        entry->outer->taken_back += entry->taken_back + has_taken;
    }
}

enum bz_status bz_scope_subject_exit(struct bz_scope_entry *entry, enum bz_status status) {
    struct bz_scope_subject *subject = entry->subject;
    enum bz_status result = subject->ops->exit(entry->scope, status);
    bz_mem_free(bz_loop_mem(subject->world->loop), entry->scope, subject->ops->scope_bytes);
    judge(entry, status, result);
    return result;
}
