// Who blocks visitors and lets them in again in a simulation, in the place of the HTTP service.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/shard.h"
#include "gateway/inquiry.h"
#include "gateway/layout.h"

namespace taut::sim {

/// Asks what PUT and DELETE /v1/visitors/{id}/block ask, one order at a time. One thread.
class Administrator final : public ShardProgram {
 public:
  explicit Administrator(const gateway::Layout& layout) : layout_(layout) {}

  /// No order waits for its answer.
  [[nodiscard]] bool idle() const { return inquiry_ == nullptr; }
  /// Its next turn asks. 0 seconds: the visitor is blocked no longer. REQUIRES: idle().
  void order(std::string_view visitor, uint32_t seconds);

  void start(Shard& shard) override { shard_ = &shard; }
  void on_events(std::span<const PollEvent> /*events*/) override {}
  void on_mail(ShardId from, std::span<const Mail> batch) override;
  void on_timer(Timer& /*timer*/) override {}
  void flush() override {}
  [[nodiscard]] bool has_work() const override { return wants_to_ask_; }
  void continue_work() override;
  void stop() override {}
  [[nodiscard]] bool stopped() const override { return true; }

 private:
  const gateway::Layout layout_;
  Shard* shard_ = nullptr;
  std::unique_ptr<gateway::Inquiry> inquiry_;
  bool wants_to_ask_ = false;
};

}  // namespace taut::sim
