/* spec: a step of the code is no transition of the executable specification `buzzer`
 * (sim/spec/guards.h), so the code does not refine it.
 *
 * The shadow state is the specification's state of an object. Its level is the permits less the
 * holders. W, R and C are the tasks that wait, that were woken, and that were cancelled and have
 * not resumed. The steps of tasks are its actions: an acquire that returns at once is Acquire, one
 * that suspends is Enqueue, a wake-up is Wake, a return after it is Resume or GiveBack. A step is a
 * sequence of actions. Two things must hold. The guards of each action are met in the shadow state,
 * by the functions with which the search enumerates the specification. After the step, the code
 * shows the specification's state.
 *
 *     Acquire: a newcomer finds a free permit, and no task waits or was woken.
 *     Enqueue: a newcomer waits only if W or R or level = 0, even if it is woken at once.
 *     Wake: the oldest W is woken, and level > |R|.
 *     The state: level and W are the specification's, level >= |R|, and W, R, C are the queue.
 *
 * A task that is suspended inside acquire on no future is in one of two states: it has not queued,
 * or it has its permit, and its return is late (a lock that lets others run before it returns). The
 * second is like a woken task. So Enqueue is not judged while there is such a task.
 *
 * Other oracles name most of these faults and come first; this one adds those that are harmless in
 * this run. It judges locks and semaphores that can be inspected and claim strict FIFO, no passing,
 * and a wake-up that is a grant; Enqueue also needs the claim that locked() is exact.
 *
 * Not judged: whether a Wake comes in time (the specification lets it wait for a resume; see
 * lost-wakeup and work-conserving); how a task that was suspended on no future came to its permit
 * (see fifo); a release by a task that never acquired, which adds a permit to a plain semaphore; a
 * cancel request that is taken back. */
#ifndef BZ_SIM_JUDGE_ORACLE_SPEC_H
#define BZ_SIM_JUDGE_ORACLE_SPEC_H
#include "sim/judge/oracle/oracle.h"

/* True if the refusal still holds at the end of the step: an acquire that did not return at once is
 * Enqueue only if it waits now. */
static inline bool spec_stands(const struct bz_judge *judge) {
    const struct bz_refusal *refused = &judge->refused;
    const struct bz_shadow_task *task = &judge->shadow.tasks[refused->task];
    return refused->guards != 0 && task->phase == BZ_PHASE_SUSPENDED &&
           task->object == refused->object && task->inside != BZ_INSIDE_POLLING;
}

/* Replaces an earlier refusal of this step that no longer holds because its task runs on and has
 * not queued. */
static void spec_refuse_enqueue(struct bz_judge *judge, const struct bz_moment *moment) {
    const struct bz_shadow_object *object = bz_judge_shadow_object(judge, moment->object);
    struct bz_spec_counts counts = bz_shadow_counts(object);
    uint32_t guards = bz_unmet_enqueue(counts);
    if (guards != 0 && object->polling == 0 && bz_claims(object, BZ_CLAIM_LOCKED_EXACT) &&
        !spec_stands(judge)) {
        judge->refused = (struct bz_refusal){.counts = counts,
                                             .task = moment->task,
                                             .object = moment->object,
                                             .guards = (uint8_t)guards};
    }
}

/* An acquire has not returned at once: if the task waits, that is Enqueue. */
static inline bool spec_may_refuse_enqueue(const struct bz_shadow_object *object) {
    return object->holders + object->woken < object->permits;
}

/* The object does not show the specification's state. */
static inline uint64_t spec_is_elsewhere(const struct bz_shadow_object *object) {
    return bz_is_overpromised(object) | bz_is_unbalanced(object) | bz_is_unpartitioned(object);
}

/* The same, precisely. */
static inline bool spec_is_wrong(const struct bz_shadow_object *object) {
    return (bz_is_overpromised(object) | bz_is_unbalanced(object)) != 0 || bz_is_misqueued(object);
}

static inline uint64_t spec_suspects(const struct bz_judge *judge, const struct bz_moment *moment) {
    const struct bz_shadow_object *object = bz_judge_shadow_object(judge, moment->object);
    switch (moment->kind) {
    case BZ_MOMENT_STEP:
        return spec_is_elsewhere(object);
    case BZ_MOMENT_STEP_END:
        return judge->refused.guards != 0;
    case BZ_MOMENT_SUSPENDS:
        return spec_may_refuse_enqueue(object);
    case BZ_MOMENT_RETURN:
        return (object->holders > object->permits) | (moment->overtaking != NULL);
    default:
        return moment->overtaking != NULL;
    }
}

/* A refused action is judged when the step has ended. */
static inline void spec_judge_action(struct bz_judge *judge) {
    const struct bz_refusal *refused = &judge->refused;
    if (!spec_stands(judge)) {
        return;
    }
    bz_judge_violate(judge, "spec", refused->task, refused->object,
                     "%s of %s at '%s' is no transition of the specification: it needs %s; level "
                     "%" PRId64 ", W %u, R %u",
                     bz_spec_action_name(BZ_SPEC_ENQUEUE), bz_task_label(judge, refused->task).text,
                     bz_judge_label(judge, refused->object).text,
                     bz_spec_guard_text(BZ_SPEC_ENQUEUE, refused->guards), refused->counts.level,
                     refused->counts.waiting, refused->counts.woken);
}

/* Also judges the violations of other oracles as failures to refine. */
static inline void spec_judges(struct bz_judge *judge, const struct bz_moment *moment) {
    const struct bz_shadow_object *object = bz_judge_shadow_object(judge, moment->object);
    const struct bz_permit_view *view = &object->view;
    bool is_return = moment->kind == BZ_MOMENT_RETURN;
    if (moment->kind == BZ_MOMENT_STEP_END) {
        spec_judge_action(judge);
        return;
    }
    if (!object->refines || (is_return && moment->status != BZ_OK)) {
        return;
    }
    if (moment->kind == BZ_MOMENT_SUSPENDS) {
        spec_refuse_enqueue(judge, moment);
        return;
    }
    const struct bz_task_label name = bz_task_label(judge, moment->task);
    if (moment->overtaking != NULL) {
        bz_judge_violate(judge, "spec", moment->task, moment->object,
                         "%s was granted '%s' before %s: no transition of the specification",
                         name.text, bz_judge_label(judge, moment->object).text,
                         bz_task_label(judge, moment->overtaking->first).text);
    } else if (is_return && object->holders > object->permits) {
        bz_judge_violate(judge, "spec", moment->task, moment->object,
                         "%s was granted '%s' at level 0: no transition of the specification",
                         name.text, bz_judge_label(judge, moment->object).text);
    } else if (!is_return && spec_is_wrong(object)) {
        bz_judge_violate(judge, "spec", 0, moment->object,
                         "'%s' is not in the specification's state: level %" PRId64
                         ", W %u, R %u, C %u; it shows level %" PRIu64
                         ", W %u, R %u, C %u in a queue of %u",
                         bz_judge_label(judge, moment->object).text, bz_shadow_counts(object).level,
                         object->waiting, object->woken, object->cancelled, view->level,
                         view->waiting, view->woken, view->cancelled, view->queued);
    }
}

#endif

ORACLE(spec, "spec", "the step is no transition of the executable specification",
       "Each step has to be one that the executable specification allows.")
