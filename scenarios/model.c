/* model: tasks that call the operations of one primitive, drawn from the model that judges it.
 *
 * Each task makes `operations` calls, with up to `pause` yields before each. Which operation it
 * calls, and with which arguments, is drawn from the model's description. At its end, a task gives
 * back what it holds, some only when nothing else can run: then who waits is seen to. A canceller
 * strikes tasks inside of an operation. No oracle looks into the primitive: the history of the
 * calls is checked against the model alone (sim/model/history.h).
 *
 * A task may wait rightly forever, as in a wait for an event that is never set. So a timer fires
 * when nothing can run, except tasks that poll inside an operation, and that must wait. If the
 * model agrees that all who wait must wait, one task that holds something gives it back, or one
 * that waits is cancelled, and so on until all have ended.
 *
 * With `extras=1`, tasks also call what the model marks as extra, continue after a call that was
 * cancelled, and release what no task holds. A variant that claims BZ_CLAIM_REFUSES_MISUSE must
 * refuse that, and nothing may change.
 *
 * A check that hits its limit judges nothing of the rest of its run (bz_judge_cut()). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "primitives/runtime/driver.h"
#include "primitives/runtime/timer.h"
#include "scenarios/models/models.h"
#include "scenarios/scenario_support.h"
#include "scenarios/scenarios.h"
#include "sim/model/history.h"
#include "traces/trace_fields.h"

enum { TASKS, OPERATIONS, CAPACITY, PAUSE, PATIENCE, CANCELS, CONFIGURATIONS, EXTRAS };

static const struct bz_param params[] = {
    {"tasks", "tasks that call operations", 4, 1, 16},
    {"operations", "calls of each task, besides those that give back", 3, 1, 1000},
    {"capacity",
     "permits of a semaphore, items of a queue (0: no bound; -1: a rendezvous), parties of a "
     "barrier but one",
     1, -1, 8},
    {"pause", "0..pause yields before each call, and one more by who holds something", 1, 0, 1000},
    {"patience", "the canceller yields 0..patience-1 times", 8, 1, 1000},
    {"cancels", "how often the canceller strikes", 1, 0, 1000},
    {"configurations", "that the check follows at one time", 100000, 1, 1000000},
    {"extras",
     "1: also operations that the model marks as extra, releases of what nobody holds, which must "
     "be refused if the variant claims it, and calls after a cancelled one",
     0, 0, 1},
    {NULL, NULL, 0, 0, 0},
};

/* The check grows with the tasks that are in an operation at one time, not with the length of a
 * history. So the long tail has no more tasks than others. */
static const struct bz_size sizes[] = {
    {"tasks", 2, 5, 0},        {"operations", 1, 4, 8}, {"capacity", 1, 3, 0},
    {"pause", 0, 2, 0},        {"cancels", 0, 3, 0},    {"extras", 1, 1, 0},
    {"operations", 5, 257, 0}, {"capacity", 4, 8, 0},   {"cancels", 4, 33, 0},
    {NULL, 0, 0, 0},
};

#define FIRST 8u           /* configurations that there is memory for */
#define EVENTS_OF_A_CALL 3 /* call, request of its cancel, end */

struct client {
    struct scene *scene;
    struct bz_task *task;
    uint32_t number; /* from 0 */
    uint32_t op;     /* that it is in */
    uint32_t misuse; /* 1 + the operation that it calls beside one that waits; 0: none */
    bool is_inside;
    bool is_requested; /* the history knows that its cancel was requested */
    bool keeps;        /* what it holds, until nothing can run */
    struct bz_future leave;
    uint64_t owed; /* operations that it must give back, as bits */
    int64_t (*owed_arguments)[BZ_MODEL_ARGUMENTS_MAX]; /* by operation */
};

