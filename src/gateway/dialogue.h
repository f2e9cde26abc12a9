// What each message of a client means: from frames to requests, answers and refusals.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "auth/jwt.h"
#include "auth/secret.h"
#include "base/secret_string.h"
#include "core/published.h"
#include "core/shard.h"
#include "gateway/canned_replies.h"
#include "gateway/conversations.h"
#include "gateway/courier.h"
#include "gateway/gateway_metrics.h"
#include "gateway/presence_words.h"
#include "gateway/sessions.h"
#include "gateway/settings.h"
#include "gateway/tracer.h"
#include "hub/directory.h"
#include "wire/chat_reader.h"
#include "wire/http.h"

namespace taut::gateway {

/// One per shard, its thread only.
class Dialogue final : public SessionEvents {
 public:
  struct Options {
    uint32_t shards = 1;       ///< that carry chat; identities are spread over them
    ShardId http_service = 0;  ///< gets the connections that want no WebSocket
    ShardId dispatcher = 0;
    std::span<const net::IpNetwork> trusted_proxies = {};  ///< outlives the dialogue
  };

  static constexpr uint32_t kGraceTimer = 16;
  static constexpr uint32_t kPresenceTimer = 17;

  /// `settings` and `secrets` are constant; they and `replies` outlive it.
  Dialogue(Shard& shard, Sessions& sessions, hub::Directory& directory, Courier& courier,
           Conversations& conversations, Tracer& tracer, GatewayMetrics& metrics, const Settings& settings,
           const auth::Secrets& secrets, Published<CannedReplies>& replies, const Options& options);
  ~Dialogue() override;

  size_t on_http(Session& session, std::string_view bytes) override;
  void on_frame(Session& session, std::span<char> frame) override;
  void on_leave(Session& session, net::ByteStream stream, std::string_view unread,
                std::string unsent) override;
  void on_gone(Session& session) override;
  void on_drained(Session& session) override;
  /// At the start: everybody who has something open may come back.
  void await_everybody();
  /// … and an agent who owned a conversation, on whatever shard.
  void await_owner(const OwnerMail& owner);
  /// The grace of an endpoint has passed.
  void on_grace(Timer& timer);
  /// Words about presence may go on.
  void on_presence_due();

  /// No newcomers from now on.
  void drain() { draining_ = true; }

 private:
  void begin_grace(hub::Endpoint& endpoint);
  void understand(Session& session, std::span<char> frame);
  void on_unreadable(Session& session, const wire::ReadError& error);

  // hello
  void hello(Session& session, const wire::ClientMessage& message, std::span<char> frame);
  void refuse_hello(Session& session, wire::ErrorCode code, std::string_view words, wire::CloseCode close);
  /// The oldest visitor who left nothing behind makes room for a newcomer; nullptr when there is none.
  [[nodiscard]] hub::Endpoint* endpoint_for(Role role, std::string_view id);
  void enter(Session& session, const wire::ClientMessage& message, const auth::Claims& claims);
  void replace_same_device(const hub::Endpoint& endpoint, const Session& newcomer);
  void say_missed(Session& session, const wire::ClientMessage& message);

  // messages of open sessions
  void on_message(Session& session, const wire::ClientMessage& message);
  void open(Session& session, const wire::ClientMessage& message);
  void send(Session& session, const wire::ClientMessage& message);
  void presence(Session& session, const wire::ClientMessage& message);
  void tell_presence(const PresenceWords::Word& word);
  void on_conversation(Session& session, const wire::ClientMessage& message);
  void note_typing(Session& session, const wire::ClientMessage& message);
  void stop_typing(Session& session);

  [[nodiscard]] Requester requester(const Session& session, uint32_t ref) const;
  void route(Session& session, ConversationRequest& request);
  void refuse(Session& session, const wire::ErrorMessage& error);
  void tell_dispatcher(MailKind kind, const hub::Endpoint& endpoint, chat::Presence status,
                       uint32_t capacity);
  [[nodiscard]] uint64_t group_bits(const auth::Claims& claims) const;
  [[nodiscard]] std::string_view refuse_origin(const wire::HttpRequest& request) const;

  Shard& shard_;
  Sessions& sessions_;
  hub::Directory& directory_;
  Courier& courier_;
  Conversations& conversations_;
  Tracer& tracer_;
  GatewayMetrics& metrics_;
  const Settings& settings_;
  Options options_;
  Published<CannedReplies>::Reader replies_;
  wire::ChatReader reader_;
  auth::Verifier verifier_;
  ShardId leaving_to_ = 0;      ///< of the session that is leaving in this very call
  SecretString leaving_hello_;  ///< its hello frame, as the new home will read it again
  PresenceWords presence_words_;
  Timer presence_due_{kPresenceTimer, 0};
  bool draining_ = false;
};

}  // namespace taut::gateway
