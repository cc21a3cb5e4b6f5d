/* Fingerprints that are made from those before are those that are made from scratch. */
#include "sim/explore/fingerprint/fingerprint.h"

#include <string.h>

#include "sim/explore/fingerprint/symmetry.h"
#include "sim/native/snapshot.h"
#include "sim/tests/stage.h"
#include "sim/tests/toys.h"

#define GUESTS 5u
#define GROUP 2u /* the others are a group, too, with memory of their own */
#define WALKS 40u
#define FLOOD_WORDS 513u

/* A guest has this to itself. */
struct napkin {
    uint64_t round;
    uint64_t *block;
    const struct napkin *other; /* of somebody else */
};

struct hall {
    struct bz_world *world;
    struct bz_sut_permits tables;
    struct bz_task *guests[GUESTS];
    struct napkin napkins[GUESTS];
    uint64_t flood[FLOOD_WORDS];
};

static struct tst_draw order;

static uint32_t order_next(void *state, const struct bz_ready *ready, uint32_t count,
                           uint32_t step) {
    (void)state;
    (void)ready;
    (void)step;
    return tst_draw(&order, count);
}

static struct napkin *own_napkin(struct hall *hall) {
    uint32_t index = 0;
    while (hall->guests[index] != bz_loop_current(hall->world->loop)) {
        index++;
    }
    return &hall->napkins[index];
}

/* Many words change, in the last round. */
static void flood(struct hall *hall, uint32_t round) {
    for (uint32_t index = 0; index < FLOOD_WORDS; index++) {
        hall->flood[index] += round / 2;
    }
}

/* Blocks of different sizes come and go, so that the arena grows during the walk. A guest has
 * references to others on its stack. */
static enum bz_status guest(void *arg) {
    struct hall *hall = arg;
    struct bz_mem *mem = bz_loop_mem(hall->world->loop);
    for (uint32_t round = 0; round < 3; round++) {
        struct bz_task *volatile neighbours[2] = {hall->guests[round], hall->guests[GUESTS - 1]};
        uint64_t *block = bz_mem_alloc(mem, 64 << round);
        cr_assert(block != NULL);
        *block = (uintptr_t)block;
        *own_napkin(hall) = (struct napkin){round, block, &hall->napkins[round]};
        flood(hall, round);
        tst_status(bz_sut_acquire(&hall->tables), BZ_OK);
        tst_status(bz_yield(hall->world->loop), BZ_OK);
        tst_status(bz_sut_release(&hall->tables), BZ_OK);
        bz_mem_free(mem, block, 64 << round);
        cr_assert(neighbours[0] != NULL && neighbours[1] != NULL);
    }
    return BZ_OK;
}

static struct bz_world *begin(uint64_t seed, struct hall **made) {
    struct bz_strategy strategy = stage_strategy;
    static struct bz_strategy kept;
    struct bz_judge_config config = stage_config(BZ_ORDER_ANY);
    strategy.next = order_next;
    kept = strategy;
    config.strategy = &kept;
    config.cancels_max = 0;
    order = tst_draw_seeded(seed);
    struct bz_world *world = bz_world_new(&config, &bz_variant_buzzer);
    cr_assert(world != NULL);
    stage_begin_run(world);
    bz_snapshot_begin(world, true, true);
    struct hall *hall = bz_world_alloc(world, sizeof *hall);
    *made = hall;
    hall->world = world;
    tst_status(bz_sut_permits_init(&hall->tables, world, BZ_PRIMITIVE_SEMAPHORE, "tables", 2),
               BZ_OK);
    for (uint32_t index = 0; index < GUESTS; index++) {
        hall->guests[index] = bz_task_spawn(world->loop, "guest", index, guest, hall);
    }
    bz_world_interchange(world, hall->guests, GROUP);
    bz_world_interchange_with(world, hall->guests + GROUP, GUESTS - GROUP, hall->napkins + GROUP,
                              sizeof hall->napkins[0]);
    bz_judge_end_step(world->judge);
    bz_snapshot_normalize(world);
    return world;
}

static void expect_equal(const struct bz_symmetry *symmetry, const struct bz_world *world,
                         const struct bz_print *print, const struct bz_print *other) {
    struct bz_fingerprint prints[2] = {{0, 0}, {0, 0}};
    for (uint32_t part = 0; part < BZ_PARTS; part++) {
        bool is_used = part < symmetry->count || part >= BZ_PART_REST;
        bool is_same = bz_fingerprint_equal(print->sums[part], other->sums[part]);
        cr_assert(is_same | !is_used, "part %u", part);
        cr_assert_eq(print->reference_counts[part], other->reference_counts[part]);
    }
    cr_assert_eq(print->reference_count, other->reference_count);
    for (uint32_t index = 0; index < symmetry->count; index++) {
        cr_assert(bz_fingerprint_equal(print->stack_sums[index], other->stack_sums[index]));
    }
    if (symmetry->count > 0) {
        cr_assert(bz_symmetry_fingerprint(symmetry, world, print, &prints[0]));
        cr_assert(bz_symmetry_fingerprint(symmetry, world, other, &prints[1]));
        cr_assert(bz_fingerprint_equal(prints[0], prints[1]));
    }
}

