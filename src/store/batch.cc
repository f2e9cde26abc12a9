#include "store/batch.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <variant>

namespace taut::store {

namespace {

/// What an event says about state and owner. A closed conversation keeps its last owner.
void apply_event(const Item& item, Batch::Change& change) {
  const auto become = [&](ConversationState state, std::string_view agent) {
    change.state = state;
    change.agent = agent;
  };
  switch (item.event) {
    case EventKind::opened:
    case EventKind::requeued:
    case EventKind::reopened:
      become(ConversationState::queued, {});
      break;
    case EventKind::assigned:
      become(ConversationState::assigned, item.agent);
      break;
    case EventKind::accepted:
      become(ConversationState::active, item.agent);
      break;
    case EventKind::transferred:  // to an agent, or to a group
      become(item.agent.empty() ? ConversationState::queued : ConversationState::assigned, item.agent);
      break;
    case EventKind::closed:
      change.state = ConversationState::closed;
      break;
    case EventKind::rated:
    case EventKind::none:
      break;
  }
  if (!item.group.empty()) change.group = item.group;
}

class Fold {
 public:
  explicit Fold(uint64_t position) { batch_.position = position; }

  void take(const StoredRecord& record) {
    batch_.position = record.sequence;
    if (const auto* facts = std::get_if<ConversationFacts>(&record.content)) {
      take_facts(record, *facts);
    } else if (const auto* item = std::get_if<Item>(&record.content)) {
      take_item(record, *item);
    } else if (const auto* receipts = std::get_if<Receipts>(&record.content)) {
      take_receipts(*receipts);
    } else if (const auto* forgotten = std::get_if<Forgotten>(&record.content)) {
      take_forgotten(forgotten->visitor);
    }
  }

  [[nodiscard]] Batch finish() { return std::move(batch_); }

 private:
  void take_facts(const StoredRecord& record, const ConversationFacts& facts) {
    const auto [at, fresh] = facts_at_.try_emplace(facts.conversation, batch_.facts.size());
    if (fresh) batch_.facts.push_back({.record = record.sequence, .opened_ms = record.time_ms});
    batch_.facts[at->second].facts = facts;
    // A group that an earlier event of this batch told is older than these.
    if (const auto found = changes_at_.find(facts.conversation); found != changes_at_.end()) {
      batch_.changes[found->second].group = facts.group;
    }
  }

  void take_item(const StoredRecord& record, const Item& item) {
    batch_.items.push_back(&record);
    Batch::Change& change = change_of(item.conversation);
    change.epoch = item.epoch;
    change.seq = item.seq;
    change.last_ms = item.ts_ms;
    apply_event(item, change);
  }

  void take_receipts(const Receipts& receipts) {
    Receipts& kept = change_of(receipts.conversation).receipts;
    kept.visitor_delivered = std::max(kept.visitor_delivered, receipts.visitor_delivered);
    kept.visitor_read = std::max(kept.visitor_read, receipts.visitor_read);
    kept.agent_delivered = std::max(kept.agent_delivered, receipts.agent_delivered);
    kept.agent_read = std::max(kept.agent_read, receipts.agent_read);
  }

  /// Items and changes of a conversation that is nowhere are passed over: without its facts they lead to
  /// nothing.
  void take_forgotten(std::string_view visitor) {
    batch_.forgotten.push_back(visitor);
    std::erase_if(batch_.facts, [&](const Batch::Facts& row) { return row.facts.visitor == visitor; });
    facts_at_.clear();
    for (size_t i = 0; i < batch_.facts.size(); ++i) facts_at_[batch_.facts[i].facts.conversation] = i;
  }

  Batch::Change& change_of(std::string_view conversation) {
    const auto [at, fresh] = changes_at_.try_emplace(conversation, batch_.changes.size());
    if (fresh) batch_.changes.push_back({.conversation = conversation});
    return batch_.changes[at->second];
  }

  Batch batch_;
  std::unordered_map<std::string_view, size_t> facts_at_;
  std::unordered_map<std::string_view, size_t> changes_at_;
};

}  // namespace

Result<Batch> fold(std::span<const StoredRecord> records, uint64_t position) {
  Fold folded(position);
  uint64_t last = position;  // 0: the journal's first segments may be gone, so any record may be the first
  for (const StoredRecord& record : records) {
    if (record.sequence <= position) continue;
    if (last != 0 && record.sequence != last + 1) {
      return fail("record " + std::to_string(record.sequence) + " follows record " + std::to_string(last) +
                  ": what is between them is missing");
    }
    folded.take(record);
    last = record.sequence;
  }
  return folded.finish();
}

}  // namespace taut::store
