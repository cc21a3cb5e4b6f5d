/* The check of a history against one that tries every order, on random small histories: both must
 * agree on the first event that is not explained, on what kind of finding it is, and at rest. */
#include <criterion/criterion.h>
#include <string.h>

#include "primitives/runtime/coro/san.h"
#include "primitives/runtime/mem.h"
#include "primitives/tests/long.h"
#include "sim/choice/pcg.h"
#include "sim/model/tests/models.h"

#define CLIENTS 3u
#define EVENTS 12u
#define STATE_BYTES 32u
#define WAYS 2u /* of an operation with a chosen argument, which is its first */

enum kind { CALL, RETURN, CANCEL, CANCELLED };

struct event {
    enum kind kind;
    uint32_t client, op;
    int64_t argument, answer;
};

/* One client's operation, as one order of the model has it. */
struct client {
    bool is_pending, is_requested, has_begun, took, is_undone;
    uint32_t op, called;
    uint32_t passed; /* how often others have passed it */
    int64_t argument, answer;
};

struct world {
    _Alignas(8) char state[STATE_BYTES];
    struct client clients[CLIENTS];
};

struct history {
    const struct bz_model *model;
    int64_t parameter;
    struct event events[EVENTS];
    uint32_t count;
};

/* --- every order ------------------------------------------------------------------------------ */

struct question {
    const struct history *history;
    uint32_t count; /* events that must be explained */
    bool is_at_rest;
    bool has_lines;
    bool is_resting; /* nothing takes effect in the place of another operation */
};

static uint32_t ways_of(const struct history *history, uint32_t op) {
    const struct bz_model_op *description = &history->model->ops[op];
    bool has_choice = description->argument_count > 0 && description->arguments[0].is_chosen;
    return has_choice ? WAYS : 1;
}

static bool steps(const struct history *history, struct world *world, uint32_t op, uint32_t who,
                  uint32_t way) {
    struct client *client = &world->clients[who];
    int64_t argument = ways_of(history, op) > 1           ? (int64_t)way
                       : ways_of(history, client->op) > 1 ? client->answer
                                                          : client->argument;
    return way < ways_of(history, op) &&
           history->model->step(world->state, op, &argument, &client->answer);
}

static bool is_ahead(const struct question *question, const struct world *world, uint32_t a,
                     uint32_t b) {
    const struct bz_model_op *ops = question->history->model->ops;
    const struct client *first = &world->clients[a], *second = &world->clients[b];
    bool is_in_line = ops[first->op].line != 0 && ops[first->op].line == ops[second->op].line;
    bool is_preferred = (ops[second->op].yields_to >> first->op & 1) != 0;
    return question->has_lines && a != b && first->is_pending && !first->took &&
           !first->is_requested && ((is_in_line && first->called < second->called) || is_preferred);
}

static bool has_ahead(const struct question *question, const struct world *world, uint32_t who) {
    bool is_any = false;
    for (uint32_t other = 0; other < CLIENTS; other++) {
        is_any |= is_ahead(question, world, other, who);
    }
    return is_any;
}

/* All that are ahead, without those to leave behind, could be served, the first called first, and
 * then this one. */
static bool may_be_served(const struct question *question, const struct world *world, uint32_t who,
                          uint32_t behind, uint32_t way) {
    struct world trial = *world;
    uint32_t first = CLIENTS;
    for (uint32_t other = 0; other < CLIENTS; other++) {
        bool is_due = (behind >> other & 1) == 0 && is_ahead(question, world, other, who);
        if (is_due &&
            (first == CLIENTS || world->clients[other].called < world->clients[first].called)) {
            first = other;
        }
    }
    if (first == CLIENTS) {
        return steps(question->history, &trial, trial.clients[who].op, who, way);
    }
    for (uint32_t tried = 0; tried < WAYS; tried++) {
        trial = *world;
        if (steps(question->history, &trial, trial.clients[first].op, first, tried) &&
            may_be_served(question, &trial, who, behind | 1u << first, way)) {
            return true;
        }
    }
    return false;
}

