#include "sim/model/history.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "primitives/runtime/mem.h"
#include "sim/model/internal.h"

#define CLIENTS_DEFAULT 16u
#define CONFIGURATIONS_DEFAULT 1024u
#define EVENTS_DEFAULT 1024u
#define SETTLES_NS_MAX 1000u

/* --- the description of a model --------------------------------------------------------------- */

static const char *op_fault(const struct bz_model *model, const struct bz_model_op *op) {
    if (op->name == NULL) {
        return "an operation has no name";
    }
    if (op->argument_count > BZ_MODEL_ARGUMENTS_MAX) {
        return "an operation has too many arguments";
    }
    uint32_t chosen_count = 0;
    for (uint32_t index = 0; index < op->argument_count; index++) {
        const struct bz_model_argument *argument = &op->arguments[index];
        if (argument->least > argument->most) {
            return "the range of an argument is empty";
        }
        chosen_count += argument->is_chosen;
        if (argument->is_chosen &&
            (uint64_t)argument->most - (uint64_t)argument->least >= BZ_MODEL_WAYS_MAX) {
            return "an implementation chooses among too many values of an argument";
        }
    }
    if (chosen_count > 1) {
        return "an implementation chooses more than one argument of an operation";
    }
    if ((uint32_t)op->cancel > BZ_MODEL_CANCEL_MAY_DO_ALL) {
        return "what a cancelled operation may have done is unknown";
    }
    if (op->cancel == BZ_MODEL_CANCEL_UNDOES && op->undo >= model->op_count) {
        return "an operation is undone by one that does not exist";
    }
    if (op->begins_with > model->op_count || op->needs > model->op_count ||
        op->or_else > model->op_count) {
        return "an operation begins with one, needs one or has one in its place that does not "
               "exist";
    }
    if (op->ends_by_itself && op->or_else == 0) {
        return "an operation ends by itself, and has none in its place that lets it end";
    }
    if (op->begins_with != 0 && !op->is_hidden && op->cancel != BZ_MODEL_CANCEL_UNDOES) {
        return "an operation that begins with another one is not cancelled by undo";
    }
    if (op->bypass != 0 && op->line == 0) {
        return "an operation that keeps no line limits who passes it";
    }
    if (op->begins_with != 0 && (op->line != 0 || op->yields_to != 0)) {
        return "an operation that begins with another one keeps a line or yields; it may only "
               "begin "
               "in order";
    }
    if (model->op_count < 64 && op->yields_to >> model->op_count != 0) {
        return "an operation yields to one that does not exist";
    }
    if (op->gives_back > model->op_count ||
        (op->gives_back != 0 &&
         model->ops[op->gives_back - 1].argument_count < op->argument_count)) {
        return "an operation gives back one that does not exist, or has more arguments than that";
    }
    return NULL;
}

static bool is_yielded_to(const struct bz_model *model, uint32_t op) {
    uint64_t all = 0;
    for (uint32_t index = 0; index < model->op_count; index++) {
        all |= model->ops[index].yields_to;
    }
    return (all >> op & 1) != 0;
}

const char *bz_model_fault(const struct bz_model *model) {
    if (model->name == NULL || model->step == NULL || model->ops == NULL) {
        return "it has no name, no operations or no step";
    }
    if (model->op_count == 0 || model->op_count > BZ_MODEL_OPS_MAX) {
        return "it has too few or too many operations";
    }
    if (model->state_bytes == 0 || model->state_bytes > BZ_MODEL_STATE_BYTES_MAX) {
        return "its state is empty or too large";
    }
    if (model->pass != NULL && (model->settles_ns == 0 || model->settles_ns > SETTLES_NS_MAX)) {
        return "its state changes with time, and settles after too short or too long a time";
    }
    if (model->parameter_count > BZ_MODEL_PARAMETERS_MAX) {
        return "it has too many parameters";
    }
    for (uint32_t index = 0; index < model->op_count; index++) {
        const char *fault = op_fault(model, &model->ops[index]);
        if (fault != NULL) {
            return fault;
        }
        if (model->ops[index].begins_with != 0 && is_yielded_to(model, index)) {
            return "an operation yields to one that begins with another one";
        }
    }
    return NULL;
}

/* --- creation --------------------------------------------------------------------------------- */

