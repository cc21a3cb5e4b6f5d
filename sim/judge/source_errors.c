/* A source of events that breaks a rule of judge.h, and a lack of memory: the run ends there, with
 * a message and without a verdict. */
#include <stdarg.h>
#include <stdio.h>

#include "sim/judge/internal.h"
#include "traces/lack.h"

#define STATE_BYTES 192u

void (*bz_judge_on_refusal)(const char *rule);

void bz_judge_refuse(struct bz_judge *judge, const char *format, ...) {
    char *message = judge->violation.message;
    size_t bytes = sizeof judge->violation.message;
    va_list arguments;
    if (judge->is_stopped) {
        return; /* the run had ended before */
    }
    int used = snprintf(message, bytes, "the source of events: ");
    va_start(arguments, format);
    vsnprintf(message + used, bytes - (size_t)used, format, arguments);
    va_end(arguments);
    if (bz_judge_on_refusal != NULL) {
        bz_judge_on_refusal(message + used);
    }
    bz_judge_stop(judge, BZ_RUN_BAD_SOURCE);
}

void bz_judge_lacks(struct bz_judge *judge, const char *resource, const char *purpose) {
    if (judge->end != BZ_RUN_NO_RESOURCE) {
        judge->violation = (struct bz_violation){.oracle = NULL};
        bz_lack_text(judge->violation.message, BZ_LACK_BYTES, resource, purpose);
        bz_judge_stop(judge, BZ_RUN_NO_RESOURCE);
    }
}

const char *bz_judge_error(const struct bz_judge *judge) {
    bool has_error = judge->end == BZ_RUN_BAD_SOURCE || judge->end == BZ_RUN_NO_RESOURCE;
    return has_error ? judge->violation.message : NULL;
}

static const char *print_state(const struct bz_judge *judge, uint32_t task, char *text) {
    static const char *const phases[] = {[BZ_PHASE_UNSTARTED] = "unstarted",
                                         [BZ_PHASE_RUNNING] = "running",
                                         [BZ_PHASE_SUSPENDED] = "suspended",
                                         [BZ_PHASE_DONE] = "done"};
    if (task == 0 || task > judge->shadow.task_count) {
        return task == 0 ? "the loop" : "unknown";
    }
    const struct bz_shadow_task *entry = &judge->shadow.tasks[task];
    bool is_woken = entry->phase == BZ_PHASE_SUSPENDED && entry->await != BZ_AWAIT_PENDING;
    int used = snprintf(text, STATE_BYTES, "%s%s", phases[entry->phase], is_woken ? ", woken" : "");
    if (entry->op != BZ_OP_NONE) {
        snprintf(text + used, STATE_BYTES - (size_t)used, ", in %s of '%s'", bz_op_name(entry->op),
                 bz_judge_label(judge, entry->object).text);
    }
    return text;
}

bool bz_judge_may_happen(const struct bz_judge *judge, enum bz_event_kind kind, uint32_t id,
                         enum bz_status status, uint32_t arg) {
    const struct bz_shadow *shadow = &judge->shadow;
    if (id > shadow->task_count || (id == 0 && kind != BZ_EVENT_CALLBACK) ||
        status >= BZ_STATUS_COUNT) {
        return false;
    }
    const struct bz_shadow_task *task = &shadow->tasks[id];
    switch (kind) {
    case BZ_EVENT_RESUME:
        return shadow->running == 0 && judge->loop_calls == 0 &&
               (task->phase == BZ_PHASE_UNSTARTED || task->phase == BZ_PHASE_SUSPENDED);
    case BZ_EVENT_SUSPEND:
        return shadow->running == id && arg != BZ_WAIT_NONE && arg < BZ_WAIT_COUNT;
    case BZ_EVENT_WAKE:
        return task->phase == BZ_PHASE_SUSPENDED && task->await == BZ_AWAIT_PENDING;
    case BZ_EVENT_CANCEL:
    case BZ_EVENT_UNCANCEL:
        return !task->is_freed;
    case BZ_EVENT_EXIT:
        return shadow->running == id && task->op == BZ_OP_NONE;
    case BZ_EVENT_FREE:
        return task->phase == BZ_PHASE_DONE && !task->is_freed;
    case BZ_EVENT_CALLBACK:
        return arg < BZ_ROLE_COUNT;
    default:
        return false;
    }
}

static void refuse_event(struct bz_judge *judge, unsigned kind, uint32_t task, unsigned status,
                         uint32_t arg) {
    const char *name = kind < BZ_EVENT_RUNTIME_COUNT ? bz_event_name(kind) : NULL;
    char state[STATE_BYTES];
    bz_judge_refuse(judge,
                    "event %u (%s) of task %u (%s), status %u, argument %u; there are %u tasks, "
                    "and task %u is running",
                    kind, name == NULL ? "unknown" : name, task, print_state(judge, task, state),
                    status, arg, judge->shadow.task_count, judge->shadow.running);
}

void bz_judge_event(struct bz_judge *judge, enum bz_event_kind kind, uint32_t task,
                    enum bz_status status, uint32_t arg) {
    bz_judge_settle(judge);
    if (bz_judge_may_happen(judge, kind, task, status, arg)) {
        bz_judge_report(judge, kind, task, status, arg);
    } else {
        refuse_event(judge, kind, task, status, arg);
    }
}

void bz_judge_refuse_call(struct bz_judge *judge, const char *what, enum bz_op op, uint32_t object,
                          unsigned status) {
    const char *name = bz_judge_object_name(judge, object);
    uint32_t task = judge->shadow.running;
    char state[STATE_BYTES];
    bz_judge_refuse(judge, "%s of %s of object %u (%s) by task %u (%s), status %u", what,
                    bz_op_name(op), object, name == NULL ? "unknown" : name, task,
                    print_state(judge, task, state), status);
}

bool bz_judge_knows(struct bz_judge *judge, uint32_t object) {
    bool is_one = object != 0 && object <= judge->shadow.object_count;
    if (!is_one) {
        bz_judge_refuse(judge, "object %u (unknown)", object);
    }
    return is_one;
}
