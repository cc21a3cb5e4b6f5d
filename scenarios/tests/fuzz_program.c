/* A program file is refused with a message, or runs: whatever the program does, the verdict is the
 * judge's. Printed and read again, it is the same program. */
#include "sim/program/program.h"
#include "sim/tests/fuzz.h"

#define STEPS_MAX 1000u

static struct bz_program program;

struct printing {
    struct bz_world *world;
    char *text;
    size_t bytes;
    size_t length;
};

static void set_up_and_print(void *context, struct bz_judge *judge) {
    struct printing *printing = context;
    bz_world_begin(printing->world);
    const void *state = program.scenario->setup(printing->world, &program.args);
    printing->length = program.scenario->file->print(state, printing->text, printing->bytes);
    bz_judge_give_up(judge);
}

static size_t run_and_print(char *text, size_t bytes) {
    struct bz_world *world = bz_program_new_world(&program);
    FUZZ_CHECK(world != NULL, "out of memory");
    for (uint64_t seed = 0; seed < 2; seed++) {
        (void)bz_program_run(&program, world, seed);
    }
    struct printing printing = {world, text, bytes, 0};
    (void)bz_judge_run(world->judge,
                       &(struct bz_source){.run = set_up_and_print, .context = &printing},
                       &(struct bz_run_start){.seed = 0});
    bz_world_destroy(world);
    return printing.length;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char text[BZ_FILE_BYTES_MAX + 1];
    static uint64_t again[BZ_FILE_WORDS];
    char error[BZ_ERROR_BYTES] = "";
    const struct bz_scenario *scenario = bz_catalog_scenario(&fuzz_catalog, "program");
    bz_program_init(&program, scenario, &bz_variant_buzzer, &bz_strategy_random);
    program.steps_max = STEPS_MAX;
    program.args.file_digest = 1; /* there is a file */
    char *copy = fuzz_text(data, size);
    if (!scenario->file->read(program.args.file, program.variant, copy, size, "f", error,
                              sizeof error)) {
        fuzz_check_message(error);
    } else {
        size_t length = run_and_print(text, sizeof text);
        FUZZ_CHECK(length < sizeof text, "printed, it has %zu bytes", length);
        memset(again, 0, sizeof again);
        FUZZ_CHECK(scenario->file->read(again, program.variant, text, length, "again", error,
                                        sizeof error),
                   "%s", error);
        FUZZ_CHECK(memcmp(again, program.args.file, sizeof again) == 0,
                   "printed, it is another program: %s", text);
    }
    free(copy);
    return 0;
}
