/* Which words of a stack are dead: functions in assembly, and the stack as it has to be afterwards.
 *
 * In each function `call *%rax` is the call during which its task is suspended. The label behind it
 * is where the function goes on, and names it. */
#include "sim/frames/frames.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "sim/frames/function.h"

/* It is never skipped: a program of which all tests are skipped fails. */
Test(frames, are_made_where_they_are_supported) {
    struct bz_frames *frames = bz_frames_new(0);
    cr_assert(eq(int, frames != NULL, bz_frames_is_supported()));
    bz_frames_destroy(frames);
}

#ifdef __x86_64__

#define PLACE(name)                                                                                \
    extern const char name[];                                                                      \
    __asm__(".globl " #name "\n.hidden " #name)
#define RANGE(code) __asm__(".text\n.cfi_startproc\n" code "\n.cfi_endproc")
#define FUNCTION(name, code)                                                                       \
    PLACE(name);                                                                                   \
    RANGE(code)

/* --- stacks ----------------------------------------------------------------------------------- */

/* Each word, as it is to be in the end. One that is none of the first seven is a return address,
 * and END is the last one. */
#define KEPT UINT64_C(0x4444333322221111)
#define DEAD UINT64_C(0)
#define DEAD_HIGH UINT64_C(0x22221111)
#define DEAD_LOW UINT64_C(0x4444333300000000)
#define ONLY_LOWEST_BYTE UINT64_C(0x11)
#define ONLY_SECOND_BYTE UINT64_C(0x1100)
#define NOT_LOWEST_BYTE UINT64_C(0x22221100) /* of the lower half */
#define AT(place) ((uintptr_t)(place))
#define END UINT64_C(1)

#define WORDS_MAX 16u

static bool is_filled(uint64_t word) {
    return word == KEPT || word == DEAD || word == DEAD_HIGH || word == DEAD_LOW ||
           word == ONLY_LOWEST_BYTE || word == ONLY_SECOND_BYTE || word == NOT_LOWEST_BYTE;
}

static struct bz_frames *begin(void) {
    if (!bz_frames_is_supported()) {
        cr_skip_test("there is no decoder");
    }
    struct bz_frames *frames = bz_frames_new(0);
    cr_assert(frames != NULL);
    return frames;
}

/* `wanted` has the frame pointer behind its words. */
static void expect_with(struct bz_frames *frames, const void *pc, const uint64_t *wanted,
                        size_t count) {
    uint64_t words[WORDS_MAX];
    cr_assert(le(sz, count, WORDS_MAX));
    for (size_t index = 0; index < count; index++) {
        words[index] = is_filled(wanted[index]) ? KEPT : wanted[index];
    }
    void *frame_pointer = (void *)(uintptr_t)words[count - 1];
    struct bz_frames_stack stack = {(void *)(uintptr_t)pc, words, words + count - 1};
    bz_frames_clear(frames, &stack, &frame_pointer);
    words[count - 1] = (uintptr_t)frame_pointer;
    for (size_t index = 0; index < count; index++) {
        cr_expect(eq(u64, words[index], wanted[index]), "word %zu of %zu", index, count - 1);
    }
}

static void expect(const void *pc, const uint64_t *wanted, size_t count) {
    struct bz_frames *frames = begin();
    expect_with(frames, pc, wanted, count);
    bz_frames_destroy(frames);
}

/* The words from the stack pointer on. The frame pointer is dead. */
#define WORDS(...) ((const uint64_t[]){__VA_ARGS__, DEAD})
#define WORDS_AND_FP(...) ((const uint64_t[]){__VA_ARGS__, KEPT})
#define COUNT_OF(list) (sizeof(list) / sizeof *(list))
#define EXPECT(pc, ...) expect(pc, WORDS(__VA_ARGS__), COUNT_OF(WORDS(__VA_ARGS__)))
#define EXPECT_FP(pc, ...)                                                                         \
    expect(pc, WORDS_AND_FP(__VA_ARGS__), COUNT_OF(WORDS_AND_FP(__VA_ARGS__)))
#define EXPECT_WITH(frames, pc, ...)                                                               \
    expect_with(frames, pc, WORDS(__VA_ARGS__), COUNT_OF(WORDS(__VA_ARGS__)))

/* --- saved registers -------------------------------------------------------------------------- */

FUNCTION(saves_rbx, "push %rbx; xor %ebx,%ebx; call *%rax; saves_rbx: pop %rbx; ret");
FUNCTION(needs_rbx, "push %rbx; call *%rax; needs_rbx: mov %rbx,%rax; pop %rbx; ret");
FUNCTION(needs_ebx, "push %rbx; call *%rax; needs_ebx: mov %ebx,%eax; pop %rbx; ret");
FUNCTION(passes, "sub $8,%rsp; call *%rax; passes: add $8,%rsp; ret");
FUNCTION(stores_rbx, "sub $24,%rsp; mov %rbx,8(%rsp); call *%rax;"
                     "stores_rbx: mov 8(%rsp),%rbx; add $24,%rsp; ret");

FUNCTION(needs_bh, "push %rbx; call *%rax; needs_bh: mov $1,%bl; movzbl %bh,%eax; pop %rbx; ret");

Test(frames, a_saved_register_is_live_if_the_caller_needs_its_second_byte) {
    EXPECT(saves_rbx, NOT_LOWEST_BYTE, AT(needs_bh), DEAD, END);
}

FUNCTION(needs_bl, "push %rbx; call *%rax; needs_bl: movzbl %bl,%eax; pop %rbx; ret");

Test(frames, bytes_of_a_saved_register_are_dead_if_the_caller_needs_the_lowest_one) {
    EXPECT(saves_rbx, ONLY_LOWEST_BYTE, AT(needs_bl), DEAD, END);
}

Test(frames, a_saved_register_is_live_if_the_caller_needs_it) {
    EXPECT(saves_rbx, KEPT, AT(needs_rbx), DEAD, END);
    EXPECT(saves_rbx, DEAD, AT(saves_rbx), DEAD, END);
    EXPECT(stores_rbx, DEAD, KEPT, DEAD, AT(needs_rbx), DEAD, END);
    EXPECT(stores_rbx, DEAD, DEAD, DEAD, AT(saves_rbx), DEAD, END);
}

Test(frames, a_saved_register_is_live_if_a_frame_further_out_needs_it) {
    EXPECT(saves_rbx, KEPT, AT(passes), DEAD, AT(needs_rbx), DEAD, END);
    EXPECT(saves_rbx, KEPT, AT(passes), DEAD, AT(needs_rbx), KEPT, AT(needs_rbx), DEAD, END);
    EXPECT(saves_rbx, DEAD, AT(saves_rbx), KEPT, AT(needs_rbx), DEAD, END);
    EXPECT(saves_rbx, DEAD, AT(passes), DEAD, END);
}

Test(frames, the_upper_half_of_an_int_is_dead) {
    EXPECT(saves_rbx, DEAD_HIGH, AT(needs_ebx), DEAD, END);
    EXPECT(stores_rbx, DEAD, DEAD_HIGH, DEAD, AT(needs_ebx), DEAD, END);
    EXPECT(saves_rbx, DEAD_HIGH, AT(passes), DEAD, AT(needs_ebx), DEAD, END);
}

/* --- the frame pointer ------------------------------------------------------------------------ */

FUNCTION(has_fp, "push %rbp; mov %rsp,%rbp; sub $16,%rsp; mov %rdi,-8(%rbp); call *%rax;"
                 "has_fp: mov -8(%rbp),%rdi; call *%rax; leave; ret");

Test(frames, the_frame_pointer_is_live_if_a_frame_is_left_by_it) {
    EXPECT_FP(has_fp, DEAD, KEPT, DEAD, END);
    EXPECT_FP(saves_rbx, DEAD, AT(has_fp), DEAD, KEPT, DEAD, END);
    EXPECT_FP(has_fp, DEAD, KEPT, KEPT, AT(has_fp), DEAD, KEPT, DEAD, END);
    EXPECT_FP(has_fp, DEAD, KEPT, DEAD, AT(needs_rbx), DEAD, END);
    EXPECT(saves_rbx, KEPT, AT(needs_rbx), DEAD, END);
}

/* --- variables -------------------------------------------------------------------------------- */

FUNCTION(used_once, "sub $24,%rsp; mov %rdi,8(%rsp); call *%rax;"
                    "used_once: mov 8(%rsp),%rdi; call *%rax;"
                    "used_up: add $24,%rsp; ret");
PLACE(used_up);
FUNCTION(used_as_int, "sub $24,%rsp; mov %rdi,8(%rsp); mov 8(%rsp),%rsi; call *%rax;"
                      "used_as_int: mov 8(%rsp),%edi; call *%rax; add $24,%rsp; ret");
FUNCTION(used_as_upper, "sub $24,%rsp; mov %rdi,8(%rsp); mov 8(%rsp),%rsi; call *%rax;"
                        "used_as_upper: mov 12(%rsp),%edi; call *%rax; add $24,%rsp; ret");
FUNCTION(loaded_in_vain, "sub $24,%rsp; mov %rdi,8(%rsp); call *%rax;"
                         "loaded_in_vain: mov 8(%rsp),%rbx; xor %ebx,%ebx; add $24,%rsp; ret");

Test(frames, a_variable_is_dead_behind_its_last_use) {
    EXPECT(used_once, DEAD, KEPT, DEAD, END);
    EXPECT(used_up, DEAD, DEAD, DEAD, END);
    EXPECT(loaded_in_vain, KEPT, KEPT, KEPT, END); /* by `pop`, arguments are given up */
}

Test(frames, parts_of_a_variable_live_on_their_own) {
    EXPECT(used_as_int, DEAD, DEAD_HIGH, DEAD, END);
    EXPECT(used_as_upper, DEAD, DEAD_LOW, DEAD, END);
}

FUNCTION(used_as_bool, "sub $24,%rsp; mov %edi,8(%rsp); call *%rax;"
                       "used_as_bool: cmpb $0,8(%rsp); je 1f; call *%rax; 1: add $24,%rsp; ret");
FUNCTION(to_be_set, "sub $24,%rsp; movb $0,9(%rsp); call *%rax;"
                    "is_clear: cmpb $0,9(%rsp); call *%rax;"
                    "to_be_set: movb $1,9(%rsp); call *%rax;"
                    "is_set: cmpb $0,9(%rsp); add $24,%rsp; ret");
PLACE(is_clear);
PLACE(is_set);

Test(frames, bytes_live_on_their_own) {
    EXPECT(used_as_bool, DEAD, ONLY_LOWEST_BYTE, DEAD, END);
    EXPECT(is_clear, DEAD, ONLY_SECOND_BYTE, DEAD, END);
    EXPECT(to_be_set, DEAD, DEAD, DEAD, END);
    EXPECT(is_set, DEAD, ONLY_SECOND_BYTE, DEAD, END);
}

FUNCTION(may_use, "sub $24,%rsp; mov %rdi,8(%rsp); call *%rax;"
                  "may_use: test %eax,%eax; je 1f; mov 8(%rsp),%rdi; call *%rax;"
                  "has_used: add $24,%rsp; ret;"
                  "1: call *%rax; does_not_use: add $24,%rsp; ret");
PLACE(has_used);
PLACE(does_not_use);

Test(frames, a_variable_is_live_if_one_branch_uses_it) {
    EXPECT(may_use, DEAD, KEPT, DEAD, END);
    EXPECT(has_used, DEAD, DEAD, DEAD, END);
    EXPECT(does_not_use, DEAD, DEAD, DEAD, END);
}

FUNCTION(in_loop, "sub $24,%rsp; mov %rdi,8(%rsp); 1: mov 8(%rsp),%rdi; call *%rax;"
                  "in_loop: test %eax,%eax; jne 1b; call *%rax;"
                  "behind_loop: add $24,%rsp; ret");
PLACE(behind_loop);
FUNCTION(set_in_loop, "sub $24,%rsp; 1: mov %rbx,8(%rsp); call *%rax; mov 8(%rsp),%rdi; call *%rax;"
                      "set_in_loop: test %eax,%eax; jne 1b; add $24,%rsp; ret");

Test(frames, a_variable_is_live_if_the_next_round_uses_it) {
    EXPECT(in_loop, DEAD, KEPT, DEAD, END);
    EXPECT(behind_loop, DEAD, DEAD, DEAD, END);
    EXPECT(set_in_loop, DEAD, DEAD, DEAD, END);
}

/* --- addresses -------------------------------------------------------------------------------- */

FUNCTION(pads, "push %rbx; sub $16,%rsp; call *%rax; pads: add $16,%rsp; pop %rbx; ret");
FUNCTION(forms, "push %rbx; sub $16,%rsp; lea 8(%rsp),%rdi; call *%rax;"
                "forms: add $16,%rsp; pop %rbx; ret");
FUNCTION(forms_by_move, "push %rbx; sub $16,%rsp; mov %rsp,%rdi; call *%rax;"
                        "forms_by_move: add $16,%rsp; pop %rbx; ret");
FUNCTION(forms_by_index, "push %rbx; sub $16,%rsp; mov (%rsp,%rsi,8),%rdi; call *%rax;"
                         "forms_by_index: add $16,%rsp; pop %rbx; ret");
FUNCTION(forms_from_fp, "push %rbp; mov %rsp,%rbp; sub $16,%rsp; mov %rbp,%rdi; call *%rax;"
                        "forms_from_fp: leave; ret");

Test(frames, what_nobody_accesses_is_dead) {
    EXPECT(pads, DEAD, DEAD, DEAD, END);
    EXPECT(pads, DEAD, DEAD, KEPT, AT(needs_rbx), DEAD, END);
}

Test(frames, all_but_saved_registers_is_live_if_an_address_is_formed) {
    EXPECT(forms, KEPT, KEPT, DEAD, END);
    EXPECT(forms, KEPT, KEPT, KEPT, AT(needs_rbx), DEAD, END);
    EXPECT(forms_by_move, KEPT, KEPT, DEAD, END);
    EXPECT(forms_by_index, KEPT, KEPT, DEAD, END);
    EXPECT_FP(forms_from_fp, KEPT, KEPT, DEAD, END);
}

/* --- arguments of callees --------------------------------------------------------------------- */

FUNCTION(moves, "sub $24,%rsp; mov %rdi,(%rsp); call *%rax; moves: add $24,%rsp; ret");
FUNCTION(pushes, "sub $8,%rsp; push %rdi; call *%rax; pushes: add $16,%rsp; ret");
FUNCTION(pushes_twice,
         "push %rbx; push %rbx; call *%rax; pushes_twice: add $8,%rsp; pop %rbx; ret");
FUNCTION(shares, "sub $24,%rsp; mov %rdi,(%rsp); call *%rax;"
                 "shares: mov %rsi,(%rsp); call *%rax;"
                 "reads: mov (%rsp),%rdi; call *%rax; add $24,%rsp; ret");
PLACE(reads);
FUNCTION(moves_double, "sub $24,%rsp; movsd %xmm0,(%rsp); call *%rax;"
                       "moves_double: add $24,%rsp; ret");
FUNCTION(moves_long_double, "sub $24,%rsp; fldt (%rdi); fstpt (%rsp); call *%rax;"
                            "moves_long_double: add $24,%rsp; ret");
FUNCTION(changes, "sub $24,%rsp; mov %rdi,(%rsp); andq $-2,(%rsp); call *%rax;"
                  "changes: add $24,%rsp; ret");
FUNCTION(compares, "sub $24,%rsp; mov %rdi,(%rsp); call *%rax; cmpq $1,(%rsp); call *%rax;"
                   "compares: add $24,%rsp; ret");
FUNCTION(keeps_double, "sub $24,%rsp; movsd %xmm0,8(%rsp); call *%rax;"
                       "keeps_double: movsd 8(%rsp),%xmm0; call *%rax;"
                       "kept_double: add $24,%rsp; ret");
PLACE(kept_double);

Test(frames, an_argument_is_live) {
    EXPECT(moves, KEPT, KEPT, KEPT, END); /* padding above belongs to the callee, too */
    EXPECT(pushes, KEPT, KEPT, END);
    EXPECT(pushes_twice, KEPT, DEAD, END);
}

Test(frames, an_argument_is_live_if_its_place_is_used_for_something_else) {
    EXPECT(shares, KEPT, KEPT, KEPT, END);
    EXPECT(reads, KEPT, KEPT, KEPT, END);
}

Test(frames, an_argument_is_live_whatever_writes_it) {
    EXPECT(moves_double, KEPT, KEPT, KEPT, END);
    EXPECT(moves_long_double, KEPT, KEPT, KEPT, END); /* 10 bytes */
    EXPECT(changes, KEPT, KEPT, KEPT, END);
}

Test(frames, what_is_read_is_no_argument) {
    EXPECT(compares, DEAD, DEAD, DEAD, END);
    EXPECT(keeps_double, DEAD, KEPT, DEAD, END);
    EXPECT(kept_double, DEAD, DEAD, DEAD, END);
}

/* --- how a function ends ---------------------------------------------------------------------- */

FUNCTION(jumps_far,
         "push %rbx; sub $16,%rsp; mov %rdi,8(%rsp); mov 8(%rsp),%rdi; call *%rax;"
         "jumps_far: jmp *%rax; mov (%rsp),%rdi; call *%rax; add $16,%rsp; pop %rbx; ret");
FUNCTION(goes_away, "push %rbx; call *%rax; goes_away: pop %rbx; jmp passes");
FUNCTION(goes_far_away, "push %rbx; sub $16,%rsp; call *%rax;"
                        "goes_far_away: add $16,%rsp; pop %rbx; jmp *%rax");
FUNCTION(never_returns, "push %rbx; sub $16,%rsp; mov %rdi,8(%rsp); call *%rax;"
                        "never_returns: mov 8(%rsp),%rdi; call *%rax");
FUNCTION(stops, "push %rbx; sub $16,%rsp; mov %rdi,8(%rsp); call *%rax;"
                "stops: mov 8(%rsp),%rdi; call *%rax; ud2");

Test(frames, all_is_live_if_a_jump_cannot_be_followed) {
    EXPECT_FP(jumps_far, KEPT, KEPT, KEPT, END);
    EXPECT_FP(saves_rbx, KEPT, AT(jumps_far), KEPT, KEPT, KEPT, END);
}

Test(frames, a_tail_call_ends_a_function) {
    EXPECT(goes_away, DEAD, END);
    EXPECT(goes_away, KEPT, AT(needs_rbx), DEAD, END);
    EXPECT(saves_rbx, DEAD, AT(goes_away), DEAD, END);
}

/* The caller's registers are what a jump to anywhere may read. */
Test(frames, an_indirect_tail_call_ends_a_function) {
    EXPECT_FP(goes_far_away, DEAD, DEAD, KEPT, END);
}

/* Who is not returned to needs no register. */
Test(frames, a_call_that_does_not_return_ends_a_function) {
    EXPECT(saves_rbx, DEAD, AT(never_returns), DEAD, KEPT, KEPT, AT(needs_rbx), DEAD, END);
    EXPECT(saves_rbx, DEAD, AT(stops), DEAD, KEPT, KEPT, AT(needs_rbx), DEAD, END);
}

/* --- rare parts ------------------------------------------------------------------------------- */

FUNCTION(has_rare, "push %rbx; sub $16,%rsp; mov %rdi,8(%rsp); call *%rax;"
                   "has_rare: test %eax,%eax; jne rare_start;"
                   "rare_back: add $16,%rsp; pop %rbx; ret");
RANGE(".cfi_def_cfa_offset 32; rare_start: call *%rax;"
      "in_rare: mov 8(%rsp),%rdi; call *%rax;"
      "late_in_rare: jmp rare_back");
PLACE(in_rare);
PLACE(late_in_rare);

/* The same, but the tables do not say how deep the frame is. */
FUNCTION(has_unsaid, "push %rbx; sub $16,%rsp; mov %rdi,8(%rsp); call *%rax;"
                     "has_unsaid: test %eax,%eax; jne unsaid_start;"
                     "unsaid_back: add $16,%rsp; pop %rbx; ret");
RANGE(".cfi_def_cfa %rbp,32; unsaid_start: call *%rax;"
      "in_unsaid: mov 8(%rsp),%rdi; call *%rax; jmp unsaid_back");
PLACE(in_unsaid);

Test(frames, a_rare_part_belongs_to_its_function) {
    EXPECT(has_rare, DEAD, KEPT, DEAD, END);
    EXPECT(in_rare, DEAD, KEPT, DEAD, END);
    EXPECT(in_rare, DEAD, KEPT, KEPT, AT(needs_rbx), DEAD, END);
    EXPECT(late_in_rare, DEAD, DEAD, DEAD, END);
}

Test(frames, a_rare_part_of_unknown_depth_is_known_from_its_function_alone) {
    EXPECT(has_unsaid, DEAD, KEPT, DEAD, END);
    EXPECT_FP(in_unsaid, KEPT, KEPT, KEPT, END);
}

/* A rare part that reads the frame by the frame pointer. */
FUNCTION(reads_rarely,
         "push %rbp; mov %rsp,%rbp; sub $16,%rsp; mov %rdi,8(%rsp); mov -8(%rbp),%rdi; call *%rax;"
         "reads_rarely: test %eax,%eax; jne fp_start;"
         "fp_back: add $16,%rsp; pop %rbp; ret");
RANGE(".cfi_def_cfa_offset 32; fp_start: call *%rax;"
      "in_fp: mov -8(%rbp),%rdi; call *%rax; jmp fp_back");
PLACE(in_fp);

Test(frames, a_rare_part_has_the_frame_pointer_of_its_function) {
    EXPECT_FP(reads_rarely, KEPT, KEPT, DEAD, END);
    EXPECT_FP(in_fp, KEPT, KEPT, DEAD, END);
}

/* --- other uses of the frame pointer ---------------------------------------------------------- */

FUNCTION(reuses_fp, "push %rbp; sub $16,%rsp; mov %rdi,%rbp; call *%rax;"
                    "mov 8(%rbp),%rdi; mov %rsp,%rbp; call *%rax;"
                    "reuses_fp: mov 8(%rbp),%rdi; call *%rax; add $16,%rsp; pop %rbp; ret");
FUNCTION(differs, "push %rbp; sub $16,%rsp; mov %rdi,%rbp; test %edi,%edi; je 1f;"
                  "mov %rsp,%rbp; 1: call *%rax;"
                  "differs: mov 8(%rbp),%rdi; call *%rax; add $16,%rsp; pop %rbp; ret");

Test(frames, the_frame_pointer_may_be_any_register) {
    EXPECT_FP(reuses_fp, KEPT, KEPT, DEAD, END);
}

Test(frames, all_is_live_if_only_some_paths_have_a_frame_pointer) {
    EXPECT_FP(differs, KEPT, KEPT, DEAD, END);
}

/* --- exceptions ------------------------------------------------------------------------------- */

/* The tables only say that there are landing pads. */
FUNCTION(lands, ".cfi_personality 0x1b,lands; .cfi_lsda 0x1b,lands;"
                "push %rbx; sub $16,%rsp; call *%rax; lands: add $16,%rsp; pop %rbx; ret");

Test(frames, all_is_live_in_a_function_with_landing_pads) {
    EXPECT_FP(lands, KEPT, KEPT, KEPT, END);
}

Test(frames, saved_registers_are_live_inside_of_landing_pads) {
    EXPECT_FP(saves_rbx, KEPT, AT(lands), KEPT, KEPT, KEPT, END);
    EXPECT_FP(saves_rbx, KEPT, AT(pads), DEAD, DEAD, KEPT, AT(lands), KEPT, KEPT, KEPT, END);
    EXPECT_FP(pads, DEAD, DEAD, KEPT, AT(lands), KEPT, KEPT, KEPT, AT(saves_rbx), DEAD, END);
}

/* The call that does not return may throw. */
Test(frames, the_frame_pointer_is_live_inside_of_landing_pads) {
    EXPECT_FP(saves_rbx, KEPT, AT(never_returns), DEAD, KEPT, KEPT, AT(lands), KEPT, KEPT, KEPT,
              END);
}

/* --- what is not known ------------------------------------------------------------------------ */

static const char no_code[] = "no code";

FUNCTION(aligns, "push %rbp; mov %rsp,%rbp; push %rbx; and $-32,%rsp; call *%rax;"
                 "aligns: mov -8(%rbp),%rbx; leave; ret");
FUNCTION(contradicts, "push %rbx; test %eax,%eax; je 1f; push %rbx; 1: call *%rax;"
                      "contradicts: pop %rbx; ret");

Test(frames, saved_registers_are_live_inside_of_unknown_code) {
    EXPECT_FP(saves_rbx, KEPT, AT(no_code), KEPT, KEPT, END);
    EXPECT_FP(pads, DEAD, DEAD, KEPT, AT(passes), DEAD, AT(no_code), KEPT, END);
    EXPECT_FP(no_code, KEPT, AT(needs_rbx), KEPT, END);
}

Test(frames, saved_registers_are_live_inside_of_a_frame_of_unknown_depth) {
    EXPECT_FP(saves_rbx, KEPT, AT(aligns), KEPT, KEPT, KEPT, END);
    EXPECT_FP(aligns, KEPT, KEPT, KEPT, END);
    EXPECT_FP(contradicts, KEPT, END);
}

/* The decoder tells 8 bytes or fewer of these, which read many. */
FUNCTION(restores_vector,
         "sub $40,%rsp; call *%rax; restores_vector: fxrstor (%rsp); add $40,%rsp; ret");
FUNCTION(restores_float,
         "sub $40,%rsp; call *%rax; restores_float: frstor (%rsp); add $40,%rsp; ret");

Test(frames, all_is_live_that_an_instruction_of_unknown_reach_may_read) {
    EXPECT_FP(restores_vector, KEPT, KEPT, KEPT, KEPT, KEPT, AT(passes), KEPT, END);
    EXPECT_FP(restores_float, KEPT, KEPT, KEPT, KEPT, KEPT, AT(passes), KEPT, END);
}

/* A frame that reaches beyond the stack is none. */
Test(frames, a_stack_that_is_too_short_stays) {
    EXPECT_FP(pads, KEPT, KEPT, KEPT);
}

static uint32_t depth_at(const void *place) {
    struct bz_code_range range;
    struct bz_decoder *decoder = bz_decoder_new();
    cr_assert(decoder != NULL);
    cr_assert(bz_code_range_find(AT(place), &range));
    struct bz_function *function = bz_function_new(decoder, &range);
    cr_assert(function != NULL && bz_function_has(function, AT(place)));
    uint32_t depth = bz_function_depth(function, AT(place));
    bz_function_destroy(function);
    bz_decoder_destroy(decoder);
    return depth;
}

Test(frames, depths_are_known_unless_the_stack_pointer_is_aligned) {
    bz_frames_destroy(begin());
    cr_expect(eq(u32, depth_at(saves_rbx), 16));
    cr_expect(eq(u32, depth_at(has_fp), 32));
    cr_expect(eq(u32, depth_at(in_rare), 32));
    cr_expect(eq(u32, depth_at(pushes_twice), 24));
    cr_expect(eq(u32, depth_at(saves_rbx + 1), 8)); /* behind the pop, which has one byte */
    cr_expect(eq(u32, depth_at(aligns), 0));
    cr_expect(eq(u32, depth_at(contradicts), 0));
}

/* --- coroutines ------------------------------------------------------------------------------- */

/* As in coro/switch_x86_64.h, with what is live behind it on the stack. */
FUNCTION(switches, "push %rbx; sub $16,%rsp; mov %rdx,8(%rsp);"
                   "lea switches(%rip),%rax; mov %rax,(%rdi); mov %rsp,8(%rdi); mov %rbp,16(%rdi);"
                   "mov 8(%rsi),%rsp; mov 16(%rsi),%rbp; jmp *(%rsi);"
                   "switches: mov 8(%rsp),%rax; add $16,%rsp; pop %rbx; ret");

Test(frames, a_switch_goes_on_behind_its_jump) {
    EXPECT(switches, DEAD, KEPT, DEAD, END);
    EXPECT(switches, DEAD, KEPT, KEPT, AT(needs_rbx), DEAD, END);
}

/* --- chains ----------------------------------------------------------------------------------- */

Test(frames, the_same_chain_gives_the_same_result_again) {
    struct bz_frames *frames = begin();
    for (int round = 0; round < 3; round++) {
        EXPECT_WITH(frames, saves_rbx, KEPT, AT(needs_rbx), DEAD, END);
        EXPECT_WITH(frames, used_once, DEAD, KEPT, DEAD, END);
    }
    bz_frames_destroy(frames);
}

Test(frames, chains_with_the_same_inner_frame_are_told_apart) {
    struct bz_frames *frames = begin();
    for (int round = 0; round < 2; round++) {
        EXPECT_WITH(frames, saves_rbx, KEPT, AT(needs_rbx), DEAD, END);
        EXPECT_WITH(frames, saves_rbx, DEAD_HIGH, AT(needs_ebx), DEAD, END);
        EXPECT_WITH(frames, saves_rbx, DEAD, AT(saves_rbx), DEAD, END);
        EXPECT_WITH(frames, saves_rbx, KEPT, AT(passes), DEAD, AT(needs_rbx), DEAD, END);
        EXPECT_WITH(frames, saves_rbx, DEAD, AT(passes), DEAD, AT(saves_rbx), DEAD, END);
    }
    bz_frames_destroy(frames);
}

#endif
