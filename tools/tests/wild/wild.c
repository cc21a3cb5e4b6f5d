#include "tools/tests/wild/wild.h"

#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "sim/variant/malloc.h" /* its blocks; the functions of that name here are the C library's */
#undef malloc
#undef calloc
#undef realloc
#undef free

#define LIBRARIES 8u

/* The static variables of the libraries, and their content after loading. */
static struct {
    unsigned char *at, *loaded;
    size_t bytes;
} statics[LIBRARIES];
static unsigned libraries;
static struct wild *inside;

struct wild *wild_inside(void) {
    return inside;
}

/* --- what every library calls ------------------------------------------------------------------
 */

/* A block of the C library has the end of its neighbour there, which is no arena. */
static bool is_caged(const void *block) {
    return inside != NULL && block != NULL &&
           ((const union bz_malloc_head *)block - 1)->of.mem == bz_loop_mem(inside->loop);
}
static void *caged_malloc(size_t bytes) {
    return inside == NULL ? malloc(bytes) : bz_malloc(bytes);
}
static void *caged_calloc(size_t count, size_t bytes) {
    return inside == NULL ? calloc(count, bytes) : bz_malloc_array(count, bytes);
}
static void *caged_realloc(void *block, size_t bytes) {
    return inside != NULL && (block == NULL || is_caged(block)) ? bz_malloc_again(block, bytes)
                                                                : realloc(block, bytes);
}
static void caged_free(void *block) {
    if (is_caged(block)) {
        bz_malloc_free(block);
    } else {
        free(block);
    }
}
static int caged_clock(clockid_t clock, struct timespec *now) {
    if (inside == NULL) {
        return clock_gettime(clock, now);
    }
    uint64_t ns = bz_loop_now_ns(inside->loop);
    *now =
        (struct timespec){.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
    return 0;
}
static int caged_timeofday(struct timeval *now, void *zone) {
    struct timespec exact;
    (void)zone;
    (void)caged_clock(CLOCK_REALTIME, &exact);
    *now = (struct timeval){.tv_sec = exact.tv_sec, .tv_usec = exact.tv_nsec / 1000};
    return 0;
}
static time_t caged_time(time_t *now) {
    struct timespec exact;
    (void)caged_clock(CLOCK_REALTIME, &exact);
    return now == NULL ? exact.tv_sec : (*now = exact.tv_sec);
}
static void *caged_getspecific(pthread_key_t key) {
    return inside == NULL || key >= WILD_KEYS ? pthread_getspecific(key) : inside->specific[key];
}
static int caged_setspecific(pthread_key_t key, const void *value) {
    if (inside == NULL || key >= WILD_KEYS) {
        return pthread_setspecific(key, value);
    }
    inside->specific[key] = (void *)value;
    return 0;
}

static const struct wild_hook common[] = {{"malloc", caged_malloc},
                                          {"calloc", caged_calloc},
                                          {"realloc", caged_realloc},
                                          {"free", caged_free},
                                          {"clock_gettime", caged_clock},
                                          {"gettimeofday", caged_timeofday},
                                          {"time", caged_time},
                                          {"pthread_getspecific", caged_getspecific},
                                          {"pthread_setspecific", caged_setspecific},
                                          {NULL, NULL}};

/* --- a library is loaded -----------------------------------------------------------------------
 */

struct wanted {
    const char *name;
    const struct wild_hook *hooks;
    bool is_found;
};

static void hook(void **place, const char *name, const struct wild_hook *hooks) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (; hooks->name != NULL; hooks++) {
        if (strcmp(name, hooks->name) == 0) {
            (void)mprotect((void *)((uintptr_t)place & ~(page - 1)), page, PROT_READ | PROT_WRITE);
            *place = hooks->function;
        }
    }
}

/* Every relocation with the name of a hook is a place from which the library calls it. */
static void hook_all(const struct dl_phdr_info *info, const ElfW(Dyn) * entry,
                     const struct wild_hook *hooks) {
    uintptr_t of[DT_NUM] = {0};
    for (; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag < DT_NUM) {
            of[entry->d_tag] = entry->d_un.d_ptr;
        }
    }
    const ElfW(Sym) *symbols = (const ElfW(Sym) *)of[DT_SYMTAB];
    const uintptr_t tables[][2] = {{of[DT_RELA], of[DT_RELASZ]}, {of[DT_JMPREL], of[DT_PLTRELSZ]}};
    for (unsigned table = 0; table < 2; table++) {
        const ElfW(Rela) *each = (const ElfW(Rela) *)tables[table][0];
        for (size_t left = tables[table][1] / sizeof *each; left > 0; left--, each++) {
            size_t symbol = each->r_info >> (sizeof each->r_info == 8 ? 32 : 8);
            const char *name = (const char *)of[DT_STRTAB] + symbols[symbol].st_name;
            hook((void **)(info->dlpi_addr + each->r_offset), name, common);
            hook((void **)(info->dlpi_addr + each->r_offset), name, hooks);
        }
    }
}

