/* The example of primitives/README.md: two tables and five guests, none of whom waits for more than
 * three milliseconds. */
#include <stdio.h>

#include "primitives/runtime/group.h"
#include "primitives/runtime/loop.h"
#include "primitives/runtime/timeout.h"
#include "primitives/sync/semaphore.h"

#define MS UINT64_C(1000000)

struct restaurant {
    struct bz_loop *loop;
    struct bz_semaphore tables;
    unsigned seated;
};

static enum bz_status guest(void *arg) {
    struct restaurant *restaurant = arg;
    struct bz_timeout patience;
    enum bz_status status = bz_timeout_enter(restaurant->loop, &patience, 3 * MS);
    if (status != BZ_OK) {
        return status;
    }
    status = bz_timeout_exit(&patience, bz_semaphore_acquire(&restaurant->tables));
    if (status == BZ_TIMED_OUT) {
        return BZ_OK; /* no table in time: holds nothing */
    }
    if (status != BZ_OK) {
        return status; /* cancelled: holds nothing */
    }
    restaurant->seated++;
    status = bz_sleep(restaurant->loop, 2 * MS);
    enum bz_status released = bz_semaphore_release(&restaurant->tables);
    return status == BZ_OK ? released : status; /* released on every path */
}

static enum bz_status evening(void *arg) {
    struct restaurant *restaurant = arg;
    struct bz_group group;
    enum bz_status status = bz_group_enter(restaurant->loop, &group);
    if (status != BZ_OK) {
        return status;
    }
    for (unsigned number = 1; status == BZ_OK && number <= 5; number++) {
        status = bz_group_spawn(&group, "guest", number, guest, restaurant, NULL);
    }
    return bz_group_exit(&group, status);
}

int main(void) {
    struct restaurant restaurant = {.loop = bz_loop_new(NULL)};
    if (restaurant.loop == NULL) {
        return 1;
    }
    bz_semaphore_init_bounded(&restaurant.tables, restaurant.loop, 2);
    struct bz_task *task = bz_task_spawn(restaurant.loop, "evening", 0, evening, &restaurant);
    if (task == NULL) {
        return 1;
    }
    enum bz_status status = bz_loop_run(restaurant.loop);
    if (status == BZ_OK) {
        status = bz_task_join(task); /* it has ended, so this does not suspend */
    }
    printf("%s, %u guests had a table\n", bz_status_name(status), restaurant.seated);
    bz_task_free(task);
    bz_loop_destroy(restaurant.loop);
    return status == BZ_OK ? 0 : 1;
}