/* The others that would still let it pass. */
static uint32_t lenient_to(const struct question *question, const struct world *world,
                           uint32_t who) {
    const struct bz_model_op *ops = question->history->model->ops;
    uint32_t set = 0;
    for (uint32_t other = 0; other < CLIENTS; other++) {
        const struct client *first = &world->clients[other];
        bool is_preferred = (ops[world->clients[who].op].yields_to >> first->op & 1) != 0;
        set |= (uint32_t)(is_ahead(question, world, other, who) && !is_preferred &&
                          first->passed < ops[first->op].bypass)
               << other;
    }
    return set;
}

/* The first moment of an operation that has two. Its answer stays with the client. */
static bool begins(const struct question *question, struct world *world, uint32_t who,
                   uint32_t way) {
    struct client *client = &world->clients[who];
    const struct bz_model_op *op = &question->history->model->ops[client->op];
    if (!client->is_pending || client->has_begun || client->took || op->begins_with == 0) {
        return false;
    }
    for (uint32_t other = 0; op->begins_in_order && other < CLIENTS; other++) {
        const struct client *first = &world->clients[other];
        if (first->is_pending && !first->is_requested && !first->has_begun && !first->took &&
            first->op == client->op && first->called < client->called) {
            return false;
        }
    }
    struct world next = *world;
    if (!steps(question->history, &next, op->begins_with - 1, who, way)) {
        return false;
    }
    *world = next;
    client->has_begun = true;
    return true;
}

/* Steps, and all is as before if the model does not let it. */
static bool takes(const struct question *question, struct world *world, uint32_t op, uint32_t who,
                  uint32_t way) {
    struct world before = *world;
    struct client *client = &world->clients[who];
    client->answer = client->has_begun ? client->answer : 0;
    client->took = steps(question->history, world, op, who, way);
    if (!client->took) {
        *world = before;
        return false;
    }
    client->has_begun = false;
    return true;
}

static bool takes_effect(const struct question *question, struct world *world, uint32_t who,
                         uint32_t way) {
    struct client *client = &world->clients[who];
    const struct bz_model_op *op = &question->history->model->ops[client->op];
    bool is_ready = op->begins_with == 0 || (client->has_begun && !client->is_undone);
    if (!client->is_pending || client->took || !is_ready) {
        return false;
    }
    if (has_ahead(question, world, who) && !may_be_served(question, world, who, 0, way)) {
        uint32_t behind = lenient_to(question, world, who);
        if (behind == 0 || !may_be_served(question, world, who, behind, way)) {
            return false;
        }
        for (uint32_t other = 0; other < CLIENTS; other++) {
            world->clients[other].passed += behind >> other & 1;
        }
    }
    if (takes(question, world, client->op, who, way)) {
        return true;
    }
    bool must_wait = true;
    for (uint32_t other = 0; other < WAYS; other++) {
        struct world trial = *world;
        must_wait &= !takes(question, &trial, client->op, who, other);
    }
    return must_wait && op->or_else != 0 && !question->is_resting &&
           takes(question, world, op->or_else - 1, who, way);
}

/* An operation that has begun, and not taken effect, may be undone in two moments in its turn. */
static bool undoes_begun(const struct question *question, struct world *world, uint32_t who,
                         uint32_t way) {
    struct client *client = &world->clients[who];
    uint32_t undo = question->history->model->ops[client->op].undo;
    uint32_t first = question->history->model->ops[undo].begins_with;
    if (!client->is_requested || !client->has_begun) {
        return false;
    }
    bool is_half = first != 0 && !client->is_undone;
    struct world next = *world;
    int64_t ticket = client->answer; /* stays what it is */
    if (!steps(question->history, &next, is_half ? first - 1 : undo, who, way)) {
        return false;
    }
    *world = next;
    client->answer = ticket;
    client->is_undone = true;
    client->took = !is_half;
    client->has_begun = is_half;
    return true;
}

