/* Boost.Fiber in the cage: its fibers run under Buzzer's choices and on Buzzer's clock.
 *
 *     Boost.Fiber                             in the cage
 *     a fiber                                 one for each task and object; it makes the calls
 *     algorithm::awakened(fiber)              the wake-up of the task
 *     algorithm::pick_next()                  back to the task, so that Buzzer chooses what runs
 *     algorithm::suspend_until(time)          arms a timer of Buzzer's loop
 *     std::chrono::steady_clock::now()        the loop's virtual clock
 *
 * Boost.Fiber has a scheduler for each thread. Here each object has a scheduler of its own in the
 * loop's arena, so that nothing of a run is left when the next one begins. The thread's main
 * context belongs to it while one of its fibers runs. For Boost 1.74 and 1.81, whose classes
 * scheduler and context are public. */
#ifndef CAGE_HPP
#define CAGE_HPP

#include <boost/fiber/algo/algorithm.hpp>
#include <boost/fiber/context.hpp>
#include <boost/fiber/scheduler.hpp>
#include <chrono>
#include <cstdint>
#include <new>

#include "sim/variant/callback.h"

namespace cage {

using boost::fibers::context;

constexpr std::size_t stack_bytes = 32000; /* with what is in front of it, a block of 32 KiB */

struct runtime;

/* One call of a task, on the stack of its operation. */
struct call {
    bz_request request{};
    virtual bz_status make() = 0; /* runs on the fiber */

  protected:
    ~call() = default;
};

/* The fiber that makes the calls of one task. A mutex knows its owner by the fiber. */
struct worker {
    runtime &in;
    const bz_task *task; /* one that has ended holds nothing: its successor may share it */
    worker *next;
    context *fiber = nullptr;
    call *current = nullptr;
};

/* Where Boost.Fiber asks and reports. */
class hook final : public boost::fibers::algo::algorithm {
  public:
    explicit hook(runtime &own) : in(own) {
    }
    void awakened(context *fiber) noexcept override;
    context *pick_next() noexcept override;
    bool has_ready_fibers() const noexcept override {
        return false;
    }
    void suspend_until(std::chrono::steady_clock::time_point const &when) noexcept override;
    void notify() noexcept override {
    }

  private:
    runtime &in;
};

/* The runtime of one object. It is never destroyed: `fini` gives its memory back, while its fibers
 * are idle, and the arena does so where a run ends early. */
struct runtime {
    bz_loop *loop;
    hook asks{*this};
    boost::fibers::scheduler scheduler;
    context *main = nullptr; /* while a fiber runs */
    context *dispatcher = nullptr;
    worker *workers = nullptr;
    struct block *blocks = nullptr; /* all that it has taken from the arena */
    struct alarm {
        bz_timer timer; /* the first member */
        runtime *in;
    } alarm{};

    explicit runtime(bz_loop *on);
    void enter(context *fiber);
    void *take(std::size_t bytes);
    void fini();
    worker &of_current_task();
    bz_status make(call &own);
};

/* Makes a call on the fiber of the running task: `body` returns its status. If the task is
 * cancelled meanwhile, the call continues, for Boost.Fiber has no cancel; the next wait of the task
 * is cancelled (BZ_WOKEN_KEEPS_RESULT in the rules of the variants). */
template <typename Body> bz_status run(runtime &in, Body body) {
    struct own_call final : call {
        Body &body;
        explicit own_call(Body &does) : body(does) {
        }
        bz_status make() override {
            return body();
        }
    } own(body);
    return in.make(own);
}

} // namespace cage

#endif
