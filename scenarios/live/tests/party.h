/* A live program for the test of scenarios/live: every primitive that is announced, and threads. */
#ifndef BZ_LIVE_TESTS_PARTY_H
#define BZ_LIVE_TESTS_PARTY_H

#include "primitives/runtime/timer.h"
#include "primitives/sync/barrier.h"
#include "primitives/sync/condition.h"
#include "primitives/sync/event.h"
#include "primitives/sync/lock.h"
#include "primitives/sync/queue.h"
#include "primitives/sync/semaphore.h"
#include "primitives/uv/driver.h"

#define GUESTS 4u

enum party_mode {
    PARTY_RIGHT,
    PARTY_FORGETS, /* a guest leaves and keeps its table; the next one waits for ever */
    PARTY_STOPS,   /* a guest ends uv_run() */
    PARTY_CRASHES,
    PARTY_GOES_ON, /* main() runs it again */
};

struct party {
    struct bz_loop *loop;
    struct bz_uv *driver;
    enum party_mode mode;
    struct bz_semaphore tables;
    struct bz_lock kitchen;
    struct bz_condition served; /* with the kitchen */
    struct bz_sync_event doors;
    struct bz_barrier toast;
    struct bz_queue orders;
    struct bz_timer tip_jar;
    uint32_t dishes;
    uint32_t guests_left;
    uint64_t tips;
};

/* Spawns everybody, in zeroed storage. */
void party_start(struct party *party, struct bz_uv *driver, enum party_mode mode);

#endif
