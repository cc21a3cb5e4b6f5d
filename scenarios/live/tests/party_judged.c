/* The plug-in that repeats live-party. */
#include "scenarios/live/live.h"
#include "scenarios/live/tests/party.h"

static const struct bz_param params[] = {
    {"mode", "What is wrong, see party.h", PARTY_RIGHT, PARTY_RIGHT, PARTY_GOES_ON},
    {"look", "Whether the judge looks inside", 1, 0, 1},
    {NULL},
};

static void *setup(struct bz_world *world, const struct bz_scenario_args *args) {
    struct bz_uv *driver = bz_live_begin(world, args);
    if (driver == NULL) {
        return NULL;
    }
    struct party *party = bz_world_alloc(world, sizeof *party);
    if (args->values[1] != 0) {
        bz_live_look_inside(driver);
    }
    party_start(party, driver, (enum party_mode)args->values[0]);
    bz_live_name(&party->kitchen, "kitchen");
    bz_live_name(&party->orders, "orders");
    bz_live_name(&party->tables, "tables");
    return party;
}

static const struct bz_scenario party_scenario = {
    .name = "live-party",
    .summary = "Every announced primitive, repeated from a recording",
    .params = params,
    .setup = setup,
    BZ_LIVE_SCENARIO,
};

BZ_SCENARIO_PLUGIN(&party_scenario);
