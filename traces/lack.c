#include "traces/lack.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Without malloc(), on the small stack of a task. */
#define CHUNK_BYTES 1024u

/* --- which resource it is --------------------------------------------------------------------- */

/* The first number of a file; 0 without one. */
static uint64_t number_in(const char *path) {
    char text[32];
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = descriptor < 0 ? 0 : read(descriptor, text, sizeof text - 1);
    if (descriptor >= 0) {
        close(descriptor);
    }
    text[length < 0 ? 0 : length] = '\0';
    return strtoull(text, NULL, 10);
}

static uint64_t lines_of(const char *path) {
    char chunk[CHUNK_BYTES];
    uint64_t lines = 0;
    ssize_t length;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    while (descriptor >= 0 && (length = read(descriptor, chunk, sizeof chunk)) > 0) {
        for (ssize_t index = 0; index < length; index++) {
            lines += chunk[index] == '\n';
        }
    }
    if (descriptor >= 0) {
        close(descriptor);
    }
    return lines;
}

static bool is_limited(int resource, uint64_t *kib) {
    struct rlimit limit;
    bool is_known = getrlimit(resource, &limit) == 0;
    *kib = is_known ? (uint64_t)limit.rlim_cur / 1024 : 0;
    return is_known && limit.rlim_cur != RLIM_INFINITY;
}

/* The kernel says ENOMEM for all of them. */
static const char *find_resource(char *remedy, size_t remedy_bytes) {
    uint64_t mappings_max = number_in("/proc/sys/vm/max_map_count");
    uint64_t kib;
    if (mappings_max > 0 && lines_of("/proc/self/maps") >= mappings_max - mappings_max / 64) {
        snprintf(remedy, remedy_bytes, "use fewer jobs or tasks, or raise vm.max_map_count (%llu)",
                 (unsigned long long)mappings_max);
        return "mappings";
    }
    if (is_limited(RLIMIT_AS, &kib)) {
        uint64_t pages = number_in("/proc/self/statm");
        snprintf(remedy, remedy_bytes,
                 "%llu of %llu KiB are in use: use smaller settings or fewer jobs, or raise the "
                 "limit (ulimit -v)",
                 (unsigned long long)(pages * (uint64_t)sysconf(_SC_PAGESIZE) / 1024),
                 (unsigned long long)kib);
        return "address space";
    }
    if (is_limited(RLIMIT_DATA, &kib)) {
        snprintf(remedy, remedy_bytes, "use fewer jobs, or raise the limit (ulimit -d %llu)",
                 (unsigned long long)kib);
        return "data memory";
    }
    snprintf(remedy, remedy_bytes, "use fewer jobs or smaller settings, or free some memory");
    return "memory";
}

const char *bz_lack_text(char *text, size_t text_bytes, const char *resource, const char *purpose) {
    char remedy[128] = "use fewer jobs or smaller settings";
    if (resource == NULL) {
        resource = find_resource(remedy, sizeof remedy);
    } else if (strcmp(resource, "threads") == 0 || strcmp(resource, "processes") == 0) {
        snprintf(remedy, sizeof remedy, "use fewer jobs, or raise the limit (ulimit -u)");
    }
    snprintf(text, text_bytes, "out of %s for %s; %s", resource, purpose, remedy);
    return text;
}

void bz_lack_copy(char text[BZ_LACK_BYTES], const char *sentence) {
    snprintf(text, BZ_LACK_BYTES, "%.*s", (int)BZ_LACK_BYTES - 1, sentence);
}

bool bz_lack_is_said(const char *message) {
    const char *begin = strstr(message, "out of ");
    return (begin != NULL && strstr(begin, " for ") != NULL) ||
           strstr(message, " ran out ") != NULL;
}

/* --- stopping --------------------------------------------------------------------------------- */

bz_lack_fn *bz_lack_handler;

void bz_lack_stop(const char *resource, const char *purpose) {
    char sentence[BZ_LACK_BYTES];
    bz_lack_text(sentence, sizeof sentence, resource, purpose);
    if (bz_lack_handler != NULL) {
        bz_lack_handler(sentence);
    }
    fprintf(stderr, "buzzer: %s\n", sentence);
    abort();
}

void *bz_lack_new(size_t count, size_t entry_bytes, const char *purpose) {
    return bz_lack_check(calloc(count, entry_bytes), purpose);
}

void *bz_lack_grow(void *array, size_t count, size_t *capacity, size_t entry_bytes,
                   const char *purpose) {
    if (count < *capacity) {
        return array;
    }
    *capacity = *capacity == 0 ? 16 : 2 * *capacity;
    return bz_lack_check(realloc(array, *capacity * entry_bytes), purpose);
}
