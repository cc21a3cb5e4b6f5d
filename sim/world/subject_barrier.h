/* A subject that is a barrier; see subject.h.
 *
 * Judged: no index is handed out more often than rounds can have passed, and nobody passes before
 * enough have come (`barrier-round`, gh-155233); nobody waits when enough are there
 * (`lost-wakeup`). Who is cancelled before anything woke it is not one of a round. Who is cancelled
 * later may have been one: nobody can tell from outside, so its round is taken as possible. The
 * same goes for whoever was inside when the barrier was broken or reset, some of which may pass.
 */
#ifndef BZ_SIM_WORLD_SUBJECT_BARRIER_H
#define BZ_SIM_WORLD_SUBJECT_BARRIER_H

#include "sim/world/subject.h"

#define BZ_BARRIER_PARTIES_MAX 64u

struct bz_barrier_subject {
    struct bz_world *world;
    const struct bz_barrier_ops *ops;
    void *instance;
    uint32_t object;
    uint32_t parties;
    uint32_t breaks;  /* aborts and resets so far */
    uint64_t arrived; /* since the last of them, with those who were inside then; less those who are
                         of no round */
    uint64_t passed;  /* of those who came since then, with BZ_OK */
    uint64_t given[BZ_BARRIER_PARTIES_MAX]; /* how often they got each index */
};

/* 1 to BZ_BARRIER_PARTIES_MAX parties. */
enum bz_status bz_barrier_subject_init(struct bz_barrier_subject *subject, struct bz_world *world,
                                       const char *name, uint32_t parties) BZ_MUST_USE;

/* BZ_OK, BZ_CANCELLED, or BZ_BROKEN. From tasks only. */
enum bz_status bz_barrier_subject_wait(struct bz_barrier_subject *subject,
                                       uint32_t *index) BZ_MUST_USE;

/* False: the variant does not offer it. Afterwards rounds are counted anew. */
bool bz_barrier_subject_abort(struct bz_barrier_subject *subject);
bool bz_barrier_subject_reset(struct bz_barrier_subject *subject);

#endif
