/* The semaphore at work, on its own loop: what ships. */
#include <cstdio>

#include "cosem.hpp"

static co::task<bool> user(co::semaphore &sem, co::waiter &waiter) {
    bool has_permit = co_await sem.acquire(waiter);
    std::puts(has_permit ? "granted" : "cancelled");
    if (has_permit) {
        sem.release();
    }
    co_return has_permit;
}

int main() {
    co::loop loop;
    co::semaphore sem(loop, 1);
    co::waiter waiters[4];
    co::waiter first;
    co::task<bool> holder = sem.acquire(first);
    co::task<bool> users[4] = {user(sem, waiters[0]), user(sem, waiters[1]), user(sem, waiters[2]),
                               user(sem, waiters[3])};
    holder.start();
    for (co::task<bool> &each : users) {
        each.start();
    }
    sem.release();
    bool is_in_time = sem.cancel(waiters[0]) && sem.cancel(waiters[2]);
    loop.run();
    std::printf("%u free, %u waiting\n", sem.free(), sem.queued());
    return !is_in_time;
}
