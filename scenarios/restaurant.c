/* restaurant: Guido van Rossum's picture of a semaphore (2022).
 *
 * A restaurant has some tables. A guest who finds none free gets a buzzer and waits. When a party
 * leaves, the host buzzes the guest who has waited longest; that guest walks back and is seated.
 * Guests eat for a while, in yields or in virtual time, and leave. Some want a second helping: they
 * come back at once and must go to the end of the queue.
 *
 * Guests change their minds. The host, a task, waits a drawn while and sends a drawn guest home,
 * wherever that guest is: not there yet, waiting, woken and on the way to the table (the window),
 * seated, or gone. */
#include "scenarios/scenario_support.h"
#include "scenarios/scenarios.h"

enum { TABLES, GUESTS, ARRIVAL, HELPINGS, MEAL, MEAL_NS, CHANGES, PATIENCE };

static const struct bz_param params[] = {
    {"tables", "permits of the semaphore (a lock has one)", 2, 1, 1000},
    {"guests", "tasks that want a table", 5, 1, 1000},
    {"arrival", "a guest arrives after 0..arrival yields", 3, 0, 1000},
    {"helpings", "a guest is seated 1..helpings times in a row", 2, 1, 1000},
    {"meal", "a quick meal takes 0..meal yields", 3, 0, 1000},
    {"meal-ns", "a slow meal sleeps 1..meal-ns nanoseconds of virtual time", 10, 1, 1000000000},
    {"changes", "how many guests change their minds", 2, 0, 1000},
    {"patience", "the host waits 0..patience-1 yields before each change", 12, 1, 1000},
    {NULL, NULL, 0, 0, 0},
};

static const struct bz_size sizes[] = {
    {"tables", 1, 4, 0},
    {"guests", 2, 8, 14},
    {"arrival", 0, 4, 0},
    {"helpings", 1, 3, 8},
    {"meal", 0, 4, 0},
    {"changes", 0, 4, 0},
    {"tables", 5, 65, BZ_TAIL_TASKS},
    {"guests", 9, 129, BZ_TAIL_TASKS},
    {"helpings", 4, 257, 0},
    {"changes", 5, 33, 0},
    {NULL, 0, 0, 0},
};

struct restaurant {
    struct bz_scene scene;
    struct bz_task *guests[];
};

static enum bz_status eat(struct bz_scene *scene) {
    return bz_world_draw(scene->world, "slow", 2) == 0
               ? bz_yield_below(scene->world, "meal", scene->values[MEAL] + 1)
               : bz_sleep_drawn(scene->world, "meal-ns", 1, scene->values[MEAL_NS]);
}

static enum bz_status guest(void *arg) {
    struct bz_scene *scene = arg;
    enum bz_status status = bz_yield_below(scene->world, "arrival", scene->values[ARRIVAL] + 1);
    uint64_t helpings = (uint64_t)scene->values[HELPINGS];
    for (uint64_t left = 1 + bz_world_draw(scene->world, "helpings", helpings);
         status == BZ_OK && left > 0; left--) {
        status = bz_sut_acquire(&scene->sut);
        if (status == BZ_OK) {
            status = eat(scene);
            enum bz_status released = bz_sut_release(&scene->sut);
            bz_world_assert(scene->world, released == BZ_OK,
                            "a guest could not leave the table: %s", bz_status_word(released));
        }
    }
    return status;
}

static enum bz_status host(void *arg) {
    struct restaurant *state = arg;
    struct bz_world *world = state->scene.world;
    const int64_t *values = state->scene.values;
    int64_t changes = bz_world_may_cancel(world) ? values[CHANGES] : 0;
    for (int64_t change = 0; change < changes; change++) {
        enum bz_status status = bz_yield_below(world, "patience", values[PATIENCE]);
        if (status != BZ_OK) {
            return status;
        }
        bz_task_cancel(state->guests[bz_world_draw(world, "guest", (uint64_t)values[GUESTS])]);
    }
    return BZ_OK;
}

static void *setup(struct bz_world *world, const struct bz_scenario_args *args) {
    int64_t count = args->values[GUESTS];
    struct restaurant *state =
        bz_scene_new(world, args, sizeof *state + (size_t)count * sizeof state->guests[0]);
    if (bz_scene_init_permits(&state->scene, args, "tables", args->values[TABLES])) {
        bz_scene_spawn_alike(world, state->guests, count, "guest", guest, state);
        bz_scene_spawn(world, "host", 0, host, state);
    }
    return state;
}

const struct bz_scenario bz_scenario_restaurant = {
    .name = "restaurant",
    .summary = "guests wait for tables and may change their mind before or after the buzzer",
    .params = params,
    BZ_SCENARIO_USES(BZ_PRIMITIVE_SEMAPHORE, BZ_PRIMITIVE_BOUNDED, BZ_PRIMITIVE_LOCK),
    .setup = setup,
    .runs_uncancelled = true,
    .finish = bz_scene_finish_permits,
    .sizes = sizes,
    .size = "tables",
};