static uint32_t power_of_two_from(uint32_t least) {
    uint32_t power = 1;
    while (power < least) {
        power *= 2;
    }
    return power;
}

/* Hands out the parts of one block; without a block it counts the bytes. */
struct carver {
    char *block;
    size_t used;
};

static void *carve(struct carver *carver, size_t count, size_t size_bytes) {
    void *part = carver->block == NULL ? NULL : carver->block + carver->used;
    carver->used += (count * size_bytes + 15) / 16 * 16;
    return part;
}

static void carve_set(struct carver *carver, struct bz_configurations *set, uint32_t capacity,
                      uint32_t row_words, const struct bz_history *sizes) {
    *set = (struct bz_configurations){.row_words = row_words,
                                      .mem = sizes->mem,
                                      .limit = sizes->configurations_max,
                                      .capacity = capacity,
                                      .place_count = power_of_two_from(2 * capacity),
                                      .generation = 1};
    set->words = carve(carver, (size_t)capacity * row_words, sizeof *set->words);
    set->places = carve(carver, set->place_count, sizeof *set->places);
}

static struct bz_history *carve_history(struct carver *carver, const struct bz_history *sizes,
                                        uint32_t configurations) {
    struct bz_history scratch;
    struct bz_history *block = carve(carver, 1, sizeof *block);
    struct bz_history *history = block == NULL ? &scratch : block;
    uint32_t state_words = (sizes->model->state_bytes + 7) / 8;
    uint32_t row_words = BZ_WORD_ANSWERS + sizes->clients_max + state_words;
    *history = *sizes;
    history->operations = carve(carver, sizes->clients_max, sizeof *history->operations);
    history->events = carve(carver, sizes->events_max, sizeof *history->events);
    history->row = carve(carver, row_words, sizeof *history->row);
    history->trial = carve(carver, (size_t)row_words * (sizes->ways > 1 ? sizes->clients_max : 1),
                           sizeof *history->trial);
    carve_set(carver, &history->now, configurations, row_words, sizes);
    carve_set(carver, &history->next, configurations, row_words, sizes);
    carve_set(carver, &history->reached, configurations, row_words, sizes);
    return block;
}

static uint32_t most_ways(const struct bz_model *model) {
    uint32_t most = 1;
    for (uint32_t op = 0; op < model->op_count; op++) {
        uint32_t ways = bz_model_ways(&model->ops[op]);
        most = ways > most ? ways : most;
    }
    return most;
}

static uint32_t or_default(uint32_t number, uint32_t if_zero) {
    return number == 0 ? if_zero : number;
}

struct bz_history *bz_history_new(struct bz_mem *mem, const struct bz_history_config *config) {
    const struct bz_model *model = config->model;
    struct bz_history sizes = {.mem = mem,
                               .model = model,
                               .clients_max = or_default(config->clients_max, CLIENTS_DEFAULT),
                               .events_max = or_default(config->events_max, EVENTS_DEFAULT),
                               .first_number = config->first_number};
    sizes.configurations_max = or_default(config->configurations_max, CONFIGURATIONS_DEFAULT);
    uint32_t configurations = or_default(config->configurations_first, sizes.configurations_max);
    struct carver carver = {.block = NULL};
    if (bz_model_fault(model) != NULL || sizes.clients_max > BZ_HISTORY_CLIENTS_MAX ||
        sizes.events_max > BZ_HISTORY_EVENTS_MAX ||
        sizes.configurations_max > BZ_HISTORY_CONFIGURATIONS_MAX ||
        configurations > sizes.configurations_max ||
        (model->parameter_count > 0 && config->parameters == NULL)) {
        return NULL;
    }
    for (uint32_t index = 0; index < model->parameter_count; index++) {
        sizes.parameters[index] = config->parameters[index];
    }
    sizes.ways = most_ways(model);
    carve_history(&carver, &sizes, configurations);
    sizes.bytes = carver.used;
    carver = (struct carver){.block = bz_mem_alloc(mem, sizes.bytes)};
    if (carver.block == NULL) {
        return NULL;
    }
    struct bz_history *history = carve_history(&carver, &sizes, configurations);
    bz_history_restart(history);
    return history;
}

void bz_history_destroy(struct bz_history *history) {
    if (history != NULL) {
        bz_configurations_free(&history->now);
        bz_configurations_free(&history->next);
        bz_configurations_free(&history->reached);
        bz_mem_free(history->mem, history, history->bytes);
    }
}

