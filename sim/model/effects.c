/* How one event changes the configurations. */
#include <string.h>

#include "sim/model/internal.h"

static uint64_t bit_of(uint32_t client) {
    return UINT64_C(1) << client;
}

static void copy_row(const struct bz_history *history, uint64_t *to, const uint64_t *from) {
    memcpy(to, from, history->now.row_words * sizeof *to);
}

static bool step(const struct bz_history *history, uint64_t *row, uint32_t op, uint32_t client,
                 int64_t *answer) {
    uint64_t *state = row + BZ_WORD_ANSWERS + history->clients_max;
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

/* True if these, and then the client, could take effect. */
static bool could_take(struct bz_history *history, const uint64_t *from, uint64_t ahead,
                       uint32_t client) {
    copy_row(history, history->trial, from);
    while (ahead != 0) {
        uint32_t other = first_called(history, ahead);
        int64_t answer = 0;
        if (!step(history, history->trial, history->operations[other].op, other, &answer)) {
            return false;
        }
        ahead &= ~bit_of(other);
    }
    int64_t answer = 0;
    return step(history, history->trial, history->operations[client].op, client, &answer);
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
                     uint64_t *passed) {
    uint64_t ahead = ahead_of(history, from, client);
    *passed = 0;
    if (ahead == 0 || could_take(history, from, ahead, client)) {
        return true;
    }
    *passed = bypassable(history, from, ahead, client);
    return *passed != 0 && could_take(history, from, ahead & ~*passed, client);
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

bool bz_effect_begin(struct bz_history *history, const uint64_t *from, uint32_t client) {
    const struct bz_model_op *op = bz_history_op(history, client);
    uint32_t first = op->begins_with;
    int64_t ticket = 0;
    if (first == 0 || ((from[BZ_WORD_BEGUN] | from[BZ_WORD_TOOK]) & bit_of(client)) != 0 ||
        (op->begins_in_order && is_behind(history, from, client))) {
        return false;
    }
    copy_row(history, history->row, from);
    if (!step(history, history->row, first - 1, client, &ticket)) {
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

bool bz_effect_take(struct bz_history *history, const uint64_t *from, uint32_t client) {
    int64_t answer = ticket_of(history, from, client);
    uint64_t passed;
    if (!may_take(history, from, client) || !may_pass(history, from, client, &passed)) {
        return false;
    }
    copy_row(history, history->row, from);
    if (!step(history, history->row, history->operations[client].op, client, &answer)) {
        return false;
    }
    took(history, client, answer);
    for (; passed != 0; passed &= passed - 1) {
        history->row[BZ_WORD_ANSWERS + (uint32_t)__builtin_ctzll(passed)]++;
    }
    return true;
}

bool bz_effect_take_else(struct bz_history *history, const uint64_t *from, uint32_t client) {
    uint32_t or_else = bz_history_op(history, client)->or_else;
    int64_t answer = ticket_of(history, from, client);
    if (or_else == 0 || !may_take(history, from, client) ||
        (!is_in_company(history, from, client) && bz_effect_take(history, from, client))) {
        return false;
    }
    copy_row(history, history->row, from);
    if (!step(history, history->row, or_else - 1, client, &answer)) {
        return false;
    }
    took(history, client, answer);
    return true;
}

/* One that has begun, and not taken effect. Its undo may also have two moments; after the first of
 * them it is undone, and has still begun. */
static bool undo_begun(struct bz_history *history, const uint64_t *from, uint32_t client) {
    uint32_t undo = bz_history_op(history, client)->undo;
    uint32_t first = history->model->ops[undo].begins_with;
    bool is_half = first != 0 && (from[BZ_WORD_UNDONE] & bit_of(client)) == 0;
    int64_t ticket = (int64_t)from[BZ_WORD_ANSWERS + client];
    copy_row(history, history->row, from);
    if ((from[BZ_WORD_BEGUN] & history->requested & bit_of(client)) == 0 ||
        !step(history, history->row, is_half ? first - 1 : undo, client, &ticket)) {
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
static bool undo(struct bz_history *history, const uint64_t *from, uint32_t client) {
    const struct bz_model_op *op = bz_history_op(history, client);
    uint64_t in_effect = from[BZ_WORD_TOOK] & ~from[BZ_WORD_UNDONE] & history->requested;
    int64_t answer = (int64_t)from[BZ_WORD_ANSWERS + client];
    if (op->begins_with != 0) {
        return undo_begun(history, from, client);
    }
    if (op->cancel != BZ_MODEL_CANCEL_UNDOES || (in_effect & bit_of(client)) == 0) {
        return false;
    }
    copy_row(history, history->row, from);
    if (!step(history, history->row, op->undo, client, &answer)) {
        history->cannot_undo = true;
        history->undoing = history->operations[client].op;
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

/* The operations of other clients in that configuration of `reached`. */
static void reach_further(struct bz_history *history, uint32_t index, uint64_t others) {
    for (; others != 0; others &= others - 1) {
        uint32_t other = (uint32_t)__builtin_ctzll(others);
        const uint64_t *from = bz_configurations_row(&history->reached, index);
        if (bz_effect_begin(history, from, other) || bz_effect_take(history, from, other)) {
            add(history, &history->reached, history->row);
            from = bz_configurations_row(&history->reached, index); /* rows move */
        }
        if (bz_effect_take_else(history, from, other)) {
            add(history, &history->reached, history->row);
            from = bz_configurations_row(&history->reached, index);
        }
        if (undo(history, from, other)) {
            add(history, &history->reached, history->row);
        }
    }
}

void bz_effects_of_call(struct bz_history *history, uint32_t client) {
    bz_configurations_clear(&history->next);
    for (uint32_t index = 0; index < history->now.count; index++) {
        const uint64_t *from = bz_configurations_row(&history->now, index);
        add(history, &history->next, bz_effect_begin(history, from, client) ? history->row : from);
    }
}

/* Where it takes effect so, and has this answer. */
static void return_as(struct bz_history *history, uint32_t index, uint32_t client, int64_t answer,
                      bool (*take)(struct bz_history *history, const uint64_t *from,
                                   uint32_t client)) {
    if (take(history, bz_configurations_row(&history->reached, index), client) &&
        (int64_t)history->row[BZ_WORD_ANSWERS + client] == answer) {
        add_next(history, client);
    }
}

void bz_effects_of_return(struct bz_history *history, uint32_t client, int64_t answer) {
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
        const uint64_t *from = bz_configurations_row(&history->reached, index);
        if (bz_effect_begin(history, from, client)) {
            add(history, &history->reached, history->row);
        } else {
            return_as(history, index, client, answer, bz_effect_take);
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

void bz_effects_of_end(struct bz_history *history, uint32_t client) {
    enum bz_model_cancel cancel = bz_history_op(history, client)->cancel;
    bz_configurations_clear(&history->next);
    bz_configurations_clear(&history->reached);
    end_as_it_is(history, client);
    if (cancel == BZ_MODEL_CANCEL_DOES_NOTHING) {
        return;
    }
    for (uint32_t index = 0; index < history->reached.count && !history->is_full; index++) {
        const uint64_t *from = bz_configurations_row(&history->reached, index);
        if (undo(history, from, client)) {
            if ((history->row[BZ_WORD_TOOK] & bit_of(client)) != 0) {
                add_next(history, client);
            } else {
                add(history, &history->reached, history->row);
            }
        } else if (bz_effect_begin(history, from, client)) {
            add(history, &history->reached, history->row);
        } else if (bz_history_op(history, client)->begins_with == 0 &&
                   (bz_effect_take(history, from, client) ||
                    bz_effect_take_else(history, from, client))) {
            if (cancel == BZ_MODEL_CANCEL_MAY_DO_ALL) {
                add_next(history, client);
            } else {
                add(history, &history->reached, history->row);
            }
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
        const uint64_t *from = bz_configurations_row(&history->reached, index); /* rows move */
        if (bz_effect_begin(history, from, (uint32_t)__builtin_ctzll(beginners))) {
            add(history, &history->reached, history->row);
        }
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