static bool is_undone(const struct question *question, struct world *world, uint32_t who,
                      uint32_t way) {
    struct client *client = &world->clients[who];
    const struct bz_model_op *op = &question->history->model->ops[client->op];
    if (client->is_pending && op->begins_with != 0) {
        return undoes_begun(question, world, who, way);
    }
    if (!client->is_pending || !client->took || client->is_undone || !client->is_requested ||
        op->cancel != BZ_MODEL_CANCEL_UNDOES) {
        return false;
    }
    struct world before = *world;
    client->is_undone = true;
    if (!steps(question->history, world, op->undo, who, way)) {
        cr_assert(way > 0 || ways_of(question->history, op->undo) > 1);
        *world = before;
        return false;
    }
    return true;
}

static bool happens(const struct question *question, struct world *world, uint32_t number) {
    const struct event *event = &question->history->events[number];
    struct client *client = &world->clients[event->client];
    bool is_free = client->took ? client->is_undone : !client->has_begun;
    switch (event->kind) {
    case CALL:
        *client = (struct client){
            .is_pending = true, .op = event->op, .called = number, .argument = event->argument};
        return true;
    case CANCEL:
        client->is_requested = true;
        return true;
    case RETURN:
        client->is_pending = false;
        return client->took && !client->is_undone && client->answer == event->answer;
    default:
        client->is_pending = false;
        return is_free ||
               question->history->model->ops[client->op].cancel == BZ_MODEL_CANCEL_MAY_DO_ALL;
    }
}

/* Nobody waits who could begin or complete, or has completed. */
static bool rests(const struct question *asked, const struct world *world) {
    struct question question = *asked;
    question.is_resting = true;
    for (uint32_t which = 0; question.is_at_rest && which < CLIENTS * WAYS; which++) {
        uint32_t who = which / WAYS, way = which % WAYS;
        const struct client *client = &world->clients[who];
        struct world trial = *world;
        if (client->is_pending && !client->is_requested &&
            (client->took || begins(&question, &trial, who, way) ||
             takes_effect(&question, &trial, who, way))) {
            return false;
        }
    }
    return true;
}

/* True if some order explains the events from `number` on. A cancel that ends an operation was
 * requested before: the histories below do so. */
static bool is_possible(const struct question *question, const struct world *world,
                        uint32_t number) {
    struct world next = *world;
    if (number == question->count && rests(question, world)) {
        return true;
    }
    if (number < question->count && happens(question, &next, number) &&
        is_possible(question, &next, number + 1)) {
        return true;
    }
    for (uint32_t which = 0; which < CLIENTS * WAYS; which++) {
        uint32_t who = which / WAYS, way = which % WAYS;
        next = *world;
        if ((takes_effect(question, &next, who, way) && is_possible(question, &next, number)) ||
            (next = *world,
             begins(question, &next, who, way) && is_possible(question, &next, number)) ||
            (next = *world,
             is_undone(question, &next, who, way) && is_possible(question, &next, number))) {
            return true;
        }
    }
    return false;
}

static struct world first_world(const struct history *history) {
    struct world world;
    memset(&world, 0, sizeof world);
    if (history->model->start != NULL) {
        history->model->start(world.state, &history->parameter);
    }
    return world;
}

static bool is_explained(const struct history *history, uint32_t count, bool is_at_rest,
                         bool has_lines) {
    struct question question = {history, count, is_at_rest, has_lines, false};
    struct world world = first_world(history);
    return is_possible(&question, &world, 0);
}

/* --- random histories ------------------------------------------------------------------------- */

static uint32_t draw(struct bz_pcg32 *pcg, uint32_t bound) {
    return bz_pcg32_below(pcg, bound);
}

/* Of a model without choices, nothing is drawn. */
static uint32_t draw_way(struct bz_pcg32 *pcg, const struct history *history) {
    uint32_t most = 1;
    for (uint32_t op = 0; op < history->model->op_count; op++) {
        most = ways_of(history, op) > most ? ways_of(history, op) : most;
    }
    return most == 1 ? 0 : draw(pcg, most);
}

