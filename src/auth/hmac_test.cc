#include "auth/hmac.h"

#include <gtest/gtest.h>

#include <string>

namespace taut::auth {
namespace {

std::string hex(const Hmac::Digest& digest) {
  std::string out;
  for (const char c : digest) {
    out += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
    out += "0123456789abcdef"[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

// RFC 4231, test case 6: the one whose key (131 bytes) is long enough for us and longer than a block.
TEST(Hmac, MatchesRfc4231AgainAndAgain) {
  Hmac mac(Secret(std::string(131, '\xAA')));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(hex(mac.digest("Test Using Larger Than Block-Size Key - Hash Key First")),
              "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    EXPECT_NE(hex(mac.digest("something else")), hex(mac.digest("")));
  }
}

TEST(Hmac, ComparesWholeDigests) {
  Hmac mac(Secret(std::string(32, 'k')));
  const Hmac::Digest digest = mac.digest("message");
  const std::string same(digest.data(), digest.size());
  EXPECT_TRUE(equal_in_constant_time(digest, same));
  EXPECT_FALSE(equal_in_constant_time(digest, same.substr(0, 31)));
  EXPECT_FALSE(equal_in_constant_time(digest, same + "x"));
  EXPECT_FALSE(equal_in_constant_time(digest, ""));
  for (size_t i = 0; i < same.size(); ++i) {
    std::string other = same;
    other[i] = static_cast<char>(other[i] ^ 1);
    EXPECT_FALSE(equal_in_constant_time(digest, other)) << i;
  }
}

}  // namespace
}  // namespace taut::auth
