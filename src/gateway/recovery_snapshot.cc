// Snapshots, written and read (of gateway/recovery.h).
#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/assert.h"
#include "gateway/recovery.h"
#include "gateway/wire_terms.h"
#include "wire/snapshot_json.h"

namespace taut::gateway {

namespace {

using chat::ReceiptLevel;
using chat::Side;

template <class M>
Status append(journal::SnapshotWriter& writer, journal::RecordType type, const M& message,
              std::string& payload, uint16_t shard = 0) {
  payload.resize(wire::max_size(message));
  payload.resize(wire::write(payload, message));
  return writer.append({.shard = shard, .type = type, .payload = payload});
}

wire::ConversationFacts facts_of(const RecoveredConversation& conversation) {
  return {.conversation = conversation.machine().id(),
          .group = conversation.group_name,
          .visitor = conversation.visitor_id,
          .name = conversation.visitor_name,
          .subject = conversation.subject,
          .attributes = conversation.attributes};
}

chat::DedupWindow::Entry entry_of(const wire::KnownMessage& message) {
  return {.id = {.high = message.hashes[0], .low = message.hashes[1]},
          .body_hash = message.hashes[2],
          .seq = message.seq,
          .ts_ms = static_cast<int64_t>(message.ts),
          .epoch = message.epoch};
}

wire::KnownMessage message_of(const chat::DedupWindow::Entry& entry) {
  return {.seq = entry.seq,
          .epoch = entry.epoch,
          .ts = static_cast<uint64_t>(entry.ts_ms),
          .hashes = {entry.id.high, entry.id.low, entry.body_hash}};
}

/// Gathers what is remembered of one sender after the other, and writes it in records that are not too long.
class KnownMessagesWriter {
 public:
  KnownMessagesWriter(journal::SnapshotWriter& writer, std::string_view conversation, uint16_t shard,
                      std::string& payload)
      : writer_(writer), conversation_(conversation), shard_(shard), payload_(payload) {}

  void add(const chat::RememberedSender& sender, const chat::DedupWindow::Entry& entry) {
    const bool same = sender.kind == sender_.kind && sender.id == sender_.id;
    if (!same || messages_.size() == wire::KnownMessages::kMessagesMax) write();
    sender_ = sender;
    messages_.push_back(message_of(entry));
  }
  [[nodiscard]] Status finish() {
    write();
    return status_;
  }

 private:
  void write() {
    if (!messages_.empty() && status_) {
      status_ = append(writer_, journal::RecordType::remembered,
                       wire::KnownMessages{.conversation = conversation_,
                                           .kind = wire_term(sender_.kind),
                                           .sender = sender_.id,
                                           .messages = messages_},
                       payload_, shard_);
    }
    messages_.clear();
  }

