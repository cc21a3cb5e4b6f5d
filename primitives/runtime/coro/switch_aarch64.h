/* The aarch64 switch (AAPCS64). Included by coro.h only. See switch_x86_64.h for the idea.
 *
 * x29, the frame pointer, cannot be a clobber, so it is stored by hand. x18 is a scratch register
 * on Linux and must be named. The jump goes through x16 and lands on hint 36 (bti j), as machines
 * with branch target identification require; others execute a nop.
 */
#ifndef BZ_RUNTIME_CORO_SWITCH_AARCH64_H
#define BZ_RUNTIME_CORO_SWITCH_AARCH64_H

static inline __attribute__((always_inline)) void bz_coro_switch_raw(struct bz_coro *from,
                                                                     struct bz_coro *to) {
    register struct bz_coro *from_register __asm__("x0") = from;
    register struct bz_coro *to_register __asm__("x1") = to;
    __asm__ volatile("adr x9, 1f\n\t"
                     "mov x10, sp\n\t"
                     "stp x9, x10, [%0]\n\t"
                     "str x29, [%0, #16]\n\t"
                     "ldp x16, x10, [%1]\n\t"
                     "ldr x29, [%1, #16]\n\t"
                     "mov sp, x10\n\t"
                     "br x16\n"
                     "1: hint #36\n"
                     : "+r"(from_register), "+r"(to_register)
                     :
                     : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",
                       "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24",
                       "x25", "x26", "x27", "x28", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6",
                       "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17",
                       "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28",
                       "v29", "v30", "v31", "memory", "cc");
}

#endif
