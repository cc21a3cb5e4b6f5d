/* The memory of worlds: the next ones take that of those that were destroyed; and where it lies. */
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "primitives/runtime/place.h"
#include "primitives/runtime/room.h"
#include "sim/native/internal.h"

/* --- memory that is used again -----------------------------------------------------------------
 */

#define SPARES_MAX 4u
#define SPARE_STACKS_MAX 64u

static _Atomic(struct bz_native *) spares[SPARES_MAX];
static atomic_uint children;

void bz_spare_begin(struct bz_native *native) {
    native->owner = getpid();
    native->children = atomic_load(&children);
}

void bz_spare_child_starts(void) {
    atomic_fetch_add(&children, 1);
}

static bool is_small(const struct bz_mem *mem) {
    return mem->mapped_bytes == BZ_ROOM_FIRST_BYTES;
}

/* A child process may still write into the memory of a world that it has inherited. Large memory
 * goes back to the system, and a search wants its own at certain addresses (place.h). */
static bool can_be_spare(const struct bz_native *native) {
    const struct bz_loop *loop = native->world.loop;
    return native->world.judge != NULL && loop != NULL && native->owner == getpid() &&
           native->children == atomic_load(&children) && !bz_place_has(native) &&
           loop->current == NULL && is_small(bz_judge_shadow_mem(native->world.judge)) &&
           is_small(bz_judge_mem(native->world.judge)) && is_small(loop->mem) &&
           loop->mem->limit_bytes == BZ_MEM_LIMIT_BYTES_DEFAULT &&
           loop->stacks->stack_bytes == BZ_STACK_BYTES_DEFAULT &&
           loop->stacks->stacks_mapped <= SPARE_STACKS_MAX;
}

bool bz_spare_keep(struct bz_native *native) {
    bool is_kept = false;
    if (native->world.loop != NULL) {
        bz_mem_shift(native->world.loop->mem, 0);
    }
    if (can_be_spare(native)) {
        bz_judge_inherit(native->world.judge, false);
        for (uint32_t index = 0; !is_kept && index < SPARES_MAX; index++) {
            struct bz_native *none = NULL;
            is_kept = atomic_compare_exchange_strong(&spares[index], &none, native);
        }
    }
    return is_kept;
}

/* NULL: there is none. A child process has no memory for those of its parent. */
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
    bz_judge_inherit(spare->world.judge, true);
    native->world.judge = bz_judge_renew(spare->world.judge, config);
    native->world.loop = spare->world.loop;
    free(spare);
    bz_stack_pool_turn(native->world.loop->stacks, 0);
    native->world.loop->exceptions = (struct bz_exceptions){0};
    bz_loop_reset(native->world.loop);
    return true;
}

/* --- other addresses -------------------------------------------------------------------------- */

/* By each bit of an address from the page's on, one after another; and to another place in the
 * page, of another line. Less than 8 MiB. */
static size_t shift_of(uint32_t place) {
    return place == 0 ? 0 : ((size_t)1 << (12 + place % 11)) + (size_t)place * 208;
}

void bz_world_move(struct bz_world *world, uint32_t place) {
    bz_native_forget_setups(bz_native_of(world));
    bz_mem_shift(world->loop->mem, shift_of(place));
    bz_stack_pool_turn(world->loop->stacks, place);
}

void bz_world_drop_stacks(struct bz_world *world) {
    bz_stack_pool_drop(world->loop->stacks);
}
