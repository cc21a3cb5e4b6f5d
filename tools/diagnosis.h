/* A violation for people: the events that led to it, and how to replay it. Everything is read from
 * a trace. */
#ifndef BZ_TOOLS_DIAGNOSIS_H
#define BZ_TOOLS_DIAGNOSIS_H

#include <stdint.h>
#include <stdio.h>

#include "sim/variant/variant.h"
#include "traces/trace.h"

/* Prints the violation of a trace, and how to replay it if `token` or `trace_path` is not NULL.
 * Prints nothing for a trace that passed. */
void bz_diagnosis_print(FILE *out, const struct bz_trace *trace, const struct bz_variant *variant,
                        const char *token, const char *trace_path);

/* The declared fault of the variant that the trace's verdict matches by oracle and primitive, or
 * NULL. */
const struct bz_fault *bz_diagnosis_declared(const struct bz_variant *variant,
                                             const struct bz_trace *trace);

/* Prints the events from index `first` that have the same step; returns the index of the next
 * event. */
size_t bz_diagnosis_print_step(FILE *out, const struct bz_trace *trace, size_t first);

#endif
