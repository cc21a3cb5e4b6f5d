/* Peers: tasks that complete, cancel, join and watch each other, each with a future of its own. All
 * that the runtime answers is compared with a model of futures and tasks.
 *
 * A peer awaits and joins only peers before it, so no circle comes up. When its task has ended, a
 * callback completes its future, so every await ends. Every second future stands for others
 * (is_redirected): a cancel of it reaches somebody, or nobody. Errands are tasks that a peer
 * spawns, and detaches or frees. */
#include <stdio.h>
#include <string.h>

#include "scenarios/scenario_support.h"

enum act {
    NAPS,
    AWAITS,
    JOINS,
    COMPLETES,
    CANCELS_FUTURE,
    CANCELS_TASK,
    UNCANCELS_TASK,
    WATCHES,
    FORGETS,
    CALLS_SOON,
    HIRES,
    ACTS,
};

enum errand { DETACHED_AT_ONCE, FREED, DETACHED_AT_THE_END, ERRANDS };

#define ACTS_OF_EACH 4u
#define WATCHES_OF_EACH 2u
#define NAME_BYTES 16u
#define PAIRS 64u /* more than a ready queue grows by at once in the set-up */

/* Peers watch these. */
struct target {
    struct bz_future *future;
    uint32_t registered; /* callbacks, by number */
    uint32_t ran;        /* the last one that ran */
};

struct watch {
    struct bz_callback callback;
    struct peer *watcher;
    struct target *target;
    uint32_t number;
    bool is_set; /* it has to run, unless it is removed */
};

/* A function that the loop calls in a step of its own (bz_loop_call_soon()). */
struct call {
    struct bz_handle handle;
    struct bz_peers *peers;
    uint32_t number;
    bool is_due;
};

struct peer {
    struct bz_peers *peers;
    struct bz_member member;
    struct bz_future future;
    struct target ends;
    struct target completes;
    struct watch watches[WATCHES_OF_EACH];
    struct call call;
    const struct peer *joins;
    uint32_t index;
    uint32_t redirected; /* cancels */
    /* the future, by the model */
    enum bz_future_state state;
    enum bz_status status;
    uint64_t value;
    /* the task, likewise */
    enum bz_status returned;
    bool has_begun;
    bool has_returned;
    bool was_joined; /* a cancel of another task may have gone to it */
    bool is_freed;
};

struct bz_peers {
    struct bz_world *world;
    uint64_t values;      /* given to futures */
    uint32_t calls;       /* of functions, by number */
    uint32_t latest_call; /* the last one that was made */
    uint32_t errands;
    uint32_t count;
    struct peer peers[];
};

static void expect(const struct bz_peers *peers, bool is_right, const char *wrong) {
    bz_world_assert(peers->world, is_right, "tasks and futures: %s", wrong);
}

static struct bz_task *running(const struct bz_peers *peers) {
    return bz_loop_current(peers->world->loop);
}

/* True if a request may be why the task got `status`. */
static bool is_by_request(const struct peer *peer, enum bz_status status) {
    const struct bz_task *task = peer->member.task;
    return status == BZ_CANCELLED && (bz_world_asked(peer->peers->world, task) > 0 ||
                                      bz_task_cancelling(task) > 0 || peer->was_joined);
}

/* --- futures ---------------------------------------------------------------------------------- */

static bool is_redirected(const struct peer *peer) {
    return peer->index % 2 == 1;
}

/* Of the first two that stand for others, tasks wait for both if there are more than four peers. */
static bool is_reached(const struct peer *peer) {
    return peer->index % 4 == (peer->peers->count > 4 ? 3 : 1);
}

static void check_future(const struct peer *peer) {
    const struct bz_future *future = &peer->future;
    expect(peer->peers,
           future->state == peer->state &&
               (peer->state == BZ_FUTURE_PENDING ||
                (future->status == peer->status && future->value == peer->value)),
           "a future is in a wrong state");
}

static void end_future(struct peer *peer, enum bz_future_state state, enum bz_status status,
                       uint64_t value) {
    peer->state = state;
    peer->status = status;
    peer->value = value;
}

