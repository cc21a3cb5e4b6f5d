#include "primitives/sync/oneshot.h"

void bz_oneshot_init(struct bz_oneshot *channel, struct bz_loop *loop) {
    *channel = (struct bz_oneshot){.state = BZ_ONESHOT_OPEN};
    bz_waitq_init(&channel->receivers, loop);
    bz_sync_event_init(&channel->closed, loop);
}

enum bz_status bz_oneshot_send(struct bz_oneshot *channel, uint64_t value) {
    if (channel->state != BZ_ONESHOT_OPEN) {
        return BZ_CLOSED;
    }
    channel->state = BZ_ONESHOT_SENT;
    channel->value = value;
    bz_waitq_wake_oldest(&channel->receivers, 0);
    bz_sync_event_set(&channel->closed);
    return BZ_OK;
}

void bz_oneshot_close(struct bz_oneshot *channel) {
    if (channel->state == BZ_ONESHOT_OPEN) {
        channel->state = BZ_ONESHOT_CLOSED;
        bz_waitq_wake_all(&channel->receivers, 0);
        bz_sync_event_set(&channel->closed);
    }
}

/* By a task to which the value is promised, if there is one. */
static enum bz_status take(struct bz_oneshot *channel, uint64_t *value) {
    if (channel->state != BZ_ONESHOT_SENT) {
        return BZ_CLOSED;
    }
    *value = channel->value;
    channel->state = BZ_ONESHOT_CLOSED;
    bz_waitq_wake_all(&channel->receivers, 0); /* nothing more comes */
    return BZ_OK;
}

enum bz_status bz_oneshot_try_receive(struct bz_oneshot *channel, uint64_t *value) {
    bool is_promised = channel->state == BZ_ONESHOT_SENT && channel->receivers.woken_count > 0;
    return channel->state == BZ_ONESHOT_OPEN || is_promised ? BZ_EMPTY : take(channel, value);
}

enum bz_status bz_oneshot_receive(struct bz_oneshot *channel, uint64_t *value) {
    enum bz_status status = bz_oneshot_try_receive(channel, value);
    if (status != BZ_EMPTY) {
        return status;
    }
    struct bz_wait_outcome outcome = bz_waitq_wait(&channel->receivers);
    if (outcome.status == BZ_OK) {
        return take(channel, value);
    }
    if (outcome.was_woken && channel->state == BZ_ONESHOT_SENT) {
        bz_waitq_wake_oldest(&channel->receivers, 0);
    }
    return outcome.status;
}

enum bz_status bz_oneshot_wait_closed(struct bz_oneshot *channel) {
    return bz_sync_event_wait(&channel->closed);
}
