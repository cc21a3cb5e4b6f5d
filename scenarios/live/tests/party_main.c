/* live-party MODE: see party.h. Exit status 0: everybody left; 1: not; 9: it crashed. */
#include <stdlib.h>

#include "scenarios/live/tests/party.h"

int main(int argc, char **argv) {
    uv_loop_t uv;
    struct bz_uv *driver;
    struct bz_loop *loop = bz_loop_new(NULL);
    struct party party = {.tips = 0};
    BZ_CHECK(argc == 2 && loop != NULL && uv_loop_init(&uv) == 0);
    enum party_mode mode = (enum party_mode)atoi(argv[1]);
    BZ_CHECK(bz_uv_new(&driver, loop, &uv, NULL) == 0);
    party_start(&party, driver, mode);
    bool is_over = bz_uv_run(driver) == BZ_OK && party.guests_left == GUESTS;
    if (mode == PARTY_GOES_ON) {
        struct party again = {.tips = 0};
        party_start(&again, driver, mode);
        is_over &= bz_uv_run(driver) == BZ_OK && again.guests_left == GUESTS;
    }
    _Exit(is_over ? 0 : 1); /* tasks may remain */
}
