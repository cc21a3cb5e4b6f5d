#include "cosem.hpp"

namespace co {

struct semaphore::turn {
    semaphore &sem;
    waiter &own;

    bool await_ready() {
        return false;
    }
    void await_suspend(std::coroutine_handle<> handle) {
        waiter **end = &sem.oldest;
        while (*end != nullptr) {
            end = &(*end)->next;
        }
        own = {waiter::waiting, handle, nullptr};
        *end = &own;
        sem.length++;
    }
    void await_resume() {
    }
};

task<bool> semaphore::acquire(waiter &own) {
#if FAULT == 2 /* what was promised is free for newcomers; a woken waiter looks again */
    while (level == 0 && own.state != waiter::cancelled) {
        co_await turn{*this, own};
    }
    if (own.state == waiter::cancelled) {
        wake_oldest();
        co_return false;
    }
    level--;
    wake_oldest();
    co_return true;
#else
    if (level > 0) {
        level--;
        co_return true;
    }
    co_await turn{*this, own};
    if (own.state == waiter::cancelled) {
        co_return false;
    }
    promised--;
    co_return true;
#endif
}

void semaphore::release() {
    level++;
    wake_oldest();
}

void semaphore::wake_oldest() {
    if (oldest == nullptr || level == 0) {
        return;
    }
    waiter &first = *oldest;
    oldest = first.next;
    length--;
    first.state = waiter::granted;
#if FAULT != 2
    level--; /* handed over, so that no newcomer can take it */
    promised++;
#endif
    on.post(first.handle);
}

bool semaphore::cancel(waiter &other) {
    if (other.state == waiter::waiting) {
        waiter **link = &oldest;
        while (*link != &other) {
            link = &(*link)->next;
        }
        *link = other.next;
        length--;
        other.state = waiter::cancelled;
        on.post(other.handle);
        return true;
    }
    if (other.state == waiter::granted) { /* posted, and not resumed */
        other.state = waiter::cancelled;
#if FAULT == 0
        promised--;
        release(); /* the permit goes to the next one */
#elif FAULT == 1
        promised--;
#endif
        return true;
    }
    return false;
}

} // namespace co
