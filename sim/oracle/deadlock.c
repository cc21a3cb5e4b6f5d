/* deadlock: nothing can ever run again, and tasks have not ended. A pending timer is no deadlock:
 * the clock would have moved on to it. */
#include <stdio.h>

#include "sim/oracle/oracle.h"
#include "sim/world/world.h"

#define NAMED_MAX 4u

static void on_end(struct bz_world *world) {
    const struct bz_book *book = &world->book;
    if (book->unfinished == 0 || world->end == BZ_RUN_OUT_OF_STEPS) {
        return;
    }
    char list[BZ_MESSAGE_BYTES / 2] = "";
    size_t used = 0;
    uint32_t named = 0;
    uint32_t first = 0;
    for (uint32_t id = 1; id <= book->task_count && named < NAMED_MAX; id++) {
        const struct bz_book_task *task = &book->tasks[id];
        if (task->phase == BZ_PHASE_DONE) {
            continue;
        }
        char name[64];
        const char *object = task->object == 0 ? "" : book->objects[task->object].name;
        first = first == 0 ? id : first;
        int written =
            snprintf(list + used, sizeof list - used, "%s%s (in %s%s%s)", named == 0 ? "" : ", ",
                     bz_world_task_name(world, id, name, sizeof name), bz_op_name(bz_book_op(task)),
                     *object == '\0' ? "" : " of ", object);
        named++;
        used += written > 0 ? (size_t)written : 0;
        if (used >= sizeof list) {
            break;
        }
    }
    bz_world_violate(world, bz_oracle_deadlock.name, first, book->tasks[first].object,
                     "nothing can run and %u task(s) have not ended: %s%s", book->unfinished, list,
                     book->unfinished > named ? ", ..." : "");
}

const struct bz_monitor bz_oracle_deadlock = {
    .name = "deadlock",
    .summary = "nothing can ever run and live tasks wait",
    .on_end = on_end,
};
