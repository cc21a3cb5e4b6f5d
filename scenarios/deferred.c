/* deferred: clients share a semaphore that answers by callbacks.
 *
 * Each client asks for a permit. Its callback draws whether it releases the permit at once, inside
 * the callback, or leaves it to the client's task, which holds it for some yields. So one release
 * may set off a chain of callbacks that release in turn. A client cancelled while it waits takes
 * its request back; the callback that reports this draws whether it takes back another client's
 * request as well. A client that has already left when its permit comes releases it in the
 * callback.
 *
 * No oracle sees callbacks, so the scenario itself checks holders, order, answers, cancels, and how
 * deep callbacks nest. While every permit is held, none can be on its way to a request: one that is
 * taken back then has to end with cancelled. A depth that grows with the crowd ends on a real stack
 * with a lock that is locked forever (Twisted #9304). With `chain`, the runtime's own deferreds are
 * tried before (runtime/chain.c). */
#include "primitives/runtime/deferred.h"
#include "scenarios/scenario_support.h"
#include "scenarios/scenarios.h"

enum { PERMITS, CROWD, ROUNDS, ARRIVAL, HOLD, NESTING, PATIENCE, CANCELS, CHAIN };

static const struct bz_param params[] = {
    {"permits", "permits of the semaphore", 1, 1, 1000},
    {"crowd", "clients", 6, 1, 1000},
    {"rounds", "how often each client asks", 1, 1, 1000},
    {"arrival", "a client yields 0..arrival times before it asks", 2, 0, 1000},
    {"hold", "a permit is held for 0..hold yields; 0: released in the callback", 1, 0, 1000},
    {"nesting", "how deep callbacks may nest", 2, 1, 64},
    {"patience", "the canceller yields 0..patience-1 times", 8, 1, 1000},
    {"cancels", "how often the canceller strikes", 1, 0, 1000},
    {"chain", "so many drawn plans for deferreds that ship are tried before", 0, 0, 1000},
    {NULL, NULL, 0, 0, 0},
};

static const struct bz_size sizes[] = {
    {"permits", 1, 3, 0},
    {"crowd", 1, 10, 20},
    {"rounds", 1, 3, 6},
    {"arrival", 0, 3, 0},
    {"hold", 0, 2, 0},
    {"nesting", 1, 3, 0},
    {"cancels", 0, 3, 0},
    {"chain", 0, 2, 0},
    {"permits", 4, 65, BZ_TAIL_TASKS},
    {"crowd", 11, 129, BZ_TAIL_TASKS},
    {"rounds", 4, 257, 0},
    {"cancels", 4, 33, 0},
    {NULL, 0, 0, 0},
};

struct client {
    struct crowd *crowd;
    struct bz_task *task;
    struct bz_deferred_request request;
    struct bz_future answered;
    uint64_t ticket; /* in order of asking */
    uint32_t hold;   /* yields for which its task holds the permit */
    bool is_asking;  /* no answer yet */
    bool is_refused; /* its request is being taken back */
    bool must_end;   /* it was taken back while every permit was held */
    bool has_gone;   /* its task does not wait any more */
};

struct crowd {
    struct bz_scene scene;
    const struct bz_deferred_ops *ops;
    void *instance;
    uint64_t tickets;
    uint64_t holders;
    int64_t depth; /* callbacks that are running inside each other */
    uint32_t client_count;
    struct client clients[];
};

/* --- callbacks -------------------------------------------------------------------------------- */

static void release(struct crowd *crowd) {
    crowd->holders--;
    bz_check_released(crowd->scene.world, crowd->ops->release(crowd->instance));
}

static void take_back(struct client *client) {
    struct crowd *crowd = client->crowd;
    client->is_refused = true;
    client->must_end = crowd->holders == (uint64_t)crowd->scene.values[PERMITS];
    crowd->ops->cancel(crowd->instance, &client->request);
}

/* No oracle has objected yet. */
static bool goes_on(const struct crowd *crowd) {
    return bz_judge_verdict(crowd->scene.world->judge) == BZ_RUN_PASSED;
}

static void check_order(struct crowd *crowd, const struct client *client) {
    if (!bz_scene_claims(crowd->scene.world, BZ_PRIMITIVE_DEFERRED, BZ_CLAIM_FIFO)) {
        return;
    }
    for (uint32_t index = 0; index < crowd->client_count; index++) {
        const struct client *other = &crowd->clients[index];
        bool is_overtaken =
            other->is_asking && !other->is_refused && other->ticket < client->ticket;
        bz_world_assert(crowd->scene.world, !is_overtaken,
                        "client-%u got its permit before client-%u, who had asked earlier",
                        (unsigned)(client - crowd->clients) + 1, index + 1);
    }
}

