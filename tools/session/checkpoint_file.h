/* The checkpoint of `run --out DIR`: which file it is, when it is written, and how --resume finds
 * it. */
#ifndef BZ_TOOLS_SESSION_CHECKPOINT_FILE_H
#define BZ_TOOLS_SESSION_CHECKPOINT_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/session/checkpoint.h"
#include "tools/report/text_output.h"

struct bz_checkpoint_file {
    struct bz_job job;
    const char *name; /* for messages */
    char path[PATH_MAX];
    char folder[PATH_MAX]; /* of the traces */
    bool has_failed;       /* it could not be written */
    uint64_t began_ns;     /* this session */
    uint64_t before_ms;    /* time spent in earlier ones */
    uint64_t due_ns;       /* when it is written again */
};

/* campaign.checkpoint, campaign-2.checkpoint, ... in its folder. Whether it is there. */
bool bz_checkpoint_file_set_path(struct bz_checkpoint_file *file, unsigned number);

/* Chooses the file of a new campaign, `campaign.checkpoint` in `folder`, and writes it. One of an
 * unfinished campaign is kept; the name gets a number. Returns an exit code, after a message unless
 * it is BZ_EXIT_OK. */
int bz_checkpoint_file_create(struct bz_checkpoint_file *file, const char *folder);

/* The file of a shard, `shard-3-of-64.checkpoint` in `folder`. If it is there, the shard goes on
 * from it, unless it is of another campaign: `is_there`, and `state` is what it holds. Else it is
 * written. Returns an exit code likewise. */
int bz_checkpoint_file_of_shard(struct bz_checkpoint_file *file, const char *folder,
                                struct bz_campaign_state *state, bool *is_there);

/* Reads the file of the argument of --resume: a folder with one unfinished campaign, or the file
 * itself. Returns an exit code likewise. */
int bz_checkpoint_file_open(struct bz_checkpoint_file *file, const char *argument,
                            struct bz_campaign_state *state);

/* Reads a file; file->name is set. Returns an exit code likewise. */
int bz_checkpoint_file_read(struct bz_checkpoint_file *file, const char *path,
                            struct bz_campaign_state *state);

/* The first run of the checkpoint shows whether the code is the one that it is about. An exit code
 * likewise. */
int bz_checkpoint_file_check_code(const struct bz_checkpoint_file *file,
                                  const struct bz_campaign_state *state);

/* The time spent in all sessions. */
uint64_t bz_checkpoint_file_spent_ms(const struct bz_checkpoint_file *file);

/* Writes it, if that is due: at most once a second, and for at most a twentieth of the time; or
 * `is_last`. A failure is reported, and noted in has_failed until a later write succeeds. */
void bz_checkpoint_file_write(struct bz_checkpoint_file *file,
                              const struct bz_campaign_state *state, bool is_last);

/* Prints the command that continues from a place, to stderr: with `more` options behind it, and
 * the limits of code that is contained. */
void bz_checkpoint_file_print_resume(const char *command, const char *place,
                                     const struct bz_text *more);

/* That of this file. */
void bz_checkpoint_file_print_command(const struct bz_checkpoint_file *file, bool is_strict);

#endif