/* A cancel of a future calls this. */
static void is_cancelled(struct bz_future *future) {
    struct peer *peer = bz_container_of(future, struct peer, future);
    expect(peer->peers, peer->state == BZ_FUTURE_PENDING, "a future that is done was cancelled");
    end_future(peer, BZ_FUTURE_CANCELLED, BZ_CANCELLED, 0);
}

static bool redirect(struct bz_future *future) {
    struct peer *peer = bz_container_of(future, struct peer, future);
    expect(peer->peers, peer->state == BZ_FUTURE_PENDING, "a future that is done was cancelled");
    peer->redirected++;
    return is_reached(peer);
}

static void complete(struct peer *peer, bool is_error) {
    bool is_pending = peer->state == BZ_FUTURE_PENDING;
    uint64_t value = ++peer->peers->values;
    enum bz_status status = is_error ? bz_future_set_exception(&peer->future, value)
                                     : bz_future_set_result(&peer->future, value);
    expect(peer->peers, status == (is_pending ? BZ_OK : BZ_INVALID_STATE),
           "a future was completed twice, or not at all");
    if (is_pending) {
        end_future(peer, is_error ? BZ_FUTURE_EXCEPTION : BZ_FUTURE_RESULT,
                   is_error ? BZ_FAILED : BZ_OK, value);
    }
    check_future(peer);
}

static void cancel_future(struct peer *peer) {
    bool is_pending = peer->state == BZ_FUTURE_PENDING;
    uint32_t redirected = peer->redirected;
    bool is_due = is_pending && (!is_redirected(peer) || is_reached(peer));
    bool is_accepted = bz_future_cancel(&peer->future);
    expect(peer->peers, is_accepted == is_due, "a wrong answer to the cancel of a future");
    expect(peer->peers, peer->redirected == redirected + (is_pending && is_redirected(peer)),
           "a cancel of a future reached the wrong one");
    check_future(peer);
}

static enum bz_status await(const struct peer *self, struct peer *other) {
    struct bz_peers *peers = self->peers;
    bool was_done = other->state != BZ_FUTURE_PENDING;
    bz_sut_may_wait(peers->world);
    bz_world_mark_step(peers->world);
    enum bz_status status =
        is_redirected(other) ? bz_future_join(&other->future) : bz_future_await(&other->future);
    check_future(other);
    expect(peers, bz_world_is_marked_step(peers->world) == was_done,
           "an await waited for a future that was done, or not for one that was pending");
    bool is_result = other->state != BZ_FUTURE_PENDING && status == other->status;
    expect(peers, is_result || (!was_done && is_by_request(self, status)),
           "an await returned another status than its future has");
    return status;
}

/* --- callbacks -------------------------------------------------------------------------------- */

static bool is_done(const struct peer *peer, const struct target *target) {
    return target == &peer->completes ? peer->state != BZ_FUTURE_PENDING
                                      : peer->is_freed || bz_task_is_done(peer->member.task);
}

/* The loop runs the callbacks of one future in order, if it chooses no other. */
static void watch_ran(struct bz_callback *callback, struct bz_future *future) {
    struct watch *watch = bz_container_of(callback, struct watch, callback);
    const struct bz_peers *peers = watch->watcher->peers;
    struct target *target = watch->target;
    bool has_order = bz_judge_order(peers->world->judge) == BZ_ORDER_FIFO;
    expect(peers, watch->is_set, "a callback ran that was removed, or twice");
    expect(peers, future == target->future, "a callback got another future than its own");
    expect(peers, !has_order || watch->number > target->ran, "callbacks ran out of order");
    target->ran = watch->number;
    watch->is_set = false;
}

/* Its storage may have anything in it before. */
static void set_watch(struct watch *watch, struct peer *watcher, struct target *target) {
    struct bz_world *world = watcher->peers->world;
    memset(&watch->callback, 0x5a, sizeof watch->callback);
    bz_world_may_refuse(world, true);
    bool is_added = bz_future_add_callback(target->future, &watch->callback, watch_ran);
    bz_world_may_refuse(world, false);
    expect(watcher->peers, is_added || bz_world_has_refused_memory(world),
           "a callback was refused, although there is memory");
    if (!is_added) {
        memset(&watch->callback, 0, sizeof watch->callback);
        return;
    }
    watch->watcher = watcher;
    watch->target = target;
    watch->number = ++target->registered;
    watch->is_set = true;
}

