#include "sim/explore/fixed_addresses.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

#include "traces/lack.h"

#define MARK "BUZZER_FIXED_ADDRESSES" /* in the environment of the program that was begun again */
#define QUERY 0xffffffffu

char **bz_command_line(void) {
    static char **words; /* to the end of the process */
    FILE *file = fopen("/proc/self/cmdline", "rb");
    size_t count = 0;
    char *word = NULL;
    size_t word_bytes = 0;
    while (file != NULL && getdelim(&word, &word_bytes, '\0', file) > 0) {
        words = bz_lack_check(realloc(words, (count + 2) * sizeof *words), "the command line");
        words[count++] = bz_lack_check(strdup(word), "the command line");
        words[count] = NULL;
    }
    free(word);
    if (file != NULL) {
        (void)fclose(file);
    }
    return words;
}

bool bz_fixed_addresses(char **command_line) {
    int persona = personality(QUERY);
    bool was_begun_again = getenv(MARK) != NULL;
    (void)unsetenv(MARK);
    if (persona == -1 || ((unsigned)persona & ADDR_NO_RANDOMIZE) != 0) {
        return persona != -1;
    }
    if (command_line != NULL && !was_begun_again &&
        personality((unsigned)persona | ADDR_NO_RANDOMIZE) != -1 && setenv(MARK, "1", 1) == 0) {
        (void)execv("/proc/self/exe", command_line);
    }
    (void)unsetenv(MARK);
    return false;
}

#if defined(__x86_64__) && defined(__GLIBC__)
#if defined(__has_attribute) && __has_attribute(no_stack_protector)
#define HAS_NO_GUARD __attribute__((noinline, no_stack_protector))
#else
#define HAS_NO_GUARD __attribute__((noinline, optimize("no-stack-protector")))
#endif

/* Where the C library keeps it. This function has none: it would find another one at its end. */
HAS_NO_GUARD void bz_fixed_guard(void (*run)(void *context), void *context) {
    uintptr_t own;
    uintptr_t fixed = UINT64_C(0x5a17b0a7d3c84e00); /* with the zero byte that stops strings */
    __asm__ volatile("mov %%fs:0x28, %0" : "=r"(own));
    __asm__ volatile("mov %0, %%fs:0x28" : : "r"(fixed) : "memory");
    run(context);
    __asm__ volatile("mov %0, %%fs:0x28" : : "r"(own) : "memory");
}
#else
void bz_fixed_guard(void (*run)(void *context), void *context) {
    run(context);
}
#endif
