#include "primitives/runtime/group.h"

#include "primitives/runtime/internal.h"

struct child {
    struct bz_callback callback;
    struct bz_list siblings;
    struct bz_group *group;
    struct bz_task *task;
};

static struct child *child_of(struct bz_list *link) {
    return bz_container_of(link, struct child, siblings);
}

/* The child that has `skip` ones that are not done before it, from `link` on. */
static struct bz_list *find_undone(struct bz_list *link, uint32_t skip) {
    for (;; link = link->next) {
        if (!bz_task_is_done(child_of(link)->task) && skip-- == 0) {
            return link;
        }
    }
}

/* Brings the children into the order in which they are to be cancelled. */
static void choose_order(struct bz_group *group) {
    struct bz_observer *observer = group->loop->observer;
    struct bz_list *place = group->children.next;
    uint32_t left = 0;
    for (struct bz_list *link = place; link != &group->children; link = link->next) {
        left += !bz_task_is_done(child_of(link)->task);
    }
    for (; left > 1; left--) {
        uint32_t chosen = observer->choose(observer, left);
        BZ_CHECK(chosen < left);
        struct bz_list *link = find_undone(place, chosen);
        if (link == place) {
            place = place->next;
        } else {
            bz_list_remove(link);
            bz_list_insert_before(place, link);
        }
    }
}

static void abort_children(struct bz_group *group) {
    const struct bz_loop *loop = group->loop;
    group->is_aborting = true;
    if (loop->rules->children == BZ_CHILDREN_BY_CHOICE && loop->observer != NULL &&
        loop->observer->choose != NULL) {
        choose_order(group);
    }
    for (struct bz_list *link = group->children.next; link != &group->children; link = link->next) {
        struct bz_task *task = child_of(link)->task;
        if (!bz_task_is_done(task)) {
            bz_task_cancel(task);
        }
    }
}

static void add_error(struct bz_group *group, enum bz_status status) {
    if (group->errors++ == 0) {
        group->first_error = status;
    }
}

/* Runs in a step of its own after the child has ended. */
static void child_done(struct bz_callback *callback, struct bz_future *future) {
    struct child *child = bz_container_of(callback, struct child, callback);
    struct bz_group *group = child->group;
    enum bz_status status = (enum bz_status)future->status;
    bz_list_remove(&child->siblings);
    bz_task_free(child->task);
    bz_mem_free(group->loop->mem, child, sizeof *child);
    if (bz_list_is_empty(&group->children) && group->empty != NULL) {
        (void)bz_future_set_result(group->empty, 0); /* refused if cancelled meanwhile */
    }
    if (status == BZ_OK || status == BZ_CANCELLED) {
        return;
    }
    add_error(group, status);
    if (!group->is_aborting) {
        abort_children(group);
        group->has_cancelled_parent = true;
        bz_task_cancel(group->parent);
    }
}

enum bz_status bz_group_enter(struct bz_loop *loop, struct bz_group *group) {
    if (loop->current == NULL) {
        return BZ_INVALID_STATE;
    }
    *group = (struct bz_group){.loop = loop, .parent = loop->current};
    bz_list_init(&group->children);
    return BZ_OK;
}

enum bz_status bz_group_spawn(struct bz_group *group, const char *name, uint32_t index,
                              bz_task_fn *fn, void *arg, struct bz_task **child_task) {
    bool is_finished = group->is_exiting && bz_list_is_empty(&group->children);
    if (is_finished || group->is_aborting) {
        return BZ_INVALID_STATE;
    }
    /* One slot for the child, and one for its callback, which must not fail below. */
    if (!bz_ready_reserve(group->loop, 2)) {
        return BZ_NO_MEMORY;
    }
    struct child *child = bz_mem_alloc(group->loop->mem, sizeof *child);
    if (child == NULL) {
        return BZ_NO_MEMORY;
    }
    child->task = bz_task_spawn(group->loop, name, index, fn, arg);
    if (child->task == NULL) {
        bz_mem_free(group->loop->mem, child, sizeof *child);
        return BZ_NO_MEMORY;
    }
    child->group = group;
    bz_list_push_back(&group->children, &child->siblings);
    bool is_added = bz_future_add_callback(&child->task->done, &child->callback, child_done);
    BZ_CHECK(is_added);
    if (child_task != NULL) {
        *child_task = child->task;
    }
    return BZ_OK;
}

/* Waits until every child is freed; true if the parent was cancelled from outside meanwhile. */
static bool wait_for_children(struct bz_group *group) {
    bool is_cancelled = false;
    while (!bz_list_is_empty(&group->children)) {
        struct bz_future empty;
        bz_future_init(&empty, group->loop);
        group->empty = &empty;
        enum bz_status status = bz_future_await_as(&empty, BZ_WAIT_JOIN);
        group->empty = NULL;
        if (status == BZ_CANCELLED && !group->is_aborting) {
            is_cancelled = true;
            abort_children(group);
        }
    }
    return is_cancelled;
}

static void take_request_back(struct bz_group *group) {
    if (group->has_cancelled_parent) {
        bz_task_uncancel(group->parent);
    }
}

enum bz_status bz_group_exit(struct bz_group *group, enum bz_status status) {
    if (group->is_exiting || group->loop->current != group->parent) {
        return BZ_INVALID_STATE;
    }
    bool is_cancelled = status == BZ_CANCELLED;
    bool is_late = group->loop->rules->group == BZ_GROUP_REARMS;
    group->is_exiting = true;
    if (!is_late) {
        take_request_back(group);
    }
    if (status != BZ_OK && !group->is_aborting) {
        abort_children(group);
    }
    is_cancelled |= wait_for_children(group);
    if (is_late) {
        take_request_back(group);
    }
    if (is_cancelled && group->errors == 0) { /* not by the group itself: then a child has failed */
        return BZ_CANCELLED;
    }
    if (status != BZ_OK && status != BZ_CANCELLED) {
        add_error(group, status);
    }
    if (group->errors == 0) {
        return BZ_OK;
    }
    if (is_late && bz_task_cancelling(group->parent) > 0) {
        bz_task_uncancel(group->parent);
        bz_task_cancel(group->parent); /* deliver the outside request at the next await */
    }
    return BZ_FAILED;
}
