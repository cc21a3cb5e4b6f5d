#include "sim/explore/fingerprint/symmetry.h"

#include <string.h>

#define LABELS_MAX (2u + BZ_PRINT_OBJECTS_MAX * BZ_ALIKE_MAX + 2u * BZ_ALIKE_MAX)

/* --- life ------------------------------------------------------------------------------------- */

static void widen(struct bz_symmetry *symmetry, uintptr_t from, uintptr_t to) {
    uintptr_t high = symmetry->low + symmetry->span;
    if (symmetry->span == 0 || from < symmetry->low) {
        symmetry->low = from;
    }
    high = symmetry->span == 0 || to > high ? to : high;
    symmetry->span = high - symmetry->low;
}

static bool is_in_arena(const struct bz_world *world, const void *address) {
    const struct bz_mem *mem = world->loop->mem;
    return (uintptr_t)address - (uintptr_t)mem->base < mem->used_bytes;
}

static void add_task(struct bz_symmetry *symmetry, const struct bz_task *task, uintptr_t own,
                     size_t own_bytes) {
    uint32_t index = symmetry->count++;
    uintptr_t block = (uintptr_t)task;
    uintptr_t top = (uintptr_t)bz_stack_top(task->stack);
    symmetry->blocks[index] = block;
    symmetry->stack_tops[index] = top;
    symmetry->owns[index] = own;
    symmetry->own_bytes[index] = own_bytes;
    widen(symmetry, block, block + sizeof *task);
    widen(symmetry, (uintptr_t)task->stack->base, top + 1);
    if (own_bytes > 0) {
        widen(symmetry, own, own + own_bytes);
    }
}

/* False: they are not as the program has promised. */
static bool add_group(struct bz_symmetry *symmetry, const struct bz_world *world,
                      const struct bz_alike *alike) {
    const struct bz_task *first = alike->tasks[0];
    size_t own_bytes = alike->count * alike->own_bytes;
    bool has_own = own_bytes > 0;
    if (first == NULL || (has_own && !is_in_arena(world, alike->own)) ||
        (has_own && !is_in_arena(world, alike->own + own_bytes - 1)) ||
        (alike->own_bytes | (uintptr_t)alike->own) % 8 != 0) {
        return false; /* words are compared */
    }
    symmetry->ranges[symmetry->range_count++] =
        (struct bz_alike_range){.first = symmetry->count,
                                .first_id = first->actor.id,
                                .count = alike->count,
                                .array = is_in_arena(world, alike->array) ? alike->array : NULL};
    for (uint32_t place = 0; place < alike->count; place++) {
        const struct bz_task *task = alike->tasks[place];
        if (task == NULL || task->actor.id != first->actor.id + place || task->fn != first->fn ||
            task->arg != first->arg || task->is_detached) {
            return false;
        }
        add_task(symmetry, task, (uintptr_t)alike->own + place * alike->own_bytes,
                 alike->own_bytes);
    }
    return true;
}

void bz_symmetry_begin(struct bz_symmetry *symmetry, const struct bz_world *world) {
    const struct bz_native *native = bz_native_of(world);
    bool is_sound = true;
    symmetry->count = 0;
    symmetry->range_count = 0;
    symmetry->span = 0;
    symmetry->stack_bytes = world->loop->stacks->stack_bytes;
    for (uint32_t group = 0; is_sound && group < native->alike_count; group++) {
        is_sound = add_group(symmetry, world, &native->alike[group]);
    }
    symmetry->count = is_sound ? symmetry->count : 0;
    symmetry->range_count = is_sound ? symmetry->range_count : 0;
}

bool bz_symmetry_applies(const struct bz_symmetry *symmetry, const struct bz_world *world) {
    const struct bz_shadow *shadow = &world->judge->shadow;
    bool applies = symmetry->count > 1 && shadow->object_count <= BZ_PRINT_OBJECTS_MAX;
    for (uint32_t number = 1; number <= shadow->object_count; number++) {
        /* The ledger of a queue names who put and who got. */
        applies &= shadow->objects[number].kind != BZ_OBJECT_ITEMS;
    }
    return applies;
}

bool bz_symmetry_has_all(const struct bz_symmetry *symmetry, const struct bz_world *world) {
    const struct bz_shadow *shadow = &world->judge->shadow;
    bool has = true;
    for (uint32_t number = 0; number < symmetry->range_count; number++) {
        const struct bz_alike_range *range = &symmetry->ranges[number];
        for (uint32_t place = 0; place < range->count; place++) {
            has &= !shadow->tasks[range->first_id + place].is_freed;
        }
    }
    return has;
}

/* --- addresses in disguise -------------------------------------------------------------------- */

/* A piece of memory, and the same one of the second world. */
struct pair {
    uintptr_t at;
    uintptr_t bytes;
    uintptr_t distance; /* from the second to the first */
};

struct pairs {
    struct pair pairs[BZ_ALIKE_MAX + 1];
    uint32_t count;
};

static void add_pair(struct pairs *pairs, const void *at, const void *other, size_t bytes) {
    if (pairs->count < BZ_ALIKE_MAX + 1) {
        pairs->pairs[pairs->count++] =
            (struct pair){(uintptr_t)at, bytes, (uintptr_t)at - (uintptr_t)other};
    }
}