struct scene {
    struct bz_scene base;
    struct bz_sut_opaque sut;
    struct bz_modelled modelled;
    struct bz_model_op ops[BZ_MODELLED_OPS_MAX]; /* of the model */
    struct bz_history *history;
    struct bz_timer closer;
    uint32_t client_count;
    enum bz_primitive primitive;
    bool is_asked; /* since the history changed, if all that wait must: */
    bool all_wait;
    int64_t fresh;                   /* arguments given out so far */
    int64_t room;                    /* items that may be put besides those that are there */
    uint64_t noted_ns;               /* the time that the history knows */
    uint8_t words[BZ_MODEL_OPS_MAX]; /* enum bz_op, by operation */
    struct bz_task **tasks;
    struct client clients[];
};

static int64_t value_of(const struct scene *scene, int param) {
    return scene->base.values[param];
}

/* --- the history ------------------------------------------------------------------------------ */

static void report(struct scene *scene, enum bz_history_result result) {
    static const char *const oracles[] = {[BZ_HISTORY_UNEXPLAINED] = "linearizability",
                                          [BZ_HISTORY_OUT_OF_LINE] = "fifo",
                                          [BZ_HISTORY_LOST_WAKEUP] = "lost-wakeup"};
    scene->is_asked = false;
    if (__builtin_expect(result == BZ_HISTORY_EXPLAINED, 1)) {
        return;
    }
    const struct bz_history_finding *finding = bz_history_finding(scene->history);
    struct bz_judge *judge = scene->base.world->judge;
    if (result == BZ_HISTORY_LIMIT || result == BZ_HISTORY_MISUSE) {
        bz_judge_cut(judge, finding->message);
    } else {
        uint32_t task = bz_task_id(scene->clients[finding->client].task);
        bz_judge_violate(judge, oracles[result], task, scene->sut.object, "%s", finding->message);
    }
}

/* A cancel that strikes a task inside an operation is noted at the next return, and before time
 * passes: its effects on operations show there first. Those of a call may depend on it, too
 * (`is_call`). While a wait cannot be cancelled, nothing comes of the request: the task keeps its
 * place in the line, unless an earlier request has reached it. */
static void note_requests(struct scene *scene, bool is_call) {
    for (uint32_t number = 0; number < scene->client_count; number++) {
        struct client *client = &scene->clients[number];
        if (client->is_inside && !client->is_requested && bz_task_cancelling(client->task) > 0 &&
            (bz_world_was_cancelled(scene->base.world, client->task) ||
             !bz_world_waits_on(scene->base.world, client->task))) {
            client->is_requested = !is_call;
            if (is_call) {
                bz_history_request(scene->history, number);
                scene->is_asked = false;
            } else {
                report(scene, bz_history_cancel(scene->history, number));
            }
        }
    }
}

static void note_time(struct scene *scene) {
    uint64_t now_ns = bz_loop_now_ns(scene->base.world->loop);
    if (__builtin_expect(now_ns != scene->noted_ns, 0)) {
        note_requests(scene, false);
        report(scene, bz_history_pass(scene->history, now_ns - scene->noted_ns));
        scene->noted_ns = now_ns;
    }
}

static void note_end(struct client *client, enum bz_status status, int64_t answer) {
    struct scene *scene = client->scene;
    note_time(scene);
    note_requests(scene, false);
    bz_history_at_step(scene->history, bz_judge_steps(scene->base.world->judge));
    client->is_inside = false;
    report(scene, status == BZ_OK ? bz_history_return(scene->history, client->number, answer)
                                  : bz_history_cancelled(scene->history, client->number));
}

/* Statuses that are answers of a model of its author's own, as bits. The oracles `status` and
 * `cancel-delivered` judge the others. */
#define REFUSALS                                                                                   \
    (1u << BZ_NOT_HELD | 1u << BZ_INVALID_STATE | 1u << BZ_INVALID_ARGUMENT | 1u << BZ_BROKEN |    \
     1u << BZ_CLOSED | 1u << BZ_EMPTY | 1u << BZ_FULL)

/* --- calls ------------------------------------------------------------------------------------ */

/* The call in the story of a run; after its end with the answer, if it has one. */
static void say_call(const struct scene *scene, uint32_t op, const int64_t *arguments,
                     const int64_t *answer) {
    char text[BZ_SAID_BYTES];
    bz_model_call_text(&scene->modelled.model, op, arguments, text, sizeof text);
    size_t used = strlen(text);
    if (answer != NULL && (*answer != 0 || scene->modelled.model.ops[op].zero_refuses)) {
        snprintf(text + used, sizeof text - used, " = %" PRId64, *answer);
    }
    bz_judge_say(scene->base.world->judge, text);
}

