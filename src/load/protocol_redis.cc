#include "load/protocol_redis.h"

#include <charconv>

#include "load/protocol_peer.h"

namespace taut::load {

namespace {

constexpr std::string_view kRedisLineEnd = "\r\n";
// Longest line that is no text: a status, a number, the length of a bulk string.
constexpr size_t kRedisLineBytesMax = 512;
constexpr std::string_view kMessageHead = "*3\r\n$7\r\nmessage\r\n";

// A string as RESP writes it.
std::string bulk(std::string_view text) {
  return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}

// The line at the front, its end included: `delivery` stands for "it is whole".
Frame next_line(std::string_view in) {
  const size_t end = in.substr(0, kRedisLineBytesMax).find(kRedisLineEnd);
  if (end == std::string_view::npos)
    return {.kind = in.size() < kRedisLineBytesMax ? FrameKind::need_more : FrameKind::broken};
  return {.kind = FrameKind::delivery, .size = static_cast<uint32_t>(end + kRedisLineEnd.size())};
}

// The bulk string at the front; `delivery` stands for "it is whole".
Frame next_bulk(std::string_view in) {
  const Frame line = next_line(in);
  if (line.kind != FrameKind::delivery) return line;
  const char* end = in.data() + line.size - kRedisLineEnd.size();
  uint32_t size = 0;
  const auto [stopped, error] = std::from_chars(in.data() + 1, end, size);
  if (in[0] != '$' || error != std::errc{} || stopped != end || size > kTextBytesMax)
    return {.kind = FrameKind::broken};
  const auto whole = static_cast<uint32_t>(line.size + size + kRedisLineEnd.size());
  if (in.size() < whole) return {};
  return {.kind = FrameKind::delivery, .size = whole, .body_at = line.size, .body_size = size};
}

class RedisProtocol final : public PeerProtocol {
 public:
  using PeerProtocol::PeerProtocol;

  Frame next_frame(std::span<char> bytes) const noexcept override {
    const std::string_view in(bytes.data(), bytes.size());
    if (in.empty()) return {};
    if (in[0] == '*') return next_message(in);
    Frame line = next_line(in);
    if (line.kind == FrameKind::delivery) line.kind = in[0] == ':' ? FrameKind::ack : FrameKind::broken;
    return line;
  }

  bool acknowledges() const override { return true; }

 private:
  // *3, "message", the channel, the text.
  static Frame next_message(std::string_view in) {
    if (!in.starts_with(kMessageHead))
      return {.kind = kMessageHead.starts_with(in) ? FrameKind::need_more : FrameKind::broken};
    const Frame channel = next_bulk(in.substr(kMessageHead.size()));
    if (channel.kind != FrameKind::delivery) return channel;
    const auto text_at = static_cast<uint32_t>(kMessageHead.size() + channel.size);
    Frame text = next_bulk(in.substr(text_at));
    text.size += text_at;
    text.body_at += text_at;
    return text;
  }

  Result<Connection> join(uint32_t pair, Side side) override {
    const std::string channel = bulk(pair_name(pair));
    const std::string subscribed = "*3\r\n" + bulk("subscribe") + channel + ":1\r\n";
    Result<Connection> connection = side == Side::receives
                                        ? ask("*2\r\n" + bulk("SUBSCRIBE") + channel, subscribed)
                                        : ask("*1\r\n" + bulk("PING"), "+PONG\r\n");
    if (connection) connection->received.clear();
    return connection;
  }

  FramePrototype prototype(uint32_t pair) const override {
    return around_text(
        "*3\r\n" + bulk("PUBLISH") + bulk(pair_name(pair)) + "$" + std::to_string(text_bytes()) + "\r\n",
        kRedisLineEnd);
  }
};

}  // namespace

std::unique_ptr<Protocol> make_redis_protocol(const Url& url, const LoadChatOptions& options) {
  return std::make_unique<RedisProtocol>(url, options);
}

}  // namespace taut::load
