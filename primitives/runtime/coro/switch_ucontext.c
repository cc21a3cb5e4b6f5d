/* The portable switch: swapcontext, with a system call for each switch. About twenty times slower
 * than the assembly; it also serves as an independent second backend. */
#include "primitives/runtime/coro/coro.h"

#ifdef BZ_SWITCH_UCONTEXT

#include <stdint.h>
#include <stdlib.h>
#include <ucontext.h>

#include "primitives/runtime/check.h"

/* makecontext passes ints: two for each pointer. */
static void ucontext_entry(unsigned self_high, unsigned self_low, unsigned from_high,
                           unsigned from_low) {
    struct bz_coro *self = (void *)(uintptr_t)((uint64_t)self_high << 32 | self_low);
    struct bz_coro *from = (void *)(uintptr_t)((uint64_t)from_high << 32 | from_low);
    ((bz_coro_entry_fn *)(uintptr_t)self->pc)(from, self);
    BZ_CHECK(!"a coroutine's entry function returned");
}

/* A suspended side keeps its context on its own stack. */
void bz_coro_switch_raw(struct bz_coro *from, struct bz_coro *to) {
    ucontext_t here;
    from->ucontext = &here;
    if (to->ucontext != NULL) {
        BZ_CHECK(swapcontext(&here, to->ucontext) == 0);
        return;
    }
    ucontext_t first;
    uint64_t self_bits = (uint64_t)(uintptr_t)to;
    uint64_t from_bits = (uint64_t)(uintptr_t)from;
    BZ_CHECK(getcontext(&first) == 0);
    first.uc_stack.ss_sp = (void *)(uintptr_t)to->stack_bottom;
    first.uc_stack.ss_size = to->stack_bytes;
    first.uc_link = NULL;
    makecontext(&first, (void (*)(void))ucontext_entry, 4, (unsigned)(self_bits >> 32),
                (unsigned)self_bits, (unsigned)(from_bits >> 32), (unsigned)from_bits);
    BZ_CHECK(swapcontext(&here, &first) == 0);
}

#endif
