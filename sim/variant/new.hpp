/* For C++ code whose containers and objects come from `new`: as malloc.h, for C++. Include it in
 * one file of the plug-in. From there on the operators new and delete of the whole plug-in are
 * those of this header, and those that libstdc++ calls for it. Functions that call code which may
 * allocate begin with bz_malloc_from(loop), as in malloc.h.
 *
 * What is allocated before the first bz_malloc_from(), by static objects, comes from malloc().
 * std::bad_alloc is thrown where the arena refuses memory. Types aligned to more than 16 bytes keep
 * the operators of libstdc++. */
#ifndef BZ_SIM_VARIANT_NEW_HPP
#define BZ_SIM_VARIANT_NEW_HPP

#include <cstddef>
#include <cstdlib>
#include <new>

#include "sim/variant/malloc.h"

#undef malloc
#undef calloc
#undef realloc
#undef free

void *operator new(std::size_t bytes) {
    void *block;
    if (bz_malloc_mem != nullptr) {
        block = bz_malloc(bytes);
    } else {
        /* a head without an arena */
        void *head = std::calloc(1, sizeof(bz_malloc_head) + bytes);
        block = head == nullptr ? nullptr : static_cast<bz_malloc_head *>(head) + 1;
    }
    if (block == nullptr) {
        throw std::bad_alloc();
    }
    return block;
}

void operator delete(void *block) noexcept {
    bz_malloc_head *head = static_cast<bz_malloc_head *>(block) - 1;
    if (block != nullptr && head->of.mem == nullptr) {
        std::free(head);
    } else {
        bz_malloc_free(block);
    }
}

void operator delete(void *block, std::size_t) noexcept {
    operator delete(block);
}

#endif
