// Appending to a journal: group commit into preallocated segments, none of which is used again after a
// failure.
//
// A write or a sync that fails leaves a file of which nothing is known, and a second sync may claim success
// for bytes that the kernel has dropped. So the segment is given up there: its un-durable records stay
// appended, and the next commit writes them into a new segment, which begins with the first of them and so
// voids what the old one holds of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "journal/format.h"
#include "journal/journal_end.h"
#include "journal/record.h"

namespace taut::journal {

/// One thread, the committer's: open(), commit(), prepare_next() and close() block on the disk. Owns the
/// files that it writes; has no clock and no thread. Allocates only until its tables have reached their size.
class JournalWriter {
 public:
  struct Options {
    std::string directory;  ///< created if missing; its parent exists
    uint64_t segment_bytes =
        kSegmentBytesDefault;  ///< reserved for each segment; a larger batch makes it longer
  };

  /// Begins a new segment behind `end`, as read_journal() gave it, and writes the last batch again there. All
  /// that was read is durable afterwards. `files` outlives the writer. Error: the disk's; nothing is lost,
  /// and the journal reads as before.
  [[nodiscard]] static Result<JournalWriter> open(FileSystem& files, const Options& options,
                                                  const JournalEnd& end);

  /// Gives the record its sequence number (whatever it has) and returns it; no call to the system. The
  /// payload's bytes are not copied: they stay valid and unchanged until durable_sequence() has reached the
  /// number. REQUIRES: at most kPayloadBytesMax of them.
  uint64_t append(const Record& record);

  /// Makes all appended records durable: for each batch of at most kBatchBytesMax one write and one sync.
  /// Error: the disk's; durable_sequence() says how far it came, the rest stays appended, and the next call
  /// tries it with a new segment.
  [[nodiscard]] Status commit();

  /// Creates the next segment when the present one is half full or given up, so that no commit has to; else
  /// nothing. For idle moments. Error: the disk's; nothing has changed.
  [[nodiscard]] Status prepare_next();

  /// Lets the next record begin a segment, which is there at once, so that all before it is settled. Error:
  /// the disk's; nothing has changed. REQUIRES: nothing is pending.
  [[nodiscard]] Status begin_segment();

  /// Gives back what is reserved and not used. What is appended and not durable is dropped; nothing may be
  /// called afterwards.
  void close();

  /// The last one that survives whatever comes, or 0.
  [[nodiscard]] uint64_t durable_sequence() const { return next_sequence_ - 1 - pending_.size(); }
  /// What the next append() returns.
  [[nodiscard]] uint64_t next_sequence() const { return next_sequence_; }
  /// Appended and not durable.
  [[nodiscard]] size_t pending_records() const { return pending_.size(); }

 private:
  /// A file of this writer.
  struct Segment {
    std::unique_ptr<File> file;  ///< none: there is no segment
    std::string path;
    uint64_t number = 0;
    uint64_t end = 0;            ///< where the next batch goes; 0: the header is not written
    bool holds_durable = false;  ///< a commit into it succeeded
  };
  /// The first records of pending_ that become durable together.
  struct Batch {
    size_t records = 0;
    uint64_t bytes = 0;
  };

  JournalWriter(FileSystem& files, Options options, const JournalEnd& end);

  [[nodiscard]] Result<Segment> create_segment();
  [[nodiscard]] Status carry_over(const LastBatch& last);
  void tidy_up(const JournalEnd& end);
  [[nodiscard]] Batch next_batch() const;
  [[nodiscard]] Status make_room(uint64_t bytes);
  [[nodiscard]] Status write_batch(const Batch& batch);
  void encode(const Batch& batch);
  void give_up_segment();

  FileSystem* files_;
  Options options_;
  uint64_t next_sequence_;
  uint64_t next_segment_;  ///< number of the next file to be created
  Segment current_;
  Segment next_;                 ///< made by prepare_next()
  std::vector<Record> pending_;  ///< appended and not durable, in order
  // Of the batch that is being written; kept for their memory.
  SegmentHead segment_head_{};
  std::vector<RecordHead> heads_;
  std::vector<std::string_view> parts_;
};

}  // namespace taut::journal