/* A give-back finds it in the place of the argument that the implementation has chosen. */
static void keep_answer(const struct bz_model_op *op, int64_t *arguments, int64_t answer) {
    for (uint32_t index = 0; index < op->argument_count; index++) {
        arguments[index] = op->arguments[index].is_chosen ? answer : arguments[index];
    }
}

/* *has_taken: it was completed, and not refused. */
static enum bz_status call(struct client *client, uint32_t op, int64_t *arguments,
                           bool *has_taken) {
    struct scene *scene = client->scene;
    struct bz_judge *judge = scene->base.world->judge;
    const struct bz_model_op *description = &scene->modelled.model.ops[op];
    enum bz_op word = (enum bz_op)scene->words[op];
    uint32_t refusals = scene->primitive == BZ_PRIMITIVE_MODELLED ? REFUSALS : 0;
    int64_t answer = 0;
    note_time(scene); /* of those that are inside already */
    note_requests(scene, true);
    client->op = op;
    client->is_inside = true;
    client->is_requested = false;
    bz_history_at_step(scene->history, bz_judge_steps(judge));
    report(scene, bz_history_call(scene->history, client->number, op, arguments));
    bool is_recorded = bz_judge_is_recorded(judge);
    if (is_recorded) {
        say_call(scene, op, arguments, NULL);
    }
    bz_judge_opaque_begin(judge, scene->sut.object, word,
                          description->argument_count > 0 ? (uint32_t)arguments[0] : 0);
    bz_sut_may_wait(scene->base.world);
    scene->room -= word == BZ_OP_PUT;
    enum bz_status status = scene->modelled.call(&scene->sut, op, arguments, &answer);
    scene->room += status == BZ_OK ? word == BZ_OP_GET : word == BZ_OP_PUT;
    if (is_recorded) {
        say_call(scene, op, arguments, status == BZ_OK ? &answer : NULL);
    }
    bz_judge_opaque_end(judge, scene->sut.object, word, status, refusals);
    bz_judge_say(judge, NULL);
    bool is_refused =
        (unsigned)status < BZ_STATUS_COUNT && (refusals >> (unsigned)status & 1u) != 0;
    note_end(client, is_refused ? BZ_OK : status, is_refused ? -(int64_t)status : answer);
    *has_taken = status == BZ_OK && (answer != 0 || !description->zero_refuses);
    if (*has_taken) {
        keep_answer(description, arguments, answer);
    }
    return is_refused ? BZ_OK : status;
}

/* True if a task is in a call that excludes this operation; `waits`: and it surely waits. */
static bool is_excluded(const struct scene *scene, uint32_t op, bool waits) {
    const struct bz_model_op *ops = scene->modelled.model.ops;
    uint32_t single = ops[op].single;
    bool is_found = false;
    for (uint32_t number = 0; single != 0 && number < scene->client_count; number++) {
        const struct client *other = &scene->clients[number];
        bool is_inside = other->is_inside && ops[other->op].single == single;
        bool misuses = other->misuse != 0 && ops[other->misuse - 1].single == single;
        is_found |= waits ? is_inside && bz_world_waits_in(scene->base.world, other->task,
                                                           (enum bz_op)scene->words[other->op])
                          : is_inside || misuses;
    }
    return is_found;
}

/* The operations that the task may call now, as bits. */
static uint64_t callable(const struct client *client) {
    const struct bz_model *model = &client->scene->modelled.model;
    uint64_t set = 0;
    for (uint32_t op = 0; op < model->op_count; op++) {
        uint32_t owed = model->ops[op].gives_back;
        uint32_t needed = model->ops[op].needs;
        bool is_owed = owed != 0 && (client->owed >> (owed - 1) & 1) != 0;
        bool is_free = owed == 0 && (client->owed >> op & 1) == 0 &&
                       (needed == 0 || (client->owed >> (needed - 1) & 1) != 0);
        bool has_room = client->scene->room > 0 || client->scene->words[op] != BZ_OP_PUT;
        bool is_called = !model->ops[op].is_hidden && has_room &&
                         !is_excluded(client->scene, op, false) &&
                         (!model->ops[op].is_extra || value_of(client->scene, EXTRAS) == 1);
        set |= (uint64_t)(is_called && (is_owed || is_free)) << op;
    }
    return set;
}

