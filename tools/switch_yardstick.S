/* The yardstick of `buzzer bench`: the context switch of the textbooks, a function that pushes the
 * six registers that the System V ABI lets a callee keep, exchanges the stacks, pops six and
 * returns. Nobody runs tasks on it; figures are given as ratios to what it costs. */
#if defined(__x86_64__)

    .text
    .globl bz_yardstick_switch
    .type bz_yardstick_switch, @function
    /* void bz_yardstick_switch(void **from_sp, void *to_sp) */
bz_yardstick_switch:
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
    .size bz_yardstick_switch, . - bz_yardstick_switch

    .globl bz_yardstick_start
    .type bz_yardstick_start, @function
    /* The first switch to a side returns to here: its function is in r12, its argument in rbx. */
bz_yardstick_start:
    movq %rbx, %rdi
    callq *%r12
    ud2
    .size bz_yardstick_start, . - bz_yardstick_start

#endif
    .section .note.GNU-stack, "", %progbits
