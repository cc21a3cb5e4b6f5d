/* The faults that the plug-in finds in Boost.Fiber, without Buzzer: on its own scheduler, in real
 * time. A fiber whose deadline has passed leaves with a wake-up that another one needed, and a push
 * whose item was received, or is still to be, says that it has failed. Prints a line for each case,
 * and exits with the number of cases that are wrong. */
#include <boost/fiber/buffered_channel.hpp>
#include <boost/fiber/fiber.hpp>
#include <boost/fiber/operations.hpp>
#include <boost/fiber/timed_mutex.hpp>
#include <boost/fiber/unbuffered_channel.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

using namespace std::chrono_literals;
namespace fibers = boost::fibers;

namespace {

constexpr auto deadline = 5ms;

/* The thread is busy, until the deadline has passed. */
void compute() {
    auto until = std::chrono::steady_clock::now() + 2 * deadline;
    while (std::chrono::steady_clock::now() < until) {
    }
}

template <typename Body> void start(Body body) {
    fibers::fiber(fibers::launch::dispatch, body).detach();
}

int waits_in_vain(const char *what, bool is_free, bool has_waited) {
    bool is_lost = is_free && !has_waited;
    std::printf("%s: %s\n", what, is_lost ? "lost wake-up" : "all is well");
    return is_lost;
}

/* `is_yielding`: the deadline passes before the unlock; else between the unlock and the resume. */
int of_mutex(const char *what, bool is_yielding) {
    static fibers::timed_mutex mutexes[2];
    fibers::timed_mutex &mutex = mutexes[is_yielding];
    bool has_locked = false;
    mutex.lock();
    start([&] {
        if (mutex.try_lock_for(deadline)) {
            mutex.unlock();
        }
    });
    start([&] {
        mutex.lock();
        has_locked = true;
        mutex.unlock();
    });
    if (is_yielding) {
        compute();
        boost::this_fiber::yield();
    }
    mutex.unlock();
    compute();
    boost::this_fiber::sleep_for(2 * deadline);
    return waits_in_vain(what, mutex.try_lock(), has_locked);
}

int of_channel() {
    static fibers::buffered_channel<int> channel(4);
    bool has_got = false;
    int item = 0;
    start([&] {
        int late = 0;
        (void)channel.pop_wait_for(late, deadline);
    });
    start([&] {
        int got = 0;
        has_got = channel.pop(got) == fibers::channel_op_status::success;
    });
    (void)channel.push(1);
    compute();
    boost::this_fiber::sleep_for(2 * deadline);
    return waits_in_vain("buffered_channel, woken and late",
                         channel.try_pop(item) == fibers::channel_op_status::success, has_got);
}

/* The deadline of a push passes after its item was received; or the channel was closed before, and
 * the item is received when the push has returned: from a stack that is used for something else. */
bool is_received_unsent(bool is_closed) {
    fibers::unbuffered_channel<int> channel;
    auto put = fibers::channel_op_status::success;
    int got = 0;
    start([&] { put = is_closed ? channel.push(7) : channel.push_wait_for(7, deadline); });
    if (is_closed) {
        channel.close();
        boost::this_fiber::yield();
    }
    bool was_got = channel.pop(got) == fibers::channel_op_status::success;
    compute();
    boost::this_fiber::yield();
    return was_got && put != fibers::channel_op_status::success;
}

int of_rendezvous(const char *what, bool is_closed) {
    int status = 0;
    pid_t child = fork(); /* it may crash */
    if (child == 0) {
        std::_Exit(is_received_unsent(is_closed));
    }
    bool is_wrong = waitpid(child, &status, 0) == child && status != 0;
    std::printf("%s: %s\n", what, is_wrong ? "received, but not sent" : "all is well");
    return is_wrong;
}

} // namespace

int main() {
    int lost = of_mutex("timed_mutex, woken and late", false) +
               of_mutex("timed_mutex, late and not yet run", true) + of_channel() +
               of_rendezvous("unbuffered_channel, received and late", false) +
               of_rendezvous("unbuffered_channel, closed", true);
    std::fflush(stdout);
    std::_Exit(lost); /* the fibers that wait cannot be ended */
}