static struct watch *draw_watch(struct peer *self) {
    return &self->watches[bz_world_draw(self->peers->world, "watch", WATCHES_OF_EACH)];
}

static void watch(struct peer *self, struct peer *other) {
    struct watch *chosen = draw_watch(self);
    bool is_end = bz_world_draw(self->peers->world, "of-end", 2) == 1 && !other->is_freed;
    if (!chosen->is_set) {
        set_watch(chosen, self, is_end ? &other->ends : &other->completes);
    }
}

static void forget(struct peer *self) {
    struct watch *chosen = draw_watch(self);
    bool is_waiting = false;
    for (uint32_t index = 0; chosen->is_set && index < self->peers->count; index++) {
        const struct peer *other = &self->peers->peers[index];
        bool is_its = chosen->target == &other->ends || chosen->target == &other->completes;
        is_waiting |= is_its && !is_done(other, chosen->target);
    }
    bool is_removed = bz_future_remove_callback(&chosen->callback);
    expect(self->peers, is_removed == is_waiting, "a wrong answer to the removal of a callback");
    chosen->is_set &= !is_removed;
}

static void call_is_made(struct bz_handle *handle) {
    struct call *call = bz_container_of(handle, struct call, handle);
    struct bz_peers *peers = call->peers;
    bool has_order = bz_judge_order(peers->world->judge) == BZ_ORDER_FIFO;
    expect(peers, call->is_due, "a function was called twice, or without a request");
    expect(peers, !has_order || call->number > peers->latest_call, "functions ran out of order");
    peers->latest_call = call->number;
    call->is_due = false;
}

static void call_soon(struct peer *self) {
    struct bz_world *world = self->peers->world;
    struct call *call = &self->call;
    if (call->is_due) {
        return;
    }
    bz_world_may_refuse(world, true);
    call->is_due = bz_loop_call_soon(world->loop, &call->handle, call_is_made);
    bz_world_may_refuse(world, false);
    expect(self->peers, call->is_due || bz_world_has_refused_memory(world),
           "a call was refused, although there is memory");
    call->peers = self->peers;
    call->number = ++self->peers->calls;
}

/* A callback that was removed leaves its slot in the ready queue to others. */
static void register_often(struct bz_peers *peers) {
    struct peer *peer = &peers->peers[0];
    size_t used_bytes = 0;
    for (uint32_t pair = 0; pair < PAIRS; pair++) {
        set_watch(&peer->watches[0], peer, &peer->completes);
        peer->watches[0].is_set = !bz_future_remove_callback(&peer->watches[0].callback);
        size_t bytes = bz_mem_used_bytes(bz_loop_mem(peers->world->loop));
        expect(peers, pair == 0 || bytes == used_bytes, "callbacks that were removed take memory");
        used_bytes = bytes;
    }
}

/* --- tasks ------------------------------------------------------------------------------------ */

/* The task has ended as its body has. */
static enum bz_status outcome_of(const struct peer *peer) {
    const struct bz_future *future = bz_task_future(peer->member.task);
    enum bz_status status = (enum bz_status)future->status;
    bool is_late = peer->returned == BZ_OK && is_by_request(peer, status);
    expect(peer->peers, status == (peer->has_begun ? peer->returned : BZ_CANCELLED) || is_late,
           "a task ended in another way than its body");
    enum bz_future_state state = status == BZ_OK          ? BZ_FUTURE_RESULT
                                 : status == BZ_CANCELLED ? BZ_FUTURE_CANCELLED
                                                          : BZ_FUTURE_EXCEPTION;
    expect(peer->peers,
           future->state == state &&
               future->value == (state == BZ_FUTURE_EXCEPTION ? (uint64_t)status : 0),
           "the future of a task that has ended is in a wrong state");
    return status;
}

static enum bz_status join(struct peer *self, struct peer *other) {
    if (other->is_freed) {
        return BZ_OK;
    }
    self->joins = other;
    other->was_joined = true;
    bz_sut_may_wait(self->peers->world);
    enum bz_status status = bz_task_join(other->member.task);
    self->joins = NULL;
    bool is_right = other->is_freed || is_by_request(self, status) ||
                    (is_done(other, &other->ends) && status == outcome_of(other));
    expect(self->peers, is_right, "a join returned another status than its task has ended with");
    return status;
}

