#include "gateway/committer.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "base/memory_files.h"
#include "gateway/journal_feed.h"
#include "hub/hand_turned_shard.h"
#include "journal/journal_reader.h"

namespace taut::gateway {
namespace {

constexpr std::string_view kCommitterDirectory = "data/journal";

/// One chat shard and the committer, turned by hand, over files in memory.
class CommitterTest : public testing::Test {
 protected:
  CommitterTest() {
    EXPECT_TRUE(files.create_directory("data"));
    auto opened = journal::JournalWriter::open(
        files, {.directory = std::string(kCommitterDirectory), .segment_bytes = 1 << 20},
        journal::JournalEnd());
    EXPECT_TRUE(opened);
    writer.emplace(std::move(*opened));
    start({});
  }
  ~CommitterTest() override { end(); }

  void start(const Committer::Options& options) {
    committer.emplace(*writer, kLayout, options, metrics);
    Shard::Options shard_options{.id = kLayout.committer()};
    shard_options.pool = {
        .home = static_cast<uint16_t>(kLayout.committer()), .base_bytes = 0, .bytes_max = 4 << 20};
    member.emplace(shard_options, clock, *poller, mesh, log);
    member->begin(*committer);
  }
  void end() {
    if (!committer) return;
    committer->stop();
    for (int i = 0; i < 10 && !committer->stopped(); ++i) member->turn(*committer);
    EXPECT_TRUE(committer->stopped());
    take_mail();
    committer.reset();
    member.reset();
    EXPECT_EQ(here.outstanding(), 0U) << "all blocks came home";
  }

  void say(const std::string& json) {
    Block* block = here.pool().allocate(static_cast<uint32_t>(json.size()));
    block->append(json);
    feed.append(journal::RecordType::item, *block, 0, block->written, clock.wall_ms());
    here.pool().release(block);
    here.flush();
  }
  void turn() {
    member->turn(*committer);
    take_mail();
  }
  void take_mail() {
    here.turn();
    here.turn();
    for (const Mail& mail : here.program.received) feed.on_durable(mail.as<DurableMail>());
    here.program.received.clear();
  }
  /// Payloads of the items that a reader finds.
  std::vector<std::string> written() {
    std::vector<std::string> found;
    const auto end =
        journal::read_journal(files, std::string(kCommitterDirectory), [&](const journal::Record& record) {
          if (record.type == journal::RecordType::item) found.emplace_back(record.payload);
          return Status();
        });
    EXPECT_TRUE(end) << end.error().message;
    clean = end && end->clean;
    return found;
  }

  static constexpr Layout kLayout{.chat_shards = 1, .journal = true};
  ManualClock clock;
  MemoryFileSystem files;
  Mesh mesh{{.members = kLayout.members(), .ring_capacity = 64}};
  hub::HandTurnedShard here{0, mesh, clock};
  GatewayMetrics shard_metrics;
  JournalFeed feed{
      here.shard, shard_metrics, {.mode = wire::Durability::durable, .committer = kLayout.committer()}};
  std::optional<journal::JournalWriter> writer;
  CommitterMetrics metrics;
  std::unique_ptr<Poller> poller = std::move(*make_epoll_poller());
  LogRing log{kLayout.committer()};
  std::optional<Committer> committer;
  std::optional<Shard> member;
  bool clean = false;
};

TEST_F(CommitterTest, RecordsAreDurableOnceTheyAreWrittenAndNotBefore) {
  say("{\"a\":1}");
  say("{\"a\":2}");
  EXPECT_FALSE(feed.is_durable(1));
  EXPECT_TRUE(written().empty());
  turn();
  EXPECT_TRUE(feed.is_durable(2));
  EXPECT_EQ(metrics.commits.load(), 1U) << "what came together is written together";
  EXPECT_EQ(written(), (std::vector<std::string>{"{\"a\":1}", "{\"a\":2}"}));
  EXPECT_FALSE(clean);
  end();
  static_cast<void>(written());
  EXPECT_TRUE(clean);
}

TEST_F(CommitterTest, ABatchGrowsWithWhatWaitsInTheRing) {
  for (int i = 0; i < 50; ++i) say("{}");
  turn();
  EXPECT_EQ(metrics.commits.load(), 0U) << "a full batch: more is there";
  turn();
  EXPECT_EQ(metrics.commits.load(), 1U);
  EXPECT_EQ(metrics.records.load(), 50U);
}

TEST_F(CommitterTest, ACommitLingersForMore) {
  end();
  start({.linger_ns = 1'000'000});
  say("{}");
  turn();
  EXPECT_EQ(metrics.commits.load(), 0U);
  say("{}");
  clock.advance_ns(2'000'000);
  turn();
  EXPECT_EQ(metrics.commits.load(), 1U);
  EXPECT_EQ(metrics.records.load(), 2U);
}

TEST_F(CommitterTest, ARefusingDiskLosesNothingAndIsToldAbout) {
  say("{\"a\":1}");
  turn();
  files.fail_call(MemoryFileSystem::Call::sync);
  say("{\"a\":2}");
  turn();
  EXPECT_FALSE(feed.is_durable(2));
  EXPECT_TRUE(feed.refuses());
  EXPECT_EQ(metrics.refusing.load(), 1U);
  feed.append_latest(journal::RecordType::item, "k", wire::VisitorBlocked{.visitor = "old"}, 0);
  feed.append_latest(journal::RecordType::item, "k", wire::VisitorBlocked{.visitor = "new"}, 0);
  EXPECT_EQ(feed.number(), 2U) << "nothing more is sent there";
  clock.advance_ns(2 * Committer::kRetryNs);
  turn();
  EXPECT_FALSE(feed.refuses());
  EXPECT_TRUE(feed.is_durable(2));
  here.flush();
  turn();
  EXPECT_TRUE(feed.is_durable(3));
  EXPECT_EQ(written(),
            (std::vector<std::string>{"{\"a\":1}", "{\"a\":2}", "{\"visitor\":\"new\",\"until_ms\":0}"}))
      << "each once, the last word alone";
}

TEST_F(CommitterTest, WhatIsTooMuchOrTooOldIsRefusedWithoutTheCommitter) {
  say("{}");
  clock.advance_ns(JournalFeed::kUndurableNsMax - 1);
  here.turn();
  EXPECT_FALSE(feed.refuses());
  clock.advance_ns(1);
  here.turn();
  EXPECT_TRUE(feed.refuses());
  turn();
  EXPECT_FALSE(feed.refuses());
}

}  // namespace
}  // namespace taut::gateway
