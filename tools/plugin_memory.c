#include "tools/plugin_memory.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <malloc.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "primitives/runtime/loop.h"
#include "primitives/runtime/mem.h"
#include "primitives/runtime/task.h"
#include "sim/choice/strategy.h"
#include "sim/model/model.h"
#include "sim/native/exceptions.h"
#include "sim/run/program.h"
#include "tools/cli.h"
#include "traces/lack.h"

#if __ELF_NATIVE_CLASS == 64
#define SYMBOL_OF(info) ELF64_R_SYM(info)
#else
#define SYMBOL_OF(info) ELF32_R_SYM(info)
#endif
#define WARM_RUNS 20u /* what is set up once, and then stays, is no state of a run */
#define RUNS 100u
#define CHILD_NS UINT64_C(20000000000) /* of CPU time, for all of it */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HEAP_IS_COUNTED 0 /* the sanitizer's malloc() does not count for mallinfo2() */
#else
#define HEAP_IS_COUNTED 1
#endif

/* --- the shared object ------------------------------------------------------------------------ */

/* Its static variables that a run may write: the writable segment without what the loader wrote and
 * then protected. */
struct image {
    const void *inside; /* an address in the object that is wanted */
    uintptr_t base;
    char *first;
    size_t bytes;
    const ElfW(Dyn) * dynamic;
};

static int find_image(struct dl_phdr_info *info, size_t info_bytes, void *context) {
    struct image *image = context;
    uintptr_t wanted = (uintptr_t)image->inside;
    uintptr_t relro_end = 0;
    bool is_inside = false;
    (void)info_bytes;
    for (int index = 0; index < info->dlpi_phnum; index++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[index];
        uintptr_t first = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_LOAD) {
            is_inside |= wanted >= first && wanted < first + header->p_memsz;
        } else if (header->p_type == PT_GNU_RELRO) {
            relro_end = first + header->p_memsz;
        } else if (header->p_type == PT_DYNAMIC) {
            image->dynamic = (const void *)first;
        }
        if (header->p_type == PT_LOAD && (header->p_flags & PF_W) != 0) {
            image->first = (char *)first;
            image->bytes = header->p_memsz;
        }
    }
    if (!is_inside) {
        image->first = NULL;
        image->bytes = 0;
        return 0;
    }
    uintptr_t first = (uintptr_t)image->first;
    if (image->first != NULL && relro_end > first && relro_end <= first + image->bytes) {
        image->bytes -= relro_end - first;
        image->first += relro_end - first;
    }
    image->base = info->dlpi_addr;
    return 1;
}

/* Functions that keep state elsewhere, or whose answer is not the same in every run; NULL: others.
 */
static const char *suspicious(const char *name) {
    static const char *const names[] = {
        "malloc",        "calloc",         "realloc", "free",   "mmap", "posix_memalign",
        "aligned_alloc", "rand",           "random",  "time",   "fork", "clock_gettime",
        "gettimeofday",  "pthread_create", "getenv",  "strdup", NULL};
    size_t index = 0;
    while (names[index] != NULL && strcmp(names[index], name) != 0) {
        index++;
    }
    return strncmp(name, "_Znw", 4) == 0 || strncmp(name, "_Zna", 4) == 0 ? "operator new"
                                                                          : names[index];
}

struct tables {
    const ElfW(Sym) * symbols;
    const char *names;
};

static void list_import(const struct tables *tables, size_t symbol, char *list, size_t list_bytes) {
    const char *name = suspicious(tables->names + tables->symbols[symbol].st_name);
    size_t length = strlen(list);
    if (tables->symbols[symbol].st_shndx == SHN_UNDEF && name != NULL &&
        strstr(list, name) == NULL) {
        snprintf(list + length, list_bytes - length, "%s%s()", length > 0 ? ", " : "", name);
    }
}

