/* A shared object for LD_PRELOAD that makes one allocation, or one mapping, fail.
 *
 *     FAIL_AT=N       the N-th call fails (1 is the first after the start of the program)
 *     FAIL_KIND=map   counts mmap() and mprotect(); otherwise malloc(), calloc(), realloc() and
 * what calls them inside the C library, such as strdup(), fopen() and dlopen() FAIL_ON=1       all
 * later calls fail, too FAIL_COUNT=FILE writes the number of calls at the end
 *
 * The program's own mappings alone can fail: the C library does not call its own mmap() by name. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *block, size_t bytes);

static atomic_long calls;
static long fail_at;
static bool fails_on;
static bool counts_maps;
static bool is_begun;
static const char *count_file;

__attribute__((constructor)) static void begin(void) {
    const char *at = getenv("FAIL_AT");
    const char *kind = getenv("FAIL_KIND");
    fail_at = at == NULL ? 0 : strtol(at, NULL, 10);
    counts_maps = kind != NULL && strcmp(kind, "map") == 0;
    fails_on = getenv("FAIL_ON") != NULL;
    count_file = getenv("FAIL_COUNT");
    is_begun = true;
}

__attribute__((destructor)) static void end(void) {
    char text[24];
    if (count_file != NULL) {
        int length = snprintf(text, sizeof text, "%ld\n", atomic_load(&calls));
        int descriptor = open(count_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (descriptor < 0 || write(descriptor, text, (size_t)length) != length) {
            abort();
        }
        close(descriptor);
    }
}

static bool fails(bool is_map) {
    if (!is_begun || is_map != counts_maps) {
        return false;
    }
    long number = atomic_fetch_add(&calls, 1) + 1;
    bool is_failure = fail_at > 0 && (number == fail_at || (fails_on && number > fail_at));
    if (is_failure) {
        errno = ENOMEM;
    }
    return is_failure;
}

void *malloc(size_t bytes) {
    return fails(false) ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes) {
    return fails(false) ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *block, size_t bytes) {
    return fails(false) ? NULL : __libc_realloc(block, bytes);
}

void *mmap(void *address, size_t bytes, int protection, int flags, int descriptor, off_t offset) {
    return fails(true)
               ? MAP_FAILED
               : (void *)syscall(SYS_mmap, address, bytes, protection, flags, descriptor, offset);
}

int mprotect(void *address, size_t bytes, int protection) {
    return fails(true) ? -1 : (int)syscall(SYS_mprotect, address, bytes, protection);
}