static bool are_in(const struct pair *pair, uintptr_t word, uintptr_t other) {
    return word - pair->at <= pair->bytes && word - other == pair->distance;
}

/* The same for halves of addresses. */
static bool are_halves_in(const struct pair *pair, uint32_t word, uint32_t other) {
    return word - (uint32_t)pair->at <= (uint32_t)pair->bytes &&
           word - other == (uint32_t)pair->distance;
}

/* Two addresses of one place that were shifted, or have flags in their upper 16 bits, or of which
 * the lower half was kept. */
static bool is_disguise(const struct pair *pair, uintptr_t word, uintptr_t other) {
    unsigned half = 4 * sizeof word;
    uintptr_t address = UINTPTR_MAX >> 16u;
    bool is_found = are_in(pair, word & address, other & address);
    for (unsigned shift = 1; shift <= 16 && !is_found; shift++) {
        uintptr_t last = ((uintptr_t)1 << shift) - 1; /* to the right they are lost */
        is_found = are_in(pair, word >> shift, other >> shift) ||
                   are_in(pair, word << shift | (pair->at & last),
                          other << shift | ((pair->at - pair->distance) & last));
    }
    return is_found || (half == 32 && (are_halves_in(pair, (uint32_t)word, (uint32_t)other) ||
                                       are_halves_in(pair, (uint32_t)(word >> (half - 1) >> 1u),
                                                     (uint32_t)(other >> (half - 1) >> 1u))));
}

static bool are_plain(const struct pairs *pairs, uintptr_t word, uintptr_t other) {
    bool are = word == other;
    for (uint32_t index = 0; index < pairs->count && !are; index++) {
        are = are_in(&pairs->pairs[index], word, other);
    }
    return are;
}

static bool has_disguise(const struct pairs *pairs, const void *from, const void *other,
                         size_t bytes) {
    const uintptr_t *words = from;
    const uintptr_t *others = other;
    bool is_found = false;
    for (size_t index = 0; index < bytes / sizeof *words && !is_found; index++) {
        bool are = are_plain(pairs, words[index], others[index]);
        for (uint32_t pair = 0; pair < pairs->count && !are && !is_found; pair++) {
            is_found = is_disguise(&pairs->pairs[pair], words[index], others[index]);
        }
    }
    return is_found;
}

bool bz_symmetry_has_disguise(const struct bz_world *world, const struct bz_world *second) {
    const struct bz_mem *mem = world->loop->mem;
    const struct bz_mem *mem_2 = second->loop->mem;
    const struct bz_task *task_2 = bz_image_next_stack(second->loop, NULL);
    struct pairs pairs = {.count = 0};
    add_pair(&pairs, mem->base, mem_2->base, mem->used_bytes);
    for (const struct bz_task *task = bz_image_next_stack(world->loop, NULL);
         task != NULL && task_2 != NULL; task = bz_image_next_stack(world->loop, task)) {
        add_pair(&pairs, task->stack->base, task_2->stack->base, task->stack->size_bytes);
        task_2 = bz_image_next_stack(second->loop, task_2);
    }
    size_t bytes = bz_arena_blocks_bytes(mem) < bz_arena_blocks_bytes(mem_2)
                       ? bz_arena_blocks_bytes(mem)
                       : bz_arena_blocks_bytes(mem_2);
    bool is_found = has_disguise(&pairs, bz_arena_blocks(mem), bz_arena_blocks(mem_2), bytes);
    task_2 = bz_image_next_stack(second->loop, NULL);
    for (const struct bz_task *task = bz_image_next_stack(world->loop, NULL);
         task != NULL && task_2 != NULL && !is_found;
         task = bz_image_next_stack(world->loop, task)) {
        struct bz_image_stack stack = bz_image_stack_of(task);
        struct bz_image_stack stack_2 = bz_image_stack_of(task_2);
        is_found = has_disguise(&pairs, stack.low, stack_2.low,
                                stack.bytes == stack_2.bytes ? stack.bytes : 0);
        task_2 = bz_image_next_stack(second->loop, task_2);
    }
    return is_found;
}

/* --- order ------------------------------------------------------------------------------------ */

static uint64_t colour_of(uint64_t colour, uint64_t key) {
    return bz_fold(colour ^ UINT64_C(0x9e3779b97f4a7c15), key ^ UINT64_C(0xe7037ed1a0b428db));
}

/* Numbers the tasks of a group by their colours. False: some are equal. Each is compared with every
 * other one, because that has no branches, which nobody can predict here. */
static bool number_group(const struct bz_alike_range *range, const uint64_t *colours,
                         uint32_t *numbers) {
    const uint64_t *colour = colours + range->first;
    uint32_t *number = numbers + range->first;
    bool has_equal = false;
    for (uint32_t place = 0; place < range->count; place++) {
        uint32_t behind = 0;
        for (uint32_t other = 0; other < place; other++) {
            bool is_less = colour[place] < colour[other];
            has_equal |= colour[place] == colour[other];
            number[other] += is_less;
            behind += !is_less;
        }
        number[place] = range->first + behind;
    }
    return !has_equal;
}

