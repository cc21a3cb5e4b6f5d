/* The reports that the shards of a search have left, joined into one.
 *
 * Each shard has searched all schedules with its prefixes (sim/explore/frontier.c), so the search
 * is complete if all of them are there and complete. Reports of other searches are refused, and so
 * are two of one shard, or a shard that has relied on what another one has refuted. Each finding is
 * run again. */
#ifndef BZ_TOOLS_SEARCH_SUM_H
#define BZ_TOOLS_SEARCH_SUM_H

#include "tools/explore_report.h"
#include "tools/wrap.h"
#include "traces/json.h"

struct bz_search_part {
    char *path;
    struct bz_json *json;
    const struct bz_json *shard; /* of the document */
    uint64_t number;
};

struct bz_search_sum {
    const char *name;             /* for messages */
    struct bz_search_part *parts; /* in order of shards once they are joined */
    size_t part_count;
    uint32_t missing; /* shards that are not there, or not complete */
    struct bz_program program;
    struct bz_explore_config config;
    struct bz_explore_result result;
    struct bz_outcomes outcomes;
    struct bz_kept_findings findings;
    int findings_code; /* the worst of their exit codes */
    char why[96];
    struct bz_explore_report report; /* of all of the above */
};

/* Adds a document, search-3-of-64.json. */
void bz_search_sum_add(struct bz_search_sum *sum, const char *folder, const char *file);

/* Whether it is one, by the name of the file. `is_given`: by the user, who may call it what he
 * likes; else it is in a folder. */
bool bz_search_sum_takes(const char *name, bool is_given);

/* Reads and checks them. An exit code; not BZ_EXIT_OK after a message. */
int bz_search_sum_join(struct bz_search_sum *sum);

/* Runs the findings again, writes traces into the folder unless it is NULL, and fills the report.
 */
void bz_search_sum_finish(struct bz_search_sum *sum, const char *folder, bool shrinks);

/* Adds "shards 3 of 4 complete" and what is missing, as lines; as the member `shards`. */
void bz_search_sum_text(const struct bz_search_sum *sum, struct bz_text *text);
void bz_search_sum_add_json(const struct bz_search_sum *sum, struct bz_json *root);

void bz_search_sum_fini(struct bz_search_sum *sum);

#endif
