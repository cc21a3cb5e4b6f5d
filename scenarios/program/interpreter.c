/* Lists of operations: timeouts, groups, children and their ends. */
#include "scenarios/program/interpreter.h"
#include "scenarios/program/awaits.h"
#include "scenarios/scenario_support.h"

static enum bz_status run_ops(struct runner *runner, uint32_t from, uint32_t to);

/* A part of the list, or a single operation: what it acquired is given back if it ends early. */
static enum bz_status run_inside(struct runner *runner, uint32_t from, uint32_t to,
                                 const struct bz_script_op *single) {
    runner->depth++;
    enum bz_status status =
        single != NULL ? bz_script_use(runner, single) : run_ops(runner, from, to);
    if (status != BZ_OK) {
        bz_script_release_inside(runner, runner->depth);
    }
    runner->depth--;
    for (uint32_t index = 0; index < runner->holding_count; index++) {
        struct holding *holding = &runner->holdings[index];
        holding->depth = holding->depth > runner->depth ? (uint8_t)runner->depth : holding->depth;
    }
    return status;
}

enum bz_status bz_script_run(void *arg) {
    struct runner *runner = arg;
    enum bz_status status = run_ops(runner, runner->first, runner->end);
    bz_script_release_inside(runner, 0);
    return status;
}

static struct runner *new_child(const struct runner *runner, uint32_t index) {
    struct interpreter *interpreter = runner->interpreter;
    const struct bz_script_op *op = &interpreter->script->ops[index];
    struct runner *child = &interpreter->children[op->number - 1];
    *child = (struct runner){.interpreter = interpreter,
                             .first = index + 1,
                             .end = index + 1u + op->span,
                             .root = runner->root};
    return child;
}

static enum bz_status add_child(struct runner *runner, struct bz_group *group, uint32_t index) {
    struct runner *child = new_child(runner, index);
    child->group = group;
    return bz_scene_spawn_child(runner->interpreter->world, group,
                                runner->interpreter->script->ops[index].number, bz_script_run,
                                child);
}

/* A group that aborts refuses it. */
static enum bz_status run_create_task(struct runner *runner, uint32_t index) {
    if (runner->group == NULL) {
        return BZ_OK;
    }
    enum bz_status status = add_child(runner, runner->group, index);
    runner->value = status == BZ_OK;
    return status == BZ_INVALID_STATE ? BZ_OK : status;
}

/* A child that fails ends the group; the parent continues after it. */
static enum bz_status run_group(struct runner *runner, uint32_t first, uint32_t end) {
    struct interpreter *interpreter = runner->interpreter;
    const struct bz_script_op *ops = interpreter->script->ops;
    struct bz_group *outer = runner->group;
    struct bz_group group;
    enum bz_status status = bz_group_enter(interpreter->world->loop, &group);
    if (status != BZ_OK) {
        return status;
    }
    for (uint32_t index = first; index < end && status == BZ_OK; index += 1u + ops[index].span) {
        runner->group = &group;
        status = ops[index].verb == BZ_VERB_BODY ? run_inside(runner, index + 1, end, NULL)
                                                 : add_child(runner, &group, index);
        runner->group = outer;
    }
    status = bz_group_exit(&group, status);
    runner->value = status == BZ_FAILED ? 1 : runner->value;
    return status == BZ_FAILED ? BZ_OK : status;
}

/* A task for what is inside the operation. */
static struct bz_task *spawn(struct runner *runner, uint32_t index) {
    struct interpreter *interpreter = runner->interpreter;
    uint32_t number = interpreter->script->ops[index].number;
    return bz_scene_spawn(interpreter->world, "child", number, bz_script_run,
                          new_child(runner, index));
}

/* No task waits for it. */
static enum bz_status run_spawn(struct runner *runner, uint32_t index) {
    return spawn(runner, index) == NULL ? BZ_NO_MEMORY : BZ_OK;
}

/* A failure of a child is caught, as that of a group. */
static enum bz_status run_gather(struct runner *runner, uint32_t index) {
    struct interpreter *interpreter = runner->interpreter;
    const struct bz_script_op *ops = interpreter->script->ops;
    struct bz_task *tasks[BZ_SCRIPT_TASK_OPS_MAX];
    uint32_t count = 0;
    uint32_t end = index + 1u + ops[index].span;
    for (uint32_t child = index + 1; child < end; child += 1u + ops[child].span) {
        tasks[count] = spawn(runner, child);
        if (tasks[count++] == NULL) {
            return BZ_NO_MEMORY;
        }
    }
    enum bz_status status = count == 0 ? BZ_OK
                                       : bz_script_gather(interpreter->world, tasks, count,
                                                          ops[index].verb == BZ_VERB_GATHER_ALL);
    runner->value = status == BZ_FAILED ? 1 : runner->value;
    return status == BZ_FAILED ? BZ_OK : status;
}

static enum bz_status run_wait_for(struct runner *runner, uint32_t index) {
    struct bz_world *world = runner->interpreter->world;
    uint32_t delay_ns = runner->interpreter->script->ops[index].ns;
    const struct bz_rules *rules = world->variant->rules;
    enum bz_status status;
    if (delay_ns == 0 || (rules != NULL && rules->wait_for == BZ_WAIT_FOR_BY_TASK)) {
        struct bz_task *task = spawn(runner, index);
        status = task == NULL ? BZ_NO_MEMORY : bz_script_wait_for(world, task, delay_ns);
    } else {
        struct bz_timeout scope;
        status = bz_timeout_enter(world->loop, &scope, delay_ns);
        if (status == BZ_OK) {
            status = bz_timeout_exit(&scope, bz_script_run(new_child(runner, index)));
        }
    }
    runner->value = status == BZ_TIMED_OUT ? 1 : runner->value;
    return status == BZ_TIMED_OUT ? BZ_OK : status;
}

