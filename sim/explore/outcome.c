#include "sim/explore/outcome.h"

#include "sim/native/internal.h"

#define GONE 0xffu /* a task whose memory was given back */

static struct bz_fingerprint add(struct bz_fingerprint print, uint64_t word) {
    return bz_fingerprint_of(print, &word, sizeof word);
}

struct bz_fingerprint bz_outcome_of(const struct bz_world *world) {
    const struct bz_shadow *shadow = &world->judge->shadow;
    struct bz_fingerprint print = BZ_FINGERPRINT_BEGIN;
    for (uint32_t id = 1; id <= shadow->task_count; id++) {
        const struct bz_task *task = bz_world_find_task(world, id);
        print =
            add(print, task == NULL ? GONE : (uint64_t)task->done.state << 8u | task->done.status);
        print = add(print, shadow->tasks[id].holdings);
    }
    for (uint32_t number = 1; number <= shadow->object_count; number++) {
        print = add(print, shadow->objects[number].permits);
        print = add(print, shadow->objects[number].holders);
        print = add(print, shadow->objects[number].live);
    }
    return bz_fingerprint_end(print, shadow->unfinished);
}