/* The loader has made the addresses in the dynamic section absolute. */
static void list_imports(const struct image *image, char *list, size_t list_bytes) {
    struct tables tables = {NULL, NULL};
    const ElfW(Rela) * relocations[2] = {NULL, NULL};
    size_t bytes[2] = {0, 0};
    for (const ElfW(Dyn) *entry = image->dynamic; entry != NULL && entry->d_tag != DT_NULL;
         entry++) {
        const void *address = (const void *)(uintptr_t)entry->d_un.d_ptr;
        switch (entry->d_tag) {
        case DT_SYMTAB:
            tables.symbols = address;
            break;
        case DT_STRTAB:
            tables.names = address;
            break;
        case DT_RELA:
            relocations[0] = address;
            break;
        case DT_RELASZ:
            bytes[0] = entry->d_un.d_val;
            break;
        case DT_JMPREL:
            relocations[1] = address;
            break;
        case DT_PLTRELSZ:
            bytes[1] = entry->d_un.d_val;
            break;
        default:
            break;
        }
    }
    if (tables.symbols == NULL || tables.names == NULL) {
        return;
    }
    for (unsigned table = 0; table < 2; table++) {
        size_t count = relocations[table] == NULL ? 0 : bytes[table] / sizeof(ElfW(Rela));
        for (size_t index = 0; index < count; index++) {
            list_import(&tables, SYMBOL_OF(relocations[table][index].r_info), list, list_bytes);
        }
    }
}

/* --- in the child: runs, and what they leave -------------------------------------------------- */

struct measurement {
    struct bz_plugin_memory memory;
    const struct bz_variant *variant;
    enum bz_primitive primitive;
};

/* The scenario with the most operations: `program` if it can, else the first that uses the
 * primitive. */
static const struct bz_scenario *scenario_of(enum bz_primitive primitive) {
    const struct bz_scenario *found = NULL;
    for (const struct bz_scenario *const *next = bz_cli_catalog.scenarios; *next != NULL; next++) {
        for (uint32_t index = 0; index < (*next)->primitive_count; index++) {
            if ((*next)->primitives[index] == primitive &&
                (found == NULL || strcmp((*next)->name, "program") == 0)) {
                found = *next;
            }
        }
    }
    return found;
}

#if HEAP_IS_COUNTED
#define CACHED_BYTES_MAX 1040u /* of the blocks that glibc keeps for the thread that freed them */
#define CACHED_STEP _Alignof(max_align_t)
#define CACHED_BLOCKS 16u /* of each size; the default is 7 */

/* In use. mallinfo2() counts what the thread's cache keeps as in use: of each size as many blocks
 * as can be taken before it counts one more. */
static uint64_t heap_bytes(void) {
    static void *blocks[CACHED_BYTES_MAX / CACHED_STEP * CACHED_BLOCKS];
    uint64_t before = mallinfo2().uordblks;
    uint64_t counted = before;
    uint64_t cached = 0;
    size_t count = 0;
    for (size_t bytes = 2 * CACHED_STEP; bytes <= CACHED_BYTES_MAX; bytes += CACHED_STEP) {
        for (unsigned block = 0; block < CACHED_BLOCKS; block++) {
            blocks[count++] = bz_lack_check(malloc(bytes - sizeof(size_t)), "a measurement");
            if (mallinfo2().uordblks != counted) {
                break;
            }
            cached += malloc_usable_size(blocks[count - 1]) + sizeof(size_t);
        }
        counted = mallinfo2().uordblks;
    }
    while (count > 0) {
        free(blocks[--count]);
    }
    return before - cached;
}
#else
static uint64_t heap_bytes(void) {
    return 0;
}
#endif

/* Counts the bytes that differ, and describes the first. */
static void compare(const struct image *image, const char *before,
                    struct bz_plugin_memory *memory) {
    for (size_t index = 0; index < image->bytes; index++) {
        Dl_info symbol;
        const char *address = image->first + index;
        if (*address == before[index] || memory->static_bytes++ > 0) {
            continue;
        }
        if (dladdr(address, &symbol) != 0 && symbol.dli_sname != NULL) {
            snprintf(memory->static_place, sizeof memory->static_place, "'%.100s'",
                     symbol.dli_sname);
        } else {
            snprintf(memory->static_place, sizeof memory->static_place,
                     "byte 0x%llx of its image ('nm' lists the variables)",
                     (unsigned long long)((uintptr_t)address - image->base));
        }
    }
}

