/* Objects under test: permits, events, conditions, barriers, timeout scopes. Queues are in queue.c.
 */
#include "sim/judge/objects.h"

#include <string.h>

#include "sim/judge/internal.h"

uint32_t bz_judge_add_object(struct bz_judge *judge, const struct bz_introspection *look,
                             struct bz_shadow_object object) {
    if (object.name == NULL) {
        bz_judge_refuse(judge, "an object without a name");
        object.name = "?";
    }
    if (look != NULL) {
        object.look = *look;
    }
    judge->shadow.clocks += object.look.idle != NULL;
    return bz_shadow_add_object(&judge->shadow, object);
}

/* --- permits ---------------------------------------------------------------------------------- */

uint32_t bz_judge_add_permits(struct bz_judge *judge, const char *name, enum bz_primitive primitive,
                              uint32_t claims, uint64_t permits,
                              const struct bz_introspection *look) {
    return bz_judge_add_object(judge, look,
                               (struct bz_shadow_object){.name = name,
                                                         .kind = BZ_OBJECT_PERMITS,
                                                         .primitive = primitive,
                                                         .claims = claims,
                                                         .permits = permits,
                                                         .size = permits,
                                                         .is_counted = true,
                                                         .is_owned = true});
}

void bz_judge_acquire_begin(struct bz_judge *judge, uint32_t object) {
    bz_judge_call_begin(judge, object, BZ_OP_ACQUIRE);
}

void bz_judge_acquire_end(struct bz_judge *judge, uint32_t object, enum bz_status status) {
    bz_judge_call_end(judge, object, BZ_OP_ACQUIRE, status);
}

void bz_judge_rank(struct bz_judge *judge, uint32_t number, uint32_t rank) {
    if (!bz_judge_knows(judge, number)) {
        return;
    }
    struct bz_shadow_object *object = bz_judge_shadow_object(judge, number);
    bool is_bit = rank != BZ_RANK_OF_RUN || number < 64;
    if (object->is_owned && object->size == 1 && is_bit) {
        object->rank = rank;
    } else {
        bz_judge_refuse(judge, "a rank of an object that is no lock, or of more than 63 locks");
    }
}

void bz_judge_tries(struct bz_judge *judge, bool tries) {
    judge->shadow.tasks[judge->shadow.running].tries = tries;
}

uint64_t bz_judge_holders(const struct bz_judge *judge, uint32_t object) {
    bool is_one = object <= judge->shadow.object_count;
    return is_one ? judge->shadow.objects[object].holders : 0;
}

void bz_judge_pool_keep(struct bz_judge *judge, uint32_t object, uint64_t locks) {
    if (!bz_judge_knows(judge, object)) {
        return;
    }
    bz_judge_moment(judge, (struct bz_moment){.kind = BZ_MOMENT_POOL,
                                              .task = judge->shadow.running,
                                              .object = object,
                                              .numbers = {locks}});
}

/* --- event ------------------------------------------------------------------------------------ */

uint32_t bz_judge_add_event(struct bz_judge *judge, const char *name, uint32_t claims,
                            const struct bz_introspection *look) {
    return bz_judge_add_object(judge, look,
                               (struct bz_shadow_object){.name = name,
                                                         .kind = BZ_OBJECT_EVENT,
                                                         .primitive = BZ_PRIMITIVE_EVENT,
                                                         .claims = claims});
}

void bz_judge_wait_begin(struct bz_judge *judge, uint32_t object) {
    bz_judge_call_begin(judge, object, BZ_OP_WAIT);
}

void bz_judge_wait_end(struct bz_judge *judge, uint32_t object, enum bz_status status) {
    bz_judge_call_end(judge, object, BZ_OP_WAIT, status);
}

static struct bz_judged_wakes wakes_begin(const struct bz_judge *judge, uint32_t number,
                                          uint32_t due) {
    const struct bz_shadow_object *object = &judge->shadow.objects[number];
    return (struct bz_judged_wakes){.so_far = object->wakes,
                                    .due = due,
                                    .step = judge->step,
                                    .line_end = object->line_end,
                                    .line_moves = judge->shadow.line_moves};
}

/* A step inside the call may have let some leave of those that waited, and a call inside a step of
 * which another call waits may leave the rest to that one. */
