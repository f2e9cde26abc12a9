#include "load/protocol_mqtt.h"

#include "load/protocol_peer.h"

namespace taut::load {

namespace {

// The first byte of a packet: its type in the upper half, flags in the lower.
constexpr uint8_t kMqttConnect = 0x10;
constexpr uint8_t kPublish = 0x30;
constexpr uint8_t kPublishFlagsOfQos = 0x06;
constexpr uint8_t kSubscribe = 0x82;
constexpr uint8_t kSubscribeAnswer = 0x90;
constexpr uint8_t kTypeMask = 0xF0;
constexpr size_t kLengthBytesMax = 4;
// Largest packet that the client takes: a text and its topic.
constexpr uint32_t kPacketBytesMax = kTextBytesMax + 256;

using namespace std::string_view_literals;
constexpr std::string_view kConnected = "\x20\x02\x00\x00"sv;
constexpr std::string_view kSubscribed = "\x90\x03\x00\x01\x00"sv;  // packet 1, granted QoS 0
// Protocol name and level (4 is 3.1.1), a clean session, no keep-alive: nobody pings.
constexpr std::string_view kConnectHead = "\x00\x04MQTT\x04\x02\x00\x00"sv;

std::string two_bytes(size_t number) {
  return {static_cast<char>(number >> 8), static_cast<char>(number)};
}

std::string with_length(std::string_view text) {
  return two_bytes(text.size()) + std::string(text);
}

// First byte and remaining length, seven bits a byte, the lowest first.
std::string packet_head(uint8_t first, size_t remaining) {
  std::string head(1, static_cast<char>(first));
  do {
    const size_t more = remaining > 0x7F ? 0x80 : 0;
    head += static_cast<char>((remaining & 0x7F) | more);
    remaining >>= 7;
  } while (remaining != 0);
  return head;
}

std::string packet(uint8_t first, const std::string& body) {
  return packet_head(first, body.size()) + body;
}

class MqttProtocol final : public PeerProtocol {
 public:
  using PeerProtocol::PeerProtocol;

  Frame next_frame(std::span<char> bytes) const noexcept override {
    const auto byte = [&](size_t at) { return static_cast<uint8_t>(bytes[at]); };
    uint32_t remaining = 0;
    uint32_t body_at = 1;
    for (uint32_t more = 0x80; more != 0; ++body_at) {
      if (body_at > kLengthBytesMax) return {.kind = FrameKind::broken};
      if (body_at >= bytes.size()) return {};
      more = byte(body_at) & 0x80;
      remaining |= (byte(body_at) & 0x7FU) << (7 * (body_at - 1));
    }
    if (remaining > kPacketBytesMax) return {.kind = FrameKind::broken};
    const uint32_t size = body_at + remaining;
    if (bytes.size() < size) return {};
    if ((byte(0) & kTypeMask) == kSubscribeAnswer) return {.kind = FrameKind::other, .size = size};
    if ((byte(0) & (kTypeMask | kPublishFlagsOfQos)) != kPublish || remaining < 2)
      return {.kind = FrameKind::broken};
    const uint32_t topic = byte(body_at) * 256U + byte(body_at + 1);
    if (topic + 2 > remaining) return {.kind = FrameKind::broken};
    body_at += 2 + topic;
    return {.kind = FrameKind::delivery, .size = size, .body_at = body_at, .body_size = size - body_at};
  }

 private:
  Result<Connection> join(uint32_t pair, Side side) override {
    const bool receives = side == Side::receives;
    const std::string name = "load." + std::string(receives ? "r" : "s") + std::to_string(pair);
    std::string request = packet(kMqttConnect, std::string(kConnectHead) + with_length(name));
    std::string answer(kConnected);
    if (receives) {
      request += packet(kSubscribe, two_bytes(1) + with_length(pair_name(pair)) + '\0');
      answer += kSubscribed;
    }
    Result<Connection> connection = ask(request, answer);
    if (connection) connection->received.clear();
    return connection;
  }

  FramePrototype prototype(uint32_t pair) const override {
    const std::string topic = with_length(pair_name(pair));
    return around_text(packet_head(kPublish, topic.size() + text_bytes()) + topic, {});
  }
};

}  // namespace

std::unique_ptr<Protocol> make_mqtt_protocol(const Url& url, const LoadChatOptions& options) {
  return std::make_unique<MqttProtocol>(url, options);
}

}  // namespace taut::load
