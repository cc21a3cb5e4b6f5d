/* The primitives that ship: two tasks share one permit of a semaphore, on the loop's own driver. */
#include "primitives/runtime/loop.h"
#include "primitives/runtime/task.h"
#include "primitives/sync/semaphore.h"

struct table {
    struct bz_loop *loop;
    struct bz_semaphore semaphore;
    int seated;
    int seated_max;
    int meals;
};

static enum bz_status guest(void *arg) {
    struct table *table = arg;
    enum bz_status status = bz_semaphore_acquire(&table->semaphore);
    if (status != BZ_OK) {
        return status;
    }
    table->seated++;
    table->seated_max = table->seated > table->seated_max ? table->seated : table->seated_max;
    status = bz_yield(table->loop);
    table->seated--;
    table->meals++;
    enum bz_status released = bz_semaphore_release(&table->semaphore);
    return status != BZ_OK ? status : released;
}

int main(void) {
    struct table table = {.loop = bz_loop_new(NULL)};
    if (table.loop == NULL) {
        return 1;
    }
    bz_semaphore_init(&table.semaphore, table.loop, 1);
    for (uint32_t i = 1; i <= 2; i++) {
        struct bz_task *task = bz_task_spawn(table.loop, "guest", i, guest, &table);
        if (task == NULL) {
            return 1;
        }
        bz_task_detach(task);
    }
    enum bz_status status = bz_loop_run(table.loop);
    bz_loop_destroy(table.loop);
    return status == BZ_OK && table.meals == 2 && table.seated_max == 1 ? 0 : 1;
}
