#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dl_iterate_phdr() */
#endif
#include "sim/frames/module.h"

#ifdef __x86_64__

#include <elf.h>
#include <link.h>
#include <string.h>

/* Encodings of pointers in the tables. */
#define PC_RELATIVE_32 0x1b   /* DW_EH_PE_pcrel | DW_EH_PE_sdata4 */
#define DATA_RELATIVE_32 0x3b /* DW_EH_PE_datarel | DW_EH_PE_sdata4 */
#define UNSIGNED_32 0x03      /* DW_EH_PE_udata4 */

struct lookup {
    uintptr_t address;
    struct bz_code_range *range;
    bool is_found;
};

static uint32_t word_at(const unsigned char *at) {
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static uintptr_t relative_at(uintptr_t base, const unsigned char *at) {
    return base + (uintptr_t)(intptr_t)(int32_t)word_at(at);
}

/* --- one entry of the tables ------------------------------------------------------------------ */

/* Whether the entry's common part has no personality and no landing pads, and pointers as they are
 * read here: the augmentation is "zR". */
static bool is_plain_entry(const unsigned char *entry) {
    const unsigned char *common = entry + 4 - word_at(entry + 4);
    const unsigned char *next = common + 9 + sizeof "zR"; /* length, id, version, augmentation */
    if (word_at(common + 4) != 0 || memcmp(common + 9, "zR", sizeof "zR") != 0) {
        return false;
    }
    for (int left = 4; left > 0;
         left--) { /* numbers of any length: two alignments, register, length */
        while ((*next++ & 0x80u) != 0) {
        }
    }
    return *next == PC_RELATIVE_32;
}

/* A number of any length (LEB128), unsigned. */
static uint32_t number_at(const unsigned char **next) {
    uint32_t number = 0;
    unsigned shift = 0;
    do {
        number |= shift < 32 ? (uint32_t)(**next & 0x7fu) << shift : 0;
        shift += 7;
    } while ((*(*next)++ & 0x80u) != 0);
    return number;
}

/* The depth of the frame at the start, as the entry's first rules say, which are those before the
 * first step of the location. */
static uint32_t depth_of(const unsigned char *entry) {
    const unsigned char *common = entry + 4 - word_at(entry + 4);
    const unsigned char *end = entry + 4 + word_at(entry);
    const unsigned char *next = entry + 16;
    if (common[9] != 'z') { /* no length of what lies before the rules */
        return 0;
    }
    uint32_t augmentation = number_at(&next);
    uint32_t depth = 8;
    for (next += augmentation; next < end;) {
        unsigned char rule = *next++;
        if (rule == 0x0c && *next == 7) { /* DW_CFA_def_cfa: from the stack pointer */
            next++;
            depth = number_at(&next);
        } else if (rule == 0x0e) { /* DW_CFA_def_cfa_offset */
            depth = number_at(&next);
        } else if ((rule & 0xc0u) == 0x80u) { /* DW_CFA_offset: where a register is saved */
            (void)number_at(&next);
        } else if (rule == 0x00 || (rule >= 0x02 && rule <= 0x04) || (rule & 0xc0u) == 0x40u) {
            return depth; /* DW_CFA_nop, DW_CFA_advance_loc */
        } else {
            return 0;
        }
    }
    return depth;
}

static bool read_entry(const unsigned char *entry, uintptr_t start, struct lookup *lookup) {
    uintptr_t length = word_at(entry + 12); /* behind its own length, the common part, the start */
    if (length == 0 || relative_at((uintptr_t)entry + 8, entry + 8) != start ||
        lookup->address - start >= length) {
        return false; /* encoded in another way, or behind the function */
    }
    *lookup->range = (struct bz_code_range){.start = start,
                                            .end = start + length,
                                            .depth = depth_of(entry),
                                            .is_plain = is_plain_entry(entry)};
    return true;
}

/* The table is sorted by address. */
static bool search_table(const unsigned char *header, struct lookup *lookup) {
    const unsigned char *table = header + 12;
    if (header[0] != 1 || header[1] != PC_RELATIVE_32 || header[2] != UNSIGNED_32 ||
        header[3] != DATA_RELATIVE_32) {
        return false;
    }
    size_t low = 0;
    size_t high = word_at(header + 8);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (relative_at((uintptr_t)header, table + 8 * middle) <= lookup->address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == 0) {
        return false;
    }
    const unsigned char *found = table + 8 * (low - 1);
    uintptr_t start = relative_at((uintptr_t)header, found);
    const unsigned char *entry = (const unsigned char *)relative_at((uintptr_t)header, found + 4);
    return read_entry(entry, start, lookup);
}

/* --- setjmp ----------------------------------------------------------------------------------- */

struct dynamic {
    const ElfW(Sym) * symbols;
    const char *names;
    const ElfW(Rela) * relocations[2];
    size_t counts[2];
    bool needs_others; /* other object files */
};

/* The C library has made these addresses of most of them, and offsets of some. */
static const void *pointer(const struct dl_phdr_info *info, ElfW(Addr) value) {
    return (const void *)(value < info->dlpi_addr ? info->dlpi_addr + value : value);
}

static struct dynamic read_dynamic(const struct dl_phdr_info *info, const ElfW(Dyn) * entry) {
    struct dynamic dynamic = {.symbols = NULL};
    for (; entry->d_tag != DT_NULL; entry++) {
        switch (entry->d_tag) {
        case DT_SYMTAB:
            dynamic.symbols = pointer(info, entry->d_un.d_ptr);
            break;
        case DT_STRTAB:
            dynamic.names = pointer(info, entry->d_un.d_ptr);
            break;
        case DT_RELA:
            dynamic.relocations[0] = pointer(info, entry->d_un.d_ptr);
            break;
        case DT_RELASZ:
            dynamic.counts[0] = entry->d_un.d_val / sizeof(ElfW(Rela));
            break;
        case DT_JMPREL:
            dynamic.relocations[1] = pointer(info, entry->d_un.d_ptr);
            break;
        case DT_PLTRELSZ:
            dynamic.counts[1] = entry->d_un.d_val / sizeof(ElfW(Rela));
            break;
        case DT_NEEDED:
            dynamic.needs_others = true;
            break;
        default:
            break;
        }
    }
    return dynamic;
}

static bool is_setjmp(const char *name) {
    return strcmp(name, "setjmp") == 0 || strcmp(name, "_setjmp") == 0 ||
           strcmp(name, "sigsetjmp") == 0 || strcmp(name, "__sigsetjmp") == 0 ||
           strcmp(name, "getcontext") == 0;
}

/* A function that calls setjmp() goes on from there again, which its code does not show. A program
 * that is linked statically has a setjmp() of its own, which nothing shows. */
static bool calls_setjmp(const struct dl_phdr_info *info, const ElfW(Dyn) * entries) {
    struct dynamic dynamic = read_dynamic(info, entries);
    if (dynamic.symbols == NULL || dynamic.names == NULL || !dynamic.needs_others) {
        return true;
    }
    for (int table = 0; table < 2; table++) {
        for (size_t index = 0; index < dynamic.counts[table]; index++) {
            size_t symbol = ELF64_R_SYM(dynamic.relocations[table][index].r_info);
            if (symbol != 0 && is_setjmp(dynamic.names + dynamic.symbols[symbol].st_name)) {
                return true;
            }
        }
    }
    return false;
}

/* --- object files ----------------------------------------------------------------------------- */

static bool has_address(const struct dl_phdr_info *info, uintptr_t address) {
    for (size_t index = 0; index < info->dlpi_phnum; index++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[index];
        if (part->p_type == PT_LOAD && (part->p_flags & PF_X) != 0 &&
            address - (info->dlpi_addr + part->p_vaddr) < part->p_memsz) {
            return true;
        }
    }
    return false;
}

/* 1: this was the object file with the address. */
static int look_into(struct dl_phdr_info *info, size_t size, void *context) {
    struct lookup *lookup = context;
    const ElfW(Dyn) *dynamic = NULL;
    (void)size;
    if (!has_address(info, lookup->address)) {
        return 0;
    }
    for (size_t index = 0; index < info->dlpi_phnum; index++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[index];
        const void *at = (const void *)(info->dlpi_addr + part->p_vaddr);
        if (part->p_type == PT_GNU_EH_FRAME) {
            lookup->is_found = search_table(at, lookup);
        } else if (part->p_type == PT_DYNAMIC) {
            dynamic = at;
        }
    }
    if (lookup->is_found && (dynamic == NULL || calls_setjmp(info, dynamic))) {
        lookup->range->is_plain = false;
    }
    return 1;
}

bool bz_code_range_find(uintptr_t address, struct bz_code_range *range) {
    struct lookup lookup = {.address = address, .range = range};
    (void)dl_iterate_phdr(look_into, &lookup);
    return lookup.is_found;
}

#else

bool bz_code_range_find(uintptr_t address, struct bz_code_range *range) {
    (void)address;
    (void)range;
    return false;
}

#endif
