/* A step marks the objects that it concerns, whatever their numbers. They are judged at its end,
 * and then unmarked. */
#include "sim/tests/toys.h"

TOY(mints, TOY_CLAIMS_ALL, .release = toy_release_two);

#define OBJECTS 130u

struct hall {
    struct stage stage;
    struct bz_sut_permits suts[OBJECTS + 1]; /* by number of the object */
    const uint32_t *visits;                  /* numbers, in order; ends with 0 */
    bool yields;                             /* between two visits */
};

static enum bz_status visitor(void *arg) {
    struct hall *hall = arg;
    for (const uint32_t *number = hall->visits; *number != 0; number++) {
        enum bz_status status = bz_sut_release(&hall->suts[*number]);
        if (status == BZ_OK && hall->yields) {
            status = bz_yield(hall->stage.world->loop);
        }
        if (status != BZ_OK) {
            return status;
        }
    }
    return BZ_OK;
}

/* A hall of OBJECTS objects, the first of which the stage has made, and a visitor. */
static void hall_run(struct hall *hall, const struct bz_variant *variant, const uint32_t *visits,
                     bool yields) {
    stage_begin(&hall->stage, variant, 1);
    hall->visits = visits;
    hall->yields = yields;
    hall->suts[1] = hall->stage.sut;
    for (uint32_t number = 2; number <= OBJECTS; number++) {
        tst_status(bz_sut_permits_init(&hall->suts[number], hall->stage.world,
                                       BZ_PRIMITIVE_SEMAPHORE, "table", 1),
                   BZ_OK);
        cr_assert_eq(hall->suts[number].object, number);
    }
    struct bz_task *task = bz_task_spawn(hall->stage.world->loop, "visitor", 0, visitor, hall);
    cr_assert_not_null(task);
    stage_play(&hall->stage, "");
}

static void expect_found(const uint32_t *visits, bool yields, uint32_t object, uint32_t step) {
    struct hall hall;
    hall_run(&hall, &mints, visits, yields);
    stage_expect_violation(&hall.stage, "permit-conservation", step, "");
    cr_assert_eq(hall.stage.world->judge->violation.object, object, "visits %u, %u", visits[0],
                 visits[1]);
    stage_end(&hall.stage);
}

Test(dirty, objects_of_any_number_are_judged) {
    for (uint32_t number = 1; number <= OBJECTS; number++) {
        expect_found((const uint32_t[]){number, 0}, false, number, 1);
        expect_found((const uint32_t[]){number, 0}, true, number, 1);
    }
}

/* Several in one step: in the order of their bits, then of their numbers. */
Test(dirty, objects_of_one_step_are_judged_in_order) {
    expect_found((const uint32_t[]){2, 1, 0}, false, 1, 1);
    expect_found((const uint32_t[]){62, 61, 0}, false, 61, 1);
    expect_found((const uint32_t[]){63, 62, 0}, false, 62, 1);
    expect_found((const uint32_t[]){64, 63, 0}, false, 64, 1);           /* bit 0 */
    expect_found((const uint32_t[]){130, 63, 130, 5, 0}, false, 130, 1); /* bit 2 */
}

Test(dirty, are_unmarked_after_the_step) {
    static const uint32_t visits[] = {1, 62, 63, 64, 63, 130, 130, 2, 0};
    for (int yields = 0; yields < 2; yields++) {
        struct hall hall;
        hall_run(&hall, &bz_variant_buzzer, visits, yields != 0);
        stage_expect_pass(&hall.stage);
        const struct bz_shadow *shadow = &hall.stage.world->judge->shadow;
        cr_assert_eq(shadow->dirty, 0);
        stage_end(&hall.stage);
    }
}
