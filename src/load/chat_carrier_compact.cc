// The compact carrier for a client that measures (of load/chat_carrier.h).
#include "load/chat_carrier.h"
#include "load/chat_connection.h"
#include "load/stamp.h"
#include "wire/compact.h"

namespace taut::load {

namespace {

// Of what a server says to clients that measure: no pages of history.
constexpr uint32_t kBodyBytesMax = wire::kChatFrameBytesMax;

constexpr auto kPing = static_cast<uint32_t>(wire::ClientType::ping);
constexpr auto kFirstServerType = static_cast<uint32_t>(wire::ServerType::welcome);
constexpr auto kLastServerType = static_cast<uint32_t>(wire::kServerTypeLast);

std::string netstring(std::string_view body) {
  std::string out(wire::netstring_size(body.size()), '\0');
  wire::write_netstring(out, body);
  return out;
}

std::string body_of(wire::ClientType type, std::string_view conversation, std::string_view payload) {
  return std::to_string(static_cast<uint32_t>(type))
      .append(":")
      .append(conversation)
      .append(":")
      .append(payload);
}

FrameKind kind_of_body(const wire::CompactBody& body) {
  if (body.type == kPing) return FrameKind::control;
  switch (static_cast<wire::ServerType>(body.type)) {
    case wire::ServerType::message:
      return FrameKind::delivery;
    case wire::ServerType::ack:  // one accepted for each send; a durable one may follow and is not counted
      return body.payload.ends_with(R"("level":"accepted"})") ? FrameKind::ack : FrameKind::other;
    case wire::ServerType::error:
    case wire::ServerType::bye:
      return FrameKind::broken;
    default:
      return FrameKind::other;
  }
}

/// The object that a WebSocket would carry; empty when it is none of a server's.
std::string object_of(std::string_view text) {
  const auto body = wire::parse_compact_body(text);
  if (!body || body->payload.empty() || body->type < kFirstServerType || body->type > kLastServerType)
    return {};
  const std::string_view type = wire::name_of(static_cast<wire::ServerType>(body->type));
  std::string object = R"({"type":")" + std::string(type) + R"(",)";
  if (!body->conversation.empty())
    object.append(R"("conversation":")").append(body->conversation).append(R"(",)");
  return object.append(body->payload.substr(1));
}

class CompactCarrier final : public ChatCarrier {
 public:
  Result<Connection> connect(const Url& url, bool& refused_for_now) const override {
    refused_for_now = false;
    Result<TcpSocket> socket = TcpSocket::dial(url);
    if (!socket) return std::unexpected(socket.error());
    return Connection{.socket = std::move(*socket), .received = {}};
  }

  // The server ignores the type and the conversation inside of a payload.
  std::string request(std::string_view object) const override {
    const auto type = wire::client_type_of(string_field(object, "type"));
    return netstring(
        body_of(type.value_or(wire::ClientType::ping), string_field(object, "conversation"), object));
  }

  Result<std::string> receive_object(Connection& connection) const override {
    std::string& received = connection.received;
    while (true) {
      const Frame frame = next_frame(received);
      if (frame.kind == FrameKind::need_more) {
        if (Status got = connection.socket.receive_some(received); !got) return std::unexpected(got.error());
        continue;
      }
      std::string object = object_of(std::string_view(received).substr(frame.body_at, frame.body_size));
      received.erase(0, frame.size);
      if (frame.kind == FrameKind::control) {
        if (Status sent = connection.socket.send_all(answer({})); !sent) return std::unexpected(sent.error());
      } else if (object.empty()) {
        return fail("the server broke the protocol");
      } else if (is_type(object, "bye")) {
        return fail("the server closed with " + object);
      } else {
        return object;
      }
    }
  }

  FramePrototype stamped_send(const std::string& conversation, uint32_t text_bytes) const override {
    const std::string begin = body_of(wire::ClientType::send, conversation, {});
    FramePrototype frame;
    frame.bytes = netstring(begin + std::string(kStampIdBytes, '0') + " 1\n" + blank_text(text_bytes));
    frame.stamp_at = static_cast<uint32_t>(frame.bytes.find(kStampMarker));
    frame.id_at = static_cast<uint32_t>(frame.bytes.find(begin) + begin.size());
    return frame;
  }

  Frame next_frame(std::span<char> bytes) const noexcept override {
    const wire::NetstringOutcome outcome = wire::next_netstring(bytes, kBodyBytesMax);
    if (outcome.kind == wire::NetstringOutcome::Kind::need_more) return {};
    if (outcome.kind == wire::NetstringOutcome::Kind::error) return {.kind = FrameKind::broken};
    const auto body = wire::parse_compact_body({outcome.body.data(), outcome.body.size()});
    return {.kind = body ? kind_of_body(*body) : FrameKind::broken,
            .size = static_cast<uint32_t>(outcome.consumed),
            .body_at = static_cast<uint32_t>(outcome.body.data() - bytes.data()),
            .body_size = static_cast<uint32_t>(outcome.body.size())};
  }

  std::string answer(std::span<const char> /*ping*/) const override {
    return netstring(std::to_string(static_cast<uint32_t>(wire::ServerType::pong)) + "::{}");
  }

  std::string goodbye() const override { return {}; }
};

}  // namespace

const ChatCarrier& compact_carrier() {
  static const CompactCarrier carrier;
  return carrier;
}

}  // namespace taut::load
