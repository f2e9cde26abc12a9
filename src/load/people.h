// The people of a run who are set up before it: how they come in, and what they say.
#pragma once

#include <string>
#include <string_view>

#include "load/chat_connection.h"
#include "load/guest.h"
#include "load/options.h"

namespace taut::load {

/// Makes identities that no other run has, and their connections; every call blocks. One thread.
class People {
 public:
  /// `what` names the run in their ids.
  People(std::string what, Url url, const LoadOptions& options, const auth::Secrets& secrets);

  /// Reads the URL and the secret. Errors are those of usage.
  [[nodiscard]] static Result<std::unique_ptr<People>> make(std::string what, const LoadOptions& options);

  [[nodiscard]] ChatIdentity identity(Role role, uint32_t index) const;
  /// Somebody who is not there yet.
  [[nodiscard]] Guest guest(const ChatIdentity& who, int receive_buffer = 0);
  [[nodiscard]] Result<ChatConnection> connect(const ChatIdentity& who);
  /// An agent who is online.
  [[nodiscard]] Result<ChatConnection> agent(uint32_t index);
  /// Opens a conversation on a visitor's connection and gives its id.
  [[nodiscard]] Result<std::string> open(ChatConnection& visitor);
  /// The same, and this agent, the only one who has room, accepts it.
  [[nodiscard]] Result<std::string> open(ChatConnection& visitor, ChatConnection& agent);

 private:
  const std::string run_;
  const Url url_;
  const std::string site_;
  const std::string group_;
  auth::Signer signer_;
};

/// Whole frames. `number` makes the message's id.
[[nodiscard]] std::string frame_of(std::string_view object);
[[nodiscard]] std::string send_frame(std::string_view conversation, uint64_t number, uint32_t text_bytes);
[[nodiscard]] std::string close_frame(std::string_view conversation);

}  // namespace taut::load
