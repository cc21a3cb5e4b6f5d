/* The file that a program is given: the setting `file`.
 *
 *     --set file=NAME               as a user writes it
 *     file=NAME@0123456789abcdef    in a token and in a trace: with a digest of the content
 *
 * A token and a trace outlive the file. So they name its content as well, and a replay refuses a
 * file that is not the one that was run. The name is relative to the current folder, and made of
 * letters, digits, '.', '_', '-' and '/', so that no shell and no token has to quote it.
 */
#ifndef BZ_SIM_RUN_INPUT_H
#define BZ_SIM_RUN_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/run/program.h"

/* Reads it into the program, whose scenario takes a file and whose variant is set. Only a regular
 * file of at most BZ_FILE_BYTES_MAX is read. False with a message, and nothing is changed. */
bool bz_input_set(struct bz_program *program, const char *value, char *error, size_t error_bytes);

/* NAME@DIGEST of the file that was read. */
void bz_input_print(const struct bz_program *program, char *value, size_t value_bytes);

#endif
