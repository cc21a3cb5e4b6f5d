/* restaurant: Guido van Rossum's picture of a semaphore (2022).
 *
 * A restaurant with some tables. A guest who finds none free gets a buzzer and waits; when a party
 * leaves, the host buzzes the guest who has waited longest, who walks back and is seated. Guests
 * eat for a while, in yields or in virtual time, and leave. Some come back at once for a second
 * helping: out of the door and in again, without looking round; they must go to the end of the
 * queue.
 *
 * And guests change their minds. The host (a task of its own) sends a guest of his choice home
 * after a while of his choice, wherever that guest is: on the way here, before the buzzer went off,
 * on the way from the buzzer to the table, which is the window, while seated, or gone. */
#include "primitives/runtime/task.h"
#include "scenarios/scenarios.h"
#include "sim/native/sut.h"
#include "sim/native/world.h"

enum { TABLES, GUESTS, ARRIVAL, HELPINGS, MEAL, MEAL_NS, CHANGES, PATIENCE };

static const struct bz_param params[] = {
    {"tables", "permits of the semaphore (a lock has one)", 2, 1, 1000},
    {"guests", "tasks that want a table", 5, 1, 1000},
    {"arrival", "a guest arrives after 0..arrival yields", 3, 0, 1000},
    {"helpings", "a guest is seated 1..helpings times in a row", 2, 1, 1000},
    {"meal", "a meal takes 0..meal yields, or", 3, 0, 1000},
    {"meal-ns", "a sleep of 1..meal-ns nanoseconds of virtual time", 10, 1, 1000000000},
    {"changes", "how many guests change their minds", 2, 0, 1000},
    {"patience", "the host waits 0..patience-1 yields before each change", 12, 1, 1000},
    {NULL, NULL, 0, 0, 0},
};

struct restaurant {
    struct bz_world *world;
    const struct bz_scenario_args *args;
    struct bz_sut_permits sut;
    struct bz_task *guests[];
};

/* Yields a drawn number of times, below `bound`. */
static enum bz_status wait_a_while(struct restaurant *state, const char *label, int64_t bound) {
    for (uint64_t left = bz_world_draw(state->world, label, (uint64_t)bound); left > 0; left--) {
        enum bz_status status = bz_yield(state->world->loop);
        if (status != BZ_OK) {
            return status;
        }
    }
    return BZ_OK;
}

static enum bz_status eat(struct restaurant *state) {
    if (bz_world_draw(state->world, "slow", 2) == 0) {
        return wait_a_while(state, "meal", state->args->values[MEAL] + 1);
    }
    uint64_t most_ns = (uint64_t)state->args->values[MEAL_NS];
    return bz_sleep(state->world->loop,
                    bz_world_draw_delay_ns(state->world, "meal-ns", 1, most_ns));
}

static enum bz_status guest(void *arg) {
    struct restaurant *state = arg;
    enum bz_status status = wait_a_while(state, "arrival", state->args->values[ARRIVAL] + 1);
    uint64_t helpings = (uint64_t)state->args->values[HELPINGS];
    for (uint64_t left = 1 + bz_world_draw(state->world, "helpings", helpings);
         status == BZ_OK && left > 0; left--) {
        status = bz_sut_acquire(&state->sut);
        if (status == BZ_OK) {
            status = eat(state);
            /* Whatever became of the meal, the table is given back. */
            enum bz_status released = bz_sut_release(&state->sut);
            bz_world_assert(state->world, released == BZ_OK,
                            "a guest could not leave the table: %s", bz_status_name(released));
        }
    }
    return status;
}

static enum bz_status host(void *arg) {
    struct restaurant *state = arg;
    uint64_t guests = (uint64_t)state->args->values[GUESTS];
    for (int64_t change = 0; change < state->args->values[CHANGES]; change++) {
        enum bz_status status = wait_a_while(state, "patience", state->args->values[PATIENCE]);
        if (status != BZ_OK) {
            return status;
        }
        bz_task_cancel(state->guests[bz_world_draw(state->world, "guest", guests)]);
    }
    return BZ_OK;
}

static void *setup(struct bz_world *world, const struct bz_scenario_args *args) {
    uint32_t count = (uint32_t)args->values[GUESTS];
    struct restaurant *state =
        bz_world_alloc(world, sizeof *state + count * sizeof state->guests[0]);
    state->world = world;
    state->args = args;
    enum bz_status status = bz_sut_permits_init(&state->sut, world, args->primitive, "tables",
                                                (uint32_t)args->values[TABLES]);
    bool is_open = status == BZ_OK;
    bz_world_assert(world, is_open, "the variant could not be set up: %s", bz_status_name(status));
    for (uint32_t index = 0; is_open && index < count; index++) {
        state->guests[index] = bz_task_spawn(world->loop, "guest", index + 1, guest, state);
        is_open = state->guests[index] != NULL;
        bz_world_assert(world, is_open, "no memory for task guest-%u", index + 1);
    }
    if (is_open) {
        struct bz_task *task = bz_task_spawn(world->loop, "host", 0, host, state);
        bz_world_assert(world, task != NULL, "no memory for task host");
    }
    return state;
}

static void finish(struct bz_world *world, void *arg) {
    struct restaurant *state = arg;
    (void)world;
    bz_sut_probe_misuse(&state->sut);
}

const struct bz_scenario bz_scenario_restaurant = {
    .name = "restaurant",
    .summary = "guests wait for tables and may change their mind before or after the buzzer",
    .params = params,
    .primitives = {BZ_PRIMITIVE_SEMAPHORE, BZ_PRIMITIVE_BOUNDED, BZ_PRIMITIVE_LOCK},
    .primitive_count = 3,
    .setup = setup,
    .finish = finish,
};
