#include "sim/world/subject.h"

#include <string.h>

#include "primitives/runtime/check.h"
#include "primitives/runtime/mem.h"
#include "sim/world/note.h"

#define SCRUBBED_BYTES 1024u

/* --- what all subjects have in common --------------------------------------------------------- */

void *bz_subject_instance(struct bz_world *world, size_t instance_bytes) {
    return bz_mem_alloc(bz_loop_mem(world->loop), instance_bytes);
}

static inline __attribute__((always_inline)) struct bz_event
event_of(const struct bz_world *world, enum bz_sim_event_kind kind, uint32_t object, enum bz_op op,
         enum bz_status status) {
    return (struct bz_event){.kind = (uint8_t)kind,
                             .task = bz_world_current_task(world),
                             .object = object,
                             .detail = (uint8_t)op,
                             .status = (uint8_t)status};
}

/* Clears what earlier calls have left below the running task's frames. The operation may suspend
 * the task, with frames over it that are not all written: who compares states would take two that
 * differ in such leftovers for different ones. Hands `step` through, so that its caller ends with
 * it, and need not save a register for it. */
static __attribute__((noinline, cold)) uint32_t scrub_stack(uint32_t step) {
    char leftovers[SCRUBBED_BYTES];
    memset(leftovers, 0, sizeof leftovers);
    __asm__ volatile("" : : "r"(leftovers) : "memory"); /* it is written, and for good */
    return step;
}

__attribute__((hot)) uint32_t bz_subject_calls(struct bz_world *world, uint32_t object,
                                               enum bz_op op) {
    bz_note_call(world);
    world->call = event_of(world, BZ_EVENT_CALL, object, op, BZ_OK);
    if (__builtin_expect(world->is_searched, 0)) {
        return scrub_stack(world->step);
    }
    return world->step;
}

/* Other things happened since the call: mostly, it was suspended. */
__attribute__((hot)) static __attribute__((noinline)) void
returns_late(struct bz_world *world, uint32_t object, enum bz_op op, enum bz_status status) {
    uint32_t task = bz_world_current_task(world);
    bz_note_call(world);
    bz_book_on_return(&world->book, task, object, op, status, world->step);
    if (status == BZ_OK) {
        bz_book_hand_over(&world->book, object, task);
    }
    world->progress_step = world->step;
    bz_note_noted(world, event_of(world, BZ_EVENT_RETURN, object, op, status));
}

static __attribute__((noinline, cold)) void judge_at_once(struct bz_world *world,
                                                          struct bz_event event) {
    if (event.status == BZ_OK) {
        bz_book_hand_over(&world->book, event.object, event.task);
    }
    bz_book_judge_at_once(&world->book, event);
    if (world->book.facts != 0) {
        bz_note_tell(world, event);
    }
}

/* What is rare comes last, so that the rest needs no registers saved. */
__attribute__((hot)) void bz_subject_returns(struct bz_world *world, uint32_t object, enum bz_op op,
                                             uint32_t called_in_step, enum bz_status status) {
    if (world->step != called_in_step || world->call.kind == 0) {
        returns_late(world, object, op, status);
        return;
    }
    struct bz_event event = event_of(world, BZ_EVENT_RETURN, object, op, status);
    world->call.kind = 0;
    world->progress_step = world->step;
    world->digest = bz_digest_event(world->digest, event);
    if (__builtin_expect(bz_book_on_return_at_once(&world->book, event, world->step), 0)) {
        judge_at_once(world, event);
    }
}

void bz_subject_does(struct bz_world *world, uint32_t object, enum bz_op op, uint32_t arg) {
    bz_note_call(world);
    struct bz_event event = event_of(world, BZ_EVENT_CALL, object, op, BZ_OK);
    event.arg = arg;
    bz_book_touch(&world->book, object)->had_last = event.task;
    world->progress_step = world->step;
    bz_note_noted(world, event);
}

uint32_t bz_subject_wakes(struct bz_world *world, uint32_t object) {
    bz_note_call(world);
    return world->book.objects[object].wakes;
}

void bz_subject_tell(struct bz_world *world, uint32_t fact, uint32_t object, uint64_t detail_0,
                     uint64_t detail_1) {
    bz_note_call(world);
    world->book.detail[0] = detail_0;
    world->book.detail[1] = detail_1;
    bz_note_tell_facts(world, fact, bz_world_current_task(world), object);
}

/* --- permits ---------------------------------------------------------------------------------- */

enum bz_status bz_subject_init(struct bz_subject *subject, struct bz_world *world,
                               enum bz_primitive primitive, const char *name, uint32_t permits) {
    const struct bz_variant *variant = world->config.variant;
    BZ_CHECK(primitive < BZ_PERMIT_PRIMITIVES && variant->permits[primitive] != NULL);
    const struct bz_permit_ops *ops = variant->permits[primitive];
    if (primitive == BZ_PRIMITIVE_LOCK) {
        permits = 1;
    }
    void *instance = bz_subject_instance(world, ops->instance_bytes);
    if (instance == NULL) {
        return BZ_NO_MEMORY;
    }
    enum bz_status status = ops->init(instance, world->loop, permits);
    *subject = (struct bz_subject){
        .world = world, .ops = ops, .instance = instance, .primitive = primitive};
    if (status == BZ_OK) {
        subject->object = bz_book_add_object(
            &world->book, (struct bz_object){.name = name,
                                             .ops = ops,
                                             .instance = instance,
                                             .kind = BZ_OBJECT_PERMITS,
                                             .primitive = primitive,
                                             .claims = bz_variant_claims(variant, primitive),
                                             .permits = permits,
                                             .is_counted = true,
                                             .is_owned = true});
    }
    return status;
}

__attribute__((hot)) void bz_subject_calls_release(struct bz_world *world, uint32_t object) {
    bz_note_call(world);
    struct bz_event event = event_of(world, BZ_EVENT_CALL, object, BZ_OP_RELEASE, BZ_OK);
    bz_book_on_release(&world->book, event);
    world->progress_step = world->step;
    bz_note_noted(world, event);
}

void bz_subject_refused(struct bz_world *world, uint32_t object, enum bz_status status) {
    bz_note_call(world);
    bz_book_on_return(&world->book, bz_world_current_task(world), object, BZ_OP_RELEASE, status,
                      world->step);
    bz_note_noted(world, event_of(world, BZ_EVENT_RETURN, object, BZ_OP_RELEASE, status));
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
