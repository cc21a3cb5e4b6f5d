#include "primitives/sync/event.h"

void bz_sync_event_init(struct bz_sync_event *event, struct bz_loop *loop) {
    bz_waitq_init(&event->queue, loop);
    event->is_set = false;
}

void bz_sync_event_set(struct bz_sync_event *event) {
    event->is_set = true;
    bz_waitq_wake_all(&event->queue, 0); /* none, if it was set before */
}

void bz_sync_event_clear(struct bz_sync_event *event) {
    event->is_set = false;
}

enum bz_status bz_sync_event_wait(struct bz_sync_event *event) {
    if (event->is_set) {
        return BZ_OK;
    }
    return bz_waitq_wait(&event->queue).status; /* even if the flag was cleared meanwhile */
}
