/* For C++ code whose containers and objects come from `new`: as malloc.h, for C++. Include it in
 * one file of the plug-in. From there on the operators new and delete of the whole plug-in are
 * those of this header, and those that libstdc++ calls for it. Functions that call code which may
 * allocate begin with bz_malloc_from(loop), as in malloc.h. The same goes for exceptions that are
 * thrown: a task that waits in a catch block has one.
 *
 * Memory allocated before the first bz_malloc_from(), by static objects, comes from malloc().
 * std::bad_alloc is thrown where the arena refuses memory. Types aligned to more than 16 bytes keep
 * the operators of libstdc++. */
#ifndef BZ_SIM_VARIANT_NEW_HPP
#define BZ_SIM_VARIANT_NEW_HPP

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

#include "sim/variant/malloc.h"

#undef malloc
#undef calloc
#undef realloc
#undef free

/* Private: a block without an arena. NULL without memory. */
inline void *bz_new_outside(std::size_t bytes) noexcept {
    void *head = std::calloc(1, sizeof(bz_malloc_head) + bytes);
    return head == nullptr ? nullptr : static_cast<bz_malloc_head *>(head) + 1;
}

void *operator new(std::size_t bytes) {
    void *block = bz_malloc_mem != nullptr ? bz_malloc(bytes) : bz_new_outside(bytes);
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

/* Private: exceptions, in the place of these functions of the Itanium C++ ABI. The C++ runtime
 * keeps what it knows of an exception below the object, in zeroed memory of less than this. */
constexpr std::size_t bz_exception_head_bytes = 256;

/* Private. bad_alloc is thrown where the arena refuses memory. */
inline char *bz_new_exception(std::size_t bytes) noexcept {
    std::size_t all = bz_exception_head_bytes + bytes;
    void *block = bz_malloc_mem != nullptr ? bz_malloc(all) : nullptr;
    block = block == nullptr ? bz_new_outside(all) : block;
    BZ_CHECK(block != nullptr);
    return static_cast<char *>(std::memset(block, 0, all));
}

extern "C" __attribute__((__visibility__("default"))) bz_mem **bz_exceptions_mem() noexcept {
    return &bz_malloc_mem;
}

/* Some headers declare functions of these names, each with types of its own. */
void *bz_allocate_exception(std::size_t bytes) noexcept __asm__("__cxa_allocate_exception");
void bz_free_exception(void *object) noexcept __asm__("__cxa_free_exception");
void *bz_allocate_dependent() noexcept __asm__("__cxa_allocate_dependent_exception");
void bz_free_dependent(void *head) noexcept __asm__("__cxa_free_dependent_exception");

void *bz_allocate_exception(std::size_t bytes) noexcept {
    return bz_new_exception(bytes) + bz_exception_head_bytes;
}

void bz_free_exception(void *object) noexcept {
    operator delete(static_cast<char *>(object) - bz_exception_head_bytes);
}

/* Of std::rethrow_exception(): a head alone. */
void *bz_allocate_dependent() noexcept {
    return bz_new_exception(0);
}

void bz_free_dependent(void *head) noexcept {
    operator delete(head);
}

#endif
