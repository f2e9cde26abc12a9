// Why a conversation waits, agent by agent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "chat/dispatcher.h"
#include "chat/dispatcher_fixture.h"

namespace taut::chat {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class DispatcherExplain : public DispatcherFixture, public testing::Test {
 protected:
  /// "agent exclusion presence load/capacity" of all pages of `size`.
  std::vector<std::string> all(uint64_t n, size_t size = 100) {
    std::vector<std::string> lines;
    std::vector<Dispatcher::Explained> page(size);
    pages = 0;
    for (uint32_t from = 0;;) {
      const Dispatcher::Explanation found = d.explain(key(n), from, page);
      ++pages;
      for (uint32_t i = 0; i < found.count; ++i) {
        const Dispatcher::Explained& agent = page[i];
        EXPECT_EQ(agent.exclusion, d.eligible(agent.agent_index, key(n)));
        lines.push_back(std::string(d.agent_id(agent.agent_index)) + " " +
                        std::string(name(agent.exclusion)) + " " + std::string(name(agent.presence)) + " " +
                        std::to_string(agent.load) + "/" + std::to_string(agent.capacity));
      }
      if (found.next == 0) return lines;
      EXPECT_GT(found.next, from) << "it would never end";
      from = found.next;
    }
  }
  [[nodiscard]] Dispatcher::Explanation first(uint64_t n) const {
    Dispatcher::Explained one;
    return d.explain(key(n), 0, {&one, 1});
  }
  uint32_t pages = 0;
};

TEST_F(DispatcherExplain, EachAgentOfTheGroupWithTheFirstRuleThatExcludesIt) {
  online("gone", 2);
  disconnect("gone");
  connect("silent", 2);
  connect("away", 2);
  presence("away", Presence::away);
  connect("busy", 2);
  presence("busy", Presence::busy, 1);
  online("full", 1);
  open(1);
  online("held", 1);
  open(2);
  d.declined(key(2), 1, now_ns);
  connect("elsewhere", 5, group_bit(1));
  presence("elsewhere", Presence::online);
  for (const size_t size : {1, 2, 5, 100}) {
    EXPECT_THAT(all(2, size), ElementsAre("gone disconnected online 0/2", "silent offline offline 0/2",
                                          "away away away 0/2", "busy busy busy 0/1", "full full online 1/1",
                                          "held held online 0/1"));
  }
  EXPECT_THAT(all(2, 1), testing::SizeIs(6));
  EXPECT_EQ(pages, 7U) << "the last one looks at whom the group does not have";
}

TEST_F(DispatcherExplain, WhoIsEligibleIsExcludedByNothing) {
  open(1);
  online("a1", 1);
  EXPECT_EQ(first(1).owner, 0U);
  d.declined(key(1), 1, now_ns);
  EXPECT_THAT(all(1), ElementsAre("a1 held online 0/1"));
  presence("a1", Presence::away);
  pass(60);
  EXPECT_THAT(all(1), ElementsAre("a1 away away 0/1")) << "the first rule, although the hold is over, too";
}

TEST_F(DispatcherExplain, StateGroupOwnerAndPosition) {
  open(1);
  open(2, 1);
  open(3);
  EXPECT_EQ(first(3).position, 0U) << "not told yet";
  d.flush_positions();
  EXPECT_EQ(first(3).position, 2U);
  EXPECT_EQ(first(3).state, ConversationState::queued);
  EXPECT_EQ(first(2).group, 1U);
  EXPECT_EQ(first(2).owner, kNoAgent);
  online("a1", 1);
  EXPECT_EQ(first(1).state, ConversationState::assigned);
  EXPECT_EQ(first(1).owner, 0U);
  EXPECT_EQ(first(1).count, 0U) << "nobody is asked for it";
  accept(1, 1);
  EXPECT_EQ(first(1).state, ConversationState::active);
  d.closed(key(1), now_ns);
  EXPECT_EQ(first(1).state, ConversationState::closed);
}

/// Room for more agents than one page looks at.
class ManyAgents : public testing::Test {
 protected:
  static constexpr uint32_t kAgents = 1'000;
  CountingResource memory;
  Dispatcher d{{.groups = 2, .agents_max = kAgents, .conversations_max = 4}, memory};
};

TEST_F(ManyAgents, APageLooksAtABoundedNumber) {
  for (uint32_t i = 0; i < kAgents; ++i) {
    const GroupSet groups = group_bit(i + 1 == kAgents ? 0 : 1);
    ASSERT_TRUE(d.agent_connected("a" + std::to_string(i), Handle(1, 1, i), {.groups = groups}, 1));
  }
  ASSERT_TRUE(d.conversation_opened(Handle(2, 1, 1), 0, 1, 0, 1));
  std::vector<Dispatcher::Explained> page(10);
  const Dispatcher::Explanation first = d.explain(Handle(2, 1, 1), 0, page);
  EXPECT_EQ(first.count, 0U);
  EXPECT_EQ(first.next, 256U);
  uint32_t found = 0;
  for (uint32_t from = first.next; from != 0;) {
    const Dispatcher::Explanation more = d.explain(Handle(2, 1, 1), from, page);
    found += more.count;
    from = more.next;
  }
  EXPECT_EQ(found, 1U);
}

}  // namespace
}  // namespace taut::chat
