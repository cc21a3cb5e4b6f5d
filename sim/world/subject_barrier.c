#include "sim/world/subject_barrier.h"

#include <string.h>

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
                                             .claims = bz_variant_claims(world->config.variant,
                                                                         BZ_PRIMITIVE_BARRIER),
                                             .quorum = parties,
                                             .queued = ops->queued});
    }
    return status;
}

/* Somebody passes, as one of a round that was complete. */
static void pass(struct bz_barrier_subject *subject, uint32_t index) {
    uint64_t rounds = subject->arrived / subject->parties; /* that can have been complete by now */
    subject->passed++;
    if (subject->passed > rounds * subject->parties) {
        bz_subject_tell(subject->world, BZ_FACT_BAD_ROUND, subject->object, BZ_NO_TASK,
                        subject->arrived - rounds * subject->parties);
    }
    if (index >= subject->parties || ++subject->given[index] > rounds) {
        bz_subject_tell(subject->world, BZ_FACT_BAD_ROUND, subject->object, index, 0);
    }
}

static uint32_t steps_of(struct bz_world *world, uint32_t task) {
    return world->book.tasks[task].next_step;
}

enum bz_status bz_barrier_subject_wait(struct bz_barrier_subject *subject, uint32_t *index) {
    struct bz_world *world = subject->world;
    uint32_t task = bz_world_current_task(world);
    uint32_t steps = steps_of(world, task);
    uint32_t breaks = subject->breaks;
    uint32_t step = bz_subject_calls(world, subject->object, BZ_OP_WAIT);
    subject->arrived++;
    enum bz_status status = subject->ops->wait(subject->instance, index);
    bz_subject_wakes(world, subject->object); /* takes note of what was */
    bool was_woken = world->book.tasks[task].answer == BZ_ANSWER_WOKEN ||
                     steps_of(world, task) > steps + 1; /* cancelled in a later wait of its own */
    bz_subject_returns(world, subject->object, BZ_OP_WAIT, step, status);
    if (status == BZ_OK && breaks == subject->breaks) {
        pass(subject, *index);
    } else if (status != BZ_OK && (status != BZ_CANCELLED || !was_woken)) {
        subject->arrived--;
    }
    return status;
}

/* Who is inside comes back with BZ_BROKEN, or is held back for a later round, or passes as one of a
 * round that was complete before. */
static void begin_anew(struct bz_barrier_subject *subject) {
    subject->breaks++;
    subject->arrived -= subject->passed;
    subject->passed = 0;
    memset(subject->given, 0, sizeof subject->given);
}

bool bz_barrier_subject_abort(struct bz_barrier_subject *subject) {
    if (subject->ops->abort == NULL) {
        return false;
    }
    bz_subject_does(subject->world, subject->object, BZ_OP_ABORT, 0);
    begin_anew(subject);
    subject->ops->abort(subject->instance);
    return true;
}

bool bz_barrier_subject_reset(struct bz_barrier_subject *subject) {
    if (subject->ops->reset == NULL) {
        return false;
    }
    bz_subject_does(subject->world, subject->object, BZ_OP_RESET, 0);
    begin_anew(subject);
    subject->ops->reset(subject->instance);
    return true;
}
