#include "primitives/runtime/status.h"

#include <stddef.h>

const char *bz_status_name(enum bz_status status) {
    static const char *const names[BZ_STATUS_COUNT] = {
        [BZ_OK] = "ok",
        [BZ_CANCELLED] = "cancelled",
        [BZ_TIMED_OUT] = "timed-out",
        [BZ_FAILED] = "failed",
        [BZ_NOT_HELD] = "not-held",
        [BZ_INVALID_STATE] = "invalid-state",
        [BZ_INVALID_ARGUMENT] = "invalid-argument",
        [BZ_NO_MEMORY] = "no-memory",
        [BZ_BROKEN] = "broken",
        [BZ_CLOSED] = "closed",
        [BZ_EMPTY] = "empty",
        [BZ_FULL] = "full",
    };
    return (unsigned)status < BZ_STATUS_COUNT ? names[status] : NULL;
}
