/* What the timeout scopes of the zoo have in common: all but the exit. */
#ifndef BZ_SCENARIOS_ZOO_SCOPES_H
#define BZ_SCENARIOS_ZOO_SCOPES_H

#include <stdbool.h>
#include <stdint.h>

#include "primitives/runtime/task.h"
#include "primitives/runtime/timer.h"

struct bz_zoo_scope {
    struct bz_timer timer;
    struct bz_task *task;
    uint32_t at_entry; /* cancelling() */
    bool has_expired;  /* and cancelled its task */
};

/* As in struct bz_scope_ops. */
enum bz_status bz_zoo_scope_enter(void *scope, struct bz_loop *loop, uint64_t delay_ns);

/* The first half of an exit: no deadline from here on. True if it had come; then there is a request
 * to be taken back, and *left is how many are there without it. */
bool bz_zoo_scope_close(struct bz_zoo_scope *scope, uint32_t *left);

#endif