/* The first other client that waits also leaves. */
static void take_back_another(struct crowd *crowd) {
    for (uint32_t index = 0; index < crowd->client_count; index++) {
        struct client *other = &crowd->clients[index];
        if (other->is_asking && !other->is_refused) {
            take_back(other);
            return;
        }
    }
}

static void on_granted(struct crowd *crowd, struct client *client) {
    struct bz_judge *judge = crowd->scene.world->judge;
    if (client->must_end) {
        bz_judge_violate(judge, "cancel-delivered", bz_judge_running(judge), 0,
                         "client-%u was granted a permit, although it had taken its request back "
                         "while every permit was held; 'cancelled' was due",
                         (unsigned)(client - crowd->clients) + 1);
    }
    crowd->holders++;
    bz_world_assert(crowd->scene.world, crowd->holders <= (uint64_t)crowd->scene.values[PERMITS],
                    "%llu clients hold one of %lld permits", (unsigned long long)crowd->holders,
                    (long long)crowd->scene.values[PERMITS]);
    check_order(crowd, client);
    uint64_t bound = (uint64_t)crowd->scene.values[HOLD] + 1;
    client->hold =
        client->has_gone ? 0 : (uint32_t)bz_world_draw(crowd->scene.world, "hold", bound);
    if (client->hold == 0 && goes_on(crowd)) {
        release(crowd);
    }
}

static void on_refused(struct crowd *crowd, struct client *client, enum bz_status status) {
    if (status != BZ_CANCELLED) {
        bz_judge_violate(
            crowd->scene.world->judge, "status", bz_judge_running(crowd->scene.world->judge), 0,
            "client-%u was answered with %s (%d); a request is answered with ok, or "
            "with cancelled after it was taken back",
            (unsigned)(client - crowd->clients) + 1, bz_status_word(status), (int)status);
    }
    bz_world_assert(crowd->scene.world, client->is_refused,
                    "client-%u got cancelled without a request",
                    (unsigned)(client - crowd->clients) + 1);
    if (bz_world_draw(crowd->scene.world, "leave-together", 2) == 1 && goes_on(crowd)) {
        take_back_another(crowd);
    }
}

static void on_answer(struct bz_deferred_request *request, enum bz_status status) {
    struct client *client = bz_container_of(request, struct client, request);
    struct crowd *crowd = client->crowd;
    bz_world_assert(crowd->scene.world, client->is_asking, "client-%u was answered twice",
                    (unsigned)(client - crowd->clients) + 1);
    client->is_asking = false;
    crowd->depth++;
    bz_world_assert(crowd->scene.world, crowd->depth <= crowd->scene.values[NESTING],
                    "callbacks nest %lld deep; %lld is the most", (long long)crowd->depth,
                    (long long)crowd->scene.values[NESTING]);
    if (status == BZ_OK) {
        on_granted(crowd, client);
    } else {
        on_refused(crowd, client, status);
    }
    crowd->depth--;
    client->must_end = false;
    bz_future_set_result(&client->answered,
                         status == BZ_OK); /* refused if no task waits any more */
}

/* --- tasks ------------------------------------------------------------------------------------ */

/* The task owns a permit that the callback left to it as soon as the callback has run, even if the
 * task has not resumed. */
static enum bz_status ask_once(struct client *client) {
    struct crowd *crowd = client->crowd;
    bz_future_init(&client->answered, crowd->scene.world->loop);
    client->ticket = ++crowd->tickets;
    client->hold = 0;
    client->is_refused = client->must_end = false;
    client->is_asking = true;
    crowd->ops->acquire(crowd->instance, &client->request);
    enum bz_status status = bz_future_await(&client->answered);
    if (client->is_asking) {
        client->has_gone = true;
        take_back(client);
    }
    if (client->hold > 0 && goes_on(crowd)) {
        status = status == BZ_OK ? bz_yield_times(crowd->scene.world, client->hold) : status;
        release(crowd);
    }
    return status;
}

static enum bz_status client_body(void *arg) {
    struct client *client = arg;
    struct crowd *crowd = client->crowd;
    enum bz_status status = BZ_OK;
    const int64_t *values = crowd->scene.values;
    for (int64_t left = values[ROUNDS]; status == BZ_OK && left > 0; left--) {
        status = bz_yield_below(crowd->scene.world, "arrival", values[ARRIVAL] + 1);
        if (status == BZ_OK) {
            status = ask_once(client);
        }
    }
    return status;
}

