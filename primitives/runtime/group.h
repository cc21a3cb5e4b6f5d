/* A task group: asyncio.TaskGroup, built on cancel and uncancel.
 *
 *     struct bz_group group;
 *     status = bz_group_enter(loop, &group);
 *     if (status == BZ_OK) {
 *         status = bz_group_spawn(&group, "child", 1, child, arg, NULL);
 *         ... the rest of the body ...
 *         status = bz_group_exit(&group, status);        exactly one exit for each entry
 *     }
 *
 * The exit waits for every child. The first child that fails cancels its siblings and the body (the
 * parent task); a cancelled child cancels no other task. A body that fails or is cancelled cancels
 * the children. The exit returns BZ_FAILED if the body or a child failed (the group counts the
 * errors), BZ_CANCELLED if the parent was cancelled from outside, else BZ_OK.
 *
 * If a child fails and the parent is cancelled from outside as well, the exit returns BZ_FAILED,
 * and the parent's next await returns BZ_CANCELLED (asyncio 3.13, gh-116720).
 */
#ifndef BZ_RUNTIME_GROUP_H
#define BZ_RUNTIME_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "primitives/runtime/future.h"
#include "primitives/runtime/task.h"

BZ_BEGIN_DECLS

struct bz_group {
    struct bz_loop *loop;
    struct bz_task *parent;
    struct bz_list children; /* not yet freed, in order of creation */
    struct bz_future *empty; /* what the exit waits for, while it waits */
    uint32_t errors;         /* children and bodies that failed */
    enum bz_status first_error;
    bool is_exiting;
    bool is_aborting;
    bool has_cancelled_parent;
};

/* Opens a group of the running task. BZ_OK, or BZ_INVALID_STATE outside a task. */
enum bz_status bz_group_enter(struct bz_loop *loop, struct bz_group *group) BZ_MUST_USE;

/* Creates a child task, which the group owns; see bz_task_spawn(). `child`, if not NULL, receives a
 * pointer that is valid until the child is done; until then the child may be joined.
 * BZ_INVALID_STATE if the group aborts or is finished, or BZ_NO_MEMORY: no child is created. */
enum bz_status bz_group_spawn(struct bz_group *group, const char *name, uint32_t index,
                              bz_task_fn *fn, void *arg, struct bz_task **child) BZ_MUST_USE;

/* Closes the group; `status` is what the body returned. BZ_INVALID_STATE, and nothing is done, on a
 * second exit, or if another task entered the group. */
enum bz_status bz_group_exit(struct bz_group *group, enum bz_status status) BZ_MUST_USE;

BZ_END_DECLS

#endif