static uint32_t draw_one(struct scene *scene, uint64_t ops, const char *label) {
    uint32_t count = (uint32_t)__builtin_popcountll(ops);
    uint64_t skip = count == 1 ? 0 : bz_world_draw(scene->base.world, label, count);
    for (; skip > 0; skip--) {
        ops &= ops - 1;
    }
    return (uint32_t)__builtin_ctzll(ops);
}

/* Of an operation that needs another one, the argument that was chosen in that one is its answer,
 * which is in `owed`. */
static void draw_arguments(struct scene *scene, uint32_t op,
                           int64_t (*owed)[BZ_MODEL_ARGUMENTS_MAX], int64_t *arguments) {
    const struct bz_model_op *description = &scene->modelled.model.ops[op];
    const struct bz_model_op *needed =
        description->needs == 0 ? description : &scene->modelled.model.ops[description->needs - 1];
    for (uint32_t index = 0; index < description->argument_count; index++) {
        const struct bz_model_argument *argument = &description->arguments[index];
        if (argument->is_chosen || needed->arguments[index].is_chosen) {
            arguments[index] = argument->is_chosen ? 0 : owed[description->needs - 1][index];
            continue;
        }
        uint64_t bound = (uint64_t)argument->most - (uint64_t)argument->least + 1;
        uint64_t drawn = argument->is_fresh
                             ? (uint64_t)scene->fresh++
                             : bz_world_draw(scene->base.world, argument->name, bound);
        arguments[index] = (int64_t)((uint64_t)argument->least + drawn);
    }
}

/* The operation that gives this one back; op_count: none. */
static uint32_t giver_of(const struct bz_model *model, uint32_t op) {
    uint32_t giver = 0;
    while (giver < model->op_count && model->ops[giver].gives_back != op + 1) {
        giver++;
    }
    return giver;
}

static enum bz_status give_back(struct client *client, uint32_t op) {
    uint32_t owed = client->scene->modelled.model.ops[op].gives_back - 1;
    client->owed &= ~(UINT64_C(1) << owed);
    bool has_taken;
    return call(client, op, client->owed_arguments[owed], &has_taken);
}

/* The operations that would give back what no task holds, or that one task at a time may call and
 * another one is in, if the variant claims to refuse that. A plain semaphore takes any release. */
static uint64_t misusable(const struct scene *scene) {
    const struct bz_model *model = &scene->modelled.model;
    uint64_t set = 0;
    bool is_judged = value_of(scene, EXTRAS) == 1 && scene->primitive != BZ_PRIMITIVE_SEMAPHORE &&
                     bz_scene_claims(scene->base.world, scene->primitive, BZ_CLAIM_REFUSES_MISUSE);
    bool is_owed = false;
    for (uint32_t number = 0; number < scene->client_count; number++) {
        is_owed |= scene->clients[number].owed != 0;
    }
    for (uint32_t op = 0; is_judged && op < model->op_count; op++) {
        bool is_release = !is_owed && model->ops[op].gives_back != 0;
        set |= (uint64_t)(is_release || is_excluded(scene, op, true)) << op;
    }
    return set;
}

static void report_misuse(const struct client *client, uint32_t op) {
    const struct scene *scene = client->scene;
    const struct bz_model_op *description = &scene->modelled.model.ops[op];
    bz_judge_violate(scene->base.world->judge, "misuse", bz_task_id(client->task),
                     scene->sut.object, "client-%u called %s of '%s' while %s, and was not refused",
                     client->number + 1, description->name, scene->modelled.model.name,
                     description->single != 0 ? "another task waits there, which may be one only"
                                              : "no task held anything");
}

