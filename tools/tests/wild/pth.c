/* GNU Pth: mutex, condition, barrier, read-write lock. A thread of Pth makes the calls of a task,
 * and a step of the task runs Pth's scheduler until that thread waits. A ready thread is suspended
 * until Buzzer chooses it. A cancel is the extra event that Pth's calls take. */
#include <errno.h>
#include <pth.h>
#include <signal.h>

#include "sim/model/model.h"
#include "tools/tests/wild/wild.h"

struct pth {
    struct wild cage;
    pth_t main;
    struct caller *callers;
    pth_mutex_t mutex;
    pth_cond_t cond;
    pth_barrier_t barrier;
    pth_rwlock_t rwlock;
    uint32_t arrived, parties;
    int64_t held; /* by the thread that is to make the next call */
};

/* One for each task, object and what it holds: a mutex knows its owner by the thread, and lets it
 * lock again. */
struct caller {
    struct pth *in;
    const struct bz_task *task;
    struct caller *next;
    pth_t thread;
    struct call *call;
    int64_t holds; /* of a read-write lock: 1 + READ, 1 + WRITE */
    bool is_cancelled, is_suspended;
};

struct call {
    struct bz_request request;
    enum bz_status (*make)(struct caller *own, pth_event_t cancel, int64_t argument);
    int64_t argument;
};

static int cancelled(void *own) {
    return ((struct caller *)own)->is_cancelled;
}

static __attribute__((noreturn)) void *serve(void *arg) {
    struct caller *own = arg;
    for (;;) {
        pth_event_t cancel = pth_event(PTH_EVENT_FUNC, cancelled, own, pth_time(0, 0));
        struct bz_request *request = &own->call->request;
        enum bz_status status = own->call->make(own, cancel, own->call->argument);
        (void)pth_event_free(cancel, PTH_FREE_THIS);
        own->call = NULL;
        bz_request_done(request, status);
        (void)pth_yield(own->in->main);
    }
}

static pth_state_t state(pth_t thread) {
    pth_state_t found = PTH_STATE_DEAD;
    pth_attr_t attr = pth_attr_of(thread);
    (void)pth_attr_get(attr, PTH_ATTR_STATE, &found);
    (void)pth_attr_destroy(attr);
    return found;
}

/* Runs Pth until this thread waits; NULL: only its event manager. */
static void run(struct pth *in, struct caller *chosen) {
    wild_enter(&in->cage);
    if (chosen != NULL && chosen->is_suspended) {
        chosen->is_suspended = false;
        (void)pth_resume(chosen->thread);
    }
    (void)pth_yield(chosen == NULL ? NULL : chosen->thread);
    for (struct caller *each = in->callers; each != NULL; each = each->next) {
        if (!each->is_suspended && state(each->thread) == PTH_STATE_READY) {
            each->is_suspended = pth_suspend(each->thread);
            if (each->call != NULL) {
                bz_request_post(&each->call->request);
            }
        }
    }
    wild_leave(&in->cage);
}
static void deliver(void *own) {
    run(((struct caller *)own)->in, own);
}
static bool cancel(void *arg) {
    struct caller *own = arg;
    bool is_woken = own->is_suspended;
    own->is_cancelled = true;
    run(own->in, NULL);
    return !is_woken && own->is_suspended;
}

static struct caller *of_current_task(struct pth *in) {
    const struct bz_task *task = bz_loop_current(in->cage.loop);
    struct caller *own = in->callers;
    for (; own != NULL && (own->task != task || own->holds != in->held); own = own->next) {
    }
    if (own == NULL && (own = bz_mem_alloc(bz_loop_mem(in->cage.loop), sizeof *own)) != NULL) {
        *own = (struct caller){.in = in, .task = task, .next = in->callers};
        wild_enter(&in->cage);
        pth_attr_t attr = pth_attr_new();
        (void)pth_attr_set(attr, PTH_ATTR_PRIO, PTH_PRIO_MIN);
        (void)pth_attr_set(attr, PTH_ATTR_STACK_SIZE, 32u << 10);
        own->thread = pth_spawn(attr, serve, own);
        (void)pth_attr_destroy(attr);
        wild_leave(&in->cage);
        in->callers = own;
    }
    in->held = 0;
    return own;
}

/* A call that cannot wait is made at once, whoever else is let run by it. */
static enum bz_status make(void *in, enum bz_status (*does)(struct caller *, pth_event_t, int64_t),
                           int64_t argument, void (*undo)(void *)) {
    struct call call = {.request.undo = undo, .make = does, .argument = argument};
    struct caller *own = of_current_task(in);
    own->call = &call;
    own->is_cancelled = false;
    do {
        bz_request_unpost(&call.request);
        run(in, own);
    } while (undo == NULL && !call.request.is_done);
    return bz_request_wait(&call.request, own->in->cage.loop, own, deliver, cancel);
}

