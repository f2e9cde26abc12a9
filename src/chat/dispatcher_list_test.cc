// Pages of what an agent owns, and of what waits or is open in its groups.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "chat/dispatcher.h"
#include "chat/dispatcher_fixture.h"

namespace taut::chat {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class DispatcherList : public DispatcherFixture, public testing::Test {
 protected:
  /// All pages of `size`, one after the other.
  std::vector<uint32_t> all(ListScope scope, const std::string& agent, size_t size) {
    std::vector<uint32_t> numbers;
    std::vector<Dispatcher::Listed> page(size);
    pages = 0;
    for (uint64_t after = 0;; ++pages) {
      const Dispatcher::ListPage got = d.list(scope, agent, after, page);
      for (uint32_t i = 0; i < got.count; ++i) numbers.push_back(number(page[i].conversation));
      if (got.next == 0) return numbers;
      EXPECT_GT(got.next, after) << "it would never end";
      after = got.next;
    }
  }
  uint32_t pages = 0;
};

TEST_F(DispatcherList, EachScopeInTheOrderOfOpening) {
  connect("a1", 2, group_bit(0) | group_bit(1));
  presence("a1", Presence::online);
  online("a2", 1);
  open(5);
  open(4);
  open(3);
  open(2, 1);
  open(1);
  for (const size_t size : {1, 2, 3, 100}) {
    EXPECT_THAT(all(ListScope::all, "a1", size), ElementsAre(5, 4, 3, 2, 1));
    EXPECT_THAT(all(ListScope::all, "a2", size), ElementsAre(5, 4, 3, 1)) << "of its groups";
    EXPECT_THAT(all(ListScope::queued, "a1", size), ElementsAre(2, 1));
    EXPECT_THAT(all(ListScope::mine, "a1", size), ElementsAre(5, 3));
    EXPECT_THAT(all(ListScope::mine, "a2", size), ElementsAre(4));
  }
  EXPECT_THAT(all(ListScope::all, "nobody", 10), IsEmpty());
}

TEST_F(DispatcherList, OwnedOnesComeInOrderInWhateverOrderTheyWereAssigned) {
  connect("a1", 50);
  for (uint64_t n = 1; n <= 9; ++n) open(n);
  for (const uint64_t n : {7, 2, 9, 1, 8, 3}) ASSERT_EQ(d.take(key(n), "a1", now_ns), Code::ok);
  for (const size_t size : {1, 2, 4, 6}) {
    EXPECT_THAT(all(ListScope::mine, "a1", size), ElementsAre(1, 2, 3, 7, 8, 9));
  }
}

TEST_F(DispatcherList, WhatIsClosedOrGivenToAnotherGroupIsGone) {
  online("a1", 2);
  connect("a2", 2, group_bit(1));
  open(1);
  open(2);
  d.closed(key(1), now_ns);
  ASSERT_EQ(d.transfer_to_group(key(2), 1, 1, now_ns), Code::ok);
  EXPECT_THAT(all(ListScope::all, "a1", 10), IsEmpty());
  EXPECT_THAT(all(ListScope::queued, "a2", 10), ElementsAre(2));
}

TEST_F(DispatcherList, APageLooksAtABoundedNumber) {
  connect("a1", kConversationsMax);
  presence("a1", Presence::online);
  for (uint64_t n = 1; n < kConversationsMax; ++n) open(n);
  presence("a1", Presence::away);
  open(kConversationsMax);
  EXPECT_THAT(all(ListScope::queued, "a1", 10), ElementsAre(kConversationsMax));
  EXPECT_EQ(pages, 1U) << "the first one was empty and said where to go on";
}

}  // namespace
}  // namespace taut::chat
