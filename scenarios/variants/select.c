/* Select: two ports, the values in them, and the selects that wait. A value decides the oldest
 * select that waits at its port, and is promised to it; the select takes the oldest value of that
 * port at a later moment. */
#include "primitives/sync/select.h"

#include "scenarios/variants/modelled.h"

enum { SELECT, SELECT_WITHIN, PUT, CLOSE, ARRIVE, ARRIVE_AT_ALL, EXPIRE, GIVE_UP, OP_COUNT };

#define PORTS BZ_MODEL_PORTS

struct port {
    int64_t promised;
    int64_t is_closed;
    struct bz_model_line values;
};

struct state {
    int64_t capacity;
    int64_t arrivals;
    struct port ports[PORTS];
    struct bz_model_line waiting; /* arrivals; their sets of ports: */
    struct bz_model_line sets;
    struct bz_model_line decided; /* arrivals; their decisions: */
    struct bz_model_line decisions;
};

static void start(void *memory, const int64_t *parameters) {
    ((struct state *)memory)->capacity = parameters[0];
}

/* The decision of a select: the port, and, if that is closed and empty, OVER. Its ticket is the
 * decision, or, below all of them, its arrival. */
#define OVER PORTS
#define WAITS (-1)

/* The first of the set that is ready; WAITS: none is. */
static int64_t decide(struct state *state, int64_t set) {
    for (int64_t index = 0; index < PORTS; index++) {
        struct port *port = &state->ports[index];
        bool has_value = port->values.count > port->promised;
        bool is_over = port->is_closed != 0 && port->values.count == 0;
        if ((set >> index & 1) != 0 && (has_value || is_over)) {
            port->promised += has_value;
            return index + (has_value ? 0 : OVER);
        }
    }
    return WAITS;
}

/* The oldest first. */
static bool serve(struct state *state) {
    for (int64_t place = 0; place < state->waiting.count;) {
        int64_t decision = decide(state, state->sets.numbers[place]);
        if (decision == WAITS) {
            place++;
            continue;
        }
        (void)bz_model_line_take(&state->sets, place);
        bz_model_line_push(&state->decided, bz_model_line_take(&state->waiting, place));
        bz_model_line_push(&state->decisions, decision);
    }
    return true;
}

static bool arrive(struct state *state, int64_t set, int64_t *ticket) {
    *ticket = decide(state, set);
    if (*ticket == WAITS) {
        bz_model_line_push(&state->waiting, ++state->arrivals);
        bz_model_line_push(&state->sets, set);
        *ticket = WAITS - state->arrivals;
    }
    return true;
}

/* Leaves, whether it was decided or not: *ticket is its decision then, or WAITS. */
static void leave(struct state *state, int64_t *ticket) {
    int64_t arrival = WAITS - *ticket;
    if (arrival <= 0) {
        return;
    }
    int64_t place = bz_model_line_find(&state->decided, arrival);
    if (place < state->decided.count) {
        (void)bz_model_line_take(&state->decided, place);
        *ticket = bz_model_line_take(&state->decisions, place);
        return;
    }
    place = bz_model_line_find(&state->waiting, arrival);
    (void)bz_model_line_take(&state->waiting, place);
    (void)bz_model_line_take(&state->sets, place);
    *ticket = WAITS;
}

static bool end(struct state *state, int64_t *ticket) {
    leave(state, ticket);
    if (*ticket == WAITS) {
        return false;
    }
    int64_t index = *ticket % PORTS;
    struct port *port = &state->ports[index];
    if (*ticket >= OVER) {
        *ticket = BZ_MODEL_SELECTED(-BZ_CLOSED, index);
        return true;
    }
    port->promised--;
    *ticket = BZ_MODEL_SELECTED(bz_model_line_take(&port->values, 0), index);
    return serve(state); /* the port may be over now */
}

static bool give_up(struct state *state, int64_t *ticket) {
    leave(state, ticket);
    if (*ticket != WAITS && *ticket < OVER) {
        state->ports[*ticket].promised--;
    }
    return serve(state);
}

static bool put(struct state *state, int64_t value, int64_t index, int64_t *answer) {
    struct port *port = &state->ports[index];
    if (port->is_closed != 0 || port->values.count == state->capacity) {
        *answer = -(port->is_closed != 0 ? BZ_CLOSED : BZ_FULL);
        return true;
    }
    bz_model_line_push(&port->values, value);
    return serve(state);
}

