/* How one event changes the configurations. */
#include <string.h>

#include "sim/model/internal.h"

static uint64_t bit_of(uint32_t client) {
    return UINT64_C(1) << client;
}

static void copy_row(const struct bz_history *history, uint64_t *to, const uint64_t *from) {
    memcpy(to, from, history->now.row_words * sizeof *to);
}

/* In that way of its ways: the argument that the implementation chooses has the value of that
 * number. An operation that undoes another one, and chooses nothing, finds the answer there. */
static __attribute__((noinline)) bool step_chosen(const struct bz_history *history, uint64_t *state,
                                                  uint32_t op, uint32_t client, uint32_t way,
                                                  int64_t *answer) {
    const struct bz_pending *called = &history->operations[client];
    uint32_t own = bz_model_chosen(&history->model->ops[op]);
    uint32_t other = bz_model_chosen(&history->model->ops[called->op]);
    int64_t arguments[BZ_MODEL_ARGUMENTS_MAX];
    memcpy(arguments, called->arguments, sizeof arguments);
    if (way >= bz_model_ways(&history->model->ops[op])) {
        return false;
    }
    if (own != 0) {
        arguments[own - 1] = history->model->ops[op].arguments[own - 1].least + (int64_t)way;
    } else if (other != 0) {
        arguments[other - 1] = *answer;
    }
    return history->model->step(state, op, arguments, answer);
}

static bool step(const struct bz_history *history, uint64_t *row, uint32_t op, uint32_t client,
                 uint32_t way, int64_t *answer) {
    uint64_t *state = row + BZ_WORD_ANSWERS + history->clients_max;
    if (__builtin_expect(history->ways > 1, 0)) {
        return step_chosen(history, state, op, client, way, answer);
    }
    return history->model->step(state, op, history->operations[client].arguments, answer);
}

/* The clients that wait and go before this one: in its line, or as those that it yields to. */
static uint64_t ahead_of(const struct bz_history *history, const uint64_t *from, uint32_t client) {
    const struct bz_model_op *op = bz_history_op(history, client);
    uint64_t others = history->pending & ~history->requested & ~from[BZ_WORD_TOOK];
    uint64_t ahead = 0;
    if ((op->line == 0 && op->yields_to == 0) || history->ignores_lines) {
        return 0;
    }
    for (; others != 0; others &= others - 1) {
        uint32_t other = (uint32_t)__builtin_ctzll(others);
        bool is_earlier = history->operations[other].number < history->operations[client].number;
        bool is_in_line = op->line != 0 && bz_history_op(history, other)->line == op->line;
        if ((is_in_line && is_earlier) ||
            (op->yields_to >> history->operations[other].op & 1) != 0) {
            ahead |= bit_of(other);
        }
    }
    return ahead & ~bit_of(client);
}

static uint32_t first_called(const struct bz_history *history, uint64_t clients) {
    uint32_t first = (uint32_t)__builtin_ctzll(clients);
    for (; clients != 0; clients &= clients - 1) {
        uint32_t client = (uint32_t)__builtin_ctzll(clients);
        if (history->operations[client].number < history->operations[first].number) {
            first = client;
        }
    }
    return first;
}

static bool could_follow(const struct bz_history *history, uint64_t *trial, uint64_t ahead,
                         uint32_t client, uint32_t way);

/* The same, if the first of them has a choice: tried in the next row of `trial`. */
static __attribute__((noinline)) bool could_choose(const struct bz_history *history,
                                                   uint64_t *trial, uint32_t first, uint64_t ahead,
                                                   uint32_t client, uint32_t way) {
    uint64_t *next = trial + history->now.row_words;
    for (uint32_t tried = 0; tried < history->ways; tried++) {
        int64_t answer = 0;
        copy_row(history, next, trial);
        if (step(history, next, history->operations[first].op, first, tried, &answer) &&
            could_follow(history, next, ahead, client, way)) {
            return true;
        }
    }
    return false;
}

/* True if these, each in any way, and then the client in that way, could take effect. */
static bool could_follow(const struct bz_history *history, uint64_t *trial, uint64_t ahead,
                         uint32_t client, uint32_t way) {
    while (ahead != 0) {
        uint32_t other = first_called(history, ahead);
        int64_t answer = 0;
        ahead &= ~bit_of(other);
        if (__builtin_expect(history->ways > 1, 0)) {
            return could_choose(history, trial, other, ahead, client, way);
        }
        if (!step(history, trial, history->operations[other].op, other, 0, &answer)) {
            return false;
        }
    }
    int64_t answer = 0;
    return step(history, trial, history->operations[client].op, client, way, &answer);
}

