/* The library for tests with the simulator: it is there, its headers are, and they fit together. */
#include <string.h>

#include "sim/variant/variant.h"

int main(void) {
    const char *name = bz_primitive_name(BZ_PRIMITIVE_SEMAPHORE);
    return name != NULL && strcmp(name, "semaphore") == 0 ? 0 : 1;
}
