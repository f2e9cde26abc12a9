#include "gateway/http_service.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "gateway/block_front.h"
#include "gateway/explanation.h"
#include "gateway/far_end.h"
#include "gateway/moved_connection.h"
#include "hub/hand_turned_shard.h"

namespace taut::gateway {
namespace {

constexpr int64_t kMs = 1'000'000;
const std::string kKey(40, 'k');
const std::string kQuestion =
    "GET /v1/dispatch/explain/c000-x-1 HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer " + kKey + "\r\n\r\n";
constexpr std::string_view kHealth = "GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n";

auth::AdminKey admin_key() {
  const auto path = std::filesystem::temp_directory_path() / ("taut-key-" + std::to_string(::getpid()));
  std::ofstream(path) << kKey;
  PosixFileSystem files;
  Result<auth::AdminKey> key = auth::AdminKey::load(files, path);
  std::filesystem::remove(path);
  return std::move(*key);
}

/// The service on member 1; member 0 takes its questions, as the only chat shard.
class HttpServiceTest : public testing::Test {
 protected:
  HttpServiceTest() { shard.begin(service); }
  ~HttpServiceTest() override {
    service.stop();
    for (const Mail& mail : chat.program.received) send_back(mail.as<InquiryMail>());
    chat.program.received.clear();
    settle();
    EXPECT_EQ(shard.pool().metrics().blocks_outstanding(), 0U);
  }

  void settle() {
    for (int i = 0; i < 4; ++i) {
      chat.turn();
      shard.turn(service);
    }
  }
  /// A connection that has sent this already.
  net::Fd connect(std::string_view bytes) {
    auto [near, far] = socket_pair();
    auto* moved = new MovedConnection{.stream = net::ByteStream(std::move(near))};
    moved->unread = bytes;
    chat.shard.send(1, mail_of(MailKind::move_http, ConnectionMail{moved}));
    settle();
    return std::move(far);
  }
  static std::string read(const net::Fd& far) {
    std::array<char, 65'536> some{};
    const ssize_t n = ::read(far.get(), some.data(), some.size());
    return n > 0 ? std::string(some.data(), static_cast<size_t>(n)) : std::string();
  }
  static std::string status(const net::Fd& far) { return read(far).substr(0, 12); }
  /// The question that reached the chat shard.
  InquiryMail question(MailKind kind) {
    if (chat.program.received.size() != 1) {
      ADD_FAILURE() << chat.program.received.size() << " mails";
      return {};
    }
    const Mail mail = chat.program.received.front();
    chat.program.received.clear();
    EXPECT_EQ(mail.kind, static_cast<uint32_t>(kind));
    return mail.as<InquiryMail>();
  }
  void send_back(const InquiryMail& mail) { chat.shard.send(1, mail_of(MailKind::inquiry_answered, mail)); }
  void answer(const InquiryMail& mail) {
    send_back(mail);
    settle();
  }
  /// Answers with agents numbered from the page's own beginning.
  void answer_page(const InquiryMail& mail, uint32_t count, uint32_t next) {
    auto page = front_of<ExplanationPage>(*mail.block);
    page.conversation = Handle(0, 1, 1);
    page.found = {.state = chat::ConversationState::queued, .position = 3, .count = count, .next = next};
    for (uint32_t i = 0; i < count; ++i) {
      page.agents[i] = {.id = chat::InlineId("a" + std::to_string(page.from + i)),
                        .how = {.load = 1, .capacity = 2, .exclusion = chat::Exclusion::away}};
    }
    set_front(*mail.block, page);
    answer(mail);
  }
  void pass(int64_t ms) {
    clock.advance_ns(ms * kMs);
    settle();
  }

  ManualClock clock;
  Mesh mesh{{.members = 2}};
  hub::HandTurnedShard chat{0, mesh, clock};
  Settings settings;
  auth::Secrets secrets{[] {
    std::vector<auth::Secret> all;
    all.emplace_back(std::string(32, 's'));
    return all;
  }()};
  std::optional<auth::AdminKey> key = admin_key();
  Cell leaving;
  HttpService service{settings, Layout{.chat_shards = 1}, secrets, key, {}, leaving};
  std::unique_ptr<Poller> poller = std::move(*make_epoll_poller());
  LogRing log{1};
  Shard shard{hub::HandTurnedShard::options(1, size_t{64} << 20), clock, *poller, mesh, log};
};

TEST_F(HttpServiceTest, AnAnswerThatWaitsForMailIsPutTogetherOfItsPages) {
  const net::Fd far = connect(kQuestion);
  EXPECT_EQ(read(far), "");
  const InquiryMail first = question(MailKind::explain_visit);
  EXPECT_EQ(front_of<ExplanationPage>(*first.block).id.view(), "c000-x-1");
  answer_page(first, 2, 7);
  EXPECT_EQ(read(far), "");
  const InquiryMail second = question(MailKind::explain_wanted);
  EXPECT_EQ(front_of<ExplanationPage>(*second.block).from, 7U);
  answer_page(second, 0, 9);
  answer_page(question(MailKind::explain_wanted), 1, 0);
  const std::string response = read(far);
  EXPECT_EQ(response.substr(0, 15), "HTTP/1.1 200 OK");
  const auto agent = [](int n) {
    return R"({"agent":"a)" + std::to_string(n) +
           R"(","exclusion":"away","presence":"offline","load":1,"capacity":2})";
  };
  EXPECT_EQ(response.substr(response.find("\r\n\r\n") + 4),
            R"({"conversation":"c000-x-1","group":"default","state":"queued","position":3,"agents":[)" +
                agent(0) + "," + agent(1) + "," + agent(9) + "]}\n");
}