  journal::SnapshotWriter& writer_;
  const std::string_view conversation_;
  const uint16_t shard_;
  std::string& payload_;
  chat::RememberedSender sender_;
  std::vector<wire::KnownMessage> messages_;
  Status status_;
};

}  // namespace

// -- writing --

void Recovery::thin_closed(uint64_t items_max) {
  std::vector<RecoveredConversation*> closed;
  for (const auto& [shard, origin] : origins_) {
    for (const auto& [number, conversation] : origin.closed) closed.push_back(conversation);
  }
  std::ranges::sort(closed, std::greater(), &RecoveredConversation::closed_at);
  uint64_t items = 0;
  for (RecoveredConversation* conversation : closed) {
    items += conversation->machine().items().size();
    if (items > items_max) conversation->thin();
  }
}

Status Recovery::write_snapshot(journal::SnapshotWriter& writer, const GoesOn& goes_on) const {
  std::string payload;
  Status status = append(writer, journal::RecordType::snapshot,
                         wire::SnapshotFacts{.hash_seed = hash_seed_,
                                             .stopped = stopped_,
                                             .latest_ms = static_cast<uint64_t>(latest_ms_),
                                             .forgotten = counts_.forgotten},
                         payload);
  for (const auto& [agent, word] : words_) {
    if (!status) return status;
    status =
        append(writer, journal::RecordType::presence,
               wire::PresenceSet{.agent = agent, .status = wire_term(word.status), .capacity = word.capacity},
               payload);
  }
  for (const auto& [visitor, until_ms] : blocked_) {
    if (!status) return status;
    status = append(writer, journal::RecordType::block,
                    wire::VisitorBlocked{.visitor = visitor, .until_ms = static_cast<uint64_t>(until_ms)},
                    payload);
  }
  std::vector<const RecoveredConversation*> conversations;
  conversations.reserve(conversations_.size());
  for (const auto& [id, conversation] : conversations_) conversations.push_back(conversation.get());
  std::ranges::sort(conversations, {}, [](const auto* conversation) { return conversation->machine().id(); });
  for (const RecoveredConversation* conversation : conversations) {
    if (!status) return status;
    if (!goes_on()) return fail("it was told to stop");
    status = write_conversation(writer, *conversation);
  }
  return status;
}

Status Recovery::write_conversation(journal::SnapshotWriter& writer,
                                    const RecoveredConversation& conversation) const {
  const chat::Conversation& machine = conversation.machine();
  std::string payload;
  const uint16_t shard = conversation.origin;
  if (machine.opening() == 0) {
    return append(writer, journal::RecordType::conversation, facts_of(conversation), payload, shard);
  }
  const chat::ConversationImage image = machine.image();
  std::vector<wire::EpochSpan> epochs;
  for (const chat::EpochEnd& end : image.ends) {
    epochs.push_back({.first = end.first, .epoch = end.epoch, .last = end.last});
  }
  std::vector<wire::KnownSender> senders;
  for (const chat::RememberedSender& sender : image.senders) {
    senders.push_back({.kind = wire_term(sender.kind), .id = sender.id, .first_seq = sender.first_seq});
  }
  const wire::Standing standing{
      .facts = facts_of(conversation),
      .state = wire_term(image.state),
      .opening = image.opening,
      .rated_opening = image.rated_opening,
      .owner_epoch = image.owner_epoch,
      .owner = image.owner,
      .owned_since = image.owned_since,
      .agent = conversation.agent,
      .marks = {.visitor_delivered = machine.mark_of(Side::visitor, ReceiptLevel::delivered),
                .visitor_read = machine.mark_of(Side::visitor, ReceiptLevel::read),
                .agent_delivered = machine.mark_of(Side::agent, ReceiptLevel::delivered),
                .agent_read = machine.mark_of(Side::agent, ReceiptLevel::read),
                .marked_by = conversation.marked_by},
      .first_seq = image.first_seq,
      .opened_at = conversation.opened_at,
      .closed_at = conversation.closed_at,
      .epochs = epochs,
      .senders = senders};
  Status status = append(writer, journal::RecordType::state, standing, payload, shard);
  if (!status) return status;
  KnownMessagesWriter known(writer, machine.id(), shard, payload);
  machine.for_each_remembered([&known](const auto& sender, const auto& entry) { known.add(sender, entry); });
  status = known.finish();
  for (uint64_t seq = image.first_seq; status && seq <= machine.last_seq(); ++seq) {
    const chat::Item& item = machine.items().at(seq);
    status = writer.append({.time_ms = item.ts_ms,
                            .shard = shard,
                            .type = journal::RecordType::item,
                            .payload = *static_cast<const std::string*>(item.body)});
  }
  return status;
}

// -- reading --

Status Recovery::apply_snapshot(const journal::Record& record) {
  const Status status = dispatch_snapshot(record);
  if (!status)
    return fail("record " + std::to_string(record.sequence) + " of the snapshot: " + status.error().message);
  begun_ = true;
  return {};
}

Status Recovery::dispatch_snapshot(const journal::Record& record) {
  if ((record.type == journal::RecordType::snapshot) == begun_)
    return fail("a snapshot begins with `snapshot`");
  switch (record.type) {
    case journal::RecordType::snapshot: {
      wire::SnapshotFacts facts;
      if (const Status read = reader_.read(record.payload, facts); !read) return read;
      hash_seed_ = facts.hash_seed;
      stopped_ = facts.stopped;
      latest_ms_ = static_cast<int64_t>(facts.latest_ms);
      counts_.forgotten = facts.forgotten;
      return {};
    }
    case journal::RecordType::presence:
      return apply_presence(record);
    case journal::RecordType::block:
      return apply_block(record);
    case journal::RecordType::conversation:
      if (const Status finished = finish_snapshot(); !finished) return finished;
      return apply_conversation(record);
    case journal::RecordType::state:
      return apply_state(record);
    case journal::RecordType::remembered:
      return apply_remembered(record);
    case journal::RecordType::item:
      return apply_kept(record);
    default:
      return fail("it does not belong into a snapshot");
  }
}

Status Recovery::finish_snapshot() {
  if (loading_.conversation == nullptr) return {};
  const chat::Conversation& machine = loading_.conversation->machine();
  if (machine.last_seq() != loading_.last_seq) {
    return fail(std::string(machine.id()) + " ends with item " + std::to_string(machine.last_seq()) + " of " +
                std::to_string(loading_.last_seq));
  }
  loading_ = {};
  return {};
}

Status Recovery::apply_state(const journal::Record& record) {
  if (const Status finished = finish_snapshot(); !finished) return finished;
  wire::Standing standing;
  if (const Status read = reader_.read(record.payload, standing); !read) return read;
  const Result<RecoveredConversation*> added = add(standing.facts, record.shard);
  if (!added) return std::unexpected(added.error());
  RecoveredConversation& conversation = **added;
  chat::ConversationImage image{.state = chat_term(standing.state),
                                .group = conversation.machine().group(),
                                .opening = standing.opening,
                                .rated_opening = standing.rated_opening,
                                .owner_epoch = standing.owner_epoch,
                                .owner = standing.owner,
                                .owned_since = standing.owned_since,
                                .marks = {},
                                .ends = {},
                                .first_seq = standing.first_seq,
                                .senders = {}};
  const auto mark = [&image](Side side, ReceiptLevel level) -> uint64_t& {
    return image.marks[static_cast<size_t>(side)][static_cast<size_t>(level)];
  };
  mark(Side::visitor, ReceiptLevel::delivered) = standing.marks.visitor_delivered;
  mark(Side::visitor, ReceiptLevel::read) = standing.marks.visitor_read;
  mark(Side::agent, ReceiptLevel::delivered) = standing.marks.agent_delivered;
  mark(Side::agent, ReceiptLevel::read) = standing.marks.agent_read;
  for (const wire::EpochSpan& span : standing.epochs) {
    image.ends.push_back({.first = span.first, .epoch = span.epoch, .last = span.last});
  }
  for (const wire::KnownSender& sender : standing.senders) {
    const chat::PartyKind kind = chat_term(sender.kind);
    image.senders.push_back({.kind = kind, .id = sender.id, .first_seq = sender.first_seq});
    if (sender.first_seq != 0) loading_.known_from[{kind, std::string(sender.id)}] = sender.first_seq;
  }
  if (const Status restored = conversation.restore_image(image); !restored) return restored;
  conversation.agent = standing.agent;
  conversation.marked_by = standing.marks.marked_by;
  conversation.opened_at = standing.opened_at;
  conversation.closed_at = standing.closed_at;
  if (conversation.closed()) origins_[record.shard].closed.emplace(standing.closed_at, &conversation);
  loading_.conversation = &conversation;
  loading_.last_seq = image.ends.back().last;
  return {};
}

Status Recovery::apply_remembered(const journal::Record& record) {
  wire::KnownMessages known;
  if (const Status read = reader_.read(record.payload, known); !read) return read;
  if (loading_.conversation == nullptr || loading_.conversation->machine().id() != known.conversation)
    return fail("it does not follow the state of its conversation");
  for (const wire::KnownMessage& message : known.messages) {
    const Status remembered =
        loading_.conversation->remember(chat_term(known.kind), known.sender, entry_of(message));
    if (!remembered) return remembered;
  }
  return {};
}

Status Recovery::apply_kept(const journal::Record& record) {
  const Result<ItemRecord> item = read_item(record);
  if (!item) return std::unexpected(item.error());
  if (loading_.conversation == nullptr || loading_.conversation->machine().id() != item->conversation)
    return fail("it does not follow the state of its conversation");
  if (item->message == nullptr) {
    return loading_.conversation->keep_event(restored(*item->event, chat::kNoGroup), record.payload);
  }
  const wire::Message& message = *item->message;
  const chat::PartyKind kind = chat_term(message.from.kind);
  const auto known = loading_.known_from.find(
      {kind, kind == chat::PartyKind::visitor ? std::string() : std::string(message.from.id)});
  return loading_.conversation->keep_message(
      restored(message), known != loading_.known_from.end() && message.seq >= known->second, record.payload);
}

}  // namespace taut::gateway
