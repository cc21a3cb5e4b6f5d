#include "sim/explore/fingerprint/fingerprint.h"

#include <string.h>

#include "sim/explore/fingerprint/symmetry.h"
#include "sim/explore/fingerprint/word_roles.h"

/* Stands for a pointer into an interchangeable task, beside the offset there. No data has
 * these values by accident. */
#define TO_ITSELF UINT64_C(0x9c3f6e0b51d7a200)
#define TO_OTHER UINT64_C(0x61b8d42ef90c3500)
#define TO_LINKS UINT64_C(0xd70a4f8236eb1900)

_Static_assert(sizeof(void *) != 8 ||
                   (sizeof(struct bz_shadow_task) % 8 == 0 && sizeof(struct bz_task) % 8 == 0 &&
                    sizeof(struct bz_loop) % 8 == 0 && sizeof(struct bz_snapshot_head) % 8 == 0),
               "states are words, where there are snapshots");

#define LINE_WORDS 8u /* compared at a time */

/* One state that is being printed. */
struct printing {
    struct bz_printer *printer;
    const struct bz_symmetry *symmetry; /* the printer's */
    struct bz_print *print;
    bool has_overflowed; /* too many references */
    uint64_t low;        /* words that refer to interchangeable tasks are in this range */
    uint64_t span;
    uint64_t blocks; /* where the area of blocks is */
    uint64_t blocks_bytes;
};

/* Where a word is, for the reference that it may be. */
struct place {
    uint64_t part;
    uint64_t key;
    bool is_on_stack;
};

/* --- references ------------------------------------------------------------------------------- */

static void note(struct printing *printing, const struct place *place, uint32_t task) {
    struct bz_print *print = printing->print;
    uint32_t capacity =
        place->part == BZ_PART_REST ? BZ_REST_REFERENCES_MAX : BZ_PART_REFERENCES_MAX;
    if (print->reference_counts[place->part] == capacity) {
        printing->has_overflowed = true;
        return;
    }
    print->reference_counts[place->part]++;
    print->references[print->reference_count++] =
        (struct bz_reference){place->key, (uint8_t)place->part, (uint8_t)task, place->is_on_stack};
}

static void remove_reference(struct bz_print *print, uint32_t index) {
    print->reference_counts[print->references[index].part]--;
    print->references[index] = print->references[--print->reference_count];
}

static void drop(struct printing *printing, const struct place *place) {
    struct bz_print *print = printing->print;
    for (uint32_t index = 0; index < print->reference_count; index++) {
        const struct bz_reference *reference = &print->references[index];
        if (reference->key == place->key && reference->part == place->part) {
            remove_reference(print, index);
            return;
        }
    } /* it is not there if there were too many */
}

/* All those on the stack of an interchangeable task. */
static void drop_stack(struct printing *printing, uint64_t part) {
    struct bz_print *print = printing->print;
    for (uint32_t index = print->reference_count; index-- > 0;) {
        const struct bz_reference *reference = &print->references[index];
        if (reference->part == part && reference->is_on_stack) {
            remove_reference(print, index);
        }
    }
}

static inline bool may_refer(const struct printing *printing, uint64_t word) {
    return word - printing->low < printing->span;
}

/* The interchangeable task whose region a word points into, and where. A stack belongs to its
 * first task for good, because nothing that is looked at may depend on who has ended. */
static uint32_t refers_to(const struct printing *printing, uint64_t word, uint64_t *offset) {
    const struct bz_symmetry *symmetry = printing->symmetry;
    uint64_t into = word - printing->blocks;
    if (into < printing->blocks_bytes) {
        uint64_t task = printing->printer->roles[BZ_AREA_BLOCKS][into / 8].part;
        if (task >= BZ_SYMMETRY_NOBODY) {
            return BZ_SYMMETRY_NOBODY;
        }
        uint64_t into_block = word - symmetry->blocks[task];
        *offset = into_block < sizeof(struct bz_task)
                      ? into_block
                      : BZ_SYMMETRY_INTO_OWN + (word - symmetry->owns[task]);
        return (uint32_t)task;
    }
    for (uint32_t index = 0; index < symmetry->count; index++) {
        if (symmetry->stack_tops[index] - word <= symmetry->stack_bytes) {
            *offset = BZ_SYMMETRY_INTO_STACK + (symmetry->stack_tops[index] - word);
            return index;
        }
    }
    return BZ_SYMMETRY_NOBODY;
}

