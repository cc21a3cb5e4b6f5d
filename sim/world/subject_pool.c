#include "sim/world/subject_pool.h"

#include "primitives/runtime/check.h"
#include "sim/world/world.h"

enum bz_status bz_pool_subject_init(struct bz_pool_subject *subject, struct bz_world *world,
                                    const char *name, uint32_t keys) {
    const struct bz_pool_ops *ops = world->config.variant->pool;
    BZ_CHECK(keys > 0);
    void *instance = bz_subject_instance(world, ops->instance_bytes);
    if (instance == NULL) {
        return BZ_NO_MEMORY;
    }
    *subject =
        (struct bz_pool_subject){.world = world, .ops = ops, .instance = instance, .keys = keys};
    enum bz_status status = ops->init(instance, world->loop);
    for (uint32_t key = 0; key < keys && status == BZ_OK; key++) {
        uint32_t object = bz_book_add_object(
            &world->book, (struct bz_object){
                              .name = name,
                              .instance = instance,
                              .kind = BZ_OBJECT_PERMITS,
                              .primitive = BZ_PRIMITIVE_POOL,
                              .claims = bz_variant_claims(world->config.variant, BZ_PRIMITIVE_POOL),
                              .permits = 1,
                              .is_counted = true,
                              .is_owned = true});
        subject->first_object = key == 0 ? object : subject->first_object;
    }
    return status;
}

enum bz_status bz_pool_subject_release(struct bz_pool_subject *subject, uint32_t key) {
    uint32_t object = subject->first_object + key;
    bz_subject_calls_release(subject->world, object);
    enum bz_status status = subject->ops->release(subject->instance, key);
    if (status != BZ_OK) {
        bz_subject_refused(subject->world, object, status);
    }
    return status;
}

void bz_pool_subject_finish(struct bz_pool_subject *subject) {
    if (subject->ops->entries != NULL && subject->ops->entries(subject->instance) > 0) {
        bz_subject_tell(subject->world, BZ_FACT_BAD_ENTRY, subject->first_object,
                        subject->ops->entries(subject->instance), 0);
    }
}
