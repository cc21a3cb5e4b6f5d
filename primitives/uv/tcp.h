/* TCP streams for tasks, on libuv. Each call suspends the running task until libuv is done with it,
 * so buffers may be on the task's stack.
 *
 * Results: BZ_OK; BZ_CLOSED at the end of the peer's data; BZ_CANCELLED; BZ_FAILED, with libuv's
 * error in `error` (uv_strerror() names it). Every stream is closed with bz_uv_tcp_close(),
 * whatever happened to it. Its storage is free after that.
 *
 *     struct bz_uv_tcp stream;
 *     status = bz_uv_tcp_connect(&stream, driver, &address);
 *     while (status == BZ_OK) {
 *         status = bz_uv_tcp_read(&stream, buffer, sizeof buffer, &count);
 *         ...
 *     }
 *     closed = bz_uv_tcp_close(&stream);
 *
 * Cancellation: a cancelled read or accept leaves the stream as it was. If the result had just
 * arrived, a cancelled read drops the data, and a cancelled accept closes the new stream. A write
 * or connect cannot be taken back: its cancel closes the connection, unless it had just succeeded;
 * later calls then give BZ_FAILED with UV_ECANCELED. A timeout scope (runtime/timeout.h) cancels in
 * this way as well.
 *
 * One task may read while another one writes. Any number of tasks may accept; they are served first
 * come, first served.
 */
#ifndef BZ_UV_TCP_H
#define BZ_UV_TCP_H

#include "primitives/uv/driver.h"

BZ_BEGIN_DECLS

struct bz_uv_tcp {
    uv_tcp_t handle; /* for uv_tcp_nodelay() and the like */
    int error;       /* libuv's, after BZ_FAILED */

    /* Private. */
    struct bz_uv *driver;
    struct bz_uv_op closing;  /* begun by the first that closes it */
    struct bz_uv_op *reading; /* until the reader has resumed; or NULL */
    struct bz_list accepting; /* a listener: those who wait, oldest first */
    bool has_connection;      /* a listener: libuv holds one that no task accepted */
    bool is_polled;           /* libuv looks for data */
    bool is_writing;
    bool is_closing;
};

/* Binds and listens. `listener` must be closed, whatever this returns; no task may wait for a
 * connection then. uv_tcp_getsockname() gives the port if that of the address was 0. */
enum bz_status bz_uv_tcp_listen(struct bz_uv_tcp *listener, struct bz_uv *driver,
                                const struct sockaddr *address, int backlog) BZ_MUST_USE;

/* Waits for a connection. After any other status than BZ_OK, `stream` needs no close, and the
 * listener has the error. */
enum bz_status bz_uv_tcp_accept(struct bz_uv_tcp *listener, struct bz_uv_tcp *stream) BZ_MUST_USE;

/* Opens a connection. `stream` must be closed, whatever this returns. */
enum bz_status bz_uv_tcp_connect(struct bz_uv_tcp *stream, struct bz_uv *driver,
                                 const struct sockaddr *address) BZ_MUST_USE;

/* Reads at least one byte, and at most `size`. BZ_INVALID_STATE if another task reads. */
enum bz_status bz_uv_tcp_read(struct bz_uv_tcp *stream, void *buffer, size_t size,
                              size_t *count) BZ_MUST_USE;

/* Writes everything. BZ_INVALID_STATE if another task writes. */
enum bz_status bz_uv_tcp_write(struct bz_uv_tcp *stream, const void *data, size_t size) BZ_MUST_USE;

/* Closes the stream, and waits until libuv has done so; no other task may use it. BZ_OK, or
 * BZ_CANCELLED if the task was cancelled meanwhile: it is closed all the same. */
enum bz_status bz_uv_tcp_close(struct bz_uv_tcp *stream) BZ_MUST_USE;

BZ_END_DECLS

#endif