/* The history does not know of it: it must have no effect. */
static enum bz_status call_misuse(struct client *client, uint64_t set) {
    struct scene *scene = client->scene;
    struct bz_judge *judge = scene->base.world->judge;
    int64_t arguments[BZ_MODEL_ARGUMENTS_MAX] = {0};
    int64_t answer = 0;
    uint32_t op = draw_one(scene, set, "misuse-operation");
    bool is_release = scene->modelled.model.ops[op].single == 0;
    client->misuse = is_release ? 0 : op + 1;
    draw_arguments(scene, op, client->owed_arguments, arguments);
    if (bz_judge_is_recorded(judge)) {
        say_call(scene, op, arguments, NULL);
    }
    bz_judge_opaque_begin(judge, scene->sut.object, (enum bz_op)scene->words[op], 0);
    bz_sut_may_wait(scene->base.world);
    enum bz_status status = scene->modelled.call(&scene->sut, op, arguments, &answer);
    bool is_cancelled = status == BZ_CANCELLED;
    client->misuse = 0;
    bz_judge_opaque_end(judge, scene->sut.object, (enum bz_op)scene->words[op],
                        is_cancelled ? status : BZ_OK, 0);
    if (status == BZ_OK && (answer == 0 || !is_release)) {
        report_misuse(client, op);
    }
    return is_cancelled ? status : BZ_OK;
}

static enum bz_status call_drawn(struct client *client) {
    struct scene *scene = client->scene;
    const struct bz_model *model = &scene->modelled.model;
    uint64_t misuses = misusable(scene);
    if (misuses != 0 && bz_world_draw(scene->base.world, "misuse", 2) == 1) {
        return call_misuse(client, misuses);
    }
    uint64_t set = callable(client);
    if (set == 0) {
        return BZ_OK;
    }
    uint32_t op = draw_one(scene, set, "operation");
    if (model->ops[op].gives_back != 0) {
        return give_back(client, op);
    }
    int64_t *arguments = client->owed_arguments[op];
    draw_arguments(scene, op, client->owed_arguments, arguments);
    bool has_taken;
    enum bz_status status = call(client, op, arguments, &has_taken);
    if (has_taken && giver_of(model, op) < model->op_count) {
        client->owed |= UINT64_C(1) << op;
    }
    return status;
}

/* With extras, and a model with a clock, it may take as long as the model needs to settle. */
static enum bz_status pause_before_call(struct client *client) {
    struct scene *scene = client->scene;
    struct bz_world *world = scene->base.world;
    uint64_t drawn = bz_world_draw(world, "pause", (uint64_t)value_of(scene, PAUSE) + 1);
    enum bz_status status = bz_yield_times(world, drawn + (client->owed != 0));
    if (status == BZ_OK && value_of(scene, EXTRAS) == 1 && scene->modelled.model.pass != NULL) {
        status = bz_sleep_drawn(world, "nap-ns", 0, (int64_t)scene->modelled.model.settles_ns);
    }
    return status;
}

static enum bz_status run_client(void *arg) {
    struct client *client = arg;
    struct scene *scene = client->scene;
    enum bz_status status = BZ_OK;
    enum bz_manner manner = value_of(scene, EXTRAS) == 1 ? BZ_MANNER_GO_ON : BZ_MANNER_ONE;
    for (int64_t left = value_of(scene, OPERATIONS); status == BZ_OK && left > 0; left--) {
        status = pause_before_call(client);
        status = status == BZ_OK ? call_drawn(client) : status;
        status = bz_end_of_round(scene->base.world, manner, status);
    }
    if (status == BZ_OK && client->owed != 0 && bz_world_draw(scene->base.world, "keep", 2) == 1) {
        client->keeps = true;
        status = bz_future_await(&client->leave);
        client->keeps = false;
    }
    while (client->owed != 0) {
        uint32_t owed = (uint32_t)__builtin_ctzll(client->owed);
        (void)give_back(client, giver_of(&scene->modelled.model, owed)); /* judged as all calls */
    }
    return status;
}

/* --- at rest ---------------------------------------------------------------------------------- */