/* The one configuration before the first event. */
static void begin(struct bz_history *history) {
    history->pending = 0;
    history->requested = 0;
    history->is_full = false;
    history->cannot_undo = false;
    memset(history->row, 0, history->now.row_words * sizeof *history->row);
    if (history->model->start != NULL) {
        history->model->start(history->row + BZ_WORD_ANSWERS + history->clients_max,
                              history->parameters);
    }
    bz_configurations_clear(&history->now);
    bz_configurations_add(&history->now, history->row);
}

void bz_history_restart(struct bz_history *history) {
    history->event_count = 0;
    history->ignores_lines = false;
    history->finding = (struct bz_history_finding){.result = BZ_HISTORY_EXPLAINED};
    begin(history);
}

/* --- events ----------------------------------------------------------------------------------- */

static void swap_sets(struct bz_history *history, struct bz_configurations *with) {
    struct bz_configurations old = history->now;
    history->now = *with;
    *with = old;
}

/* Changes the configurations. False, and all is as before: none explains the event, or the check
 * cannot continue. */
static bool apply(struct bz_history *history, const struct bz_history_event *event,
                  uint32_t number) {
    struct bz_pending *operation = &history->operations[event->client];
    uint64_t bit = UINT64_C(1) << event->client;
    if (event->kind == BZ_HISTORY_CALL) {
        bool begins = history->model->ops[event->op].begins_at_call;
        if (begins || is_yielded_to(history->model, event->op)) {
            bz_effects_of(history, history->pending, 0); /* before it is there */
            swap_sets(history, &history->reached);
        }
        operation->op = event->op;
        operation->number = number;
        memcpy(operation->arguments, event->arguments, sizeof operation->arguments);
        history->pending |= bit;
        if (begins) {
            bz_effects_of_call(history, event->client);
            swap_sets(history, &history->next);
        }
        return !history->is_full && !history->cannot_undo;
    }
    if (event->kind == BZ_HISTORY_CANCEL) {
        history->requested |= bit;
        return true;
    }
    if (event->kind == BZ_HISTORY_PASS) {
        bz_effects_of_time(history, (uint64_t)event->answer);
        return !history->is_full && !history->cannot_undo;
    }
    if (event->kind == BZ_HISTORY_RETURN) {
        bz_effects_of_return(history, event->client, event->answer);
    } else {
        history->requested |= bit;
        bz_effects_of_end(history, event->client);
    }
    if (history->next.count == 0 || history->is_full || history->cannot_undo) {
        return false;
    }
    history->pending &= ~bit;
    history->requested &= ~bit;
    swap_sets(history, &history->next);
    return true;
}

/* True if the same events are explained if no operation has to keep its line. */
static bool is_explained_without_lines(struct bz_history *history) {
    bool has_lines = false;
    for (uint32_t index = 0; index < history->model->op_count; index++) {
        has_lines |=
            history->model->ops[index].line != 0 || history->model->ops[index].yields_to != 0;
    }
    history->ignores_lines = true;
    begin(history);
    for (uint32_t index = 0; has_lines && index < history->event_count; index++) {
        if (!apply(history, &history->events[index], index + 1)) {
            return false;
        }
    }
    return has_lines;
}

/* The check cannot continue. */
static void say_unable(struct bz_history *history, uint32_t client) {
    const struct bz_model *model = history->model;
    if (history->is_full) {
        bz_history_object(history, BZ_HISTORY_LIMIT, client,
                          "%s: more than %" PRIu32 " %s the history (configurations_max)",
                          model->name, history->configurations_max,
                          history->configurations_max == 1 ? "configuration explains"
                                                           : "configurations explain");
    } else {
        bz_history_object(history, BZ_HISTORY_MISUSE, client,
                          "the model '%s' refuses to undo %s by %s", model->name,
                          model->ops[history->undoing].name,
                          model->ops[model->ops[history->undoing].undo].name);
    }
}

