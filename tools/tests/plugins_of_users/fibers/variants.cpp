/* The primitives of Boost.Fiber as variants. They claim what its manual promises: owners
 * are checked, and no order is promised. */
#include <boost/fiber/barrier.hpp>
#include <boost/fiber/buffered_channel.hpp>
#include <boost/fiber/condition_variable.hpp>
#include <boost/fiber/mutex.hpp>
#include <boost/fiber/recursive_mutex.hpp>
#include <boost/fiber/recursive_timed_mutex.hpp>
#include <boost/fiber/timed_mutex.hpp>
#include <boost/fiber/unbuffered_channel.hpp>

#include "cage.hpp"

namespace {

namespace fibers = boost::fibers;
using cage::run;

constexpr std::chrono::nanoseconds patience(3); /* of a call with a deadline */

/* A mutex that says whether it is locked: Boost.Fiber's do not. */
template <typename Mutex> class shown : public Mutex {
  public:
    bool is_locked = false;

    void lock() {
        Mutex::lock();
        is_locked = true;
    }
    bool try_lock_for(std::chrono::nanoseconds delay) {
        bool has_locked = Mutex::try_lock_for(delay);
        is_locked |= has_locked;
        return has_locked;
    }
    void unlock() {
        Mutex::unlock();
        is_locked = false;
    }
};

/* A condition variable with its mutex; the mutex alone is the lock. */
template <typename Mutex> struct object {
    cage::runtime in;
    shown<Mutex> mutex;
    fibers::condition_variable_any condition;
    uint64_t calls = 0; /* of acquire */

    explicit object(bz_loop *loop) : in(loop) {
    }
};

template <typename Object, typename... Args>
bz_status make(void *instance, bz_loop *loop, Args... args) {
    static_assert(alignof(Object) <= alignof(std::max_align_t), "as the arena gives it");
    try {
        new (instance) Object(loop, args...);
        return BZ_OK;
    } catch (const std::bad_alloc &) {
        return BZ_NO_MEMORY;
    }
}

template <typename Object> void fini(void *instance) {
    static_cast<Object *>(instance)->in.fini();
}

/* A mutex refuses a fiber that does not own it. */
template <typename Body> bz_status refused(Body body) {
    try {
        return body();
    } catch (const fibers::lock_error &) {
        return BZ_NOT_HELD;
    }
}

template <typename Mutex> bz_status init(void *instance, bz_loop *loop, uint32_t) {
    return make<object<Mutex>>(instance, loop);
}

bz_status init_condition(void *instance, bz_loop *loop) {
    return make<object<fibers::mutex>>(instance, loop);
}

template <typename Mutex> bz_status release(void *instance) {
    object<Mutex> &own = *static_cast<object<Mutex> *>(instance);
    return run(own.in, [&] {
        return refused([&] {
            own.mutex.unlock();
            return BZ_OK;
        });
    });
}

template <typename Mutex> bz_status acquire(void *instance) {
    object<Mutex> &own = *static_cast<object<Mutex> *>(instance);
    return run(own.in, [&] {
        own.mutex.lock();
        return BZ_OK;
    });
}

/* Every other call has a deadline. */
template <typename Mutex> bz_status acquire_in_time(void *instance) {
    object<Mutex> &own = *static_cast<object<Mutex> *>(instance);
    if (own.calls++ % 2 != 0) {
        return acquire<Mutex>(instance);
    }
    return run(own.in, [&] {
        bool is_locked = own.mutex.try_lock_for(patience);
        return is_locked ? BZ_OK : BZ_TIMED_OUT;
    });
}

template <typename Mutex> bool locked(void *instance) {
    return static_cast<object<Mutex> *>(instance)->mutex.is_locked;
}

bz_status wait(void *instance) {
    object<fibers::mutex> &own = *static_cast<object<fibers::mutex> *>(instance);
    return run(own.in, [&] {
        if (!own.mutex.is_locked) {
            return BZ_NOT_HELD;
        }
        own.condition.wait(own.mutex);
        return BZ_OK;
    });
}

bz_status notify(void *instance, uint32_t count) {
    object<fibers::mutex> &own = *static_cast<object<fibers::mutex> *>(instance);
    return run(own.in, [&] {
        if (count == UINT32_MAX) {
            own.condition.notify_all();
            return BZ_OK;
        }
        for (; count > 0; count--) {
            own.condition.notify_one();
        }
        return BZ_OK;
    });
}

struct barrier {
    cage::runtime in;
    fibers::barrier rounds;
    uint32_t parties;
    uint32_t arrived = 0;

