/* The example of service_main.c: its state, and its tasks. */
#ifndef BZ_UV_SERVICE_H
#define BZ_UV_SERVICE_H

#include "primitives/runtime/task.h"
#include "primitives/sync/semaphore.h"
#include "primitives/uv/tcp.h"

#define MS UINT64_C(1000000)

struct service {
    struct bz_loop *loop;
    struct bz_uv *driver;
    struct sockaddr_in address;
    uint64_t patience_ns;
    struct bz_uv_tcp listener;
    struct bz_semaphore permits;
    struct bz_uv_op stop;
    uv_signal_t signals[2];
    uint32_t in_service;
    uint32_t in_service_max;
    uint64_t connections;
    uint64_t done;
    uint64_t timed_out;
    uint64_t bad;
};

/* Spawns the task that serves, in the caller's zeroed storage with an address. NULL without memory.
 */
struct bz_task *service_start(struct service *service, struct bz_uv *driver, uint32_t permits,
                              uint32_t patience_ms);

#endif
