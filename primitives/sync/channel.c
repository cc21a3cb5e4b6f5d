#include "primitives/sync/channel.h"

enum bz_status bz_channel_init(struct bz_channel *channel, struct bz_loop *loop,
                               uint32_t capacity) {
    channel->senders = 1;
    bz_sync_event_init(&channel->closed, loop);
    return capacity == 0 ? BZ_INVALID_ARGUMENT
                         : bz_queue_init(&channel->queue, loop, BZ_QUEUE_FIFO, capacity);
}

void bz_channel_fini(struct bz_channel *channel) {
    bz_queue_fini(&channel->queue);
}

enum bz_status bz_channel_send(struct bz_channel *channel, uint64_t value) {
    return bz_queue_put(&channel->queue, value);
}

enum bz_status bz_channel_try_send(struct bz_channel *channel, uint64_t value) {
    return bz_queue_try_put(&channel->queue, value);
}

enum bz_status bz_channel_receive(struct bz_channel *channel, uint64_t *value) {
    return bz_queue_get(&channel->queue, value);
}

enum bz_status bz_channel_try_receive(struct bz_channel *channel, uint64_t *value) {
    return bz_queue_try_get(&channel->queue, value);
}

enum bz_status bz_channel_add_sender(struct bz_channel *channel) {
    if (channel->senders == 0) {
        return BZ_CLOSED;
    }
    channel->senders++;
    return BZ_OK;
}

enum bz_status bz_channel_drop_sender(struct bz_channel *channel) {
    if (channel->senders == 0) {
        return BZ_INVALID_STATE;
    }
    if (--channel->senders == 0) {
        bz_channel_close(channel, false);
    }
    return BZ_OK;
}

void bz_channel_close(struct bz_channel *channel, bool drops_values) {
    bz_queue_shutdown(&channel->queue, drops_values);
    bz_sync_event_set(&channel->closed);
}

enum bz_status bz_channel_wait_closed(struct bz_channel *channel) {
    return bz_sync_event_wait(&channel->closed);
}
