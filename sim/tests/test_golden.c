/* Golden digests: a seed means the same run today, tomorrow, and on every machine.
 *
 * A digest here changes when the engine changes its behaviour: another order of events, another
 * draw, another field in the digest. If that was not intended, it is a bug: it invalidates every
 * token and trace that users have kept. If it was, run this test, take the numbers from its failure
 * messages, and say in the commit what changed.
 */
#include "sim/tests/crowd.h"

struct golden {
    enum bz_order order;
    uint64_t seed;
    uint64_t digest;
    enum bz_older older;
};

static const struct golden goldens[] = {
    {BZ_ORDER_ANY, 0, UINT64_C(0x6ffbb9ae26f9fd4e)},
    {BZ_ORDER_ANY, 1, UINT64_C(0xdcff44bd9b0f021f)},
    {BZ_ORDER_ANY, 42, UINT64_C(0xbb3844b04d2b2413)},
    {BZ_ORDER_ANY, UINT64_MAX, UINT64_C(0x8715f254c533f9af)},
    {BZ_ORDER_FIFO, 0, UINT64_C(0xbabb5d4442f71253)},
    {BZ_ORDER_FIFO, 1, UINT64_C(0x478722954a811ca7)},
    {BZ_ORDER_FIFO, 42, UINT64_C(0x0a35d20ba0f3b7ab)},
    {BZ_ORDER_FIFO, 42, UINT64_C(0x1e21758f6e5209d3), BZ_OLDER_WAKES_ON_TIME},
    {BZ_ORDER_FIFO, UINT64_MAX, UINT64_C(0xfe0aa5f7b3766c4e)},
};

Test(golden, seeds_mean_what_they_meant) {
    uint32_t changed = 0;
    for (size_t index = 0; index < sizeof goldens / sizeof goldens[0]; index++) {
        const struct golden *golden = &goldens[index];
        struct bz_program program;
        crowd_program(&program, &crowd_sound, golden->order);
        program.older = golden->older;
        struct bz_world *world = bz_program_new_world(&program);
        bz_program_run(&program, world, golden->seed);
        if (world->judge->digest != golden->digest) {
            changed++;
            cr_log_error("order %s, seed 0x%llx: digest is UINT64_C(0x%016llx)",
                         bz_order_name(golden->order), (unsigned long long)golden->seed,
                         (unsigned long long)world->judge->digest);
        }
        bz_world_destroy(world);
    }
    cr_assert_eq(changed, 0);
}
