#include "scenarios/checker.h"

#include "primitives/runtime/task.h"
#include "sim/native/world.h"

/* True when all of them have ended. A cancel of the checker may reach a task it waits for; then the
 * checker leaves, as anybody would who is cancelled. */
static bool wait_for_all(struct bz_checker *checker) {
    for (uint32_t index = 0; index < checker->task_count; index++) {
        enum bz_status outcome = bz_task_join(checker->tasks[index]);
        (void)outcome; /* how they ended is their own affair */
        if (bz_task_cancelling(checker->task) > 0) {
            return false;
        }
    }
    return true;
}

static enum bz_status check(void *arg) {
    struct bz_checker *checker = arg;
    if (!wait_for_all(checker)) {
        return BZ_CANCELLED;
    }
    enum bz_status status = BZ_OK;
    uint32_t taken = 0;
    while (status == BZ_OK && taken < checker->permits) {
        status = bz_sut_acquire(checker->sut);
        taken += status == BZ_OK;
    }
    bool may_fail = status == BZ_CANCELLED && bz_task_cancelling(checker->task) > 0;
    bz_world_assert(checker->world, status == BZ_OK || may_fail,
                    "all others have gone, %u of %u permit(s) were there, and then acquire said %s",
                    taken, checker->permits, bz_status_name(status));
    for (; taken > 0; taken--) {
        enum bz_status released = bz_sut_release(checker->sut);
        bz_world_assert(checker->world, released == BZ_OK,
                        "the release by its holder was refused: %s", bz_status_name(released));
    }
    return status;
}

void bz_checker_spawn(struct bz_checker *checker) {
    checker->task = bz_task_spawn(checker->world->loop, "checker", 0, check, checker);
    bz_world_assert(checker->world, checker->task != NULL, "no memory for task checker");
}
