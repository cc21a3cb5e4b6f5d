/* The chunks of a campaign: what campaign.c, which makes and merges them, and workers.c, which has
 * child processes run them, have in common. Private to them. */
#pragma once

#include "sim/campaign/campaign.h"

/* A chunk has about as many steps, and at most so many runs. Its size changes no result. */
#define BZ_CHUNK_STEPS 20000u
#define BZ_CHUNK_RUNS_FIRST 16u
#define BZ_CHUNK_RUNS_MAX 512u
#define BZ_CHUNK_DRAWS_MAX (BZ_CHUNK_RUNS_MAX / BZ_SIZES_SEEDS + 2)

/* Runs of a chunk, from `first` on: all that are left, or fewer. */
struct bz_batch {
    uint64_t first; /* index of its first run */
    uint64_t count;
    uint64_t end;         /* of the chunk */
    uint32_t known_count; /* findings of the campaign when it was given */
    bool is_alone;        /* the worker's process ends after it */
    struct bz_violation known[BZ_FINDINGS_MAX];
    struct bz_profile profiles[BZ_CHUNK_DRAWS_MAX]; /* of its draws (sizes.h) */
};

/* The result of a batch. It may end early: by a new finding, and then the rest is another batch. */
struct bz_product {
    bool is_last;       /* by a violation or by the stop flag: the campaign ends here */
    bool is_unfinished; /* the sums have a part of a run that does not count */
    struct bz_campaign_result part;
    struct bz_run_mark marks[BZ_CHUNK_RUNS_MAX];
};

/* Programs with drawn parameters. Chunks come with the profiles of their draws, so that each is
 * measured once, and code that dies then does so here, contained. */
struct bz_drawing {
    struct bz_program program; /* of the last seed that draws */
    uint64_t number;           /* of its draw, plus 1; 0: none */
    struct bz_world *world;    /* that profiles are measured in; NULL: none was */
    bool is_each_alone;        /* code died, so each draw is measured in a process of its own */
    struct bz_measured_draws *measured;
    struct bz_measured_draws own;
};

struct bz_campaigning {
    const struct bz_campaign_config *config;
    struct bz_campaign_state state;
    bool is_state_last;        /* it was passed on for the last time */
    struct bz_program program; /* the config's, with its profile; of a worker: not contained */
    uint64_t next_run;         /* the first of the next chunk */
    uint64_t end_run;          /* after the last one */
    struct bz_drawing drawing;
    struct bz_world *repeats; /* where this process repeats runs; NULL: it has repeated none */
    uint64_t chunk_runs;
    uint32_t jobs;
};

/* The first lack stands. `sentence` NULL: "out of `resource` for `purpose`". */
void bz_chunk_lack(struct bz_campaign_result *part, const char *sentence, const char *resource,
                   const char *purpose);

/* True if the campaign was told to stop. */
bool bz_chunk_should_stop(const struct bz_campaigning *campaign);

/* True if the worker is to measure the program, and has not ended its process so. */
bool bz_chunk_measures(const struct bz_campaigning *campaign);

/* Makes the batch the next chunk. One ends where a campaign of cut runs does, or where seeds wrap.
 * False after a note. */
bool bz_chunk_give(struct bz_campaigning *campaign, struct bz_batch *batch);

/* Makes the batch one for the rest of its chunk, from `first` on. */
void bz_chunk_go_on(const struct bz_campaigning *campaign, struct bz_batch *batch, uint64_t first);

void bz_chunk_begin(struct bz_product *product);

/* Adds the run that the judge has made. True: the batch ends with it, because of a new finding. */
bool bz_chunk_add_run(const struct bz_campaign_config *config, const struct bz_batch *batch,
                      struct bz_product *product, const struct bz_judge *judge);

/* Runs the batch; `done` counts its runs. */
void bz_chunk_run(struct bz_campaigning *campaign, struct bz_world *world,
                  const struct bz_batch *batch, struct bz_product *product, uint64_t *done);

static inline bool bz_chunk_is_rest_left(const struct bz_batch *batch,
                                         const struct bz_product *product) {
    return !product->is_last && batch->first + product->part.runs < batch->end;
}

/* Adds it to the result. False if the campaign ends here. */
bool bz_chunk_merge(struct bz_campaigning *campaign, const struct bz_product *product);

/* Runs the campaign in child processes (workers.c). */
void bz_campaign_run_together(struct bz_campaigning *campaign);
