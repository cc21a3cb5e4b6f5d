/* The verdict: the table of oracles, and what becomes of a violation. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/judge/internal.h"
#include "sim/judge/judge.h"
#include "sim/judge/oracle/list.h"

#undef ORACLE
#define ORACLE(name, text, summary, demand) {text, summary, demand},
const struct bz_oracle bz_oracles[] = {
#include "sim/judge/oracle/list.h"
};
#undef ORACLE
#define ORACLE(name, text, summary, demand)
#undef ORACLE_AFTER_CANCEL
#define ORACLE_AFTER_CANCEL(text, window, demand) {text, window, demand},
static const struct {
    const char *oracle;
    const char *window;
    const char *demand;
} demands_after_cancel[] = {
#include "sim/judge/oracle/list.h"
};
const uint32_t bz_oracle_count = sizeof bz_oracles / sizeof bz_oracles[0];
_Static_assert(sizeof bz_oracles / sizeof bz_oracles[0] <= BZ_ORACLES_MAX, "see violation.also");

uint32_t bz_oracle_index(const char *name) {
    uint32_t index = 0;
    while (index < bz_oracle_count && strcmp(bz_oracles[index].name, name) != 0) {
        index++;
    }
    return index;
}

const char *bz_oracle_name(const char *name) {
    uint32_t index = bz_oracle_index(name);
    return index < bz_oracle_count ? bz_oracles[index].name : name;
}

const char *bz_oracle_demand(const char *name, const char *window) {
    size_t count = sizeof demands_after_cancel / sizeof demands_after_cancel[0];
    for (size_t row = 0; window != NULL && row < count; row++) {
        if (strcmp(demands_after_cancel[row].oracle, name) == 0 &&
            strcmp(demands_after_cancel[row].window, window) == 0) {
            return demands_after_cancel[row].demand;
        }
    }
    uint32_t index = bz_oracle_index(name);
    return index < bz_oracle_count ? bz_oracles[index].demand
                                   : "The property of this oracle has to hold.";
}

uint64_t bz_oracle_bit(const char *oracle) {
    uint32_t index = bz_oracle_index(oracle);
    return index < bz_oracle_count ? UINT64_C(1) << index : 0;
}

bool bz_oracle_ends_process(const char *name) {
    uint32_t index = bz_oracle_index(name);
    return index < bz_oracle_count &&
           index >= bz_oracle_index("crash"); /* the last ones: outside.h */
}

/* The operation of a violation's task. The shadow state does not have a call that is held back,
 * and never had one that returns at once. */
static void note_place(const struct bz_judge *judge, struct bz_violation *violation) {
    if (violation->task != 0 && violation->task <= judge->shadow.task_count) {
        const struct bz_shadow_task *task = &judge->shadow.tasks[violation->task];
        bool is_calling = judge->call.task == violation->task &&
                          (judge->call.kind != 0 || judge->over != BZ_OP_NONE);
        violation->op = is_calling ? (enum bz_op)judge->call.op : bz_shadow_op(task);
        violation->window = bz_shadow_window(task);
    }
}

static __attribute__((format(printf, 6, 0))) void violate(struct bz_judge *judge,
                                                          const char *oracle, uint64_t bit,
                                                          uint32_t task, uint32_t object,
                                                          const char *format, va_list arguments) {
    struct bz_violation *violation = &judge->violation;
    if (judge->end == BZ_RUN_BAD_SOURCE || judge->end == BZ_RUN_NO_RESOURCE) {
        return;
    }
    if (judge->overtime.is_on) { /* beyond the limit: no trace would show it */
        judge->is_stopped = true;
        return;
    }
    if (violation->oracle != NULL) {
        violation->also |= strcmp(violation->oracle, oracle) != 0 ? bit : 0;
        return;
    }
    *violation = (struct bz_violation){.oracle = bz_oracle_name(oracle),
                                       .step = judge->step,
                                       .task = task,
                                       .object = object,
                                       .time_ns = judge->now_ns};
    note_place(judge, violation);
    vsnprintf(violation->message, sizeof violation->message, format, arguments);
    bz_judge_stop(judge, BZ_RUN_VIOLATED);
}

