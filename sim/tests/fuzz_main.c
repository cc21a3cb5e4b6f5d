/* A fuzzer for builds without libFuzzer: runs every file of the corpus, and then N mutations of
 * them, which a seed decides.
 *
 *     fuzz-TARGET [--runs N] [--seed S] FILE|FOLDER...
 *
 * The input of a crash, or of a run that takes more than 20 seconds, is left in the file
 * fuzz-crash. */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "sim/choice/pcg.h"
#include "sim/tests/fuzz.h"
#include "traces/text.h"

#define INPUT_BYTES_MAX 65536u
#define EDITS_MAX 8u
#define HANG_SECONDS 20

struct input {
    uint8_t *bytes;
    size_t size;
};

static struct input *corpus;
static size_t corpus_count;
static struct input current;
static volatile uint64_t runs_done;

/* --- what goes wrong -------------------------------------------------------------------------- */

static void keep_input(void) {
    int file = open("fuzz-crash", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file >= 0) {
        (void)!write(file, current.bytes, current.size);
        close(file);
    }
}

static void on_signal(int number) {
    static uint64_t runs_before = UINT64_MAX;
    if (number == SIGALRM && runs_before != runs_done) {
        runs_before = runs_done;
        return;
    }
    static const char hang[] = "fuzz: a run takes too long; its input is in the file fuzz-crash\n";
    keep_input();
    if (number == SIGALRM) {
        (void)!write(STDERR_FILENO, hang, sizeof hang - 1);
        _exit(1);
    }
    signal(number, SIG_DFL);
    raise(number);
}

/* Sanitizers end the process without a signal. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void watch(void) {
    static const int signals[] = {SIGABRT, SIGALRM, SIGSEGV, SIGBUS, SIGILL, SIGFPE};
    bool is_sanitized = __sanitizer_set_death_callback != NULL;
    for (size_t index = 0; index < (is_sanitized ? 2 : sizeof signals / sizeof signals[0]);
         index++) {
        signal(signals[index], on_signal);
    }
    if (is_sanitized) {
        __sanitizer_set_death_callback(keep_input);
    }
    struct itimerval interval = {{HANG_SECONDS, 0}, {HANG_SECONDS, 0}};
    setitimer(ITIMER_REAL, &interval, NULL);
}

static void run(void) {
    (void)LLVMFuzzerTestOneInput(current.bytes, current.size);
    runs_done++;
}

/* --- the corpus ------------------------------------------------------------------------------- */

static void add_file(const char *path) {
    char error[1024];
    size_t size;
    char *text = bz_file_read(path, INPUT_BYTES_MAX * 16, &size, error, sizeof error);
    struct input *larger = realloc(corpus, (corpus_count + 1) * sizeof *corpus);
    if (text == NULL || larger == NULL) {
        fprintf(stderr, "fuzz: %s\n", text == NULL ? error : "out of memory");
        exit(2);
    }
    corpus = larger;
    corpus[corpus_count++] = (struct input){(uint8_t *)text, size};
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_path(const char *path) {
    DIR *folder = opendir(path);
    char *names[1024];
    size_t count = 0;
    if (folder == NULL) {
        add_file(path);
        return;
    }
    for (const struct dirent *entry; count < 1024 && (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] != '.') {
            names[count++] = strdup(entry->d_name);
        }
    }
    closedir(folder);
    qsort(names, count, sizeof names[0], by_name);
    for (size_t index = 0; index < count; index++) {
        char file[PATH_MAX];
        snprintf(file, sizeof file, "%s/%s", path, names[index]);
        add_file(file);
        free(names[index]);
    }
}

/* --- mutations -------------------------------------------------------------------------------- */

static const char *const words[] = {"0",
                                    "1",
                                    "-1",
                                    "256",
                                    "4294967295",
                                    "65536",
                                    "9007199254740991",
                                    "18446744073709551615",
                                    "null",
                                    "[]",
                                    "{}",
                                    "\"\"",
                                    "any",
                                    "none",
                                    "fifo",
                                    "woken",
                                    ",",
                                    "=",
                                    ":",
                                    "#",
                                    "+",
                                    "-",
                                    "0x",
                                    "order",
                                    "steps",
                                    "true"};

