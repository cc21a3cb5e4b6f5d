#include "primitives/uv/tcp.h"

#include "primitives/runtime/check.h"
#include "primitives/runtime/task.h"

static void tcp_init(struct bz_uv_tcp *stream, struct bz_uv *driver) {
    stream->driver = driver;
    stream->error = 0;
    stream->reading = NULL;
    stream->has_connection = false;
    stream->is_writing = false;
    stream->is_polled = false;
    stream->is_closing = false;
    bz_list_init(&stream->accepting);
    int error = uv_tcp_init(bz_uv_uv(driver), &stream->handle);
    BZ_CHECK(error == 0); /* it opens no socket yet */
    stream->handle.data = stream;
    uv_unref((uv_handle_t *)&stream->handle); /* open operations keep uv_run() alive */
}

/* The result of an operation of libuv. */
static enum bz_status outcome(struct bz_uv_tcp *stream, enum bz_status status, int64_t value) {
    if (status != BZ_OK || value >= 0) {
        return status;
    }
    stream->error = (int)value;
    return value == UV_EOF ? BZ_CLOSED : BZ_FAILED;
}

/* --- closing ---------------------------------------------------------------------------------- */

static void on_closed(uv_handle_t *handle) {
    struct bz_uv_tcp *stream = handle->data;
    bz_uv_op_complete(&stream->closing, 0);
}

/* The operation that data are for, or NULL. */
static struct bz_uv_op *reader(const struct bz_uv_tcp *stream) {
    struct bz_uv_op *op = stream->reading;
    bool is_waiting = op != NULL && !op->is_done && !bz_list_is_linked(&op->link);
    return is_waiting ? op : NULL;
}

/* libuv completes writes, but forgets a read. */
static void begin_close(struct bz_uv_tcp *stream) {
    if (stream->is_closing) {
        return;
    }
    stream->is_closing = true;
    if (reader(stream) != NULL) {
        bz_uv_op_complete(stream->reading, UV_ECANCELED);
    }
    stream->closing = (struct bz_uv_op){0};
    bz_uv_op_begin(&stream->closing, stream->driver);
    uv_close((uv_handle_t *)&stream->handle, on_closed);
}

enum bz_status bz_uv_tcp_close(struct bz_uv_tcp *stream) {
    BZ_CHECK(stream->reading == NULL && !stream->is_writing);
    BZ_CHECK(bz_list_is_empty(&stream->accepting));
    begin_close(stream);
    return bz_uv_op_settle(&stream->closing);
}

/* --- connecting ------------------------------------------------------------------------------- */

struct sending {
    struct bz_uv_op op;
    struct bz_uv_tcp *stream;
    union {
        uv_connect_t connect;
        uv_write_t write;
    } request;
};

/* libuv then completes the request with UV_ECANCELED. */
static void sending_cancel(struct bz_uv_op *op) {
    begin_close(bz_container_of(op, struct sending, op)->stream);
}

static void sending_begin(struct sending *sending, struct bz_uv_tcp *stream) {
    sending->op = (struct bz_uv_op){.on_cancel = sending_cancel};
    sending->stream = stream;
    bz_uv_op_begin(&sending->op, stream->driver);
}

/* Waits for the request; an error of the call itself arrives in the same way. */
static enum bz_status sending_await(struct sending *sending, int error) {
    if (error != 0) {
        bz_uv_op_complete(&sending->op, error);
    }
    enum bz_status status = bz_uv_op_await(&sending->op);
    return outcome(sending->stream, status, sending->op.value);
}

static void on_connected(uv_connect_t *request, int error) {
    struct sending *sending = request->data;
    bz_uv_op_complete(&sending->op, error);
}

enum bz_status bz_uv_tcp_connect(struct bz_uv_tcp *stream, struct bz_uv *driver,
                                 const struct sockaddr *address) {
    struct sending sending;
    tcp_init(stream, driver);
    sending_begin(&sending, stream);
    sending.request.connect.data = &sending;
    int error = uv_tcp_connect(&sending.request.connect, &stream->handle, address, on_connected);
    return sending_await(&sending, error);
}

/* --- accepting -------------------------------------------------------------------------------- */

struct acceptor {
    struct bz_uv_op op;
    struct bz_list link; /* in listener->accepting, until it has a stream */
    struct bz_uv_tcp *listener;
    struct bz_uv_tcp *stream;
};

static void acceptor_cancel(struct bz_uv_op *op) {
    struct acceptor *acceptor = bz_container_of(op, struct acceptor, op);
    if (bz_list_is_linked(&acceptor->link)) {
        bz_list_remove(&acceptor->link);
    }
}

/* Gives the connection that libuv holds to the oldest acceptor. */
static void give_connection(struct bz_uv_tcp *listener) {
    if (!listener->has_connection || bz_list_is_empty(&listener->accepting)) {
        return;
    }
    struct bz_list *link = bz_list_pop_front(&listener->accepting);
    struct acceptor *acceptor = bz_container_of(link, struct acceptor, link);
    listener->has_connection = false;
    int error =
        uv_accept((uv_stream_t *)&listener->handle, (uv_stream_t *)&acceptor->stream->handle);
    bz_uv_op_complete(&acceptor->op, error);
}

