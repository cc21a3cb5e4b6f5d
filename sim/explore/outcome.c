#include "sim/explore/outcome.h"

#include "primitives/runtime/driver.h"
#include "sim/world/world.h"

#define GONE 0xffu /* a task whose memory was given back */

static struct bz_fingerprint add(struct bz_fingerprint print, uint64_t word) {
    return bz_fingerprint_of(print, &word, sizeof word);
}

struct bz_fingerprint bz_outcome_of(const struct bz_world *world) {
    const struct bz_book *book = &world->book;
    struct bz_fingerprint print = BZ_FINGERPRINT_BEGIN;
    for (uint32_t id = 1; id <= book->task_count; id++) {
        const struct bz_task *task = bz_world_find_task(world, id);
        print =
            add(print, task == NULL ? GONE : (uint64_t)task->done.state << 8u | task->done.status);
        print = add(print, book->tasks[id].holdings);
    }
    for (uint32_t number = 1; number <= book->object_count; number++) {
        print = add(print, book->objects[number].permits);
        print = add(print, book->objects[number].holders);
        print = add(print, book->objects[number].live);
    }
    return bz_fingerprint_end(print, book->unfinished);
}
