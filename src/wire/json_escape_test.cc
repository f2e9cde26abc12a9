#include "wire/json_escape.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace taut::wire {
namespace {

std::string escaped(std::string_view text) {
  std::string out(json_escaped_size(text), '\0');
  EXPECT_EQ(write_json_escaped(out, text), out.data() + out.size());
  return out;
}

/// The definition, one byte at a time.
std::string by_definition(std::string_view text) {
  std::string out;
  for (const char c : text) {
    constexpr std::string_view kShort = "\b\f\n\r\t\"\\";
    constexpr std::string_view kLetters = "bfnrt\"\\";
    char code[8];
    if (const size_t at = kShort.find(c); at != std::string_view::npos) {
      out.append({'\\', kLetters[at]});
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      out.append(code);
    } else {
      out.push_back(c);
    }
  }
  return out;
}

TEST(JsonEscape, EscapesEachByteThatNeedsItAtEachPosition) {
  for (int c = 0; c < 256; ++c) {
    for (size_t before = 0; before < 34; ++before) {
      const std::string text =
          std::string(before, 'a').append(1, static_cast<char>(c)).append(33 - before, 'b');
      ASSERT_EQ(escaped(text), by_definition(text)) << c << " at " << before;
    }
  }
}

TEST(JsonEscape, LeavesUtf8AndSlashesAlone) {
  EXPECT_EQ(escaped("\xE2\x82\xAC / \x7F \xF0\x9F\x98\x80"), "\xE2\x82\xAC / \x7F \xF0\x9F\x98\x80");
}

TEST(JsonEscape, AgreesWithTheDefinitionOnRandomText) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 3'000; ++round) {
    std::string text(random() % 200, 'x');
    const uint64_t density = 1 + random() % 30;
    for (char& c : text) {
      if (random() % density == 0) c = static_cast<char>(random());
    }
    ASSERT_EQ(escaped(text), by_definition(text));
  }
}

TEST(JsonEscapeDeath, EndsTheProcessRatherThanWriteBehindItsSpan) {
  std::string out(20, '\0');
  const std::span<char> room(out.data(), 17);
  EXPECT_DEATH(write_json_escaped(room, "eighteen bytes...."), "assertion failed");
  EXPECT_DEATH(write_json_escaped(room, "sixteen bytes...\n"), "assertion failed");
}

}  // namespace
}  // namespace taut::wire
