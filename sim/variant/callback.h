/* Bring your own loop, in callback style: how a primitive with requests and completions becomes a
 * variant (libuv, Twisted, a loop of your own). The code under test stays unchanged; the adapter
 * defines the functions of the loop that it calls. See sim/variant/README.md
 * (installed: share/doc/buzzer/bring-your-own-loop.md), and the example in
 * share/doc/buzzer/callback.
 *
 *     your program                               in the cage
 *     acquire(sem, request, on_done) waits       a task waits in bz_request_wait()
 *     the completion is posted to the loop       the task is woken: the adapter's post calls
 *                                                bz_request_post()
 *     the loop delivers the completion           the task resumes: `deliver` runs the completion,
 *                                                and on_done calls bz_request_done()
 *     cancel(request)                            the task is cancelled: `cancel` is called
 *
 * A blocking operation of the adapter is always the same:
 *
 *     struct caged caged = {0}; -- your request, and a struct bz_request
 *     acquire(sem, &caged.request, on_done);
 *     return bz_request_wait(&caged.wait, loop, &caged.request, deliver, cancel);
 *
 * Posting is the wake-up, so that the order of service is judged where your code decides it. In
 * order `any` completions are delivered in any order, in order `fifo` in the order of their posts.
 * A completion that is posted before acquire returns is delivered in a later step, as by a loop.
 *
 * Completions need not be posted. on_done may be called directly, in any step: inside
 * acquire, then the operation does not wait; or inside another's release or cancel, then this is
 * the wake-up, and the task resumes later. That is right if your code only notes there that the
 * continuation is due. If it runs the continuation there, its completions are in place: with
 * bz_request_done() nothing would run inside release(), and bugs of re-entrancy stay invisible.
 *
 * In place. A library that calls on_done, or resumes the waiter, inside release(), put() or set(),
 * on the stack of the task that released, calls bz_request_complete() in on_done:
 *
 *     static void on_done(struct request *request) {
 *         bz_request_complete(&caged_of(request)->wait, BZ_OK);
 *     }
 *
 * There the waiting task resumes, and runs until it suspends or ends; then release() continues. It
 * may call your code again: release, put, close, acquire. Such calls nest to any depth. No choice,
 * no cancel and no other task comes between. Your object may be in the middle of release()
 * meanwhile, so the judge reads `view`, `locked`, `queued` and `size` when the outermost call has
 * returned. A completion inside `cancel` is never in place for the task that is cancelled. A queue
 * cannot claim BZ_CLAIM_TAKES_AT_RETURN. The wait of a condition has to queue before it lets the
 * lock go, and `notify-count` and `lost-notification` are silent once another task has run inside.
 *
 * Cancel. `cancel` is called once a request, if its task is cancelled before the completion is
 * delivered. While nothing is posted, this happens at once, in the step of the canceller. After the
 * post it happens when the task resumes, right before the delivery. If it is accepted, the request
 * is completed with BZ_CANCELLED, posted or directly, at once or later; BZ_OK, unless it was posted
 * before, breaks the contract. If it is refused, the request continues, and the task waits until it
 * is completed. Where a completion then says BZ_OK, the task has what it no longer wants: `undo`
 * gives it back, and the operation returns BZ_CANCELLED. (In place, only a cancel that was refused
 * before leads there.) So it is for every cancel if `cancel` is NULL: such waits cannot be
 * cancelled. The judge knows it. The task keeps its place in the line, and there is no `deadlock`
 * while it waits: a program may rely on a cancel or a timeout to end the wait. Only a primitive
 * that posts every completion, and accepts every cancel before the delivery, needs no `undo`; where
 * one is needed and missing, the run aborts, which is the finding `crash`. If the rules of the
 * variant say BZ_WOKEN_KEEPS_RESULT (primitives/runtime/rules.h), the operation returns BZ_OK in
 * all these cases, and the cancel comes out of the next wait; with `asks_late`, `cancel` is called
 * all the same, and must not change what was posted. A cancel that is refused may post the request:
 * then `deliver` runs, and may leave the request as it is, as a loop that checks its condition once
 * more.
 *
 * A request is completed once. A second completion aborts the run, which is the finding `crash`,
 * and so does a completion that is still posted when the operation returns: your loop would deliver
 * it into storage that is gone. Other callbacks of the primitive than completions go through
 * bz_loop_call_soon(), each with a handle in storage of its own. */
