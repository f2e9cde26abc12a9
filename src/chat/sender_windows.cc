#include "chat/sender_windows.h"

#include <algorithm>
#include <new>

namespace taut::chat {

SenderWindows::~SenderWindows() {
  for (uint32_t i = 0; i < count_; ++i) destroy(others_[i]);
}

DedupWindow* SenderWindows::find(PartyKind kind, std::string_view id) {
  if (kind == PartyKind::visitor) return &visitor_;
  Other* other = find_other(kind, id);
  return other == nullptr ? nullptr : &other->window;
}

DedupWindow& SenderWindows::get(PartyKind kind, std::string_view id) {
  if (DedupWindow* window = find(kind, id)) return *window;
  if (count_ == kOthersMax) destroy(others_[--count_]);
  void* place = memory_->allocate(sizeof(Other), alignof(Other));
  Other* other = new (place) Other{kind, InlineId(id), DedupWindow(*memory_)};
  std::copy_backward(others_.begin(), others_.begin() + count_, others_.begin() + count_ + 1);
  others_[0] = other;
  ++count_;
  return other->window;
}

SenderWindows::Other* SenderWindows::find_other(PartyKind kind, std::string_view id) {
  for (uint32_t i = 0; i < count_; ++i) {
    if (others_[i]->kind != kind || others_[i]->id != id) continue;
    std::rotate(others_.begin(), others_.begin() + i, others_.begin() + i + 1);
    return others_[0];
  }
  return nullptr;
}

void SenderWindows::destroy(Other* other) {
  other->~Other();
  memory_->deallocate(other, sizeof(Other), alignof(Other));
}

}  // namespace taut::chat
