/* Recordings: see the end of driver.h for what they hold and what they cannot. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "primitives/uv/internal.h"

#define HEADER "buzzer-live 1\n"

/* Keeps the first error; nothing is written or replayed after it. */
__attribute__((format(printf, 2, 3))) static void fail(struct bz_uv_record *record,
                                                       const char *format, ...) {
    if (record->error[0] == '\0') {
        va_list list;
        va_start(list, format);
        vsnprintf(record->error, sizeof record->error, format, list);
        va_end(list);
    }
}

const char *bz_uv_error(const struct bz_uv *driver) {
    return driver->record.error[0] == '\0' ? NULL : driver->record.error;
}

bool bz_uv_is_replay(const struct bz_uv *driver) {
    return driver->record.in != NULL;
}

/* FNV-1a over words, with a shift that lets the high bits count. */
static void on_report(struct bz_observer *observer, enum bz_event_kind kind, uint32_t task,
                      uint8_t status, uint32_t arg) {
    struct bz_uv_record *record = bz_container_of(observer, struct bz_uv_record, observer);
    const uint64_t words[] = {(uint64_t)kind << 8 | status, (uint64_t)task << 32 | arg};
    for (unsigned index = 0; index < 2; index++) {
        record->digest = (record->digest ^ words[index]) * UINT64_C(0x100000001b3);
        record->digest ^= record->digest >> 29;
    }
    record->has_outside = record->has_outside || !record->is_inside;
}

/* --- opening and closing ---------------------------------------------------------------------- */

static int open_out(struct bz_uv_record *record, const char *path) {
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) {
        return uv_translate_sys_error(errno);
    }
    record->out = fdopen(file, "w");
    if (record->out == NULL) {
        close(file);
        return UV_ENOMEM;
    }
    fputs(HEADER, record->out);
    return 0;
}

static bool next_line(struct bz_uv_record *record) {
    record->line_number++;
    ssize_t length = getline(&record->line, &record->line_size, record->in);
    return length > 0 && record->line[length - 1] == '\n' && strlen(record->line) == (size_t)length;
}

static int open_in(struct bz_uv_record *record, const char *path) {
    record->in = fopen(path, "re");
    if (record->in == NULL) {
        return uv_translate_sys_error(errno);
    }
    record->open = calloc(BZ_UV_BUCKETS, sizeof *record->open);
    if (record->open == NULL) {
        return UV_ENOMEM;
    }
    for (unsigned index = 0; index < BZ_UV_BUCKETS; index++) {
        bz_list_init(&record->open[index]);
    }
    return next_line(record) && strcmp(record->line, HEADER) == 0 ? 0 : UV_EINVAL;
}

int bz_uv_record_open(struct bz_uv *driver, const struct bz_uv_config *config) {
    struct bz_uv_record *record = &driver->record;
    int error = 0;
    if (config->record != NULL && config->replay != NULL) {
        return UV_EINVAL;
    }
    if (config->replay != NULL) {
        error = open_in(record, config->replay);
    } else if (config->record != NULL) {
        error = open_out(record, config->record);
    } else {
        return 0;
    }
    if (error != 0) {
        bz_uv_record_close(driver);
        return error;
    }
    record->digest = UINT64_C(0xcbf29ce484222325);
    record->observer.report = on_report;
    bz_driver_observe(driver->loop, &record->observer);
    return 0;
}

void bz_uv_record_close(struct bz_uv *driver) {
    struct bz_uv_record *record = &driver->record;
    if (record->observer.report != NULL) {
        bz_driver_observe(driver->loop, NULL);
    }
    if (record->out != NULL) {
        fclose(record->out); /* what mattered was flushed */
    }
    if (record->in != NULL) {
        fclose(record->in);
    }
    free(record->line);
    free(record->open);
}

/* --- recording -------------------------------------------------------------------------------- */

static bool is_recording(const struct bz_uv_record *record) {
    return record->out != NULL && record->error[0] == '\0';
}

static void flush(struct bz_uv_record *record) {
    if (fflush(record->out) != 0) {
        fail(record, "the recording cannot be written: %s", strerror(errno));
    }
}

/* Whoever wakes a task, except tasks and the driver, does it in a way that a replay cannot know. */
void bz_uv_record_outside(struct bz_uv *driver) {
    struct bz_uv_record *record = &driver->record;
    bool is_outside =
        record->has_outside || bz_driver_ready_count(driver->loop) != record->ready_left;
    record->has_outside = false;
    if (driver->is_running && is_outside && is_recording(record)) {
        fputs("outside\n", record->out);
        flush(record);
        fail(record, "the recording ends early: a task was woken, cancelled or spawned from outside"
                     " without an operation");
    }
}

void bz_uv_record_done(struct bz_uv *driver, const struct bz_uv_op *op) {
    struct bz_uv_record *record = &driver->record;
    if (!is_recording(record)) {
        return;
    }
    fprintf(record->out, "done %" PRIu64 " %" PRId64, op->number, op->value);
    if (op->data != NULL && op->value > 0) {
        static const char digits[] = "0123456789abcdef";
        const unsigned char *data = op->data;
        BZ_CHECK((uint64_t)op->value <= op->data_size);
        putc_unlocked(' ', record->out);
        for (int64_t index = 0; index < op->value; index++) {
            putc_unlocked(digits[data[index] >> 4], record->out);
            putc_unlocked(digits[data[index] & 15], record->out);
        }
    }
    putc_unlocked('\n', record->out);
}

