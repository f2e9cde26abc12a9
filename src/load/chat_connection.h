// A chat client that blocks: connects, says who it is and waits for one answer at a time, for set-up only.
#pragma once

#include <string>
#include <string_view>

#include "auth/jwt.h"
#include "base/identity.h"
#include "base/result.h"
#include "load/chat_carrier.h"
#include "load/tcp_socket.h"

namespace taut::load {

/// Somebody who connects, with all that the token says.
struct ChatIdentity {
  Role role = Role::visitor;
  std::string id;
  std::string site;
  std::string group;            ///< agents only
  uint32_t capacity = 1;        ///< agents only
  std::string device = "load";  ///< one connection of an identity each
};

/// How long the tokens of a run are valid, seconds.
inline constexpr int64_t kTokenSeconds = 86'400;

/// Loads the secret that makes the tokens. Error: no readable secret in the file.
[[nodiscard]] Result<auth::Secrets> load_secret(const std::string& file);

/// What `who` says first, with a fresh token.
[[nodiscard]] std::string hello_object(const ChatIdentity& who, auth::Signer& signer);

/// The string value of a field in an object that the server wrote, for values without escapes (ids); empty
/// when it is not there.
[[nodiscard]] std::string_view string_field(std::string_view json, std::string_view name);
/// True when the object is of this type.
[[nodiscard]] bool is_type(std::string_view json, std::string_view type);

/// One thread; every call blocks for TcpSocket::kSetUpSeconds at most.
class ChatConnection {
 public:
  /// Connected and welcomed. A server that refuses for the moment (503) is asked again within the same time.
  [[nodiscard]] static Result<ChatConnection> open(const Url& url, const ChatIdentity& who,
                                                   auth::Signer& signer);

  /// Sends one object.
  [[nodiscard]] Status say(std::string_view json);
  /// The next object of this type; others are skipped. Error: `error`, a close, or silence.
  [[nodiscard]] Result<std::string> expect(std::string_view type);
  /// Gives the connection away, with what has been received and not looked at.
  [[nodiscard]] Connection release() && { return std::move(connection_); }

 private:
  ChatConnection(const ChatCarrier& carrier, Connection connection)
      : carrier_(&carrier), connection_(std::move(connection)) {}

  const ChatCarrier* carrier_;
  Connection connection_;
};

}  // namespace taut::load