/* Puts `count` bytes in place of `removed` ones. */
static void splice(size_t at, size_t removed, const uint8_t *bytes, size_t count) {
    if (current.size - removed + count > INPUT_BYTES_MAX) {
        return;
    }
    memmove(current.bytes + at + count, current.bytes + at + removed, current.size - at - removed);
    memcpy(current.bytes + at, bytes, count);
    current.size = current.size - removed + count;
}

static void edit(struct bz_pcg32 *pcg) {
    static uint8_t piece[256];
    const struct input *other = &corpus[bz_pcg32_below(pcg, (uint32_t)corpus_count)];
    size_t at = bz_pcg32_below(pcg, (uint32_t)current.size + 1);
    size_t left = current.size - at;
    size_t length = bz_pcg32_below(pcg, 1u << bz_pcg32_below(pcg, 9));
    length = length < left ? length : left;
    const char *word = words[bz_pcg32_below(pcg, sizeof words / sizeof words[0])];
    switch (bz_pcg32_below(pcg, 8)) {
    case 0: /* a bit */
    case 1: /* a byte */
        if (left > 0) {
            uint8_t drawn = (uint8_t)bz_pcg32_next(pcg);
            current.bytes[at] =
                drawn % 2 == 0 ? current.bytes[at] ^ (uint8_t)(1u << drawn / 32) : drawn;
        }
        break;
    case 2: /* a digit */
        for (; left > 0 && (current.bytes[at] < '0' || current.bytes[at] > '9'); left--) {
            at++;
        }
        if (left > 0) {
            current.bytes[at] = (uint8_t)('0' + bz_pcg32_below(pcg, 10));
        }
        break;
    case 3:
        splice(at, length, piece, 0);
        break;
    case 4:
        splice(at, length / 8, (const uint8_t *)word, strlen(word));
        break;
    case 5: /* twice */
        memcpy(piece, current.bytes + at, length);
        splice(at, 0, piece, length);
        break;
    case 6: { /* a piece of itself elsewhere */
        size_t from = bz_pcg32_below(pcg, (uint32_t)(current.size - length) + 1);
        memcpy(piece, current.bytes + from, length);
        splice(at, length, piece, length);
        break;
    }
    default: { /* a piece of another one */
        size_t from = bz_pcg32_below(pcg, (uint32_t)other->size + 1);
        length = length < other->size - from ? length : other->size - from;
        splice(at, length < left ? length : left, other->bytes + from, length);
    }
    }
}

static void mutate(struct bz_pcg32 *pcg) {
    const struct input *seed = &corpus[bz_pcg32_below(pcg, (uint32_t)corpus_count)];
    current.size = seed->size < INPUT_BYTES_MAX ? seed->size : INPUT_BYTES_MAX;
    memcpy(current.bytes, seed->bytes, current.size);
    for (uint32_t edits = 1 + bz_pcg32_below(pcg, EDITS_MAX); edits > 0; edits--) {
        edit(pcg);
    }
}

int main(int argc, char **argv) {
    uint64_t runs = 0;
    uint64_t seed = 1;
    struct bz_pcg32 pcg;
    for (int index = 1; index < argc; index++) {
        if (strcmp(argv[index], "--runs") == 0 && index + 1 < argc) {
            runs = strtoull(argv[++index], NULL, 0);
        } else if (strcmp(argv[index], "--seed") == 0 && index + 1 < argc) {
            seed = strtoull(argv[++index], NULL, 0);
        } else {
            add_path(argv[index]);
        }
    }
    if (corpus_count == 0) {
        fprintf(stderr, "fuzz: no file to begin with\n");
        return 2;
    }
    current.bytes = malloc(INPUT_BYTES_MAX * 16);
    FUZZ_CHECK(current.bytes != NULL, "out of memory");
    watch();
    for (size_t index = 0; index < corpus_count; index++) {
        memcpy(current.bytes, corpus[index].bytes, corpus[index].size);
        current.size = corpus[index].size;
        run();
    }
    bz_pcg32_seed(&pcg, seed, 0);
    for (uint64_t number = 0; number < runs; number++) {
        mutate(&pcg);
        run();
    }
    for (size_t index = 0; index < corpus_count; index++) {
        free(corpus[index].bytes);
    }
    free(corpus);
    free(current.bytes);
    printf("fuzz: %zu files, %" PRIu64 " mutations\n", corpus_count, runs);
    return 0;
}
