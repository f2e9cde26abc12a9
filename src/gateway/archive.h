// The thread that keeps the history: it projects the journal into the store and answers what is asked of it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "core/cell.h"
#include "core/shard.h"
#include "gateway/archive_questions.h"
#include "gateway/mails.h"
#include "gateway/projection.h"
#include "journal/journal_follower.h"
#include "store/history.h"

namespace taut::gateway {

/// Written by the archive's thread.
struct ArchiveMetrics {
  Cell position;   ///< the store has the records up to this one
  Cell safe;       ///< … and has those up to this one after a power cut, too
  Cell batches;    ///< transactions that succeeded
  Cell failures;   ///< attempts that did not
  Cell failing;    ///< level, 1: the last one did not
  Cell questions;  ///< that were answered
  Cell refused;    ///< that were not, since the store does not answer
  Cell wiping;     ///< level, 1: bytes of removed visitors are still in the store's files
  Cell expired;    ///< conversations that were removed for their age
};

/// A member of the mesh on a thread of its own that parks, and waits for the database in on_mail() and
/// flush(). It reads the journal's files behind the committer, so it gets no mail about what is written: a
/// store that is slow or down for hours costs disk, and nobody's memory or time. Questions go before records;
/// before each it takes one batch of them, so that an answer tells what is durable unless there is a backlog.
///
/// Whatever fails is tried again from the store's own position, with pauses that grow from kPauseNsMin to
/// kPauseNsMax; while the store does not answer, questions are refused at once.
class Archive final : public ShardProgram {
 public:
  static constexpr int64_t kLookNs = 200'000'000;
  static constexpr int64_t kPauseNsMin = 200'000'000;
  static constexpr int64_t kPauseNsMax = 30'000'000'000;
  static constexpr int64_t kSyncNs = 5'000'000'000;
  static constexpr int64_t kExpireNs = 60'000'000'000;
  static constexpr journal::JournalFollower::Limits kBatch{.records = 500, .payload_bytes = size_t{1} << 20};
  static constexpr int64_t kWipeNs = 60'000'000'000;
  /// Visitors who were forgotten and of whom nobody has asked yet how much it was.
  static constexpr size_t kRemovedMax = 1'024;
  /// Conversations that one transaction removes for their age.
  static constexpr uint32_t kExpiredAtOnce = 20;

  struct Options {
    std::string directory;                            ///< the journal's
    std::vector<std::string> groups;                  ///< not empty
    int64_t retention_ms = 0;                         ///< closed conversations that are older go; 0: none
    journal::JournalFollower::Limits batch = kBatch;  ///< one transaction
  };

  /// `durable` is the last record that is; the committer's thread writes it. The references outlive it.
  Archive(store::HistoryStore& store, FileSystem& files, Options options, const Cell& durable,
          ArchiveMetrics& metrics);
  ~Archive() override;

  void start(Shard& shard) override;
  void on_events(std::span<const PollEvent> /*events*/) override {}
  void on_mail(ShardId from, std::span<const Mail> batch) override;
  void on_timer(Timer& /*timer*/) override { due_ = true; }
  void flush() override;
  [[nodiscard]] bool has_work() const override { return backlog_; }
  void continue_work() override { due_ = true; }
  void stop() override;
  [[nodiscard]] bool stopped() const override { return stopping_; }

 private:
  static constexpr uint32_t kLookTimer = 1;

  void answer(const OlderPageMail& mail);
  void answer(const ArchiveMail& mail);
  [[nodiscard]] Result<HttpAnswer> answer(ArchiveQuestion& question);
  [[nodiscard]] Status remove_forgotten();
  void wipe_some();
  /// Whether it is worth asking the store now.
  [[nodiscard]] bool ready();

  void look();
  /// A batch of records and what else is due; a failure is noted. False: nothing more can be done now.
  bool project();
  [[nodiscard]] Status project_batch();
  [[nodiscard]] Status begin();
  [[nodiscard]] Status keep_house();
  void succeeded();
  void failed(const Error& error);

  store::HistoryStore& store_;
  FileSystem& files_;
  const Options options_;
  const Cell& durable_;
  ArchiveMetrics& metrics_;
  Shard* shard_ = nullptr;
  std::optional<journal::JournalFollower> follower_;  ///< none: the store's position is not known
  Projection batch_;
  Timer look_{kLookTimer, 0};
  int64_t pause_ns_ = 0;     ///< 0: the last attempt succeeded
  int64_t retry_at_ns_ = 0;  ///< nothing is asked of the store before
  int64_t sync_at_ns_ = 0;
  int64_t expire_at_ns_ = 0;
  int64_t wipe_at_ns_ = 0;
  std::map<std::string, store::Removal, std::less<>> removed_;  ///< by visitor
  std::string complaint_;                                       ///< what the log was told last
  bool due_ = false;
  bool backlog_ = false;  ///< the last batch was not all that is durable
  bool stopping_ = false;
};

}  // namespace taut::gateway