static void wakes_left(const struct bz_judge *judge, uint32_t number,
                       struct bz_judged_wakes *wakes) {
    const struct bz_shadow *shadow = &judge->shadow;
    const struct bz_shadow_object *object = &shadow->objects[number];
    if (judge->step == wakes->step && judge->shadow.inside == 0) {
        return;
    }
    uint32_t due = object->wakes - wakes->so_far;
    bool is_known = shadow->line_moves == wakes->line_moves && judge->shadow.inside == 0;
    uint32_t end = is_known ? wakes->line_end : 0;
    for (uint32_t place = object->first_live; place < end; place++) {
        due += bz_shadow_stands_live(shadow, object, place) &&
               shadow->tasks[object->line[place]].inside == BZ_INSIDE_WAITING;
    }
    wakes->due = due < wakes->due ? due : wakes->due;
}

/* A condition has woken too few, and others wait: it may have picked tasks that had been cancelled
 * and have not left. Each of these has to wake another one when it leaves. */
static void note_debts(struct bz_judge *judge, uint32_t number, uint32_t missing) {
    const struct bz_shadow_object *object = bz_judge_shadow_object(judge, number);
    uint32_t owed = object->wakes;
    for (uint32_t id = 1; missing > 0 && id <= judge->shadow.task_count; id++) {
        struct bz_shadow_task *task = &judge->shadow.tasks[id];
        if (task->op == BZ_OP_WAIT && task->object == number && task->owes_wake == 0 &&
            !task->was_granted && task->inside == BZ_INSIDE_CANCELLED &&
            task->phase == BZ_PHASE_SUSPENDED) {
            task->owes_wake = ++owed;
            missing--;
        }
    }
}

static void notified(struct bz_judge *judge, uint32_t object, struct bz_judged_wakes wakes,
                     enum bz_status status) {
    uint32_t woken = bz_judge_shadow_object(judge, object)->wakes - wakes.so_far;
    bz_judge_moment(judge, (struct bz_moment){.kind = BZ_MOMENT_NOTIFIED,
                                              .task = judge->shadow.running,
                                              .object = object,
                                              .status = status,
                                              .numbers = {woken, wakes.due}});
    bz_shadow_pass_over(&judge->shadow, bz_judge_shadow_object(judge, object));
    if (status == BZ_OK && woken < wakes.due &&
        bz_judge_shadow_object(judge, object)->kind == BZ_OBJECT_CONDITION) {
        note_debts(judge, object, wakes.due - woken);
    }
}

/* Those that poll need no wake-up. */
static uint32_t due_waiters(const struct bz_shadow_object *object) {
    return object->waiting < object->live ? object->waiting : object->live;
}

/* The waiters to wake. A task that is woken in place may clear it inside the call. */
struct bz_judged_wakes bz_judge_set_begin(struct bz_judge *judge, uint32_t number) {
    if (!bz_judge_does(judge, number, BZ_OP_SET, 0)) {
        return (struct bz_judged_wakes){.due = 0};
    }
    struct bz_shadow_object *object = bz_judge_shadow_object(judge, number);
    object->permits = 1;
    return wakes_begin(judge, number, due_waiters(object));
}

void bz_judge_set_end(struct bz_judge *judge, uint32_t number, struct bz_judged_wakes wakes) {
    if (bz_judge_knows(judge, number)) {
        bz_judge_settle(judge);
        wakes_left(judge, number, &wakes);
        notified(judge, number, wakes, BZ_OK);
    }
}

void bz_judge_clear(struct bz_judge *judge, uint32_t number) {
    if (bz_judge_does(judge, number, BZ_OP_CLEAR, 0)) {
        bz_judge_shadow_object(judge, number)->permits = 0;
    }
}

/* --- an object that a model judges ------------------------------------------------------------ */

/* As an event that is never set: nothing is held, and no waiter is passed over. */
uint32_t bz_judge_add_opaque(struct bz_judge *judge, const char *name, enum bz_primitive primitive,
                             uint32_t claims, const struct bz_introspection *look) {
    return bz_judge_add_object(
        judge, look,
        (struct bz_shadow_object){.name = name,
                                  .kind = BZ_OBJECT_EVENT,
                                  .primitive = primitive,
                                  .size = BZ_SIZE_MODELLED,
                                  .claims = claims & (BZ_CLAIM_MAY_FAIL | BZ_CLAIM_OWN_DEADLINES)});
}