static enum bz_history_result report(struct bz_history *history,
                                     const struct bz_history_event *event) {
    if (history->event_count == history->events_max) {
        bz_history_object(history, BZ_HISTORY_LIMIT, event->client,
                          "%s: more than %" PRIu32 " events (events_max)", history->model->name,
                          history->events_max);
        return history->finding.result;
    }
    history->events[history->event_count] = *event;
    history->events[history->event_count].step = history->step;
    history->event_count++;
    if (!apply(history, event, history->event_count)) {
        if (history->is_full || history->cannot_undo) {
            say_unable(history, event->client);
            return history->finding.result;
        }
        bz_history_say_unexplained(history, event);
        if (is_explained_without_lines(history)) {
            history->finding.result = BZ_HISTORY_OUT_OF_LINE;
            size_t used = strlen(history->finding.message);
            static const char why[] = "; only its place in the line forbids it";
            if (used + sizeof why <= sizeof history->finding.message) {
                memcpy(history->finding.message + used, why, sizeof why);
            }
        }
    }
    return history->finding.result;
}

static enum bz_history_result misuse(struct bz_history *history, uint32_t client,
                                     const char *rule) {
    bz_history_object(history, BZ_HISTORY_MISUSE, client, "%s: client %" PRIu32 ": %s",
                      history->model->name, client, rule);
    return history->finding.result;
}

enum bz_history_result bz_history_call(struct bz_history *history, uint32_t client, uint32_t op,
                                       const int64_t *arguments) {
    struct bz_history_event event = {.kind = BZ_HISTORY_CALL, .client = client, .op = op};
    if (history->finding.result != BZ_HISTORY_EXPLAINED) {
        return history->finding.result;
    }
    if (client >= history->clients_max) {
        bz_history_object(history, BZ_HISTORY_LIMIT, client,
                          "%s: more than %" PRIu32 " clients (clients_max)", history->model->name,
                          history->clients_max);
        return history->finding.result;
    }
    if ((history->pending >> client & 1) != 0) {
        return misuse(history, client, "a call inside of another one");
    }
    if (op >= history->model->op_count) {
        return misuse(history, client, "a call of no operation of the model");
    }
    const struct bz_model_op *called = &history->model->ops[op];
    for (uint32_t index = 0; index < called->argument_count; index++) {
        if (called->arguments[index].is_chosen) {
            continue;
        }
        if (arguments == NULL) {
            return misuse(history, client, "a call without its arguments");
        }
        event.arguments[index] = arguments[index];
        if (arguments[index] < called->arguments[index].least ||
            arguments[index] > called->arguments[index].most) {
            return misuse(history, client, "an argument out of its range");
        }
    }
    return report(history, &event);
}

/* An event of an unfinished operation. */
static enum bz_history_result report_of(struct bz_history *history, uint32_t client,
                                        enum bz_history_event_kind kind, int64_t answer) {
    if (history->finding.result != BZ_HISTORY_EXPLAINED) {
        return history->finding.result;
    }
    if (client >= history->clients_max || (history->pending >> client & 1) == 0) {
        return misuse(history, client, "the end or the cancel of an operation that was not called");
    }
    struct bz_history_event event = {
        .kind = kind, .client = client, .op = history->operations[client].op, .answer = answer};
    memcpy(event.arguments, history->operations[client].arguments, sizeof event.arguments);
    return report(history, &event);
}

enum bz_history_result bz_history_return(struct bz_history *history, uint32_t client,
                                         int64_t answer) {
    return report_of(history, client, BZ_HISTORY_RETURN, answer);
}

enum bz_history_result bz_history_cancel(struct bz_history *history, uint32_t client) {
    return report_of(history, client, BZ_HISTORY_CANCEL, 0);
}

void bz_history_request(struct bz_history *history, uint32_t client) {
    history->requested |= UINT64_C(1) << client;
}

enum bz_history_result bz_history_cancelled(struct bz_history *history, uint32_t client) {
    return report_of(history, client, BZ_HISTORY_CANCELLED, 0);
}

enum bz_history_result bz_history_pass(struct bz_history *history, uint64_t elapsed_ns) {
    struct bz_history_event event = {.kind = BZ_HISTORY_PASS, .answer = (int64_t)elapsed_ns};
    if (history->finding.result != BZ_HISTORY_EXPLAINED || history->model->pass == NULL ||
        elapsed_ns == 0) {
        return history->finding.result;
    }
    return report(history, &event);
}

/* --- at rest ---------------------------------------------------------------------------------- */