/* The replacement of a word that refers to an interchangeable task. It is noted (`more` 1), or
 * dropped
 * (-1). The list of tasks is in the order of their numbers, so its links are not noted. */
static uint64_t generalize(struct printing *printing, const struct place *place, uint64_t word,
                           int more) {
    const uint64_t links = offsetof(struct bz_task, siblings);
    uint64_t offset;
    if (!may_refer(printing, word)) {
        return word;
    }
    uint32_t task = refers_to(printing, word, &offset);
    if (task == BZ_SYMMETRY_NOBODY) {
        return word;
    }
    if (place->part == BZ_PART_QUEUE) {
        return 0; /* as a free slot: is_ready in the region of the task says the same */
    }
    if (offset - links < sizeof(struct bz_list)) {
        return TO_LINKS + offset;
    }
    if (task == place->part) {
        return TO_ITSELF + offset;
    }
    if (more > 0) {
        note(printing, place, task);
    } else {
        drop(printing, place);
    }
    return TO_OTHER + offset;
}

/* --- words ------------------------------------------------------------------------------------ */

static inline void change_sum(struct printing *printing, const struct bz_word_role *role,
                              uint64_t difference) {
    bz_sum_add(&printing->print->sums[role->part], role->key, difference);
}

/* A separate function, so that the usual words save no registers. */
static __attribute__((noinline)) void change_reference(struct printing *printing,
                                                       const struct bz_word_role *role,
                                                       uint64_t was, uint64_t word) {
    struct place place = {.part = role->part, .key = role->key.low};
    uint64_t before = generalize(printing, &place, was, -1);
    uint64_t after = generalize(printing, &place, word, 1);
    change_sum(printing, role, bz_word_value(after) - bz_word_value(before));
}

static inline void change_word(struct printing *printing, const struct bz_word_role *role,
                               uint64_t was, uint64_t word) {
    was &= role->keep;
    word &= role->keep;
    if (may_refer(printing, was) || may_refer(printing, word)) {
        change_reference(printing, role, was, word);
    } else {
        change_sum(printing, role, bz_word_value(word) - bz_word_value(was));
    }
}

/* A word that was not there before, or is not there now. */
static void move_word(struct printing *printing, const struct bz_word_role *role, uint64_t word,
                      int more) {
    struct place place = {.part = role->part, .key = role->key.low};
    uint64_t value = bz_word_value(generalize(printing, &place, word & role->keep, more));
    change_sum(printing, role, more > 0 ? value : -value);
}

/* --- areas ------------------------------------------------------------------------------------ */

typedef uint64_t line_half __attribute__((vector_size(32), aligned(8), may_alias));

static inline bool is_same_line(const bz_any_word *words, const bz_any_word *before) {
    const line_half *a = (const line_half *)(const void *)words;
    const line_half *b = (const line_half *)(const void *)before;
    line_half differs = (a[0] ^ b[0]) | (a[1] ^ b[1]);
    return (differs[0] | differs[1] | differs[2] | differs[3]) == 0;
}

/* Most lines of words are as they were. */
static void compare_words(struct printing *printing, const struct bz_word_role *roles,
                          const bz_any_word *words, const bz_any_word *before, size_t count) {
    for (size_t first = 0; first < count; first += LINE_WORDS) {
        size_t end = count - first < LINE_WORDS ? count : first + LINE_WORDS;
        if (end - first == LINE_WORDS && is_same_line(words + first, before + first)) {
            continue;
        }
        for (size_t index = first; index < end; index++) {
            if (words[index] != before[index]) {
                change_word(printing, &roles[index], before[index], words[index]);
            }
        }
    }
}

static void compare_area(struct printing *printing, const struct bz_word_role *roles,
                         const struct bz_snapshot_area *live, const struct bz_snapshot_area *was) {
    const bz_any_word *words = (const bz_any_word *)(const void *)live->bytes;
    const bz_any_word *words_before = (const bz_any_word *)(const void *)was->bytes;
    size_t count = live->count / 8;
    size_t count_before = was->count / 8;
    size_t both = count < count_before ? count : count_before;
    compare_words(printing, roles, words, words_before, both);
    for (size_t index = both; index < count; index++) {
        move_word(printing, &roles[index], words[index], 1);
    }
    for (size_t index = both; index < count_before; index++) {
        move_word(printing, &roles[index], words_before[index], -1);
    }
}

/* --- stacks ----------------------------------------------------------------------------------- */

