/* A timeout scope: asyncio.timeout(), built on cancel and uncancel.
 *
 *     struct bz_timeout scope;
 *     status = bz_timeout_enter(loop, &scope, delay_ns);
 *     if (status == BZ_OK) {
 *         status = bz_timeout_exit(&scope, body());      exactly one exit for each entry
 *     }
 *
 * At the deadline the scope cancels its task, once. The exit takes this request back. If no request
 * remains beyond those at entry, it turns BZ_CANCELLED into BZ_TIMED_OUT. The scope never swallows
 * a request of another, not even one that was undelivered at entry.
 */
#ifndef BZ_RUNTIME_TIMEOUT_H
#define BZ_RUNTIME_TIMEOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "primitives/runtime/status.h"
#include "primitives/runtime/timer.h"

BZ_BEGIN_DECLS

struct bz_task;

enum bz_timeout_state {
    BZ_TIMEOUT_ENTERED = 1,
    BZ_TIMEOUT_EXPIRING = 2, /* the deadline has passed; the task is being cancelled */
    BZ_TIMEOUT_EXPIRED = 3,
    BZ_TIMEOUT_EXITED = 4,
};

struct bz_timeout {
    struct bz_timer timer;
    struct bz_task *task;
    uint32_t baseline; /* requests that were delivered before the entry */
    uint8_t state;     /* enum bz_timeout_state */
};

/* Opens a scope of the running task that expires in `delay_ns`; 0: in the next turn; BZ_TIME_NEVER:
 * never. BZ_OK, BZ_INVALID_STATE outside a task, or BZ_NO_MEMORY. */
enum bz_status bz_timeout_enter(struct bz_loop *loop, struct bz_timeout *scope,
                                uint64_t delay_ns) BZ_MUST_USE;

/* Moves the deadline to `delay_ns` from now, as above. BZ_INVALID_STATE, and nothing is changed,
 * once it has passed. After BZ_NO_MEMORY the scope has no deadline. */
enum bz_status bz_timeout_reschedule(struct bz_timeout *scope, uint64_t delay_ns) BZ_MUST_USE;

/* Closes the scope; `status` is what the body returned. Returns it, or BZ_TIMED_OUT instead. */
enum bz_status bz_timeout_exit(struct bz_timeout *scope, enum bz_status status) BZ_MUST_USE;

/* True if the deadline passed before the exit. */
bool bz_timeout_expired(const struct bz_timeout *scope);

BZ_END_DECLS

#endif
