/* The x86-64 switch (System V ABI, Linux). Included by coro.h only.
 *
 * It stores the program counter, the stack pointer and the frame pointer. All other registers are
 * clobbers, so the compiler saves exactly those that are live. `from` and `to` are in rdi and rsi,
 * the first two arguments of a function: the first switch jumps to the entry function with them.
 */
#ifndef BZ_RUNTIME_CORO_SWITCH_X86_64_H
#define BZ_RUNTIME_CORO_SWITCH_X86_64_H

#ifdef __AVX512F__
#define BZ_SWITCH_CLOBBERS_AVX512                                                                  \
    , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25",    \
        "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6",  \
        "k7"
#else
#define BZ_SWITCH_CLOBBERS_AVX512
#endif

static inline __attribute__((always_inline)) void bz_coro_switch_raw(struct bz_coro *from,
                                                                     struct bz_coro *to) {
    register struct bz_coro *from_register __asm__("rdi") = from;
    register struct bz_coro *to_register __asm__("rsi") = to;
    __asm__ volatile("leaq 1f(%%rip), %%rax\n\t"
                     "movq %%rax, 0(%0)\n\t"
                     "movq %%rsp, 8(%0)\n\t"
                     "movq %%rbp, 16(%0)\n\t"
                     "movq 8(%1), %%rsp\n\t"
                     "movq 16(%1), %%rbp\n\t"
                     "jmpq *0(%1)\n"
                     "1:\n"
                     : "+r"(from_register), "+r"(to_register)
                     :
                     : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
                       "r15", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
                       "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15",
                       "memory", "cc" BZ_SWITCH_CLOBBERS_AVX512);
}

#endif