static struct event called(struct bz_pcg32 *pcg, const struct history *history, uint32_t who) {
    struct event event = {.kind = CALL, .client = who};
    do {
        event.op = draw(pcg, history->model->op_count);
    } while (history->model->ops[event.op].is_hidden);
    const struct bz_model_op *op = &history->model->ops[event.op];
    if (op->argument_count > 0) {
        const struct bz_model_argument *range = &op->arguments[0];
        uint32_t width = (uint32_t)(range->most - range->least) + 1;
        event.argument = range->least + (int64_t)draw(pcg, width < 2 ? width : 2);
    }
    return event;
}

/* Follows one order of the model, and strays from it now and then. One history in three keeps no
 * line. */
static void fill(struct bz_pcg32 *pcg, struct history *history) {
    struct question question = {history, EVENTS, false, draw(pcg, 3) != 0, false};
    struct world world = first_world(history);
    uint32_t moments = 1 + (history->model->ops[0].begins_with != 0); /* twice the orders to try */
    uint32_t length = 1 + draw(pcg, EVENTS / moments);
    for (history->count = 0; history->count < length;) {
        uint32_t who = draw(pcg, CLIENTS);
        struct client *client = &world.clients[who];
        bool strays = draw(pcg, 25) == 0;
        struct event event = {.client = who, .op = client->op, .answer = client->answer};
        if (!client->is_pending) {
            event = called(pcg, history, who);
        } else if (client->is_requested && draw(pcg, 2) == 0) {
            is_undone(&question, &world, who, draw_way(pcg, history));
            event.kind = CANCELLED;
            if ((client->has_begun || (client->took && !client->is_undone)) && !strays) {
                continue;
            }
        } else if ((client->took && !client->is_undone) || strays) {
            event.kind = RETURN;
            event.answer += strays ? (int64_t)draw(pcg, 3) - 1 : 0;
        } else if (!client->is_requested && draw(pcg, 4) == 0) {
            event.kind = CANCEL;
        } else {
            uint32_t way = draw_way(pcg, history);
            if (!begins(&question, &world, who, way)) {
                takes_effect(&question, &world, who, way);
            }
            continue;
        }
        history->events[history->count] = event;
        happens(&question, &world, history->count);
        history->count++;
    }
}

static enum bz_history_result report(struct bz_history *checked, const struct event *event) {
    switch (event->kind) {
    case CALL:
        return bz_history_call(checked, event->client, event->op, &event->argument);
    case RETURN:
        return bz_history_return(checked, event->client, event->answer);
    case CANCEL:
        return bz_history_cancel(checked, event->client);
    default:
        return bz_history_cancelled(checked, event->client);
    }
}

/* How often each result came out; the test is worth nothing without all of them. */
static uint32_t tally[BZ_HISTORY_MISUSE + 1];

static void compare(const struct history *history, struct bz_history *checked, uint32_t number) {
    enum bz_history_result expected = BZ_HISTORY_EXPLAINED, got = BZ_HISTORY_EXPLAINED;
    uint32_t count = 0;
    bz_history_restart(checked);
    while (count < history->count && got == BZ_HISTORY_EXPLAINED) {
        got = report(checked, &history->events[count]);
        count++;
        expected = is_explained(history, count, false, true)    ? BZ_HISTORY_EXPLAINED
                   : is_explained(history, count, false, false) ? BZ_HISTORY_OUT_OF_LINE
                                                                : BZ_HISTORY_UNEXPLAINED;
        cr_assert_eq(got, expected, "%s, history %u, event %u: %s", history->model->name, number,
                     count, bz_history_finding(checked)->message);
    }
    tally[got]++;
    if (got == BZ_HISTORY_EXPLAINED) {
        expected = is_explained(history, count, true, true) ? BZ_HISTORY_EXPLAINED
                                                            : BZ_HISTORY_LOST_WAKEUP;
        got = bz_history_rest(checked);
        cr_assert_eq(got, expected, "%s, history %u, at rest: %s", history->model->name, number,
                     bz_history_finding(checked)->message);
        tally[got]++;
    }
    cr_assert_eq(bz_history_finding(checked)->events, got == BZ_HISTORY_EXPLAINED ? 0 : count);
}

