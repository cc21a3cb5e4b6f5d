/* The live driver: a task sleeps on libuv's clock. */
#define _XOPEN_SOURCE 600 /* for libuv's header under -std=c11 */

#include "primitives/runtime/task.h"
#include "primitives/uv/driver.h"

static enum bz_status sleeper(void *loop) {
    return bz_sleep(loop, 1000000);
}

int main(void) {
    uv_loop_t uv;
    struct bz_uv *driver;
    struct bz_loop *loop = bz_loop_new(NULL);
    if (loop == NULL || uv_loop_init(&uv) != 0 || bz_uv_new(&driver, loop, &uv) != 0) {
        return 1;
    }
    struct bz_task *task = bz_task_spawn(loop, "sleeper", 0, sleeper, loop);
    if (task == NULL) {
        return 1;
    }
    bz_task_detach(task);
    enum bz_status status = bz_uv_run(driver);
    bz_uv_close(driver);
    uv_run(&uv, UV_RUN_DEFAULT);
    int error = uv_loop_close(&uv);
    bz_loop_destroy(loop);
    return status == BZ_OK && error == 0 ? 0 : 1;
}
