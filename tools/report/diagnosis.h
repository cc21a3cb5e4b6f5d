/* A violation for people: the events that led to it, and how to replay it. Everything is read from
 * a trace. */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "sim/variant/variant.h"
#include "tools/report/text_output.h"
#include "traces/trace.h"

/* A run that violates an oracle, and the names that lead back to it. */
struct bz_diagnosis {
    const struct bz_trace *trace;     /* the run that is shown */
    const struct bz_variant *variant; /* NULL: not known */
    const char *token;                /* of that run, or of `found`; NULL: none */
    const char *trace_path;           /* likewise */
    bool is_interrupted;              /* before it was shrunk */
    const struct bz_trace *found;     /* the run that it was shrunk from; NULL: it was not shrunk */
    const char *small_token;          /* of a shrunk run; NULL: none */
    const char *small_path;           /* likewise */
};

/* Prints the violation of a trace, and how to replay it if there is a token or a path. Prints
 * nothing for a trace that passed. */
void bz_diagnosis_print(FILE *out, const struct bz_diagnosis *diagnosis);

/* Prints the last lines of a run that its step limit cut, where each task is, and the token. */
void bz_diagnosis_print_cut(FILE *out, const struct bz_diagnosis *diagnosis);

/* Adds the command with which the user replays the run that has the token: `command` is
 * bz_caller.replay, or the begin of another one that takes a token. */
void bz_diagnosis_add_command(struct bz_text *text, const struct bz_diagnosis *diagnosis,
                              const char *command);

/* The declared fault of the variant that the trace's verdict matches by oracle and primitive, or
 * NULL. */
const struct bz_fault *bz_diagnosis_declared(const struct bz_variant *variant,
                                             const struct bz_trace *trace);

/* Prints the events from index `first` that have the same step; returns the index of the next
 * event. */
size_t bz_diagnosis_print_step(FILE *out, const struct bz_trace *trace, size_t first);
