/* An example: a TCP service on libuv that limits its concurrency with a semaphore, and each request
 * with a timeout.
 *
 *     uv-service [PORT [PERMITS [PATIENCE_MS]]]      by default 0: any free port, 16 and 50
 *
 * A request is a line "NUMBER MS": some work that takes MS milliseconds. At most PERMITS requests
 * are in service; the others wait, in order. The answer is "NUMBER ok", or "NUMBER timeout" if the
 * request was not done within PATIENCE_MS, waiting included. SIGINT and SIGTERM end the service: it
 * closes all connections and prints what it did.
 *
 *     exit code 0: all is well; 1: it is not, said on stderr; 2: usage
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "service.h"

/* --- main ------------------------------------------------------------------------------------- */

static int run(struct service *service, struct bz_loop *loop, uv_loop_t *uv,
               const unsigned *numbers) {
    struct bz_uv *driver;
    int error = bz_uv_new(&driver, loop, uv);
    if (error != 0) {
        fprintf(stderr, "uv-service: %s\n", uv_strerror(error));
        return 1;
    }
    struct bz_task *task = service_start(service, driver, numbers[1], numbers[2]);
    enum bz_status status = task == NULL ? BZ_NO_MEMORY : bz_uv_run(driver);
    if (status == BZ_OK) {
        status = bz_task_join(task); /* it has ended, so this does not suspend */
        bz_task_free(task);
    }
    printf("connections %" PRIu64 ", ok %" PRIu64 ", timeout %" PRIu64 ", bad %" PRIu64
           ", at most %u in service, %s\n",
           service->connections, service->done, service->timed_out, service->bad,
           service->in_service_max, bz_status_name(status));
    bz_uv_close(driver);
    return status == BZ_OK ? 0 : 1;
}

int main(int argc, char **argv) {
    unsigned numbers[3] = {0, 16, 50};
    for (int index = 1; index < argc; index++) {
        char *end = NULL;
        unsigned long number = index > 3 ? 0 : strtoul(argv[index], &end, 10);
        if (index > 3 || *argv[index] == '\0' || *end != '\0' || number > 65535) {
            fprintf(stderr, "usage: %s [PORT [PERMITS [PATIENCE_MS]]]\n", argv[0]);
            return 2;
        }
        numbers[index - 1] = (unsigned)number;
    }
    signal(SIGPIPE, SIG_IGN);
    uv_loop_t uv;
    struct service service = {.connections = 0};
    struct bz_loop *loop = bz_loop_new(NULL);
    if (loop == NULL || uv_loop_init(&uv) != 0) {
        fprintf(stderr, "uv-service: out of memory\n");
        return 1;
    }
    uv_ip4_addr("127.0.0.1", (int)numbers[0], &service.address);
    int result = run(&service, loop, &uv, numbers);
    uv_run(&uv, UV_RUN_DEFAULT);
    if (uv_loop_close(&uv) != 0 || bz_semaphore_level(&service.permits) != numbers[1]) {
        fprintf(stderr, "uv-service: something was left behind\n");
        result = 1;
    }
    bz_loop_destroy(loop);
    return result;
}
