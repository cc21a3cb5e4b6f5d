/* What the sanitizers must be told about memory and stacks that they do not manage themselves.
 *
 * Without a sanitizer every function here is empty. The order of calls around a switch is
 * QEMU's discipline (util/coroutine-ucontext.c): start on the old stack right before the switch,
 * finish on the new one right after landing, and a NULL save slot when the old stack dies.
 * ThreadSanitizer keeps a stack of calls of its own for each fiber; without being told of switches
 * it would pile up the calls of abandoned tasks until it ran out of room.
 */
#ifndef BZ_RUNTIME_CORO_SAN_H
#define BZ_RUNTIME_CORO_SAN_H

#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__)
#define BZ_SAN_ADDRESS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BZ_SAN_ADDRESS 1
#endif
#endif
#ifndef BZ_SAN_ADDRESS
#define BZ_SAN_ADDRESS 0
#endif

#if defined(__SANITIZE_THREAD__)
#define BZ_SAN_THREAD 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define BZ_SAN_THREAD 1
#endif
#endif
#ifndef BZ_SAN_THREAD
#define BZ_SAN_THREAD 0
#endif

#if BZ_SAN_THREAD
#include <sanitizer/tsan_interface.h>
#endif

#if BZ_SAN_ADDRESS
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

static inline void bz_san_poison(void *start, size_t size_bytes) {
#if BZ_SAN_ADDRESS
    __asan_poison_memory_region(start, size_bytes);
#else
    (void)start;
    (void)size_bytes;
#endif
}

static inline void bz_san_unpoison(void *start, size_t size_bytes) {
#if BZ_SAN_ADDRESS
    __asan_unpoison_memory_region(start, size_bytes);
#else
    (void)start;
    (void)size_bytes;
#endif
}

/* Frees a fiber, and gives a new one to who is about to start where the old one ended or was
 * abandoned. */
static inline void bz_san_free_fiber(void **fiber) {
#if BZ_SAN_THREAD
    if (*fiber != NULL) {
        __tsan_destroy_fiber(*fiber);
    }
#endif
    *fiber = NULL;
}

static inline void bz_san_new_fiber(void **fiber) {
    bz_san_free_fiber(fiber);
#if BZ_SAN_THREAD
    *fiber = __tsan_create_fiber(0);
#endif
}

/* Right before a switch: remembers the running fiber in `from` and makes `to` the running one. */
static inline __attribute__((always_inline)) void bz_san_switch_fiber(void **from, void *to) {
#if BZ_SAN_THREAD
    *from = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(to, 0);
#else
    (void)from;
    (void)to;
#endif
}

/* `save` keeps the fake stack of the side that is left; NULL frees it, because that side is over.*/
static inline __attribute__((always_inline)) void
bz_san_start_switch(void **save, const void *bottom, size_t size_bytes) {
#if BZ_SAN_ADDRESS
    __sanitizer_start_switch_fiber(save, bottom, size_bytes);
#else
    (void)save;
    (void)bottom;
    (void)size_bytes;
#endif
}

/* `saved` is what start stored when this side was left; `from_*` receive the stack we came from.*/
static inline __attribute__((always_inline)) void
bz_san_finish_switch(void *saved, const void **from_bottom, size_t *from_size_bytes) {
#if BZ_SAN_ADDRESS
    __sanitizer_finish_switch_fiber(saved, from_bottom, from_size_bytes);
#else
    (void)saved;
    (void)from_bottom;
    (void)from_size_bytes;
#endif
}

#endif
