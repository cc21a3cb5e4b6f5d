/* The checkpoint of `explore --out DIR`: which file it is, when it is written, and how --resume
 * finds it. It goes when the search has come to its end. */
#ifndef BZ_TOOLS_SESSION_SEARCH_FILE_H
#define BZ_TOOLS_SESSION_SEARCH_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/explore/checkpoint.h"

#define BZ_SEARCH_ASIDE ".before" /* after the path */

struct bz_search_file {
    struct bz_explore_checkpoint checkpoint;
    const char *name;      /* for messages */
    char path[PATH_MAX];   /* empty: there is none yet */
    char folder[PATH_MAX]; /* of the traces */
    bool has_failed;       /* it could not be written, the last time */
    uint64_t began_ns;     /* this session */
    uint64_t before_ms;    /* time spent in earlier ones */
    uint64_t due_ns;       /* when it is written again */
};

/* The file of a new search of file->checkpoint in `folder`: `search.checkpoint`, or one with a
 * number if another search has left that. It is made when it is written first. Returns an exit
 * code, after a message unless it is BZ_EXIT_OK. */
int bz_search_file_begin(struct bz_search_file *file, const char *folder);

/* Opens the file of the argument of --resume: a folder with one, or the file itself. Returns an
 * exit code likewise. */
int bz_search_file_open(struct bz_search_file *file, const char *argument);

/* Whether it should be written: at most once a second, and for at most a twentieth of the time. */
bool bz_search_file_is_due(const struct bz_search_file *file);

/* Writes it. A failure is reported once, and noted in has_failed; then the file is as it was. */
void bz_search_file_write(struct bz_search_file *file, const struct bz_search *search);

/* Another name for the file as it is now, which later ones do not replace: the present search
 * begins again, and the environment in which the file was written may continue it. False if there
 * is none, or the file system has no such names. */
bool bz_search_file_set_aside(const struct bz_search_file *file);

/* The search has come to its end. */
void bz_search_file_remove(struct bz_search_file *file);

/* Prints the command that goes on, to stderr. */
void bz_search_file_print_command(const struct bz_search_file *file);

#endif
