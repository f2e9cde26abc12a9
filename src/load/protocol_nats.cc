#include "load/protocol_nats.h"

#include <charconv>

#include "load/protocol_peer.h"

namespace taut::load {

namespace {

constexpr std::string_view kNatsConnect =
    "CONNECT {\"verbose\":false,\"pedantic\":false,\"name\":\"taut-load\"}\r\n";
constexpr std::string_view kNatsLineEnd = "\r\n";
// Longest control line that the client takes; INFO is the longest at about 500 bytes.
constexpr size_t kNatsLineBytesMax = 4096;

class NatsProtocol final : public PeerProtocol {
 public:
  using PeerProtocol::PeerProtocol;

  Frame next_frame(std::span<char> bytes) const noexcept override {
    const std::string_view in(bytes.data(), bytes.size());
    const size_t line = in.substr(0, kNatsLineBytesMax).find(kNatsLineEnd);
    if (line == std::string_view::npos) {
      return {.kind = in.size() < kNatsLineBytesMax ? FrameKind::need_more : FrameKind::broken};
    }
    const auto line_size = static_cast<uint32_t>(line + kNatsLineEnd.size());
    if (!in.starts_with("MSG ")) {
      const FrameKind kind = in.starts_with("PING")   ? FrameKind::control
                             : in.starts_with("-ERR") ? FrameKind::broken
                                                      : FrameKind::other;
      return {.kind = kind, .size = line_size, .body_at = 0, .body_size = line_size};
    }
    // MSG subject sid [reply] size: the size is the last word.
    const size_t size_at = in.substr(0, line).rfind(' ') + 1;
    uint32_t body = 0;
    const auto [stopped, error] = std::from_chars(in.data() + size_at, in.data() + line, body);
    if (error != std::errc{} || stopped != in.data() + line || body > kTextBytesMax)
      return {.kind = FrameKind::broken};
    const uint32_t size = line_size + body + static_cast<uint32_t>(kNatsLineEnd.size());
    if (in.size() < size) return {};
    return {.kind = FrameKind::delivery, .size = size, .body_at = line_size, .body_size = body};
  }

  std::string answer(std::span<const char>) const override { return "PONG\r\n"; }

 private:
  // The PONG proves that the server has seen the subscription.
  Result<Connection> join(uint32_t pair, Side side) override {
    std::string greeting(kNatsConnect);
    if (side == Side::receives) greeting += "SUB " + pair_name(pair) + " 1\r\n";
    Result<Connection> connection = ask(greeting + "PING\r\n", "PONG\r\n");
    if (connection) connection->received.clear();
    return connection;
  }

  FramePrototype prototype(uint32_t pair) const override {
    return around_text("PUB " + pair_name(pair) + " " + std::to_string(text_bytes()) + "\r\n", kNatsLineEnd);
  }
};

}  // namespace

std::unique_ptr<Protocol> make_nats_protocol(const Url& url, const LoadChatOptions& options) {
  return std::make_unique<NatsProtocol>(url, options);
}

}  // namespace taut::load
