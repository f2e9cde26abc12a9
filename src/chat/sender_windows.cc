#include "chat/sender_windows.h"

#include <algorithm>
#include <new>

namespace taut::chat {

SenderWindows::~SenderWindows() {
  forget();
}

void SenderWindows::forget() {
  visitor_.forget();
  while (count_ > 0) destroy(others_[--count_]);
}

const DedupWindow* SenderWindows::find(PartyKind kind, std::string_view id) const {
  if (kind == PartyKind::visitor) return &visitor_;
  const uint32_t place = place_of(kind, id);
  return place == count_ ? nullptr : &others_[place]->window;
}

DedupWindow& SenderWindows::get(PartyKind kind, std::string_view id) {
  if (kind == PartyKind::visitor) return visitor_;
  uint32_t place = place_of(kind, id);
  if (place == count_) {
    if (count_ == kOthersMax) destroy(others_[--count_]);
    void* room = memory_->allocate(sizeof(Other), alignof(Other));
    place = count_++;
    others_[place] = new (room) Other{kind, InlineId(id), DedupWindow(*memory_)};
  }
  std::rotate(others_.begin(), others_.begin() + place, others_.begin() + place + 1);
  return others_[0]->window;
}

void SenderWindows::copy(const SenderWindows& other) {
  TAUT_ASSERT(count_ == 0);
  visitor_.copy(other.visitor_);
  for (uint32_t i = other.count_; i > 0; --i) {
    const Other& sender = *other.others_[i - 1];
    get(sender.kind, sender.id.view()).copy(sender.window);
  }
}

uint32_t SenderWindows::place_of(PartyKind kind, std::string_view id) const {
  const auto end = others_.begin() + count_;
  const auto found = std::find_if(others_.begin(), end,
                                  [&](const Other* other) { return other->kind == kind && other->id == id; });
  return static_cast<uint32_t>(found - others_.begin());
}

void SenderWindows::destroy(Other* other) {
  other->~Other();
  memory_->deallocate(other, sizeof(Other), alignof(Other));
}

}  // namespace taut::chat
