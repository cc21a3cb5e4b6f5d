/* What happened, for people: a violation with the events that led to it, and how to see it again.
 *
 * Everything is read from a trace, so that the same run gives the same text wherever it comes from.
 */
#ifndef BZ_TOOLS_DIAGNOSIS_H
#define BZ_TOOLS_DIAGNOSIS_H

#include <stdint.h>
#include <stdio.h>

#include "sim/variant/variant.h"
#include "traces/trace.h"

/* Prints the violation of a trace. `token` and `trace_path` say how to replay it; either may be
 * NULL. A trace that passed prints nothing. */
void bz_diagnosis_print(FILE *out, const struct bz_trace *trace, const struct bz_variant *variant,
                        const char *token, const char *trace_path);

/* The fault that the variant is for, or declares, if the oracle of the trace's verdict is the one
 * that catches it in the primitive that the trace is of; else NULL. */
const struct bz_fault *bz_diagnosis_declared(const struct bz_variant *variant,
                                             const struct bz_trace *trace);

/* Prints every event from index `first` that belongs to its step, or before the first step; returns
 * the index of the next event. The columns fit the whole trace. */
size_t bz_diagnosis_print_step(FILE *out, const struct bz_trace *trace, size_t first);

#endif
