/* A state of a specification, unpacked and packed.
 *
 *     clients   3 bits of status each, in three bit planes: bit c of plane p is bit p of the status
 *               of client c
 *     queue     clients in order of arrival, 4 bits each, the oldest in the lowest
 *     length    of the queue
 *     level     free permits, promised ones included; -1 is possible in a faulty specification
 *
 * In words: planes 3 x 16 | level 8 | length 8 ; queue 64
 */
#pragma once

#include <stdbool.h>

#include "sim/spec/spec.h"

struct bz_packed {
    uint64_t queue;
    uint32_t plane[3];
    uint32_t length;
    int32_t level;
};

static inline struct bz_packed bz_packed_load(struct bz_spec_state state) {
    uint64_t word = state.word[0];
    return (struct bz_packed){
        .queue = state.word[1],
        .plane = {word & 0xffffu, (word >> 16u) & 0xffffu, (word >> 32u) & 0xffffu},
        .level = (int32_t)(((word >> 48u) + 1) & 0xffu) - 1,
        .length = (uint32_t)(word >> 56u)};
}

static inline struct bz_spec_state bz_packed_store(const struct bz_packed *from) {
    uint64_t level = (uint32_t)from->level;
    return (struct bz_spec_state){
        .word = {(uint64_t)from->plane[0] | (uint64_t)from->plane[1] << 16u |
                     (uint64_t)from->plane[2] << 32u | (level & 0xffu) << 48u |
                     (uint64_t)from->length << 56u,
                 from->queue}};
}

/* The clients of this status, as bits. */
static inline uint32_t bz_packed_of_status(const struct bz_packed *state, uint32_t status,
                                           uint32_t clients) {
    uint32_t bit_0 = (status & 1u) != 0 ? state->plane[0] : ~state->plane[0];
    uint32_t bit_1 = (status & 2u) != 0 ? state->plane[1] : ~state->plane[1];
    uint32_t bit_2 = (status & 4u) != 0 ? state->plane[2] : ~state->plane[2];
    return bit_0 & bit_1 & bit_2 & ((1u << clients) - 1u);
}

static inline uint32_t bz_packed_status(const struct bz_packed *state, uint32_t client) {
    return (state->plane[0] >> client & 1u) | (state->plane[1] >> client & 1u) << 1u |
           (state->plane[2] >> client & 1u) << 2u;
}

static inline void bz_packed_set_status(struct bz_packed *state, uint32_t client, uint32_t status) {
    uint32_t others = ~(1u << client);
    state->plane[0] = (state->plane[0] & others) | (status & 1u) << client;
    state->plane[1] = (state->plane[1] & others) | (status >> 1u & 1u) << client;
    state->plane[2] = (state->plane[2] & others) | (status >> 2u & 1u) << client;
}

static inline uint32_t bz_packed_at(const struct bz_packed *state, uint32_t position) {
    return state->queue >> (4u * position) & 0xfu;
}

/* False if the queue is full: then a faulty specification has queued a client twice. */
static inline bool bz_packed_append(struct bz_packed *state, uint32_t client, uint32_t clients) {
    if (state->length == clients) {
        return false;
    }
    state->queue |= (uint64_t)client << (4u * state->length++);
    return true;
}

/* Takes the client out of the queue, if it is in it. */
static inline void bz_packed_leave(struct bz_packed *state, uint32_t client) {
    for (uint32_t position = 0; position < state->length; position++) {
        if (bz_packed_at(state, position) == client) {
            uint64_t older = (UINT64_C(1) << (4u * position)) - 1u;
            state->queue = (state->queue & older) | (state->queue >> 4u & ~older);
            state->length--;
            return;
        }
    }
}
