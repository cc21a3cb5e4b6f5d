/* The reference of a lock-step: whose primitives the C side has, and the rules of its runtime. */
#pragma once

#include "sim/variant/variant.h"
#include "tools/lab/lockstep/partner.h"

struct bz_reference {
    struct bz_variant variant;
    struct bz_rules rules; /* the variant's: do not copy this struct */
};

/* The reference `wanted`, or that of the interpreter's version (NULL), with the rules of the very
 * version. False with a message. */
bool bz_reference_choose(struct bz_reference *reference, const struct bz_python *version,
                         const char *wanted, char *error);

/* True if the primitives are those of Twisted. */
bool bz_reference_is_twisted(const struct bz_reference *reference);
