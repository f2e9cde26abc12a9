#include "chat/resume.h"

#include <gtest/gtest.h>

#include <vector>

namespace taut::chat {
namespace {

void expect_gap(const ResumePlan& plan, uint32_t i, uint64_t from, uint64_t to, GapReason reason) {
  ASSERT_LT(i, plan.gap_count);
  EXPECT_EQ(plan.gaps[i].from, from);
  EXPECT_EQ(plan.gaps[i].to, to);
  EXPECT_EQ(plan.gaps[i].reason, reason);
}

TEST(Resume, AValidCursorGetsTheItemsAfterItWithoutGap) {
  const std::vector<EpochEnd> ends{{1, 1, 20}};
  for (uint64_t seq = 0; seq <= 20; ++seq) {
    const ResumePlan plan = plan_resume(ends, 1, 1, seq);
    EXPECT_EQ(plan.gap_count, 0U);
    EXPECT_EQ(plan.start, seq + 1);
    EXPECT_EQ(plan.last, 20U);
    EXPECT_EQ(plan.epoch, 1U);
  }
}

TEST(Resume, AClientThatHasNothingGetsEverything) {
  const std::vector<EpochEnd> ends{{1, 1, 5}, {2, 2, 9}};
  EXPECT_EQ(plan_resume(ends, 1, 0, 0).start, 1U);
  EXPECT_EQ(plan_resume(ends, 1, 0, 0).gap_count, 0U);
  EXPECT_EQ(plan_resume(ends, 1, 1, 0).start, 1U);
}

TEST(Resume, AnOlderEpochIsValidUpToWhatWasRecoveredOfIt) {
  const std::vector<EpochEnd> ends{{1, 1, 10}, {2, 2, 15}, {3, 3, 30}};
  EXPECT_EQ(plan_resume(ends, 1, 1, 10).gap_count, 0U);
  EXPECT_EQ(plan_resume(ends, 1, 1, 10).start, 11U);
  EXPECT_EQ(plan_resume(ends, 1, 2, 12).start, 13U);
  EXPECT_EQ(plan_resume(ends, 1, 2, 12).epoch, 3U);
}

TEST(Resume, AheadOfAnEpochsEndIsAGapFromThatEndAndItemsFollowFromThere) {
  const std::vector<EpochEnd> ends{{1, 1, 10}, {2, 2, 15}};
  const ResumePlan old_epoch = plan_resume(ends, 1, 1, 13);
  expect_gap(old_epoch, 0, 11, 13, GapReason::ahead);
  EXPECT_EQ(old_epoch.gap_count, 1U);
  EXPECT_EQ(old_epoch.start, 11U);
  EXPECT_EQ(old_epoch.last, 15U);

  const ResumePlan current = plan_resume(ends, 1, 2, 99);
  expect_gap(current, 0, 16, 99, GapReason::ahead);
  EXPECT_EQ(current.start, 16U);
}

TEST(Resume, AnUnknownEpochIsAGapFromOneAndEverythingFollows) {
  const std::vector<EpochEnd> ends{{1, 1, 10}, {2, 2, 15}};
  for (const uint32_t epoch : {0U, 3U, 77U}) {
    const ResumePlan plan = plan_resume(ends, 1, epoch, 7);
    expect_gap(plan, 0, 1, 7, GapReason::unknown_epoch);
    EXPECT_EQ(plan.gap_count, 1U);
    EXPECT_EQ(plan.start, 1U);
  }
}

TEST(Resume, WhatIsNoLongerKeptIsAnExpiredGapAndItemsFollowBehindIt) {
  const std::vector<EpochEnd> ends{{1, 1, 100}};
  const ResumePlan plan = plan_resume(ends, 41, 1, 10);
  expect_gap(plan, 0, 11, 40, GapReason::expired);
  EXPECT_EQ(plan.start, 41U);
  EXPECT_EQ(plan_resume(ends, 41, 1, 40).gap_count, 0U);
  EXPECT_EQ(plan_resume(ends, 41, 1, 39).gap_count, 1U);
}

TEST(Resume, NothingKeptAtAllExpiresEverythingMissed) {
  const std::vector<EpochEnd> ends{{1, 1, 100}};
  const ResumePlan plan = plan_resume(ends, 101, 1, 10);
  expect_gap(plan, 0, 11, 100, GapReason::expired);
  EXPECT_EQ(plan.start, 101U);
}

TEST(Resume, ACursorCanBeUnknownAndTheRestExpired) {
  const std::vector<EpochEnd> ends{{1, 1, 100}};
  const ResumePlan plan = plan_resume(ends, 41, 9, 10);
  expect_gap(plan, 0, 1, 10, GapReason::unknown_epoch);
  expect_gap(plan, 1, 1, 40, GapReason::expired);
  EXPECT_EQ(plan.start, 41U);
}

TEST(Resume, ACursorCanBeAheadOfAnOldEpochAndTheRestExpired) {
  const std::vector<EpochEnd> ends{{1, 1, 10}, {2, 2, 100}};
  const ResumePlan plan = plan_resume(ends, 41, 1, 12);
  expect_gap(plan, 0, 11, 12, GapReason::ahead);
  expect_gap(plan, 1, 11, 40, GapReason::expired);
  EXPECT_EQ(plan.start, 41U);
}

TEST(Resume, AnEpochWithoutItemsEndsWhereTheOneBeforeDid) {
  const std::vector<EpochEnd> ends{{1, 1, 10}, {2, 2, 10}, {3, 3, 12}};
  EXPECT_EQ(plan_resume(ends, 1, 2, 10).start, 11U);
  expect_gap(plan_resume(ends, 1, 2, 11), 0, 11, 11, GapReason::ahead);
}

TEST(Resume, ARunOfEpochsWithoutItemsIsKnownAsAWhole) {
  const std::vector<EpochEnd> ends{{3, 5, 10}, {6, 9, 12}, {10, 10, 12}};
  for (uint32_t epoch = 3; epoch <= 10; ++epoch) {
    const uint64_t last = epoch <= 5 ? 10 : 12;
    EXPECT_EQ(plan_resume(ends, 1, epoch, last).gap_count, 0U) << epoch;
    expect_gap(plan_resume(ends, 1, epoch, last + 1), 0, last + 1, last + 1, GapReason::ahead);
  }
  for (const uint32_t epoch : {2U, 11U}) {
    expect_gap(plan_resume(ends, 1, epoch, 1), 0, 1, 1, GapReason::unknown_epoch);
  }
}

}  // namespace
}  // namespace taut::chat
