/* The fields of tasks and objects in the shadow state. This list declares them (shadow.h), clears
 * history between two steps of a search (bz_shadow_clear_task() and _object()), and says which
 * words name a task (sim/explore/fingerprint). A new field is a row here and the code that writes
 * it. The files that include this list define TASK() and OBJECT():
 *
 *     TASK(type, name, bits, writer, life, reference)
 *
 * writer     SETUP    objects.c, queue.c: when the object is added
 *            EVENTS   judge.c: what the runtime reports, and the end of a step
 *            CALLS    operations.c: calls and returns of operations, releases
 *            OBJECTS  objects.c, queue.c, resources.c: what only one kind of object has
 *            LINE     shadow.[ch], order.c: order of arrival and of service; helpers
 * life       ALWAYS   it is part of a state
 *            WAIT     while the task is suspended
 *            OP       while the task is inside an operation
 *            NEVER    history: a later step cannot see it
 *            COUNT    only differences between such fields matter: bz_snapshot_normalize()
 * reference  DATA     it names no task
 *            NUMBER   it follows from the task's own number
 *            TASK     it is a task's number; BZ_NO_TASK, or history, in a state that symmetry takes
 *            LINE     an array of tasks' numbers, which symmetry replaces
 */
#ifndef TASK
#define TASK(type, name, bits, writer, life, reference)
#endif
#ifndef OBJECT
#define OBJECT(type, name, bits, writer, life, reference)
#endif
/* clang-format off */

/* --- of a task ------------------------------------------------------------------------------ */

TASK(const char *, name_base, , EVENTS, ALWAYS, DATA) /* the task's name; it outlives the task */
TASK(uint32_t, name_index, , EVENTS, ALWAYS, NUMBER)
TASK(uint32_t, object, , CALLS, ALWAYS, DATA) /* of the operation it is in; 0: none */
TASK(uint32_t, arrival, , CALLS LINE, OP, DATA) /* its place in the object's line */
TASK(uint32_t, holdings, , CALLS OBJECTS, ALWAYS, DATA) /* permits it owns, over all objects */
/* later arrivals granted during the acquire it is in */
TASK(uint32_t, overtaken, , CALLS LINE, OP, DATA)
/* over_released_by before its last release */
TASK(uint32_t, over_released_before, , CALLS, NEVER, TASK)
TASK(uint32_t, cancels, , EVENTS, ALWAYS, DATA) /* requests accepted in its life */
/* it was notified, then cancelled: the wakes must reach this number */
TASK(uint32_t, owes_wake, , EVENTS OBJECTS, OP, DATA)
TASK(uint32_t, next_step, , EVENTS, NEVER, DATA) /* number of its next step; 1 is the first */
TASK(uint8_t, phase, , EVENTS, ALWAYS, DATA) /* enum bz_phase */
TASK(uint8_t, op, , CALLS, ALWAYS, DATA) /* enum bz_op it is inside, BZ_OP_NONE outside */
TASK(uint8_t, wait, , EVENTS, WAIT, DATA) /* enum bz_wait */
TASK(uint8_t, await, , EVENTS, WAIT, DATA) /* enum bz_await */
TASK(uint8_t, inside, , EVENTS, WAIT, DATA) /* enum bz_inside */
TASK(bool, is_live, , LINE, ALWAYS, DATA) /* it stands in its object's line */
/* cancels asked for in the operation, and not taken back there */
TASK(uint8_t, op_requests, :7, EVENTS, OP, DATA)
/* inside an acquire, it makes the resource that it is to get */
TASK(bool, makes, :1, OBJECTS, OP, DATA)
TASK(bool, is_freed, :1, EVENTS, ALWAYS, DATA) /* it is done, and its number is no longer valid */
TASK(bool, is_helper, :1, LINE, ALWAYS, DATA) /* it belongs to the code under test */
TASK(bool, is_protected, :1, EVENTS, ALWAYS, DATA) /* no cancel is injected into it */
/* the operation need not return BZ_CANCELLED after a cancel */
TASK(bool, may_answer, :1, EVENTS, OP, DATA)
/* a notification left it asleep in the wait that it is in */
TASK(bool, was_passed_over, :1, LINE, OP, DATA)
TASK(bool, was_overtaken, :1, EVENTS LINE, ALWAYS, DATA) /* since it became ready to run */
/* with an undelivered request: its wait cannot be cancelled */
TASK(bool, waits_on, :1, EVENTS, ALWAYS, DATA)
/* an abort or a reset of the barrier at which it waits fails its wait; or it puts an item that was
 * got already, so it needs no slot */
TASK(bool, was_settled, :1, OBJECTS, OP, DATA)
TASK(bool, cancel_pending, , EVENTS, ALWAYS, DATA) /* an accepted request is undelivered */
/* an await inside the operation returned BZ_CANCELLED */
TASK(bool, cancelled_in_op, :1, EVENTS CALLS, OP, DATA)
/* 1: inside the operation, it has asked again since polls were counted anew: see judge_polls() */
TASK(uint8_t, has_polled, :7, EVENTS, OP, DATA)
TASK(bool, was_granted, , EVENTS, OP, DATA) /* woken for what it waits for, inside the operation */
TASK(bool, took_back, , CALLS, NEVER, DATA) /* its last release lowered the holders */
TASK(bool, gave_up, , CALLS, NEVER, DATA) /* and lowered its own holdings */
TASK(bool, tries, :1, OBJECTS, ALWAYS, DATA) /* its put or get must not wait */
/* requests accepted from tasks of the program and from outside; 127: as many or more */
TASK(uint8_t, asked, :7, EVENTS, ALWAYS, DATA)
/* further statuses that the operation may return, as bits */
TASK(uint16_t, excused, , CALLS, ALWAYS, DATA)
/* next_step at the call of the operation; UINT32_MAX: before */
TASK(uint32_t, called_step, , CALLS, OP, DATA)