void bz_uv_record_turn(struct bz_uv *driver, uint64_t now_ns) {
    struct bz_uv_record *record = &driver->record;
    if (is_recording(record)) {
        fprintf(record->out, "turn %" PRIu64 " %016" PRIx64 "\n", now_ns, record->digest);
        flush(record);
    }
}

void bz_uv_record_end(struct bz_uv *driver) {
    struct bz_uv_record *record = &driver->record;
    if (is_recording(record)) {
        fprintf(record->out, "end %016" PRIx64 " %" PRIu32 "\n", record->digest,
                bz_loop_live_tasks(driver->loop));
        flush(record);
    } else if (record->in != NULL && !record->has_ended) {
        fail(record, "line %lu: the replay was stopped before the end of the run",
             record->line_number);
    }
    record->has_ended = false;
    record->has_outside = false;
}

/* --- replay ----------------------------------------------------------------------------------- */

void bz_uv_replay_began(struct bz_uv *driver, struct bz_uv_op *op) {
    if (bz_uv_is_replay(driver)) {
        bz_list_push_back(&driver->record.open[op->number % BZ_UV_BUCKETS], &op->link);
    }
}

static struct bz_uv_op *open_op(struct bz_uv_record *record, uint64_t number) {
    struct bz_list *head = &record->open[number % BZ_UV_BUCKETS];
    for (struct bz_list *link = head->next; link != head; link = link->next) {
        struct bz_uv_op *op = bz_container_of(link, struct bz_uv_op, link);
        if (op->number == number) {
            return op;
        }
    }
    return NULL;
}

static int hex_digit(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Fills the operation's buffer. False if the text is not `count` bytes, or if they do not fit. */
static bool read_data(const struct bz_uv_op *op, const char *hex, uint64_t count) {
    if (count > op->data_size || strlen(hex) != 2 * count) {
        return false;
    }
    for (uint64_t index = 0; index < count; index++) {
        int high = hex_digit(hex[2 * index]);
        int low = hex_digit(hex[2 * index + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        ((unsigned char *)op->data)[index] = (unsigned char)(high << 4 | low);
    }
    return true;
}

static bool replay_done(struct bz_uv_record *record) {
    uint64_t number;
    int64_t value;
    int length = 0;
    if (sscanf(record->line, "done %" SCNu64 " %" SCNd64 "%n", &number, &value, &length) != 2) {
        fail(record, "line %lu: 'done OPERATION VALUE' is expected", record->line_number);
        return false;
    }
    struct bz_uv_op *op = open_op(record, number);
    if (op == NULL) {
        fail(record, "line %lu: operation %" PRIu64 " is not open: the run diverged",
             record->line_number, number);
        return false;
    }
    char *rest = record->line + length;
    rest[strcspn(rest, "\n")] = '\0';
    bool has_data = op->data != NULL && value > 0;
    if (has_data ? rest[0] != ' ' || !read_data(op, rest + 1, (uint64_t)value) : rest[0] != '\0') {
        fail(record, "line %lu: the data of operation %" PRIu64 " do not fit: the run diverged",
             record->line_number, number);
        return false;
    }
    bz_list_remove(&op->link);
    bz_uv_op_deliver(op, value);
    return true;
}

static bool is_as_recorded(struct bz_uv_record *record, uint64_t recorded) {
    if (record->digest != recorded) {
        fail(record,
             "line %lu: the run diverged before this line: digest %016" PRIx64 ", recorded"
             " %016" PRIx64,
             record->line_number, record->digest, recorded);
        return false;
    }
    return true;
}

static bool replay_line(struct bz_uv *driver, bool *is_turn) {
    struct bz_uv_record *record = &driver->record;
    uint64_t now_ns;
    uint64_t digest;
    uint32_t live_tasks;
    if (!next_line(record)) {
        fail(record, "line %lu: the recording ends here: the recorded program did, too, or ran on",
             record->line_number);
        return false;
    }
    if (strncmp(record->line, "done ", 5) == 0) {
        return replay_done(record);
    }
    if (strcmp(record->line, "outside\n") == 0) {
        fail(record, "line %lu: something that is not recorded woke a task here",
             record->line_number);
        return false;
    }
    if (sscanf(record->line, "end %" SCNx64 " %" SCNu32, &digest, &live_tasks) == 2) {
        if (is_as_recorded(record, digest) && live_tasks != bz_loop_live_tasks(driver->loop)) {
            fail(record, "line %lu: %" PRIu32 " tasks are alive: the run diverged",
                 record->line_number, bz_loop_live_tasks(driver->loop));
        }
        record->has_ended = true;
        return false;
    }
    if (sscanf(record->line, "turn %" SCNu64 " %" SCNx64, &now_ns, &digest) != 2 ||
        now_ns < bz_loop_now_ns(driver->loop)) {
        fail(record,
             "line %lu: 'done', 'turn' with a time that does not go back, or 'end' is"
             " expected",
             record->line_number);
        return false;
    }
    if (!is_as_recorded(record, digest)) {
        return false;
    }
    bz_uv_turn(driver, now_ns);
    *is_turn = true;
    return true;
}

bool bz_uv_replay_turn(struct bz_uv *driver) {
    struct bz_uv_record *record = &driver->record;
    bool is_turn = false;
    while (!is_turn) {
        if (record->error[0] != '\0' || record->has_ended || !replay_line(driver, &is_turn)) {
            return false;
        }
    }
    return true;
}
