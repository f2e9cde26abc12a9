#include "hub/out_queue.h"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "hub/hand_turned_shard.h"

namespace taut::hub {
namespace {

/// Of the blocks that the queue keeps its pieces in.
constexpr size_t kListBytes = 224;

/// What gather() offers, as one string.
std::string gathered(const OutQueue& queue) {
  std::array<iovec, 4096> pieces;
  std::string bytes;
  const uint32_t count = queue.gather(pieces);
  for (uint32_t i = 0; i < count; ++i)
    bytes.append(static_cast<const char*>(pieces[i].iov_base), pieces[i].iov_len);
  return bytes;
}

class OutQueueTest : public testing::Test {
 protected:
  ~OutQueueTest() override {
    queue.clear(pool, home.back());
    home.flush();
    other.turn();
    EXPECT_EQ(home.outstanding(), 0U) << "references that nobody gave back";
    EXPECT_EQ(other.outstanding(), 0U) << "foreign references that never came home";
  }

  /// Encodes in place, after asking for `slack` bytes more than it needs.
  [[nodiscard]] bool write(const std::string& bytes, uint32_t slack = 0) {
    const std::span<char> room = queue.prepare(pool, static_cast<uint32_t>(bytes.size()) + slack);
    if (room.empty()) return false;
    EXPECT_GE(room.size(), bytes.size() + slack);
    std::ranges::copy(bytes, room.begin());
    return queue.commit(pool, static_cast<uint32_t>(bytes.size()));
  }

  /// The same for a head.
  [[nodiscard]] bool write_head(const std::string& bytes) {
    const std::span<char> room = queue.prepare(pool, static_cast<uint32_t>(bytes.size()));
    if (room.empty()) return false;
    std::ranges::copy(bytes, room.begin());
    return queue.commit_head(pool, static_cast<uint32_t>(bytes.size()));
  }

  /// Pushes by reference, the bytes in the middle of a block of that shard.
  [[nodiscard]] bool push(HandTurnedShard& owner, const std::string& bytes) {
    Block* block = owner.pool().allocate(bytes.size() + 8);
    if (block == nullptr) return false;
    block->append("front");
    block->append(bytes);
    block->append("end");
    return queue.push(pool, home.back(), block, 5, static_cast<uint32_t>(bytes.size()));
  }

  void consume(size_t bytes) { queue.consume(pool, home.back(), static_cast<uint32_t>(bytes)); }

  /// Takes every block of this size that the pool still has.
  void exhaust(size_t capacity) {
    while (Block* block = pool.allocate(capacity)) hoard.push_back(block);
  }
  void end_exhaustion() {
    for (Block* block : hoard) pool.release(block);
    hoard.clear();
  }

