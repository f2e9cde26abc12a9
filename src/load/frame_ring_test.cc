#include "load/frame_ring.h"

#include <gtest/gtest.h>

#include <random>

namespace taut::load {
namespace {

constexpr uint32_t kMaskedFrom = 3;

// "hdr" then a payload: an id, some filler, a stamp, and a tail, masked as asked.
FramePrototype prototype(std::array<uint8_t, 4> mask) {
  const std::string payload =
      "a" + std::string(kStampIdBytes, '-') + "bcd" + std::string(kStampBytes, '-') + "tail";
  FramePrototype p;
  p.bytes = "hdr" + payload;
  p.masked_from = kMaskedFrom;
  p.mask = mask;
  p.id_at = kMaskedFrom + 1;
  p.stamp_at = kMaskedFrom + 1 + kStampIdBytes + 3;
  for (size_t i = 0; i < payload.size(); ++i) p.bytes[kMaskedFrom + i] ^= static_cast<char>(mask[i & 3]);
  return p;
}

std::string unmasked(std::string frame, std::array<uint8_t, 4> mask) {
  for (size_t i = kMaskedFrom; i < frame.size(); ++i)
    frame[i] ^= static_cast<char>(mask[(i - kMaskedFrom) & 3]);
  return frame;
}

std::string expected(const Stamp& stamp) {
  const StampBytes bytes = write_stamp(stamp);
  const std::string text(bytes.data(), bytes.size());
  return "hdra" + text.substr(kStampIdAt, kStampIdBytes) + "bcd" + text + "tail";
}

TEST(FrameRing, StampsInPlaceThroughTheMask) {
  for (const std::array<uint8_t, 4> mask :
       {std::array<uint8_t, 4>{}, std::array<uint8_t, 4>{0x12, 0xFE, 0x55, 0x80}}) {
    FrameRing ring(prototype(mask), 2);
    ring.push({5, 77, 123'456'789});
    const std::span<const char> bytes = ring.unsent();
    EXPECT_EQ(unmasked(std::string(bytes.begin(), bytes.end()), mask), expected({5, 77, 123'456'789}));
  }
}

TEST(FrameRing, SendsEveryFrameOnceAndInOrderHoweverTheKernelCutsThem) {
  std::mt19937 random(11);
  const FramePrototype p = prototype({1, 2, 3, 4});
  FrameRing ring(p, 3);
  std::string out;
  uint32_t pushed = 0;
  while (pushed < 200 || !ring.empty()) {
    while (pushed < 200 && !ring.full() && random() % 3 != 0) {
      ring.push({1, pushed, pushed});
      ++pushed;
    }
    const std::span<const char> unsent = ring.unsent();
    EXPECT_EQ(unsent.empty(), ring.empty());
    if (unsent.empty()) continue;
    const size_t taken = random() % (unsent.size() + 1);
    out.append(unsent.data(), taken);
    ring.sent(taken);
    EXPECT_EQ(ring.mid_frame(), out.size() % p.bytes.size() != 0);
  }
  ASSERT_EQ(out.size(), 200 * p.bytes.size());
  for (uint32_t i = 0; i < 200; ++i) {
    ASSERT_EQ(unmasked(out.substr(i * p.bytes.size(), p.bytes.size()), {1, 2, 3, 4}), expected({1, i, i}))
        << i;
  }
}

TEST(FrameRing, IsFullAtItsCapacity) {
  FrameRing ring(prototype({}), 2);
  ring.push({});
  EXPECT_FALSE(ring.full());
  ring.push({});
  EXPECT_TRUE(ring.full());
  ring.sent(ring.unsent().size());
  EXPECT_TRUE(ring.empty());
}

}  // namespace
}  // namespace taut::load
