#include "load/chat_connection.h"

#include <poll.h>

#include <array>

#include "base/clock.h"
#include "base/file.h"

namespace taut::load {

namespace {

constexpr int kRetryMs = 50;
// Frames before the awaited answer: pushes about other conversations, queue positions.
constexpr int kSkippedMax = 10'000;

}  // namespace

Result<auth::Secrets> load_secret(const std::string& file) {
  if (file.empty()) return fail("this needs the server's secret to make tokens: give --secret-file FILE");
  PosixFileSystem files;
  const std::array<std::string, 1> paths{file};
  return auth::Secrets::load(files, paths);
}

std::string hello_object(const ChatIdentity& who, auth::Signer& signer) {
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
         who.site + R"(","device":")" + who.device + R"(","token":")" + signer.sign(claims) + R"("})";
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
  const ChatCarrier& carrier = chat_carrier(url);
  SystemClock clock;
  const int64_t give_up_ns = clock.mono_ns() + TcpSocket::kSetUpSeconds * 1'000'000'000;
  while (true) {
    bool refused_for_now = false;
    Result<Connection> connection = carrier.connect(url, refused_for_now);
    if (refused_for_now && clock.mono_ns() < give_up_ns) {
      ::poll(nullptr, 0, kRetryMs);
      continue;
    }
    if (!connection) return std::unexpected(connection.error());
    ChatConnection chat(carrier, std::move(*connection));
    if (Status said = chat.say(hello_object(who, signer)); !said) return std::unexpected(said.error());
    if (Result<std::string> welcome = chat.expect("welcome"); !welcome)
      return std::unexpected(welcome.error());
    return chat;
  }
}

Status ChatConnection::say(std::string_view json) {
  return connection_.socket.send_all(carrier_->request(json));
}

Result<std::string> ChatConnection::expect(std::string_view type) {
  for (int i = 0; i < kSkippedMax; ++i) {
    Result<std::string> object = carrier_->receive_object(connection_);
    if (!object) return fail("waiting for " + std::string(type) + ": " + object.error().message);
    if (is_type(*object, type)) return object;
    if (is_type(*object, "error"))
      return fail("waiting for " + std::string(type) + ": the server says " + *object);
  }
  return fail("no " + std::string(type) + " among " + std::to_string(kSkippedMax) + " objects");
}

}  // namespace taut::load
