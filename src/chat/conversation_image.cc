// A conversation as an image and made again of one (the snapshots of chat/conversation.h).
#include "chat/conversation_image.h"

#include <algorithm>
#include <string>

#include "chat/conversation.h"

namespace taut::chat {

namespace {

/// What is wrong with the ends of epochs; empty: nothing.
std::string_view epochs_fault(const std::vector<EpochEnd>& ends) {
  if (ends.empty()) return "it has no epoch";
  for (size_t i = 0; i < ends.size(); ++i) {
    if (ends[i].first > ends[i].epoch) return "an epoch ends before it begins";
    if (i == 0) continue;
    if (ends[i].first != ends[i - 1].epoch + 1) return "its epochs have a hole";
    if (ends[i].last < ends[i - 1].last) return "its epochs run backwards";
  }
  return {};
}

std::string_view image_fault(const ConversationImage& image) {
  const bool owned = image.state == ConversationState::assigned || image.state == ConversationState::active;
  if (const std::string_view fault = epochs_fault(image.ends); !fault.empty()) return fault;
  const uint64_t last = image.ends.back().last;
  if (image.opening == 0) return "it was never opened";
  if (image.group >= kGroupsMax) return "it has no group";
  if (image.owner.empty() == owned) return owned ? "nobody owns it" : "somebody owns it";
  if (image.rated_opening > image.opening) return "it was rated before it was opened";
  if (image.owned_since > image.owner_epoch) return "its owner has it by an assignment to come";
  if (image.first_seq == 0 || image.first_seq > last + 1) return "its items begin behind its end";
  for (const auto& side : image.marks) {
    if (std::ranges::any_of(side, [last](uint64_t mark) { return mark > last; }))
      return "a receipt is beyond its end";
  }
  return {};
}

}  // namespace

ConversationImage Conversation::image() const {
  TAUT_ASSERT(!event_due_ && opening_ > 0);
  ConversationImage image{.state = state_,
                          .group = group_,
                          .opening = opening_,
                          .rated_opening = rated_opening_,
                          .owner_epoch = owner_epoch_,
                          .owner = owner_.id.view(),
                          .owned_since = owner_.owner_epoch,
                          .marks = marks_,
                          .ends = {ends_.begin(), ends_.end()},
                          .first_seq = log_.first_seq(),
                          .senders = {}};
  windows_.for_each([&](PartyKind kind, std::string_view id, const DedupWindow& window) {
    image.senders.push_back(
        {.kind = kind, .id = id, .first_seq = window.size() == 0 ? 0 : window.entry(0).seq});
  });
  return image;
}

Status Conversation::restore_image(const ConversationImage& image) {
  TAUT_ASSERT(opening_ == 0 && last_seq() == 0 && !event_due_);
  if (const std::string_view fault = image_fault(image); !fault.empty()) return fail(std::string(fault));
  if (image.senders.size() > SenderWindows::kOthersMax + 1) return fail("it has too many senders");
  group_ = image.group;
  state_ = image.state;
  opening_ = image.opening;
  rated_opening_ = image.rated_opening;
  owner_epoch_ = image.owner_epoch;
  owner_ = {.id = InlineId(image.owner), .owner_epoch = image.owned_since};
  marks_ = image.marks;
  ends_.assign(image.ends.begin(), image.ends.end());
  log_.begin_at(image.first_seq);
  for (const RememberedSender& sender : image.senders)
    static_cast<void>(windows_.get(sender.kind, sender.id));
  return {};
}

Status Conversation::remember(PartyKind kind, std::string_view sender, const DedupWindow::Entry& entry) {
  // Found, not got: the senders stand in their order already.
  DedupWindow* window = windows_.find(kind, sender);
  if (window == nullptr) return fail("a message of a sender who is not remembered");
  if (entry.seq >= log_.first_seq()) return fail("a message that is kept is remembered besides");
  if (window->size() > 0 && window->entry(window->size() - 1).seq >= entry.seq) {
    return fail("seq " + std::to_string(entry.seq) + " is remembered out of order");
  }
  if (window->find(entry.id, entry.body_hash).verdict != DedupWindow::Verdict::fresh)
    return fail("a client_msg_id is remembered twice");
  window->add(entry.id, entry.body_hash, entry.epoch, entry.seq, entry.ts_ms);
  return {};
}

Status Conversation::follows_in_image(uint32_t epoch, uint64_t seq) const {
  if (seq != last_seq() + 1) {
    return fail("seq " + std::to_string(seq) + " does not follow " + std::to_string(last_seq()));
  }
  const auto end = std::ranges::find_if(ends_, [seq](const EpochEnd& e) { return seq <= e.last; });
  if (end == ends_.end()) return fail("seq " + std::to_string(seq) + " is beyond the end");
  // Of a run of epochs only the first has items.
  if (epoch != end->first && !(end == ends_.begin() && epoch <= end->epoch)) {
    return fail("epoch " + std::to_string(epoch) + " where " + std::to_string(end->first) + " is due");
  }
  return {};
}

Result<void*> Conversation::keep_message(const RestoredMessage& message, bool known, void* body) {
  if (const Status status = follows_in_image(message.epoch, message.seq); !status)
    return std::unexpected(status.error());
  if (known) {
    DedupWindow* window = windows_.find(message.sender, message.sender_id);
    if (window == nullptr) return fail("a message of a sender who is not remembered");
    if (window->find(message.id, message.body_hash).verdict != DedupWindow::Verdict::fresh)
      return fail("a message whose client_msg_id was there before");
    window->add(message.id, message.body_hash, message.epoch, message.seq, message.ts_ms);
  }
  return log_.push({.body = body, .ts_ms = message.ts_ms, .epoch = message.epoch, .kind = message.kind});
}

Result<void*> Conversation::keep_event(const RestoredEvent& event, void* body) {
  if (const Status status = follows_in_image(event.epoch, event.seq); !status)
    return std::unexpected(status.error());
  return log_.push({.body = body,
                    .ts_ms = event.ts_ms,
                    .epoch = event.epoch,
                    .kind = ItemKind::event,
                    .event = event.event});
}

}  // namespace taut::chat