static void end_one(struct scene *scene) {
    struct bz_world *world = scene->base.world;
    struct client *end = scene->clients + scene->client_count;
    const struct client *deaf = NULL; /* it waits on, however often it is cancelled */
    for (struct client *client = scene->clients; client < end; client++) {
        if (client->keeps) {
            (void)bz_future_set_result(&client->leave, 0);
            return;
        }
    }
    for (const struct client *client = scene->clients; client < end; client++) {
        uint32_t asked = bz_task_cancelling(client->task);
        bool is_deaf = asked >= BZ_ASKED_MAX && bz_world_was_cancelled(world, client->task);
        deaf = is_deaf ? client : deaf;
        if (!is_deaf && !bz_world_waits_on(world, client->task) && bz_task_cancel(client->task)) {
            return;
        }
    }
    if (deaf != NULL) {
        bz_judge_violate(world->judge, "cancel-delivered", bz_task_id(deaf->task),
                         scene->sut.object, "client-%u was cancelled %u times, and waits on",
                         deaf->number + 1, bz_task_cancelling(deaf->task));
    }
}

/* Also at the end of a step after which nothing is under way to wake who waits. */
static void judge_rest(void *instance) {
    struct scene *scene = instance;
    for (uint32_t number = 0; number < scene->client_count; number++) {
        if (scene->clients[number].misuse != 0) {
            report_misuse(&scene->clients[number], scene->clients[number].misuse - 1);
            return;
        }
    }
    note_time(scene);
    note_requests(scene, false);
    report(scene, bz_history_rest(scene->history));
}

static void judge_idle(void *instance, uint64_t until_ns) {
    struct scene *scene = instance;
    note_time(scene);
    note_requests(scene, false);
    if (until_ns < UINT64_MAX) {
        report(scene, bz_history_idle(scene->history, until_ns - scene->noted_ns));
    } else if (scene->modelled.model.pass == NULL) {
        report(scene, bz_history_rest(scene->history));
    }
}

/* Where tasks poll, none of them is accused: it may go on when it runs. The answer is kept, because
 * the question changes the memory of the history, and nothing may change while tasks poll. */
static bool must_wait(void *instance) {
    struct scene *scene = instance;
    if (!scene->is_asked) {
        scene->is_asked = true;
        scene->all_wait = bz_history_must_wait(scene->history);
    }
    return scene->all_wait;
}

static void close_at_rest(struct bz_timer *timer) {
    struct scene *scene = bz_container_of(timer, struct scene, closer);
    const struct bz_loop *loop = scene->base.world->loop;
    bool may_run = /* tasks poll, or a cancel came before */
        bz_driver_ready_count(loop) > 0 || bz_driver_next_deadline_ns(loop) <= BZ_TIME_MAX_NS;
    if (!may_run) {
        judge_rest(scene);
        report(scene, bz_history_over(scene->history));
    }
    if (may_run ? must_wait(scene)
                : bz_history_finding(scene->history)->result == BZ_HISTORY_EXPLAINED) {
        end_one(scene);
    }
}

/* --- setting up ------------------------------------------------------------------------------- */

/* How traces call an operation of this name. */
static enum bz_op word_of(const char *name) {
    unsigned op = bz_vocabulary_find(&bz_vocabulary_op, name);
    return op >= BZ_OP_ACQUIRE && op < BZ_OP_COUNT ? (enum bz_op)op : BZ_OP_WAIT;
}

static bool keep_history(struct scene *scene, const int64_t *parameters) {
    const struct bz_model *model = &scene->modelled.model;
    uint64_t calls = (uint64_t)scene->client_count * (uint64_t)value_of(scene, OPERATIONS);
    uint32_t most = (uint32_t)value_of(scene, CONFIGURATIONS);
    scene->history = bz_history_new(
        bz_loop_mem(scene->base.world->loop),
        &(struct bz_history_config){
            .model = model,
            .parameters = parameters,
            .clients_max = scene->client_count,
            .configurations_max = most,
            .configurations_first = most < FIRST ? most : FIRST,
            .events_max = (uint32_t)(calls * (model->pass != NULL ? 4 : 2) * EVENTS_OF_A_CALL),
            .first_number = 1});
    return scene->history != NULL;
}

