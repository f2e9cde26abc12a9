// A poller that looks as epoll does and tells what is ready in an order of the seed's.
#pragma once

#include <memory>
#include <vector>

#include "core/poller.h"
#include "sim/dice.h"

namespace taut::sim {

/// Owner thread only. Never waits. What a socket holds for a slow reader is made small, so that a simulation
/// sees it full.
class SeededPoller final : public Poller {
 public:
  explicit SeededPoller(uint64_t seed);

  [[nodiscard]] Status add(int fd, Interest interest, uint64_t token, bool exclusive) override;
  void modify(int fd, Interest interest, uint64_t token) override { inner_->modify(fd, interest, token); }
  void remove(int fd) override { inner_->remove(fd); }
  [[nodiscard]] uint32_t wait(std::span<PollEvent> out, int64_t timeout_ns) override;
  void wake() noexcept override {}

 private:
  static constexpr int kSendBytes = 4'096;

  const std::unique_ptr<Poller> inner_;
  Dice dice_;
};

}  // namespace taut::sim
