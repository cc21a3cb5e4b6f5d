/* An independent PCG32: the generator's own author's, in C++ (libpcg-cpp-dev). */
#ifndef BZ_SIM_CHOICE_TESTS_PCG_REFERENCE_H
#define BZ_SIM_CHOICE_TESTS_PCG_REFERENCE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the first `count` outputs of stream `stream` from `seed`. */
void pcg_reference(uint64_t seed, uint64_t stream, uint32_t *outputs, size_t count);

#ifdef __cplusplus
}
#endif

#endif
