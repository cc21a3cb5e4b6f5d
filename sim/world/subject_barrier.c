#include "sim/world/subject_barrier.h"

#include "primitives/runtime/check.h"
#include "sim/world/world.h"

enum bz_status bz_barrier_subject_init(struct bz_barrier_subject *subject, struct bz_world *world,
                                       const char *name, uint32_t parties) {
    const struct bz_barrier_ops *ops = world->config.variant->barrier;
    BZ_CHECK(parties > 0 && parties <= BZ_BARRIER_PARTIES_MAX);
    void *instance = bz_subject_instance(world, ops->instance_bytes);
    if (instance == NULL) {
        return BZ_NO_MEMORY;
    }
    *subject = (struct bz_barrier_subject){
        .world = world, .ops = ops, .instance = instance, .parties = parties};
    enum bz_status status = ops->init(instance, world->loop, parties);
    if (status == BZ_OK) {
        subject->object = bz_book_add_object(
            &world->book, (struct bz_object){.name = name,
                                             .instance = instance,
                                             .kind = BZ_OBJECT_BARRIER,
                                             .primitive = BZ_PRIMITIVE_BARRIER,
                                             .claims = world->config.variant->claims,
                                             .quorum = parties,
                                             .queued = ops->queued});
    }
    return status;
}

/* One more that the current round took. `index` counts only with BZ_OK. */
static void pass(struct bz_barrier_subject *subject, enum bz_status status, uint32_t index) {
    if (subject->passed % subject->parties == 0) {
        subject->indices = 0; /* the first of a new round */
    }
    subject->passed++;
    uint64_t rounds = (subject->passed + subject->parties - 1) / subject->parties;
    if (rounds * subject->parties > subject->arrived) {
        bz_subject_tell(subject->world, BZ_FACT_BAD_ROUND, subject->object, BZ_NO_TASK,
                        subject->arrived - (rounds - 1) * subject->parties);
    }
    if (status != BZ_OK) {
        return;
    }
    if (index >= subject->parties || (subject->indices >> index & 1u) != 0) {
        bz_subject_tell(subject->world, BZ_FACT_BAD_ROUND, subject->object, index, 0);
    }
    subject->indices |= index < subject->parties ? UINT64_C(1) << index : 0;
}

enum bz_status bz_barrier_subject_wait(struct bz_barrier_subject *subject, uint32_t *index) {
    struct bz_world *world = subject->world;
    uint32_t wakes_from = subject->world->step;
    uint32_t task = bz_world_current_task(world);
    uint32_t step = bz_subject_calls(world, subject->object, BZ_OP_WAIT);
    subject->arrived++;
    enum bz_status status = subject->ops->wait(subject->instance, index);
    bz_subject_wakes(world, subject->object); /* takes note of what was */
    bool was_woken = wakes_from != world->step && world->book.tasks[task].answer == BZ_ANSWER_WOKEN;
    bz_subject_returns(world, subject->object, BZ_OP_WAIT, step, status);
    if (status == BZ_OK || (status == BZ_CANCELLED && was_woken)) {
        pass(subject, status, *index);
    } else {
        subject->arrived--;
    }
    return status;
}

/* Who is inside now comes back with BZ_BROKEN, and is none of a later round. */
static void begin_anew(struct bz_barrier_subject *subject) {
    uint64_t inside = subject->arrived - subject->passed;
    subject->passed = 0;
    subject->indices = 0;
    subject->arrived = inside;
}

bool bz_barrier_subject_abort(struct bz_barrier_subject *subject) {
    if (subject->ops->abort == NULL) {
        return false;
    }
    bz_subject_does(subject->world, subject->object, BZ_OP_ABORT, 0);
    subject->ops->abort(subject->instance);
    begin_anew(subject);
    return true;
}

bool bz_barrier_subject_reset(struct bz_barrier_subject *subject) {
    if (subject->ops->reset == NULL) {
        return false;
    }
    bz_subject_does(subject->world, subject->object, BZ_OP_RESET, 0);
    subject->ops->reset(subject->instance);
    begin_anew(subject);
    return true;
}
