#include "sim/world/subject.h"

#include "primitives/runtime/check.h"
#include "primitives/runtime/mem.h"
#include "sim/world/world.h"

enum bz_status bz_subject_init(struct bz_subject *subject, struct bz_world *world,
                               enum bz_primitive primitive, const char *name, uint32_t permits) {
    const struct bz_variant *variant = world->config.variant;
    const struct bz_permit_ops *ops = variant->permits[primitive];
    BZ_CHECK(ops != NULL); /* whoever chose the variant has checked what it offers */
    if (primitive == BZ_PRIMITIVE_LOCK) {
        permits = 1;
    }
    void *instance = bz_mem_alloc(bz_loop_mem(world->loop), ops->instance_bytes);
    if (instance == NULL) {
        return BZ_NO_MEMORY;
    }
    enum bz_status status = ops->init(instance, world->loop, permits);
    *subject = (struct bz_subject){
        .world = world, .ops = ops, .instance = instance, .primitive = primitive};
    if (status == BZ_OK) {
        subject->object = bz_book_add_object(&world->book, name, primitive, ops, variant->claims,
                                             instance, permits);
    }
    return status;
}

static inline void announce(struct bz_subject *subject, enum bz_sim_event_kind kind, enum bz_op op,
                            enum bz_status status) {
    bz_world_event(subject->world, (struct bz_event){.kind = (uint8_t)kind,
                                                     .task = bz_world_current_task(subject->world),
                                                     .object = subject->object,
                                                     .detail = (uint8_t)op,
                                                     .status = (uint8_t)status});
}

/* Call and return with nothing in between are one event. An operation that filled the buffer to the
 * brim comes back to the same place, where the call no longer stands. */
static inline void announce_return(struct bz_subject *subject, enum bz_op op,
                                   enum bz_status status, const struct bz_event *call) {
    struct bz_observer *observer = &subject->world->observer;
    if (call != NULL && observer->next == call + 1 && call->kind == BZ_EVENT_CALL) {
        observer->next--;
    }
    announce(subject, BZ_EVENT_RETURN, op, status);
}

enum bz_status bz_subject_acquire(struct bz_subject *subject) {
    /* With room for the return, so that the two stand in one buffer. */
    struct bz_world *world = subject->world;
    if (world->observer.end - world->observer.next < 2) {
        bz_world_note_events(world);
    }
    const struct bz_event *call = world->observer.next;
    announce(subject, BZ_EVENT_CALL, BZ_OP_ACQUIRE, BZ_OK);
    uint32_t step = world->step;
    enum bz_status status = subject->ops->acquire(subject->instance);
    announce_return(subject, BZ_OP_ACQUIRE, status, world->step == step ? call : NULL);
    return status;
}

enum bz_status bz_subject_release(struct bz_subject *subject) {
    announce(subject, BZ_EVENT_CALL, BZ_OP_RELEASE, BZ_OK);
    enum bz_status status = subject->ops->release(subject->instance);
    if (status != BZ_OK) {
        announce(subject, BZ_EVENT_RETURN, BZ_OP_RELEASE, status);
    }
    return status;
}

void bz_subject_probe_misuse(struct bz_subject *subject) {
    const struct bz_object *object = &subject->world->book.objects[subject->object];
    bool refuses = (object->claims & BZ_CLAIM_REFUSES_MISUSE) != 0 &&
                   subject->primitive != BZ_PRIMITIVE_SEMAPHORE;
    if (refuses && object->holders == 0) {
        /* The oracle misuse judges the answer. */
        enum bz_status status = bz_subject_release(subject);
        (void)status;
    }
}