static enum bz_status run_catch(struct runner *runner, uint32_t from, uint32_t to) {
    enum bz_status status = run_inside(runner, from, to, NULL);
    return status == BZ_CANCELLED || status == BZ_FAILED ? BZ_OK : status;
}

/* Runs operations in a timeout: those inside a `timeout`, or a single one with `within`. */
static enum bz_status run_in_time(struct runner *runner, uint32_t delay_ns, uint32_t from,
                                  uint32_t to, const struct bz_script_op *single) {
    struct bz_timeout scope;
    struct bz_timeout *outer = runner->timeout;
    enum bz_status status = bz_timeout_enter(runner->interpreter->world->loop, &scope, delay_ns);
    if (status != BZ_OK) {
        return status;
    }
    runner->timeout = &scope;
    status = run_inside(runner, from, to, single);
    runner->timeout = outer;
    status = bz_timeout_exit(&scope, status);
    runner->value = status == BZ_TIMED_OUT ? 1 : runner->value;
    return status == BZ_TIMED_OUT ? BZ_OK : status;
}

/* So many times, which leaves as many timers behind that are disarmed. */
static enum bz_status run_reschedule(struct runner *runner, const struct bz_script_op *op) {
    enum bz_status status = BZ_INVALID_STATE;
    for (uint32_t count = 0; runner->timeout != NULL && count < op->number; count++) {
        status = bz_timeout_reschedule(runner->timeout, op->ns);
    }
    runner->value = runner->timeout == NULL ? -1 : status == BZ_OK;
    return status == BZ_INVALID_STATE ? BZ_OK : status;
}

static enum bz_status run_op(struct runner *runner, uint32_t index) {
    struct interpreter *interpreter = runner->interpreter;
    const struct bz_script_op *op = &interpreter->script->ops[index];
    switch (op->verb) {
    case BZ_VERB_YIELD:
        return bz_yield(interpreter->world->loop);
    case BZ_VERB_SLEEP:
        return bz_world_sleep(interpreter->world, op->ns);
    case BZ_VERB_FAIL:
        return BZ_FAILED;
    case BZ_VERB_CANCEL:
        bz_task_cancel(interpreter->tasks[op->number]);
        return BZ_OK;
    case BZ_VERB_TIMEOUT:
        return run_in_time(runner, op->ns, index + 1, index + 1u + op->span, NULL);
    case BZ_VERB_GROUP:
        return run_group(runner, index + 1, index + 1u + op->span);
    case BZ_VERB_CATCH:
        return run_catch(runner, index + 1, index + 1u + op->span);
    case BZ_VERB_SPAWN:
        return run_spawn(runner, index);
    case BZ_VERB_GATHER:
    case BZ_VERB_GATHER_ALL:
        return run_gather(runner, index);
    case BZ_VERB_WAIT_FOR:
        return run_wait_for(runner, index);
    case BZ_VERB_RESCHEDULE:
        return run_reschedule(runner, op);
    case BZ_VERB_CREATE_TASK:
        return run_create_task(runner, index);
    case BZ_VERB_UNCANCEL:
        runner->value = bz_task_uncancel(bz_loop_current(interpreter->world->loop));
        return BZ_OK;
    default:
        return op->within_ns == BZ_SCRIPT_NEVER ? bz_script_use(runner, op)
                                                : run_in_time(runner, op->within_ns, 0, 0, op);
    }
}

/* Statuses after which the program continues. Some primitives have a deadline of their own.
 * Something stolen is not held any more. */
static bool is_answer(enum bz_status status, bool is_watched) {
    return (is_watched && status == BZ_NOT_HELD) || status == BZ_TIMED_OUT || status == BZ_BROKEN ||
           status == BZ_CLOSED || status == BZ_EMPTY || status == BZ_FULL;
}

/* First the operations behind it in the list; then those inside, however the others ended. */
static enum bz_status run_finally(struct runner *runner, uint32_t index, uint32_t to) {
    uint32_t next = index + 1u + runner->interpreter->script->ops[index].span;
    enum bz_status status = run_inside(runner, next, to, NULL);
    enum bz_status cleanup = run_ops(runner, index + 1, next);
    return cleanup != BZ_OK ? cleanup : status;
}

static enum bz_status run_ops(struct runner *runner, uint32_t from, uint32_t to) {
    const struct bz_script_op *ops = runner->interpreter->script->ops;
    for (uint32_t index = from; index < to; index += 1u + ops[index].span) {
        const struct bz_script_watch *watch = runner->interpreter->watch;
        bool is_last = ops[index].verb == BZ_VERB_FINALLY;
        runner->value = -1;
        enum bz_status status = is_last ? run_finally(runner, index, to) : run_op(runner, index);
        if (watch != NULL) {
            watch->returned(watch->context, index, status, is_last ? -1 : runner->value);
        }
        if (is_last) {
            return status;
        }
        if (status == BZ_OK || is_answer(status, watch != NULL) ||
            bz_world_is_refused(runner->interpreter->world, status)) {
            continue;
        }
        bz_world_assert(runner->interpreter->world, status == BZ_CANCELLED || status == BZ_FAILED,
                        "%s answered %s", bz_script_verbs[ops[index].verb].name,
                        bz_status_word(status));
        return status;
    }
    return BZ_OK;
}