/* A walk from the set-up to the end. */
static uint32_t walk(bool is_symmetric, uint64_t seed) {
    static struct bz_printer printer;
    static struct bz_printer other_printer;
    static struct bz_print prints[2];
    static struct bz_print from_scratch;
    static struct bz_snapshot snapshots[2];
    uint32_t from_before = 0;
    struct hall *hall;
    struct bz_world *world = begin(seed, &hall);
    struct bz_symmetry symmetry;
    bz_symmetry_begin(&symmetry, world);
    cr_assert_eq(symmetry.count, GUESTS);
    symmetry.count = is_symmetric ? GUESTS : 0;
    bz_printer_begin(&printer, &symmetry, is_symmetric);
    bz_printer_begin(&other_printer, &symmetry, is_symmetric);
    cr_assert(bz_printer_print(&printer, world, NULL, NULL, &prints[0]));
    cr_assert(bz_snapshot_save(world, &snapshots[0]));
    for (uint32_t now = 1; bz_world_step(world); now = 1 - now) {
        bz_snapshot_normalize(world);
        cr_assert(bz_snapshot_save(world, &snapshots[now]));
        cr_assert(bz_printer_print(&other_printer, world, NULL, NULL, &from_scratch));
        cr_assert(
            bz_printer_print(&printer, world, &snapshots[1 - now], &prints[1 - now], &prints[now]));
        expect_equal(&symmetry, world, &prints[now], &from_scratch);
        from_before += prints[now].layout == prints[1 - now].layout;
    }
    cr_assert_eq(world->judge->shadow.unfinished, 0);
    bz_printer_fini(&printer);
    bz_printer_fini(&other_printer);
    bz_world_destroy(world);
    return from_before;
}

Test(print, from_the_state_before_is_that_from_scratch) {
    uint32_t from_before = 0;
    if (!bz_snapshot_is_supported()) {
        cr_skip_test("there are no snapshots");
    }
    for (uint64_t seed = 0; seed < WALKS; seed++) {
        from_before += walk(true, seed) + walk(false, seed);
    }
    cr_assert_lt(20 * WALKS, from_before, "%u", from_before);
}

/* From scratch, if this word has this value. */
static struct bz_fingerprint print_with(const struct bz_symmetry *symmetry,
                                        const struct bz_world *world, uint64_t *word,
                                        const void *value) {
    static struct bz_printer printer;
    static struct bz_print print;
    struct bz_fingerprint fingerprint;
    uint64_t was = *word;
    *word = (uintptr_t)value;
    bz_printer_begin(&printer, symmetry, true);
    cr_assert(bz_printer_print(&printer, world, NULL, NULL, &print));
    cr_assert(bz_symmetry_fingerprint(symmetry, world, &print, &fingerprint));
    bz_printer_fini(&printer);
    *word = was;
    return fingerprint;
}

/* In a word that belongs to nobody, and in one of a guest's own memory. */
Test(print, a_reference_is_a_place_in_a_task_whatever_its_number) {
    struct hall *hall;
    struct bz_symmetry symmetry;
    if (!bz_snapshot_is_supported()) {
        cr_skip_test("there are no snapshots");
    }
    struct bz_world *world = begin(0, &hall);
    bz_symmetry_begin(&symmetry, world);
    uint64_t *words[] = {&hall->flood[0], (uint64_t *)(void *)&hall->napkins[GROUP].other};
    const char *group = (const char *)hall->guests[0];
    const char *others = (const char *)hall->guests[GUESTS - 1];
    const char *links = (const char *)&hall->guests[0]->siblings;
    const char *top = (const char *)symmetry.stack_tops[0];
    const char *napkin = (const char *)&hall->napkins[GUESTS - 1];
    const char *own = (const char *)&hall->napkins[GROUP];
    /* The last two are the word's own guest, or any guest of the other group. */
    const char *places[] = {NULL,    group,    group + 8, others,     others + 8, links,  links + 8,
                            top - 8, top - 16, napkin,    napkin + 8, own,        own + 8};
    for (size_t word = 0; word < 2; word++) {
        size_t count = sizeof places / sizeof places[0] - (word == 0 ? 2 : 0);
        for (size_t place = 1; place < count; place++) {
            struct bz_fingerprint print = print_with(&symmetry, world, words[word], places[place]);
            for (size_t other = 0; other < place; other++) {
                struct bz_fingerprint another =
                    print_with(&symmetry, world, words[word], places[other]);
                cr_assert_eq(bz_fingerprint_equal(print, another), false,
                             "word %zu, places %zu and %zu", word, place, other);
            }
        }
        cr_assert(bz_fingerprint_equal(print_with(&symmetry, world, words[word], hall->guests[0]),
                                       print_with(&symmetry, world, words[word], hall->guests[1])));
    }
    cr_assert(
        bz_fingerprint_equal(print_with(&symmetry, world, words[1], hall->guests[GUESTS - 2]),
                             print_with(&symmetry, world, words[1], hall->guests[GUESTS - 1])));
    bz_world_destroy(world);
}

/* Words that are exchanged, moved, or differ in single bits. */
Test(print, sums_tell_words_and_places_apart) {
    const struct bz_fingerprint keys[2] = {{.high = UINT64_C(0x1234567890abcdef) | 1u, .low = 77},
                                           {.high = 99, .low = UINT64_C(0xfedcba0987654321)}};
    for (uint32_t bit = 0; bit < 64; bit++) {
        for (uint32_t other = 0; other < 64; other++) {
            uint64_t words[2] = {UINT64_C(1) << bit, UINT64_C(1) << other};
            struct bz_fingerprint sums[2] = {{0, 0}, {0, 0}};
            for (uint32_t place = 0; place < 2; place++) {
                bz_sum_add(&sums[0], keys[place], bz_word_value(words[place]));
                bz_sum_add(&sums[1], keys[place], bz_word_value(words[1 - place]));
            }
            cr_assert_eq(bz_fingerprint_equal(sums[0], sums[1]), bit == other);
        }
        cr_assert_neq(bz_word_value(UINT64_C(1) << bit), 0);
    }
    cr_assert_neq(bz_word_value(0), 0);
}
