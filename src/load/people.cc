#include "load/people.h"

#include <unistd.h>

#include "load/websocket_frames.h"

namespace taut::load {

People::People(std::string what, Url url, const LoadOptions& options, const auth::Secrets& secrets)
    : run_(std::move(what) + "." + std::to_string(::getpid())),
      url_(std::move(url)),
      site_(options.site),
      group_(options.group),
      signer_(secrets) {}

Result<std::unique_ptr<People>> People::make(std::string what, const LoadOptions& options) {
  Result<Url> url = parse_url(options.url);
  if (!url) return std::unexpected(url.error());
  if (url->scheme != "ws") return fail("only ws:// is possible here: " + options.url);
  if (!valid_id(options.site) || !valid_id(options.group))
    return fail("--site and --group must be valid ids");
  const Result<auth::Secrets> secrets = load_secret(options.secret_file);
  if (!secrets) return std::unexpected(secrets.error());
  return std::make_unique<People>(std::move(what), std::move(*url), options, *secrets);
}

ChatIdentity People::identity(Role role, uint32_t index) const {
  return {.role = role,
          .id = run_ + "." + std::string(role_name(role)) + "." + std::to_string(index),
          .site = site_,
          .group = group_,
          .capacity = 1};
}

Guest People::guest(const ChatIdentity& who, int receive_buffer) {
  return {url_, hello_object(who, signer_), receive_buffer};
}

Result<ChatConnection> People::connect(const ChatIdentity& who) {
  return ChatConnection::open(url_, who, signer_);
}

Result<ChatConnection> People::agent(uint32_t index) {
  Result<ChatConnection> agent = connect(identity(Role::agent, index));
  if (!agent) return agent;
  if (Status s = agent->say(R"({"type":"presence","ref":1,"status":"online"})"); !s)
    return std::unexpected(s.error());
  if (Result<std::string> ok = agent->expect("ok"); !ok) return std::unexpected(ok.error());
  return agent;
}

Result<std::string> People::open(ChatConnection& visitor) {
  if (Status s = visitor.say(R"({"type":"open","ref":1,"group":")" + group_ + R"("})"); !s)
    return std::unexpected(s.error());
  const Result<std::string> opened = visitor.expect("opened");
  if (!opened) return opened;
  return std::string(string_field(*opened, "conversation"));
}

Result<std::string> People::open(ChatConnection& visitor, ChatConnection& agent) {
  Result<std::string> conversation = open(visitor);
  if (!conversation) return conversation;
  if (Result<std::string> given = agent.expect("assigned"); !given) return given;
  if (Status s = agent.say(R"({"type":"accept","ref":2,"conversation":")" + *conversation + R"("})"); !s)
    return std::unexpected(s.error());
  if (Result<std::string> ok = agent.expect("ok"); !ok) return ok;
  return conversation;
}

std::string frame_of(std::string_view object) {
  return client_frame(wire::WsOpcode::text, object, kSetUpMask);
}

std::string send_frame(std::string_view conversation, uint64_t number, uint32_t text_bytes) {
  return frame_of(R"({"type":"send","ref":1,"conversation":")" + std::string(conversation) +
                  R"(","client_msg_id":"n)" + std::to_string(number) + R"(","text":")" +
                  std::string(text_bytes, 't') + R"("})");
}

std::string close_frame(std::string_view conversation) {
  return frame_of(R"({"type":"close","ref":2,"conversation":")" + std::string(conversation) + R"("})");
}

}  // namespace taut::load
