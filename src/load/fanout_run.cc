// `taut load fanout`: one agent writes to one visitor who has many connections; the last of them counts.
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <vector>

#include "load/options.h"
#include "load/people.h"
#include "load/rounds.h"

namespace taut::load {

namespace {

constexpr int kEventsPerTurn = 256;

class Fanout final : public Rounds {
 public:
  Fanout(std::unique_ptr<People> people, const LoadFanoutOptions& options)
      : people_(std::move(people)),
        count_(options.receivers),
        text_bytes_(options.size),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}
  Fanout(const Fanout&) = delete;
  Fanout& operator=(const Fanout&) = delete;
  ~Fanout() override { ::close(epoll_); }

  Status open() override {
    if (Status s = allow_descriptors(count_ + kOtherDescriptors); !s) return s;
    Result<ChatConnection> agent = people_->agent(0);
    if (!agent) return std::unexpected(agent.error());
    guests_.reserve(count_ + 1);  // epoll keeps pointers
    for (uint32_t i = 0; i < count_; ++i) {
      ChatIdentity who = people_->identity(Role::visitor, 0);
      who.device = "load." + std::to_string(i);
      Result<ChatConnection> visitor = people_->connect(who);
      if (!visitor) return std::unexpected(visitor.error());
      if (i == 0) {
        Result<std::string> conversation = people_->open(*visitor, *agent);
        if (!conversation) return std::unexpected(conversation.error());
        conversation_ = *conversation;
      }
      if (Status s = watch(std::move(*visitor).release()); !s) return s;
    }
    return watch(std::move(*agent).release());
  }

  Status turn(int64_t now_ns, PhaseResult& phase) override {
    if (awaited_ == 0) {
      begin_ns_ = now_ns;
      awaited_ = count_ + 1;  // the sender's ack, too
      Guest& agent = guests_.back();
      if (!agent.say(send_frame(conversation_, ++number_, text_bytes_)))
        return fail("the server does not read the agent's messages");
    }
    std::array<epoll_event, kEventsPerTurn> events;
    const int ready = ::epoll_wait(epoll_, events.data(), kEventsPerTurn, 0);
    for (int i = 0; i < ready; ++i) {
      Guest& guest = *static_cast<Guest*>(events[i].data.ptr);
      const Guest::Heard heard = guest.hear();
      if (guest.state() != Guest::State::in) return fail("a connection has ended");
      if (heard.errors != 0) return fail("the server refused a message: is --rate-agent 0?");
      if (heard.messages + heard.answers > awaited_) return fail("a message came twice");
      awaited_ -= heard.messages + heard.answers;
      phase.sent += heard.messages;
      phase.delivered += heard.messages;
    }
    if (awaited_ == 0) phase.latency.record(clock_.mono_ns() - begin_ns_);
    return {};
  }

  bool between_rounds() const override { return awaited_ == 0; }

 private:
  static constexpr uint64_t kOtherDescriptors = 64;

  Status watch(Connection connection) {
    Guest& guest = guests_.emplace_back(Url(), std::string());
    guest.adopt(std::move(connection));
    epoll_event event{.events = EPOLLIN, .data = {.ptr = &guest}};
    return ::epoll_ctl(epoll_, EPOLL_CTL_ADD, guest.fd(), &event) == 0 ? Status()
                                                                       : Status(fail_errno("epoll_ctl"));
  }

  std::unique_ptr<People> people_;
  const uint32_t count_;
  const uint32_t text_bytes_;
  const int epoll_;
  SystemClock clock_;
  std::vector<Guest> guests_;  // the receivers, and at the end the agent
  std::string conversation_;
  int64_t begin_ns_ = 0;
  uint64_t number_ = 0;
  uint32_t awaited_ = 0;  // messages and acks of this round that have not come
};

}  // namespace

int run_load_fanout(const LoadFanoutOptions& options) {
  constexpr const char* kCommand = "taut load fanout";
  Result<std::unique_ptr<People>> people = People::make("fanout", options);
  if (!people) {
    std::fprintf(stderr, "%s: %s\n", kCommand, people.error().message.c_str());
    return kExitUsage;
  }
  Fanout fanout(std::move(*people), options);
  return run_rounds(options, fanout, kCommand);
}

}  // namespace taut::load
