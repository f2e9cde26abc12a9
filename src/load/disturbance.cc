#include "load/disturbance.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <vector>

#include "load/guest.h"
#include "load/people.h"

namespace taut::load {

namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

/// When something that happens so often a second is due next. After a pause it catches up.
class Beat {
 public:
  explicit Beat(uint32_t per_second) : gap_ns_(kSecondNs / per_second) {}

  [[nodiscard]] bool due(int64_t now_ns) {
    if (next_ns_ == 0) next_ns_ = now_ns;
    if (now_ns < next_ns_) return false;
    next_ns_ += gap_ns_;
    return true;
  }

 private:
  const int64_t gap_ns_;
  int64_t next_ns_ = 0;
};

// Visitors who stopped reading while their agents go on writing. Each comes back when the server must have
// given it up, and stops reading again.
class StalledReaders final : public Disturbance {
 public:
  explicit StalledReaders(std::unique_ptr<People> people) : people_(std::move(people)) {}

  Status begin() override {
    for (uint32_t i = 0; i < kReaders; ++i) {
      Result<ChatConnection> agent = people_->agent(i);
      if (!agent) return std::unexpected(agent.error());
      const ChatIdentity who = people_->identity(Role::visitor, i);
      Result<ChatConnection> visitor = people_->connect(who);
      if (!visitor) return std::unexpected(visitor.error());
      Result<std::string> conversation = people_->open(*visitor, *agent);
      if (!conversation) return std::unexpected(conversation.error());
      Reader& reader = readers_.emplace_back(people_->guest(who, kReceiveBuffer), Guest({}, {}));
      reader.writer.adopt(std::move(*agent).release());
      reader.conversation = *conversation;
      reader.back_ns = static_cast<int64_t>(i) * kStallNs / kReaders;  // they take turns
    }
    return {};
  }

  Status step(int64_t now_ns) override {
    if (begin_ns_ == 0) begin_ns_ = now_ns;
    Reader& reader = readers_[++turn_ % kReaders];
    if (reader.guest.state() == Guest::State::in && now_ns - begin_ns_ >= reader.back_ns) {
      reader.back_ns += kStallNs;
      reader.guest.leave();
    }
    if (reader.guest.state() != Guest::State::in) reader.guest.step();
    if (!beat_.due(now_ns)) return {};
    done_ += reader.writer.say(send_frame(reader.conversation, ++number_, kTextBytes));
    reader.writer.hear();
    if (reader.writer.state() != Guest::State::in)
      return fail("a stalled reader's agent lost its connection");
    return {};
  }

  void end() override {
    for (Reader& reader : readers_) static_cast<void>(reader.writer.say(close_frame(reader.conversation)));
  }

  double least_per_second() const override { return 0.8 * kMessagesPerSecond; }

 private:
  // Below an agent's default rate; with what the kernel takes, some 2 MB, a reader's default soft limit is
  // full within a second.
  static constexpr uint32_t kReaders = 2;
  static constexpr uint32_t kMessagesPerSecond = 1'000;
  static constexpr uint32_t kTextBytes = 4'096;
  static constexpr int kReceiveBuffer = 4'096;
  static constexpr int64_t kStallNs = 4 * kSecondNs;  // the default slow-reader-ms, and the time to fill up

  struct Reader {
    Guest guest;
    Guest writer;
    std::string conversation;
    int64_t back_ns = 0;
  };

  std::unique_ptr<People> people_;
  std::vector<Reader> readers_;
  Beat beat_{kMessagesPerSecond};
  uint64_t number_ = 0;
  uint32_t turn_ = 0;
  int64_t begin_ns_ = 0;
};

// All others are cut off at once, and all come back at once.
class ReconnectStorm final : public Disturbance {
 public:
  explicit ReconnectStorm(std::unique_ptr<People> people) : people_(std::move(people)) {}

  Status begin() override {
    if (Status s = allow_descriptors(kOthers + 2 * kPairsMax + kOtherDescriptors); !s) return s;
    for (uint32_t i = 0; i < kOthers; ++i) {
      const ChatIdentity who = people_->identity(Role::visitor, i);
      Result<ChatConnection> connection = people_->connect(who);
      if (!connection) return std::unexpected(connection.error());
      others_.push_back(people_->guest(who));
      others_.back().adopt(std::move(*connection).release());
    }
    return {};
  }

  Status step(int64_t now_ns) override {
    if (cut_ < kOthers) {
      others_[cut_++].leave();
    } else if (back_ < kOthers) {
      while (others_[turn_ % kOthers].state() == Guest::State::in) ++turn_;
      Guest& other = others_[turn_++ % kOthers];
      other.step();
      if (other.state() != Guest::State::in) return {};
      ++back_;
      ++done_;
    } else if (beat_.due(now_ns)) {
      cut_ = back_ = 0;
    }
    return {};
  }

  double least_per_second() const override { return kOthers / 2.0; }

 private:
  static constexpr uint32_t kOthers = 1'000;
  static constexpr uint64_t kOtherDescriptors = 64;

  std::unique_ptr<People> people_;
  std::vector<Guest> others_;
  Beat beat_{1};
  uint32_t cut_ = kOthers;
  uint32_t back_ = kOthers;
  uint32_t turn_ = 0;
};

// One visitor sends as fast as it can, and is refused what is beyond its rate.
class Flood final : public Disturbance {
 public:
  explicit Flood(std::unique_ptr<People> people) : people_(std::move(people)) {}

