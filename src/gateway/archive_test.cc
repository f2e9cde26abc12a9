#include "gateway/archive.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/memory_files.h"
#include "gateway/block_front.h"
#include "gateway/frame.h"
#include "gateway/layout.h"
#include "gateway/older_pages.h"
#include "hub/hand_turned_shard.h"
#include "journal/journal_reader.h"
#include "journal/journal_writer.h"
#include "store/sqlite_history.h"
#include "wire/record_json.h"
#include "wire/record_json_testing.h"

namespace taut::gateway {
namespace {

using journal::RecordType;

const std::string kArchiveDirectory = "data/journal";

/// SQLite, which can be told to fail.
class FailingStore final : public store::HistoryStore {
 public:
  explicit FailingStore(store::HistoryStore& store) : store_(store) {}

  bool fails = false;

  Result<uint64_t> position() override { return fails ? down() : store_.position(); }
  Status apply(std::span<const store::StoredRecord> records) override {
    return fails ? Status(down()) : store_.apply(records);
  }
  Status sync() override { return fails ? Status(down()) : store_.sync(); }
  Result<store::ItemPage> items(std::string_view conversation, const store::ItemRange& range,
                                store::Audience audience) override {
    if (fails) return down();
    return store_.items(conversation, range, audience);
  }
  Result<std::optional<store::ConversationRow>> conversation(std::string_view id) override {
    if (fails) return down();
    return store_.conversation(id);
  }
  Result<store::ConversationPage> conversations(const store::ConversationFilter& filter) override {
    return store_.conversations(filter);
  }
  Result<store::SearchPage> search(std::string_view text, uint64_t cursor, uint32_t limit) override {
    return store_.search(text, cursor, limit);
  }
  Result<store::Removal> remove_visitor(std::string_view visitor) override {
    return store_.remove_visitor(visitor);
  }
  Result<store::Removal> expire(int64_t before_ms, uint32_t conversations_max) override {
    return store_.expire(before_ms, conversations_max);
  }
  Status backup(const std::string& path) override { return store_.backup(path); }

 private:
  static std::unexpected<Error> down() { return fail("the store is down"); }

  store::HistoryStore& store_;
};

/// The archive turned by hand behind a journal in memory; member 0 asks.
class ArchiveTest : public testing::Test {
 protected:
  ArchiveTest() {
    EXPECT_TRUE(files.create_directory("data"));
    EXPECT_TRUE(files.sync_directory("."));
    std::filesystem::remove_all(folder);
    std::filesystem::create_directory(folder);
    auto opened = store::SqliteHistory::open(folder + "/history.db");
    EXPECT_TRUE(opened) << opened.error().message;
    sqlite = std::move(*opened);
    store.emplace(*sqlite);
    auto made =
        journal::JournalWriter::open(files, {.directory = kArchiveDirectory, .segment_bytes = 1 << 16}, {});
    EXPECT_TRUE(made);
    writer.emplace(std::move(*made));
  }
  ~ArchiveTest() override {
    stop();
    EXPECT_EQ(here.outstanding(), 0U) << "all blocks came home";
    std::filesystem::remove_all(folder);
  }

  void start(int64_t retention_ms = 0) {
    archive.emplace(
        *store, files,
        Archive::Options{
            .directory = kArchiveDirectory, .groups = {"sales", "support"}, .retention_ms = retention_ms},
        durable, metrics);
    Shard::Options options{.id = kLayout.archive()};
    options.pool = {.home = static_cast<uint16_t>(kLayout.archive()), .base_bytes = 0, .bytes_max = 4 << 20};
    member.emplace(options, clock, *poller, mesh, log);
    member->begin(*archive);
  }
  void stop() {
    if (!archive) return;
    archive->stop();
    turn(3);
    archive.reset();
    member.reset();
  }
  void turn(int times = 1) {
    for (int i = 0; i < times; ++i) {
      here.turn();
      member->turn(*archive);
    }
    here.turn();
  }
  void pass(int64_t ns) {
    clock.advance_ns(ns);
    turn(2);
  }