static void on_connection(uv_stream_t *handle, int error) {
    struct bz_uv_tcp *listener = handle->data;
    if (error == 0) {
        listener->has_connection = true;
        give_connection(listener);
    } else if (!bz_list_is_empty(&listener->accepting)) {
        struct bz_list *link = bz_list_pop_front(&listener->accepting);
        bz_uv_op_complete(&bz_container_of(link, struct acceptor, link)->op, error);
    }
}

enum bz_status bz_uv_tcp_listen(struct bz_uv_tcp *listener, struct bz_uv *driver,
                                const struct sockaddr *address, int backlog) {
    struct bz_uv_op op = {0};
    tcp_init(listener, driver);
    bz_uv_op_begin(&op, driver);
    uv_stream_t *stream = (uv_stream_t *)&listener->handle;
    int error = uv_tcp_bind(&listener->handle, address, 0);
    error = error != 0 ? error : uv_listen(stream, backlog, on_connection);
    bz_uv_op_complete(&op, error);
    enum bz_status status = bz_uv_op_await(&op);
    return outcome(listener, status, op.value);
}

enum bz_status bz_uv_tcp_accept(struct bz_uv_tcp *listener, struct bz_uv_tcp *stream) {
    struct acceptor acceptor = {.op = {.on_cancel = acceptor_cancel, .withdraws = true},
                                .listener = listener,
                                .stream = stream};
    tcp_init(stream, listener->driver);
    bz_uv_op_begin(&acceptor.op, listener->driver);
    bz_list_push_back(&listener->accepting, &acceptor.link);
    give_connection(listener);
    enum bz_status status = bz_uv_op_await(&acceptor.op);
    status = outcome(listener, status, acceptor.op.value);
    if (status == BZ_OK) {
        return BZ_OK;
    }
    enum bz_status closed = bz_uv_tcp_close(stream);
    return closed == BZ_OK ? status : closed;
}

/* --- reading and writing ---------------------------------------------------------------------- */

/* libuv continues reading after a read is complete, because to stop and start costs two system
 * calls. It stops when data arrive and no task reads. */
static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer) {
    (void)suggested;
    const struct bz_uv_op *op = reader(handle->data);
    buffer->base = op == NULL ? NULL : op->data;
    buffer->len = op == NULL ? 0 : op->data_size; /* 0: on_read() is called with UV_ENOBUFS */
}

static void on_read(uv_stream_t *handle, ssize_t count, const uv_buf_t *buffer) {
    (void)buffer;
    struct bz_uv_tcp *stream = handle->data;
    struct bz_uv_op *op = reader(stream);
    if (op == NULL || count < 0) {
        stream->is_polled = false;
        uv_read_stop(handle);
    }
    if (op != NULL && count != 0) { /* 0: nothing yet */
        bz_uv_op_complete(op, count);
    }
}

static int start_reading(struct bz_uv_tcp *stream) {
    if (stream->is_closing) {
        return UV_ECANCELED;
    }
    int error =
        stream->is_polled ? 0 : uv_read_start((uv_stream_t *)&stream->handle, on_alloc, on_read);
    stream->is_polled = error == 0;
    return error;
}

enum bz_status bz_uv_tcp_read(struct bz_uv_tcp *stream, void *buffer, size_t size, size_t *count) {
    *count = 0;
    if (stream->reading != NULL) {
        return BZ_INVALID_STATE;
    }
    if (size == 0) {
        return BZ_INVALID_ARGUMENT;
    }
    struct bz_uv_op op = {.withdraws = true, .data = buffer, .data_size = size};
    bz_uv_op_begin(&op, stream->driver);
    stream->reading = &op;
    int error = start_reading(stream);
    if (error != 0) {
        bz_uv_op_complete(&op, error);
    }
    enum bz_status status = bz_uv_op_await(&op);
    stream->reading = NULL;
    status = outcome(stream, status, op.value);
    *count = status == BZ_OK ? (size_t)op.value : 0;
    return status;
}

static void on_written(uv_write_t *request, int error) {
    struct sending *sending = request->data;
    bz_uv_op_complete(&sending->op, error);
}

enum bz_status bz_uv_tcp_write(struct bz_uv_tcp *stream, const void *data, size_t size) {
    if (stream->is_writing) {
        return BZ_INVALID_STATE;
    }
    struct sending sending;
    int error = 0;
    sending_begin(&sending, stream);
    stream->is_writing = true;
    if (stream->is_closing) {
        error = UV_ECANCELED;
    } else {
        uv_buf_t buffer = {.base = (char *)data, .len = size};
        sending.request.write.data = &sending;
        error = uv_write(&sending.request.write, (uv_stream_t *)&stream->handle, &buffer, 1,
                         on_written);
    }
    enum bz_status status = sending_await(&sending, error);
    stream->is_writing = false;
    return status;
}