static bool may_wait(enum bz_op op) {
    return op == BZ_OP_ACQUIRE || op == BZ_OP_WAIT || op == BZ_OP_PUT || op == BZ_OP_GET;
}

void bz_judge_opaque_begin(struct bz_judge *judge, uint32_t object, enum bz_op op, uint32_t arg) {
    if (may_wait(op)) {
        bz_judge_call_begin(judge, object, op);
    } else {
        bz_judge_does(judge, object, op, arg);
    }
}

void bz_judge_opaque_end(struct bz_judge *judge, uint32_t object, enum bz_op op,
                         enum bz_status status, uint32_t excused) {
    if (may_wait(op)) {
        bz_judge_call_end_or(judge, object, op, status, excused);
    } else if (status != BZ_OK) {
        bz_judge_answers(judge, object, op, status, 1u << BZ_OK | excused);
    }
}

/* --- condition -------------------------------------------------------------------------------- */

/* Tasks that return from a wait take the lock without joining its line. */
#define LOCK_CLAIMS (~(uint32_t)(BZ_CLAIM_FIFO | BZ_CLAIM_NO_PASSING | BZ_CLAIM_WORK_CONSERVING))

static struct bz_judged_condition add_condition(struct bz_judge *judge, const char *name,
                                                uint32_t lock, uint32_t claims,
                                                const struct bz_introspection *look) {
    uint32_t object = bz_judge_add_object(
        judge, look,
        (struct bz_shadow_object){.name = name,
                                  .kind = BZ_OBJECT_CONDITION,
                                  .primitive = BZ_PRIMITIVE_CONDITION,
                                  .claims = claims,
                                  .partner = lock,
                                  .counts_wakes = (claims & BZ_CLAIM_EXACT_NOTIFY) != 0});
    return (struct bz_judged_condition){.judge = judge, .object = object, .lock = lock};
}

struct bz_judged_condition bz_judge_add_condition(struct bz_judge *judge, const char *name,
                                                  const char *lock_name, uint32_t claims,
                                                  const struct bz_introspection *look) {
    uint32_t lock = bz_judge_add_object(judge, NULL,
                                        (struct bz_shadow_object){.name = lock_name,
                                                                  .kind = BZ_OBJECT_PERMITS,
                                                                  .primitive = BZ_PRIMITIVE_LOCK,
                                                                  .claims = claims & LOCK_CLAIMS,
                                                                  .permits = 1,
                                                                  .size = 1,
                                                                  .is_counted = true,
                                                                  .is_owned = true,
                                                                  .never_stuck = true});
    return add_condition(judge, name, lock, claims, look);
}

struct bz_judged_condition bz_judge_add_condition_on(struct bz_judge *judge, const char *name,
                                                     uint32_t lock, uint32_t claims,
                                                     const struct bz_introspection *look) {
    if (bz_judge_knows(judge, lock)) {
        struct bz_shadow_object *object = bz_judge_shadow_object(judge, lock);
        object->look = (struct bz_introspection){.instance = NULL};
        object->claims &= LOCK_CLAIMS;
        object->is_strict = false;
        object->refines = false;
        object->never_stuck = true;
        bz_judge_settle(judge);
    }
    return add_condition(judge, name, lock, claims, look);
}

/* The wait gives the lock back, and takes it again. */
static void lend_lock(struct bz_judged_condition *condition, bool is_back) {
    struct bz_judge *judge = condition->judge;
    struct bz_shadow_object *lock = bz_judge_shadow_object(judge, condition->lock);
    lock->holders += is_back ? 1u : UINT64_MAX;
    lock->owner = is_back && lock->rank != 0 ? judge->shadow.running : BZ_NO_TASK;
    judge->shadow.tasks[judge->shadow.running].holdings += is_back ? 1u : UINT32_MAX;
}

void bz_judge_condition_wait_begin(struct bz_judged_condition *condition) {
    struct bz_judge *judge = condition->judge;
    if (bz_judge_holders(judge, condition->lock) == 0) {
        bz_judge_refuse(judge, "bz_judge_condition_wait_begin() while nobody holds the lock");
    }
    bz_judge_call_begin(judge, condition->object, BZ_OP_WAIT);
    judge->shadow.tasks[judge->shadow.running].owes_wake = 0;
    lend_lock(condition, false);
}