static void measure_runs(void *context) {
    struct measurement *measured = context;
    struct bz_plugin_memory *memory = &measured->memory;
    struct image image = {.inside = measured->variant};
    struct bz_program program;
    bz_program_init(&program, scenario_of(measured->primitive), measured->variant,
                    &bz_strategy_random);
    program.args.primitive = measured->primitive;
    struct bz_world *world = bz_lack_check(bz_program_new_world(&program), "a simulation");
    dl_iterate_phdr(find_image, &image);
    list_imports(&image, memory->imports, sizeof memory->imports);
    char *before = bz_lack_check(bz_shared_alloc(image.bytes + 1), "a copy of static variables");
    for (uint32_t run = 0; run < WARM_RUNS; run++) {
        (void)bz_program_run(&program, world, run);
    }
    memcpy(before, image.first, image.bytes);
    uint64_t heap_before = heap_bytes();
    for (uint32_t run = 0; run < RUNS; run++) {
        (void)bz_program_run(&program, world, WARM_RUNS + run);
    }
    uint64_t heap_after = heap_bytes();
    memory->heap_bytes = heap_after > heap_before ? heap_after - heap_before : 0;
    memory->runs = RUNS;
    compare(&image, before, memory);
    memory->is_measured = true;
}

/* --- in the child: a small program, without a judge ------------------------------------------- */

#define GUESTS 3u
#define VISITS 2u

struct tour {
    const struct bz_variant *variant;
    enum bz_primitive primitive;
    struct bz_loop *loop;
    void *instance;
    enum bz_status status;    /* of the first operation that failed otherwise than by a cancel */
    uint64_t heap_held_bytes; /* what init took, and the second visit of waiting guests */
};

struct guest {
    struct tour *tour;
    uint32_t number; /* from 0 */
    uint32_t visits; /* that have ended */
    bool is_between; /* two visits, where it waits for `next` */
    struct bz_future next;
    uint64_t heap_before; /* the visit */
    struct bz_task *task;
};

/* After a cancel an operation may say any of the three. */
static void note(struct tour *tour, enum bz_status status) {
    bool is_allowed = status == BZ_CANCELLED || status == BZ_TIMED_OUT || status == BZ_FAILED;
    tour->status = tour->status == BZ_OK && !is_allowed ? status : tour->status;
}

static void yield_times(struct tour *tour, uint32_t times) {
    for (enum bz_status status = BZ_OK; status == BZ_OK && times > 0; times--) {
        status = bz_yield(tour->loop);
    }
}

static enum bz_status visit_permits(struct tour *tour) {
    const struct bz_permit_ops *ops = tour->variant->permits[tour->primitive];
    enum bz_status status = ops->acquire(tour->instance);
    if (status == BZ_OK) {
        yield_times(tour, 3);
        note(tour, ops->release(tour->instance));
    }
    return status;
}

static enum bz_status visit_event(struct tour *tour, uint32_t number) {
    const struct bz_event_ops *ops = tour->variant->event;
    if (number > 0) {
        return ops->wait(tour->instance);
    }
    yield_times(tour, 4);
    ops->set(tour->instance);
    yield_times(tour, 4);
    ops->clear(tour->instance);
    return BZ_OK;
}

static enum bz_status visit_condition(struct tour *tour, uint32_t number) {
    const struct bz_condition_ops *ops = tour->variant->condition;
    yield_times(tour, number > 0 ? 0 : 4);
    enum bz_status status = ops->acquire(tour->instance);
    if (status == BZ_OK) {
        status = number > 0 ? ops->wait(tour->instance) : ops->notify(tour->instance, UINT32_MAX);
        note(tour, ops->release(tour->instance));
    }
    return status;
}

static enum bz_status visit_queue(struct tour *tour, uint32_t number) {
    const struct bz_queue_ops *ops = tour->variant->queue;
    enum bz_status status = BZ_OK;
    uint64_t value = 0;
    for (uint32_t item = 1; status == BZ_OK && number < 2 && item <= 3; item++) {
        status = number == 0 ? ops->put(tour->instance, item, 0) : ops->get(tour->instance, &value);
    }
    return status;
}

static enum bz_status visit_pool(struct tour *tour) {
    const struct bz_pool_ops *ops = tour->variant->pool;
    enum bz_status status = ops->acquire(tour->instance, 7);
    if (status == BZ_OK) {
        yield_times(tour, 3);
        note(tour, ops->release(tour->instance, 7));
    }
    return status;
}

