/* Tasks that sleep inside operations and ask again: may they do so for ever? */
#include "sim/judge/internal.h"
#include "sim/judge/oracle/permit/lost_wakeup.h"

#define ROUNDS_IN_VAIN 1024u /* a waiter may sleep in slices, and look after many of them */
#define ROUND_NS 1000000u    /* or go on at a time that it reads from the clock */

void bz_judge_forget_polls(struct bz_judge *judge) {
    for (uint32_t id = 1; id <= judge->shadow.task_count; id++) {
        judge->shadow.tasks[id].has_polled = 0;
    }
    judge->shadow.poll_rounds = 0;
    judge->shadow.poll_until_ns = 0;
}

/* True if each task that sleeps inside an operation has asked since then. */
static bool have_polled(const struct bz_judge *judge) {
    for (uint32_t id = 1; id <= judge->shadow.task_count; id++) {
        const struct bz_shadow_task *task = &judge->shadow.tasks[id];
        if (task->phase == BZ_PHASE_SUSPENDED && task->has_polled == 0 &&
            bz_judge_counts_poll(task)) {
            return false;
        }
    }
    return true;
}

/* When all timers of the code under test have fired that are armed now, where a model judges polls;
 * 0: it has nothing under way; UINT64_MAX: there is no telling. */
static uint64_t helped_until_ns(const struct bz_judge *judge) {
    bool is_told = judge->config.variant_until_ns != NULL && judge->shadow.helpers == 0;
    for (uint32_t number = 1; number <= judge->shadow.object_count; number++) {
        const struct bz_shadow_object *object = bz_judge_shadow_object(judge, number);
        bool may_serve = lost_wakeup_may_serve(object);
        if ((object->look.idle != NULL || may_serve) && bz_is_helped(judge, object)) {
            return is_told && !may_serve ? judge->config.variant_until_ns(judge->config.source)
                                         : UINT64_MAX;
        }
    }
    return 0;
}

static void idle(struct bz_judge *judge, uint64_t until_ns) {
    uint32_t count = judge->shadow.clocks > 0 ? judge->shadow.object_count : 0;
    for (uint32_t number = 1; number <= count; number++) {
        const struct bz_introspection *look = &bz_judge_shadow_object(judge, number)->look;
        if (look->idle != NULL) {
            look->idle(look->instance, until_ns);
        }
    }
}

/* A model, or the shadow state, says whether one could go on. */
static void judge_waits(struct bz_judge *judge) {
    idle(judge, UINT64_MAX);
    for (uint32_t number = 1; number <= judge->shadow.object_count; number++) {
        struct bz_shadow_object *object = bz_judge_shadow_object(judge, number);
        if (lost_wakeup_may_serve(object)) {
            uint32_t task = bz_shadow_oldest_live(&judge->shadow, object);
            bz_judge_violate(judge, "lost-wakeup", task, number,
                             "'%s' can serve %s, but since anything else happened, tasks have "
                             "slept and asked %u times",
                             bz_judge_label(judge, number).text, bz_task_label(judge, task).text,
                             ROUNDS_IN_VAIN);
        }
    }
}

/* Tasks have slept inside operations, and the clock advances again. If each of them has asked often
 * enough since anything else happened, their waits are judged as if nothing would wake them. Timers
 * of the code under test may help: then, for a model, a round lasts until they have fired. Without
 * one, it lasts a millisecond at least. */
static __attribute__((noinline)) void judge_polls(struct bz_judge *judge) {
    struct bz_shadow *shadow = &judge->shadow;
    uint64_t until_ns = helped_until_ns(judge);
    if (bz_judge_only_polls(judge, BZ_POLLS_ANY) == 0 || until_ns == UINT64_MAX) {
        bz_judge_forget_polls(judge);
    } else if (judge->now_ns >= shadow->poll_until_ns && have_polled(judge)) {
        uint64_t rounds = shadow->poll_rounds;
        bz_judge_forget_polls(judge);
        if (rounds >= ROUNDS_IN_VAIN) {
            judge_waits(judge);
        } else {
            shadow->poll_rounds = rounds + 1;
            shadow->poll_until_ns = shadow->clocks > 0 ? until_ns : judge->now_ns + ROUND_NS;
        }
    }
}

void bz_judge_idle(struct bz_judge *judge, uint64_t until_ns) {
    if (judge->shadow.poll_rounds != 0 && !judge->overtime.is_on) {
        judge_polls(judge);
    }
    idle(judge, until_ns);
}
