#include "store/search_text.h"

#include <gtest/gtest.h>

#include "store/history.h"

namespace taut::store {
namespace {

TEST(SearchText, CountsCharactersAndNotBytes) {
  EXPECT_FALSE(has_trigram(""));
  EXPECT_FALSE(has_trigram("ab"));
  EXPECT_TRUE(has_trigram("abc"));
  EXPECT_FALSE(has_trigram("退款"));
  EXPECT_TRUE(has_trigram("要退款"));
  EXPECT_FALSE(has_trigram("👍🏽"));
}

TEST(SearchText, APatternHasNoMeaningsOfItsOwn) {
  EXPECT_EQ(like_pattern("a%b_c\\d"), "%a\\%b\\_c\\\\d%");
}

TEST(SearchText, AWindowIsEverythingWithAnIndexAndAPieceWithout) {
  const uint64_t position = 3 * kScanRecords;
  const ScanWindow all = scan_window(0, position, true);
  EXPECT_EQ(all.from, 1U);
  EXPECT_EQ(all.below, position + 1);
  EXPECT_EQ(all.next_cursor, 0U);
  // The pieces follow each other down to record 1.
  uint64_t cursor = 0;
  uint64_t below = position + 1;
  int pieces = 0;
  do {
    const ScanWindow piece = scan_window(cursor, position, false);
    EXPECT_EQ(piece.below, below);
    EXPECT_LE(piece.below - piece.from, kScanRecords);
    below = piece.from;
    cursor = piece.next_cursor;
    ++pieces;
  } while (cursor != 0);
  EXPECT_EQ(below, 1U);
  EXPECT_EQ(pieces, 3);
}

}  // namespace
}  // namespace taut::store