/* True if none of these can begin: at rest, all that can have begun. */
static bool has_all_begun(struct bz_history *history, const uint64_t *row, uint64_t clients) {
    for (; clients != 0; clients &= clients - 1) {
        if (bz_effect_in_any_way(history, row, (uint32_t)__builtin_ctzll(clients),
                                 bz_effect_begin)) {
            return false;
        }
    }
    return true;
}

/* Those of the clients that have no reason to wait in this configuration. */
static uint64_t idle_in(struct bz_history *history, const uint64_t *row, uint64_t clients) {
    uint64_t idle = row[BZ_WORD_TOOK] & clients;
    for (clients &= ~idle; clients != 0; clients &= clients - 1) {
        uint32_t client = (uint32_t)__builtin_ctzll(clients);
        idle |= (uint64_t)bz_effect_in_any_way(history, row, client, bz_effect_take) << client;
    }
    return idle;
}

/* Tasks that wait and need not, so much later, if nothing happens meanwhile; 0: all must, or there
 * are too many configurations. *in_all: need not in any of them. */
static uint64_t idle_at_rest(struct bz_history *history, uint64_t elapsed_ns, uint64_t *in_all) {
    uint64_t waiting = history->pending & ~history->requested;
    uint64_t in_first = 0;
    *in_all = waiting;
    bz_effects_at_rest(history, waiting, elapsed_ns);
    if (history->is_full || history->cannot_undo) {
        return 0;
    }
    for (uint32_t index = 0; index < history->reached.count; index++) {
        const uint64_t *row = bz_configurations_row(&history->reached, index);
        if (!has_all_begun(history, row, waiting)) {
            continue;
        }
        uint64_t idle = idle_in(history, row, waiting);
        if (idle == 0) {
            return 0;
        }
        in_first = in_first == 0 ? idle : in_first;
        *in_all &= idle;
    }
    return in_first;
}

static enum bz_history_result rest(struct bz_history *history, uint64_t elapsed_ns,
                                   const char *meanwhile) {
    uint64_t in_all;
    if (history->finding.result != BZ_HISTORY_EXPLAINED) {
        return history->finding.result;
    }
    uint64_t idle = idle_at_rest(history, elapsed_ns, &in_all);
    if (history->is_full || history->cannot_undo) {
        say_unable(history, 0);
    } else if (idle != 0) {
        uint64_t named = in_all != 0 ? in_all : idle;
        bz_history_say_waits(history, (uint32_t)__builtin_ctzll(named), meanwhile, in_all != 0);
    }
    return history->finding.result;
}

bool bz_history_must_wait(struct bz_history *history) {
    uint64_t in_all;
    return history->finding.result == BZ_HISTORY_EXPLAINED &&
           idle_at_rest(history, history->model->settles_ns, &in_all) == 0;
}

#define NOTHING_WAKES "nothing is under way to wake it"

enum bz_history_result bz_history_rest(struct bz_history *history) {
    return rest(history, history->model->settles_ns, NOTHING_WAKES);
}

enum bz_history_result bz_history_over(struct bz_history *history) {
    uint64_t waiting = history->pending & ~history->requested;
    for (; waiting != 0 && history->finding.result == BZ_HISTORY_EXPLAINED;
         waiting &= waiting - 1) {
        uint32_t client = (uint32_t)__builtin_ctzll(waiting);
        if (bz_history_op(history, client)->ends_by_itself) {
            bz_history_say_waits(history, client, NOTHING_WAKES, true);
        }
    }
    return history->finding.result;
}

enum bz_history_result bz_history_idle(struct bz_history *history, uint64_t idle_ns) {
    const struct bz_model *model = history->model;
    char meanwhile[80];
    if (model->pass == NULL || idle_ns <= model->late_ns) {
        return history->finding.result;
    }
    uint64_t spare_ns = idle_ns - 1 - model->late_ns;
    snprintf(meanwhile, sizeof meanwhile, "nothing happens for the next %" PRIu64 " ns", idle_ns);
    return rest(history, spare_ns < model->settles_ns ? spare_ns : model->settles_ns, meanwhile);
}

void bz_history_at_step(struct bz_history *history, uint32_t step) {
    history->step = step;
}

/* --- results ---------------------------------------------------------------------------------- */

const struct bz_history_finding *bz_history_finding(const struct bz_history *history) {
    return &history->finding;
}
