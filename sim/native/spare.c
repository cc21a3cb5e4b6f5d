/* The memory of worlds that were destroyed, for the next ones. */
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "primitives/runtime/place.h"
#include "primitives/runtime/room.h"
#include "sim/native/internal.h"

#define SPARES_MAX 4u
#define SPARE_STACKS_MAX 64u

static _Atomic(struct bz_native *) spares[SPARES_MAX];

/* Not the memory of a large run, which belongs to the system again; nor what lies where a search
 * wants it (place.h). */
static bool can_be_spare(const struct bz_native *native) {
    const struct bz_loop *loop = native->world.loop;
    return native->world.judge != NULL && loop != NULL && !native->is_lent &&
           !bz_place_has(native) && loop->current == NULL &&
           bz_judge_is_small(native->world.judge) &&
           loop->mem->limit_bytes == BZ_MEM_LIMIT_BYTES_DEFAULT &&
           loop->mem->mapped_bytes <= BZ_ROOM_FIRST_BYTES &&
           loop->stacks->stack_bytes == BZ_STACK_BYTES_DEFAULT &&
           loop->stacks->stacks_mapped <= SPARE_STACKS_MAX;
}

bool bz_spare_keep(struct bz_native *native) {
    bool is_kept = false;
    native->owner = getpid();
    for (uint32_t index = 0; !is_kept && can_be_spare(native) && index < SPARES_MAX; index++) {
        struct bz_native *none = NULL;
        is_kept = atomic_compare_exchange_strong(&spares[index], &none, native);
    }
    return is_kept;
}

/* NULL: there is none. Those of a parent process stay its own: their judges are shared memory. */
static struct bz_native *take(void) {
    struct bz_native *spare = NULL;
    for (uint32_t index = 0; spare == NULL && index < SPARES_MAX; index++) {
        spare = atomic_exchange(&spares[index], NULL);
        spare = spare != NULL && spare->owner == getpid() ? spare : NULL;
    }
    return spare;
}

bool bz_spare_take(struct bz_native *native, const struct bz_judge_config *config) {
    struct bz_native *spare = bz_place_has(native) ? NULL : take();
    if (spare == NULL) {
        return false;
    }
    native->world.judge = bz_judge_renew(spare->world.judge, config);
    native->world.loop = spare->world.loop;
    free(spare);
    bz_mem_shift(native->world.loop->mem, 0);
    bz_stack_pool_turn(native->world.loop->stacks, 0);
    native->world.loop->exceptions = (struct bz_exceptions){0};
    bz_loop_reset(native->world.loop);
    return true;
}
