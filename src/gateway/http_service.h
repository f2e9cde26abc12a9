// Answers everything over HTTP that is not a WebSocket: health, metrics, tokens, history, the demo page.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "auth/admin_key.h"
#include "auth/jwt.h"
#include "auth/secret.h"
#include "base/secret_string.h"
#include "base/slot_map.h"
#include "core/cell.h"
#include "core/shard.h"
#include "gateway/inquiry.h"
#include "gateway/layout.h"
#include "gateway/mails.h"
#include "gateway/metrics_page.h"
#include "gateway/settings.h"
#include "net/byte_stream.h"
#include "wire/http.h"
#include "wire/token_request.h"

namespace taut::gateway {

/// A member of the mesh on a thread of its own that parks and never spins, so it may allocate and take its
/// time. Chat shards hand it connections; it hands nothing back. What only they know it asks by mail
/// (Inquiry): meanwhile that connection waits, what it sends stays with the kernel.
class HttpService final : public ShardProgram {
 public:
  /// All references outlive the service; `sources` may name the service's own shard. It waits until then.
  /// `leaving` is 1 from the moment at which the process was told to stop; the service's own stop comes
  /// later.
  HttpService(const Settings& settings, const Layout& layout, const auth::Secrets& secrets,
              const std::optional<auth::AdminKey>& admin_key, std::vector<MetricsSource> sources,
              const Cell& leaving);
  ~HttpService() override;

  void start(Shard& shard) override { shard_ = &shard; }
  void on_events(std::span<const PollEvent> events) override;
  void on_mail(ShardId from, std::span<const Mail> batch) override;
  void on_timer(Timer& timer) override;
  void flush() override;
  [[nodiscard]] bool has_work() const override { return !waiting_.empty(); }
  void continue_work() override;
  void stop() override;
  [[nodiscard]] bool stopped() const override { return stopping_; }

 private:
  /// An idle connection is closed after this.
  static constexpr int64_t kIdleNs = 30'000'000'000;
  /// What shards have not answered after this is 503.
  static constexpr int64_t kInquiryNs = 5'000'000'000;
  static constexpr uint32_t kConnectionsMax = 1'024;
  /// Questions that the archive has at once; with more they would wait longer than their clients.
  static constexpr uint32_t kAtArchiveMax = 64;

  struct Connection {
    explicit Connection(Handle handle) : self(handle) {}
    Handle self;
    net::ByteStream stream;
    Timer idle;            ///< or, of an inquiry, the end of its time
    Handle inquiry;        ///< that the client waits for; nothing is read or answered meanwhile
    SecretString in;       ///< may hold the admin key
    SecretString out;      ///< may hold a fresh token
    bool blocked = false;  ///< `out` waits for the socket; nothing is read or answered meanwhile
    bool waiting = false;  ///< in `waiting_`
    bool close_when_written = false;
  };

  /// A request that waits for mail.
  struct Pending {
    Pending(Handle handle, Handle asker, wire::HttpRequest asked, std::unique_ptr<Inquiry> question)
        : self(handle), connection(asker), request(std::move(asked)), inquiry(std::move(question)) {}
    Handle self;
    Handle connection;
    wire::HttpRequest request;
    std::unique_ptr<Inquiry> inquiry;
  };

  void adopt(const Mail& mail);
  void read(Connection& connection);
  void answer(Connection& connection);
  void write(Connection& connection);
  void drop(Connection& connection);

  void respond(Connection& connection, wire::HttpRequest request);
  void finish(Connection& connection, const wire::HttpRequest& request, HttpAnswer answer);
  void defer(Connection& connection, wire::HttpRequest request, std::unique_ptr<Inquiry> inquiry);
  void on_inquiry(const InquiryMail& mail);
  void on_archive(const ArchiveMail& mail);
  void resolve(Handle handle, HttpAnswer answer);

  [[nodiscard]] HttpReply route(const wire::HttpRequest& request);
  [[nodiscard]] HttpReply get(const wire::HttpRequest& request, std::string_view path);
  /// The refusal of a request that does not bring the admin key.
  [[nodiscard]] std::optional<HttpAnswer> refuse_stranger(const wire::HttpRequest& request) const;
  [[nodiscard]] HttpAnswer get_slowest(const wire::HttpRequest& request);
  [[nodiscard]] HttpReply get_explanation(const wire::HttpRequest& request, std::string_view conversation);
  [[nodiscard]] HttpReply change_block(const wire::HttpRequest& request, std::string_view visitor,
                                       bool block);
  [[nodiscard]] HttpReply forget(const wire::HttpRequest& request, std::string_view visitor);
  [[nodiscard]] HttpAnswer post_tokens(const wire::HttpRequest& request);
  [[nodiscard]] HttpAnswer post_demo_token(const wire::HttpRequest& request);
  [[nodiscard]] std::string sign(const wire::TokenRequest& request);

  const Settings& settings_;
  const Layout layout_;
  const std::optional<auth::AdminKey>& admin_key_;
  std::vector<MetricsSource> sources_;
  const Cell& leaving_;
  auth::Signer signer_;
  SlotMap<Connection> connections_;
  SlotMap<Pending> pending_;
  std::vector<Handle> waiting_;  ///< connections whose input may hold another request
  Shard* shard_ = nullptr;
  uint64_t demo_ids_ = 0;
  uint32_t at_archive_ = 0;
  bool stopping_ = false;
};

}  // namespace taut::gateway
