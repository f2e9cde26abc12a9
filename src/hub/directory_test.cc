#include "hub/directory.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace taut::hub {
namespace {

TEST(Directory, GivesTheSameEndpointForTheSameIdentity) {
  Directory directory(3, 10);
  Endpoint* made = directory.find_or_create(Role::visitor, "v1");
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(directory.find_or_create(Role::visitor, "v1"), made);
  EXPECT_EQ(directory.find(Role::visitor, "v1"), made);
  EXPECT_EQ(directory.find(made->self), made);
  EXPECT_EQ(made->self.shard(), 3U);
  EXPECT_EQ(directory.size(), 1U);
}

TEST(Directory, TellsAVisitorFromAnAgentOfTheSameName) {
  Directory directory(0, 10);
  Endpoint* visitor = directory.find_or_create(Role::visitor, "x");
  EXPECT_EQ(directory.find(Role::agent, "x"), nullptr);
  EXPECT_NE(directory.find_or_create(Role::agent, "x"), visitor);
  EXPECT_EQ(directory.size(), 2U);
}

TEST(Directory, RefusesOneMoreThanItsLimitAndStillKnowsTheOthers) {
  Directory directory(0, 2);
  Endpoint* first = directory.find_or_create(Role::visitor, "a");
  ASSERT_NE(directory.find_or_create(Role::visitor, "b"), nullptr);
  EXPECT_EQ(directory.find_or_create(Role::visitor, "c"), nullptr);
  EXPECT_EQ(directory.find_or_create(Role::visitor, "a"), first);
  directory.erase(*first);
  EXPECT_NE(directory.find_or_create(Role::visitor, "c"), nullptr);
}

TEST(Directory, KnowsWhoHasRestedLongest) {
  Directory directory(0, 3);
  EXPECT_EQ(directory.oldest_resting(), nullptr);
  Endpoint* a = directory.find_or_create(Role::visitor, "a");
  Endpoint* b = directory.find_or_create(Role::visitor, "b");
  Endpoint* c = directory.find_or_create(Role::visitor, "c");
  directory.rest(*a);
  directory.rest(*b);
  directory.rest(*c);
  EXPECT_EQ(directory.find_or_create(Role::visitor, "a"), a);  // is back
  EXPECT_EQ(directory.oldest_resting(), b);
  directory.erase(*b);
  EXPECT_EQ(directory.oldest_resting(), c);
}

TEST(Directory, AHandleOfAnErasedEndpointFindsNobodyNotEvenItsSuccessor) {
  Directory directory(0, 10);
  Endpoint* old = directory.find_or_create(Role::visitor, "v1");
  const Handle handle = old->self;
  directory.erase(*old);
  EXPECT_EQ(directory.find(Role::visitor, "v1"), nullptr);
  ASSERT_NE(directory.find_or_create(Role::visitor, "v1"), nullptr);
  EXPECT_EQ(directory.find(handle), nullptr);
}

TEST(Directory, VisitsEveryEndpointOnce) {
  Directory directory(0, 200);
  for (int i = 0; i < 200; ++i)
    ASSERT_NE(directory.find_or_create(Role::agent, "a" + std::to_string(i)), nullptr);
  std::multiset<std::string> seen;
  directory.for_each([&](const Endpoint& endpoint) { seen.insert(endpoint.id); });
  EXPECT_EQ(seen.size(), 200U);
  EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), 200U);
}

TEST(DirectoryDeathTest, AnEndpointWithConnectionsMustNotBeErased) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        Directory directory(0, 10);
        Endpoint* endpoint = directory.find_or_create(Role::visitor, "v1");
        endpoint->connections.push_back(Handle(0, 1, 1));
        directory.erase(*endpoint);
      },
      "connections");
}

TEST(Endpoint, ATopicAddedAgainReplacesTheOld) {
  Directory directory(0, 1);
  Endpoint& endpoint = *directory.find_or_create(Role::agent, "a1");
  endpoint.add_topic(Handle(0, 1, 7), 1, "c1");
  endpoint.add_topic(Handle(0, 1, 7), 3, "c1");
  ASSERT_EQ(endpoint.topics.size(), 1U);
  EXPECT_EQ(endpoint.topic("c1")->owner_epoch, 3U);
  endpoint.remove_topic(Handle(0, 2, 7));  // of another generation
  EXPECT_EQ(endpoint.topics.size(), 1U);
  endpoint.remove_topic(Handle(0, 1, 7));
  EXPECT_EQ(endpoint.topic("c1"), nullptr);
}

}  // namespace
}  // namespace taut::hub
