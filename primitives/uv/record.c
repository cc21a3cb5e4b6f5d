/* Recordings: see the end of driver.h for what they hold and what they cannot. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "primitives/runtime/timer.h"
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
    struct bz_observer *next = record->next_observer;
    if (next != NULL) {
        next->report(next, kind, task, status, arg);
    }
}

static uint32_t choose(struct bz_observer *observer, uint32_t bound) {
    struct bz_observer *next =
        bz_container_of(observer, struct bz_uv_record, observer)->next_observer;
    return next == NULL || next->choose == NULL ? 0 : next->choose(next, bound);
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

/* Reads the whole file, and appends a NUL. */
static int read_all(struct bz_uv_record *record, FILE *in) {
    size_t capacity = 1u << 16;
    size_t length = 0;
    for (;;) {
        char *larger = realloc(record->text, capacity);
        if (larger == NULL) {
            return UV_ENOMEM;
        }
        record->text = larger;
        length += fread(larger + length, 1, capacity - length - 1, in);
        if (length < capacity - 1) {
            larger[length] = '\0';
            return ferror(in) != 0 ? UV_EIO : 0;
        }
        capacity *= 2;
    }
}

static int read_file(struct bz_uv_record *record, const char *path) {
    FILE *in = fopen(path, "re");
    if (in == NULL) {
        return uv_translate_sys_error(errno);
    }
    int error = read_all(record, in);
    fclose(in);
    return error;
}

static void begin_digest(struct bz_uv *driver) {
    struct bz_uv_record *record = &driver->record;
    record->digest = UINT64_C(0xcbf29ce484222325);
    record->observer.report = on_report;
    record->observer.choose = choose;
    record->next_observer = bz_driver_observe(driver->loop, &record->observer);
}

int bz_uv_replay_open(struct bz_uv *driver, const char *text, struct bz_list *buckets) {
    struct bz_uv_record *record = &driver->record;
    if (strncmp(text, HEADER, strlen(HEADER)) != 0) {
        return UV_EINVAL;
    }
    for (unsigned index = 0; index < BZ_UV_BUCKETS; index++) {
        bz_list_init(&buckets[index]);
    }
    record->open = buckets;
    record->in = text + strlen(HEADER);
    record->line_number = 1;
    begin_digest(driver);
    return 0;
}

static int open_in(struct bz_uv *driver, const char *path) {
    struct bz_uv_record *record = &driver->record;
    int error = read_file(record, path);
    if (error != 0) {
        return error;
    }
    struct bz_list *buckets = calloc(BZ_UV_BUCKETS, sizeof *buckets);
    if (buckets == NULL) {
        return UV_ENOMEM;
    }
    error = bz_uv_replay_open(driver, record->text, buckets);
    if (error != 0) {
        free(buckets);
    }
    return error;
}

int bz_uv_record_open(struct bz_uv *driver, const struct bz_uv_config *config) {
    struct bz_uv_record *record = &driver->record;
    int error = 0;
    if (config->record != NULL && config->replay != NULL) {
        return UV_EINVAL;
    }
    if (config->replay != NULL) {
        error = open_in(driver, config->replay);
    } else if (config->record != NULL && (error = open_out(record, config->record)) == 0) {
        begin_digest(driver);
    }
    if (error != 0) {
        bz_uv_record_close(driver);
    }
    return error;
}

