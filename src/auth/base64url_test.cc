#include "auth/base64url.h"

#include <gtest/gtest.h>

#include <cctype>
#include <random>
#include <set>
#include <vector>

namespace taut::auth {
namespace {

std::string encoded(std::string_view bytes) {
  std::string out;
  append_base64url(out, bytes);
  return out;
}

std::optional<std::string> decoded(std::string_view text) {
  std::vector<char> out(base64url_decoded_bytes_max(text.size()));
  const auto size = decode_base64url(text, out);
  if (!size) return std::nullopt;
  return std::string(out.data(), *size);
}

TEST(Base64Url, MatchesTheVectorsOfRfc4648WithoutPadding) {
  const std::pair<const char*, const char*> vectors[] = {
      {"", ""},           {"f", "Zg"},          {"fo", "Zm8"},         {"foo", "Zm9v"},
      {"foob", "Zm9vYg"}, {"fooba", "Zm9vYmE"}, {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : vectors) {
    EXPECT_EQ(encoded(bytes), text);
    EXPECT_EQ(decoded(text), bytes);
  }
  EXPECT_EQ(encoded("\xFB\xFF\xFE"), "-__-");
}

TEST(Base64Url, ReturnsEveryByteStringItEncoded) {
  std::mt19937 random(7);
  for (size_t size = 0; size < 200; ++size) {
    std::string bytes(size, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    EXPECT_EQ(decoded(encoded(bytes)), bytes);
  }
}

TEST(Base64Url, RefusesEveryByteOutsideTheAlphabetAtEveryPlace) {
  for (const size_t size : {4U, 6U, 7U}) {
    const std::string good(size, 'A');
    ASSERT_TRUE(decoded(good));
    for (size_t at = 0; at < size; ++at) {
      for (int c = 0; c < 256; ++c) {
        const bool in_alphabet = (std::isalnum(c) != 0 && c < 128) || c == '-' || c == '_';
        if (in_alphabet) continue;
        std::string bad = good;
        bad[at] = static_cast<char>(c);
        EXPECT_FALSE(decoded(bad)) << c << " at " << at;
      }
    }
  }
}

TEST(Base64Url, RefusesImpossibleLengths) {
  EXPECT_FALSE(decoded("A"));
  EXPECT_FALSE(decoded("AAAAA"));
}

TEST(Base64Url, KnowsOneTextForEachByteStringOnly) {
  const std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::set<std::string> seen;
  for (const char a : alphabet) {
    for (const char b : alphabet) {
      const std::string text{a, b};
      const auto bytes = decoded(text);
      if (!bytes) continue;
      EXPECT_TRUE(seen.insert(*bytes).second) << text;
    }
  }
  EXPECT_EQ(seen.size(), 256u);
  EXPECT_FALSE(decoded("AAB"));
  EXPECT_TRUE(decoded("AAE"));
}

}  // namespace
}  // namespace taut::auth
