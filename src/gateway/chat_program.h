// What runs on each chat shard: it hands events, mail and timers to whoever they are for.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "auth/secret.h"
#include "core/published.h"
#include "core/shard.h"
#include "gateway/beginning.h"
#include "gateway/conversations.h"
#include "gateway/courier.h"
#include "gateway/dialogue.h"
#include "gateway/dispatch_desk.h"
#include "gateway/gateway_metrics.h"
#include "gateway/layout.h"
#include "gateway/sessions.h"
#include "gateway/settings.h"
#include "hub/block_return.h"
#include "hub/directory.h"
#include "hub/token_bucket.h"
#include "net/tls.h"

namespace taut::gateway {

/// Where connections come in.
struct Door {
  int listener = -1;
  int compact_listener = -1;                          ///< -1: the compact carrier is not served
  Published<net::TlsContext>* certificate = nullptr;  ///< nullptr: connections are plain
  std::span<const std::unique_ptr<GatewayMetrics>> shards =
      {};  ///< everybody's, for the count of connections
};

/// Built by main, used by its shard's thread from start() on; destroyed by main after the thread has ended.
class ChatProgram final : public ShardProgram {
 public:
  /// `door` and `replies` are shared by all chat shards; `on_started` is called once, at the end of start().
  /// All references outlive the program.
  ChatProgram(const Settings& settings, const GroupRules& rules, const auth::Secrets& secrets,
              const Layout& layout, const Door& door, Published<CannedReplies>& replies, Beginning beginning,
              GatewayMetrics& metrics, std::function<void()> on_started);
  ~ChatProgram() override;

  /// For tests, before start(): see Tracer::Options::hook.
  void set_trace_hook(std::function<void(Stage)> hook) { trace_hook_ = std::move(hook); }
  /// The lines of the traces that the setting `record` keeps. After the shard has stopped, any thread.
  void print_record(std::string& out) const;

  void start(Shard& shard) override;
  void on_events(std::span<const PollEvent> events) override;
  void on_mail(ShardId from, std::span<const Mail> batch) override;
  void on_timer(Timer& timer) override;
  void flush() override;
  [[nodiscard]] bool has_work() const override;
  void continue_work() override;
  void stop() override;
  [[nodiscard]] bool stopped() const override;

 private:
  static constexpr uint32_t kListenTimer = 48;
  /// How long no connection is accepted after the process ran out of descriptors.
  static constexpr int64_t kListenPauseNs = 100'000'000;
  /// Connections accepted in one turn; few, as Sessions::kComingsAndGoingsPerTurn.
  static constexpr uint32_t kAcceptsPerTurn = 4;

  /// Everything that needs the shard, made in start() on its thread.
  struct Parts;

  [[nodiscard]] Tracer::Options tracer_options() const;
  [[nodiscard]] uint64_t connections_now() const;
  void tell_when_restored();
  void shard_restored();
  void serve();
  void accept_some(Carrier carrier);
  [[nodiscard]] int listener(Carrier carrier) const;
  [[nodiscard]] Status listen();
  void stop_listening();
  /// Connections wait in the kernel, or for another shard.
  void pause_listening(int64_t pause_ns);
  void on_one(const Mail& mail);
  void adopt(const Mail& mail);
  void on_dispatcher_word(const Mail& mail, MailKind kind);

  const Settings& settings_;
  const GroupRules& rules_;
  const auth::Secrets& secrets_;
  const Layout layout_;
  const Door door_;
  Published<CannedReplies>& replies_;
  const std::vector<net::IpNetwork> trusted_proxies_;
  Beginning beginning_;  ///< what was recovered, until start()
  GatewayMetrics& metrics_;
  std::function<void()> on_started_;
  std::function<void(Stage)> trace_hook_;
  Shard* shard_ = nullptr;
  std::unique_ptr<Parts> parts_;
  hub::TokenBucket newcomers_;
  std::array<bool, 2> watched_{};  ///< of each carrier: the poller watches its listener
  uint32_t shards_restored_ = 0;   ///< on the dispatcher's shard
  bool listening_ = false;
  bool stopping_ = false;
};

}  // namespace taut::gateway