static void visit(struct guest *guest) {
    struct tour *tour = guest->tour;
    enum bz_status status = BZ_OK;
    uint32_t index;
    switch (tour->primitive) {
    case BZ_PRIMITIVE_EVENT:
        status = visit_event(tour, guest->number);
        break;
    case BZ_PRIMITIVE_CONDITION:
        status = visit_condition(tour, guest->number);
        break;
    case BZ_PRIMITIVE_BARRIER:
        status = guest->number < 2 ? tour->variant->barrier->wait(tour->instance, &index) : BZ_OK;
        break;
    case BZ_PRIMITIVE_QUEUE:
        status = visit_queue(tour, guest->number);
        break;
    case BZ_PRIMITIVE_POOL:
        status = visit_pool(tour);
        break;
    default:
        status = visit_permits(tour);
        break;
    }
    note(tour, status);
}

static enum bz_status come(void *arg) {
    struct guest *guest = arg;
    for (guest->visits = 0; guest->visits < VISITS;) {
        visit(guest);
        guest->visits++;
        bz_future_init(&guest->next, guest->tour->loop);
        guest->is_between = true;
        note(guest->tour, bz_future_await(&guest->next));
        guest->is_between = false;
    }
    return BZ_OK;
}

static enum bz_status init(struct tour *tour) {
    static const int64_t parameters[BZ_MODEL_PARAMETERS_MAX] = {2, 2, 2, 2, 2, 2, 2, 2};
    const struct bz_variant *variant = tour->variant;
    switch (tour->primitive) {
    case BZ_PRIMITIVE_EVENT:
        return variant->event->init(tour->instance, tour->loop);
    case BZ_PRIMITIVE_CONDITION:
        return variant->condition->init(tour->instance, tour->loop);
    case BZ_PRIMITIVE_BARRIER:
        return variant->barrier->init(tour->instance, tour->loop, 2);
    case BZ_PRIMITIVE_QUEUE:
        return variant->queue->init(tour->instance, tour->loop, BZ_QUEUE_ORDER_FIFO, 1);
    case BZ_PRIMITIVE_POOL:
        return variant->pool->init(tour->instance, tour->loop);
    case BZ_PRIMITIVE_DEFERRED:
        return variant->deferred->init(tour->instance, tour->loop, 1);
    case BZ_PRIMITIVE_MODELLED:
        return variant->modelled->init(tour->instance, tour->loop, parameters);
    default:
        return variant->permits[tour->primitive]->init(tour->instance, tour->loop, 1);
    }
}

static void look_at_heap(struct tour *tour, uint64_t before) {
    uint64_t bytes = heap_bytes();
    tour->heap_held_bytes += bytes > before ? bytes - before : 0;
}

static enum bz_status cancel_last(void *arg) {
    struct guest *last = arg;
    yield_times(last->tour, 2);
    if (last->visits + 1 == VISITS) { /* tasks have their stacks */
        look_at_heap(last->tour, last->heap_before);
    }
    if (!last->is_between) {
        (void)bz_task_cancel(last->task);
    }
    return BZ_OK;
}

/* Every guest makes a visit, and the last is cancelled while it waits. False if they do not all
 * come to its end. */
static bool let_guests_in(struct guest *guests) {
    struct tour *tour = guests->tour;
    uint32_t visits = guests->visits + 1;
    struct bz_task *canceller = bz_lack_check(
        bz_task_spawn(tour->loop, "canceller", 0, cancel_last, &guests[GUESTS - 1]), "a task");
    guests[GUESTS - 1].heap_before = heap_bytes();
    bool is_good = bz_loop_run(tour->loop) == BZ_INVALID_STATE && bz_task_is_done(canceller);
    bz_task_free(canceller);
    for (uint32_t number = 0; number < GUESTS; number++) {
        is_good &= guests[number].is_between && guests[number].visits == visits;
    }
    for (uint32_t number = 0; is_good && number < GUESTS; number++) {
        is_good = bz_future_set_result(&guests[number].next, 0) == BZ_OK;
    }
    return is_good && tour->status == BZ_OK;
}

bool bz_plugin_memory_has_tour(enum bz_primitive primitive) {
    return primitive < BZ_PRIMITIVE_DEFERRED;
}

