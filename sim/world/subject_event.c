#include "sim/world/subject_event.h"

#include "sim/world/world.h"

enum bz_status bz_event_subject_init(struct bz_event_subject *subject, struct bz_world *world,
                                     const char *name) {
    const struct bz_event_ops *ops = world->config.variant->event;
    void *instance = bz_subject_instance(world, ops->instance_bytes);
    if (instance == NULL) {
        return BZ_NO_MEMORY;
    }
    *subject = (struct bz_event_subject){.world = world, .ops = ops, .instance = instance};
    enum bz_status status = ops->init(instance, world->loop);
    if (status == BZ_OK) {
        subject->object = bz_book_add_object(
            &world->book, (struct bz_object){.name = name,
                                             .instance = instance,
                                             .kind = BZ_OBJECT_EVENT,
                                             .primitive = BZ_PRIMITIVE_EVENT,
                                             .claims = bz_variant_claims(world->config.variant,
                                                                         BZ_PRIMITIVE_EVENT),
                                             .queued = ops->queued});
    }
    return status;
}

void bz_event_subject_set(struct bz_event_subject *subject) {
    struct bz_world *world = subject->world;
    bz_subject_does(world, subject->object, BZ_OP_SET, 0);
    const struct bz_object *before = &world->book.objects[subject->object];
    uint32_t due = before->waiting < before->live ? before->waiting : before->live; /* none polls */
    uint32_t wakes = bz_subject_wakes(world, subject->object);
    subject->ops->set(subject->instance);
    uint32_t woken = bz_subject_wakes(world, subject->object) - wakes;
    world->book.objects[subject->object].permits = 1;
    if (woken < due) {
        bz_subject_tell(world, BZ_FACT_UNNOTIFIED, subject->object, woken, due);
    }
}

void bz_event_subject_clear(struct bz_event_subject *subject) {
    bz_subject_does(subject->world, subject->object, BZ_OP_CLEAR, 0);
    subject->ops->clear(subject->instance);
    subject->world->book.objects[subject->object].permits = 0;
}