  Status begin() override {
    const ChatIdentity who = people_->identity(Role::visitor, 0);
    Result<ChatConnection> visitor = people_->connect(who);
    if (!visitor) return std::unexpected(visitor.error());
    Result<std::string> conversation = people_->open(*visitor);
    if (!conversation) return std::unexpected(conversation.error());
    conversation_ = *conversation;
    flooder_.push_back(people_->guest(who));
    flooder_[0].adopt(std::move(*visitor).release());
    return {};
  }

  Status step(int64_t) override {
    std::string frames;
    for (uint32_t i = 0; i < kFramesAtOnce; ++i) frames += send_frame(conversation_, ++number_, kTextBytes);
    static_cast<void>(flooder_[0].say(frames));
    done_ += flooder_[0].hear().errors;
    if (flooder_[0].state() != Guest::State::in) return fail("the flooder lost its connection");
    return {};
  }

  void end() override { static_cast<void>(flooder_[0].say(close_frame(conversation_))); }

  double least_per_second() const override { return 10'000; }

 private:
  static constexpr uint32_t kFramesAtOnce = 16;
  static constexpr uint32_t kTextBytes = 64;

  std::unique_ptr<People> people_;
  std::vector<Guest> flooder_;
  std::string conversation_;
  uint64_t number_ = 0;
};

// Agents who are online and away in turn.
class Flaps final : public Disturbance {
 public:
  explicit Flaps(std::unique_ptr<People> people) : people_(std::move(people)) {}

  Status begin() override {
    for (uint32_t i = 0; i < kAgents; ++i) {
      Result<ChatConnection> agent = people_->agent(i);
      if (!agent) return std::unexpected(agent.error());
      agents_.push_back(Guest({}, {}));
      agents_.back().adopt(std::move(*agent).release());
    }
    return {};
  }

  Status step(int64_t now_ns) override {
    if (!beat_.due(now_ns)) return {};
    Guest& agent = agents_[turn_ % kAgents];
    const bool online = turn_++ / kAgents % 2 != 0;
    static_cast<void>(agent.say(online ? online_ : away_));
    done_ += agent.hear().answers;
    if (agent.state() != Guest::State::in) return fail("an agent who flaps lost the connection");
    return {};
  }

  double least_per_second() const override { return 0.9 * kFlapsPerSecond; }

 private:
  static constexpr uint32_t kFlapsPerSecond = 5'000;
  static constexpr uint32_t kAgents = 8;  // each below an agent's default rate

  std::unique_ptr<People> people_;
  std::vector<Guest> agents_;
  const std::string online_ = frame_of(R"({"type":"presence","ref":1,"status":"online"})");
  const std::string away_ = frame_of(R"({"type":"presence","ref":1,"status":"away"})");
  Beat beat_{kFlapsPerSecond};
  uint32_t turn_ = 0;
};

// Somebody reads all metrics, again and again, on one connection.
class Scrapes final : public Disturbance {
 public:
  explicit Scrapes(Url url) : url_(std::move(url)) {}

  Status begin() override {
    Result<TcpSocket> socket = TcpSocket::dial(url_);
    if (!socket) return std::unexpected(socket.error());
    socket_ = std::move(*socket);
    socket_.set_blocking(false);
    return {};
  }

  Status step(int64_t now_ns) override {
    if (waiting_) return hear();
    if (!beat_.due(now_ns)) return {};
    waiting_ = true;
    return socket_.send_all("GET /metrics HTTP/1.1\r\nHost: " + url_.host_port() + "\r\n\r\n");
  }

  double least_per_second() const override { return 0.9 * kScrapesPerSecond; }

 private:
  static constexpr uint32_t kScrapesPerSecond = 100;

  Status hear() {
    std::array<char, 65'536> buffer;
    const ssize_t n = ::recv(socket_.fd(), buffer.data(), buffer.size(), 0);
    if (n < 0 && errno == EAGAIN) return {};
    if (n <= 0) return fail("the server closed the connection that reads its metrics");
    received_.append(buffer.data(), static_cast<size_t>(n));
    constexpr std::string_view kLength = "Content-Length: ";
    const size_t head = received_.find("\r\n\r\n");
    const size_t length = received_.find(kLength);
    if (head == std::string::npos) return {};
    if (length > head) return fail("the metrics come without a length");
    size_t body = 0;
    const char* digits = received_.data() + length + kLength.size();
    std::from_chars(digits, received_.data() + head, body);
    if (received_.size() < head + 4 + body) return {};
    received_.clear();
    waiting_ = false;
    ++done_;
    return {};
  }

  const Url url_;
  TcpSocket socket_;
  std::string received_;
  bool waiting_ = false;
  Beat beat_{kScrapesPerSecond};
};

}  // namespace

Result<std::unique_ptr<Disturbance>> make_disturbance(const LoadChatOptions& options) {
  if (options.disturb == Disturb::none) return nullptr;
  if (options.rate == 0) return fail("--disturb goes with --rate");
  Result<std::unique_ptr<People>> people = People::make("disturb", options);
  if (!people) return std::unexpected(people.error());
  switch (options.disturb) {
    case Disturb::none:
      break;
    case Disturb::stalled:
      return std::make_unique<StalledReaders>(std::move(*people));
    case Disturb::storm:
      return std::make_unique<ReconnectStorm>(std::move(*people));
    case Disturb::flood:
      return std::make_unique<Flood>(std::move(*people));
    case Disturb::flaps:
      return std::make_unique<Flaps>(std::move(*people));
    case Disturb::scrapes:
      return std::make_unique<Scrapes>(parse_url(options.url).value());
  }
  return nullptr;
}

}  // namespace taut::load