/* --- the calls ---------------------------------------------------------------------------------
 */

static enum bz_status do_acquire(struct caller *own, pth_event_t cancel, int64_t argument) {
    (void)argument;
    return pth_mutex_acquire(&own->in->mutex, FALSE, cancel) ? BZ_OK : BZ_CANCELLED;
}
static enum bz_status do_release(struct caller *own, pth_event_t cancel, int64_t argument) {
    (void)cancel, (void)argument;
    return pth_mutex_release(&own->in->mutex) ? BZ_OK : BZ_NOT_HELD;
}
static enum bz_status do_wait(struct caller *own, pth_event_t cancel, int64_t argument) {
    (void)argument;
    (void)pth_cond_await(&own->in->cond, &own->in->mutex, cancel);
    return pth_event_status(cancel) == PTH_STATUS_OCCURRED ? BZ_CANCELLED : BZ_OK;
}
static enum bz_status do_notify(struct caller *own, pth_event_t cancel, int64_t is_broadcast) {
    (void)cancel;
    return pth_cond_notify(&own->in->cond, (int)is_broadcast) ? BZ_OK : BZ_FAILED;
}
static enum bz_status do_reach(struct caller *own, pth_event_t cancel, int64_t argument) {
    (void)cancel, (void)argument;
    return pth_barrier_reach(&own->in->barrier) ? BZ_OK : BZ_FAILED;
}

static void give_back(void *own) {
    (void)make(((struct caller *)own)->in, do_release, 0, NULL);
}
static void pass_on(void *own) {
    (void)make(((struct caller *)own)->in, do_notify, 0, NULL);
}
static void keep(void *own) {
    (void)own;
}

static enum bz_status init_barrier(void *arg, struct bz_loop *loop, uint32_t parties) {
    struct pth *in = arg;
    if (!wild_begin(&in->cage, loop)) {
        return BZ_NO_MEMORY;
    }
    in->parties = parties;
    wild_enter(&in->cage);
    bool is_ready = pth_init() && pth_mutex_init(&in->mutex) && pth_cond_init(&in->cond) &&
                    pth_barrier_init(&in->barrier, (int)parties) && pth_rwlock_init(&in->rwlock);
    in->main = pth_self();
    wild_leave(&in->cage);
    return is_ready ? BZ_OK : BZ_NO_MEMORY;
}
static enum bz_status init(void *in, struct bz_loop *loop, uint32_t permits) {
    (void)permits;
    return init_barrier(in, loop, 1);
}
static enum bz_status init_condition(void *in, struct bz_loop *loop) {
    return init_barrier(in, loop, 1);
}
static void fini(void *arg) {
    struct pth *in = arg;
    wild_enter(&in->cage);
    (void)pth_kill();
    wild_leave(&in->cage);
    for (struct caller *next; in->callers != NULL; in->callers = next) {
        next = in->callers->next;
        bz_mem_free(bz_loop_mem(in->cage.loop), in->callers, sizeof *in->callers);
    }
    wild_end(&in->cage);
}
static enum bz_status acquire(void *in) {
    return make(in, do_acquire, 0, give_back);
}
static enum bz_status release(void *in) {
    return make(in, do_release, 0, NULL);
}
static bool locked(void *in) {
    return (((struct pth *)in)->mutex.mx_state & PTH_MUTEX_LOCKED) != 0;
}
static enum bz_status wait(void *in) {
    return make(in, do_wait, 0, pass_on);
}
static enum bz_status notify(void *in, uint32_t count) {
    for (; count != UINT32_MAX && count > 0; count--) {
        (void)make(in, do_notify, false, NULL);
    }
    return count == 0 ? BZ_OK : make(in, do_notify, true, NULL);
}
static enum bz_status reach(void *arg, uint32_t *index) {
    struct pth *in = arg;
    *index = in->arrived++ % in->parties;
    return make(in, do_reach, 0, keep);
}

/* --- the read-write lock, by a model -----------------------------------------------------------
 */

enum { READ, END_READ, WRITE, END_WRITE, OPS };