#ifndef BZ_SIM_VARIANT_CALLBACK_H
#define BZ_SIM_VARIANT_CALLBACK_H

#include <stdbool.h>
#include <stddef.h>

#include "primitives/runtime/check.h"
#include "sim/variant/plugin.h"

BZ_BEGIN_DECLS

/* One request as the cage sees it, next to the primitive's own struct, on the stack of the
 * operation. All zeros at first; the adapter may set the members that are not private. */
struct bz_request {
    void (*undo)(void *wanted); /* gives back what a completion granted too late; see above */
    bool is_cancelled; /* the task has learned of a cancel, here or in an earlier wait of the same
                          operation: the adapter sets it for each further wait */
    bool asks_late;    /* with BZ_WOKEN_KEEPS_RESULT: `cancel` is called after the post, too, as the
                          callback of a stop token is */
    /* The rest is private. */
    bool (*cancel)(void *wanted);
    void *wanted; /* the primitive's own request */
    struct bz_future wakes;
    enum bz_status status;
    bool is_waiting; /* suspended on `wakes`, and nothing has decided it */
    bool is_posted;
    bool is_done;
    bool was_asked;   /* `cancel` was called */
    bool is_accepted; /* and returned true */
    bool is_promised; /* it did, before a completion was posted */
};

/* Private. */
static inline void bz_request_check_pending(const struct bz_request *request) {
    BZ_CONTRACT(!request->is_done, "a request was completed twice");
}

/* Private. A completion of a request whose cancel was accepted grants nothing. */
static inline void bz_request_wake(struct bz_request *request,
                                   enum bz_status (*set_result)(struct bz_future *future,
                                                                uint64_t value)) {
    if (!request->is_waiting) {
        return;
    }
    request->is_waiting = false;
    if (request->is_accepted) {
        request->wakes.is_redirected = false;
        request->wakes.on_cancel = NULL;
        (void)bz_future_cancel(&request->wakes);
    } else {
        (void)set_result(&request->wakes, 0);
    }
}

/* The completion is posted: the wake-up. For the adapter's definition of the loop's post. Posting
 * again before the delivery changes nothing. */
static inline void bz_request_post(struct bz_request *request) {
    bz_request_check_pending(request);
    request->is_posted = true;
    bz_request_wake(request, bz_future_set_result);
}

/* The completion is taken out of the loop's queue and will not be delivered. */
static inline void bz_request_unpost(struct bz_request *request) {
    request->is_posted = false;
}

/* The request is completed with this status, BZ_OK, BZ_CANCELLED or another one that the operation
 * may return. For the adapter's on_done. */
static inline void bz_request_done(struct bz_request *request, enum bz_status status) {
    bz_request_check_pending(request);
    request->is_done = true;
    request->status = status;
    bz_request_wake(request, bz_future_set_result_noted);
}

/* The same for a library that resumes a waiter inside release(), put() or set(): the completion is
 * in place. If the task of the request waits, it resumes inside this call, and the caller continues
 * when that task suspends or ends. The request may be gone afterwards. */
static inline void bz_request_complete(struct bz_request *request, enum bz_status status) {
    if (!request->is_waiting || request->is_accepted) {
        bz_request_done(request, status);
        return;
    }
    bz_request_check_pending(request);
    request->is_done = true;
    request->status = status;
    request->is_waiting = false;
    (void)bz_future_set_result_in_place(&request->wakes, 0);
}

