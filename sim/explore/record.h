/* The work that a search has done so far, so that it can be continued: after a pause, or in another
 * session (checkpoint.h).
 *
 * It continues from the set-up, with the two tables and the counts of its result. The states on its
 * path are marked as unfinished in the table, and the transitions that they have run are not
 * counted. A search that comes to an unfinished state searches it with all its transitions; those
 * that were run before lead to states that are known. So a search that continues does what it would
 * have done, and counts the same.
 *
 * Without a table of states, the choices of the path say where the search was: they are made again,
 * each as the first one of its frame.
 *
 * A search that continues makes its next pause only behind the place of the last one. Where the
 * path takes longer than the time between pauses, it would not get any further otherwise.
 *
 * If an unfinished state is not met again, or a choice is another one, the search cannot continue,
 * and begins again. Earlier rounds and what was found stay. Such a search makes no more pauses,
 * except before its first transition.
 *
 * A record lies in memory that child processes share: who searches fills it in when the search
 * stops before its end, and the outermost process, which runs no code of a plug-in, keeps it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/explore/explore.h"

struct bz_search;

struct bz_search_bounds {
    uint32_t deviations; /* the number of the round; BZ_EXPLORE_UNBOUNDED: a sweep */
    uint32_t delays;
    uint64_t transitions; /* then the search is put off */
    bool is_any_order;    /* a sweep of order `any` without a bound on delays */
    uint32_t reductions;  /* in force */
};

/* Which search of bz_search_explore() it is. */
struct bz_search_stage {
    bool is_sweep;
    bool simplifies;   /* a round after a violation in the sweep */
    bool had_findings; /* before the sweep */
    uint32_t last;     /* of the present rounds */
};

/* Where a search is, without its tables, path and result: what a checkpoint has as bytes. */
struct bz_search_place {
    bool is_cut;      /* the bound on delays has left something out */
    bool is_short;    /* the bound on deviations has */
    uint32_t unsound; /* reductions that the program has turned out not to allow */
    struct bz_search_stage stage;
    struct bz_search_bounds bounds;
};

struct bz_record {
    bool is_on;    /* there is something to continue from */
    bool is_pause; /* the search stopped because config->is_due() said so: it continues at once */
    bool goes_on;  /* the next search begins with it */
    bool is_lost;  /* a path has led to another state: the next search begins again */
    struct bz_search_place at;
    struct bz_explore_result result;
    struct bz_explore_result swept; /* at.stage.simplifies: the result of the sweep */
    uint64_t unfinished;            /* states in the table */
    uint64_t again;                 /* transitions that they have run, and will run again */
    uint64_t next_pause;            /* the least transitions at which it may make one */
    uint32_t choice_count;          /* without a table of states: search->points has them */
};

/* True if the numbers of a result make sense, and its texts end. Code under test may have written
 * over it, or somebody has edited a checkpoint. */
bool bz_explore_finding_is_sound(const struct bz_explore_finding *finding);
bool bz_explore_result_is_sound(const struct bz_explore_result *result);

/* NULL without memory. */
struct bz_record *bz_record_new(void);
void bz_record_destroy(struct bz_record *record);

/* At the set-up of a new search: there is no other place to continue from. */
void bz_record_begin(struct bz_search *search);

/* True if the next search continues from the record. */
static inline bool bz_record_has_place(const struct bz_record *record) {
    return record != NULL && record->goes_on && !record->is_lost;
}

/* After a search that may have stopped before its end: records where, if it can continue
 * there. `is_ok`: it did not run out of memory. */
void bz_record_take(struct bz_search *search, bool is_ok);

/* Goes to the set-up, with all that was counted. */
void bz_record_go_on(struct bz_search *search);

/* After a search that continued: `end` becomes BZ_EXPLORE_LOST if it did not meet all unfinished
 * states again. */
void bz_record_check(struct bz_search *search);

/* The next search continues from another record. */
void bz_record_put(struct bz_record *record, const struct bz_record *other);

/* In the outermost process: the present search begins again. Calls config->on_begun_again(). */
void bz_record_lose(const struct bz_explore_config *config, struct bz_search *search,
                    const char *why);

/* In the outermost process, after the search has stopped: has the record kept. True if the search
 * continues at once: then it begins with the record. */
bool bz_record_keep(const struct bz_explore_config *config, struct bz_search *search);
