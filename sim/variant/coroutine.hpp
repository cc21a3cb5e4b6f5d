/* Bring your own loop, with the coroutines of C++20: how a primitive that keeps coroutine handles
 * and posts them to an executor becomes a variant. For g++ from 10 and clang++ from 14, with
 * libstdc++ and -std=c++20. See sim/variant/README.md (installed:
 * share/doc/buzzer/bring-your-own-loop.md), and the example in share/doc/buzzer/coroutine.
 *
 *     your program                              in the cage
 *     co_await acquire() suspends               a task waits in bz::run_coroutine()
 *     the handle is posted to the executor      the task is woken: the adapter's post calls
 *                                               bz::post()
 *     the executor resumes the handle           the task resumes, and resumes the handle
 *     a stop request                            the task is cancelled: `cancel` is called
 *
 * A blocking operation of the adapter is a coroutine, and a call that runs it:
 *
 *     bz::task<bz_status> acquire(semaphore &sem, waiter &waiter) {
 *         co_return co_await sem.acquire(waiter) ? BZ_OK : BZ_CANCELLED;
 *     }
 *     ...
 *     return bz::run_coroutine(loop, [&] { return acquire(sem, waiter); },
 *                              [&] { return sem.cancel(waiter); });
 *
 * bz::task is a lazy task: it starts when it is awaited, and resumes the one that awaits it when it
 * ends. It takes the place of your own task type, so the frames of all coroutines come from the
 * loop's arena. Handles that are posted are those of bz::task, at any depth below the operation.
 * Your awaitables stay as they are: they get these handles in await_suspend().
 *
 * A handle need not be posted. It may be resumed directly, in any step, also by symmetric transfer.
 * If the operation ends there, its task runs in place (callback.h), inside the release, put or set
 * that resumed the handle, until it suspends or ends. A function that resumes handles so and is not
 * inside bz::run_coroutine(), for instance a release, needs a bz::frames in its scope.
 *
 * `cancel` and `undo` mean what they mean in callback.h. A coroutine ends once, and one handle of
 * an operation may be posted at a time; a breach aborts the run, which is the finding `crash`.
 *
 * Exceptions pass from task to task. std::bad_alloc of an operation is BZ_NO_MEMORY. Any other
 * exception that leaves an operation ends the process, which is the finding `crash`. Those of your
 * code's own, for instance for a cancel, are for the operation's coroutine to catch.
 *
 * Complexity: what your code does, one allocation in the arena for each coroutine, and O(1) for
 * each post and each resume. */
#ifndef BZ_SIM_VARIANT_COROUTINE_HPP
#define BZ_SIM_VARIANT_COROUTINE_HPP

#include <coroutine>
#include <cstddef>
#include <exception>
#include <new>
#include <type_traits>
#include <utility>

#include "sim/variant/callback.h"

namespace bz {

/* While one exists, frames come from the arena of its loop. */
class frames {
  public:
    explicit frames(bz_loop *loop) noexcept : outer(mem) {
        mem = bz_loop_mem(loop);
    }
    ~frames() {
        mem = outer;
    }
    frames(const frames &) = delete;
    frames &operator=(const frames &) = delete;

    static inline bz_mem *mem = nullptr; /* private */

  private:
    bz_mem *outer;
};

/* Private: one operation that runs, on the stack of its task. */
struct operation {
    bz_request request{};
    bz_loop *loop = nullptr;
    std::coroutine_handle<> posted;
};

/* Private: what the promises of all tasks have in common, and all that is known of one by its
 * handle. Its alignment is the same, so that it is at the same place. */
struct alignas(std::max_align_t) promise_base {
    operation *owner = nullptr;           /* of the outermost task */
    std::coroutine_handle<> continuation; /* awaits this one; none: this is the outermost task */
    std::exception_ptr error;

    /* In front of a frame is the arena that it goes back to. */
    static constexpr std::size_t prefix_bytes = alignof(std::max_align_t);

    static void *operator new(std::size_t bytes) {
        BZ_CONTRACT(frames::mem != nullptr, "a coroutine was started outside an operation; put "
                                            "bz::frames into release(), set() or the like");
        void *block = bz_mem_alloc_raw(frames::mem, prefix_bytes + bytes);
        if (block == nullptr) {
            throw std::bad_alloc();
        }
        *static_cast<bz_mem **>(block) = frames::mem;
        return static_cast<char *>(block) + prefix_bytes;
    }
    static void operator delete(void *frame, std::size_t bytes) noexcept {
        void *block = static_cast<char *>(frame) - prefix_bytes;
        bz_mem_free(*static_cast<bz_mem **>(block), block, prefix_bytes + bytes);
    }

