/* The baseline of `buzzer bench`: the textbook context switch, a function that pushes the six
 * callee-saved registers of the System V ABI, exchanges the stacks, pops six registers and returns.
 * The runtime does not use it. */
#if defined(__x86_64__)

    .text
    .globl bz_baseline_switch
    .type bz_baseline_switch, @function
    /* void bz_baseline_switch(void **from_sp, void *to_sp) */
bz_baseline_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size bz_baseline_switch, . - bz_baseline_switch

    .globl bz_baseline_start
    .type bz_baseline_start, @function
    /* The first switch returns to here: the function is in r12, its argument in rbx. */
bz_baseline_start:
    movq %rbx, %rdi
    callq *%r12
    ud2
    .size bz_baseline_start, . - bz_baseline_start

#endif
    .section .note.GNU-stack, "", %progbits