static int load(struct dl_phdr_info *info, size_t bytes, void *arg) {
    struct wanted *wanted = arg;
    const char *file = strrchr(info->dlpi_name, '/');
    uintptr_t first = 0, last = 0, constants = 0;
    (void)bytes;
    if (file == NULL || strncmp(file + 1, wanted->name, strlen(wanted->name)) != 0) {
        return 0;
    }
    for (const ElfW(Phdr) *part = info->dlpi_phdr; part < info->dlpi_phdr + info->dlpi_phnum;
         part++) {
        uintptr_t begin = info->dlpi_addr + part->p_vaddr, end = begin + part->p_memsz;
        if (part->p_type == PT_DYNAMIC) {
            hook_all(info, (const ElfW(Dyn) *)begin, wanted->hooks);
        } else if (part->p_type == PT_GNU_RELRO) {
            constants = end;
        } else if (part->p_type == PT_LOAD && (part->p_flags & PF_W) != 0) {
            first = begin;
            last = end;
        }
    }
    first = constants > first ? constants : first;
    statics[libraries].at = (unsigned char *)first;
    statics[libraries].bytes = last - first;
    wanted->is_found = true;
    return 1;
}

void wild_library(const char *name, const struct wild_hook *hooks) {
    struct wanted wanted = {name, hooks != NULL ? hooks : common, false};
    BZ_CHECK(libraries < LIBRARIES);
    (void)dl_iterate_phdr(load, &wanted);
    BZ_CHECK(wanted.is_found); /* the plug-in is linked with it */
    statics[libraries].loaded = malloc(statics[libraries].bytes);
    BZ_CHECK(statics[libraries].loaded != NULL);
    memcpy(statics[libraries].loaded, statics[libraries].at, statics[libraries].bytes);
    libraries++;
}

/* --- an object ---------------------------------------------------------------------------------
 */

static size_t static_bytes(void) {
    size_t sum = 0;
    for (unsigned each = 0; each < libraries; each++) {
        sum += statics[each].bytes;
    }
    return sum;
}

bool wild_begin(struct wild *cage, struct bz_loop *loop) {
    unsigned char *to = bz_mem_alloc(bz_loop_mem(loop), static_bytes());
    *cage = (struct wild){.loop = loop, .statics = to};
    for (unsigned each = 0; to != NULL && each < libraries; each++) {
        memcpy(to, statics[each].loaded, statics[each].bytes);
        to += statics[each].bytes;
    }
    return to != NULL;
}

/* The library takes the object for a thread: what it keeps for each thread ends here, too. */
void wild_end(struct wild *cage) {
    wild_enter(cage);
    for (unsigned key = 0; key < WILD_KEYS; key++) {
        caged_free(cage->specific[key]);
    }
    wild_leave(cage);
    bz_mem_free(bz_loop_mem(cage->loop), cage->statics, static_bytes());
}

static void copy(struct wild *cage, bool is_in) {
    unsigned char *own = cage->statics;
    for (unsigned each = 0; each < libraries; each++) {
        memcpy(is_in ? statics[each].at : own, is_in ? own : statics[each].at, statics[each].bytes);
        own += statics[each].bytes;
    }
}

static void change(struct wild *to) {
    if (inside != to) {
        if (inside != NULL) {
            copy(inside, false);
        }
        if (to != NULL) {
            copy(to, true);
        }
    }
    inside = to;
    if (to != NULL) {
        bz_malloc_from(to->loop);
    }
}

void wild_enter(struct wild *cage) {
    if (cage->depth++ == 0) {
        cage->outer = inside;
    }
    change(cage);
}

void wild_leave(struct wild *cage) {
    change(--cage->depth > 0 ? cage : cage->outer);
}

static void run_turn(struct bz_handle *handle) {
    struct wild *cage = bz_container_of(handle, struct wild, handle);
    cage->has_turn = false;
    wild_enter(cage);
    cage->turn(cage);
    wild_leave(cage);
}

void wild_turn_soon(struct wild *cage, void (*turn)(struct wild *cage)) {
    cage->turn = turn;
    cage->has_turn = cage->has_turn || bz_loop_call_soon(cage->loop, &cage->handle, run_turn);
}