static bool could_take(struct bz_history *history, const uint64_t *from, uint64_t ahead,
                       uint32_t client, uint32_t way) {
    copy_row(history, history->trial, from);
    return could_follow(history, history->trial, ahead, client, way);
}

/* Those that the client may still leave behind. A count of those that passed stands in the
 * place of the answer until there is one. */
static uint64_t bypassable(const struct bz_history *history, const uint64_t *from, uint64_t ahead,
                           uint32_t client) {
    uint64_t left = 0;
    for (; ahead != 0; ahead &= ahead - 1) {
        uint32_t other = (uint32_t)__builtin_ctzll(ahead);
        const struct bz_model_op *op = bz_history_op(history, other);
        bool is_yielded_to =
            (bz_history_op(history, client)->yields_to >> history->operations[other].op & 1) != 0;
        left |= (uint64_t)(!is_yielded_to && from[BZ_WORD_ANSWERS + other] < op->bypass) << other;
    }
    return left;
}

/* True if the client need not stay behind others; *passed: those that it leaves behind. */
static bool may_pass(struct bz_history *history, const uint64_t *from, uint32_t client,
                     uint32_t way, uint64_t *passed) {
    uint64_t ahead = ahead_of(history, from, client);
    *passed = 0;
    if (ahead == 0 || could_take(history, from, ahead, client, way)) {
        return true;
    }
    *passed = bypassable(history, from, ahead, client);
    return *passed != 0 && could_take(history, from, ahead & ~*passed, client, way);
}

/* True if another call of the operation came before, and has not begun. */
static bool is_behind(const struct bz_history *history, const uint64_t *from, uint32_t client) {
    const struct bz_pending *own = &history->operations[client];
    uint64_t others = history->pending & ~history->requested & ~from[BZ_WORD_BEGUN] &
                      ~from[BZ_WORD_TOOK] & ~bit_of(client);
    for (; others != 0; others &= others - 1) {
        const struct bz_pending *other = &history->operations[(uint32_t)__builtin_ctzll(others)];
        if (other->op == own->op && other->number < own->number) {
            return true;
        }
    }
    return false;
}

bool bz_effect_begin(struct bz_history *history, const uint64_t *from, uint32_t client,
                     uint32_t way) {
    const struct bz_model_op *op = bz_history_op(history, client);
    uint32_t first = op->begins_with;
    int64_t ticket = 0;
    if (first == 0 || ((from[BZ_WORD_BEGUN] | from[BZ_WORD_TOOK]) & bit_of(client)) != 0 ||
        (op->begins_in_order && is_behind(history, from, client))) {
        return false;
    }
    copy_row(history, history->row, from);
    if (!step(history, history->row, first - 1, client, way, &ticket)) {
        return false;
    }
    history->row[BZ_WORD_BEGUN] |= bit_of(client);
    history->row[BZ_WORD_ANSWERS + client] = (uint64_t)ticket;
    return true;
}

static bool may_take(const struct bz_history *history, const uint64_t *from, uint32_t client) {
    bool has_begun = (from[BZ_WORD_BEGUN] & ~from[BZ_WORD_UNDONE] & bit_of(client)) != 0;
    return (from[BZ_WORD_TOOK] & bit_of(client)) == 0 &&
           (has_begun || bz_history_op(history, client)->begins_with == 0);
}

/* True if another operation of its line was called before, and has not taken effect. */
static bool is_in_company(const struct bz_history *history, const uint64_t *from, uint32_t client) {
    const struct bz_pending *own = &history->operations[client];
    uint32_t line = bz_history_op(history, client)->line;
    uint64_t others = line == 0 ? 0 : history->pending & ~from[BZ_WORD_TOOK] & ~bit_of(client);
    for (; others != 0; others &= others - 1) {
        uint32_t other = (uint32_t)__builtin_ctzll(others);
        if (bz_history_op(history, other)->line == line &&
            history->operations[other].number < own->number) {
            return true;
        }
    }
    return false;
}

static void took(struct bz_history *history, uint32_t client, int64_t answer) {
    history->row[BZ_WORD_TOOK] |= bit_of(client);
    history->row[BZ_WORD_BEGUN] &= ~bit_of(client);
    history->row[BZ_WORD_ANSWERS + client] = (uint64_t)answer;
}