/* The wait takes along a notification that others were passed over for. */
static void note_debt(struct bz_judged_condition *condition, uint32_t id, enum bz_status status) {
    struct bz_judge *judge = condition->judge;
    struct bz_shadow_task *task = &judge->shadow.tasks[id];
    const struct bz_debt *older = &judge->debt;
    bool is_free =
        older->task == 0 || bz_judge_shadow_object(judge, older->object)->wakes >= older->wakes;
    if (status != BZ_OK && task->owes_wake > 0 && is_free) {
        judge->debt = (struct bz_debt){.task = id,
                                       .object = condition->object,
                                       .lock = condition->lock,
                                       .wakes = task->owes_wake,
                                       .is_late = !task->was_granted,
                                       .op = bz_shadow_op(task),
                                       .window = bz_shadow_window(task)};
    }
    task->owes_wake = 0;
}

void bz_judge_condition_wait_end(struct bz_judged_condition *condition, bool is_locked,
                                 enum bz_status status) {
    struct bz_judge *judge = condition->judge;
    uint32_t task = judge->shadow.running;
    bool others_hold = bz_judge_shadow_object(judge, condition->lock)->holders > 0;
    lend_lock(condition, true);
    bz_judge_settle(judge);
    note_debt(condition, task, status);
    bz_judge_call_end(judge, condition->object, BZ_OP_WAIT, status);
    bz_judge_moment(judge, (struct bz_moment){.kind = BZ_MOMENT_RELOCKED,
                                              .task = task,
                                              .object = condition->object,
                                              .status = status,
                                              .numbers = {others_hold, is_locked}});
}

static void used(struct bz_judged_condition *condition, bool is_free, enum bz_status status) {
    struct bz_judge *judge = condition->judge;
    bz_judge_moment(judge, (struct bz_moment){.kind = BZ_MOMENT_USED,
                                              .task = judge->shadow.running,
                                              .object = condition->object,
                                              .status = status,
                                              .numbers = {is_free}});
}

void bz_judge_condition_misuse_begin(struct bz_judged_condition *condition) {
    if (bz_judge_holders(condition->judge, condition->lock) != 0) {
        bz_judge_refuse(condition->judge,
                        "bz_judge_condition_misuse_begin() while the lock is held");
    }
    bz_judge_call_begin(condition->judge, condition->object, BZ_OP_WAIT);
}

void bz_judge_condition_misuse_end(struct bz_judged_condition *condition, enum bz_status status) {
    bz_judge_call_end_or(condition->judge, condition->object, BZ_OP_WAIT, status,
                         1u << BZ_NOT_HELD);
    used(condition, true, status);
}

struct bz_judged_wakes bz_judge_notify_begin(struct bz_judged_condition *condition,
                                             uint32_t count) {
    struct bz_judge *judge = condition->judge;
    bz_judge_does(judge, condition->object, BZ_OP_NOTIFY, count);
    const struct bz_shadow_object *object = bz_judge_shadow_object(judge, condition->object);
    struct bz_judged_wakes wakes =
        wakes_begin(judge, condition->object, count < object->live ? count : object->live);
    wakes.is_free = bz_judge_holders(judge, condition->lock) == 0;
    return wakes;
}

void bz_judge_notify_end(struct bz_judged_condition *condition, struct bz_judged_wakes wakes,
                         enum bz_status status) {
    struct bz_judge *judge = condition->judge;
    bz_judge_settle(judge);
    wakes_left(judge, condition->object, &wakes);
    struct bz_shadow_object *object = bz_judge_shadow_object(judge, condition->object);
    object->wakes_due += status == BZ_OK ? wakes.due : 0;
    if (judge->step != wakes.step) { /* a task may have passed its notification on inside */
        object->wakes_due = object->wakes;
    }
    used(condition, wakes.is_free, status);
    bz_judge_answers(judge, condition->object, BZ_OP_NOTIFY, status,
                     1u << BZ_OK | (wakes.is_free ? 1u << BZ_NOT_HELD : 0));
    notified(judge, condition->object, wakes, status);
}

/* --- barrier ---------------------------------------------------------------------------------- */
/* A task that is cancelled before a wake-up belongs to no round, nor does one that leaves before
 * enough have come for another round than those of tasks that had passed when it came. Any other
 * may belong to one, which cannot be seen from outside, so it is counted. The same goes for tasks
 * inside a barrier that was broken or reset, unless BZ_CLAIM_BREAKS_ALL says which of them fail. */

