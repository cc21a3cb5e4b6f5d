#include "sim/variant/variant.h"

const char *bz_primitive_name(enum bz_primitive primitive) {
    static const char *const names[BZ_PRIMITIVE_COUNT] = {"semaphore", "bounded", "lock"};
    return (unsigned)primitive < BZ_PRIMITIVE_COUNT ? names[primitive] : NULL;
}
