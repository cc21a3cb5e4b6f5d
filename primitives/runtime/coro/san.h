/* Notices to the sanitizers about memory and stacks that they do not manage themselves.
 *
 * Without a sanitizer these calls do nothing. Their order around a switch is QEMU's
 * (util/coroutine-ucontext.c): start on the old stack right before the switch, finish on the new
 * one right after it, and a NULL save slot when the old side ends. ThreadSanitizer keeps a call
 * stack for each fiber; without notice of every switch that stack overflows.
 */
#ifndef BZ_RUNTIME_CORO_SAN_H
#define BZ_RUNTIME_CORO_SAN_H

#ifndef __has_feature
#define __has_feature(feature) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define BZ_SAN_ADDRESS 1
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define bz_san_poison(start, bytes) __asan_poison_memory_region(start, bytes)
#define bz_san_unpoison(start, bytes) __asan_unpoison_memory_region(start, bytes)
#define bz_san_start_switch(save, bottom, bytes) __sanitizer_start_switch_fiber(save, bottom, bytes)
#define bz_san_finish_switch(saved, from_bottom, from_bytes)                                       \
    __sanitizer_finish_switch_fiber(saved, from_bottom, from_bytes)
#else
#define BZ_SAN_ADDRESS 0
#define bz_san_poison(start, bytes) ((void)(start), (void)(bytes))
#define bz_san_unpoison(start, bytes) ((void)(start), (void)(bytes))
#define bz_san_start_switch(save, bottom, bytes) ((void)(save), (void)(bottom), (void)(bytes))
#define bz_san_finish_switch(saved, from_bottom, from_bytes)                                       \
    ((void)(saved), (void)(from_bottom), (void)(from_bytes))
#endif

#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define BZ_SAN_THREAD 1
#include <sanitizer/tsan_interface.h>
#define bz_san_free_fiber(fiber) ((fiber) != NULL ? __tsan_destroy_fiber(fiber) : (void)0)
#define bz_san_switch_fiber(from, to)                                                              \
    ((from)->fiber = __tsan_get_current_fiber(), __tsan_switch_to_fiber((to)->fiber, 0))
#else
#define BZ_SAN_THREAD 0
#define bz_san_free_fiber(fiber) ((void)(fiber))
#define bz_san_switch_fiber(from, to) ((void)(from), (void)(to))
#endif

#endif
