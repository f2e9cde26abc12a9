// Random lives of a few visitors in a journal of small segments, compacted, crashed and read again: what a
// start finds is what it would find without any of that.
#include "gateway/compaction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/identity.h"
#include "base/memory_files.h"
#include "gateway/conversation_id.h"
#include "gateway/snapshot_testing.h"
#include "journal/journal_reader.h"
#include "journal/journal_writer.h"
#include "journal/segments.h"
#include "journal/snapshot.h"
#include "wire/record_json_testing.h"

namespace taut::gateway {
namespace {

using journal::RecordType;

const std::string kDirectory = "data/journal";
constexpr uint64_t kSegmentBytes = 4'096;

Recovery::Options options() {
  return {.groups = {"sales", "support"}, .conversations_max = 6, .history_items = 4, .hash_seed = 7};
}

bool always() {
  return true;
}

class Life {
 public:
  explicit Life(uint64_t seed) : random_(seed), files_(seed) {
    EXPECT_TRUE(files_.create_directory("data"));
    EXPECT_TRUE(files_.sync_directory("."));
    open();
  }

  void step() {
    const uint64_t what = random_() % 100;
    if (what < 90) {
      write_some();
    } else if (what < 96) {
      compact();
    } else {
      end(what < 98 ? MemoryFileSystem::Crash::power : MemoryFileSystem::Crash::process);
    }
  }

  /// A start as it is, against one that has seen every record since the beginning.
  void compare() {
    Recovery found(options());
    const Result<uint64_t> covered = read_newest_snapshot(files_, kDirectory, found, always);
    ASSERT_TRUE(covered) << covered.error().message;
    const auto end = journal::read_journal(files_, kDirectory,
                                           [&](const journal::Record& record) { return found.apply(record); },
                                           {.after = *covered});
    ASSERT_TRUE(end) << end.error().message;
    ASSERT_EQ(end->next_sequence, all_.size() + 1);
    Recovery whole(options());
    for (const Told& told : all_) ASSERT_TRUE(whole.apply(told.record()));
    ASSERT_EQ(snapshot_bytes(found), snapshot_bytes(whole));
  }

  [[nodiscard]] uint64_t snapshots() const { return snapshots_; }
  [[nodiscard]] uint64_t removed() const { return removed_; }
  [[nodiscard]] uint64_t interrupted() const { return interrupted_; }

 private:
  struct Told {
    uint64_t sequence = 0;
    RecordType type = RecordType::item;
    std::string payload;
    [[nodiscard]] journal::Record record() const {
      return {
          .sequence = sequence, .time_ms = static_cast<int64_t>(sequence), .type = type, .payload = payload};
    }
  };
  struct Talk {
    std::string id;
    uint64_t seq = 0;
    uint64_t epoch = 1;
    bool closed = false;
  };

  /// As open_journal() does.
  void open() {
    Recovery recovery(options());
    const Result<uint64_t> covered = read_newest_snapshot(files_, kDirectory, recovery, always);
    ASSERT_TRUE(covered) << covered.error().message;
    const auto end = journal::read_journal(
        files_, kDirectory, [&](const journal::Record& record) { return recovery.apply(record); },
        {.after = *covered});
    ASSERT_TRUE(end) << end.error().message;
    ASSERT_LE(end->next_sequence, all_.size() + 1);
    ASSERT_GE(end->next_sequence, durable_ + 1) << "what was durable is there";
    all_.resize(end->next_sequence - 1);
    auto made =
        journal::JournalWriter::open(files_, {.directory = kDirectory, .segment_bytes = kSegmentBytes}, *end);
    ASSERT_TRUE(made) << made.error().message;
    writer_.emplace(*std::move(made));
    talks_.clear();
    tell(RecordType::started, wire::payload_of(wire::Started{.version = "1", .clean = recovery.clean()}));
    commit();
  }

  void end(MemoryFileSystem::Crash crash) {
    if (random_() % 3 == 0) {
      tell(RecordType::stopped, std::string(wire::kNothing));
      commit();
      writer_->close();
    } else if (random_() % 2 == 0) {
      write_talk();  // appended and not committed
    }
    writer_.reset();
    files_.restart(crash);
    open();
    compare();
  }

  void write_some() {
    for (uint64_t n = 1 + random_() % 4; n > 0; --n) write_talk();
    commit();
  }

  void write_talk() {
    if (talks_.size() < 2 || random_() % 12 == 0) return begin_talk();
    Talk& talk = talks_[random_() % talks_.size()];
    if (talk.closed) {
      talk.closed = false;
      return event(talk, wire::EventKind::reopened);
    }
    if (random_() % 10 == 0) {
      talk.closed = true;
      return event(talk, wire::EventKind::closed);
    }
    if (random_() % 12 == 0) {
      return tell(RecordType::presence,
                  wire::payload_of(wire::PresenceSet{.agent = "a1", .status = wire::PresenceStatus::busy}));
    }
    ++talk.seq;
    tell(RecordType::item, wire::payload_of(wire::Message{.conversation = talk.id,
                                                          .epoch = talk.epoch,
                                                          .seq = talk.seq,
                                                          .from = {.id = "v", .name = ""},
                                                          .client_msg_id = "m" + std::to_string(++messages_),
                                                          .text = std::string(random_() % 300, 'x'),
                                                          .ts = 1}));
  }

