#include "primitives/runtime/check.h"

#include <stdio.h>
#include <stdlib.h>

void bz_check_failed(const char *condition, const char *file, int line) {
    fprintf(stderr, "buzzer: internal error: '%s' does not hold at %s:%d\n", condition, file, line);
    abort();
}

void bz_contract_broken(const char *text) {
    fprintf(stderr, "buzzer: the adapter breaks the contract: %s\n", text);
    abort();
}
