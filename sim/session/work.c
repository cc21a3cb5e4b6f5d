#include "sim/session/work.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/judge/event.h"
#include "traces/text.h"

#define LINE_BYTES (BZ_TOKEN_BYTES + 160u)
#define WORD_BYTES sizeof(uint64_t)

/* --- bytes ------------------------------------------------------------------------------------ */

static uint64_t word_of(const unsigned char *bytes) {
    uint64_t word = 0;
    for (unsigned index = 0; index < WORD_BYTES; index++) {
        word |= (uint64_t)bytes[index] << 8 * index;
    }
    return word;
}

/* By words; the last one is filled with zeros. */
static uint64_t digest_bytes(uint64_t digest, const void *data, size_t bytes) {
    const unsigned char *next = data;
    for (; bytes >= WORD_BYTES; bytes -= WORD_BYTES, next += WORD_BYTES) {
        digest = bz_digest_word(digest, word_of(next));
    }
    unsigned char rest[WORD_BYTES] = {0};
    memcpy(rest, next, bytes);
    return bytes == 0 ? digest : bz_digest_word(digest, word_of(rest));
}

/* Of the next `bytes` bytes, or of all that there are. 0 if they cannot be read. */
static uint64_t digest_next(FILE *file, uint64_t bytes) {
    uint64_t digest = BZ_DIGEST_SEED;
    unsigned char block[32768];
    size_t got = 1;
    for (; bytes > 0 && got > 0; bytes -= got) {
        got = fread(block, 1, bytes < sizeof block ? (size_t)bytes : sizeof block, file);
        digest = digest_bytes(digest, block, got);
    }
    return ferror(file) ? 0 : digest;
}

uint64_t bz_work_digest_of(FILE *file) {
    uint64_t digest = digest_next(file, UINT64_MAX);
    return digest == 0 ? 0 : digest | 1;
}

static size_t padding(size_t bytes) {
    return (WORD_BYTES - bytes % WORD_BYTES) % WORD_BYTES;
}

void bz_work_bytes(struct bz_work *work, void *bytes, size_t count) {
    unsigned char rest[WORD_BYTES] = {0};
    size_t padded = padding(count);
    if (work->is_read) {
        work->is_ok = work->is_ok && fread(bytes, 1, count, work->file) == count &&
                      fread(rest, 1, padded, work->file) == padded;
        if (!work->is_ok) {
            memset(bytes, 0, count);
        }
        return;
    }
    work->digest = digest_bytes(work->digest, bytes, count);
    work->is_ok = work->is_ok && fwrite(bytes, 1, count, work->file) == count &&
                  fwrite(rest, 1, padded, work->file) == padded;
}

void bz_work_u64(struct bz_work *work, uint64_t *number) {
    unsigned char bytes[WORD_BYTES];
    for (unsigned index = 0; index < WORD_BYTES; index++) {
        bytes[index] = (unsigned char)(*number >> 8 * index);
    }
    bz_work_bytes(work, bytes, sizeof bytes);
    if (work->is_read) {
        *number = word_of(bytes);
    }
}

void bz_work_u32(struct bz_work *work, uint32_t *number) {
    uint64_t wide = *number;
    bz_work_u64(work, &wide);
    if (work->is_read) {
        *number = (uint32_t)wide;
    }
    (void)bz_work_check(work, wide <= UINT32_MAX);
}

void bz_work_bool(struct bz_work *work, bool *is) {
    uint64_t wide = *is;
    bz_work_u64(work, &wide);
    if (work->is_read) {
        *is = wide != 0;
    }
    (void)bz_work_check(work, wide <= 1);
}

void bz_work_text(struct bz_work *work, char *text, size_t size_bytes) {
    uint64_t length = strnlen(text, size_bytes - 1);
    bz_work_u64(work, &length);
    if (bz_work_check(work, length < size_bytes)) {
        bz_work_bytes(work, text, (size_t)length);
    }
    if (work->is_read) {
        text[work->is_ok ? length : 0] = '\0';
    }
}

bool bz_work_check(struct bz_work *work, bool makes_sense) {
    work->is_ok = work->is_ok && (makes_sense || !work->is_read);
    return work->is_ok;
}

/* --- files ------------------------------------------------------------------------------------ */

