/* What the files of this folder share. Not installed. */
#ifndef BZ_LIVE_INTERNAL_H
#define BZ_LIVE_INTERNAL_H

#include "scenarios/live/live.h"

struct bz_announced;

/* A program that is repeated, in the memory of its loop. */
struct bz_live {
    struct bz_world *world;
    struct bz_uv *driver;
    struct bz_world_outside outside;
    bool looks_inside;            /* see bz_live_look_inside() */
    struct bz_announced *objects; /* a hash table by address, whose order decides nothing */
    uint32_t object_count;
    uint32_t object_capacity; /* a power of two; 0: no table yet */
};

/* The program whose run this thread makes; NULL: none, and nothing is announced. */
extern _Thread_local struct bz_live *bz_live_current;

#endif