static int64_t ticket_of(const struct bz_history *history, const uint64_t *from, uint32_t client) {
    bool has_ticket = bz_history_op(history, client)->begins_with != 0;
    return has_ticket ? (int64_t)from[BZ_WORD_ANSWERS + client] : 0;
}

bool bz_effect_take(struct bz_history *history, const uint64_t *from, uint32_t client,
                    uint32_t way) {
    int64_t answer = ticket_of(history, from, client);
    uint64_t passed;
    if (!may_take(history, from, client) || !may_pass(history, from, client, way, &passed)) {
        return false;
    }
    copy_row(history, history->row, from);
    if (!step(history, history->row, history->operations[client].op, client, way, &answer)) {
        return false;
    }
    took(history, client, answer);
    for (; passed != 0; passed &= passed - 1) {
        history->row[BZ_WORD_ANSWERS + (uint32_t)__builtin_ctzll(passed)]++;
    }
    return true;
}

bool bz_effect_take_else(struct bz_history *history, const uint64_t *from, uint32_t client,
                         uint32_t way) {
    uint32_t or_else = bz_history_op(history, client)->or_else;
    int64_t answer = ticket_of(history, from, client);
    if (or_else == 0 || !may_take(history, from, client) ||
        (!is_in_company(history, from, client) &&
         bz_effect_in_any_way(history, from, client, bz_effect_take))) {
        return false;
    }
    copy_row(history, history->row, from);
    if (!step(history, history->row, or_else - 1, client, way, &answer)) {
        return false;
    }
    took(history, client, answer);
    return true;
}

/* One that has begun, and not taken effect. Its undo may also have two moments; after the first of
 * them it is undone, and has still begun. */
static bool undo_begun(struct bz_history *history, const uint64_t *from, uint32_t client,
                       uint32_t way) {
    uint32_t undo = bz_history_op(history, client)->undo;
    uint32_t first = history->model->ops[undo].begins_with;
    bool is_half = first != 0 && (from[BZ_WORD_UNDONE] & bit_of(client)) == 0;
    int64_t ticket = (int64_t)from[BZ_WORD_ANSWERS + client];
    copy_row(history, history->row, from);
    if ((from[BZ_WORD_BEGUN] & history->requested & bit_of(client)) == 0 ||
        !step(history, history->row, is_half ? first - 1 : undo, client, way, &ticket)) {
        return false;
    }
    history->row[BZ_WORD_UNDONE] |= bit_of(client);
    if (!is_half) {
        history->row[BZ_WORD_TOOK] |= bit_of(client);
        history->row[BZ_WORD_BEGUN] &= ~bit_of(client);
        history->row[BZ_WORD_ANSWERS + client] = 0;
    }
    return true;
}

/* The client's operation is undone, if its cancel was requested and it has taken effect. */
static bool undo(struct bz_history *history, const uint64_t *from, uint32_t client, uint32_t way) {
    const struct bz_model_op *op = bz_history_op(history, client);
    int64_t answer = (int64_t)from[BZ_WORD_ANSWERS + client];
    if (op->begins_with != 0) {
        return undo_begun(history, from, client, way);
    }
    copy_row(history, history->row, from);
    if (!step(history, history->row, op->undo, client, way, &answer)) {
        return false;
    }
    history->row[BZ_WORD_UNDONE] |= bit_of(client);
    history->row[BZ_WORD_ANSWERS + client] = 0;
    return true;
}

static void add(struct bz_history *history, struct bz_configurations *set, const uint64_t *row) {
    history->is_full |= !bz_configurations_add(set, row);
}

/* The row at hand explains the event; the client's operation is over. */
static void add_next(struct bz_history *history, uint32_t client) {
    history->row[BZ_WORD_TOOK] &= ~bit_of(client);
    history->row[BZ_WORD_UNDONE] &= ~bit_of(client);
    history->row[BZ_WORD_BEGUN] &= ~bit_of(client);
    history->row[BZ_WORD_ANSWERS + client] = 0;
    add(history, &history->next, history->row);
}

/* Adds each way of the effect in that configuration of `reached`. */
static inline __attribute__((always_inline)) void reach(struct bz_history *history, uint32_t index,
                                                        uint32_t client, bz_effect *effect) {
    for (uint32_t way = 0; way < history->ways; way++) { /* rows move */
        if (effect(history, bz_configurations_row(&history->reached, index), client, way)) {
            add(history, &history->reached, history->row);
        }
    }
}

/* The same of its undo, which a model must not refuse once the operation has taken effect.
 * `is_over`: the operation is over where it is undone. */
