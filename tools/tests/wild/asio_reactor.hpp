/* Asio's port to this platform: in the place of its reactor on epoll. A timer that never expires
 * needs no more of a reactor. Completions go to the executors of their handlers at once. Included
 * before Asio; with WILD_BOOST for Boost.Asio. */
#ifndef ASIO_REACTOR_HPP
#define ASIO_REACTOR_HPP

#define ASIO_DETAIL_EPOLL_REACTOR_HPP /* so that the original is left out */
#define BOOST_ASIO_DETAIL_EPOLL_REACTOR_HPP

#ifdef WILD_BOOST
#include <boost/asio/detail/op_queue.hpp>
#include <boost/asio/detail/scheduler_operation.hpp>
#include <boost/asio/detail/timer_queue.hpp>
#include <boost/asio/execution_context.hpp>
using error_code = boost::system::error_code;
#define WILD_ASIO boost::asio
namespace boost::asio::detail {
class scheduler_task {};
} // namespace boost::asio::detail
#else
#include <asio/detail/op_queue.hpp>
#include <asio/detail/scheduler_operation.hpp>
#include <asio/detail/scheduler_task.hpp>
#include <asio/detail/timer_queue.hpp>
#include <asio/execution_context.hpp>
using error_code = asio::error_code;
#define WILD_ASIO asio
#endif

namespace WILD_ASIO::detail {

class epoll_reactor : public execution_context_service_base<epoll_reactor>, public scheduler_task {
  public:
    using operations = op_queue<scheduler_operation>;
    template <typename Traits> using timer_of = typename timer_queue<Traits>::per_timer_data;

    explicit epoll_reactor(execution_context &of)
        : execution_context_service_base<epoll_reactor>(of) {
    }
    void shutdown() override {
    }
    void run(long, operations &) {
    }
    void interrupt() {
    }
    void init_task() {
    }
    template <typename Queue> void add_timer_queue(Queue &) {
    }
    template <typename Queue> void remove_timer_queue(Queue &) {
    }
    template <typename Traits>
    void schedule_timer(timer_queue<Traits> &queue, const typename Traits::time_type &time,
                        timer_of<Traits> &timer, wait_op *op) {
        (void)queue.enqueue_timer(time, timer, op);
    }
    template <typename Traits>
    std::size_t cancel_timer(timer_queue<Traits> &queue, timer_of<Traits> &timer,
                             std::size_t most = ~std::size_t{0}) {
        operations ready;
        std::size_t count = queue.cancel_timer(timer, ready, most);
        complete(ready);
        return count;
    }
    template <typename Traits>
    void cancel_timer_by_key(timer_queue<Traits> &queue, timer_of<Traits> *timer, void *key) {
        operations ready;
        queue.cancel_timer_by_key(timer, ready, key);
        complete(ready);
    }
    template <typename Traits>
    void move_timer(timer_queue<Traits> &queue, timer_of<Traits> &to, timer_of<Traits> &from) {
        queue.move_timer(to, from);
    }

  private:
    void complete(operations &ready) {
        while (scheduler_operation *op = ready.front()) {
            ready.pop();
            op->complete(this, error_code(), 0);
        }
    }
};

} // namespace WILD_ASIO::detail

#endif
