#include "sim/world/subject_condition.h"

#include "primitives/runtime/check.h"
#include "sim/world/world.h"

enum bz_status bz_condition_subject_init(struct bz_condition_subject *subject,
                                         struct bz_world *world, const char *name,
                                         const char *lock_name) {
    const struct bz_condition_ops *ops = world->config.variant->condition;
    uint32_t claims = bz_variant_claims(world->config.variant, BZ_PRIMITIVE_CONDITION);
    bool counts_wakes = (claims & BZ_CLAIM_EXACT_NOTIFY) != 0;
    void *instance = bz_subject_instance(world, ops->instance_bytes);
    if (instance == NULL) {
        return BZ_NO_MEMORY;
    }
    *subject = (struct bz_condition_subject){.world = world, .ops = ops, .instance = instance};
    enum bz_status status = ops->init(instance, world->loop);
    if (status != BZ_OK) {
        return status;
    }
    subject->lock = bz_book_add_object(
        &world->book, (struct bz_object){.name = lock_name,
                                         .instance = instance,
                                         .kind = BZ_OBJECT_PERMITS,
                                         .primitive = BZ_PRIMITIVE_LOCK,
                                         .claims = claims & ~(BZ_CLAIM_FIFO | BZ_CLAIM_NO_PASSING |
                                                              BZ_CLAIM_WORK_CONSERVING),
                                         .permits = 1,
                                         .is_counted = true,
                                         .is_owned = true,
                                         .never_stuck = true});
    subject->object =
        bz_book_add_object(&world->book, (struct bz_object){.name = name,
                                                            .instance = instance,
                                                            .kind = BZ_OBJECT_CONDITION,
                                                            .primitive = BZ_PRIMITIVE_CONDITION,
                                                            .claims = claims,
                                                            .counts_wakes = counts_wakes,
                                                            .queued = ops->queued});
    return BZ_OK;
}

enum bz_status bz_condition_subject_release(struct bz_condition_subject *subject) {
    bz_subject_calls_release(subject->world, subject->lock);
    enum bz_status status = subject->ops->release(subject->instance);
    if (status != BZ_OK) {
        bz_subject_refused(subject->world, subject->lock, status);
    }
    return status;
}

/* The book's side of what the wait does with the lock. */
static void lend_lock(struct bz_condition_subject *subject, bool is_back) {
    struct bz_book *book = &subject->world->book;
    uint32_t task = bz_world_current_task(subject->world);
    book->objects[subject->lock].holders += is_back ? 1u : UINT64_MAX;
    book->tasks[task].holdings += is_back ? 1u : UINT32_MAX;
}

/* Who was notified and cancelled owes the notification to somebody who still waits; unless the wait
 * says OK all the same: then it kept the notification, and the cancellation is what was lost. */
static void collect_debt(struct bz_condition_subject *subject, uint32_t task,
                         enum bz_status status) {
    struct bz_book *book = &subject->world->book;
    uint32_t wakes = bz_subject_wakes(subject->world, subject->object);
    uint32_t live = book->objects[subject->object].live;
    if (status != BZ_OK && book->tasks[task].owes_wake > wakes && live > 0) {
        bz_subject_tell(subject->world, BZ_FACT_UNNOTIFIED, subject->object, 0, 1);
    }
    book->tasks[task].owes_wake = 0;
}

/* Nobody holds the lock: who claims to, refuses to wait and to notify. */
static void judge_use(struct bz_condition_subject *subject, bool is_free, enum bz_status status) {
    const struct bz_object *object = &subject->world->book.objects[subject->object];
    bool is_refused = status == BZ_NOT_HELD;
    if ((object->claims & BZ_CLAIM_REFUSES_MISUSE) != 0 && is_refused != is_free) {
        bz_subject_tell(subject->world, BZ_FACT_MISUSED, subject->object, (uint64_t)status, 0);
    }
}

enum bz_status bz_condition_subject_misuse(struct bz_condition_subject *subject) {
    struct bz_world *world = subject->world;
    BZ_CHECK(world->book.objects[subject->lock].holders == 0);
    uint32_t step = bz_subject_calls(world, subject->object, BZ_OP_WAIT);
    enum bz_status status = subject->ops->wait(subject->instance);
    bz_subject_returns(world, subject->object, BZ_OP_WAIT, step, status);
    judge_use(subject, true, status);
    return status;
}

enum bz_status bz_condition_subject_wait(struct bz_condition_subject *subject) {
    struct bz_world *world = subject->world;
    struct bz_book *book = &world->book;
    uint32_t task = bz_world_current_task(world);
    uint32_t step = bz_subject_calls(world, subject->object, BZ_OP_WAIT);
    book->tasks[task].owes_wake = 0;
    lend_lock(subject, false);
    enum bz_status status = subject->ops->wait(subject->instance);
    bool others_hold = book->objects[subject->lock].holders > 0;
    bool is_locked = subject->ops->locked(subject->instance);
    lend_lock(subject, true);
    collect_debt(subject, task, status);
    bz_subject_returns(world, subject->object, BZ_OP_WAIT, step, status);
    if (others_hold || !is_locked) {
        bz_subject_tell(world, BZ_FACT_UNLOCKED, subject->object, others_hold, (uint64_t)status);
    }
    return status;
}

enum bz_status bz_condition_subject_notify(struct bz_condition_subject *subject, uint32_t count) {
    struct bz_world *world = subject->world;
    bz_subject_does(world, subject->object, BZ_OP_NOTIFY, count);
    uint32_t live = world->book.objects[subject->object].live;
    uint32_t wakes = bz_subject_wakes(world, subject->object);
    bool is_free = world->book.objects[subject->lock].holders == 0;
    enum bz_status status = subject->ops->notify(subject->instance, count);
    uint32_t woken = bz_subject_wakes(world, subject->object) - wakes;
    uint32_t due = count < live ? count : live;
    uint32_t leaving = world->book.objects[subject->object].cancelled; /* may pass theirs on */
    world->book.objects[subject->object].wakes_due += status == BZ_OK ? due : 0;
    judge_use(subject, is_free, status);
    if (status == BZ_OK && woken + leaving < due) {
        bz_subject_tell(world, BZ_FACT_UNNOTIFIED, subject->object, woken, due);
    }
    return status;
}
