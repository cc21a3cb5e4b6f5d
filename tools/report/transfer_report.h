/* The result of a schedule on other code, as text and as JSON. */
#ifndef BZ_TOOLS_REPORT_TRANSFER_REPORT_H
#define BZ_TOOLS_REPORT_TRANSFER_REPORT_H

#include "sim/session/transfer.h"
#include "tools/report/text_output.h"
#include "traces/json.h"

/* True if the run fails, as recorded or otherwise. */
bool bz_carry_is_failure(enum bz_carry_result result);

/* Adds "now passes      FILE: 8 steps; recorded: fifo of 'permits'". */
void bz_carry_add_line(struct bz_text *line, const char *file, const struct bz_trace *trace,
                       const struct bz_carry *carry);

/* Adds the members of the entry in the results of `corpus --json`. */
void bz_carry_add_json(struct bz_json *item, const char *file, const struct bz_trace *trace,
                       const struct bz_carry *carry, bool is_as_expected);

#endif
