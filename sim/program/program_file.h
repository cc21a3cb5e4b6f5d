/* The file of a program: the setting `file`.
 *
 *     --set file=NAME               on the command line
 *     file=NAME@0123456789abcdef    in a token or a trace: with a digest of the content
 *
 * A replay refuses a file whose content differs from the recorded digest. The name is relative to
 * the current folder, and consists of letters, digits, '.', '_', '-' and '/', so that no shell and
 * no token needs quotes. */
#ifndef BZ_SIM_PROGRAM_PROGRAM_FILE_H
#define BZ_SIM_PROGRAM_PROGRAM_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/program/program.h"

/* Reads it into the program, whose scenario takes a file and whose variant is set. The file must be
 * regular and at most BZ_FILE_BYTES_MAX long. False with a message; then nothing has changed. */
bool bz_input_set(struct bz_program *program, const char *value, char *error, size_t error_bytes);

/* NAME@DIGEST of the file that was read. */
void bz_input_print(const struct bz_program *program, char *value, size_t value_bytes);

#endif