struct bz_work bz_work_begin(FILE *file, const struct bz_work_head *head) {
    struct bz_work work = {.file = file, .is_ok = true, .digest = BZ_DIGEST_SEED};
    char line[LINE_BYTES + WORD_BYTES];
    size_t length = (size_t)snprintf(
        line, LINE_BYTES, BZ_WORK_FORMAT " %s %s done=%" PRIu64 " spent_ms=%" PRIu64 " %s",
        head->kind, head->token, head->done, head->spent_ms,
        head->is_finished ? "finished" : "unfinished");
    size_t padded = padding(length + 1);
    memset(line + length, ' ', padded);
    line[length + padded] = '\n';
    bz_work_bytes(&work, line, length + padded + 1);
    return work;
}

bool bz_work_end(struct bz_work *work) {
    uint64_t digest = work->digest;
    bz_work_u64(work, &digest);
    return work->is_ok && fflush(work->file) == 0;
}

bool bz_work_read_head(FILE *file, struct bz_work_head *head) {
    char line[LINE_BYTES + WORD_BYTES];
    char *rest = line;
    *head = (struct bz_work_head){.done = 0};
    size_t length = fgets(line, sizeof line, file) == NULL ? 0 : strlen(line);
    if (length == 0 || length % WORD_BYTES != 0 || line[length - 1] != '\n') {
        return false;
    }
    const char *format = strsep(&rest, " ");
    const char *kind = strsep(&rest, " ");
    const char *token = strsep(&rest, " ");
    char state[12];
    bool is_ok = strcmp(format, BZ_WORK_FORMAT) == 0 && rest != NULL &&
                 strlen(kind) < sizeof head->kind && strlen(token) < sizeof head->token &&
                 sscanf(rest, "done=%" SCNu64 " spent_ms=%" SCNu64 " %11s", &head->done,
                        &head->spent_ms, state) == 3;
    if (is_ok) {
        snprintf(head->kind, sizeof head->kind, "%s", kind);
        snprintf(head->token, sizeof head->token, "%s", token);
        head->is_finished = strcmp(state, "finished") == 0;
    }
    return is_ok;
}

/* True if the file ends with the digest of the rest. Goes back to where it was. */
static bool is_whole(FILE *file) {
    unsigned char seal[WORD_BYTES];
    off_t place = ftello(file);
    off_t end = fseeko(file, 0, SEEK_END) == 0 ? ftello(file) - (off_t)sizeof seal : 0;
    bool is_ok = end >= place && end % (off_t)WORD_BYTES == 0 && fseeko(file, 0, SEEK_SET) == 0;
    uint64_t digest = is_ok ? digest_next(file, (uint64_t)end) : 0;
    return is_ok && fread(seal, 1, sizeof seal, file) == sizeof seal && word_of(seal) == digest &&
           fseeko(file, place, SEEK_SET) == 0;
}

/* Before 0.3, a campaign was one line of JSON, and a search had a format of its own. */
static bool is_of_other_version(FILE *file) {
    static const char *const formats[] = {"buzzer-work/", "buzzer-search/",
                                          "{\"format\":\"buzzer-checkpoint/"};
    char text[64] = "";
    bool is_other = false;
    rewind(file);
    (void)!fread(text, 1, sizeof text - 1, file);
    for (size_t index = 0; index < sizeof formats / sizeof formats[0]; index++) {
        is_other |= strncmp(text, formats[index], strlen(formats[index])) == 0 &&
                    strncmp(text, BZ_WORK_FORMAT " ", sizeof BZ_WORK_FORMAT) != 0;
    }
    return is_other;
}

bool bz_work_open(struct bz_work *work, FILE *file, const char *kind, struct bz_work_head *head,
                  const char *origin, char *error, size_t error_bytes) {
    *work = (struct bz_work){.file = file, .is_read = true, .is_ok = true};
    if (!bz_work_read_head(file, head)) {
        return is_of_other_version(file)
                   ? bz_work_refuse_version(origin, error, error_bytes)
                   : bz_fail(error, error_bytes,
                             "%s: is not a checkpoint of this program, or is cut short", origin);
    }
    if (strcmp(head->kind, kind) != 0) {
        return bz_fail(error, error_bytes, "%s: is the checkpoint of a %s, and not of a %s", origin,
                       head->kind, kind);
    }
    return is_whole(file) ||
           bz_fail(error, error_bytes,
                   "%s: is damaged or cut short: its checksum does not fit its content", origin);
}

bool bz_work_refuse_version(const char *origin, char *error, size_t error_bytes) {
    return bz_fail(error, error_bytes,
                   "%s: was written by another version of Buzzer: continue it with that version, "
                   "or start again",
                   origin);
}

bool bz_work_refuse(const char *origin, char *error, size_t error_bytes) {
    return bz_fail(error, error_bytes, "%s: is damaged: a number is missing or makes no sense",
                   origin);
}