static bool breaks_all(const struct bz_judged_barrier *barrier) {
    uint32_t claims = bz_judge_shadow_object(barrier->judge, barrier->object)->claims;
    return (claims & BZ_CLAIM_BREAKS_ALL) != 0;
}

void bz_judge_add_barrier(struct bz_judge *judge, struct bz_judged_barrier *barrier,
                          const char *name, uint32_t parties, uint32_t claims,
                          const struct bz_introspection *look) {
    if (parties == 0 || parties > BZ_BARRIER_PARTIES_MAX) {
        bz_judge_refuse(judge, "a barrier for %u parties; 1 to %u may be", parties,
                        BZ_BARRIER_PARTIES_MAX);
        parties = 1;
    }
    uint32_t object =
        bz_judge_add_object(judge, look,
                            (struct bz_shadow_object){.name = name,
                                                      .kind = BZ_OBJECT_BARRIER,
                                                      .primitive = BZ_PRIMITIVE_BARRIER,
                                                      .claims = claims,
                                                      .size = parties,
                                                      .quorum = parties});
    *barrier = (struct bz_judged_barrier){.judge = judge, .object = object, .parties = parties};
}

struct bz_judged_pass bz_judge_barrier_wait_begin(struct bz_judged_barrier *barrier) {
    struct bz_judge *judge = barrier->judge;
    struct bz_shadow_task *task = &judge->shadow.tasks[judge->shadow.running];
    bz_judge_call_begin(judge, barrier->object, BZ_OP_WAIT);
    barrier->arrived++;
    task->was_settled = false;
    return (struct bz_judged_pass){.steps = task->next_step,
                                   .breaks = barrier->breaks,
                                   .rounds =
                                       (barrier->passed + barrier->parties - 1) / barrier->parties};
}

/* The task passes with its round, which an abort or a reset has failed, or not. */
static void passes(struct bz_judged_barrier *barrier, uint32_t index, bool is_broken) {
    barrier->passed++;
    if (index < barrier->parties) {
        barrier->given[index]++;
    }
    bz_judge_moment(barrier->judge, (struct bz_moment){.kind = BZ_MOMENT_PASSED,
                                                       .task = barrier->judge->shadow.running,
                                                       .object = barrier->object,
                                                       .barrier = barrier,
                                                       .numbers = {index, is_broken}});
}

void bz_judge_barrier_wait_end(struct bz_judged_barrier *barrier, struct bz_judged_pass pass,
                               uint32_t index, enum bz_status status) {
    struct bz_judge *judge = barrier->judge;
    bz_judge_settle(judge);
    const struct bz_shadow_task *task = &judge->shadow.tasks[judge->shadow.running];
    bool was_woken = task->await == BZ_AWAIT_WOKEN || task->wait != BZ_WAIT_FUTURE ||
                     task->next_step > pass.steps + 1; /* cancelled in a later wait of its own */
    bool may_belong =
        was_woken && (barrier->breaks > 0 || barrier->arrived / barrier->parties > pass.rounds);
    bool is_certain = breaks_all(barrier);
    bool was_broken = task->was_settled;
    bool may_fail =
        barrier->is_aborted || (is_certain ? was_broken : pass.breaks != barrier->breaks);
    bz_judge_call_end_or(judge, barrier->object, BZ_OP_WAIT, status,
                         may_fail ? 1u << BZ_BROKEN : 0);
    if (status == BZ_OK && (is_certain || pass.breaks == barrier->breaks)) {
        passes(barrier, index, is_certain && may_fail);
    } else if (status != BZ_OK && !was_broken && (status != BZ_CANCELLED || !may_belong)) {
        barrier->arrived--;
    }
}

/* The waits that the break fails leave their round. With a reset while a round drains, those who
 * wait are held back for the next one. */
static uint32_t fail_waits(struct bz_judged_barrier *barrier, bool fails_waiting) {
    struct bz_shadow *shadow = &barrier->judge->shadow;
    uint32_t left = 0;
    for (uint32_t id = 1; id <= shadow->task_count; id++) {
        struct bz_shadow_task *task = &shadow->tasks[id];
        if (task->op == BZ_OP_WAIT && task->object == barrier->object) {
            task->was_settled |= task->inside == BZ_INSIDE_WOKEN ||
                                 (fails_waiting && task->inside == BZ_INSIDE_WAITING);
            left += !task->was_settled;
        }
    }
    return left;
}