  void tell(RecordType type, std::string payload) {
    payloads.push_back(std::move(payload));
    writer->append({.time_ms = clock.wall_ms(), .type = type, .payload = payloads.back()});
  }
  void commit() {
    ASSERT_TRUE(writer->commit());
    durable.store(writer->durable_sequence());
  }
  void open(const std::string& conversation, const std::string& visitor, const std::string& group = "sales") {
    tell(RecordType::conversation, wire::payload_of(wire::ConversationFacts{
                                       .conversation = conversation, .group = group, .visitor = visitor}));
  }
  void say(const std::string& conversation, uint64_t seq, wire::ItemKind kind = wire::ItemKind::text) {
    const std::string id = "m" + std::to_string(seq);
    tell(RecordType::item, wire::payload_of(wire::Message{.conversation = conversation,
                                                          .epoch = 1,
                                                          .seq = seq,
                                                          .from = {.id = "v1", .name = ""},
                                                          .client_msg_id = id,
                                                          .kind = kind,
                                                          .text = "text " + std::to_string(seq),
                                                          .ts = static_cast<uint64_t>(clock.wall_ms())}));
  }
  void close(const std::string& conversation, uint64_t seq) {
    tell(RecordType::item, wire::payload_of(wire::Event{.conversation = conversation,
                                                        .epoch = 1,
                                                        .seq = seq,
                                                        .event = wire::EventKind::closed,
                                                        .ts = static_cast<uint64_t>(clock.wall_ms())}));
  }

  /// What an asker gets for it: the frame's object, or the outcome's number.
  std::string older(const OlderPage& question) {
    Block* block = here.pool().allocate(BufferPool::kCapacityMax);
    set_front(*block, question);
    here.shard.send(kLayout.archive(),
                    mail_of(MailKind::older_wanted, OlderPageMail{.asker = Handle(0, 1, 1), .block = block}));
    here.flush();
    turn(2);
    if (here.program.received.size() != 1) return "no answer";
    const auto answer = here.program.received.front().as<OlderPageMail>();
    here.program.received.clear();
    std::string said = answer.outcome == OlderPageOutcome::found
                           ? std::string(frame_json(*answer.block))
                           : "outcome " + std::to_string(static_cast<int>(answer.outcome));
    here.pool().release(answer.block);
    return said;
  }
  static OlderPage of(std::string_view conversation, uint64_t before, uint32_t limit = 2) {
    return {.conversation = chat::InlineId(conversation),
            .reader = chat::InlineId("v1"),
            .before = before,
            .limit = limit,
            .ref = 5,
            .visitor = true,
            .known = true};
  }
  /// Sequence numbers in a page, and whether there is more.
  static std::string page(const std::string& frame) {
    std::string numbers;
    for (size_t at = frame.find("\"seq\":"); at != std::string::npos; at = frame.find("\"seq\":", at + 1))
      numbers += frame.substr(at + 6, frame.find_first_of(",}", at) - at - 6) + " ";
    return numbers + (frame.find("\"more\":true") != std::string::npos ? "more" : "end");
  }
  HttpAnswer asked(ArchiveQuestion question) {
    here.shard.send(
        kLayout.archive(),
        mail_of(MailKind::archive_asked, ArchiveMail{.question = new ArchiveQuestion(std::move(question))}));
    here.flush();
    turn(2);
    if (here.program.received.size() != 1) return {.status = 0};
    const std::unique_ptr<ArchiveQuestion> back(here.program.received.front().as<ArchiveMail>().question);
    here.program.received.clear();
    return back->answer;
  }

