#include "load/chat_connection.h"

#include <poll.h>

#include <array>

#include "base/clock.h"
#include "base/file.h"
#include "wire/websocket_client.h"

namespace taut::load {

namespace {

constexpr std::string_view kUpgradeKey = "dGF1dCBsb2FkIGNsaWVudA==";  // 16 bytes, "taut load client"
constexpr std::string_view kSubprotocol = "taut.v1.json";
constexpr uint32_t kServiceUnavailable = 503;
constexpr int kRetryMs = 50;
// Frames before the awaited answer: pushes about other conversations, queue positions.
constexpr int kSkippedMax = 10'000;

std::string hello(const ChatIdentity& who, auth::Signer& signer) {
  auth::Claims claims;
  claims.id = who.id;
  claims.role = who.role;
  claims.site = who.site;
  claims.expires_s = SystemClock().wall_ms() / 1000 + kTokenSeconds;
  if (who.role == Role::agent) {
    claims.capacity = who.capacity;
    claims.group_count = 1;
    claims.group_ids[0] = who.group;
  }
  return R"({"type":"hello","version":1,"role":")" + std::string(role_name(who.role)) + R"(","site":")" +
         who.site + R"(","device":"load","token":")" + signer.sign(claims) + R"("})";
}

}  // namespace

Result<auth::Secrets> load_secret(const std::string& file) {
  PosixFileSystem files;
  const std::array<std::string, 1> paths{file};
  return auth::Secrets::load(files, paths);
}

std::string client_frame(wire::WsOpcode opcode, std::string_view payload, uint32_t mask) {
  std::string frame(wire::ws_client_header_size(payload.size()) + payload.size(), '\0');
  wire::write_ws_client_frame(frame, opcode, payload, mask);
  return frame;
}

std::string_view string_field(std::string_view json, std::string_view name) {
  const std::string key = "\"" + std::string(name) + "\":\"";
  const size_t at = json.find(key);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = json.substr(at + key.size());
  return rest.substr(0, rest.find('"'));
}

bool is_type(std::string_view json, std::string_view type) {
  return string_field(json, "type") == type;
}

Result<ChatConnection> ChatConnection::open(const Url& url, const ChatIdentity& who, auth::Signer& signer) {
  SystemClock clock;
  const int64_t give_up_ns = clock.mono_ns() + TcpSocket::kSetUpSeconds * 1'000'000'000;
  while (true) {
    bool refused_for_now = false;
    Result<ChatConnection> connection = upgrade(url, refused_for_now);
    if (refused_for_now && clock.mono_ns() < give_up_ns) {
      ::poll(nullptr, 0, kRetryMs);
      continue;
    }
    if (!connection) return connection;
    if (Status said = connection->say(hello(who, signer)); !said) return std::unexpected(said.error());
    if (Result<std::string> welcome = connection->expect("welcome"); !welcome)
      return std::unexpected(welcome.error());
    return connection;
  }
}

Result<ChatConnection> ChatConnection::upgrade(const Url& url, bool& refused_for_now) {
  Result<TcpSocket> socket = TcpSocket::dial(url.host, url.port);
  if (!socket) return std::unexpected(socket.error());
  ChatConnection chat;
  chat.connection_.socket = std::move(*socket);
  std::string& received = chat.connection_.received;
  const std::string request = wire::ws_upgrade_request(url.host_port(), url.path, kUpgradeKey, kSubprotocol);
  if (Status sent = chat.connection_.socket.send_all(request); !sent) return std::unexpected(sent.error());
  while (true) {
    if (Status got = chat.connection_.socket.receive_some(received); !got)
      return std::unexpected(got.error());
    const wire::WsUpgradeAnswer answer = wire::parse_ws_upgrade_answer(received, kUpgradeKey);
    if (answer.kind == wire::WsUpgradeAnswer::Kind::need_more) continue;
    refused_for_now = answer.status == kServiceUnavailable;
    if (answer.kind == wire::WsUpgradeAnswer::Kind::refused) return fail("upgrade refused: " + answer.reason);
    received.erase(0, answer.consumed);
    return chat;
  }
}

Status ChatConnection::say(std::string_view json) {
  return connection_.socket.send_all(client_frame(wire::WsOpcode::text, json, kSetUpMask));
}

Result<std::string> ChatConnection::expect(std::string_view type) {
  for (int i = 0; i < kSkippedMax; ++i) {
    Result<std::string> object = next_object();
    if (!object) return fail("waiting for " + std::string(type) + ": " + object.error().message);
    if (is_type(*object, type)) return object;
    if (is_type(*object, "error"))
      return fail("waiting for " + std::string(type) + ": the server says " + *object);
  }
  return fail("no " + std::string(type) + " among " + std::to_string(kSkippedMax) + " objects");
}

Result<std::string> ChatConnection::next_object() {
  std::string& received = connection_.received;
  while (true) {
    const size_t size = received.size();
    received.resize(size + kFramePadding);
    wire::WsDecoder decoder = wire::ws_client_decoder(wire::kChatFrameBytesMax);
    const wire::WsOutcome outcome = decoder.next({received.data(), size});
    received.resize(size);
    switch (outcome.kind) {
      case wire::WsOutcome::Kind::need_more:
        if (Status got = connection_.socket.receive_some(received); !got) return std::unexpected(got.error());
        break;
      case wire::WsOutcome::Kind::error:
        return fail("the server broke the protocol: " + std::string(outcome.reason));
      case wire::WsOutcome::Kind::message: {
        std::string object(outcome.text());
        received.erase(0, outcome.consumed);
        return object;
      }
      case wire::WsOutcome::Kind::control: {
        if (outcome.opcode == wire::WsOpcode::close) {
          return fail("the server closed with " + std::to_string(static_cast<int>(outcome.close_code)) + " " +
                      std::string(outcome.text()));
        }
        const bool ping = outcome.opcode == wire::WsOpcode::ping;
        const std::string pong = client_frame(wire::WsOpcode::pong, outcome.text(), kSetUpMask);
        received.erase(0, outcome.consumed);
        if (!ping) break;
        if (Status sent = connection_.socket.send_all(pong); !sent) return std::unexpected(sent.error());
        break;
      }
    }
  }
}

}  // namespace taut::load