    barrier(bz_loop *loop, uint32_t count) : in(loop), rounds(count), parties(count) {
    }
};

bz_status init_barrier(void *instance, bz_loop *loop, uint32_t parties) {
    return make<barrier>(instance, loop, parties);
}

/* Boost.Fiber says only who was the last. */
bz_status wait_barrier(void *instance, uint32_t *index) {
    barrier &own = *static_cast<barrier *>(instance);
    return run(own.in, [&] {
        *index = own.arrived++ % own.parties;
        bool is_last = own.rounds.wait();
        return is_last == (*index == own.parties - 1) ? BZ_OK : BZ_FAILED;
    });
}

cage::runtime *slots_of; /* while a channel takes its slots */

struct item {
    uint64_t value;

    static void *operator new[](std::size_t bytes) {
        return slots_of->take(bytes);
    }
    static void operator delete[](void *) noexcept {
    }
};

struct channel {
    cage::runtime in;
    fibers::buffered_channel<item> items;
    uint64_t size = 0;
    uint64_t calls = 0; /* of put and get in time */

    channel(bz_loop *loop, uint32_t slots) : in(loop), items((slots_of = &in, slots)) {
        slots_of = nullptr;
    }
};

/* A channel of 2^n slots holds one item less. */
bz_status init_channel(void *instance, bz_loop *loop, bz_queue_order order, uint32_t maxsize) {
    if (order != BZ_QUEUE_ORDER_FIFO || maxsize == 0 || (maxsize & (maxsize + 1)) != 0) {
        return BZ_INVALID_ARGUMENT;
    }
    return make<channel>(instance, loop, maxsize + 1);
}

bz_status answer(fibers::channel_op_status status) {
    switch (status) {
    case fibers::channel_op_status::success:
        return BZ_OK;
    case fibers::channel_op_status::empty:
        return BZ_EMPTY;
    case fibers::channel_op_status::full:
        return BZ_FULL;
    case fibers::channel_op_status::closed:
        return BZ_CLOSED;
    default:
        return BZ_TIMED_OUT;
    }
}

enum class how { at_once, waiting, in_time };

/* Every other call has a deadline. */
bool has_deadline(channel &own, how way) {
    return way == how::in_time && own.calls++ % 2 == 0;
}

template <how way> bz_status put(void *instance, uint64_t value, int64_t) {
    channel &own = *static_cast<channel *>(instance);
    return run(own.in, [&] {
        bz_status status =
            answer(way == how::at_once      ? own.items.try_push({value})
                   : has_deadline(own, way) ? own.items.push_wait_for({value}, patience)
                                            : own.items.push({value}));
        own.size += status == BZ_OK;
        return status;
    });
}

template <how way> bz_status get(void *instance, uint64_t *value) {
    channel &own = *static_cast<channel *>(instance);
    return run(own.in, [&] {
        item got{};
        bz_status status = answer(way == how::at_once      ? own.items.try_pop(got)
                                  : has_deadline(own, way) ? own.items.pop_wait_for(got, patience)
                                                           : own.items.pop(got));
        *value = got.value;
        own.size -= status == BZ_OK;
        return status;
    });
}

void shut_down(void *instance, bool is_immediate) {
    channel &own = *static_cast<channel *>(instance);
    (void)run(own.in, [&] {
        own.items.close();
        item dropped{};
        while (is_immediate && own.items.try_pop(dropped) == fibers::channel_op_status::success) {
            own.size--;
        }
        return BZ_OK;
    });
}

uint64_t size(void *instance) {
    return static_cast<channel *>(instance)->size;
}

/* A rendezvous. It has no calls that do not wait. */
struct meeting {
    cage::runtime in;
    fibers::unbuffered_channel<uint64_t> items;
    uint64_t calls = 0;

