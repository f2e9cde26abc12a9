// A run of journal records folded into rows: each conversation is written once, however many items it got.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/stored_record.h"

namespace taut::store {

/// Views into the records that it was made of. Apply in this order: forgotten, facts, items (each only if its
/// conversation is there and was created before it), changes (of conversations that are there), position.
struct Batch {
  struct Facts {
    uint64_t record = 0;  ///< of their first telling in the batch
    int64_t opened_ms = 0;
    ConversationFacts facts;
  };
  struct Change {
    std::string_view conversation;
    std::optional<ConversationState> state = {};
    std::optional<std::string_view> agent = {};
    std::optional<std::string_view> group = {};
    uint64_t epoch = 0;  ///< of the latest item; seq 0: the batch has none of it
    uint64_t seq = 0;
    int64_t last_ms = 0;
    Receipts receipts = {};  ///< the highest marks; 0: none
  };

  std::vector<std::string_view> forgotten;  ///< visitors: what was there before the batch goes
  std::vector<Facts> facts;
  std::vector<const StoredRecord*> items;
  std::vector<Change> changes;
  uint64_t position = 0;  ///< after it; as before: there is nothing new
};

/// Records at or below `position` are left out. Error: a hole.
[[nodiscard]] Result<Batch> fold(std::span<const StoredRecord> records, uint64_t position);

}  // namespace taut::store
