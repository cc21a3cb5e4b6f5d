/* inplace.hpp in the cage, as it is: handles that are resumed directly are completions in place,
 * and nullptr says that a wait cannot be cancelled.
 *
 *     g++ -std=c++20 -o inplace.so inplace.cpp $(pkg-config --cflags --libs buzzer-plugin) */
#include "inplace.hpp"
#include "sim/variant/coroutine.hpp"

struct caged_mutex {
    bz_loop *loop;
    inplace::mutex own;
};
struct caged_event {
    bz_loop *loop;
    inplace::event own;
};

template <typename Caged> static Caged &of(void *instance) {
    return *static_cast<Caged *>(instance);
}
template <typename Awaitable> static bz::task<bz_status> await(Awaitable awaitable) {
    co_await awaitable;
    co_return BZ_OK;
}

static bz_status init_mutex(void *instance, bz_loop *loop, uint32_t) {
    new (instance) caged_mutex{loop, {}};
    return BZ_OK;
}
static bz_status unlock(void *instance) {
    bz::frames in_arena(of<caged_mutex>(instance).loop);
    of<caged_mutex>(instance).own.unlock();
    return BZ_OK;
}
static bz_status lock(void *instance) {
    caged_mutex &mutex = of<caged_mutex>(instance);
    return bz::run_coroutine(
        mutex.loop, [&] { return await(mutex.own.lock()); }, nullptr, [&] { mutex.own.unlock(); });
}

static bz_status init_event(void *instance, bz_loop *loop) {
    new (instance) caged_event{loop, {}};
    return BZ_OK;
}
static void set(void *instance) {
    bz::frames in_arena(of<caged_event>(instance).loop);
    of<caged_event>(instance).own.set();
}
static void clear(void *instance) {
    of<caged_event>(instance).own.is_set = false;
}
static bool is_set(void *instance) {
    return of<caged_event>(instance).own.is_set;
}
static bz_status wait(void *instance) {
    caged_event &event = of<caged_event>(instance);
    return bz::run_coroutine(
        event.loop, [&] { return await(event.own.wait()); }, nullptr, [] {});
}

static constexpr bz_permit_ops mutex_ops = {
    sizeof(caged_mutex), init_mutex, nullptr, lock, unlock, nullptr, nullptr};
static constexpr bz_event_ops event_ops = {
    sizeof(caged_event), init_event, set, clear, is_set, wait, nullptr};
static constexpr bz_variant both() {
    bz_variant own = bz::permit_variant(
        BZ_PRIMITIVE_LOCK, "inplace", "a mutex and an event that resume in place",
        BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT | BZ_CLAIM_WORK_CONSERVING, &mutex_ops);
    own.event = &event_ops;
    return own;
}
static constexpr bz_variant variant = both();
BZ_PLUGIN(&variant);