void bz_judge_violate(struct bz_judge *judge, const char *oracle, uint32_t task, uint32_t number,
                      const char *format, ...) {
    if (oracle == NULL) {
        bz_judge_refuse(judge, "an objection needs the name of an oracle");
        return;
    }
    uint64_t bit = bz_oracle_bit(oracle);
    if ((judge->config.oracles_off & bit) == 0) {
        va_list arguments;
        va_start(arguments, format);
        violate(judge, oracle, bit, task, number, format, arguments);
        va_end(arguments);
    }
}

void bz_judge_overrule(struct bz_judge *judge, const char *oracle, const char *format, ...) {
    va_list arguments;
    judge->violation.oracle = NULL;
    va_start(arguments, format);
    violate(judge, oracle, 0, 0, 0, format, arguments);
    va_end(arguments);
}

/* An object whose permit the running task has released in this step without holding it, while the
 * claims ask for a refusal; 0: none. */
static uint32_t find_misused(const struct bz_judge *judge) {
    uint32_t number = judge->shadow.object_count;
    for (; number > 0; number--) {
        const struct bz_shadow_object *object = &judge->shadow.objects[number];
        if (object->over_released_by == judge->shadow.running &&
            object->primitive != BZ_PRIMITIVE_SEMAPHORE &&
            (object->claims & BZ_CLAIM_REFUSES_MISUSE) != 0) {
            break;
        }
    }
    return number;
}

/* Where the run was when its process ended. */
static void describe_place(const struct bz_judge *judge, enum bz_op op, uint32_t object, char *text,
                           size_t bytes) {
    char name[BZ_NAME_BYTES];
    uint32_t misused = op == BZ_OP_NONE ? find_misused(judge) : 0;
    bz_judge_task_name(judge, judge->shadow.running, name, sizeof name);
    if (misused != 0) {
        snprintf(text, bytes,
                 "in an invalid release of '%.64s'%s%s, which must be refused because "
                 "REFUSES_MISUSE is claimed",
                 bz_judge_label(judge, misused).text, judge->shadow.running == 0 ? "" : " by ",
                 judge->shadow.running == 0 ? "" : name);
    } else if (judge->shadow.running == 0) {
        snprintf(text, bytes, "%s",
                 judge->step == 0 ? "in the set-up"
                                  : "outside of tasks: in a callback, or when asked for its state");
    } else if (op == BZ_OP_NONE) {
        snprintf(text, bytes, "in a step of %s", name);
    } else {
        snprintf(text, bytes, "in a step of %s, inside %s of '%.64s'", name, bz_op_name(op),
                 bz_judge_label(judge, object).text);
    }
}

/* Settles last: events may call oracles, which then only note their objection. */
void bz_judge_died(struct bz_judge *judge, const char *oracle, const char *how) {
    const struct bz_shadow_task *task = &judge->shadow.tasks[judge->shadow.running];
    bool is_calling = judge->call.kind != 0;
    enum bz_op op = (enum bz_op)(is_calling ? judge->call.op : task->op);
    uint32_t object = is_calling ? judge->call.object : task->object;
    char place[4 * BZ_NAME_BYTES];
    if (how == NULL) {
        judge->end = BZ_RUN_GIVEN_UP;
        judge->is_stopped = true;
    } else if (oracle == NULL) {
        bz_judge_lacks(judge, "a resource", "a run");
        snprintf(judge->violation.message, sizeof judge->violation.message, "%s", how);
    } else if (judge->is_ended) {
        bz_judge_overrule(judge, oracle,
                          "%s, after the run, or when it was repeated at other addresses", how);
    } else {
        describe_place(judge, op, object, place, sizeof place);
        bz_judge_violate(judge, oracle, judge->shadow.running, object, "%s, %s", how, place);
        bz_judge_settle(judge);
    }
    judge->stats.steps += judge->is_ended ? 0 : judge->step;
    judge->is_ended = true;
}