  /// One of a new visitor: those from before a start are left as they were.
  void begin_talk() {
    const std::string visitor = "v" + std::to_string(++visitors_);
    talks_.push_back({.id = make_conversation_id(partition_of(Role::visitor, visitor), 1, visitors_)});
    tell(RecordType::conversation,
         wire::payload_of(wire::ConversationFacts{
             .conversation = talks_.back().id, .group = "sales", .visitor = visitor, .name = "Eve"}));
    event(talks_.back(), wire::EventKind::opened);
  }

  void event(Talk& talk, wire::EventKind kind) {
    ++talk.seq;
    tell(RecordType::item, wire::payload_of(wire::Event{.conversation = talk.id,
                                                        .epoch = talk.epoch,
                                                        .seq = talk.seq,
                                                        .event = kind,
                                                        .group = "sales",
                                                        .ts = 1}));
  }

  void tell(RecordType type, std::string payload) {
    all_.push_back({.sequence = all_.size() + 1, .type = type, .payload = std::move(payload)});
    ASSERT_EQ(writer_->append(all_.back().record()), all_.back().sequence);
  }

  void commit() {
    ASSERT_TRUE(writer_->commit());
    durable_ = all_.size();
    if (random_() % 3 == 0) {
      ASSERT_TRUE(writer_->prepare_next());
    }
  }

  /// Sometimes the power goes in the middle of it.
  void compact() {
    const bool interrupt = random_() % 3 == 0;
    if (interrupt) files_.stop_after(random_() % 8);
    const uint64_t keep_from = random_() % 4 == 0 ? all_.size() / 2 : UINT64_MAX;
    const Result<Compacted> compacted = compact_journal(
        files_, {.directory = kDirectory, .recovery = options()}, {.keep_from = keep_from}, always);
    if (interrupt) {
      interrupted_ += files_.stopped() ? 1 : 0;
      writer_.reset();
      files_.restart(MemoryFileSystem::Crash::power);
      open();
    } else {
      ASSERT_TRUE(compacted) << compacted.error().message;
      snapshots_ += compacted->bytes > 0 ? 1 : 0;
      removed_ += compacted->removed;
      const auto segments = *journal::find_segments(files_, kDirectory);
      if (keep_from == UINT64_MAX && compacted->covered > 0) {
        EXPECT_LE(*segments.front().first_sequence, compacted->covered + 1);
      }
    }
    compare();
  }

