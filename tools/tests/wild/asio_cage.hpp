/* Asio, or Boost.Asio with WILD_BOOST, in the cage. Each handler has an executor of its own, which
 * keeps what is posted to it:
 *
 *     Asio                                   in the cage
 *     execute(executor, f)                   the wake-up of the task
 *     f()                                    `deliver`: the resume
 *     cancellation_signal::emit()            the cancel
 *
 * Nothing takes back what was posted, so a late cancel changes nothing: rules_of_asio. Boost.Asio
 * 1.74 has no cancel of a single operation; its waits cannot be cancelled. */
#ifndef ASIO_CAGE_HPP
#define ASIO_CAGE_HPP

#include <cstddef>
#include <functional>
#include <utility>

#include "tools/tests/wild/asio_reactor.hpp"

#ifdef WILD_BOOST
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/execution.hpp>
#else
#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/execution.hpp>
#endif

#include "sim/variant/callback.h"
#include "sim/variant/malloc.h"

namespace cage {

namespace library = WILD_ASIO;

/* One asynchronous operation of a task, on the stack of the call. */
struct operation {
    bz_request request{};
    std::function<void()> posted;
#ifndef WILD_BOOST
    asio::cancellation_signal stop;
#endif
    bool is_cancelled = false;
    std::function<void()> passes_on; /* what a cancelled wait was granted, in Boost.Asio */
};

struct executor {
    library::execution_context *of;
    operation *own; /* NULL: the executor of the object itself, to which nothing is posted */

    template <typename Function> void execute(Function function) const {
        own->posted = std::move(function);
        bz_request_post(&own->request);
    }
    library::execution_context &query(library::execution::context_t) const noexcept {
        return *of;
    }
    static constexpr auto query(library::execution::blocking_t) noexcept {
        return library::execution::blocking.never;
    }
    bool operator==(const executor &) const noexcept = default;
    bool operator!=(const executor &) const noexcept = default;
};

inline constexpr bz_rules rules_of_asio = [] {
    bz_rules rules{};
    rules.woken = BZ_WOKEN_KEEPS_RESULT;
    return rules;
}();

inline void deliver(void *wanted) {
    std::exchange(static_cast<operation *>(wanted)->posted, nullptr)();
}

/* Starts an operation with `start(handler)`, waits, and returns the status of its completion, which
 * is that of `answer(own, error, values...)`. */
template <typename Start, typename Answer>
bz_status run(
    bz_loop *loop, library::execution_context &of, Start start, Answer answer,
    std::function<void()> passes_on = [] {}) {
    bz_malloc_from(loop);
    operation own;
    auto handler = [&own, &answer](auto... values) {
        bz_request_done(&own.request, answer(own, values...));
    };
    executor to{&of, &own};
#ifdef WILD_BOOST
    start(library::bind_executor(to, handler));
    own.passes_on = passes_on;
    own.request.undo = [](void *late) { static_cast<operation *>(late)->passes_on(); };
    return bz_request_wait(&own.request, loop, &own, deliver, nullptr);
#else
    (void)passes_on;
    start(asio::bind_executor(to, asio::bind_cancellation_slot(own.stop.slot(), handler)));
    return bz_request_wait(&own.request, loop, &own, deliver, [](void *wanted) {
        auto &own = *static_cast<operation *>(wanted);
        own.is_cancelled = !own.posted;
        own.stop.emit(asio::cancellation_type::terminal);
        return true;
    });
#endif
}

template <typename Object, typename... Args>
bz_status make(void *instance, bz_loop *loop, Args... args) {
    static_assert(alignof(Object) <= alignof(std::max_align_t), "as the arena gives it");
    bz_malloc_from(loop);
    try {
        new (instance) Object(loop, args...);
        return BZ_OK;
    } catch (const std::bad_alloc &) {
        return BZ_NO_MEMORY;
    }
}

template <typename Object> void fini(void *instance) {
    static_cast<Object *>(instance)->~Object();
}

} // namespace cage

#endif