/* A stack, or what a snapshot has of it. Words are counted from the top, downward. */
struct stack_words {
    const bz_any_word *end; /* behind the word at the top */
    size_t count;
    uint64_t address; /* of that end */
    uint64_t part;
};

static struct stack_words stack_words_of(const struct bz_image_stack *stack, const char *bytes,
                                         uint32_t part) {
    return (struct stack_words){.end = (const bz_any_word *)(const void *)(bytes + stack->bytes),
                                .count = stack->bytes / 8,
                                .address = (uintptr_t)stack->low + stack->bytes,
                                .part = part};
}

static uint32_t part_of(const struct printing *printing, const struct bz_image_stack *stack) {
    return printing->symmetry == NULL ? BZ_PART_REST
                                      : bz_symmetry_index(printing->symmetry, stack->task);
}

static inline uint64_t stack_word(const struct stack_words *stack, size_t depth) {
    return stack->end[-1 - (ptrdiff_t)depth];
}

static inline struct bz_fingerprint stack_key(const struct printing *printing,
                                              const struct stack_words *stack, size_t depth) {
    if (stack->part == BZ_PART_REST) {
        return bz_key_of(stack->address - 8 * depth);
    }
    return depth < BZ_STACK_KEYS ? printing->printer->stack_keys[depth]
                                 : bz_key_of(BZ_PLACE_STACK + depth);
}

static inline struct bz_fingerprint *stack_sum(const struct printing *printing,
                                               const struct stack_words *stack) {
    return stack->part == BZ_PART_REST ? &printing->print->sums[BZ_PART_REST]
                                       : &printing->print->stack_sums[stack->part];
}

/* The value of a word. Most references on a stack are to the stack itself. */
static inline uint64_t stack_value(struct printing *printing, const struct stack_words *stack,
                                   struct bz_fingerprint key, uint64_t word, int more) {
    if (!may_refer(printing, word)) {
        return bz_word_value(word);
    }
    if (stack->part != BZ_PART_REST && stack->address - word <= printing->symmetry->stack_bytes) {
        return bz_word_value(TO_ITSELF + BZ_SYMMETRY_INTO_STACK + (stack->address - word));
    }
    struct place place = {stack->part, key.low, true};
    return bz_word_value(generalize(printing, &place, word, more));
}

/* Adds the words from this depth on, or takes them away (`more` -1). */
static void add_stack(struct printing *printing, const struct stack_words *stack, size_t from,
                      int more) {
    struct bz_fingerprint sum = {0, 0};
    for (size_t depth = from; depth < stack->count; depth++) {
        struct bz_fingerprint key = stack_key(printing, stack, depth);
        uint64_t word = stack_word(stack, depth);
        bz_sum_add(&sum, key, stack_value(printing, stack, key, word, more));
    }
    struct bz_fingerprint *total = stack_sum(printing, stack);
    total->high += more > 0 ? sum.high : -sum.high;
    total->low += more > 0 ? sum.low : -sum.low;
}

/* The words from this depth on are there no more. */
static void remove_stack(struct printing *printing, const struct stack_words *before, size_t from) {
    if (from == 0 && before->part != BZ_PART_REST) {
        *stack_sum(printing, before) = (struct bz_fingerprint){0, 0};
        drop_stack(printing, before->part);
    } else {
        add_stack(printing, before, from, -1);
    }
}

static void compare_stack(struct printing *printing, const struct stack_words *stack,
                          const struct stack_words *before) {
    size_t both = stack->count < before->count ? stack->count : before->count;
    struct bz_fingerprint *total = stack_sum(printing, stack);
    for (size_t depth = 0; depth < both; depth++) {
        uint64_t word = stack_word(before, depth);
        if (word != stack_word(stack, depth)) {
            struct bz_fingerprint key = stack_key(printing, stack, depth);
            uint64_t was = stack_value(printing, stack, key, word, -1);
            uint64_t is = stack_value(printing, stack, key, stack_word(stack, depth), 1);
            bz_sum_add(total, key, is - was);
        }
    }
    if (both < stack->count) {
        add_stack(printing, stack, both, 1);
    }
    if (both < before->count) {
        remove_stack(printing, before, both);
    }
}

/* True of nearly all stacks. */
static bool is_unchanged(const struct bz_image_stack *was, const char *bytes,
                         const struct bz_task *task) {
    return was->low == task->coro.sp && memcmp(was->low, bytes, was->bytes) == 0;
}