static void reach_undone(struct bz_history *history, uint32_t index, uint32_t client,
                         bool is_over) {
    const uint64_t *from = bz_configurations_row(&history->reached, index);
    const struct bz_model_op *op = bz_history_op(history, client);
    bool has_taken = (from[BZ_WORD_TOOK] & ~from[BZ_WORD_UNDONE] & bit_of(client)) != 0;
    bool is_undone = false;
    if (op->begins_with == 0 && (!has_taken || op->cancel != BZ_MODEL_CANCEL_UNDOES)) {
        return;
    }
    for (uint32_t way = 0; way < history->ways; way++) {
        if (undo(history, bz_configurations_row(&history->reached, index), client, way)) {
            is_undone = true;
            if (is_over && (history->row[BZ_WORD_TOOK] & bit_of(client)) != 0) {
                add_next(history, client);
            } else {
                add(history, &history->reached, history->row);
            }
        }
    }
    if (!is_undone && op->begins_with == 0) {
        history->cannot_undo = true;
        history->undoing = history->operations[client].op;
    }
}

/* The operations of other clients in that configuration of `reached`. */
static void reach_further(struct bz_history *history, uint32_t index, uint64_t others) {
    uint64_t took = bz_configurations_row(&history->reached, index)[BZ_WORD_TOOK];
    for (; others != 0; others &= others - 1) {
        uint32_t other = (uint32_t)__builtin_ctzll(others);
        const struct bz_model_op *op = bz_history_op(history, other);
        if ((took & bit_of(other)) == 0) {
            if (op->begins_with != 0) {
                reach(history, index, other, bz_effect_begin);
            }
            reach(history, index, other, bz_effect_take);
            if (op->or_else != 0) {
                reach(history, index, other, bz_effect_take_else);
            }
        }
        if ((history->requested & bit_of(other)) != 0) {
            reach_undone(history, index, other, false);
        }
    }
}

void bz_effects_of_call(struct bz_history *history, uint32_t client) {
    bz_configurations_clear(&history->next);
    for (uint32_t index = 0; index < history->now.count; index++) {
        const uint64_t *from = bz_configurations_row(&history->now, index);
        bool begins = false;
        for (uint32_t way = 0; way < history->ways; way++) {
            if (bz_effect_begin(history, from, client, way)) {
                begins = true;
                add(history, &history->next, history->row);
            }
        }
        if (!begins) {
            add(history, &history->next, from);
        }
    }
}

/* Where it takes effect so, and has this answer. */
static inline __attribute__((always_inline)) void return_as(struct bz_history *history,
                                                            uint32_t index, uint32_t client,
                                                            int64_t answer, bz_effect *effect) {
    for (uint32_t way = 0; way < history->ways; way++) {
        if (effect(history, bz_configurations_row(&history->reached, index), client, way) &&
            (int64_t)history->row[BZ_WORD_ANSWERS + client] == answer) {
            add_next(history, client);
        }
    }
}

void bz_effects_of_return(struct bz_history *history, uint32_t client, int64_t answer) {
    const struct bz_model_op *op = bz_history_op(history, client);
    bz_configurations_clear(&history->next);
    bz_configurations_clear(&history->reached);
    for (uint32_t index = 0; index < history->now.count; index++) {
        const uint64_t *from = bz_configurations_row(&history->now, index);
        if ((from[BZ_WORD_TOOK] & bit_of(client)) == 0) {
            add(history, &history->reached, from);
        } else if ((from[BZ_WORD_UNDONE] & bit_of(client)) == 0 &&
                   (int64_t)from[BZ_WORD_ANSWERS + client] == answer) {
            copy_row(history, history->row, from);
            add_next(history, client);
        }
    }
    for (uint32_t index = 0; index < history->reached.count && !history->is_full; index++) {
        if (op->begins_with != 0) {
            reach(history, index, client, bz_effect_begin);
        }
        return_as(history, index, client, answer, bz_effect_take);
        if (op->or_else != 0) {
            return_as(history, index, client, answer, bz_effect_take_else);
        }
        reach_further(history, index, history->pending & ~bit_of(client));
    }
}

/* The configurations of before in which the operation may end as it is. The others, and those in
 * which it may yet take effect, are in `reached`. */
