/* Tables of the fields of objects, events, choices and verdicts, for the reader, the writer and
 * comparisons. Only for this folder. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum bz_field_type {
    BZ_FIELD_NUMBER = 0, /* a uint64_t; absent: BZ_TRACE_ABSENT */
    BZ_FIELD_WORD = 1,   /* one of a list of words; absent: NULL, as for all strings */
    BZ_FIELD_NAME = 2,   /* up to BZ_TRACE_NAME_BYTES_MAX */
    BZ_FIELD_TEXT = 3,   /* up to BZ_TRACE_TEXT_BYTES_MAX */
};

/* The words of an enumeration by number; some may be NULL. */
struct bz_vocabulary {
    const char *what; /* "kind of event", for messages */
    const char *(*word)(unsigned number);
    unsigned count;
};

struct bz_trace_field {
    const char *key; /* NULL ends a table */
    size_t offset;   /* in its struct */
    enum bz_field_type type;
    bool is_required;
    const struct bz_vocabulary *vocabulary; /* of a word */
    bool is_beside;                         /* the event: left out by bz_trace_event_equal() */
};

/* In the order of the file. */
extern const struct bz_trace_field bz_trace_object_fields[];
extern const struct bz_trace_field bz_trace_event_fields[];
extern const struct bz_trace_field bz_trace_choice_fields[];
extern const struct bz_trace_field bz_trace_verdict_fields[];

extern const struct bz_vocabulary bz_vocabulary_order;
extern const struct bz_vocabulary bz_vocabulary_window;
extern const struct bz_vocabulary bz_vocabulary_choice;
extern const struct bz_vocabulary bz_vocabulary_role;
extern const struct bz_vocabulary bz_vocabulary_kind;
extern const struct bz_vocabulary bz_vocabulary_event;
extern const struct bz_vocabulary bz_vocabulary_op;

static inline uint64_t *bz_field_number(const struct bz_trace_field *field, void *entry) {
    return (uint64_t *)(void *)((char *)entry + field->offset);
}

static inline const char **bz_field_string(const struct bz_trace_field *field, void *entry) {
    return (const char **)(void *)((char *)entry + field->offset);
}

/* The number of a word; vocabulary->count if there is none. */
unsigned bz_vocabulary_find(const struct bz_vocabulary *vocabulary, const char *word);

/* The nearest word, for "did you mean". */
const char *bz_vocabulary_nearest(const struct bz_vocabulary *vocabulary, const char *word);