static bool step(void *memory, uint32_t op, const int64_t *arguments, int64_t *answer) {
    struct state *state = memory;
    switch (op) {
    case PUT:
        return put(state, arguments[0], arguments[1], answer);
    case CLOSE:
        state->ports[arguments[0]].is_closed = 1;
        return serve(state);
    case ARRIVE:
        return arrive(state, arguments[0], answer);
    case ARRIVE_AT_ALL:
        return arrive(state, BZ_MODEL_ALL_PORTS, answer);
    case EXPIRE: /* only where it would have to wait */
        leave(state, answer);
        *answer = BZ_MODEL_SELECTED(-BZ_TIMED_OUT, 0);
        return true;
    case GIVE_UP:
        return give_up(state, answer);
    default: /* SELECT, SELECT_WITHIN */
        return end(state, answer);
    }
}

#define SELECTS(first)                                                                             \
    .begins_with = 1 + (first), .begins_at_call = true, .cancel = BZ_MODEL_CANCEL_UNDOES,          \
    .undo = GIVE_UP
#define PORT_SET                                                                                   \
    { .name = "ports", .least = 1, .most = BZ_MODEL_ALL_PORTS }
#define PORT                                                                                       \
    { .name = "port", .least = 0, .most = PORTS - 1 }

static const struct bz_model_op ops[] = {
    [SELECT] = {.name = "select", SELECTS(ARRIVE), .argument_count = 1, .arguments = {PORT_SET}},
    [SELECT_WITHIN] = {.name = "select_within",
                       SELECTS(ARRIVE_AT_ALL),
                       .or_else = 1 + EXPIRE,
                       .ends_by_itself = true,
                       .argument_count = 1,
                       .arguments = {{.name = "ns", .least = 0, .most = 1}}},
    [PUT] = {.name = "put",
             .argument_count = 2,
             .arguments = {{.name = "value", .least = 1, .most = INT32_MAX, .is_fresh = true},
                           PORT}},
    [CLOSE] = {.name = "close", .is_extra = true, .argument_count = 1, .arguments = {PORT}},
    [ARRIVE] = {.name = "arrive", .is_hidden = true},
    [ARRIVE_AT_ALL] = {.name = "arrive_at_all", .is_hidden = true},
    [EXPIRE] = {.name = "expire", .is_hidden = true},
    [GIVE_UP] = {.name = "give_up", .is_hidden = true},
};

const struct bz_model bz_model_select =
    BZ_MODEL("select", struct state, .parameter_count = 1, .start = start);

/* --- what ships ------------------------------------------------------------------------------- */

struct desk {
    struct bz_port ports[PORTS];
};

static enum bz_status init(void *instance, struct bz_loop *loop, const int64_t *parameters) {
    struct desk *desk = instance;
    enum bz_status status = BZ_OK;
    for (uint32_t index = 0; status == BZ_OK && index < PORTS; index++) {
        status = bz_port_init(&desk->ports[index], loop, (uint32_t)parameters[0]);
    }
    return status;
}

static enum bz_status select_from(struct desk *desk, int64_t set, uint64_t delay_ns,
                                  int64_t *answer) {
    struct bz_port *ports[PORTS];
    uint32_t indices[PORTS];
    uint32_t count = 0;
    struct bz_selected selected = {.index = 0};
    for (uint32_t index = 0; index < PORTS; index++) {
        if ((set >> index & 1) != 0) {
            ports[count] = &desk->ports[index];
            indices[count++] = index;
        }
    }
    enum bz_status status = bz_select(ports, count, delay_ns, &selected);
    *answer = status == BZ_OK ? (int64_t)selected.value : -(int64_t)status;
    *answer = BZ_MODEL_SELECTED(*answer, status == BZ_TIMED_OUT ? 0 : indices[selected.index]);
    return status == BZ_CANCELLED || status == BZ_NO_MEMORY ? status : BZ_OK;
}

static enum bz_status call(void *instance, uint32_t op, const int64_t *arguments, int64_t *answer) {
    struct desk *desk = instance;
    switch (op) {
    case PUT:
        return bz_modelled_ended(bz_port_put(&desk->ports[arguments[1]], (uint64_t)arguments[0]),
                                 answer);
    case CLOSE:
        bz_port_close(&desk->ports[arguments[0]]);
        return BZ_OK;
    case SELECT_WITHIN:
        return select_from(desk, BZ_MODEL_ALL_PORTS, (uint64_t)arguments[0], answer);
    default: /* SELECT */
        return select_from(desk, arguments[0], BZ_TIME_NEVER, answer);
    }
}

BZ_VARIANT_OF_MODEL(select, "buzzer/select", "the select that ships", struct desk, bz_model_select,
                    init);
