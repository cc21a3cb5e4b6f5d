/* Beside small.c, as a header of a user is. */
#ifndef SMALL_H
#define SMALL_H

#include "sim/variant/plugin.h"

struct small {
    struct bz_future future;
    struct bz_list link;
};

#endif
