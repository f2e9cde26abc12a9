#include "load/frame_ring.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"

namespace taut::load {

namespace {

uint32_t turned_mask(const FramePrototype& prototype, uint32_t at) {
  std::array<uint8_t, 4> turned{};
  for (uint32_t i = 0; i < 4; ++i) turned[i] = prototype.mask[(at - prototype.masked_from + i) & 3];
  uint32_t word = 0;
  std::memcpy(&word, turned.data(), sizeof(word));
  return word;
}

}  // namespace

FrameRing::FrameRing(const FramePrototype& prototype, uint32_t capacity)
    : frame_bytes_(static_cast<uint32_t>(prototype.bytes.size())),
      capacity_(capacity),
      stamp_at_(prototype.stamp_at),
      id_at_(prototype.id_at),
      stamp_mask_(turned_mask(prototype, prototype.stamp_at)),
      id_mask_(turned_mask(prototype, prototype.id_at)) {
  TAUT_ASSERT(capacity >= 1);
  TAUT_ASSERT(stamp_at_ + kStampBytes <= frame_bytes_ && id_at_ + kStampIdBytes <= frame_bytes_);
  frames_.reserve(size_t{frame_bytes_} * capacity_);
  for (uint32_t i = 0; i < capacity_; ++i) {
    frames_.insert(frames_.end(), prototype.bytes.begin(), prototype.bytes.end());
  }
}

void FrameRing::overwrite(char* frame, uint32_t at, const char* bytes, size_t size, uint32_t mask) noexcept {
  static_assert(kStampBytes % sizeof(mask) == 0 && kStampIdBytes % sizeof(mask) == 0);
  for (size_t i = 0; i < size; i += sizeof(mask)) {
    uint32_t word = 0;
    std::memcpy(&word, bytes + i, sizeof(word));
    word ^= mask;
    std::memcpy(frame + at + i, &word, sizeof(word));
  }
}

void FrameRing::push(const Stamp& stamp) noexcept {
  TAUT_ASSERT(!full());
  const uint32_t slot = (head_ + count_) % capacity_;
  char* frame = frames_.data() + size_t{slot} * frame_bytes_;
  const StampBytes bytes = write_stamp(stamp);
  overwrite(frame, stamp_at_, bytes.data(), kStampBytes, stamp_mask_);
  if (id_at_ != 0) overwrite(frame, id_at_, bytes.data() + kStampIdAt, kStampIdBytes, id_mask_);
  ++count_;
}

std::span<const char> FrameRing::unsent() const noexcept {
  const uint32_t run = std::min(count_, capacity_ - head_);
  if (run == 0) return {};
  return {frames_.data() + size_t{head_} * frame_bytes_ + head_sent_,
          size_t{run} * frame_bytes_ - head_sent_};
}

void FrameRing::sent(size_t bytes) noexcept {
  TAUT_ASSERT(bytes <= unsent().size());
  const size_t gone = head_sent_ + bytes;
  const auto whole = static_cast<uint32_t>(gone / frame_bytes_);
  count_ -= whole;
  head_sent_ = static_cast<uint32_t>(gone % frame_bytes_);
  // An empty ring starts again at its first frame: at low rates one warm frame carries every message.
  head_ = count_ == 0 ? 0 : (head_ + whole) % capacity_;
}

}  // namespace taut::load
