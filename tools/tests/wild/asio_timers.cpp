/* The usual primitives on a timer of Asio that never expires: its waiters are a queue, cancel_one()
 * wakes the first, cancel() all. With WILD_BOOST: the same on Boost.Asio 1.74. */
#include "tools/tests/wild/asio_cage.hpp"

#ifdef WILD_BOOST
#include <boost/asio/steady_timer.hpp>
#else
#include <asio/steady_timer.hpp>
#endif

#include "sim/variant/new.hpp"

namespace {

using clock = std::chrono::steady_clock;
using timer = WILD_ASIO::basic_waitable_timer<clock, WILD_ASIO::wait_traits<clock>, cage::executor>;

/* Who waits, and who is woken. */
struct line {
    bz_loop *loop;
    WILD_ASIO::execution_context context;
    timer waiters;

    explicit line(bz_loop *on)
        : loop(on), waiters(cage::executor{&context, nullptr}, clock::time_point::max()) {
    }
    template <typename Then> bz_status wait(Then then, std::function<void()> passes_on) {
        return cage::run(
            loop, context,
            [&](auto handler) {
                waiters.async_wait(handler);
                then();
            },
            [](cage::operation &own, error_code) {
                return own.is_cancelled ? BZ_CANCELLED : BZ_OK;
            },
            passes_on);
    }
    void wake_one() {
        bz_malloc_from(loop);
        waiters.cancel_one();
    }
    void wake_all() {
        bz_malloc_from(loop);
        waiters.cancel();
    }
};

/* --- semaphore, lock ----------------------------------------------------------------------------
 */

struct semaphore {
    line queue;
    uint32_t most, free;

    semaphore(bz_loop *loop, uint32_t permits) : queue(loop), most(permits), free(permits) {
    }
};

bz_status init(void *instance, bz_loop *loop, uint32_t permits) {
    return cage::make<semaphore>(instance, loop, permits);
}

bz_status acquire(void *instance) {
    semaphore &own = *static_cast<semaphore *>(instance);
    while (own.free == 0) {
        bz_status status = own.queue.wait([] {},
                                          [&] {
                                              if (own.free > 0) {
                                                  own.queue.wake_one();
                                              }
                                          });
        if (status != BZ_OK) {
            return status;
        }
    }
    own.free--;
    return BZ_OK;
}

bz_status release(void *instance) {
    semaphore &own = *static_cast<semaphore *>(instance);
    own.free++;
    own.queue.wake_one();
    return BZ_OK;
}

bz_status release_held(void *instance) {
    semaphore &own = *static_cast<semaphore *>(instance);
    return own.free == own.most ? BZ_NOT_HELD : release(instance);
}

bool locked(void *instance) {
    return static_cast<semaphore *>(instance)->free == 0;
}

/* --- event --------------------------------------------------------------------------------------
 */

struct event {
    line queue;
    bool flag = false;

    explicit event(bz_loop *loop) : queue(loop) {
    }
};

bz_status init_event(void *instance, bz_loop *loop) {
    return cage::make<event>(instance, loop);
}

void set(void *instance) {
    event &own = *static_cast<event *>(instance);
    own.flag = true;
    own.queue.wake_all();
}

void clear(void *instance) {
    static_cast<event *>(instance)->flag = false;
}

bool is_set(void *instance) {
    return static_cast<event *>(instance)->flag;
}

bz_status wait_event(void *instance) {
    event &own = *static_cast<event *>(instance);
    return own.flag ? BZ_OK : own.queue.wait([] {}, [] {});
}

/* --- condition ----------------------------------------------------------------------------------
 */

struct condition {
    semaphore lock; /* the first member */
    line queue;

    explicit condition(bz_loop *loop) : lock(loop, 1), queue(loop) {
    }
};

bz_status init_condition(void *instance, bz_loop *loop) {
    return cage::make<condition>(instance, loop);
}

bz_status wait(void *instance) {
    condition &own = *static_cast<condition *>(instance);
    if (own.lock.free > 0) {
        return BZ_NOT_HELD;
    }
    bz_status status =
        own.queue.wait([&] { (void)release(instance); }, [&] { own.queue.wake_one(); });
    for (bz_status again; (again = acquire(instance)) != BZ_OK;) {
        if (status == BZ_OK) {
            own.queue.wake_one(); /* it was notified, and is cancelled now */
        }
        status = again; /* without the lock it cannot return */
    }
    return status;
}

bz_status notify(void *instance, uint32_t count) {
    condition &own = *static_cast<condition *>(instance);
    if (count == UINT32_MAX) {
        own.queue.wake_all();
        return BZ_OK;
    }
    for (; count > 0; count--) {
        own.queue.wake_one();
    }
    return BZ_OK;
}

constexpr bz_permit_ops ops(bz_status (*releases)(void *)) {
    return {sizeof(semaphore), init, cage::fini<semaphore>, acquire, releases, locked, nullptr};
}
constexpr bz_permit_ops semaphore_ops = ops(release);
constexpr bz_permit_ops lock_ops = ops(release_held);
constexpr bz_event_ops event_ops = {sizeof(event), init_event, set,    clear,
                                    is_set,        wait_event, nullptr};
constexpr bz_condition_ops condition_ops = {
    sizeof(condition), init_condition, acquire, release_held, locked, wait, notify, nullptr};

constexpr bz_variant timers = [] {
    bz_variant own{};
    own.version = BZ_VARIANT_VERSION;
#ifdef WILD_BOOST
    own.name = "boost-asio/timer";
    own.summary = "Boost.Asio 1.74: steady_timer as semaphore, lock, event, condition";
#else
    own.name = "asio/timer";
    own.summary = "Asio: steady_timer as semaphore, lock, event, condition";
    own.rules = &cage::rules_of_asio;
#endif
    own.claims = BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_UNAIDED | BZ_CLAIM_UNFAIR |
                 BZ_CLAIM_LOCKED_EXACT | BZ_CLAIM_EXACT_NOTIFY;
    own.permits[BZ_PRIMITIVE_SEMAPHORE] = &semaphore_ops;
    own.permits[BZ_PRIMITIVE_BOUNDED] = &lock_ops;
    own.permits[BZ_PRIMITIVE_LOCK] = &lock_ops;
    own.event = &event_ops;
    own.condition = &condition_ops;
    own.waives[BZ_PRIMITIVE_CONDITION] = BZ_CLAIM_REFUSES_MISUSE; /* anybody may notify */
    return own;
}();

} // namespace

BZ_PLUGIN(&timers);