static uint32_t part_of(uint32_t count) {
    return BZ_SAN_ADDRESS ? count / 8 : TST_LONG(count / 3, count);
}

static void compare_many(const struct bz_model *model, uint32_t count, uint32_t out_of_line) {
    count = part_of(count);
    struct bz_mem *mem = bz_mem_new(0);
    struct history history = {.model = model};
    struct bz_pcg32 pcg;
    bz_pcg32_seed(&pcg, 14, 2);
    memset(tally, 0, sizeof tally);
    for (int64_t parameter = 1; parameter <= 2; parameter++) {
        struct bz_history *checked =
            bz_history_new(mem, &(struct bz_history_config){.configurations_first = 1,
                                                            .model = model,
                                                            .parameters = &parameter,
                                                            .clients_max = CLIENTS});
        history.parameter = parameter;
        for (uint32_t number = 0; number < count; number++) {
            fill(&pcg, &history);
            compare(&history, checked, number);
        }
        bz_history_destroy(checked);
    }
    bz_mem_destroy(mem);
    cr_assert_lt(count / 20, tally[BZ_HISTORY_EXPLAINED]);
    cr_assert_lt(count / 20, tally[BZ_HISTORY_UNEXPLAINED]);
    cr_assert_lt(count / 100, tally[BZ_HISTORY_LOST_WAKEUP]);
    cr_assert_leq(part_of(out_of_line), tally[BZ_HISTORY_OUT_OF_LINE]);
}