static struct bz_task *pick_asking(struct crowd *crowd) {
    uint32_t count = 0;
    for (uint32_t index = 0; index < crowd->client_count; index++) {
        count += crowd->clients[index].is_asking;
    }
    if (count == 0) {
        return NULL;
    }
    uint64_t skip = bz_world_draw(crowd->scene.world, "victim", count);
    for (uint32_t index = 0;; index++) {
        if (crowd->clients[index].is_asking && skip-- == 0) {
            return crowd->clients[index].task;
        }
    }
}

static enum bz_status canceller(void *arg) {
    struct crowd *crowd = arg;
    const int64_t *values = crowd->scene.values;
    int64_t strikes = bz_world_may_cancel(crowd->scene.world) ? values[CANCELS] : 0;
    for (int64_t left = strikes; left > 0; left--) {
        enum bz_status status = bz_yield_below(crowd->scene.world, "patience", values[PATIENCE]);
        if (status != BZ_OK) {
            return status;
        }
        struct bz_task *victim = pick_asking(crowd);
        if (victim != NULL) {
            bz_task_cancel(victim);
        }
    }
    return BZ_OK;
}

/* --- a meeting ------------------------------------------------------------------------------ */

enum firing { WITH_VALUE, WITH_ERROR, BY_CANCEL, FIRINGS };

/* `seen` runs right before the task is woken; `turns` behind it, and waits for `inner`. */
struct meeting {
    struct bz_world *world;
    struct bz_trampoline trampoline;
    struct bz_deferred outer;
    struct bz_deferred inner;
    struct bz_deferred_pair seen;
    struct bz_deferred_pair turns;
    struct bz_deferred_result result; /* that `seen` got */
    struct bz_member firer;
    struct bz_member resumer;
    bool is_awaited;
    bool has_seen;
    bool has_resumed;
};

static struct bz_deferred_result see(struct bz_deferred_pair *pair,
                                     struct bz_deferred_result result) {
    struct meeting *meeting = bz_container_of(pair, struct meeting, seen);
    meeting->has_seen = true;
    meeting->result = result;
    return result;
}

static struct bz_deferred_result turn(struct bz_deferred_pair *pair,
                                      struct bz_deferred_result result) {
    (void)result;
    return bz_deferred_wait_for(&bz_container_of(pair, struct meeting, turns)->inner);
}

static void expect(const struct meeting *meeting, bool is_right, const char *wrong) {
    bz_world_assert(meeting->world, is_right, "a task awaits a deferred: %s", wrong);
}

static bool is_same(struct bz_deferred_result one, struct bz_deferred_result other) {
    return one.status == other.status && one.value == other.value;
}

static enum bz_status awaiter(void *arg) {
    struct meeting *meeting = arg;
    struct bz_world *world = meeting->world;
    struct bz_deferred_result got = {0};
    bool asks = bz_world_draw(world, "chain-got", 2) == 0;
    meeting->is_awaited = !bz_deferred_is_fired(&meeting->outer);
    bz_sut_may_wait(world);
    enum bz_status status = bz_deferred_await(&meeting->outer, asks ? &got : NULL);
    bool is_cancelled = bz_is_cancelled(world, status);
    expect(meeting, is_cancelled || (meeting->has_seen && status == meeting->result.status),
           "it returned another status");
    expect(meeting,
           !asks ||
               (meeting->has_seen ? is_same(got, meeting->result) : got.status == BZ_CANCELLED),
           "it got another result");
    expect(meeting, bz_deferred_is_fired(&meeting->outer), "its cancel did not reach the deferred");
    expect(meeting, bz_deferred_is_fired(&meeting->inner) == meeting->has_resumed,
           "its cancel reached one that it did not wait for");
    bz_deferred_remove(&meeting->seen);
    bz_deferred_remove(&meeting->turns);
    expect(meeting, bz_list_is_empty(&meeting->outer.pairs), "it left a callback behind");
    return is_cancelled ? status : BZ_OK;
}

static enum bz_status linger(void *arg) {
    return bz_yield_below(((struct meeting *)arg)->world, "chain-pace", 4);
}