/* --- of an object ---------------------------------------------------------------------------- */

OBJECT(const char *, name, , SETUP, ALWAYS, DATA)
OBJECT(struct bz_introspection, look, , SETUP, ALWAYS, DATA)
OBJECT(enum bz_object_kind, kind, :8, SETUP, ALWAYS, DATA)
OBJECT(enum bz_primitive, primitive, :8, SETUP, ALWAYS, DATA)
/* condition: wakes must equal wakes_due after every step */
OBJECT(bool, counts_wakes, , SETUP EVENTS, ALWAYS, DATA)
/* of the last acquire that returned, see below */
OBJECT(uint8_t, return_status, , CALLS, NEVER, DATA)
OBJECT(uint32_t, claims, , SETUP OBJECTS, ALWAYS, DATA)
/* at the start, plus net releases of a plain semaphore */
OBJECT(uint64_t, permits, , CALLS OBJECTS, ALWAYS, DATA)
/* permits at the start, parties, most items; BZ_SIZE_MODELLED */
OBJECT(uint64_t, size, , SETUP, ALWAYS, DATA)
OBJECT(uint64_t, holders, , CALLS OBJECTS, ALWAYS, DATA)
/* slots: of the holders, those of items whose put was cancelled, which may be in or not */
OBJECT(uint64_t, maybe, , OBJECTS, ALWAYS, DATA)
OBJECT(uint32_t, quorum, , SETUP, ALWAYS, DATA) /* barrier: this many live tasks open it; else 0 */
OBJECT(bool, is_counted, , SETUP, ALWAYS, DATA) /* a wait that returns BZ_OK raises the holders */
OBJECT(bool, is_strict, , SETUP, ALWAYS, DATA) /* newcomers pass no waiter, not even a woken task */
OBJECT(bool, is_owned, , SETUP, ALWAYS, DATA) /* and the task's holdings */
/* not judged by lost-wakeup: a condition's lock, a closed queue; nor by lost-notification */
OBJECT(bool, never_stuck, , OBJECTS EVENTS, ALWAYS, DATA)
OBJECT(uint32_t, wakes, , EVENTS, COUNT, DATA) /* grants by wake-up so far */
OBJECT(uint32_t, wakes_due, , EVENTS OBJECTS, COUNT, DATA) /* condition: how many there should be */
OBJECT(uint32_t, had_last, , CALLS, NEVER, TASK) /* the task that had it last; 0: none */
OBJECT(uint32_t, live, , LINE, ALWAYS, DATA) /* tasks in the line that are live */
OBJECT(BZ_TASKS_INSIDE, , , EVENTS, ALWAYS, DATA)
OBJECT(uint32_t *, line, , LINE, ALWAYS, LINE)
OBJECT(uint32_t, line_end, , LINE, ALWAYS, DATA)
OBJECT(uint32_t, line_capacity, , LINE, ALWAYS, DATA)
OBJECT(uint32_t, first_live, , LINE, ALWAYS, DATA) /* no live task stands before it */
/* in this step a woken waiter took what it was woken for; tasks before this place of the line
 * came before that */
OBJECT(uint32_t, handed_on, , EVENTS CALLS LINE, NEVER, DATA)
OBJECT(uint32_t, first_woken, , EVENTS LINE, ALWAYS, DATA) /* no woken task stands before it */
OBJECT(uint32_t, return_task, , CALLS, NEVER, TASK) /* the last acquire that returned: whose, ... */
OBJECT(uint32_t, return_step, , CALLS, NEVER, DATA) /* ... in which step, with what */
/* released without a holder in this step; or BZ_NO_TASK */
OBJECT(uint32_t, over_released_by, , EVENTS CALLS, ALWAYS, TASK)
OBJECT(bool, refines, , SETUP OBJECTS, ALWAYS, DATA) /* the executable specification judges it */
/* the result of locked(), if it is judged, after the step */
OBJECT(bool, shows_locked, , EVENTS, NEVER, DATA)
/* a waiter, since one that is woken or polls last ran */
OBJECT(bool, was_overtaken, , EVENTS LINE, ALWAYS, DATA)
OBJECT(uint8_t, order, , SETUP, ALWAYS, DATA) /* enum bz_queue_order of a queue's items */
/* items: its slots, slots: its items, condition: its lock; 0 */
OBJECT(uint32_t, partner, , SETUP, ALWAYS, DATA)
/* after the current step, if that named it */
OBJECT(struct bz_permit_view, view, , EVENTS, NEVER, DATA)
/* its place in the order of locks, or BZ_RANK_OF_RUN; 0: none */
OBJECT(uint32_t, rank, , OBJECTS, ALWAYS, DATA)
/* of a lock with a rank: the task that has it; or BZ_NO_TASK */
OBJECT(uint32_t, owner, , CALLS LINE, ALWAYS, TASK)
/* with BZ_RANK_OF_RUN: the objects that a task acquired while it had this one, as bits 1 << number
 */
OBJECT(uint64_t, followers, , LINE, ALWAYS, DATA)
/* bit BZ_HANDOFF_TASKS * from + to: it went from ... to */
OBJECT(uint64_t, handed, [2], LINE, NEVER, TASK)

#undef TASK
#undef OBJECT
/* clang-format on */
