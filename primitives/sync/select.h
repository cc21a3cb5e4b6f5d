/* Select: one wait for the first of several ports, or for a deadline. It is the select of Go for
 * receives.
 *
 *     port A   values [ ]         arms: S           S waits at both ports, T at B alone
 *     port B   values [ ]         arms: S T
 *
 * A port is a channel whose puts never wait. It is also a semaphore, whose permits are values, and,
 * closed, an event.
 *
 * A select has an arm at each of its ports. The first put or close decides it, and takes out all
 * its arms at once: a select is decided once, and no arm outlives it. A put decides the oldest arm,
 * and promises it one value of that port, which no other task may take. The select takes the oldest
 * value when it resumes, so cancellations do not change the order of the values. A select that is
 * cancelled before it resumes hands the promise on in that step. A value that comes between the
 * deadline and the step in which the select resumes is not lost: it decides the select.
 *
 * Waiting allocates nothing. Every operation is O(arms), and a close O(arms of all that wait). */
#ifndef BZ_SYNC_SELECT_H
#define BZ_SYNC_SELECT_H

#include <stdbool.h>
#include <stdint.h>

#include "primitives/runtime/list.h"
#include "primitives/runtime/status.h"
#include "primitives/runtime/timer.h"
#include "primitives/sync/items.h"

BZ_BEGIN_DECLS

#define BZ_SELECT_PORTS_MAX 8u

struct bz_port {
    struct bz_loop *loop;
    struct bz_list arms; /* the oldest first */
    struct bz_items values;
    uint32_t promised; /* values of selects that were decided and have not resumed */
    uint32_t queued;   /* arms */
    bool is_closed;
};

/* BZ_OK; BZ_NO_MEMORY; BZ_INVALID_ARGUMENT if `capacity` is 0. The caller provides the storage,
 * which must outlive all waits. */
enum bz_status bz_port_init(struct bz_port *port, struct bz_loop *loop,
                            uint32_t capacity) BZ_MUST_USE;

/* Frees the memory. No task may be waiting. Not needed before the loop is reset or destroyed. */
void bz_port_fini(struct bz_port *port);

/* Never suspends. BZ_OK; BZ_FULL; BZ_CLOSED. */
enum bz_status bz_port_put(struct bz_port *port, uint64_t value) BZ_MUST_USE;

/* For good: puts return BZ_CLOSED, and so does a select once the port is empty. */
void bz_port_close(struct bz_port *port);

struct bz_selected {
    uint64_t value;
    uint32_t index; /* of the port */
};

/* Waits for 1 to BZ_SELECT_PORTS_MAX ports of one loop, `delay_ns` at most (BZ_TIME_NEVER: no
 * deadline). If several are ready at the call, the first of the array is served; later, whichever
 * is ready first. BZ_OK: the oldest value of that port was taken. BZ_CLOSED: that port is closed
 * and empty. BZ_TIMED_OUT, BZ_CANCELLED, BZ_NO_MEMORY (for the deadline): nothing was taken. */
enum bz_status bz_select(struct bz_port *const *ports, uint32_t count, uint64_t delay_ns,
                         struct bz_selected *selected) BZ_MUST_USE;

BZ_END_DECLS

#endif
