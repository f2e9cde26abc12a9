// `taut load visits`: people who come, say one thing, hear that it is in, and go; or who stay and say the
// next.
#include <cstdio>
#include <vector>

#include "load/options.h"
#include "load/people.h"
#include "load/rounds.h"
#include "load/websocket_frames.h"

namespace taut::load {

namespace {

constexpr uint32_t kTextBytes = 100;

class Visits final : public Rounds {
 public:
  Visits(std::unique_ptr<People> people, const LoadVisitsOptions& options)
      : people_(std::move(people)), keep_(options.keep), count_(options.visitors) {}

  // Everybody has a conversation from an earlier visit, so that a visit is what a visit is and opens none.
  Status open() override {
    for (uint32_t i = 0; i < count_; ++i) {
      const ChatIdentity who = people_->identity(Role::visitor, i);
      Result<ChatConnection> connection = people_->connect(who);
      if (!connection) return std::unexpected(connection.error());
      const Result<std::string> conversation = people_->open(*connection);
      if (!conversation) return std::unexpected(conversation.error());
      Visitor& visitor = visitors_.emplace_back(people_->guest(who), *conversation);
      if (keep_) visitor.guest.adopt(std::move(*connection).release());
    }
    return {};
  }

  Status turn(int64_t now_ns, PhaseResult& phase) override {
    for (Visitor& visitor : visitors_) {
      if (visitor.begin_ns == 0) visitor.begin_ns = now_ns;
      if (visitor.guest.state() != Guest::State::in) {
        if (keep_) return fail("a connection that should stay has ended");
        visitor.asked = false;
        visitor.guest.step();
      } else if (!visitor.asked) {
        visitor.asked = visitor.guest.say(send_frame(visitor.conversation, ++number_, kTextBytes));
      } else if (const Guest::Heard heard = visitor.guest.hear(); heard.errors != 0) {
        return fail("the server refused a message: is --rate-visitor 0?");
      } else if (heard.answers != 0) {
        finish(visitor, now_ns, phase);
      }
    }
    return {};
  }

 private:
  struct Visitor {
    Guest guest;
    std::string conversation;
    int64_t begin_ns = 0;
    bool asked = false;
  };

  void finish(Visitor& visitor, int64_t now_ns, PhaseResult& phase) {
    ++phase.sent;
    ++phase.delivered;
    phase.latency.record(now_ns - visitor.begin_ns);
    visitor.begin_ns = 0;
    visitor.asked = false;
    if (keep_) return;
    constexpr std::string_view kDone("\x03\xE8", 2);  // 1000
    static_cast<void>(visitor.guest.say(client_frame(wire::WsOpcode::close, kDone, kSetUpMask)));
    visitor.guest.leave();
  }

  std::unique_ptr<People> people_;
  const bool keep_;
  const uint32_t count_;
  std::vector<Visitor> visitors_;
  uint64_t number_ = 0;
};

}  // namespace

int run_load_visits(const LoadVisitsOptions& options) {
  constexpr const char* kCommand = "taut load visits";
  Result<std::unique_ptr<People>> people = People::make("visits", options);
  if (!people) {
    std::fprintf(stderr, "%s: %s\n", kCommand, people.error().message.c_str());
    return kExitUsage;
  }
  Visits visits(std::move(*people), options);
  return run_rounds(options, visits, kCommand);
}

}  // namespace taut::load