#define MAY_WAIT (1u << BZ_OP_ACQUIRE | 1u << BZ_OP_WAIT | 1u << BZ_OP_PUT | 1u << BZ_OP_GET)

static void spawn_all(struct scene *scene) {
    uint32_t op_count = scene->modelled.model.op_count;
    for (uint32_t number = 0; number < scene->client_count; number++) {
        struct client *client = &scene->clients[number];
        *client = (struct client){.scene = scene, .number = number};
        client->owed_arguments =
            bz_world_alloc(scene->base.world, op_count * sizeof client->owed_arguments[0]);
        bz_future_init(&client->leave, scene->base.world->loop);
        scene->tasks[number] = client->task =
            bz_scene_spawn(scene->base.world, "client", number + 1, run_client, client);
    }
    if (value_of(scene, CANCELS) > 0) {
        bz_canceller_spawn(scene->base.world, scene->tasks, scene->client_count, MAY_WAIT,
                           value_of(scene, PATIENCE), value_of(scene, CANCELS));
    }
}

static void *setup(struct bz_world *world, const struct bz_scenario_args *args) {
    uint32_t count = (uint32_t)args->values[TASKS];
    struct scene *scene =
        bz_scene_new(world, args, sizeof *scene + count * sizeof scene->clients[0]);
    int64_t parameters[BZ_MODEL_PARAMETERS_MAX];
    scene->base.permits =
        args->primitive == BZ_PRIMITIVE_LOCK ? 1 : (uint32_t)args->values[CAPACITY];
    scene->room = args->primitive == BZ_PRIMITIVE_QUEUE && args->values[CAPACITY] == 0
                      ? BZ_MODELLED_ITEMS_MAX
                      : INT64_MAX / 2;
    scene->client_count = count;
    scene->primitive = args->primitive;
    scene->noted_ns = bz_loop_now_ns(world->loop);
    scene->tasks = bz_world_alloc(world, count * sizeof scene->tasks[0]);
    bool is_modelled = bz_modelled_init(
        &scene->modelled, world->variant, args->primitive,
        args->primitive == BZ_PRIMITIVE_QUEUE && args->values[CAPACITY] < 0, scene->ops);
    for (uint32_t index = 0; index < BZ_MODEL_PARAMETERS_MAX; index++) {
        parameters[index] = scene->base.permits;
    }
    for (uint32_t op = 0; op < scene->modelled.model.op_count; op++) {
        scene->words[op] = (uint8_t)word_of(scene->modelled.model.ops[op].name);
    }
    const struct bz_introspection look = {
        .instance = scene, .at_rest = judge_rest, .idle = judge_idle, .must_wait = must_wait};
    enum bz_status status = BZ_INVALID_ARGUMENT;
    if (is_modelled) {
        status = bz_sut_opaque_init(&scene->sut, world, args->primitive, scene->modelled.model.name,
                                    scene->modelled.init, parameters, &look);
    }
    if (!bz_scene_is_set_up(world, status)) {
        return scene;
    }
    bz_timer_init(&scene->closer, world->loop, close_at_rest);
    if (!keep_history(scene, parameters)) {
        bz_judge_lacks(world->judge, NULL, "the history of a run");
        return scene;
    }
    spawn_all(scene);
    bz_world_fire_at_rest(world, &scene->closer);
    return scene;
}

const struct bz_scenario bz_scenario_model = {
    .name = "model",
    .summary = "calls drawn from a sequential model, which alone judges what they return",
    .params = params,
    .primitives = {BZ_PRIMITIVE_SEMAPHORE, BZ_PRIMITIVE_BOUNDED, BZ_PRIMITIVE_LOCK,
                   BZ_PRIMITIVE_EVENT, BZ_PRIMITIVE_QUEUE, BZ_PRIMITIVE_CONDITION,
                   BZ_PRIMITIVE_BARRIER, BZ_PRIMITIVE_MODELLED},
    .primitive_count = 8,
    .setup = setup,
    .sizes = sizes,
    .size = "capacity",
    .parties_more = 1,
};
