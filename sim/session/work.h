/* Unfinished work as the content of a file, from which it continues.
 *
 *     buzzer-work/1 KIND TOKEN done=RUNS spent_ms=TIME unfinished
 *     the body: numbers of 64 bits, low byte first, and bytes that are padded to such numbers
 *     the digest of all of it
 *
 * The line names what the work is of, and is padded with spaces. Each kind supplies its body, as
 * one function for both directions: it passes on its variables in order, which are written or read.
 * A file is untrusted input, as a trace is: what is cut short or edited is refused by its digest,
 * and the function refuses numbers that make no sense. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/program/token.h"

#define BZ_WORK_FORMAT "buzzer-work/1"
#define BZ_WORK_KIND_BYTES 16u

/* How a file begins. */
struct bz_work_head {
    char kind[BZ_WORK_KIND_BYTES]; /* "campaign", "search" */
    char token[BZ_TOKEN_BYTES];
    uint64_t done;     /* runs or transitions, for people */
    uint64_t spent_ms; /* in all sessions */
    bool is_finished;  /* there is nothing left to do */
};

/* The body while it is written or read. */
struct bz_work {
    FILE *file;
    bool is_read;
    bool is_ok; /* false: it ended, or cannot be written; numbers that are read are 0 then */
    uint64_t digest;
};

void bz_work_u64(struct bz_work *work, uint64_t *number);
void bz_work_u32(struct bz_work *work, uint32_t *number);
void bz_work_bool(struct bz_work *work, bool *is);
void bz_work_bytes(struct bz_work *work, void *bytes, size_t count);

/* A text in an array of that size. */
void bz_work_text(struct bz_work *work, char *text, size_t size_bytes);

/* Refuses what was read, unless it makes sense. Returns whether all so far did. */
bool bz_work_check(struct bz_work *work, bool makes_sense);

/* Begins a file, and ends it after the body. The end is false with errno if it was not written. */
struct bz_work bz_work_begin(FILE *file, const struct bz_work_head *head);
bool bz_work_end(struct bz_work *work);

/* Reads the first line of a file. False if it has none of this format. */
bool bz_work_read_head(FILE *file, struct bz_work_head *head);

/* Opens the body of a whole file of this kind. False with a message that begins with `origin`. */
bool bz_work_open(struct bz_work *work, FILE *file, const char *kind, struct bz_work_head *head,
                  const char *origin, char *error, size_t error_bytes);

/* The same messages of a body: its numbers make no sense; it was written by another version. False.
 */
bool bz_work_refuse(const char *origin, char *error, size_t error_bytes);
bool bz_work_refuse_version(const char *origin, char *error, size_t error_bytes);

/* The digest of a file, never 0; 0 if it cannot be read. */
uint64_t bz_work_digest_of(FILE *file);