TEST_F(HttpServiceTest, WhatFollowsOnTheConnectionWaitsForTheAnswer) {
  const net::Fd far = connect(kQuestion + std::string(kHealth));
  ASSERT_EQ(::write(far.get(), kHealth.data(), kHealth.size()), static_cast<ssize_t>(kHealth.size()));
  settle();
  EXPECT_EQ(read(far), "");
  EXPECT_EQ(status(connect(kHealth)), "HTTP/1.1 200") << "others do not wait";
  answer_page(question(MailKind::explain_visit), 1, 0);
  const std::string all = read(far);
  const size_t agents = all.find("\"agents\"");
  const size_t first = all.find("ok\n");
  EXPECT_LT(agents, first);
  EXPECT_NE(all.find("ok\n", first + 1), std::string::npos) << all;
}

TEST_F(HttpServiceTest, AnUnknownConversationAndOneThatDoesNotWait) {
  const net::Fd far = connect(kQuestion);
  answer(question(MailKind::explain_visit));
  EXPECT_EQ(status(far), "HTTP/1.1 404");
  const net::Fd other = connect(kQuestion);
  const InquiryMail mail = question(MailKind::explain_visit);
  auto page = front_of<ExplanationPage>(*mail.block);
  page.conversation = Handle(0, 1, 1);
  page.owner = chat::InlineId("a1");
  page.found.state = chat::ConversationState::active;
  set_front(*mail.block, page);
  answer(mail);
  const std::string response = read(other);
  EXPECT_EQ(response.substr(0, 12), "HTTP/1.1 409");
  EXPECT_NE(response.find("it is active, and agent a1 has it"), std::string::npos) << response;
  const net::Fd closed_meanwhile = connect(kQuestion);
  answer_page(question(MailKind::explain_visit), 1, 1);
  const InquiryMail last = question(MailKind::explain_wanted);
  page = front_of<ExplanationPage>(*last.block);
  page.found = {};
  set_front(*last.block, page);
  answer(last);
  EXPECT_EQ(status(closed_meanwhile), "HTTP/1.1 409");
}

TEST_F(HttpServiceTest, ShardsThatDoNotAnswerAre503AndTheirLateAnswerGoesToNobody) {
  const net::Fd far = connect(kQuestion);
  const InquiryMail late = question(MailKind::explain_visit);
  pass(4'000);
  EXPECT_EQ(read(far), "");
  pass(2'000);
  EXPECT_EQ(status(far), "HTTP/1.1 503");
  ASSERT_GT(::write(far.get(), kQuestion.data(), kQuestion.size()), 0);
  settle();
  const InquiryMail next = question(MailKind::explain_visit);
  answer_page(late, 1, 0);
  EXPECT_EQ(read(far), "") << "it would be the answer to another question";
  answer_page(next, 1, 0);
  EXPECT_EQ(status(far), "HTTP/1.1 200");
}

TEST_F(HttpServiceTest, AConnectionThatHasItsAnswerIsKeptForAsLongAsOthers) {
  const net::Fd far = connect(kQuestion);
  answer_page(question(MailKind::explain_visit), 1, 0);
  EXPECT_EQ(status(far), "HTTP/1.1 200");
  pass(20'000);
  ASSERT_GT(::write(far.get(), kHealth.data(), kHealth.size()), 0);
  settle();
  EXPECT_EQ(status(far), "HTTP/1.1 200");
}

TEST_F(HttpServiceTest, AClientThatGoesWhileItWaitsLeavesNothingBehind) {
  {
    const net::Fd far = connect(kQuestion);
  }
  const InquiryMail mail = question(MailKind::explain_visit);
  settle();
  answer_page(mail, 1, 5);
  EXPECT_TRUE(chat.program.received.empty()) << "nobody wants the next page";
  EXPECT_EQ(shard.pool().metrics().blocks_outstanding(), 0U);
}

TEST_F(HttpServiceTest, AStopWhileSomebodyWaitsTakesTheLateAnswerIn) {
  const net::Fd far = connect(kQuestion);
  service.stop();
  answer_page(question(MailKind::explain_visit), 1, 5);
  EXPECT_TRUE(chat.program.received.empty());
}

TEST_F(HttpServiceTest, StrangersAreRefusedBeforeAnyShardIsAsked) {
  EXPECT_EQ(status(connect("GET /v1/dispatch/explain/c000-x-1 HTTP/1.1\r\nHost: h\r\n\r\n")), "HTTP/1.1 401");
  std::string no_id = kQuestion;
  no_id.replace(no_id.find("c000-x-1"), 8, "c00");
  EXPECT_EQ(status(connect(no_id)), "HTTP/1.1 404");
  std::string foreign = kQuestion;
  foreign.replace(foreign.find("c000-x-1"), 8, "c000-%22");
  EXPECT_EQ(status(connect(foreign)), "HTTP/1.1 404");
  key.reset();
  EXPECT_EQ(status(connect(kQuestion)), "HTTP/1.1 403");
  EXPECT_TRUE(chat.program.received.empty());
}

}  // namespace
}  // namespace taut::gateway
