#include "gateway/durable_courier.h"

namespace taut::gateway {

DurableCourier::~DurableCourier() {
  while (!held_.empty()) {
    const auto held = held_.front(1).front().as<Held>();
    held_.consume(1);
    if (held.delivery.frame != nullptr) shard_.pool().release(held.delivery.frame);
  }
}

void DurableCourier::release_durable() {
  while (!held_.empty()) {
    const auto held = held_.front(1).front().as<Held>();
    if (!feed_.is_durable(held.number)) return;
    held_.consume(1);
    courier_.deliver(held.delivery);
  }
}

}  // namespace taut::gateway
