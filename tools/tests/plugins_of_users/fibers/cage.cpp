#include "cage.hpp"

namespace {

const bz_loop *clock_of; /* while a fiber runs */

/* Stacks, with the fiber's own structure on top, from the arena. */
struct arena_stack {
    cage::runtime &in;
    boost::context::stack_context allocate() {
        void *block = in.take(cage::stack_bytes);
        boost::context::stack_context stack;
        stack.size = cage::stack_bytes;
        stack.sp = static_cast<char *>(block) + cage::stack_bytes;
        return stack;
    }
    void deallocate(boost::context::stack_context &) noexcept {
    }
};

template <typename Body> cage::context *make_fiber(cage::runtime &in, Body body) {
    return boost::fibers::make_worker_context(boost::fibers::launch::post, arena_stack{in}, body)
        .detach();
}

void fire(bz_timer *timer) {
    cage::runtime &in = *reinterpret_cast<struct cage::runtime::alarm *>(timer)->in;
    in.enter(in.dispatcher);
}

void deliver(void *wanted) {
    cage::worker &own = *static_cast<cage::worker *>(wanted);
    own.in.enter(own.fiber);
}

} // namespace

/* In the place of libstdc++'s, for Boost.Fiber alone: this object comes first where it is looked
 * up.
 */
__attribute__((visibility("default"))) std::chrono::steady_clock::time_point
std::chrono::steady_clock::now() noexcept {
    return time_point(duration(clock_of == nullptr ? 0 : bz_loop_now_ns(clock_of)));
}

namespace cage {

void hook::awakened(context *fiber) noexcept {
    for (worker *each = in.workers; each != nullptr; each = each->next) {
        if (each->fiber == fiber) {
            bz_request_post(&each->current->request);
        }
    }
}

/* The dispatcher is told that nothing is ready, so that it says until when it would sleep. */
context *hook::pick_next() noexcept {
    return context::active() == in.dispatcher ? nullptr : in.main;
}

void hook::suspend_until(std::chrono::steady_clock::time_point const &when) noexcept {
    bz_timer_disarm(&in.alarm.timer);
    if (when != (std::chrono::steady_clock::time_point::max)() &&
        !bz_timer_arm(&in.alarm.timer, static_cast<uint64_t>(when.time_since_epoch().count()))) {
        std::terminate();
    }
    in.main->resume();
}

runtime::runtime(bz_loop *on) : loop(on) {
    alarm.in = this;
    bz_timer_init(&alarm.timer, loop, fire);
    intrusive_ptr_add_ref(&asks); /* so that nobody deletes it */
    scheduler.set_algo(&asks);
    dispatcher = make_fiber(*this, [this] { scheduler.dispatch(); });
    scheduler.attach_dispatcher_context(boost::intrusive_ptr<context>(dispatcher));
}

/* Runs the fiber until it suspends or has made its call; then Boost.Fiber's dispatcher looks at its
 * deadlines. */
void runtime::enter(context *fiber) {
    main = context::active();
    boost::fibers::scheduler *outer = main->get_scheduler();
    scheduler.attach_main_context(main);
    clock_of = loop;
    fiber->resume();
    if (fiber != dispatcher) {
        dispatcher->resume();
    }
    clock_of = nullptr;
    outer->attach_main_context(main);
}

struct alignas(std::max_align_t) block {
    block *next;
    std::size_t bytes;
};

void *runtime::take(std::size_t bytes) {
    bytes += sizeof(block);
    void *memory = bz_mem_alloc(bz_loop_mem(loop), bytes);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    blocks = new (memory) block{blocks, bytes};
    return blocks + 1;
}

void runtime::fini() {
    bz_timer_disarm(&alarm.timer);
    while (blocks != nullptr) {
        block *first = blocks;
        blocks = first->next;
        bz_mem_free(bz_loop_mem(loop), first, first->bytes);
    }
}

worker &runtime::of_current_task() {
    const bz_task *task = bz_loop_current(loop);
    for (worker *each = workers; each != nullptr; each = each->next) {
        if (each->task == task) {
            return *each;
        }
    }
    worker &own = *new (take(sizeof(worker))) worker{*this, task, workers};
    own.fiber = make_fiber(*this, [&own] {
        for (;;) {
            call &made = *own.current;
            bz_request_done(&made.request, made.make());
            context::active()->suspend();
        }
    });
    scheduler.attach_worker_context(own.fiber);
    workers = &own;
    return own;
}

bz_status runtime::make(call &own) {
    try {
        worker &caller = of_current_task();
        caller.current = &own;
        enter(caller.fiber);
        return bz_request_wait(&own.request, loop, &caller, deliver, nullptr);
    } catch (const std::bad_alloc &) {
        return BZ_NO_MEMORY;
    }
}

} // namespace cage
