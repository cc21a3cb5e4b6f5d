#include "sim/judge/inspect.h"

#include "sim/choice/pcg.h"
#include "sim/choice/strategy_replay.h"
#include "sim/judge/internal.h"

uint32_t bz_judge_task_count(const struct bz_judge *judge) {
    return judge->shadow.task_count;
}

static const char *state_of(const struct bz_shadow_task *task) {
    static const char *const waits[BZ_WAIT_COUNT] = {"suspended", "waiting", "yielding",
                                                     "sleeping",  "joining", "outside of a step"};
    switch (task->phase) {
    case BZ_PHASE_UNSTARTED:
        return "not started";
    case BZ_PHASE_RUNNING:
        return "running";
    case BZ_PHASE_DONE:
        return "done";
    default:
        break;
    }
    if (task->wait == BZ_WAIT_YIELD || task->await == BZ_AWAIT_PENDING) {
        return waits[task->wait < BZ_WAIT_COUNT ? task->wait : 0];
    }
    return task->await == BZ_AWAIT_WOKEN ? "woken" : "cancelled";
}

bool bz_judge_view_task(const struct bz_judge *judge, uint32_t task, struct bz_task_view *view) {
    if (task == 0 || task > judge->shadow.task_count) {
        return false;
    }
    const struct bz_shadow_task *entry = &judge->shadow.tasks[task];
    bool is_calling = judge->call.kind != 0 && judge->call.task == task;
    *view = (struct bz_task_view){
        .state = state_of(entry),
        .op = is_calling ? (enum bz_op)judge->call.op : (enum bz_op)entry->op,
        .object = bz_judge_object_name(judge, is_calling ? judge->call.object : entry->object),
        .window = bz_shadow_window(entry),
        .holdings = entry->holdings,
        .next_step = entry->next_step,
        .is_cancel_pending = entry->cancel_pending,
        .is_helper = entry->is_helper};
    bz_judge_task_name(judge, task, view->name, sizeof view->name);
    return true;
}

void bz_judge_listen(struct bz_judge *judge, const struct bz_replay_listener *listener) {
    if (judge->strategy == &bz_strategy_replay_lenient) {
        ((struct bz_replay_state *)judge->strategy_state)->listener = listener;
    }
}

uint64_t bz_judge_progress(const struct bz_judge *judge) {
    bool is_in_step = bz_judge_running(judge) != 0 || bz_judge_verdict(judge) == BZ_RUN_VIOLATED;
    uint64_t run = bz_seed_mix(judge->stats.runs ^ bz_seed_mix(bz_judge_seed(judge)));
    return (is_in_step ? 0 : bz_judge_digest(judge)) ^ run ^ (uint64_t)bz_judge_steps(judge) << 40u;
}