    explicit meeting(bz_loop *loop) : in(loop) {
    }
};

bz_status init_meeting(void *instance, bz_loop *loop, bz_queue_order, uint32_t) {
    return make<meeting>(instance, loop);
}

template <how way> bz_status meet(void *instance, uint64_t value, int64_t) {
    meeting &own = *static_cast<meeting *>(instance);
    return run(own.in, [&] {
        return answer(way == how::waiting || own.calls++ % 2 != 0
                          ? own.items.push(value)
                          : own.items.push_wait_for(value, patience));
    });
}

template <how way> bz_status be_met(void *instance, uint64_t *value) {
    meeting &own = *static_cast<meeting *>(instance);
    return run(own.in, [&] {
        return answer(way == how::waiting || own.calls++ % 2 != 0
                          ? own.items.pop(*value)
                          : own.items.pop_wait_for(*value, patience));
    });
}

bz_status meet_at_once(void *instance, uint64_t, int64_t) {
    return static_cast<meeting *>(instance)->items.is_closed() ? BZ_CLOSED : BZ_FULL;
}

bz_status be_met_at_once(void *instance, uint64_t *) {
    return static_cast<meeting *>(instance)->items.is_closed() ? BZ_CLOSED : BZ_EMPTY;
}

void close_meeting(void *instance, bool) {
    meeting &own = *static_cast<meeting *>(instance);
    (void)run(own.in, [&] {
        own.items.close();
        return BZ_OK;
    });
}

template <typename Mutex> constexpr bz_permit_ops lock_ops(bz_status (*acquires)(void *instance)) {
    return {sizeof(object<Mutex>), init<Mutex>, fini<object<Mutex>>, acquires, release<Mutex>,
            locked<Mutex>,         nullptr};
}
constexpr bz_permit_ops mutex_ops = lock_ops<fibers::mutex>(acquire<fibers::mutex>);
template <typename Mutex>
constexpr bz_permit_ops timed_ops = lock_ops<Mutex>(acquire_in_time<Mutex>);
constexpr bz_permit_ops recursive_ops =
    lock_ops<fibers::recursive_mutex>(acquire<fibers::recursive_mutex>);
constexpr bz_condition_ops condition_ops = {sizeof(object<fibers::mutex>),
                                            init_condition,
                                            acquire<fibers::mutex>,
                                            release<fibers::mutex>,
                                            locked<fibers::mutex>,
                                            wait,
                                            notify,
                                            nullptr};
constexpr bz_barrier_ops barrier_ops = {sizeof(barrier), init_barrier, wait_barrier,
                                        nullptr,         nullptr,      nullptr};
constexpr bz_queue_ops channel_ops(decltype(bz_queue_ops::put) puts,
                                   decltype(bz_queue_ops::get) gets) {
    return {
        sizeof(channel), init_channel, puts, gets,   put<how::at_once>, get<how::at_once>, nullptr,
        nullptr,         shut_down,    size, nullptr};
}
constexpr bz_queue_ops waiting_ops = channel_ops(put<how::waiting>, get<how::waiting>);
constexpr bz_queue_ops in_time_ops = channel_ops(put<how::in_time>, get<how::in_time>);

template <how way>
constexpr bz_queue_ops meeting_ops = {sizeof(meeting), init_meeting,   meet<way>, be_met<way>,
                                      meet_at_once,    be_met_at_once, nullptr,   nullptr,
                                      close_meeting,   nullptr,        nullptr};

/* A cancelled wait continues, and the next one is cancelled. */
constexpr bz_rules keeps = [] {
    bz_rules rules{};
    rules.woken = BZ_WOKEN_KEEPS_RESULT;
    return rules;
}();

constexpr bz_variant named(const char *name, const char *summary, uint32_t claims) {
    bz_variant own{};
    own.version = BZ_VARIANT_VERSION;
    own.name = name;
    own.summary = summary;
    own.claims = claims | BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_UNFAIR;
    own.rules = &keeps;
    return own;
}

constexpr bz_variant fiber = [] {
    bz_variant own = named("boost-fiber",
                           "Boost.Fiber: mutex, condition_variable_any, barrier, buffered_channel",
                           BZ_CLAIM_TAKES_AT_RETURN);
    own.permits[BZ_PRIMITIVE_LOCK] = &mutex_ops;
    own.condition = &condition_ops;
    own.barrier = &barrier_ops;
    own.queue = &waiting_ops;
    own.offers[BZ_PRIMITIVE_QUEUE] = {3, 3, BZ_OFFERS_BOUND, 1u << BZ_QUEUE_ORDER_FIFO};
    own.waives[BZ_PRIMITIVE_CONDITION] = BZ_CLAIM_REFUSES_MISUSE; /* anybody may notify */
    return own;
}();

constexpr bz_variant timed = [] {
    bz_variant own =
        named("boost-fiber-timed",
              "Boost.Fiber: timed_mutex and buffered_channel; every other call has a deadline",
              BZ_CLAIM_TAKES_AT_RETURN);
    own.queue = &in_time_ops;
    own.permits[BZ_PRIMITIVE_LOCK] = &timed_ops<fibers::timed_mutex>;
    return own;
}();

constexpr bz_variant with_meeting(const char *name, const char *summary, const bz_permit_ops *lock,
                                  const bz_queue_ops *queue) {
    bz_variant own = named(name, summary, 0);
    own.permits[BZ_PRIMITIVE_LOCK] = lock;
    own.queue = queue;
    own.offers[BZ_PRIMITIVE_QUEUE].bounds = BZ_OFFERS_RENDEZVOUS;
    own.offers[BZ_PRIMITIVE_QUEUE].orders = 1u << BZ_QUEUE_ORDER_FIFO;
    return own;
}

constexpr bz_variant rendezvous =
    with_meeting("boost-fiber-rendezvous", "Boost.Fiber: recursive_mutex, unbuffered_channel",
                 &recursive_ops, &meeting_ops<how::waiting>);
constexpr bz_variant timed_rendezvous = with_meeting(
    "boost-fiber-rendezvous-timed",
    "Boost.Fiber: recursive_timed_mutex, unbuffered_channel; every other call has a deadline",
    &timed_ops<fibers::recursive_timed_mutex>, &meeting_ops<how::in_time>);

} // namespace

BZ_PLUGIN(&fiber, &timed, &rendezvous, &timed_rendezvous);
