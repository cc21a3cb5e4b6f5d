/* asio::experimental::channel and concurrent_channel as queues, with a buffer and without. */
#include "tools/tests/wild/asio_cage.hpp"

#include <asio/experimental/channel.hpp>
#include <asio/experimental/channel_error.hpp>
#include <asio/experimental/concurrent_channel.hpp>

#include "sim/variant/new.hpp"

namespace {

using cage::run;
using signature = void(asio::error_code, uint64_t);

template <typename Items> struct channel {
    bz_loop *loop;
    asio::execution_context context;
    Items items;

    channel(bz_loop *on, uint32_t slots)
        : loop(on), items(cage::executor{&context, nullptr}, slots) {
    }
};

template <typename Items>
bz_status init(void *instance, bz_loop *loop, bz_queue_order, uint32_t maxsize) {
    return cage::make<channel<Items>>(instance, loop, maxsize == BZ_QUEUE_RENDEZVOUS ? 0 : maxsize);
}

bz_status status_of(const asio::error_code &error) {
    namespace errors = asio::experimental::error;
    return !error                               ? BZ_OK
           : error == errors::channel_closed    ? BZ_CLOSED
           : error == errors::channel_cancelled ? BZ_CANCELLED
                                                : BZ_FAILED;
}

template <typename Items> bz_status put(void *instance, uint64_t value, int64_t) {
    auto &own = *static_cast<channel<Items> *>(instance);
    return run(
        own.loop, own.context,
        [&](auto handler) { own.items.async_send(asio::error_code(), value, handler); },
        [](auto &, asio::error_code error) { return status_of(error); });
}

template <typename Items> bz_status get(void *instance, uint64_t *value) {
    auto &own = *static_cast<channel<Items> *>(instance);
    return run(
        own.loop, own.context, [&](auto handler) { own.items.async_receive(handler); },
        [&](auto &, asio::error_code error, uint64_t got) {
            *value = got;
            return status_of(error);
        });
}

/* A try does not say whether the channel is closed. */
template <typename Items> bz_status refusal(channel<Items> &own, bz_status status) {
    return own.items.is_open() ? status : BZ_CLOSED;
}

template <typename Items> bz_status try_put(void *instance, uint64_t value, int64_t) {
    auto &own = *static_cast<channel<Items> *>(instance);
    bz_malloc_from(own.loop);
    bool was_sent = own.items.try_send(asio::error_code(), value);
    return was_sent ? BZ_OK : refusal(own, BZ_FULL);
}

template <typename Items> bz_status try_get(void *instance, uint64_t *value) {
    auto &own = *static_cast<channel<Items> *>(instance);
    bz_malloc_from(own.loop);
    bool was_received =
        own.items.try_receive([&](asio::error_code, uint64_t got) { *value = got; });
    return was_received ? BZ_OK : refusal(own, BZ_EMPTY);
}

template <typename Items> void shut_down(void *instance, bool is_immediate) {
    auto &own = *static_cast<channel<Items> *>(instance);
    bz_malloc_from(own.loop);
    own.items.close();
    while (is_immediate && own.items.try_receive([](asio::error_code, uint64_t) {})) {
    }
}

template <typename Items>
constexpr bz_queue_ops ops = {sizeof(channel<Items>), init<Items>,    put<Items>, get<Items>,
                              try_put<Items>,         try_get<Items>, nullptr,    nullptr,
                              shut_down<Items>,       nullptr,        nullptr};

constexpr bz_variant named(const char *name, const char *summary, const bz_queue_ops *queue) {
    bz_variant own{};
    own.version = BZ_VARIANT_VERSION;
    own.name = name;
    own.summary = summary;
    own.claims = BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT | BZ_CLAIM_UNAIDED;
    own.queue = queue;
    own.offers[BZ_PRIMITIVE_QUEUE].bounds = BZ_OFFERS_BOUND | BZ_OFFERS_RENDEZVOUS;
    own.offers[BZ_PRIMITIVE_QUEUE].orders = 1u << BZ_QUEUE_ORDER_FIFO;
    own.rules = &cage::rules_of_asio;
    return own;
}

using plain = asio::experimental::channel<cage::executor, signature>;
using concurrent = asio::experimental::concurrent_channel<cage::executor, signature>;

constexpr bz_variant channels = named("asio/channel", "Asio: experimental::channel", &ops<plain>);
constexpr bz_variant concurrent_channels =
    named("asio/concurrent-channel", "Asio: experimental::concurrent_channel", &ops<concurrent>);

} // namespace

BZ_PLUGIN(&channels, &concurrent_channels);
