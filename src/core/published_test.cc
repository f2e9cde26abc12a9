#include "core/published.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace taut {
namespace {

TEST(Published, AReaderSeesTheNewestValueAtItsNextLook) {
  Published<int> published(std::make_shared<int>(1));
  Published<int>::Reader reader(published);
  EXPECT_EQ(reader.get(), 1);
  published.publish(std::make_shared<int>(2));
  EXPECT_EQ(reader.get(), 2);
  EXPECT_EQ(reader.get(), 2);
}

TEST(Published, WhatWasReplacedLivesUntilItsReaderLooksAgain) {
  auto old = std::make_shared<int>(1);
  const std::weak_ptr<int> watched = old;
  Published<int> published(std::move(old));
  Published<int>::Reader reader(published);
  const int& used = reader.get();
  published.publish(std::make_shared<int>(2));
  EXPECT_EQ(used, 1);
  EXPECT_FALSE(watched.expired());
  EXPECT_EQ(reader.get(), 2);
  EXPECT_TRUE(watched.expired());
}

TEST(Published, AThreadReadsWholeValuesWhileAnotherReplacesThem) {
  struct Twice {
    int a;
    int b;
  };
  constexpr int kLast = 1'000;
  Published<Twice> published(std::make_shared<Twice>(0, 0));
  std::thread writer([&] {
    for (int i = 1; i <= kLast; ++i) published.publish(std::make_shared<Twice>(i, i));
  });
  Published<Twice>::Reader reader(published);
  int last = 0;
  while (last < kLast) {
    const Twice& seen = reader.get();
    ASSERT_EQ(seen.a, seen.b);
    ASSERT_GE(seen.a, last);
    last = seen.a;
  }
  writer.join();
}

}  // namespace
}  // namespace taut
