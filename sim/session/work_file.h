/* The file of unfinished work in the folder of a session: its name, when it is written, and how
 * --resume finds it. Campaigns and searches differ in the content alone (work.h). */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define BZ_WORK_FILES_MAX 1000u
#define BZ_WORK_ASIDE ".before" /* after the path */

struct bz_work_file {
    const char *kind;      /* "campaign": of its head, and the beginning of its name */
    char path[PATH_MAX];   /* empty: there is none yet */
    char folder[PATH_MAX]; /* of the traces */
    bool is_new;           /* written by this session first, under a name that was free */
    bool has_failed;       /* it could not be written, the last time */
    uint64_t began_ns;     /* this session */
    uint64_t before_ms;    /* time spent in earlier ones */
    uint64_t due_ns;       /* when it is written again */
};

/* KIND.checkpoint, KIND-2.checkpoint, ... in its folder. True if it is there. */
bool bz_work_file_set_path(struct bz_work_file *file, unsigned number);

/* Finds the file of the argument of --resume: a folder with one that is unfinished, or the file
 * itself. False with a message. */
bool bz_work_file_find(struct bz_work_file *file, const char *argument, char *error,
                       size_t error_bytes);

/* True if the folder alone names the file: no other one in it is unfinished. */
bool bz_work_file_is_only(const struct bz_work_file *file);

/* Opens it for reading. NULL with a message. */
FILE *bz_work_file_open(const struct bz_work_file *file, char *error, size_t error_bytes);

/* A session begins, after so much time in earlier ones. */
void bz_work_file_begin(struct bz_work_file *file, uint64_t before_ms);

/* The time spent in all sessions. */
uint64_t bz_work_file_spent_ms(const struct bz_work_file *file);

/* True if it should be written: at most once a second, and for at most a twentieth of the time. */
bool bz_work_file_is_due(const struct bz_work_file *file);

/* Writes it as a whole, under the first name in the folder that is free or belongs to finished work
 * if it has no path yet. False with a message: it is as it was. Only the first of several failures
 * in turn has a message; the text is empty otherwise. */
bool bz_work_file_write(struct bz_work_file *file, bool (*write)(void *context, FILE *file),
                        void *context, char *error, size_t error_bytes);

/* Another name for the file as it is now, which later ones do not replace: the work begins again,
 * and the environment in which the file was written may continue it. False if there is none, or the
 * file system has no such names. */
bool bz_work_file_set_aside(const struct bz_work_file *file);

/* The work has come to its end, and needs no file. */
void bz_work_file_remove(struct bz_work_file *file);

/* The work did not begin, or can never end: nothing to continue but what earlier sessions did. */
void bz_work_file_remove_new(struct bz_work_file *file);