    struct end {
        bool await_ready() const noexcept {
            return false;
        }
        /* In place, the frame is gone afterwards: no caller may keep anything in it. */
        template <typename Promise>
        __attribute__((noinline)) std::coroutine_handle<>
        await_suspend(std::coroutine_handle<Promise> ended) const noexcept {
            Promise &promise = ended.promise();
            if (promise.continuation) {
                return promise.continuation;
            }
            bz_request_complete(&promise.owner->request, promise.status());
            return std::noop_coroutine();
        }
        void await_resume() const noexcept {
        }
    };
    std::suspend_always initial_suspend() const noexcept {
        return {};
    }
    end final_suspend() const noexcept {
        return {};
    }
    void unhandled_exception() noexcept {
        error = std::current_exception();
    }
};

/* Private. */
template <typename T> struct promise_of : promise_base {
    T value{};
    void return_value(T result) {
        value = std::move(result);
    }
    T take() {
        return std::move(value);
    }
    bz_status status() const noexcept {
        if constexpr (std::is_same_v<T, bz_status>) {
            return error ? BZ_FAILED : value;
        }
        return BZ_FAILED; /* never asked: the outermost task returns a status */
    }
};
template <> struct promise_of<void> : promise_base {
    void return_void() const noexcept {
    }
    void take() const noexcept {
    }
    bz_status status() const noexcept {
        return BZ_FAILED;
    }
};

/* A coroutine that returns a T, which has a value by default, or nothing. co_await it once. */
template <typename T = void> class [[nodiscard]] task {
  public:
    struct promise_type : promise_of<T> {
        task get_return_object() noexcept {
            return task(handle_type::from_promise(*this));
        }
    };
    using handle_type = std::coroutine_handle<promise_type>;

    task(task &&other) noexcept : handle(std::exchange(other.handle, nullptr)) {
    }
    task &operator=(task &&) = delete;
    ~task() {
        if (handle) {
            handle.destroy();
        }
    }

    bool await_ready() const noexcept {
        return false;
    }
    template <typename Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> outer) noexcept {
        static_assert(std::is_base_of_v<promise_base, Promise>, "a bz::task awaits it");
        static_assert(alignof(Promise) == alignof(promise_base), "its value needs no more");
        handle.promise().owner = outer.promise().owner;
        handle.promise().continuation = outer;
        return handle;
    }
    T await_resume() {
        if (handle.promise().error) {
            std::rethrow_exception(handle.promise().error);
        }
        return handle.promise().take();
    }

    handle_type handle; /* private */

  private:
    explicit task(handle_type own) noexcept : handle(own) {
    }
};

/* The handle of a bz::task is posted: the wake-up of its operation. For the adapter's definition of
 * your executor's post. */
inline void post(std::coroutine_handle<> handle) noexcept {
    promise_base &promise =
        std::coroutine_handle<promise_base>::from_address(handle.address()).promise();
    operation *owner = promise.owner;
    BZ_CONTRACT(owner != nullptr, "a handle was posted whose coroutine is in no operation");
    BZ_CONTRACT(!owner->posted || owner->posted == handle,
                "two handles of one operation were posted at the same time");
    owner->posted = handle;
    bz_request_post(&owner->request);
}

/* Private: the executor's turn. */
template <typename Caged> void deliver(void *caged) noexcept {
    operation &own = *static_cast<Caged *>(caged);
    frames in_arena(own.loop);
    std::exchange(own.posted, nullptr).resume();
}

/* Runs an operation to its end, and returns its status. `start` returns its bz::task<bz_status>.
 * `cancel` is called once, when the task is cancelled before the operation has ended, and returns
 * whether the cancel was accepted; nullptr: the wait cannot be cancelled. `undo` gives back what
 * was granted too late; nullptr, if no cancel is ever refused. */
template <typename Start, typename Cancel, typename Undo = std::nullptr_t>
bz_status run_coroutine(bz_loop *loop, Start start, Cancel cancel, Undo undo = nullptr) noexcept {
    struct caged : operation {
        Cancel &cancel;
        Undo &undo;
        caged(bz_loop *in, Cancel &cancels, Undo &undoes) : cancel(cancels), undo(undoes) {
            loop = in;
        }
    } own(loop, cancel, undo);
    if constexpr (!std::is_null_pointer_v<Undo>) {
        own.request.undo = [](void *wanted) {
            caged &undone = *static_cast<caged *>(wanted);
            frames in_arena(undone.loop);
            undone.undo();
        };
    }
    bool (*asks)(void *wanted) = nullptr;
    if constexpr (!std::is_null_pointer_v<Cancel>) {
        asks = [](void *wanted) {
            caged &asked = *static_cast<caged *>(wanted);
            frames in_arena(asked.loop);
            return static_cast<bool>(asked.cancel());
        };
    }
    try {
        auto begin = [&] {
            frames in_arena(loop);
            task<bz_status> outermost = start();
            outermost.handle.promise().owner = &own;
            outermost.handle.resume();
            return outermost;
        };
        task<bz_status> outermost = begin();
        bz_status status = bz_request_wait(&own.request, loop, &own, deliver<caged>, asks);
        if (outermost.handle.promise().error) {
            std::rethrow_exception(outermost.handle.promise().error);
        }
        return status;
    } catch (const std::bad_alloc &) {
        return BZ_NO_MEMORY;
    }
}

/* A variant with one lock or semaphore, as BZ_PERMIT_PLUGIN() defines it in C; for BZ_PLUGIN(). The
 * strings and `ops` live as long as the plug-in. */
constexpr bz_variant permit_variant(bz_primitive primitive, const char *name, const char *summary,
                                    uint32_t claims, const bz_permit_ops *ops) noexcept {
    bz_variant variant{};
    variant.version = BZ_VARIANT_VERSION;
    variant.name = name;
    variant.summary = summary;
    variant.claims = claims;
    variant.permits[primitive] = ops;
    return variant;
}

} // namespace bz

#endif