static void end_as_it_is(struct bz_history *history, uint32_t client) {
    enum bz_model_cancel cancel = bz_history_op(history, client)->cancel;
    for (uint32_t index = 0; index < history->now.count; index++) {
        const uint64_t *from = bz_configurations_row(&history->now, index);
        bool took = (from[BZ_WORD_TOOK] & bit_of(client)) != 0;
        bool is_undone = took && (from[BZ_WORD_UNDONE] & bit_of(client)) != 0;
        bool has_begun = (from[BZ_WORD_BEGUN] & bit_of(client)) != 0;
        bool is_done = is_undone || (took && cancel == BZ_MODEL_CANCEL_MAY_DO_ALL);
        if ((!took && !has_begun) || is_done) {
            copy_row(history, history->row, from);
            add_next(history, client);
        }
        if (!is_done) {
            add(history, &history->reached, from);
        }
    }
}

/* It takes effect so in that configuration of `reached`, and ends, or is undone later. */
static inline __attribute__((always_inline)) void end_as(struct bz_history *history, uint32_t index,
                                                         uint32_t client, bz_effect *effect) {
    bool may_do_all = bz_history_op(history, client)->cancel == BZ_MODEL_CANCEL_MAY_DO_ALL;
    for (uint32_t way = 0; way < history->ways; way++) {
        if (effect(history, bz_configurations_row(&history->reached, index), client, way)) {
            if (may_do_all) {
                add_next(history, client);
            } else {
                add(history, &history->reached, history->row);
            }
        }
    }
}

void bz_effects_of_end(struct bz_history *history, uint32_t client) {
    const struct bz_model_op *op = bz_history_op(history, client);
    bz_configurations_clear(&history->next);
    bz_configurations_clear(&history->reached);
    end_as_it_is(history, client);
    if (op->cancel == BZ_MODEL_CANCEL_DOES_NOTHING) {
        return;
    }
    for (uint32_t index = 0; index < history->reached.count && !history->is_full; index++) {
        reach_undone(history, index, client, true);
        reach(history, index, client, bz_effect_begin);
        if (op->begins_with == 0) {
            end_as(history, index, client, bz_effect_take);
            end_as(history, index, client, bz_effect_take_else);
        }
        reach_further(history, index, history->pending & ~bit_of(client));
    }
}

static void copy_set(struct bz_history *history, struct bz_configurations *to,
                     const struct bz_configurations *from) {
    bz_configurations_clear(to);
    for (uint32_t index = 0; index < from->count; index++) {
        add(history, to, bz_configurations_row(from, index));
    }
}

static void begin_further(struct bz_history *history, uint32_t index, uint64_t beginners) {
    for (; beginners != 0; beginners &= beginners - 1) {
        reach(history, index, (uint32_t)__builtin_ctzll(beginners), bz_effect_begin);
    }
}

void bz_effects_of(struct bz_history *history, uint64_t clients, uint64_t beginners) {
    copy_set(history, &history->reached, &history->now);
    for (uint32_t index = 0; index < history->reached.count && !history->is_full; index++) {
        reach_further(history, index, clients);
        begin_further(history, index, beginners);
    }
}

/* In each configuration of `reached`. */
static void pass(struct bz_history *history, uint64_t elapsed_ns) {
    bz_configurations_clear(&history->now);
    for (uint32_t index = 0; index < history->reached.count; index++) {
        copy_row(history, history->row, bz_configurations_row(&history->reached, index));
        history->model->pass(history->row + BZ_WORD_ANSWERS + history->clients_max, elapsed_ns);
        add(history, &history->now, history->row);
    }
}

/* Of a long time, the begin and the end are enough, each so long that every unfinished operation
 * may take effect in a state that has settled: what takes effect in between could have done so at
 * the begin. */
void bz_effects_of_time(struct bz_history *history, uint64_t elapsed_ns) {
    uint64_t unfinished = (uint64_t)__builtin_popcountll(history->pending);
    uint64_t span_ns = history->model->settles_ns * (unfinished + 1);
    uint64_t skipped_ns = elapsed_ns / 2 > span_ns ? elapsed_ns - 2 * span_ns : 0;
    for (uint64_t left_ns = elapsed_ns - skipped_ns; left_ns > 0 && !history->is_full; left_ns--) {
        bz_effects_of(history, history->pending, 0);
        pass(history, left_ns == span_ns ? 1 + skipped_ns : 1);
    }
}

void bz_effects_at_rest(struct bz_history *history, uint64_t clients, uint64_t elapsed_ns) {
    bz_effects_of(history, history->requested, clients);
    if (history->model->pass != NULL && elapsed_ns > 0 && !history->is_full) {
        copy_set(history, &history->next, &history->now);
        pass(history, elapsed_ns);
        bz_effects_of(history, history->requested, clients);
        copy_set(history, &history->now, &history->next);
    }
}