/* A cancel of a task that joins another one also goes to that. */
static void cancel_task(struct peer *peer) {
    if (peer->is_freed) {
        return;
    }
    struct bz_task *task = peer->member.task;
    const struct peer *joined = peer->joins;
    bool is_live = !bz_task_is_done(task);
    bool passes = joined != NULL && !is_done(joined, &joined->ends);
    uint32_t count = bz_task_cancelling(task);
    uint32_t passed = passes ? bz_task_cancelling(joined->member.task) : 0;
    expect(peer->peers, peer->has_begun ? is_live != peer->has_returned : true,
           "a task is done before its body, or not after it");
    bool is_by_future = bz_world_draw(peer->peers->world, "by-future", 2) == 1;
    bool is_accepted = is_by_future ? bz_future_cancel(bz_task_future(task)) : bz_task_cancel(task);
    expect(peer->peers, is_accepted == is_live, "a wrong answer to the cancel of a task");
    expect(peer->peers, bz_task_cancelling(task) == count + is_live, "requests were not counted");
    expect(peer->peers, !passes || bz_task_cancelling(joined->member.task) == passed + 1,
           "a cancel did not go to the task that is joined");
}

static void uncancel(const struct bz_peers *peers, struct bz_task *task) {
    uint32_t count = bz_task_cancelling(task);
    bool is_one = bz_task_uncancel(task) + (count > 0) == count;
    expect(peers, is_one && bz_task_cancelling(task) + (count > 0) == count,
           "uncancel took another number of requests back than one");
}

static void check_name(const struct bz_peers *peers, const struct bz_task *task, const char *name,
                       uint32_t index) {
    char due[NAME_BYTES];
    char found[NAME_BYTES];
    snprintf(due, sizeof due, index == 0 ? "%s" : "%s-%u", name, index);
    expect(peers, strcmp(bz_task_name(task, found, sizeof found), due) == 0,
           "a task has another name");
}

static enum bz_status do_errand(void *arg) {
    const struct bz_peers *peers = arg;
    return bz_yield_times(peers->world, 1);
}

static void end_errand(const struct peer *self, struct bz_task *errand, enum errand how) {
    struct bz_peers *peers = self->peers;
    if (how != DETACHED_AT_ONCE) {
        bz_sut_may_wait(peers->world);
        enum bz_status status = bz_task_join(errand);
        bool is_right = bz_task_is_done(errand) && status == bz_task_future(errand)->status;
        expect(peers, is_right || is_by_request(self, status),
               "a join returned another status than its task has ended with");
    }
    if (how == FREED && bz_task_is_done(errand)) {
        bz_task_free(errand);
    } else {
        bz_task_detach(errand);
    }
}

static void hire(const struct peer *self) {
    struct bz_peers *peers = self->peers;
    struct bz_loop *loop = peers->world->loop;
    enum errand how = (enum errand)bz_world_draw(peers->world, "errand", ERRANDS);
    uint64_t blocks = bz_mem_live_blocks(bz_loop_mem(loop));
    uint32_t live = bz_loop_live_tasks(loop);
    bz_world_may_refuse(peers->world, true);
    struct bz_task *errand = bz_task_spawn(loop, "errand", peers->errands, do_errand, peers);
    bz_world_may_refuse(peers->world, false);
    bool is_spawned = errand != NULL;
    expect(peers, is_spawned || bz_world_has_refused_memory(peers->world), "a task was refused");
    expect(peers,
           bz_loop_live_tasks(loop) == live + is_spawned &&
               bz_mem_live_blocks(bz_loop_mem(loop)) == blocks + is_spawned,
           "a task was not counted, or one that was refused takes memory");
    if (is_spawned) {
        check_name(peers, errand, "errand", peers->errands++);
        bz_world_adopt(peers->world, errand);
        end_errand(self, errand, how);
    }
}

/* --- a peer ----------------------------------------------------------------------------------- */

