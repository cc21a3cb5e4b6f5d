/* pauses PROGRAM.so RUNS: runs a drawn program (drawn_test) as a coroutine. While it is suspended,
 * the bytes of its stack that are dead are filled; each run has to note the same values as without.
 *
 * Prints how many pauses there were and how many bytes were filled. Exit: 0 all runs are the same,
 * 1 one is not, 2 usage. */
#include "sim/frames/tests/drawn/pauses.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "primitives/runtime/coro/coro.h"
#include "sim/frames/frames.h"

#define VALUES_MAX 65536u

typedef uint64_t program_fn(uint64_t seed);

static struct bz_coro scheduler;
static struct bz_coro program;
static program_fn *start;
static uint64_t seed;
static bool has_ended;

/* Of this run; the values of the run without filling first. */
static uint64_t drawn;
static uint64_t values[2][VALUES_MAX];
static uint32_t counts[2];
static unsigned manner;

/* --- what the program calls ------------------------------------------------------------------- */

static uint64_t draw(void) {
    drawn ^= drawn << 13u;
    drawn ^= drawn >> 7u;
    drawn ^= drawn << 17u;
    return drawn;
}

__attribute__((noinline)) uint64_t pause_here(void) {
    bz_coro_switch(&program, &scheduler);
    return draw();
}

void note(uint64_t value) {
    if (counts[manner] < VALUES_MAX) {
        values[manner][counts[manner]] = value;
    }
    counts[manner]++;
}

static void enter(struct bz_coro *from, struct bz_coro *self) {
    bz_coro_arrive(from);
    note(start(seed));
    has_ended = true;
    bz_coro_exit(self, from);
}

/* --- runs ------------------------------------------------------------------------------------- */

struct sums {
    uint64_t pauses;
    uint64_t bytes;
};

/* How many bytes become `filling` that were something else. */
static uint64_t fill(struct bz_frames *frames, const struct bz_stack *stack) {
    struct bz_frames_stack suspended = {program.pc, program.sp, bz_stack_top(stack)};
    size_t bytes = (size_t)((char *)suspended.top - (char *)suspended.sp);
    static char before[4096];
    size_t compared = bytes < sizeof before ? bytes : sizeof before;
    uint64_t filled = 0;
    memcpy(before, suspended.sp, compared);
    bz_frames_clear(frames, &suspended, &program.fp);
    for (size_t index = 0; index < compared; index++) {
        filled += before[index] != ((char *)suspended.sp)[index];
    }
    return filled;
}

static void run(struct bz_frames *frames, struct bz_stack *stack, struct sums *sums) {
    memset(stack->base, 0, stack->size_bytes);
    counts[manner] = 0;
    drawn = seed * 2 + 1;
    has_ended = false;
    bz_coro_init(&program, stack, enter);
    for (;;) {
        bz_coro_switch(&scheduler, &program);
        if (has_ended) {
            return;
        }
        if (frames != NULL) {
            sums->pauses++;
            sums->bytes += fill(frames, stack);
        }
    }
}

static bool is_same(void) {
    size_t count = counts[0] < VALUES_MAX ? counts[0] : VALUES_MAX;
    return counts[0] == counts[1] && memcmp(values[0], values[1], count * sizeof(uint64_t)) == 0;
}

int main(int argc, char **argv) {
    static const uint8_t fillings[] = {0x00, 0xa5, 0xff};
    struct sums sums = {0};
    if (argc != 3) {
        fprintf(stderr, "usage: pauses PROGRAM.so RUNS\n");
        return 2;
    }
    void *library = dlopen(argv[1], RTLD_NOW);
    void *symbol = library == NULL ? NULL : dlsym(library, "start");
    struct bz_stack_pool *pool = bz_stack_pool_new(0);
    struct bz_stack *stack = pool == NULL ? NULL : bz_stack_take(pool);
    if (symbol == NULL || stack == NULL) {
        fprintf(stderr, "pauses: %s\n", symbol == NULL ? dlerror() : "out of memory for a stack");
        return 2;
    }
    memcpy(&start, &symbol, sizeof start);
    uint64_t runs = strtoull(argv[2], NULL, 10);
    for (size_t filling = 0; filling < sizeof fillings; filling++) {
        struct bz_frames *frames = bz_frames_new(fillings[filling]);
        if (frames == NULL) {
            fprintf(stderr, "pauses: there is no decoder\n");
            return 2;
        }
        for (seed = 0; seed < runs; seed++) {
            for (manner = 0; manner < 2; manner++) {
                run(manner == 0 ? NULL : frames, stack, &sums);
            }
            if (!is_same()) {
                printf("seed %" PRIu64 " is another run with %02x in dead bytes\n", seed,
                       fillings[filling]);
                return 1;
            }
        }
        bz_frames_destroy(frames);
    }
    bz_stack_pool_destroy(pool);
    printf("%" PRIu64 " pauses, %" PRIu64 " bytes filled\n", sums.pauses, sums.bytes);
    return 0;
}
