/* Bitstate mode. */
#include "sim/explore/bits.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

static struct bz_fingerprint numbered(uint64_t number) {
    return bz_fingerprint_end(bz_fingerprint_of(BZ_FINGERPRINT_BEGIN, &number, sizeof number), 0);
}

/* How many of the first `count` numbers are new. */
static uint64_t add_all(struct bz_bits *bits, uint64_t count) {
    uint64_t added = 0;
    for (uint64_t number = 0; number < count; number++) {
        added += bz_bits_add(bits, numbered(number));
    }
    return added;
}

Test(bits, knows_what_was_added) {
    struct bz_bits bits;
    cr_assert(bz_bits_init(&bits, 1u << 20u));
    cr_assert(eq(u64, add_all(&bits, 10000), 10000));
    cr_assert(eq(u64, add_all(&bits, 10000), 0));
    cr_assert(le(u64, bits.set, 30000));
    cr_assert(lt(u64, 29900, bits.set));
    cr_assert(eq(u64, bits.missed >> 40u, 0));
    bz_bits_fini(&bits);
}

/* A size that is no power of two; the more is set, the more is missed: as many as it says, within a
 * tenth. */
Test(bits, says_how_many_it_misses) {
    static const uint64_t counts[] = {100000, 300000, 1000000, 3000000};
    for (size_t index = 0; index < sizeof counts / sizeof counts[0]; index++) {
        struct bz_bits bits;
        cr_assert(bz_bits_init(&bits, 300001));
        uint64_t missed = counts[index] - add_all(&bits, counts[index]);
        uint64_t said = bits.missed >> 40u;
        uint64_t tenth = said / 10 + 20;
        cr_assert(le(u64, missed, said + tenth), "%llu of %llu, not %llu",
                  (unsigned long long)missed, (unsigned long long)counts[index],
                  (unsigned long long)said);
        cr_assert(le(u64, said, missed + tenth), "%llu of %llu, not %llu",
                  (unsigned long long)missed, (unsigned long long)counts[index],
                  (unsigned long long)said);
        uint64_t one_in = bz_bits_missed_one_in(&bits);
        cr_assert(le(u64, one_in, counts[index] / (said + 1) + 1));
        bz_bits_fini(&bits);
    }
}
