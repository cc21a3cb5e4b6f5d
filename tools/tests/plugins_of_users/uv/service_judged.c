/* The service of primitives/uv, as a live run in the simulator:
 *
 *     BZ_RECORD=run.txt uv-service ...
 *     buzzer run uv-service --plugin live-service.so --set file=run.txt
 *
 * The parameters must be those of the recorded run. */
#include "service.h"

#include "scenarios/live/live.h"

static const struct bz_param params[] = {
    {"permits", "Requests in service at a time", 16, 0, 65535},
    {"patience", "Milliseconds for each request", 50, 0, 65535},
    {.name = NULL},
};

static void *setup(struct bz_world *world, const struct bz_scenario_args *args) {
    struct bz_uv *driver = bz_live_begin(world, args);
    if (driver == NULL) {
        return NULL;
    }
    struct service *service = bz_world_alloc(world, sizeof *service);
    bz_live_look_inside(driver);
    struct bz_task *task =
        service_start(service, driver, (uint32_t)args->values[0], (uint32_t)args->values[1]);
    bz_live_name(&service->permits, "permits");
    return task == NULL ? NULL : service;
}

/* What main() checks at its end. */
static void finish(struct bz_world *world, void *state) {
    const struct service *service = state;
    bz_world_assert(world, service->in_service == 0, "%u requests are still in service",
                    service->in_service);
}

static const struct bz_scenario service_scenario = {
    .name = "uv-service",
    .summary = "The example service on libuv, repeated from a recording",
    .params = params,
    .setup = setup,
    .finish = finish,
    BZ_LIVE_SCENARIO,
};

BZ_SCENARIO_PLUGIN(&service_scenario);
