// From the payload of a journal's record to what it says, every field checked.
#pragma once

#include <memory>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "wire/chat_writer.h"
#include "wire/record_json.h"
#include "wire/snapshot_json.h"

namespace taut::wire {

/// What an item's payload is.
using ItemObject = std::variant<Message, Event>;

/// Reads what the writers of wire/record_json.h and wire/chat_writer.h wrote: ids are ids, numbers stay in
/// their ranges, words are words of the protocol. Fields that it does not know are ignored, so that a later
/// version may add some. An escaped lone surrogate or U+0000 is refused: no message may hold one. Other
/// lengths are those of the payload.
///
/// One thread. Views in what was read hold until the next read() and as long as the payload. Errors name the
/// field. Allocates where a payload is longer than all before.
class RecordReader {
 public:
  RecordReader();
  RecordReader(const RecordReader&) = delete;
  RecordReader& operator=(const RecordReader&) = delete;
  ~RecordReader();

  [[nodiscard]] Status read(std::string_view payload, Started& out);
  [[nodiscard]] Status read(std::string_view payload, ConversationFacts& out);
  [[nodiscard]] Status read(std::string_view payload, ItemObject& out);
  [[nodiscard]] Status read(std::string_view payload, Marks& out);
  [[nodiscard]] Status read(std::string_view payload, PresenceSet& out);
  [[nodiscard]] Status read(std::string_view payload, VisitorBlocked& out);
  [[nodiscard]] Status read(std::string_view payload, VisitorForgotten& out);
  // Of snapshots; the spans hold as the views do.
  [[nodiscard]] Status read(std::string_view payload, SnapshotFacts& out);
  [[nodiscard]] Status read(std::string_view payload, Standing& out);
  [[nodiscard]] Status read(std::string_view payload, KnownMessages& out);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace taut::wire
