// For tests: shards that one thread turns by hand under a clock of its own.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "core/log_ring.h"
#include "core/mesh.h"
#include "core/poller.h"
#include "core/shard.h"
#include "hub/block_return.h"

namespace taut::hub {

/// Takes blocks back, keeps all other mail, and leaves events, timers and output to what the test puts in.
class HandTurnedProgram final : public ShardProgram {
 public:
  void start(Shard& shard) override { back = std::make_unique<BlockReturn>(shard); }
  void on_events(std::span<const PollEvent> events) override {
    for (const PollEvent& event : events) {
      if (handle_event) handle_event(event);
    }
  }
  void on_mail(ShardId /*from*/, std::span<const Mail> batch) override {
    for (const Mail& mail : batch) {
      if (mail.kind == kReturnBlocksMail) {
        ++returns;
        back->take_back(mail.as<ReturnedBlocks>());
      } else {
        received.push_back(mail);
      }
    }
  }
  void on_timer(Timer& timer) override {
    if (handle_timer) handle_timer(timer);
  }
  void flush() override {
    if (at_flush) at_flush();
    back->flush();
  }
  [[nodiscard]] bool has_work() const override { return false; }
  void continue_work() override {}
  void stop() override {}
  [[nodiscard]] bool stopped() const override { return true; }

  std::function<void(const PollEvent&)> handle_event;
  std::function<void(Timer&)> handle_timer;
  std::function<void()> at_flush;
  std::unique_ptr<BlockReturn> back;
  std::vector<Mail> received;
  int returns = 0;  ///< mails that brought blocks home
};

/// A shard that has begun. Its pool must have all blocks home when it goes.
struct HandTurnedShard {
  HandTurnedShard(ShardId id, Mesh& mesh, Clock& clock, size_t pool_bytes_max = size_t{64} << 20)
      : poller(std::move(*make_epoll_poller())),
        log(id),
        shard(options(id, pool_bytes_max), clock, *poller, mesh, log) {
    shard.begin(program);
  }

  static Shard::Options options(ShardId id, size_t pool_bytes_max) {
    Shard::Options options;
    options.id = id;
    options.pool = {.home = static_cast<uint16_t>(id), .base_bytes = 0, .bytes_max = pool_bytes_max};
    return options;
  }

  bool turn() { return shard.turn(program); }
  /// Sends what was put into the mail outside of a turn, too.
  void flush() {
    program.flush();
    turn();
  }
  [[nodiscard]] BufferPool& pool() { return shard.pool(); }
  [[nodiscard]] BlockReturn& back() { return *program.back; }
  [[nodiscard]] uint64_t outstanding() { return shard.pool().metrics().blocks_outstanding(); }

  std::unique_ptr<Poller> poller;
  LogRing log;
  HandTurnedProgram program;
  Shard shard;
};

}  // namespace taut::hub