static bool number_by(const struct bz_symmetry *symmetry, const uint64_t *colours,
                      uint32_t *numbers) {
    bool is_sorted = true;
    for (uint32_t number = 0; number < symmetry->range_count; number++) {
        is_sorted &= number_group(&symmetry->ranges[number], colours, numbers);
    }
    return is_sorted;
}

/* Numbers the tasks of each group by their words, and by the references of the rest. If that leaves
 * some equal, by the references from and to the tasks, too, two steps deep. */
static void number_tasks(const struct bz_symmetry *symmetry, const struct bz_print *print,
                         uint32_t *numbers) {
    uint64_t colours[BZ_ALIKE_MAX];
    uint64_t next[BZ_ALIKE_MAX];
    for (uint32_t index = 0; index < symmetry->count; index++) {
        struct bz_fingerprint sum = bz_print_task(print, index);
        colours[index] = colour_of(sum.high, sum.low);
    }
    for (uint32_t number = 0; number < print->reference_count; number++) {
        const struct bz_reference *reference = &print->references[number];
        colours[reference->task] += reference->part == BZ_PART_REST ? reference->key : 0;
    }
    if (number_by(symmetry, colours, numbers)) {
        return;
    }
    for (int round = 0; round < 2; round++) {
        memcpy(next, colours, symmetry->count * sizeof next[0]);
        for (uint32_t number = 0; number < print->reference_count; number++) {
            const struct bz_reference *reference = &print->references[number];
            if (reference->part != BZ_PART_REST) {
                next[reference->part] += colour_of(colours[reference->task], reference->key);
                next[reference->task] += colour_of(colours[reference->part], ~reference->key);
            }
        }
        memcpy(colours, next, symmetry->count * sizeof next[0]);
    }
    (void)number_by(symmetry, colours, numbers);
}

/* --- the fingerprint -------------------------------------------------------------------------- */

static void label_sum(struct bz_fingerprint sum, uint64_t *labels) {
    labels[0] = sum.high;
    labels[1] = sum.low;
}

/* Adds the references of each part, which have new numbers, to its sum. */
static void label_references(const struct bz_print *print, const uint32_t *numbers,
                             uint64_t *rest_labels, uint64_t *task_labels) {
    for (uint32_t index = 0; index < print->reference_count; index++) {
        const struct bz_reference *reference = &print->references[index];
        uint64_t number = numbers[reference->task] + 1;
        uint64_t *labels = reference->part == BZ_PART_REST
                               ? rest_labels
                               : task_labels + 2u * (size_t)numbers[reference->part];
        labels[0] += colour_of(number, reference->key);
        labels[1] += colour_of(~number, reference->key);
    }
}

/* True if a field of the object names a task, and no sum takes account of that. */
static bool names_task(const struct bz_shadow_object *object) {
    bool names = false;
#define NAMES_DATA(life, value)
#define NAMES_LINE(life, value)
#define NAMES_TASK(life, value) IS_##life(names |= (value) != BZ_NO_TASK)
#define IS_NEVER(test) /* it is 0 in every state */
#define IS_ALWAYS(test) test;
#define OBJECT(type, name, bits, writer, life, reference) NAMES_##reference(life, object->name)
#include "sim/judge/shadow/fields.h"
    return names;
}

/* The new numbers of those in the lines; others follow the interchangeable ones. */
static bool label_lines(const struct bz_symmetry *symmetry, const struct bz_shadow *shadow,
                        const uint32_t *numbers, uint64_t *labels, size_t *count) {
    for (uint32_t number = 1; number <= shadow->object_count; number++) {
        const struct bz_shadow_object *object = &shadow->objects[number];
        if (object->line_end > BZ_ALIKE_MAX || names_task(object)) {
            return false;
        }
        for (uint32_t place = 0; place < object->line_end; place++) {
            uint32_t index = bz_symmetry_index(symmetry, object->line[place]);
            labels[(*count)++] =
                index != BZ_SYMMETRY_NOBODY ? numbers[index] : BZ_ALIKE_MAX + object->line[place];
        }
    }
    return true;
}

bool bz_symmetry_fingerprint(const struct bz_symmetry *symmetry, const struct bz_world *world,
                             const struct bz_print *print, struct bz_fingerprint *fingerprint) {
    uint64_t labels[LABELS_MAX];
    uint32_t numbers[BZ_ALIKE_MAX];
    number_tasks(symmetry, print, numbers);
    size_t count = 2;
    label_sum(bz_print_rest(print), labels);
    if (!label_lines(symmetry, &world->judge->shadow, numbers, labels, &count)) {
        return false;
    }
    for (uint32_t index = 0; index < symmetry->count; index++) {
        label_sum(bz_print_task(print, index), labels + count + 2u * (size_t)numbers[index]);
    }
    label_references(print, numbers, labels, labels + count);
    count += 2u * (size_t)symmetry->count;
    *fingerprint = bz_fingerprint_of(BZ_FINGERPRINT_BEGIN, labels, count * 8);
    return true;
}