  std::mt19937_64 random_;
  MemoryFileSystem files_;
  std::optional<journal::JournalWriter> writer_;
  std::deque<Told> all_;
  std::vector<Talk> talks_;
  uint64_t durable_ = 0;
  uint64_t visitors_ = 0;
  uint64_t messages_ = 0;
  uint64_t snapshots_ = 0;
  uint64_t removed_ = 0;
  uint64_t interrupted_ = 0;
};

TEST(Compaction, AStartFindsWhatItWouldFindWithoutIt) {
  uint64_t snapshots = 0;
  uint64_t removed = 0;
  uint64_t interrupted = 0;
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Life life(seed);
    for (int i = 0; i < 400; ++i) {
      life.step();
      ASSERT_FALSE(testing::Test::HasFailure()) << "step " << i;
    }
    life.compare();
    snapshots += life.snapshots();
    removed += life.removed();
    interrupted += life.interrupted();
  }
  EXPECT_GT(snapshots, 100U);
  EXPECT_GT(removed, 100U);
  EXPECT_GT(interrupted, 50U);
}

TEST(Compaction, CoversNothingThatIsNotDurable) {
  const std::string started = wire::payload_of(wire::Started{.version = "1", .clean = true});
  const std::string word = wire::payload_of(wire::PresenceSet{.agent = "a1"});
  uint64_t snapshots = 0;
  for (int failing = 1; failing < 1'600; ++failing) {
    MemoryFileSystem files(static_cast<uint64_t>(failing));  // which of what was not synced is there
    ASSERT_TRUE(files.create_directory("data"));
    auto writer =
        journal::JournalWriter::open(files, {.directory = kDirectory, .segment_bytes = kSegmentBytes}, {});
    ASSERT_TRUE(writer);
    writer->append({.type = RecordType::started, .payload = started});
    for (int i = 0; i < failing / 2 % 100; ++i) {
      ASSERT_TRUE(writer->commit());
      writer->append({.type = RecordType::presence, .payload = word});
    }
    // What the file shows of this one afterwards is on no disk; a new file is synced before its first record.
    files.fail_call(MemoryFileSystem::Call::sync, failing % 2);
    while (writer->commit()) writer->append({.type = RecordType::presence, .payload = word});
    const auto compacted =
        compact_journal(files, {.directory = kDirectory, .recovery = options()}, {}, always);
    ASSERT_TRUE(compacted) << compacted.error().message;
    const auto snapshot = *journal::find_snapshot(files, kDirectory);
    EXPECT_EQ(snapshot ? snapshot->sequence : 0, compacted->covered);
    EXPECT_LE(compacted->covered, writer->durable_sequence());
    snapshots += compacted->bytes > 0 ? 1 : 0;
  }
  EXPECT_GT(snapshots, 50U);
}

TEST(Compaction, WhatIsForgottenLeavesTheFilesAsSoonAsItMay) {
  MemoryFileSystem files;
  ASSERT_TRUE(files.create_directory("data"));
  auto writer =
      journal::JournalWriter::open(files, {.directory = kDirectory, .segment_bytes = uint64_t{1} << 20}, {});
  ASSERT_TRUE(writer);
  std::deque<std::string> payloads;  // they live until the commit
  const auto append = [&](RecordType type, std::string payload) {
    return writer->append({.type = type, .payload = payloads.emplace_back(std::move(payload))});
  };
  append(RecordType::started, wire::payload_of(wire::Started{.version = "1", .clean = true}));
  const std::string id = make_conversation_id(partition_of(Role::visitor, "v1"), 1, 1);
  append(RecordType::conversation,
         wire::payload_of(wire::ConversationFacts{.conversation = id, .group = "sales", .visitor = "v1"}));
  const uint64_t forgotten =
      append(RecordType::forgotten, wire::payload_of(wire::VisitorForgotten{.visitor = "v1"}));
  ASSERT_TRUE(writer->commit());
  const CompactionOptions compaction{.directory = kDirectory, .recovery = options()};
  const auto compact = [&](CompactionWishes wishes) {
    const Result<Compacted> compacted = compact_journal(files, compaction, wishes, always);
    EXPECT_TRUE(compacted) << compacted.error().message;
    return compacted.value_or(Compacted{});
  };
  const auto in_files = [&](std::string_view text) {
    const auto names = *files.list_directory(kDirectory);
    return std::ranges::count_if(names, [&](const std::string& name) {
      return files.content(std::string(kDirectory) + "/" + name).contains(text);
    });
  };
  EXPECT_EQ(compact({.forgotten = forgotten}).covered, 0U) << "its segment is written to";
  ASSERT_TRUE(writer->begin_segment());
  EXPECT_EQ(compact({.keep_from = 2, .forgotten = forgotten}).gone, 0U) << "somebody needs it";
  EXPECT_EQ(in_files("v1"), 1);
  const Compacted last = compact({.forgotten = forgotten});
  EXPECT_EQ(last.bytes, 0U) << "the snapshot is there already";
  EXPECT_EQ(last.gone, forgotten);
  EXPECT_EQ(in_files("v1"), 0);
  // A second visitor: what is new is far shorter than a snapshot has to be worth it.
  const uint64_t second =
      append(RecordType::forgotten, wire::payload_of(wire::VisitorForgotten{.visitor = "v2"}));
  ASSERT_TRUE(writer->commit());
  ASSERT_TRUE(writer->begin_segment());
  EXPECT_EQ(compact({.forgotten = second}).gone, second);
  EXPECT_EQ(in_files("v2"), 0);
}

TEST(Compaction, EndsWithNothingDoneWhenItIsToldTo) {
  MemoryFileSystem files;
  ASSERT_TRUE(files.create_directory("data"));
  auto writer =
      journal::JournalWriter::open(files, {.directory = kDirectory, .segment_bytes = kSegmentBytes}, {});
  ASSERT_TRUE(writer);
  const std::string started = wire::payload_of(wire::Started{.version = "1", .clean = true});
  const std::string word = wire::payload_of(wire::PresenceSet{.agent = "a1"});
  writer->append({.type = RecordType::started, .payload = started});
  for (int i = 0; i < 200; ++i) {
    writer->append({.type = RecordType::presence, .payload = word});
    ASSERT_TRUE(writer->commit());
  }
  const CompactionOptions compaction{.directory = kDirectory, .recovery = options()};
  const auto names = *files.list_directory(kDirectory);
  for (int asked = 0; asked < 4; ++asked) {
    const auto stopped =
        compact_journal(files, compaction, {}, [left = asked]() mutable { return --left >= 0; });
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().message, "it was told to stop");
    EXPECT_EQ(*files.list_directory(kDirectory), names);
  }
  files.set_space(0);  // more than is there already
  EXPECT_FALSE(compact_journal(files, compaction, {}, always));
  EXPECT_EQ(*files.list_directory(kDirectory), names) << "what was written of it is gone";
  files.set_space(UINT64_MAX);
  ASSERT_TRUE(compact_journal(files, compaction, {}, always));
  EXPECT_EQ((*files.list_directory(kDirectory)).size(), 2U) << "a snapshot and the newest segment";
}

}  // namespace
}  // namespace taut::gateway
