/* The token: one line that reproduces one run.
 *
 *     SCENARIO:VARIANT:STRATEGY:SEED[:name=value,...]#DIGEST[@VERSION]
 *     contended:zoo/sem-barge:random:0x2a:order=fifo,workers=3#91b2c4d5e6f70812@0.1.0
 *
 * The version is that of the program that printed it; a token without one is also valid. Default
 * settings are left out. Lists in a value are separated by '+'. No shell needs quotes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/judge/record.h"
#include "sim/program/settings.h"

/* Writes the token of a run; returns `buffer`. */
const char *bz_token_format(const struct bz_program *program, uint64_t seed, uint64_t digest,
                            char *buffer, size_t size_bytes);

/* Parses a token. False with a message. */
bool bz_token_parse(const char *text, const struct bz_catalog *catalog, struct bz_program *program,
                    uint64_t *seed, uint64_t *digest, char *error, size_t error_bytes);
