#include "tools/lab/lockstep/smaller.h"

#include <string.h>

#include "primitives/runtime/check.h"
#include "traces/lack.h"

struct shrinking {
    struct bz_pair *best;
    struct bz_pair trial;
    bz_differs_fn *differs;
    void *context;
    uint64_t tried;
};

static void copy(struct bz_pair *to, const struct bz_pair *from) {
    struct bz_tape tape = to->tape;
    *to = *from;
    to->tape = tape;
    if (!bz_tape_copy(&to->tape, &from->tape)) {
        bz_lack_stop("memory", "a tape");
    }
}

/* Keeps the trial if it differs, too. */
static bool is_kept(struct shrinking *shrinking) {
    shrinking->tried++;
    if (!shrinking->differs(shrinking->context, &shrinking->trial)) {
        return false;
    }
    copy(shrinking->best, &shrinking->trial);
    return true;
}

/* The children of groups are numbered in the order in which they stand there. */
static void number_children(struct bz_script *script) {
    script->child_count = 0;
    for (uint32_t index = 0; index < script->op_count; index++) {
        if (bz_script_has_child(script->ops[index].verb)) {
            script->ops[index].number = ++script->child_count;
        }
    }
}

void bz_script_remove(struct bz_script *script, uint32_t index) {
    uint32_t count = 1u + script->ops[index].span;
    BZ_CHECK(index + count <= script->op_count);
    for (uint32_t outer = 0; outer < index; outer++) {
        bool is_inside = outer + script->ops[outer].span >= index;
        script->ops[outer].span = (uint16_t)(script->ops[outer].span - (is_inside ? count : 0));
    }
    for (uint32_t task = 0; task < script->task_count; task++) {
        struct bz_script_task *entry = &script->tasks[task];
        if (entry->first > index) {
            entry->first = (uint16_t)(entry->first - count);
        } else if (index < (uint32_t)entry->first + entry->count) {
            entry->count = (uint16_t)(entry->count - count);
        }
    }
    memmove(&script->ops[index], &script->ops[index + count],
            (script->op_count - index - count) * sizeof script->ops[0]);
    script->op_count -= count;
    memset(&script->ops[script->op_count], 0, count * sizeof script->ops[0]);
    number_children(script);
}

/* All operations of a task at once. */
static bool leave_out_tasks(struct shrinking *shrinking) {
    bool has_shrunk = false;
    for (uint32_t task = 0; task < shrinking->best->script.task_count; task++) {
        copy(&shrinking->trial, shrinking->best);
        struct bz_script *script = &shrinking->trial.script;
        if (script->tasks[task].count == 0) {
            continue;
        }
        while (script->tasks[task].count > 0) {
            bz_script_remove(script, script->tasks[task].first);
        }
        has_shrunk |= is_kept(shrinking);
    }
    return has_shrunk;
}

static bool leave_out_ops(struct shrinking *shrinking) {
    bool has_shrunk = false;
    for (uint32_t index = shrinking->best->script.op_count; index-- > 0;) {
        if (index < shrinking->best->script.op_count) {
            copy(&shrinking->trial, shrinking->best);
            bz_script_remove(&shrinking->trial.script, index);
            has_shrunk |= is_kept(shrinking);
        }
    }
    return has_shrunk;
}

static bool is_used(const struct bz_script *script, uint32_t object) {
    bool is_used = false;
    for (uint32_t index = 0; index < script->op_count; index++) {
        const struct bz_script_op *op = &script->ops[index];
        is_used |= bz_script_verbs[op->verb].primitives != 0 && op->object == object;
    }
    for (uint32_t index = 0; index < script->object_count; index++) {
        is_used |= script->objects[index].lock == object + 1;
    }
    return is_used;
}

void bz_script_remove_object(struct bz_script *script, uint32_t object) {
    for (uint32_t index = 0; index < script->op_count; index++) {
        script->ops[index].object -= script->ops[index].object > object;
    }
    for (uint32_t index = 0; index < script->object_count; index++) {
        script->objects[index].lock -= script->objects[index].lock > object + 1;
    }
    script->object_count--;
    memmove(&script->objects[object], &script->objects[object + 1],
            (script->object_count - object) * sizeof script->objects[0]);
    memset(&script->objects[script->object_count], 0, sizeof script->objects[0]);
}

static bool leave_out_objects(struct shrinking *shrinking) {
    bool has_shrunk = false;
    for (uint32_t object = shrinking->best->script.object_count; object-- > 0;) {
        if (!is_used(&shrinking->best->script, object)) {
            copy(&shrinking->trial, shrinking->best);
            bz_script_remove_object(&shrinking->trial.script, object);
            has_shrunk |= is_kept(shrinking);
        }
    }
    return has_shrunk;
}

static bool leave_out_timeouts(struct shrinking *shrinking) {
    bool has_shrunk = false;
    for (uint32_t index = 0; index < shrinking->best->script.op_count; index++) {
        if (shrinking->best->script.ops[index].within_ns != BZ_SCRIPT_NEVER) {
            copy(&shrinking->trial, shrinking->best);
            shrinking->trial.script.ops[index].within_ns = BZ_SCRIPT_NEVER;
            has_shrunk |= is_kept(shrinking);
        }
    }
    return has_shrunk;
}

/* In halves, quarters, ..., one by one. */
static bool leave_out_choices(struct shrinking *shrinking) {
    bool has_shrunk = false;
    for (size_t size = shrinking->best->tape.count; size > 0; size /= 2) {
        for (size_t first = 0; first < shrinking->best->tape.count;) {
            copy(&shrinking->trial, shrinking->best);
            struct bz_tape *tape = &shrinking->trial.tape;
            size_t count = tape->count - first < size ? tape->count - first : size;
            memmove(tape->choices + first, tape->choices + first + count,
                    (tape->count - first - count) * sizeof tape->choices[0]);
            tape->count -= count;
            bool is_smaller = is_kept(shrinking);
            has_shrunk |= is_smaller;
            first += is_smaller ? 0 : count;
        }
    }
    return has_shrunk;
}

uint64_t bz_pair_shrink(struct bz_pair *pair, bz_differs_fn *differs, void *context) {
    struct shrinking shrinking = {.best = pair, .differs = differs, .context = context};
    bool has_shrunk = true;
    bz_tape_init(&shrinking.trial.tape, NULL);
    while (has_shrunk) {
        has_shrunk = leave_out_tasks(&shrinking);
        has_shrunk |= leave_out_ops(&shrinking);
        has_shrunk |= leave_out_objects(&shrinking);
        has_shrunk |= leave_out_timeouts(&shrinking);
        has_shrunk |= leave_out_choices(&shrinking);
    }
    bz_tape_fini(&shrinking.trial.tape);
    return shrinking.tried;
}