  static constexpr Layout kLayout{.chat_shards = 1, .journal = true, .store = true};
  const std::string folder = testing::TempDir() + "taut-archive-" + std::to_string(::getpid());
  ManualClock clock;
  MemoryFileSystem files;
  Mesh mesh{{.members = kLayout.members(), .ring_capacity = 64}};
  hub::HandTurnedShard here{0, mesh, clock};
  std::deque<std::string> payloads;
  std::unique_ptr<store::SqliteHistory> sqlite;
  std::optional<FailingStore> store;
  std::optional<journal::JournalWriter> writer;
  Cell durable;
  ArchiveMetrics metrics;
  std::unique_ptr<Poller> poller = std::move(*make_epoll_poller());
  LogRing log{kLayout.archive()};
  std::optional<Archive> archive;
  std::optional<Shard> member;
};

TEST_F(ArchiveTest, ProjectsWhatIsDurableAndNothingBeyond) {
  start();
  open("c1", "v1");
  say("c1", 1);
  commit();
  say("c1", 2);
  pass(Archive::kLookNs);
  EXPECT_EQ(metrics.position.load(), 2U);
  commit();
  pass(2 * Archive::kLookNs);
  EXPECT_EQ(metrics.position.load(), 3U);
  EXPECT_EQ(page(older(of("c1", 3))), "1 2 end");
}

TEST_F(ArchiveTest, AnAnswerTellsWhatIsDurableWithoutWaitingForTheNextLook) {
  start();
  turn();
  open("c1", "v1");
  for (uint64_t seq = 1; seq <= 5; ++seq) say("c1", seq);
  commit();
  EXPECT_EQ(page(older(of("c1", 6))), "4 5 more");
  EXPECT_EQ(page(older(of("c1", 4, 3))), "1 2 3 end");
}

TEST_F(ArchiveTest, ALongBacklogIsTakenInBatchesBetweenWhichQuestionsAreAnswered) {
  open("c1", "v1");
  for (uint64_t seq = 1; seq <= 3 * Archive::kBatch.records; ++seq) say("c1", seq);
  commit();
  start();
  EXPECT_EQ(older(of("c1", 3 * Archive::kBatch.records + 1)), "outcome 3") << "no hole, but an honest word";
  EXPECT_EQ(page(older(of("c1", 11))), "9 10 more") << "this far it has come";
  turn(4);
  EXPECT_EQ(metrics.position.load(), 3 * Archive::kBatch.records + 1);
  EXPECT_EQ(page(older(of("c1", 3 * Archive::kBatch.records + 1, 1))), "1500 more");
}

TEST_F(ArchiveTest, GoesOnThoughAQuestionTookTheRestOfTheBacklog) {
  constexpr uint64_t kLast = Archive::kBatch.records + 10;
  open("c1", "v1");
  for (uint64_t seq = 1; seq <= kLast; ++seq) say("c1", seq);
  commit();
  start();
  turn();
  EXPECT_EQ(metrics.position.load(), Archive::kBatch.records);
  EXPECT_EQ(page(older(of("c1", kLast + 1, 1))), "510 more");
  say("c1", kLast + 1);
  commit();
  pass(2 * Archive::kLookNs);
  EXPECT_EQ(metrics.position.load(), kLast + 2);
}

TEST_F(ArchiveTest, WhatIsNotDurableYetIsNoHole) {
  start();
  open("c1", "v1");
  say("c1", 1);
  commit();
  OlderPage question = of("c1", 4);
  question.durable = false;
  EXPECT_EQ(older(question), "outcome 3");
  question.before = 2;
  EXPECT_EQ(page(older(question)), "1 end");
}

TEST_F(ArchiveTest, AVisitorSeesThatThereWasANoteAndNotTheNote) {
  start();
  open("c1", "v1");
  say("c1", 1);
  say("c1", 2, wire::ItemKind::note);
  commit();
  const std::string frame = older(of("c1", 3));
  EXPECT_EQ(page(frame), "1 2 end");
  EXPECT_NE(frame.find(R"("event":"note_hidden","owner_epoch":0,)"), std::string::npos) << frame;
  EXPECT_EQ(frame.find("text 2"), std::string::npos) << frame;
  OlderPage agent = of("c1", 3);
  agent.visitor = false;
  EXPECT_NE(older(agent).find("text 2"), std::string::npos);
}

TEST_F(ArchiveTest, WhatHasLeftMemoryIsShownToWhomItBelongs) {
  start();
  open("c1", "v1", "support");
  say("c1", 1);
  commit();
  OlderPage question = of("c1", 0);
  question.known = false;
  EXPECT_EQ(page(older(question)), "1 end");
  question.reader = chat::InlineId("v2");
  EXPECT_EQ(older(question), "outcome 1");
  question.visitor = false;
  question.groups = 1;
  EXPECT_EQ(older(question), "outcome 2");
  question.groups = 2;
  EXPECT_EQ(page(older(question)), "1 end");
  question.conversation = chat::InlineId("c9");
  EXPECT_EQ(older(question), "outcome 1");
}

TEST_F(ArchiveTest, AStoreThatFailsIsTriedAgainAndQuestionsAreRefusedMeanwhile) {
  start();
  open("c1", "v1");
  say("c1", 1);
  commit();
  store->fails = true;
  pass(Archive::kLookNs);
  EXPECT_EQ(metrics.failing.load(), 1U);
  EXPECT_EQ(older(of("c1", 2)), "outcome 4");
  EXPECT_EQ(asked({.kind = ArchiveQuestion::Kind::conversation, .id = "c1"}).status, 503U);
  const uint64_t failures = metrics.failures.load();
  for (int i = 0; i < 100; ++i) static_cast<void>(older(of("c1", 2)));
  EXPECT_EQ(metrics.failures.load(), failures) << "the store is left alone for a while";
  for (int i = 0; i < 20; ++i) pass(Archive::kPauseNsMax);
  EXPECT_LE(metrics.failures.load(), failures + 21);
  store->fails = false;
  pass(2 * Archive::kPauseNsMax);
  EXPECT_EQ(metrics.failing.load(), 0U);
  EXPECT_EQ(page(older(of("c1", 2))), "1 end");
}

TEST_F(ArchiveTest, AnEmptiedStoreIsBuiltAgain) {
  start();
  open("c1", "v1");
  say("c1", 1);
  commit();
  pass(Archive::kLookNs);
  stop();
  auto opened = store::SqliteHistory::open(folder + "/another.db");
  ASSERT_TRUE(opened);
  sqlite = std::move(*opened);
  store.emplace(*sqlite);
  start();
  turn(2);
  EXPECT_EQ(page(older(of("c1", 2))), "1 end");
}

TEST_F(ArchiveTest, AStoreThatKnowsMoreThanTheJournalIsNotWrittenTo) {
  start();
  open("c1", "v1");
  say("c1", 1);
  commit();
  pass(Archive::kLookNs);
  stop();
  durable.store(1);
  start();
  turn(2);
  EXPECT_EQ(metrics.failing.load(), 1U);
  EXPECT_EQ(older(of("c1", 2)), "outcome 4");
}

TEST_F(ArchiveTest, TheJournalMayForgetWhatThePowerCannotTake) {
  start();
  open("c1", "v1");
  commit();
  pass(Archive::kLookNs);
  EXPECT_EQ(metrics.safe.load(), 1U);
  say("c1", 1);
  commit();
  pass(2 * Archive::kLookNs);
  EXPECT_EQ(metrics.position.load(), 2U);
  EXPECT_EQ(metrics.safe.load(), 1U);
  pass(Archive::kSyncNs);
  EXPECT_EQ(metrics.safe.load(), 2U);
}

TEST_F(ArchiveTest, ClosedConversationsLeaveAfterTheirTime) {
  start(1'000'000);
  for (int i = 0; i < 50; ++i) {
    const std::string id = "c" + std::to_string(i);
    open(id, "v1");
    close(id, 1);
  }
  open("open", "v1");
  say("open", 1);
  commit();
  pass(Archive::kLookNs);
  EXPECT_EQ(metrics.expired.load(), 0U);
  pass(1'000'000 * int64_t{1'000'000} + Archive::kExpireNs);
  for (int i = 0; i < 5; ++i) pass(2 * Archive::kLookNs);
  EXPECT_EQ(metrics.expired.load(), 50U);
  EXPECT_EQ(page(older(of("open", 2))), "1 end");
}

TEST_F(ArchiveTest, TheHttpServiceIsAnsweredInJson) {
  start();
  open("c1", "v1");
  say("c1", 1);
  say("c1", 2);
  commit();
  EXPECT_EQ(asked({.kind = ArchiveQuestion::Kind::conversation, .id = "c1"}).body,
            R"({"conversation":"c1","visitor":"v1","group":"sales","state":"queued","opened_ms":)" +
                std::to_string(clock.wall_ms()) + R"(,"last_ms":)" + std::to_string(clock.wall_ms()) +
                R"(,"epoch":1,"seq":2,"visitor_delivered":0,"visitor_read":0,"agent_delivered":0,)"
                R"("agent_read":0,"facts":{"conversation":"c1","group":"sales","visitor":"v1"}})"
                "\n");
  EXPECT_EQ(asked({.kind = ArchiveQuestion::Kind::conversation, .id = "c2"}).status, 404U);
  const HttpAnswer list = asked({.kind = ArchiveQuestion::Kind::conversations, .text = "text 2", .limit = 5});
  EXPECT_TRUE(list.body.starts_with(R"({"conversations":[{"conversation":"c1",)")) << list.body;
  const HttpAnswer items = asked({.kind = ArchiveQuestion::Kind::items,
                                  .id = "c1",
                                  .range = {.side = store::ItemRange::Side::after, .seq = 1, .limit = 5}});
  EXPECT_TRUE(items.body.starts_with(R"({"conversation":"c1","items":[{"type":"message",)")) << items.body;
  EXPECT_EQ(page(items.body), "2 end");
  EXPECT_EQ(asked({.kind = ArchiveQuestion::Kind::items, .id = "c2", .range = {.limit = 5}}).status, 404U);
  const HttpAnswer all = asked({.kind = ArchiveQuestion::Kind::visitor, .id = "v1"});
  EXPECT_EQ(std::ranges::count(all.body, '\n'), 3) << all.body;
}

}  // namespace
}  // namespace taut::gateway