void bz_uv_record_close(struct bz_uv *driver) {
    struct bz_uv_record *record = &driver->record;
    if (record->observer.report != NULL) {
        bz_driver_observe(driver->loop, record->next_observer);
    }
    if (record->out != NULL) {
        fclose(record->out); /* what mattered was flushed */
    }
    free(record->text);
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

void bz_uv_record_end(struct bz_uv *driver, bool is_stopped) {
    struct bz_uv_record *record = &driver->record;
    if (is_recording(record)) {
        fprintf(record->out, "%s %016" PRIx64 " %" PRIu32 "\n", is_stopped ? "stopped" : "end",
                record->digest, bz_loop_live_tasks(driver->loop));
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

/* Fills the operation's buffer. Returns the end of the text; NULL if it is not `count` bytes, or if
 * they do not fit. */
static const char *read_data(const struct bz_uv_op *op, const char *hex, uint64_t count) {
    if (count > op->data_size) {
        return NULL;
    }
    for (uint64_t index = 0; index < count; index++, hex += 2) {
        int high = hex_digit(hex[0]);
        int low = high < 0 ? -1 : hex_digit(hex[1]);
        if (low < 0) {
            return NULL;
        }
        ((unsigned char *)op->data)[index] = (unsigned char)(high << 4 | low);
    }
    return hex;
}

static bool take_word(const char **cursor, const char *word) {
    size_t length = strlen(word);
    bool is_word = strncmp(*cursor, word, length) == 0;
    *cursor += is_word ? length : 0;
    return is_word;
}

static bool take_digits(const char **cursor, unsigned base, uint64_t *value) {
    const char *digit = *cursor;
    int number;
    for (*value = 0; (number = hex_digit(*digit)) >= 0 && (unsigned)number < base; digit++) {
        if (__builtin_mul_overflow(*value, base, value) ||
            __builtin_add_overflow(*value, (unsigned)number, value)) {
            return false;
        }
    }
    bool is_number = digit > *cursor;
    *cursor = digit;
    return is_number;
}

static bool take_number(const char **cursor, unsigned base, uint64_t *value) {
    return take_word(cursor, " ") && take_digits(cursor, base, value);
}

static bool take_i64(const char **cursor, int64_t *value) {
    uint64_t size = 0;
    bool is_negative = take_word(cursor, " -");
    bool is_number = (is_negative || take_word(cursor, " ")) && take_digits(cursor, 10, &size) &&
                     size <= (uint64_t)INT64_MAX + is_negative;
    *value = (int64_t)(is_negative ? 0 - size : size);
    return is_number;
}

static bool is_expected(struct bz_uv_record *record, const char *what) {
    fail(record, "line %lu: %s is expected", record->line_number, what);
    return false;
}

static bool replay_done(struct bz_uv_record *record, const char *cursor) {
    uint64_t number;
    int64_t value;
    if (!take_number(&cursor, 10, &number) || !take_i64(&cursor, &value)) {
        return is_expected(record, "'done OPERATION VALUE'");
    }
    struct bz_uv_op *op = open_op(record, number);
    if (op == NULL) {
        fail(record, "line %lu: operation %" PRIu64 " is not open: the run diverged",
             record->line_number, number);
        return false;
    }
    bool has_data = op->data != NULL && value > 0;
    if (has_data && *cursor == ' ') {
        cursor = read_data(op, cursor + 1, (uint64_t)value);
        has_data = false;
    }
    if (has_data || cursor == NULL || *cursor != '\n') {
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

static bool replay_end(struct bz_uv *driver, const char *cursor) {
    struct bz_uv_record *record = &driver->record;
    uint64_t digest;
    uint64_t live_tasks;
    if (!take_number(&cursor, 16, &digest) || !take_number(&cursor, 10, &live_tasks) ||
        *cursor != '\n') {
        return is_expected(record, "'end DIGEST LIVE_TASKS'");
    }
    if (is_as_recorded(record, digest) && live_tasks != bz_loop_live_tasks(driver->loop)) {
        fail(record, "line %lu: %" PRIu32 " tasks are alive: the run diverged", record->line_number,
             bz_loop_live_tasks(driver->loop));
    }
    record->has_ended = true;
    return false;
}

/* False: the run has ended. *now_ns is set by the line of a turn. */
static bool replay_line(struct bz_uv *driver, const char *line, uint64_t *now_ns) {
    struct bz_uv_record *record = &driver->record;
    uint64_t digest;
    if (take_word(&line, "done")) {
        return replay_done(record, line);
    }
    record->was_stopped = take_word(&line, "stopped");
    if (record->was_stopped || take_word(&line, "end")) {
        return replay_end(driver, line);
    }
    if (take_word(&line, "outside")) {
        fail(record, "line %lu: something that is not recorded woke a task here",
             record->line_number);
        return false;
    }
    if (!take_word(&line, "turn") || !take_number(&line, 10, now_ns) ||
        !take_number(&line, 16, &digest) || *line != '\n' ||
        *now_ns < bz_loop_now_ns(driver->loop)) {
        return is_expected(record,
                           "'done', 'turn' with a time that does not go back, 'stopped' or 'end'");
    }
    return is_as_recorded(record, digest);
}

bool bz_uv_replay_is_over(const struct bz_uv *driver) {
    return !driver->record.was_stopped && *driver->record.in == '\0';
}

bool bz_uv_replay_turn(struct bz_uv *driver, uint64_t *now_ns) {
    struct bz_uv_record *record = &driver->record;
    *now_ns = BZ_TIME_NEVER;
    while (*now_ns == BZ_TIME_NEVER) {
        const char *line = record->in;
        const char *end = strchr(line, '\n');
        if (record->error[0] != '\0' || record->has_ended) {
            return false;
        }
        record->line_number++;
        if (end == NULL) {
            fail(record,
                 "line %lu: the recording ends here: the recorded program did, too, or ran on",
                 record->line_number);
            return false;
        }
        record->in = end + 1;
        if (!replay_line(driver, line, now_ns)) {
            return false;
        }
    }
    return true;
}
