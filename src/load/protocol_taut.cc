#include "load/protocol_taut.h"

#include <unistd.h>

#include <unordered_map>

#include "base/clock.h"
#include "load/chat_connection.h"

namespace taut::load {

namespace {

// How long a server may take at the end to close all connections on its side.
constexpr int64_t kGoodbyeSeconds = 3;

class TautProtocol final : public Protocol {
 public:
  TautProtocol(Url url, const LoadChatOptions& options, const auth::Secrets& secrets)
      : url_(std::move(url)),
        carrier_(chat_carrier(url_)),
        options_(options),
        signer_(secrets),
        run_(run_name()) {}

  Result<Session> open() override {
    std::vector<ChatConnection> agents;
    std::vector<ChatConnection> visitors;
    std::unordered_map<std::string, uint32_t> visitor_of;
    if (Status s = bring_agents(agents); !s) return std::unexpected(s.error());
    if (Status s = bring_visitors(visitors, visitor_of); !s) return std::unexpected(s.error());

    // The dispatcher chooses who talks to whom; capacity 1 makes it one to one.
    conversations_.resize(options_.pairs);
    std::vector<uint32_t> agent_of(options_.pairs);
    for (uint32_t agent = 0; agent < options_.pairs; ++agent) {
      const Result<std::string> conversation = accept(agents[agent]);
      if (!conversation) return std::unexpected(conversation.error());
      const auto visitor = visitor_of.find(*conversation);
      if (visitor == visitor_of.end()) return fail("an agent was given somebody else's " + *conversation);
      conversations_[visitor->second] = *conversation;
      agent_of[visitor->second] = agent;
    }
    return wire_up(std::move(visitors), std::move(agents), agent_of);
  }

  void close(Session& session) override {
    for (uint32_t i = 0; i < session.connections.size(); ++i) say_goodbye(session.connections[i].socket, i);
    SystemClock clock;
    const int64_t give_up_ns = clock.mono_ns() + kGoodbyeSeconds * 1'000'000'000;
    for (Connection& connection : session.connections) {
      connection.socket.set_deadline(1);
      for (Status more; more && clock.mono_ns() < give_up_ns;
           more = connection.socket.receive_some(connection.received)) {
        connection.received.clear();
      }
    }
    session.connections.clear();
  }

  Frame next_frame(std::span<char> bytes) const noexcept override { return carrier_.next_frame(bytes); }
  std::string answer(std::span<const char> ping) const override { return carrier_.answer(ping); }
  bool acknowledges() const override { return true; }

 private:
  // Different in every run, so that a server which still knows an earlier run's people does not mix them up.
  static std::string run_name() {
    return std::to_string(::getpid()) + "." + std::to_string(SystemClock().mono_ns() / 1000);
  }

  ChatIdentity identity(Role role, uint32_t index) const {
    return {.role = role,
            .id = "load." + std::string(role_name(role)) + "." + run_ + "." + std::to_string(index),
            .site = options_.site,
            .group = options_.group,
            .capacity = 1};
  }

  Status bring_agents(std::vector<ChatConnection>& agents) {
    for (uint32_t i = 0; i < options_.pairs; ++i) {
      Result<ChatConnection> agent = ChatConnection::open(url_, identity(Role::agent, i), signer_);
      if (!agent) return std::unexpected(agent.error());
      if (Status s = agent->say(R"({"type":"presence","ref":1,"status":"online","capacity":1})"); !s)
        return s;
      if (Result<std::string> ok = agent->expect("ok"); !ok) return std::unexpected(ok.error());
      agents.push_back(std::move(*agent));
    }
    return {};
  }

  Status bring_visitors(std::vector<ChatConnection>& visitors,
                        std::unordered_map<std::string, uint32_t>& visitor_of) {
    for (uint32_t i = 0; i < options_.pairs; ++i) {
      Result<ChatConnection> visitor = ChatConnection::open(url_, identity(Role::visitor, i), signer_);
      if (!visitor) return std::unexpected(visitor.error());
      if (Status s = visitor->say(R"({"type":"open","ref":1,"group":")" + options_.group + R"("})"); !s)
        return s;
      const Result<std::string> opened = visitor->expect("opened");
      if (!opened) return std::unexpected(opened.error());
      visitor_of.emplace(string_field(*opened, "conversation"), i);
      visitors.push_back(std::move(*visitor));
    }
    return {};
  }

  Result<std::string> accept(ChatConnection& agent) {
    const Result<std::string> assigned = agent.expect("assigned");
    if (!assigned) return std::unexpected(assigned.error());
    std::string conversation(string_field(*assigned, "conversation"));
    if (Status s = agent.say(R"({"type":"accept","ref":2,"conversation":")" + conversation + R"("})"); !s) {
      return std::unexpected(s.error());
    }
    if (Result<std::string> ok = agent.expect("ok"); !ok) return std::unexpected(ok.error());
    return conversation;
  }

  Session wire_up(std::vector<ChatConnection> visitors, std::vector<ChatConnection> agents,
                  const std::vector<uint32_t>& agent_of) {
    Session session;
    session.text_bytes = options_.size;
    for (uint32_t pair = 0; pair < options_.pairs; ++pair) {
      session.connections.push_back(std::move(visitors[pair]).release());
      session.connections.push_back(std::move(agents[agent_of[pair]]).release());
      const uint32_t visitor = 2 * pair;
      const uint32_t agent = 2 * pair + 1;
      const FramePrototype frame = carrier_.stamped_send(conversations_[pair], options_.size);
      if (options_.direction != Direction::agent)
        session.flows.push_back({.from = visitor, .to = agent, .frame = frame});
      if (options_.direction != Direction::visitor)
        session.flows.push_back({.from = agent, .to = visitor, .frame = frame});
    }
    return session;
  }

  // The visitor closes the conversation, the agent goes offline; whatever fails now concerns nobody.
  void say_goodbye(TcpSocket& socket, uint32_t index) {
    const bool visitor = index % 2 == 0;
    const std::string object =
        visitor ? R"({"type":"close","ref":3,"conversation":")" + conversations_[index / 2] + R"("})"
                : std::string(R"({"type":"presence","ref":3,"status":"offline"})");
    socket.set_blocking(true);
    const Status said = socket.send_all(carrier_.request(object) + carrier_.goodbye());
    static_cast<void>(said);
  }

  const Url url_;
  const ChatCarrier& carrier_;
  const LoadChatOptions options_;
  auth::Signer signer_;
  const std::string run_;
  std::vector<std::string> conversations_;  // by pair
};

}  // namespace

Result<std::unique_ptr<Protocol>> make_taut_protocol(const Url& url, const LoadChatOptions& options) {
  if (!valid_id(options.site) || !valid_id(options.group))
    return fail("--site and --group must be valid ids");
  Result<auth::Secrets> secrets = load_secret(options.secret_file);
  if (!secrets) return std::unexpected(secrets.error());
  return std::make_unique<TautProtocol>(url, options, *secrets);
}

}  // namespace taut::load