static bool step(void *state, uint32_t op, const int64_t *arguments, int64_t *answer) {
    int64_t *held = state; /* by readers, by writers */
    (void)arguments, (void)answer;
    held[0] += (op == READ) - (op == END_READ);
    held[1] += (op == WRITE) - (op == END_WRITE);
    return held[1] == 0 || (held[1] == 1 && held[0] == 0);
}
static const struct bz_model_op ops[OPS] = {
    [READ] = {.name = "read", .cancel = BZ_MODEL_CANCEL_UNDOES, .undo = END_READ},
    [END_READ] = {.name = "end-read", .gives_back = 1 + READ, .cancel = BZ_MODEL_CANCEL_MAY_DO_ALL},
    [WRITE] = {.name = "write", .cancel = BZ_MODEL_CANCEL_UNDOES, .undo = END_WRITE},
    [END_WRITE] = {
        .name = "end-write", .gives_back = 1 + WRITE, .cancel = BZ_MODEL_CANCEL_MAY_DO_ALL}};
static const struct bz_model model = {
    .name = "read-write lock", .state_bytes = 16, .ops = ops, .op_count = OPS, .step = step};

static enum bz_status do_rwlock(struct caller *own, pth_event_t cancel, int64_t op) {
    pth_rwlock_t *lock = &own->in->rwlock;
    if (op == END_READ || op == END_WRITE) {
        own->holds = 0;
        return pth_rwlock_release(lock) ? BZ_OK : BZ_NOT_HELD;
    }
    int mode = op == READ ? PTH_RWLOCK_RD : PTH_RWLOCK_RW;
    bool is_acquired = pth_rwlock_acquire(lock, mode, FALSE, cancel);
    own->holds = is_acquired ? 1 + op : 0;
    return is_acquired ? BZ_OK : BZ_CANCELLED;
}
static void unlock(void *arg) {
    struct caller *own = arg;
    own->in->held = own->holds;
    (void)make(own->in, do_rwlock, END_READ, keep);
}
static enum bz_status init_rwlock(void *in, struct bz_loop *loop, const int64_t *parameters) {
    (void)parameters;
    return init_barrier(in, loop, 1);
}
static enum bz_status call(void *in, uint32_t op, const int64_t *arguments, int64_t *answer) {
    (void)arguments, (void)answer;
    ((struct pth *)in)->held =
        op == END_READ || op == END_WRITE ? op : 0; /* 1 + READ == END_READ */
    return make(in, do_rwlock, op, op == READ || op == WRITE ? unlock : keep);
}

/* --- what Pth asks of the system ---------------------------------------------------------------
 */

static int fake_pipe(int ends[2]) {
    ends[0] = 1000;
    ends[1] = 1001;
    return 0;
}
static long nothing(void) {
    return 0;
}
static int fake_set(sigset_t *set) {
    return sigemptyset(set);
}
static int fake_mask(int how, const sigset_t *set, sigset_t *old) {
    (void)how, (void)set;
    return old != NULL ? sigemptyset(old) : 0;
}
static const struct wild_hook hooks[] = {
    {"pipe", fake_pipe}, {"fcntl", nothing},       {"read", nothing},          {"close", nothing},
    {"select", nothing}, {"sigpending", fake_set}, {"sigprocmask", fake_mask}, {NULL, NULL}};

__attribute__((constructor)) static void load(void) {
    wild_library("libpth.so", hooks);
}

static const struct bz_permit_ops lock_ops = {.instance_bytes = sizeof(struct pth),
                                              .init = init,
                                              .fini = fini,
                                              .acquire = acquire,
                                              .release = release,
                                              .locked = locked};
static const struct bz_condition_ops condition_ops = {.instance_bytes = sizeof(struct pth),
                                                      .init = init_condition,
                                                      .acquire = acquire,
                                                      .release = release,
                                                      .locked = locked,
                                                      .wait = wait,
                                                      .notify = notify};
static const struct bz_barrier_ops barrier_ops = {
    .instance_bytes = sizeof(struct pth), .init = init_barrier, .wait = reach};
static const struct bz_modelled_ops rwlock_ops = {sizeof(struct pth), &model, init_rwlock, call};
#define VARIANT(identifier, name_, summary_, claims_, ...)                                         \
    static const struct bz_variant identifier = {.version = BZ_VARIANT_VERSION,                    \
                                                 .name = name_,                                    \
                                                 .summary = summary_,                              \
                                                 .claims = BZ_CLAIM_UNFAIR | claims_,              \
                                                 __VA_ARGS__}
VARIANT(mutexes, "pth", "GNU Pth: mutex, condition", BZ_CLAIM_REFUSES_MISUSE,
        .permits = {[BZ_PRIMITIVE_LOCK] = &lock_ops}, .condition = &condition_ops,
        .waives = {[BZ_PRIMITIVE_CONDITION] = BZ_CLAIM_REFUSES_MISUSE});
VARIANT(barriers, "pth-barrier", "GNU Pth: barrier, read-write lock", 0, .barrier = &barrier_ops,
        .modelled = &rwlock_ops);
BZ_PLUGIN(&mutexes, &barriers);