static void on_firer_end(void *arg) {
    struct meeting *meeting = arg;
    enum firing how = (enum firing)bz_world_draw(meeting->world, "chain-fires", FIRINGS);
    if (meeting->is_awaited) {
        bz_deferred_add_both(&meeting->outer, &meeting->turns, turn);
    }
    if (bz_deferred_is_fired(&meeting->outer)) {
        return;
    }
    enum bz_status status = how == WITH_VALUE ? bz_deferred_callback(&meeting->outer, 7) : BZ_OK;
    if (how == WITH_ERROR) {
        status = bz_deferred_errback(&meeting->outer, BZ_FAILED, 8);
    } else if (how == BY_CANCEL) {
        status = bz_deferred_cancel(&meeting->outer) ? BZ_OK : BZ_INVALID_STATE;
    }
    expect(meeting, status == BZ_OK, "it could not be fired");
}

static void on_resumer_end(void *arg) {
    struct meeting *meeting = arg;
    meeting->has_resumed = true;
    if (meeting->outer.pauses > 0) {
        bz_deferred_unpause(&meeting->outer);
    }
    expect(meeting, bz_deferred_callback(&meeting->inner, 9) == BZ_OK, "the inner one had fired");
}

static void begin_meeting(struct bz_world *world) {
    struct meeting *meeting = bz_world_alloc(world, sizeof *meeting);
    meeting->world = world;
    bz_trampoline_init(&meeting->trampoline, world->loop);
    bz_deferred_init(&meeting->outer, &meeting->trampoline, NULL);
    bz_deferred_init(&meeting->inner, &meeting->trampoline, NULL);
    bz_deferred_add_both(&meeting->outer, &meeting->seen, see);
    if (bz_world_draw(world, "chain-pauses", 2) == 1) {
        bz_deferred_pause(&meeting->outer);
    }
    bz_scene_spawn(world, "awaiter", 0, awaiter, meeting);
    bz_scene_spawn_member(world, &meeting->firer, "firer", 0, linger, meeting, on_firer_end);
    bz_scene_spawn_member(world, &meeting->resumer, "resumer", 0, linger, meeting, on_resumer_end);
}

/* --- beginning and end ------------------------------------------------------------------------ */

static void spawn_all(struct crowd *crowd) {
    struct bz_world *world = crowd->scene.world;
    for (uint32_t index = 0; index < crowd->client_count; index++) {
        struct client *client = &crowd->clients[index];
        client->crowd = crowd;
        client->request.answer = on_answer;
        client->request.waiter = bz_world_alloc(world, crowd->ops->waiter_bytes);
        client->task = bz_scene_spawn(world, "client", index + 1, client_body, client);
    }
    bz_scene_spawn(world, "canceller", 0, canceller, crowd);
}

static void *setup(struct bz_world *world, const struct bz_scenario_args *args) {
    uint32_t count = (uint32_t)args->values[CROWD];
    uint32_t permits = (uint32_t)args->values[PERMITS];
    struct crowd *crowd =
        bz_scene_new(world, args, sizeof *crowd + count * sizeof crowd->clients[0]);
    crowd->ops = world->variant->deferred;
    crowd->client_count = count;
    crowd->instance = bz_world_alloc(world, crowd->ops->instance_bytes);
    if (args->values[CHAIN] > 0) {
        bz_play_chains(world, args->values[CHAIN]);
        begin_meeting(world);
    }
    if (bz_scene_is_set_up(world, crowd->ops->init(crowd->instance, world->loop, permits))) {
        spawn_all(crowd);
    }
    return crowd;
}

static void finish(struct bz_world *world, void *arg) {
    struct crowd *crowd = arg;
    uint32_t unanswered = 0;
    for (uint32_t index = 0; index < crowd->client_count; index++) {
        unanswered += crowd->clients[index].is_asking;
    }
    bz_world_assert(world, unanswered == 0, "requests never answered: %u", unanswered);
    bz_world_assert(world, crowd->holders == 0, "permits still held: %llu",
                    (unsigned long long)crowd->holders);
    uint32_t queued = crowd->ops->queued != NULL ? crowd->ops->queued(crowd->instance) : 0;
    bz_world_assert(world, queued == 0, "all requests were answered, but %u clients still wait",
                    queued);
    enum bz_status status = crowd->ops->release(crowd->instance);
    bool refuses = bz_scene_claims(world, BZ_PRIMITIVE_DEFERRED, BZ_CLAIM_REFUSES_MISUSE);
    bz_world_assert(world, !refuses || status != BZ_OK,
                    "a release of what nobody held was accepted");
}

const struct bz_scenario bz_scenario_deferred = {
    .name = "deferred",
    .summary = "a crowd at a semaphore of callbacks, which release and cancel inside callbacks",
    .params = params,
    BZ_SCENARIO_USES(BZ_PRIMITIVE_DEFERRED),
    .setup = setup,
    .runs_uncancelled = true,
    .finish = finish,
    .sizes = sizes,
    .size = "permits",
};
