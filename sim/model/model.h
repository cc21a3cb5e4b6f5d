/* A sequential model: what a primitive does when its operations take effect one at a time.
 *
 * A model is a state and, for each operation, a rule: whether it may complete in this state, with
 * which answer, and what the state is afterwards. An author writes it in about ten lines:
 *
 *     struct state { int64_t free; };
 *     enum { ACQUIRE, RELEASE };
 *
 *     static void start(void *state, const int64_t *parameters) {
 *         ((struct state *)state)->free = parameters[0];
 *     }
 *     static bool step(void *state, uint32_t op, const int64_t *arguments, int64_t *answer) {
 *         int64_t *free = &((struct state *)state)->free;
 *         *free += op == RELEASE ? 1 : -1;
 *         return *free >= 0;
 *     }
 *     static const struct bz_model_op ops[] = {
 *         {.name = "acquire", .line = 1, .cancel = BZ_MODEL_CANCEL_UNDOES, .undo = RELEASE},
 *         {.name = "release"}};
 *     const struct bz_model semaphore = {"semaphore", sizeof(struct state), 1, ops, 2, start,
 * step};
 *
 * history.h checks the history of a run against it.
 *
 * Rules. `step` reads its arguments alone, and keeps nothing outside the state: equal arguments
 * give equal results. States are compared byte by byte, so a state has no padding and no pointers.
 * An operation that waits is one for which `step` returns false; its changes to the state are
 * dropped then.
 *
 * Several right answers. An argument with `is_chosen` stands for what the implementation is free to
 * choose: which of the free workers, which ready arm of a select, whether a try fails for no
 * reason, which waiter a notification wakes. A pool of workers, as bits of the state:
 *
 *     case HIRE: arguments[0] is the worker, .least = 0, .most = 7, .is_chosen = true
 *         *answer = arguments[0];
 *         *free ^= 1 << arguments[0];
 *         return (*free >> arguments[0] & 1) == 0;
 *     case DISMISS: .gives_back = 1 + HIRE, arguments[0] is the answer of that call
 *
 * The check follows every choice, and drops those that the answers refute. At rest, an operation
 * must not wait if one of its choices lets it complete. An operation that undoes, gives back or
 * needs one with a choice finds the answer of that call in the place of the chosen argument, unless
 * it chooses that argument itself.
 */
#ifndef BZ_SIM_MODEL_MODEL_H
#define BZ_SIM_MODEL_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "primitives/runtime/cdecl.h"

BZ_BEGIN_DECLS

#define BZ_MODEL_ARGUMENTS_MAX 3u
#define BZ_MODEL_WAYS_MAX 64u /* values of an argument that the implementation chooses */
#define BZ_MODEL_OPS_MAX 64u
#define BZ_MODEL_STATE_BYTES_MAX 4096u
#define BZ_MODEL_PARAMETERS_MAX 8u

/* Possible effects of a cancelled operation. */
enum bz_model_cancel {
    BZ_MODEL_CANCEL_DOES_NOTHING = 0, /* it has had no effect at any time */
    /* It may have taken effect. Then `undo` took it back, after the request of the cancel and at
     * the latest when the operation ended. So works an acquire that has its permit already when
     * it is cancelled, and passes it on. Others may have seen the effect in between. */
    BZ_MODEL_CANCEL_UNDOES = 1,
    BZ_MODEL_CANCEL_MAY_DO_ALL = 2, /* it has taken effect entirely, or not at all */
};

struct bz_model_argument {
    const char *name;
    int64_t least, most;
    /* The argument of a program: drawn from that range, or each number once, from the least
     * on.
     */
    bool is_fresh;
    /* The implementation chooses it, not the program: each value in that range for which `step`
     * returns true is right. An operation has at most one such argument. */
    bool is_chosen;
};

