#include "sim/choice/tests/pcg_reference.h"

#include <pcg_random.hpp>

extern "C" void pcg_reference(uint64_t seed, uint64_t stream, uint32_t *outputs, size_t count) {
    pcg32 generator(seed, stream);
    for (size_t index = 0; index < count; index++) {
        outputs[index] = generator();
    }
}