/* Three guests make their visits, and end. False if they do not come to their end. Counts the
 * blocks that the last visit leaves: what a task or an object keeps for itself was there before.
 * For an object with fini, also those that are there after it. */
static bool tour_once(struct tour *tour, struct bz_plugin_memory *memory) {
    struct bz_mem *mem = bz_loop_mem(tour->loop);
    struct guest guests[GUESTS];
    uint64_t blocks_first = bz_mem_live_blocks(mem);
    uint64_t blocks_before;
    uint64_t heap_before = heap_bytes();
    if (init(tour) != BZ_OK) {
        return false;
    }
    look_at_heap(tour, heap_before);
    if (!bz_plugin_memory_has_tour(tour->primitive)) {
        return false;
    }
    for (uint32_t number = 0; number < GUESTS; number++) {
        guests[number] = (struct guest){.tour = tour, .number = number};
        guests[number].task = bz_lack_check(
            bz_task_spawn(tour->loop, "guest", number + 1, come, &guests[number]), "a task");
    }
    for (uint32_t visit = 1; visit < VISITS; visit++) {
        if (!let_guests_in(guests)) {
            return false;
        }
    }
    blocks_before = bz_mem_live_blocks(mem);
    if (!let_guests_in(guests)) {
        return false;
    }
    memory->blocks_left = bz_mem_live_blocks(mem) - blocks_before;
    if (bz_loop_run(tour->loop) != BZ_OK) {
        return false;
    }
    for (uint32_t number = 0; number < GUESTS; number++) {
        bz_task_free(guests[number].task);
    }
    if (tour->primitive < BZ_PERMIT_PRIMITIVES &&
        tour->variant->permits[tour->primitive]->fini != NULL) {
        memory->is_in_fini = true;
        tour->variant->permits[tour->primitive]->fini(tour->instance);
        memory->is_in_fini = false;
        memory->blocks_after_fini = bz_mem_live_blocks(mem) - blocks_first;
    }
    return true;
}

/* Twice: what the first time takes from malloc() for good is no state of an object. */
static void measure_tour(void *context) {
    struct measurement *measured = context;
    struct bz_plugin_memory *memory = &measured->memory;
    for (uint32_t time = 0; time < 2 && measured->primitive != BZ_PRIMITIVE_SCOPE; time++) {
        struct tour tour = {.variant = measured->variant, .primitive = measured->primitive};
        tour.loop = bz_lack_check(bz_loop_new(NULL), "a loop");
        bz_exceptions_find(tour.loop, tour.variant);
        size_t bytes = *(const size_t *)bz_variant_table(tour.variant, tour.primitive);
        tour.instance = bz_lack_check(bz_mem_alloc(bz_loop_mem(tour.loop), bytes), "an object");
        memory->is_finished = tour_once(&tour, memory);
        memory->heap_held_bytes = tour.heap_held_bytes;
    }
}

/* --- from outside ----------------------------------------------------------------------------- */

/* False if something ran out. */
static bool measure(struct measurement *measured, void (*run)(void *context), char *lack) {
    struct bz_contain contain = bz_cli_catalog.contain;
    struct bz_death death;
    contain.step_ns = CHILD_NS;
    contain.stop = &bz_interrupt_requested;
    enum bz_child_state state = bz_contain_call(&contain, NULL, run, measured, &death);
    if (state == BZ_CHILD_LACKS) {
        snprintf(lack, BZ_LACK_BYTES, "%s", death.how);
    } else if (state == BZ_CHILD_DIED && measured->memory.is_in_fini) {
        memcpy(measured->memory.fini_death, death.how, sizeof death.how);
    }
    return state != BZ_CHILD_LACKS;
}

bool bz_plugin_memory_measure(struct bz_plugin_memory *memory, const struct bz_variant *variant,
                              enum bz_primitive primitive, char *lack) {
    struct measurement *shared =
        bz_lack_check(bz_shared_alloc(sizeof *shared), "a page for a child process");
    shared->variant = variant;
    shared->primitive = primitive;
    bool is_ok = measure(shared, measure_runs, lack) && measure(shared, measure_tour, lack);
    *memory = shared->memory;
    bz_shared_free(shared, sizeof *shared);
    return is_ok;
}