struct bz_model_op {
    const char *name;
    /* 0: no order. Operations of the same line take effect first in, first out. Such an operation
     * may pass those that were called before it only if they could all take effect before it, in
     * their order, or if their cancel was requested. It must not need the effect of an earlier
     * operation of its line. */
    uint32_t line;
    /* Bounded bypass: while this operation waits, so many that were called later may take effect
     * before it, although they are of its line, and although it would still have to wait then. */
    uint32_t bypass;
    /* The operations that go before this one, as bits 1 << index, also if they were called later:
     * this one does not take effect while one waits without a cancel request, unless that
     * one could also take effect before it. So readers yield to writers. */
    uint64_t yields_to;
    /* 1 + the index of a hidden operation that takes effect first, at an earlier moment of the same
     * call. 0: there is one moment. Its answer is a ticket, which the step of this operation
     * and that of `undo` find in *answer. So a wait at a barrier arrives, and leaves later. Such an
     * operation keeps no line, yields to none, and none yields to it. If such
     * an operation is cancelled in between, it ends by `undo`, once the step of that returns true;
     * `undo` may begin with another operation in its turn.
     */
    uint32_t begins_with;
    bool begins_in_order; /* of the calls, but for those whose cancel was requested */
    /* The first moment is the call itself, where the hidden operation does not have to wait. So the
     * state knows who waits, and in which order. */
    bool begins_at_call;
    enum bz_model_cancel cancel;
    /* For BZ_MODEL_CANCEL_UNDOES: the index of the operation that takes this one back, in every
     * state after it. It may be one that no program calls. Its step gets the same arguments, and in
     * *answer the answer that it takes back. */
    uint32_t undo;
    /* 1 + the index of the operation that this one gives back, as a release does with an acquire:
     * a program calls this one once for each completed call of that one, with its arguments, in the
     * same task, and not that one again in between. 0: programs call it at any time. A call that
     * was refused is not given back (`zero_refuses`). */
    uint32_t gives_back;
    /* 1 + the index of an operation: a program calls this one only while it has not given back a
     * completed call of that one, as the wait of a condition needs the lock. 0: at any time. */
    uint32_t needs;
    /* 1 + the index of a hidden operation that may take effect in the place of this one where this
     * one must wait, or where another one of its line was called before and has not taken effect.
     * It need not: who waits at rest is judged without it. So a wait may end by a wake-up without a
     * cause, and a try may find nothing. 0: none. */
    uint32_t or_else;
    /* Of the operations with the same number here, a program has one call at a time; 0: any number.
     * So a queue may have a single consumer. */
    uint32_t single;
    bool is_hidden; /* no program calls it: it only undoes or begins */
    bool is_extra;  /* the scenario `model` calls it only with `extras=1` */
    /* The answer 0 is a refusal, as of a try that answers 0 or 1: the call took nothing, and is not
     * given back. A call that returns another status than BZ_OK and BZ_CANCELLED is refused, too;
     * its answer is that status, negated. */
    bool zero_refuses;
    /* It ends without any help, by `or_else` at the latest: a try, or a wait with a deadline of its
     * own. So it must not wait where nothing will happen any more. */
    bool ends_by_itself;
    uint32_t argument_count;
    struct bz_model_argument arguments[BZ_MODEL_ARGUMENTS_MAX];
};

struct bz_model {
    const char *name;
    uint32_t state_bytes; /* 1 to the limit above; aligned to 8 bytes */
    uint32_t parameter_count;
    const struct bz_model_op *ops;
    uint32_t op_count;
    /* Writes the first state, in zeroed memory. NULL: it is all zeros. */
    void (*start)(void *state, const int64_t *parameters);
    /* True if the operation may complete in the state. If so: its answer (0 unless set), and the
     * next state. */
    bool (*step)(void *state, uint32_t op, const int64_t *arguments, int64_t *answer);
    /* So much virtual time passes. The state knows the time by this alone. NULL: time changes
     * nothing. */
    void (*pass)(void *state, uint64_t elapsed_ns);
    /* For a model with `pass`: in a state that no operation changes for so long, operations may do
     * from then on what they may do at its end. 1 to 1,000. */
    uint64_t settles_ns;
    /* For a model with `pass`: so much later than the model would let it complete may a waiter be
     * woken. 0: at the very nanosecond. */
    uint64_t late_ns;
};

/* The first fault in the description of a model, as a sentence; NULL: it has none. */
const char *bz_model_fault(const struct bz_model *model);

BZ_END_DECLS

#endif