/* Both lists are in the order of the tasks' ages. A stack that one has and the other does not is of
 * a task that has begun, or has ended. */
static void compare_stacks(struct printing *printing, const struct bz_loop *loop,
                           const struct bz_snapshot *before) {
    uint32_t count = before == NULL ? 0 : before->layout.stack_count;
    const char *table = count == 0 ? NULL : before->image + before->layout.state_bytes;
    const char *bytes = count == 0 ? NULL : before->image + before->layout.stacks_offset;
    const struct bz_image_stack *was = (const struct bz_image_stack *)(const void *)table;
    const struct bz_task *task = bz_image_next_stack(loop, NULL);
    for (; count > 0; count--, bytes += was->bytes, was++) {
        bool is_there = task != NULL && was->stack == task->stack && was->task == task->actor.id;
        if (is_there && is_unchanged(was, bytes, task)) {
            task = bz_image_next_stack(loop, task);
            continue;
        }
        uint32_t part = part_of(printing, was);
        struct stack_words then = stack_words_of(was, bytes, part);
        if (is_there) {
            struct bz_image_stack stack = bz_image_stack_of(task);
            struct stack_words now = stack_words_of(&stack, stack.low, part);
            compare_stack(printing, &now, &then);
            task = bz_image_next_stack(loop, task);
        } else {
            remove_stack(printing, &then, 0);
        }
    }
    for (; task != NULL; task = bz_image_next_stack(loop, task)) {
        struct bz_image_stack stack = bz_image_stack_of(task);
        struct stack_words now = stack_words_of(&stack, stack.low, part_of(printing, &stack));
        add_stack(printing, &now, 0, 1);
    }
}

/* --- the print -------------------------------------------------------------------------------- */

static void begin_print(struct bz_print *print, const struct bz_print *before,
                        uint32_t task_count) {
    if (before == NULL) {
        memset(print->sums, 0, sizeof print->sums);
        memset(print->stack_sums, 0, sizeof print->stack_sums);
        memset(print->reference_counts, 0, sizeof print->reference_counts);
        print->reference_count = 0;
        return;
    }
    memcpy(print->reference_counts, before->reference_counts, sizeof print->reference_counts);
    print->reference_count = before->reference_count;
    print->sums[BZ_PART_REST] = before->sums[BZ_PART_REST];
    print->sums[BZ_PART_QUEUE] = before->sums[BZ_PART_QUEUE];
    for (uint32_t index = 0; index < task_count; index++) {
        print->sums[index] = before->sums[index];
        print->stack_sums[index] = before->stack_sums[index];
    }
    for (uint32_t index = 0; index < print->reference_count; index++) { /* few */
        print->references[index] = before->references[index];
    }
}

static bool print_changes(struct bz_printer *printer, const struct bz_world *world,
                          const struct bz_live_areas *live, const struct bz_snapshot *before,
                          const struct bz_print *print_before, struct bz_print *print) {
    static const struct bz_snapshot_area empty;
    const struct bz_symmetry *symmetry = printer->symmetry;
    struct printing printing = {.printer = printer,
                                .symmetry = symmetry,
                                .print = print,
                                .low = symmetry == NULL ? 0 : symmetry->low,
                                .span = symmetry == NULL ? 0 : symmetry->span,
                                .blocks = (uintptr_t)live->areas[BZ_AREA_BLOCKS].bytes,
                                .blocks_bytes = live->areas[BZ_AREA_BLOCKS].count};
    begin_print(print, print_before, symmetry == NULL ? 0 : symmetry->count);
    for (int area = 0; area < BZ_AREAS; area++) {
        compare_area(&printing, printer->roles[area], &live->areas[area],
                     before == NULL ? &empty : &before->areas[area]);
    }
    compare_stacks(&printing, world->loop, before);
    return !printing.has_overflowed;
}

bool bz_printer_print(struct bz_printer *printer, const struct bz_world *world,
                      const struct bz_snapshot *before, const struct bz_print *print_before,
                      struct bz_print *print) {
    struct bz_live_areas live;
    bz_snapshot_look(world, &live);
    print->layout = 0;
    if (!bz_roles_find(printer, world, &live)) {
        return false;
    }
    bool is_known = print_before != NULL && print_before->layout == printer->layout_number;
    if (!(is_known && print_changes(printer, world, &live, before, print_before, print)) &&
        !print_changes(printer, world, &live, NULL, NULL, print)) {
        return false;
    }
    print->layout = printer->layout_number;
    return true;
}
