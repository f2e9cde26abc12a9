#include "chat/last_agents.h"

#include <gtest/gtest.h>

#include "chat/counting_resource.h"

namespace taut::chat {
namespace {

TEST(LastAgents, RemembersTheLastOne) {
  CountingResource memory;
  LastAgents agents(100, memory);
  EXPECT_EQ(agents.find(0), kNoAgent);
  agents.note(7, 1);
  agents.note(7, 2);
  EXPECT_EQ(agents.find(7), 2U);
  EXPECT_EQ(agents.find(8), kNoAgent);
}

TEST(LastAgents, ForgetsRatherThanMixesUp) {
  CountingResource memory;
  LastAgents agents(1, memory);
  agents.note(7, 1);
  agents.note(8, 2);
  EXPECT_EQ(agents.find(7), kNoAgent);
  EXPECT_EQ(agents.find(8), 2U);
}

}  // namespace
}  // namespace taut::chat
