/* A small scenario for tests that need many different runs, with cancels, draws and timers: guests
 * compete for tables, hold them for a drawn time, and one of them cancels another. */
#ifndef BZ_SIM_TESTS_CROWD_H
#define BZ_SIM_TESTS_CROWD_H

#include "primitives/runtime/driver.h"
#include "sim/campaign/campaign.h"
#include "sim/program/catalog.h"
#include "sim/tests/toys.h"

enum { CROWD_PERMITS, CROWD_GUESTS, CROWD_ROUNDS };

static const struct bz_param crowd_params[] = {{"permits", "tables", 2, 1, 1000},
                                               {"guests", "tasks that compete", 4, 1, 1000},
                                               {"rounds", "meals of each", 2, 1, 1000},
                                               {NULL, NULL, 0, 0, 0}};

struct crowd {
    struct bz_world *world;
    const struct bz_scenario_args *args;
    struct bz_sut_permits sut;
    struct bz_task *first;
};

static inline enum bz_status crowd_meal(struct crowd *crowd) {
    enum bz_status status = bz_sut_acquire(&crowd->sut);
    if (status != BZ_OK) {
        return status;
    }
    uint64_t eats_ns = bz_world_draw_delay_ns(crowd->world, "eats", 0, 20);
    status = bz_sleep(crowd->world->loop, eats_ns);
    enum bz_status released = bz_sut_release(&crowd->sut);
    bz_world_assert(crowd->world, released == BZ_OK, "refused by the waiter");
    return status;
}

static inline enum bz_status crowd_guest(void *arg) {
    struct crowd *crowd = arg;
    enum bz_status status = BZ_OK;
    for (int64_t round = 0; status == BZ_OK && round < crowd->args->values[CROWD_ROUNDS]; round++) {
        status = crowd_meal(crowd);
    }
    if (bz_world_draw(crowd->world, "mood", 4) == 3 && crowd->first != NULL) {
        bz_task_cancel(crowd->first);
    }
    return status;
}

static inline void *crowd_setup(struct bz_world *world, const struct bz_scenario_args *args) {
    struct crowd *crowd = bz_world_alloc(world, sizeof *crowd);
    crowd->world = world;
    crowd->args = args;
    enum bz_status status = bz_sut_permits_init(&crowd->sut, world, args->primitive, "tables",
                                                (uint32_t)args->values[CROWD_PERMITS]);
    bz_world_assert(world, status == BZ_OK, "no tables");
    for (int64_t guest = 1; guest <= args->values[CROWD_GUESTS]; guest++) {
        struct bz_task *task =
            bz_task_spawn(world->loop, "guest", (uint32_t)guest, crowd_guest, crowd);
        crowd->first = guest == 1 ? task : crowd->first;
    }
    return crowd;
}

static const struct bz_scenario crowd_scenario = {
    .name = "crowd",
    .summary = "guests compete for tables",
    .params = crowd_params,
    .primitives = {BZ_PRIMITIVE_SEMAPHORE, BZ_PRIMITIVE_LOCK},
    .primitive_count = 2,
    .setup = crowd_setup,
};

TOY(crowd_sound, TOY_CLAIMS_ALL);
TOY_OFFERS(crowd_drops, BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT,
           .permits = {[BZ_PRIMITIVE_SEMAPHORE] = &bz_zoo_ops_sem_woken_cancel});

static const struct bz_scenario *const crowd_scenarios[] = {&crowd_scenario, NULL};
static const struct bz_variant *const crowd_variants[] = {&crowd_sound, &crowd_drops, NULL};
static const struct bz_catalog crowd_catalog = {crowd_scenarios, crowd_variants};

static inline void crowd_program(struct bz_program *program, const struct bz_variant *variant,
                                 enum bz_order order) {
    bz_program_init(program, &crowd_scenario, variant, &bz_strategy_random);
    program->order = order;
}

static inline struct bz_campaign_result crowd_campaign(const struct bz_program *program,
                                                       uint64_t seed_first, uint64_t runs,
                                                       uint32_t jobs, bool keep_going) {
    struct bz_campaign_config config = {.program = program,
                                        .seed_first = seed_first,
                                        .runs = runs,
                                        .jobs = jobs,
                                        .keep_going = keep_going};
    struct bz_campaign_result result;
    cr_assert(bz_campaign_run(&config, &result));
    return result;
}

#endif
