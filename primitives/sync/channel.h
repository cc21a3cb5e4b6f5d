/* Channel: a bounded queue (queue.h) that closes from both sides. It is tokio::sync::mpsc.
 *
 * The channel counts its senders. When the last one is dropped, receives return the values that are
 * left, and then BZ_CLOSED. When the receiver closes the channel, sends return BZ_CLOSED, waiting
 * ones included; the values that are in it can still be received.
 *
 * Senders are served in order of arrival, and so are the tasks that receive; there may be
 * several. Newcomers stand behind those that wait. A sender or receiver that is woken and cancelled
 * before it resumes hands its slot or value on in the step in which it runs: a cancelled send has
 * sent nothing, a cancelled receive has taken nothing.
 *
 * Everything is O(1), except closing, which is O(waiters). Only the initialization allocates. */
#ifndef BZ_SYNC_CHANNEL_H
#define BZ_SYNC_CHANNEL_H

#include "primitives/sync/queue.h"

BZ_BEGIN_DECLS

struct bz_channel {
    struct bz_queue queue;
    struct bz_sync_event closed;
    uint32_t senders;
};

/* With one sender. BZ_OK; BZ_NO_MEMORY; BZ_INVALID_ARGUMENT if `capacity` is 0. The caller provides
 * the storage, which must outlive all waits. */
enum bz_status bz_channel_init(struct bz_channel *channel, struct bz_loop *loop,
                               uint32_t capacity) BZ_MUST_USE;

/* Frees the memory. No task may be waiting. Not needed before the loop is reset or destroyed. */
void bz_channel_fini(struct bz_channel *channel);

/* BZ_OK: the value is in the channel. BZ_CLOSED, BZ_CANCELLED: it never was. Suspends only if the
 * channel is full, or if others wait. */
enum bz_status bz_channel_send(struct bz_channel *channel, uint64_t value) BZ_MUST_USE;

/* The same without suspending: BZ_FULL where a send would suspend. */
enum bz_status bz_channel_try_send(struct bz_channel *channel, uint64_t value) BZ_MUST_USE;

/* BZ_OK: *value is the oldest value. BZ_CLOSED: none is there or will come. BZ_CANCELLED: none was
 * taken. Suspends only if the channel is empty, or if others wait. */
enum bz_status bz_channel_receive(struct bz_channel *channel, uint64_t *value) BZ_MUST_USE;

/* The same without suspending: BZ_EMPTY where a receive would suspend. */
enum bz_status bz_channel_try_receive(struct bz_channel *channel, uint64_t *value) BZ_MUST_USE;

/* One sender more. BZ_OK; BZ_CLOSED if there is none any more. */
enum bz_status bz_channel_add_sender(struct bz_channel *channel) BZ_MUST_USE;

/* One sender fewer; the last one closes the channel. BZ_OK; BZ_INVALID_STATE if there is none. */
enum bz_status bz_channel_drop_sender(struct bz_channel *channel) BZ_MUST_USE;

/* By the receiver: nothing more can be sent. `drops_values`: nothing more can be received, either;
 * take values that own memory out before. */
void bz_channel_close(struct bz_channel *channel, bool drops_values);

/* Waits until sends return BZ_CLOSED. BZ_OK, or BZ_CANCELLED. */
enum bz_status bz_channel_wait_closed(struct bz_channel *channel) BZ_MUST_USE;

BZ_END_DECLS

#endif