/* Private. */
static inline void bz_request_ask(struct bz_request *request) {
    if (request->cancel != NULL && !request->was_asked && !request->is_done) {
        bool was_posted = request->is_posted;
        request->was_asked = true;
        request->is_accepted = request->cancel(request->wanted);
        request->is_promised = request->is_accepted && !was_posted;
    }
}

/* Private. A cancel of the waiting task. False if the request continues: then the task waits on,
 * and learns of its cancel when the request is completed. */
static inline bool bz_request_redirect(struct bz_future *wakes) {
    struct bz_request *request = bz_container_of(wakes, struct bz_request, wakes);
    request->is_waiting = false; /* what is posted inside is no wake-up: the cancel is */
    bz_request_ask(request);
    request->is_waiting = true;
    request->is_accepted |= request->is_done && request->status == BZ_CANCELLED;
    if (request->is_posted || request->is_done) {
        bz_request_wake(request, bz_future_set_result);
    }
    return request->is_accepted;
}

/* Private: suspends the task until something may have happened. */
static inline enum bz_status bz_request_pause(struct bz_request *request, struct bz_loop *loop) {
    bz_future_init(&request->wakes, loop);
    if (request->is_posted) { /* before the task came to wait: it is delivered in a later step */
        return bz_future_await_posted(&request->wakes);
    }
    request->wakes.redirect_cancel = bz_request_redirect;
    request->wakes.is_redirected = true;
    request->is_waiting = true;
    bool was_refused = request->is_cancelled && !request->is_accepted;
    return was_refused ? bz_future_await_asked(&request->wakes) : bz_future_await(&request->wakes);
}

/* Waits until the request is completed, after the primitive's own call has started it. Returns the
 * status of its completion; BZ_CANCELLED, if that is BZ_OK, BZ_CLOSED or BZ_BROKEN, and the task
 * was cancelled.
 *
 * `loop` is what init received; it may have passed through your code as a pointer to your loop.
 * `deliver` runs the posted completion of your request, which `wanted` points to. `cancel` is your
 * its cancel. It returns whether the cancel was accepted: true promises that the completion says
 * so, at once or later. NULL: no cancel is ever accepted, and `undo` is needed, if only to do
 * nothing. */
static inline enum bz_status bz_request_wait(struct bz_request *request, void *loop, void *wanted,
                                             void (*deliver)(void *wanted),
                                             bool (*cancel)(void *wanted)) {
    request->wanted = wanted;
    request->cancel = cancel;
    struct bz_task *task = bz_loop_current((struct bz_loop *)loop);
    bool is_late = false;
    while (!request->is_done) {
        uint32_t requests = bz_task_cancelling(task);
        if (bz_request_pause(request, (struct bz_loop *)loop) != BZ_OK) {
            request->is_cancelled = true;
            bz_request_ask(request);
        } else if (request->asks_late && !request->was_asked &&
                   bz_task_cancelling(task) > requests) {
            bz_request_ask(request);
            request->is_accepted = false;
            is_late = true;
        }
        if (request->is_posted && !request->is_done) {
            request->is_posted = false;
            deliver(wanted);
        }
    }
    BZ_CONTRACT(!request->is_posted, "an operation returned while its completion was still posted");
    BZ_CONTRACT(!is_late || request->status != BZ_CANCELLED,
                "a cancel that came after the post made it BZ_CANCELLED, but by the rules of the "
                "variant its wait keeps its result");
    bool is_over = request->status == BZ_CLOSED || request->status == BZ_BROKEN;
    if (!request->is_cancelled || (request->status != BZ_OK && !is_over)) {
        return request->status;
    }
    if (is_over) {
        return BZ_CANCELLED; /* it has nothing to give back */
    }
    BZ_CONTRACT(!request->is_promised, "cancel returned true, but the request was completed with "
                                       "BZ_OK: return false where the cancel is not accepted");
    BZ_CONTRACT(request->undo != NULL, "a cancelled request was completed with BZ_OK, and no undo "
                                       "gives back what it granted");
    request->undo(wanted);
    return BZ_CANCELLED;
}

BZ_END_DECLS

#endif