#define AGREES(model, count, out_of_line)                                                          \
    Test(model_brute, model) {                                                                     \
        compare_many(&model##_model, count, out_of_line);                                          \
    }

AGREES(semaphore, 2500, 21)
AGREES(strict_semaphore, 2500, 21)
AGREES(barging_semaphore, 5000, 1)
AGREES(lock, 1000, 0)
AGREES(event, 1000, 0)
AGREES(queue, 1000, 0)
AGREES(rwlock, 1000, 21)
AGREES(barrier, 2000, 0)
AGREES(shy, 2000, 0)
AGREES(workers, 1500, 21)

/* --- models that nobody would write ----------------------------------------------------------- */

#define TABLE_STATES 4u

struct table_state {
    int64_t at;
    int64_t rules; /* drawn once: what each operation does in each state */
};

/* The last of three operations always completes, so it can undo the others. */
static bool table_step(void *state, uint32_t op, const int64_t *arguments, int64_t *answer) {
    struct table_state *table = state;
    uint64_t rule = (uint64_t)table->rules >> (((uint64_t)table->at * 3 + op) * 5);
    *answer = (int64_t)(rule >> 2 & 1) + arguments[0] - arguments[0];
    table->at = (int64_t)(rule & 3);
    return op == 2 || (rule >> 3 & 3) != 0;
}

static void table_start(void *state, const int64_t *parameters) {
    *(struct table_state *)state = (struct table_state){.rules = parameters[0]};
}

#define DRAWN(model)                                                                               \
    static const struct bz_model model##_model =                                                   \
        MODEL(#model, struct table_state, model##_ops, .step = model##_step, .parameter_count = 1, \
              .start = table_start);

#define TABLE_ARGUMENT .argument_count = 1, .arguments = {{.name = "n", .least = 0, .most = 1}}

static const struct bz_model_op table_ops[] = {
    {.name = "a", .cancel = BZ_MODEL_CANCEL_UNDOES, .undo = 2, TABLE_ARGUMENT},
    {.name = "b", .cancel = BZ_MODEL_CANCEL_MAY_DO_ALL, TABLE_ARGUMENT},
    {.name = "c", TABLE_ARGUMENT}};

DRAWN(table)

/* The implementation chooses what each operation does, and what undoes it; the line is kept. */
static bool choices_step(void *state, uint32_t op, const int64_t *arguments, int64_t *answer) {
    struct table_state *table = state;
    uint64_t index = ((uint64_t)table->at * 3 + op) * 2 + ((uint64_t)arguments[0] & 1);
    uint64_t rule = (uint64_t)table->rules * (2 * index + 1) >> 40;
    *answer = (int64_t)(rule >> 2 & 1);
    table->at = (int64_t)(rule & 3);
    return op == 2 || (rule >> 3 & 3) != 0;
}

#define TABLE_CHOICE                                                                               \
    .argument_count = 1, .arguments = {{.name = "n", .least = 0, .most = 1, .is_chosen = true}}

static const struct bz_model_op choices_ops[] = {
    {.name = "a", .line = 1, .cancel = BZ_MODEL_CANCEL_UNDOES, .undo = 2, TABLE_CHOICE},
    {.name = "b", .line = 1, .cancel = BZ_MODEL_CANCEL_MAY_DO_ALL, TABLE_CHOICE},
    {.name = "c", TABLE_CHOICE}};

DRAWN(choices)

/* The effect of an operation in a state depends on its ticket, too. */
static bool moments_step(void *state, uint32_t op, const int64_t *arguments, int64_t *ticket) {
    struct table_state *table = state;
    uint64_t index = ((uint64_t)table->at * 6 + op) * 2 + ((uint64_t)*ticket & 1);
    uint64_t rule = (uint64_t)table->rules * (2 * index + 1) >> 40;
    (void)arguments;
    *ticket = (int64_t)(rule >> 2 & 1);
    table->at = (int64_t)(rule & 3);
    return (rule >> 3 & 3) != 0;
}

/* Calls begin and take effect, in order or not; one goes on without what it waits for; its undo has
 * two moments as well. */
enum { FIRST, SECOND, BEGIN, BACK_OFF, TAKE_BACK, GO_ON };

static const struct bz_model_op moments_ops[] = {
    [FIRST] = {.name = "first",
               .begins_with = 1 + BEGIN,
               .begins_in_order = true,
               .cancel = BZ_MODEL_CANCEL_UNDOES,
               .undo = TAKE_BACK},
    [SECOND] = {.name = "second",
                .begins_with = 1 + BEGIN,
                .or_else = 1 + GO_ON,
                .cancel = BZ_MODEL_CANCEL_UNDOES,
                .undo = BACK_OFF},
    [BEGIN] = {.name = "begin", .is_hidden = true},
    [BACK_OFF] = {.name = "back_off", .is_hidden = true},
    [TAKE_BACK] = {.name = "take_back", .begins_with = 1 + BACK_OFF, .is_hidden = true},
    [GO_ON] = {.name = "go_on", .is_hidden = true}};

DRAWN(moments)

static void compare_drawn(const struct bz_model *model) {
    struct bz_mem *mem = bz_mem_new(0);
    struct history history = {.model = model};
    struct bz_pcg32 pcg;
    bz_pcg32_seed(&pcg, 15, 2);
    memset(tally, 0, sizeof tally);
    uint32_t count = part_of(2000);
    for (uint32_t number = 0; number < count; number++) {
        history.parameter =
            (int64_t)((uint64_t)bz_pcg32_next(&pcg) << 31 | bz_pcg32_next(&pcg) >> 1);
        struct bz_history *checked =
            bz_history_new(mem, &(struct bz_history_config){.configurations_first = 1,
                                                            .model = model,
                                                            .parameters = &history.parameter,
                                                            .clients_max = CLIENTS});
        fill(&pcg, &history);
        compare(&history, checked, number);
        bz_history_destroy(checked);
    }
    bz_mem_destroy(mem);
    cr_assert_lt(count / 20, tally[BZ_HISTORY_EXPLAINED]);
    cr_assert_lt(count / 20, tally[BZ_HISTORY_UNEXPLAINED]);
    cr_assert_lt(count / 20, tally[BZ_HISTORY_LOST_WAKEUP]);
}

#define AGREES_DRAWN(model)                                                                        \
    Test(model_brute, drawn_##model) {                                                             \
        compare_drawn(&model##_model);                                                             \
    }

AGREES_DRAWN(table)
AGREES_DRAWN(choices)
AGREES_DRAWN(moments)
