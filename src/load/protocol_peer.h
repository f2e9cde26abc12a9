// What all rivals have in common: pairs of a receiving and a sending connection, and one direction.
#pragma once

#include "load/protocol.h"

namespace taut::load {

/// A rival that carries messages and knows no people. It has an address and no path.
class PeerProtocol : public Protocol {
 public:
  PeerProtocol(Url url, const LoadChatOptions& options)
      : url_(std::move(url)), pairs_(options.pairs), text_bytes_(options.size) {}

  Result<Session> open() final;
  void close(Session& session) final { session.connections.clear(); }

  std::string answer(std::span<const char>) const override { return {}; }
  bool acknowledges() const override { return false; }

 protected:
  enum class Side : uint8_t { receives, sends };

  /// Connects one side of a pair, blocking. A receiver gets whatever its pair sends from now on.
  [[nodiscard]] virtual Result<Connection> join(uint32_t pair, Side side) = 0;
  /// The message that this pair sends.
  [[nodiscard]] virtual FramePrototype prototype(uint32_t pair) const = 0;

  /// Connects, says `request` and waits for an answer that ends in `end`, which is left in `received`.
  [[nodiscard]] Result<Connection> ask(std::string_view request, std::string_view end) const;
  /// A frame whose text stands between two pieces that never change.
  [[nodiscard]] FramePrototype around_text(std::string head, std::string_view tail) const;

  [[nodiscard]] const Url& url() const { return url_; }
  [[nodiscard]] uint32_t text_bytes() const { return text_bytes_; }

 private:
  const Url url_;
  const uint32_t pairs_;
  const uint32_t text_bytes_;
};

/// The channel, subject or topic of a pair.
[[nodiscard]] inline std::string pair_name(uint32_t pair) {
  return "load." + std::to_string(pair);
}

}  // namespace taut::load