/* Without the claim, a task inside returns BZ_BROKEN, is held back for a later round, or passes
 * with a round that was complete before. If none may be under way, those who wait are woken. */
struct bz_judged_wakes bz_judge_barrier_break(struct bz_judged_barrier *barrier, enum bz_op op) {
    if (!bz_judge_does(barrier->judge, barrier->object, op, 0)) {
        return (struct bz_judged_wakes){.due = 0};
    }
    const struct bz_shadow_object *object = bz_judge_shadow_object(barrier->judge, barrier->object);
    bool is_certain = breaks_all(barrier);
    bool may_drain = object->cancelled + object->polling > 0 ||
                     barrier->passed % barrier->parties != 0 ||
                     barrier->arrived - barrier->passed >= barrier->parties;
    bool drains = object->woken > 0 || (!is_certain && may_drain);
    bool fails_waiting = !drains || (is_certain && op == BZ_OP_ABORT);
    uint32_t due = due_waiters(object);
    barrier->breaks++;
    barrier->is_aborted = op == BZ_OP_ABORT;
    barrier->arrived =
        is_certain ? fail_waits(barrier, fails_waiting) : barrier->arrived - barrier->passed;
    barrier->passed = 0;
    memset(barrier->given, 0, sizeof barrier->given);
    return wakes_begin(barrier->judge, barrier->object, fails_waiting ? due : 0);
}

void bz_judge_barrier_broken(struct bz_judged_barrier *barrier, struct bz_judged_wakes wakes) {
    bz_judge_set_end(barrier->judge, barrier->object, wakes);
}

/* --- timeout scope ---------------------------------------------------------------------------- */

void bz_judge_scope_enter_begin(struct bz_judge *judge, struct bz_judged_scope *scope,
                                struct bz_judged_scope *outer, uint64_t due_ns,
                                uint32_t cancelling) {
    const struct bz_shadow_task *task = &judge->shadow.tasks[judge->shadow.running];
    *scope = (struct bz_judged_scope){.judge = judge,
                                      .outer = outer,
                                      .due_ns = due_ns,
                                      .armed_ns = due_ns < judge->now_ns ? BZ_TIME_MAX_NS : due_ns,
                                      .cancelling = cancelling,
                                      .cancels = task->cancels,
                                      .was_pending = task->cancel_pending};
}

void bz_judge_scope_enter_end(const struct bz_judged_scope *scope, enum bz_status status) {
    bz_judge_answers(scope->judge, 0, BZ_OP_RUN, status, 1u << BZ_OK);
}

void bz_judge_scope_exit_begin(struct bz_judged_scope *scope, uint32_t cancelling) {
    const struct bz_judge *judge = scope->judge;
    const struct bz_shadow_task *task = &judge->shadow.tasks[judge->shadow.running];
    uint32_t requests = task->cancels - scope->cancels;
    uint32_t left = cancelling > scope->cancelling ? cancelling - scope->cancelling : 0;
    scope->taken_back = requests > left ? requests - left : 0;
}

void bz_judge_scope_exit_end(struct bz_judged_scope *scope, enum bz_status body,
                             enum bz_status status, uint32_t cancelling) {
    struct bz_judge *judge = scope->judge;
    const struct bz_shadow_task *task = &judge->shadow.tasks[judge->shadow.running];
    uint32_t requests = task->cancels - scope->cancels - scope->taken_back;
    struct bz_scope_exit left = {.body = body,
                                 .status = status,
                                 .requests = requests,
                                 .due = scope->cancelling + requests,
                                 .count = cancelling,
                                 .is_early = judge->now_ns < scope->due_ns,
                                 .is_late = scope->armed_ns == scope->due_ns &&
                                            bz_judge_is_late(judge, scope->due_ns),
                                 .was_pending = scope->was_pending,
                                 .is_pending = task->cancel_pending};
    bz_judge_moment(
        judge,
        (struct bz_moment){.kind = BZ_MOMENT_SCOPE, .task = judge->shadow.running, .scope = &left});
    if (scope->outer != NULL) {
        bool has_taken = requests > 0 && cancelling + 1 == left.due;
        scope->outer->taken_back += scope->taken_back + has_taken;
    }
}
