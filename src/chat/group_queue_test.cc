#include "chat/group_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <vector>

namespace taut::chat {
namespace {

class GroupQueueTest : public testing::Test {
 protected:
  ~GroupQueueTest() override {
    while (queue_.size() > 0) queue_.erase(*queue_.begin());
  }
  Ticket& add(uint64_t number) {
    Ticket& ticket = *tickets_.emplace_back(std::make_unique<Ticket>());
    ticket.number = number;
    queue_.insert(ticket);
    return ticket;
  }
  std::map<uint64_t, uint32_t> look(uint32_t near, uint32_t far) {
    std::map<uint64_t, uint32_t> told;
    queue_.look(near, far, [&](const Ticket& ticket, uint32_t place) { told[ticket.number] = place; });
    return told;
  }

  std::vector<std::unique_ptr<Ticket>> tickets_;
  GroupQueue queue_;
};

using Told = std::map<uint64_t, uint32_t>;

TEST_F(GroupQueueTest, TellsEachPlaceOnceAndAgainOnlyWhenItChanged) {
  add(10);
  Ticket& second = add(20);
  add(30);
  EXPECT_EQ(look(100, 8), (Told{{10, 1}, {20, 2}, {30, 3}}));
  EXPECT_EQ(look(100, 8), Told{});
  queue_.erase(second);
  EXPECT_EQ(look(100, 8), (Told{{30, 2}}));
}

TEST_F(GroupQueueTest, AnOldNumberComesBackToItsOldPlace) {
  add(10);
  add(30);
  (void)look(100, 8);
  add(20);
  EXPECT_EQ(look(100, 8), (Told{{20, 2}, {30, 3}}));
  EXPECT_EQ(queue_.begin()->number, 10U);
}

TEST_F(GroupQueueTest, VisitsFarPlacesAFewAtATimeInTurn) {
  for (uint64_t n = 1; n <= 10; ++n) add(n);
  EXPECT_EQ(look(3, 2), (Told{{1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 5}}));
  EXPECT_EQ(look(3, 2), (Told{{6, 6}, {7, 7}}));
  EXPECT_EQ(look(3, 2), (Told{{8, 8}, {9, 9}}));
  queue_.erase(*queue_.begin());
  EXPECT_EQ(look(3, 2), (Told{{2, 1}, {3, 2}, {4, 3}, {10, 9}}));
  EXPECT_EQ(look(3, 2), (Told{{5, 4}, {6, 5}}));
}

TEST_F(GroupQueueTest, EveryPlaceToldIsExactWhateverMovesBetweenLooks) {
  for (uint32_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    std::vector<Ticket*> waiting;
    std::vector<Ticket*> away;
    for (uint64_t n = 1; n <= 60; ++n) waiting.push_back(&add(n));
    for (uint32_t step = 0; step < 500; ++step) {
      std::vector<Ticket*>& from = random() % 2 == 0 && !waiting.empty() ? waiting : away;
      if (!from.empty()) {
        const size_t i = random() % from.size();
        Ticket* ticket = from[i];
        from.erase(from.begin() + static_cast<ptrdiff_t>(i));
        if (&from == &waiting) {
          queue_.erase(*ticket);
          away.push_back(ticket);
        } else {
          queue_.insert(*ticket);
          waiting.push_back(ticket);
        }
      }
      if (random() % 3 != 0) continue;
      for (const auto& [number, place] : look(5, 3)) {
        const auto before = std::count_if(waiting.begin(), waiting.end(),
                                          [wanted = number](const Ticket* t) { return t->number < wanted; });
        ASSERT_EQ(place, static_cast<uint32_t>(before) + 1);
      }
    }
    while (queue_.size() > 0) queue_.erase(*queue_.begin());
  }
}

}  // namespace
}  // namespace taut::chat