static enum bz_status act(struct peer *self) {
    struct bz_peers *peers = self->peers;
    enum act act = (enum act)bz_world_draw(peers->world, "act", ACTS);
    bool waits = act == AWAITS || act == JOINS;
    if (waits && self->index == 0) {
        return BZ_OK;
    }
    uint32_t whom =
        (uint32_t)bz_world_draw(peers->world, "whom", waits ? self->index : peers->count);
    struct peer *other = &peers->peers[whom];
    switch (act) {
    case AWAITS:
        return await(self, other);
    case JOINS:
        return join(self, other);
    case COMPLETES:
        complete(other, bz_world_draw(peers->world, "is-error", 2) == 1);
        return BZ_OK;
    case CANCELS_FUTURE:
        cancel_future(other);
        return BZ_OK;
    case CANCELS_TASK:
        cancel_task(other);
        return BZ_OK;
    case UNCANCELS_TASK:
        if (!other->is_freed) {
            uncancel(peers, other->member.task);
        }
        return BZ_OK;
    case WATCHES:
        watch(self, other);
        return BZ_OK;
    case FORGETS:
        forget(self);
        return BZ_OK;
    case CALLS_SOON:
        call_soon(self);
        return BZ_OK;
    case HIRES:
        hire(self);
        return BZ_OK;
    default:
        return bz_yield_times(peers->world, 1);
    }
}

/* A peer that is cancelled may stay, and take the request back. */
static bool stays(const struct bz_peers *peers) {
    bool stays = bz_world_draw(peers->world, "stays", 2) == 1;
    if (stays) {
        uncancel(peers, running(peers));
    }
    return stays;
}

static enum bz_status play(struct peer *self) {
    check_name(self->peers, running(self->peers), "peer", self->index + 1);
    for (uint32_t left = ACTS_OF_EACH; left > 0; left--) {
        if (act(self) == BZ_CANCELLED && !stays(self->peers)) {
            return BZ_CANCELLED;
        }
    }
    return bz_world_draw(self->peers->world, "fails", 4) == 1 ? BZ_FAILED : BZ_OK;
}

static enum bz_status peer_main(void *arg) {
    struct peer *self = arg;
    self->has_begun = true;
    self->returned = play(self);
    self->has_returned = true;
    return self->returned;
}

static void peer_ended(void *arg) {
    struct peer *peer = arg;
    expect(peer->peers, bz_task_is_done(peer->member.task) && peer->has_begun == peer->has_returned,
           "a task is said to have ended, and has not");
    (void)outcome_of(peer);
    complete(peer, false);
    if (peer->index % 3 == 2) {
        peer->is_freed = true;
        bz_task_free(peer->member.task);
    }
}

struct bz_peers *bz_peers_spawn(struct bz_world *world, int64_t count) {
    struct bz_peers *peers = NULL;
    if (count > 0) {
        peers = bz_world_alloc(world, sizeof *peers + (size_t)count * sizeof peers->peers[0]);
        peers->world = world;
        peers->count = (uint32_t)count;
    }
    for (uint32_t index = 0; index < (uint32_t)count; index++) {
        struct peer *peer = &peers->peers[index];
        peer->peers = peers;
        peer->index = index;
        bz_future_init(&peer->future, world->loop);
        peer->future.is_redirected = is_redirected(peer);
        if (is_redirected(peer)) {
            peer->future.redirect_cancel = redirect;
        } else {
            peer->future.on_cancel = is_cancelled;
        }
        bz_scene_spawn_member(world, &peer->member, "peer", index + 1, peer_main, peer, peer_ended);
        peer->completes.future = &peer->future;
        peer->ends.future = bz_task_future(peer->member.task);
    }
    if (peers != NULL) {
        register_often(peers);
    }
    return peers;
}

uint32_t bz_peers_finish(const struct bz_peers *peers) {
    uint32_t freed = 0;
    for (uint32_t index = 0; peers != NULL && index < peers->count; index++) {
        const struct peer *peer = &peers->peers[index];
        check_future(peer);
        expect(peers, peer->state != BZ_FUTURE_PENDING, "the end of a task called no callback");
        for (uint32_t number = 0; number < WATCHES_OF_EACH; number++) {
            expect(peers, !peer->watches[number].is_set, "a callback never ran");
        }
        expect(peers, !peer->call.is_due, "a function was never called");
        freed += peer->is_freed;
    }
    return freed;
}
