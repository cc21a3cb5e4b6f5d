/* The tasks of the example: see service_main.c. */
#include "service.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "primitives/runtime/group.h"
#include "primitives/runtime/timeout.h"

#define CONNECTIONS_MAX 256u /* more wait in the kernel's backlog */
#define LINE_MAX_BYTES 64u

/* --- requests --------------------------------------------------------------------------------- */

/* Here would be the work: a query to a database, say. */
static enum bz_status work(struct service *service, uint64_t work_ns) {
    enum bz_status status = bz_semaphore_acquire(&service->permits);
    if (status != BZ_OK) {
        return status;
    }
    service->in_service++;
    if (service->in_service > service->in_service_max) {
        service->in_service_max = service->in_service;
    }
    status = bz_sleep(service->loop, work_ns);
    service->in_service--;
    enum bz_status released = bz_semaphore_release(&service->permits);
    return status == BZ_OK ? released : status;
}

static enum bz_status request(struct service *service, struct bz_uv_tcp *stream, const char *line) {
    unsigned number;
    unsigned work_ms;
    char answer[LINE_MAX_BYTES];
    if (sscanf(line, "%u %u", &number, &work_ms) != 2) {
        service->bad++;
        return BZ_CLOSED; /* hang up */
    }
    struct bz_timeout patience;
    enum bz_status status = bz_timeout_enter(service->loop, &patience, service->patience_ns);
    if (status != BZ_OK) {
        return status;
    }
    status = bz_timeout_exit(&patience, work(service, work_ms * MS));
    if (status != BZ_OK && status != BZ_TIMED_OUT) {
        return status;
    }
    service->done += status == BZ_OK;
    service->timed_out += status == BZ_TIMED_OUT;
    int length =
        snprintf(answer, sizeof answer, "%u %s\n", number, status == BZ_OK ? "ok" : "timeout");
    return bz_uv_tcp_write(stream, answer, (size_t)length);
}

/* Reads lines, and serves each. Ends with the status of the call that failed. */
static enum bz_status converse(struct service *service, struct bz_uv_tcp *stream) {
    char line[LINE_MAX_BYTES];
    size_t used = 0;
    for (;;) {
        size_t count;
        enum bz_status status = bz_uv_tcp_read(stream, line + used, sizeof line - 1 - used, &count);
        used += count;
        line[used] = '\0';
        char *end;
        while (status == BZ_OK && (end = strchr(line, '\n')) != NULL) {
            *end = '\0';
            status = request(service, stream, line);
            used -= (size_t)(end + 1 - line);
            memmove(line, end + 1, used + 1);
        }
        if (status != BZ_OK || used == sizeof line - 1) {
            return status == BZ_OK ? BZ_CLOSED : status; /* hang up on an endless line */
        }
    }
}

/* --- connections ------------------------------------------------------------------------------ */

/* Serves one connection after the other. The stream is on this task's stack, so a task that is
 * cancelled before its first step leaves nothing behind. */
static enum bz_status worker(void *arg) {
    struct service *service = arg;
    for (;;) {
        struct bz_uv_tcp stream;
        enum bz_status status = bz_uv_tcp_accept(&service->listener, &stream);
        if (status == BZ_FAILED) {
            fprintf(stderr, "uv-service: accept: %s\n", uv_strerror(service->listener.error));
            status = bz_sleep(service->loop, 100 * MS); /* out of descriptors, perhaps */
            if (status == BZ_OK) {
                continue;
            }
        }
        if (status != BZ_OK) {
            return status;
        }
        service->connections++;
        status = converse(service, &stream);
        enum bz_status closed = bz_uv_tcp_close(&stream);
        if (status == BZ_CANCELLED || closed == BZ_CANCELLED) {
            return BZ_CANCELLED;
        }
        if (status != BZ_CLOSED && status != BZ_FAILED) { /* the peer's end, or its fault */
            return status;
        }
    }
}

static enum bz_status workers(void *arg) {
    struct service *service = arg;
    struct bz_group group;
    enum bz_status status = bz_group_enter(service->loop, &group);
    if (status != BZ_OK) {
        return status;
    }
    for (uint32_t number = 1; status == BZ_OK && number <= CONNECTIONS_MAX; number++) {
        status = bz_group_spawn(&group, "worker", number, worker, service, NULL);
    }
    return bz_group_exit(&group, status);
}

static void on_signal(uv_signal_t *handle, int number) {
    struct service *service = handle->data;
    for (unsigned index = 0; index < 2; index++) {
        uv_close((uv_handle_t *)&service->signals[index], NULL);
    }
    bz_uv_op_complete(&service->stop, number);
}

static void watch_signals(struct service *service) {
    static const int numbers[2] = {SIGINT, SIGTERM};
    bz_uv_op_begin(&service->stop, service->driver);
    for (unsigned index = 0; index < 2; index++) {
        uv_signal_init(bz_uv_uv(service->driver), &service->signals[index]);
        service->signals[index].data = service;
        uv_signal_start(&service->signals[index], on_signal, numbers[index]);
    }
}

static void print_port(struct service *service) {
    struct sockaddr_in bound;
    int size = sizeof bound;
    if (uv_tcp_getsockname(&service->listener.handle, (struct sockaddr *)&bound, &size) == 0) {
        printf("port %u\n", ntohs(bound.sin_port));
        fflush(stdout);
    }
}

static enum bz_status serve(void *arg) {
    struct service *service = arg;
    enum bz_status status = bz_uv_tcp_listen(&service->listener, service->driver,
                                             (struct sockaddr *)&service->address, 511);
    if (status == BZ_OK) {
        watch_signals(service);
        print_port(service);
        struct bz_task *task = bz_task_spawn(service->loop, "workers", 0, workers, service);
        status = task == NULL ? BZ_NO_MEMORY : BZ_OK;
        enum bz_status stopped = bz_uv_op_await(&service->stop);
        if (task != NULL) {
            bz_task_cancel(task);
            status = bz_task_join(task);
            bz_task_free(task);
        }
        status = status == BZ_CANCELLED ? stopped : status; /* as they were asked to end */
    } else {
        fprintf(stderr, "uv-service: listen: %s\n", uv_strerror(service->listener.error));
    }
    enum bz_status closed = bz_uv_tcp_close(&service->listener);
    return status == BZ_OK ? closed : status;
}

struct bz_task *service_start(struct service *service, struct bz_uv *driver, uint32_t permits,
                              uint32_t patience_ms) {
    service->driver = driver;
    service->loop = bz_uv_loop(driver);
    service->patience_ns = patience_ms * MS;
    bz_semaphore_init_bounded(&service->permits, service->loop, permits);
    return bz_task_spawn(service->loop, "serve", 0, serve, service);
}
