/* A client of uv-service: load on loopback, on the same library.
 *
 *     uv-load PORT [CONNECTIONS [SECONDS [WORK_MS]]]      by default 64, 2 and 2
 *
 * Each connection sends a request, waits for its answer, and sends the next one. At the end it
 * prints how many were answered, how, and how fast.
 *
 *     exit code 0: every request was answered, and rightly; 1: not so, said on stderr; 2: usage
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "primitives/runtime/group.h"
#include "primitives/uv/tcp.h"

#define S UINT64_C(1000000000)
#define BUCKETS 100000u /* of 10 us */

struct load {
    struct bz_loop *loop;
    struct bz_uv *driver;
    struct sockaddr_in address;
    uint32_t connections;
    unsigned work_ms;
    uint64_t end_ns; /* no new request after it */
    uint64_t sent;
    uint64_t ok;
    uint64_t timeout;
    uint32_t latencies[BUCKETS];
};

/* --- a connection ----------------------------------------------------------------------------- */

static enum bz_status ask(struct load *load, struct bz_uv_tcp *stream, unsigned number) {
    char line[64];
    size_t used = 0;
    uint64_t begin_ns = uv_hrtime();
    int length = snprintf(line, sizeof line, "%u %u\n", number, load->work_ms);
    load->sent++;
    enum bz_status status = bz_uv_tcp_write(stream, line, (size_t)length);
    while (status == BZ_OK && (used == 0 || line[used - 1] != '\n')) {
        size_t count;
        status = bz_uv_tcp_read(stream, line + used, sizeof line - 1 - used, &count);
        used += count;
    }
    if (status != BZ_OK) {
        return status;
    }
    char *word;
    line[used] = '\0';
    bool is_mine = strtoul(line, &word, 10) == number;
    load->ok += is_mine && strcmp(word, " ok\n") == 0;
    load->timeout += is_mine && strcmp(word, " timeout\n") == 0;
    uint64_t bucket = (uv_hrtime() - begin_ns) / 10000;
    load->latencies[bucket < BUCKETS ? bucket : BUCKETS - 1]++;
    return BZ_OK;
}

static enum bz_status connection(void *arg) {
    struct load *load = arg;
    struct bz_uv_tcp stream;
    enum bz_status status =
        bz_uv_tcp_connect(&stream, load->driver, (struct sockaddr *)&load->address);
    for (unsigned number = 1; status == BZ_OK && uv_hrtime() < load->end_ns; number++) {
        status = ask(load, &stream, number);
    }
    if (status == BZ_FAILED) {
        fprintf(stderr, "uv-load: %s\n", uv_strerror(stream.error));
    }
    enum bz_status closed = bz_uv_tcp_close(&stream);
    return status == BZ_OK ? closed : status;
}

static enum bz_status connections(void *arg) {
    struct load *load = arg;
    struct bz_group group;
    enum bz_status status = bz_group_enter(load->loop, &group);
    if (status != BZ_OK) {
        return status;
    }
    for (uint32_t number = 1; status == BZ_OK && number <= load->connections; number++) {
        status = bz_group_spawn(&group, "connection", number, connection, load, NULL);
    }
    return bz_group_exit(&group, status);
}

/* --- main ------------------------------------------------------------------------------------- */

static uint64_t percentile_us(const struct load *load, uint64_t percent) {
    uint64_t total = load->ok + load->timeout;
    uint64_t seen = 0;
    for (uint32_t bucket = 0; bucket < BUCKETS; bucket++) {
        seen += load->latencies[bucket];
        if (seen * 100 >= total * percent) {
            return (uint64_t)bucket * 10;
        }
    }
    return 0;
}

static int run(struct load *load, uv_loop_t *uv, uint64_t duration_ns) {
    if (bz_uv_new(&load->driver, load->loop, uv) != 0) {
        return 1;
    }
    uint64_t begin_ns = uv_hrtime();
    load->end_ns = begin_ns + duration_ns;
    struct bz_task *task = bz_task_spawn(load->loop, "connections", 0, connections, load);
    enum bz_status status = task == NULL ? BZ_NO_MEMORY : bz_uv_run(load->driver);
    if (status == BZ_OK) {
        status = bz_task_join(task); /* it has ended, so this does not suspend */
        bz_task_free(task);
    }
    uint64_t spent_ms = (uv_hrtime() - begin_ns) / 1000000 + 1;
    uint64_t answered = load->ok + load->timeout;
    printf("sent %" PRIu64 ", ok %" PRIu64 ", timeout %" PRIu64 ", %s\n", load->sent, load->ok,
           load->timeout, bz_status_name(status));
    printf("%" PRIu64 " requests/s, latency p50 %" PRIu64 " us, p99 %" PRIu64 " us\n",
           answered * 1000 / spent_ms, percentile_us(load, 50), percentile_us(load, 99));
    bz_uv_close(load->driver);
    return status == BZ_OK && answered == load->sent ? 0 : 1;
}

int main(int argc, char **argv) {
    unsigned numbers[4] = {0, 64, 2, 2};
    for (int index = 1; index < argc && index <= 4; index++) {
        numbers[index - 1] = (unsigned)strtoul(argv[index], NULL, 10);
    }
    if (argc < 2 || argc > 5 || numbers[0] == 0 || numbers[0] > 65535 || numbers[1] == 0) {
        fprintf(stderr, "usage: %s PORT [CONNECTIONS [SECONDS [WORK_MS]]]\n", argv[0]);
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    uv_loop_t uv;
    static struct load load;
    load.loop = bz_loop_new(NULL);
    load.connections = numbers[1];
    load.work_ms = numbers[3];
    if (load.loop == NULL || uv_loop_init(&uv) != 0) {
        fprintf(stderr, "uv-load: out of memory\n");
        return 1;
    }
    uv_ip4_addr("127.0.0.1", (int)numbers[0], &load.address);
    int result = run(&load, &uv, numbers[2] * S);
    uv_run(&uv, UV_RUN_DEFAULT);
    if (uv_loop_close(&uv) != 0) {
        fprintf(stderr, "uv-load: something was left behind\n");
        result = 1;
    }
    bz_loop_destroy(load.loop);
    return result;
}