  ManualClock clock;
  Mesh mesh{{.members = 2}};
  HandTurnedShard home{0, mesh, clock, 4 * BufferPool::kSlabBytes};
  HandTurnedShard other{1, mesh, clock};
  BufferPool& pool = home.pool();
  std::vector<Block*> hoard;
  OutQueue queue;
};

TEST_F(OutQueueTest, SmallFramesShareOneBlockAndOnePiece) {
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(write("frame " + std::to_string(i) + ";"));
  std::array<iovec, 8> pieces;
  EXPECT_EQ(queue.gather(pieces), 1U);
  EXPECT_EQ(home.outstanding(), 2U);  // the cork and the list of pieces
}

TEST_F(OutQueueTest, KeepsTheOrderOfCopiesAndReferences) {
  ASSERT_TRUE(write("a"));
  ASSERT_TRUE(push(other, "bb"));
  ASSERT_TRUE(write("c"));
  ASSERT_TRUE(push(home, "dd"));
  ASSERT_TRUE(write("e"));
  EXPECT_EQ(gathered(queue), "abbcdde");
  EXPECT_EQ(queue.pending_bytes(), 7U);
}

TEST_F(OutQueueTest, AnEmptiedQueueOwnsNothing) {
  ASSERT_TRUE(write("abc"));
  ASSERT_TRUE(push(home, "def"));
  consume(6);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(home.outstanding(), 0U);
}

TEST_F(OutQueueTest, AWrittenPieceIsGivenBackWhileTheNextStillWaits) {
  ASSERT_TRUE(push(home, "first"));
  ASSERT_TRUE(push(home, "second"));
  EXPECT_EQ(home.outstanding(), 3U);
  consume(5);
  EXPECT_EQ(home.outstanding(), 2U);
  EXPECT_EQ(gathered(queue), "second");
}

TEST_F(OutQueueTest, GathersAtMostWhatTheCallerHasRoomFor) {
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(push(home, std::to_string(i % 10)));
  std::array<iovec, 16> pieces;
  EXPECT_EQ(queue.gather(pieces), 16U);
  consume(39);
  EXPECT_EQ(queue.gather(pieces), 1U);
  EXPECT_EQ(gathered(queue), "9");
}

TEST_F(OutQueueTest, PreparedRoomMayBeUsedInPart) {
  ASSERT_TRUE(write("ab", 500));
  ASSERT_TRUE(write("cd", OutQueue::kCorkBytes - 2));  // fits into no rest: a new block
  ASSERT_TRUE(write("ef"));
  EXPECT_EQ(gathered(queue), "abcdef");
}

TEST_F(OutQueueTest, AFrameLargerThanACorkGetsABlockOfItsOwn) {
  const std::string large(size_t{3} * OutQueue::kCorkBytes, 'x');
  ASSERT_TRUE(write("a"));
  ASSERT_TRUE(write(large));
  ASSERT_TRUE(write("b"));
  EXPECT_EQ(gathered(queue), "a" + large + "b");
}

TEST_F(OutQueueTest, DroppingKeepsExactlyThePieceThatWasBegun) {
  ASSERT_TRUE(push(home, "first"));
  ASSERT_TRUE(push(other, "second"));
  ASSERT_TRUE(write("third"));
  ASSERT_TRUE(push(home, "fourth"));
  consume(5 + 2);
  ASSERT_TRUE(queue.drop_unstarted(pool, home.back()));
  EXPECT_EQ(gathered(queue), "cond");
  EXPECT_EQ(queue.pending_bytes(), 4U);
  ASSERT_TRUE(write("goodbye"));
  EXPECT_EQ(gathered(queue), "condgoodbye");
}

TEST_F(OutQueueTest, DroppingBetweenTwoPiecesKeepsNothing) {
  ASSERT_TRUE(push(home, "first"));
  ASSERT_TRUE(push(home, "second"));
  consume(5);
  ASSERT_TRUE(queue.drop_unstarted(pool, home.back()));
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(home.outstanding(), 0U);
}

TEST_F(OutQueueTest, ABegunPieceStaysBegunWhenDroppedTwice) {
  ASSERT_TRUE(push(home, "first"));
  consume(1);
  ASSERT_TRUE(queue.drop_unstarted(pool, home.back()));
  ASSERT_TRUE(write("goodbye"));
  ASSERT_TRUE(queue.drop_unstarted(pool, home.back()));
  EXPECT_EQ(gathered(queue), "irst");
}

TEST_F(OutQueueTest, DroppingKeepsThePiecesThatHoldPromisedBytes) {
  ASSERT_TRUE(push(home, "first"));
  ASSERT_TRUE(push(other, "second"));
  ASSERT_TRUE(push(home, "third"));
  ASSERT_TRUE(queue.drop_unstarted(pool, home.back(), 5 + 1));
  EXPECT_EQ(gathered(queue), "firstsecond");
  ASSERT_TRUE(write("goodbye"));
  ASSERT_TRUE(queue.drop_unstarted(pool, home.back(), 5 + 1));
  EXPECT_EQ(gathered(queue), "firstsecond");
}

/// Behind "small" of a frame of its own, one of a head and two pieces of six bytes, then one more.
TEST_F(OutQueueTest, DroppingNeverPartsAHeadFromItsRest) {
  for (uint32_t written = 0; written < 17; ++written) {
    ASSERT_TRUE(write("small"));
    ASSERT_TRUE(write_head("head"));
    ASSERT_TRUE(push(other, "thebody"));
    ASSERT_TRUE(push(home, "another"));
    consume(written);
    ASSERT_TRUE(queue.drop_unstarted(pool, home.back()));
    const std::string kept =
        written == 0 || written == 16 ? "" : std::string("smallheadthebody").substr(written);
    EXPECT_EQ(gathered(queue), kept) << written;
    ASSERT_TRUE(queue.drop_unstarted(pool, home.back()));
    EXPECT_EQ(gathered(queue), kept) << written;
    queue.clear(pool, home.back());
  }
}

TEST_F(OutQueueTest, ABeginningThatWasPromisedKeepsItsRest) {
  ASSERT_TRUE(write_head("head"));
  ASSERT_TRUE(push(home, "thebody"));
  ASSERT_TRUE(push(home, "another"));
  ASSERT_TRUE(queue.drop_unstarted(pool, home.back(), 2));
  EXPECT_EQ(gathered(queue), "headthebody");
}

TEST_F(OutQueueTest, WithoutMemoryAReferenceIsRefusedAndGivenBack) {
  Block* mine = pool.allocate(600);
  Block* foreign = other.pool().allocate(600);
  exhaust(kListBytes);
  EXPECT_FALSE(queue.push(pool, home.back(), foreign, 0, 10));
  EXPECT_FALSE(queue.push(pool, home.back(), mine, 0, 10));  // last: what it gives back is room
  EXPECT_TRUE(queue.empty());
  end_exhaustion();
  EXPECT_EQ(home.outstanding(), 0U);
}

TEST_F(OutQueueTest, WithoutMemoryNothingCanBePrepared) {
  exhaust(kListBytes);
  exhaust(OutQueue::kCorkBytes);
  EXPECT_TRUE(queue.prepare(pool, 10).empty());
  end_exhaustion();
}

TEST_F(OutQueueTest, WithoutMemoryForTheListACommitIsRefusedAndTheQueueStaysWhole) {
  ASSERT_FALSE(queue.prepare(pool, 10).empty());
  exhaust(kListBytes);
  EXPECT_FALSE(queue.commit(pool, 10));
  EXPECT_TRUE(queue.empty());
  end_exhaustion();
  ASSERT_TRUE(write("later"));
  EXPECT_EQ(gathered(queue), "later");
}

TEST_F(OutQueueTest, WithoutMemoryForTheRestDroppingSaysSo) {
  const std::string large(1'200, 'x');
  ASSERT_TRUE(push(home, large));
  consume(1);
  exhaust(1'199);
  EXPECT_FALSE(queue.drop_unstarted(pool, home.back()));
  end_exhaustion();
}

/// Random operations beside a plain string, and the ends of its frames.
class OutQueueModel : public OutQueueTest, public testing::WithParamInterface<uint32_t> {
 protected:
  [[nodiscard]] uint32_t roll(uint32_t sides) { return static_cast<uint32_t>(random() % sides); }
  [[nodiscard]] std::string some_bytes(uint32_t most) {
    std::string bytes(1 + roll(most), ' ');
    for (char& c : bytes) c = static_cast<char>('a' + next_byte_++ % 26);
    return bytes;
  }
  void expect_queued(bool queued, const std::string& bytes) {
    if (!queued) return;  // out of memory: nothing of it may show
    model_ += bytes;
    frames_.push_back(bytes.size());
  }
  void written(size_t bytes) {
    consume(bytes);
    model_.erase(0, bytes);
    while (bytes > 0 && bytes >= frames_.front()) {
      bytes -= frames_.front();
      frames_.pop_front();
      inside_ = false;
    }
    if (bytes == 0) return;
    frames_.front() -= bytes;
    inside_ = true;
  }
  /// What is left must end with a frame, and holds at least the rest of a begun one.
  void drop() {
    if (!queue.drop_unstarted(pool, home.back())) {
      queue.clear(pool, home.back());
      model_.clear();
      frames_.clear();
      inside_ = false;
      return;
    }
    const size_t kept = queue.pending_bytes();
    if (inside_) {
      ASSERT_GE(kept, frames_.front());
    }
    size_t end = 0;
    size_t count = 0;
    while (end < kept) end += frames_.at(count++);
    ASSERT_EQ(end, kept) << "cut inside a frame";
    model_.resize(kept);
    frames_.resize(count);
  }
  void step() {
    switch (roll(8)) {
      case 0:
      case 1: {
        const std::string bytes = some_bytes(roll(4) == 0 ? 4'000 : 300);
        return expect_queued(write(bytes, roll(200)), bytes);
      }
      case 2:
      case 3: {
        const std::string bytes = some_bytes(2'000);
        return expect_queued(push(roll(2) == 0 ? home : other, bytes), bytes);
      }
      case 4:
      case 5:
        return written(model_.empty() ? 0 : roll(static_cast<uint32_t>(model_.size()) + 1));
      case 6:
        return roll(4) == 0 ? drop() : written(model_.size());
      default:
        if (hoard.empty() && roll(3) == 0) return exhaust(roll(2) == 0 ? kListBytes : OutQueue::kCorkBytes);
        return end_exhaustion();
    }
  }

  std::mt19937 random{GetParam()};

  uint32_t next_byte_ = 0;
  std::string model_;
  std::deque<size_t> frames_;  ///< bytes not yet written of each
  bool inside_ = false;        ///< part of the first frame is written
};
INSTANTIATE_TEST_SUITE_P(Seed, OutQueueModel, testing::Range(1U, 13U));

TEST_P(OutQueueModel, HoldsWhatAByteStringHolds) {
  for (int i = 0; i < 1'500; ++i) {
    step();
    ASSERT_FALSE(HasFatalFailure()) << "step " << i;
    ASSERT_EQ(queue.pending_bytes(), model_.size()) << "step " << i;
    ASSERT_EQ(gathered(queue), model_) << "step " << i;
    home.flush();
    other.turn();
  }
  end_exhaustion();
}

}  // namespace
}  // namespace taut::hub
