#include "auth/origin.h"

#include <gtest/gtest.h>

#include <vector>

namespace taut::auth {
namespace {

const std::vector<std::string> kAllowed = {"https://shop.example", "http://localhost:3000"};

bool accepted(std::optional<std::string_view> origin, std::string_view host,
              const std::vector<std::string>& allowed = kAllowed) {
  return origin_accepted(origin, host, allowed);
}

TEST(Origin, MissingIsAccepted) {
  EXPECT_TRUE(accepted(std::nullopt, "chat.example", {}));
}

TEST(Origin, EqualToHostIsAccepted) {
  EXPECT_TRUE(accepted("http://chat.example", "chat.example"));
  EXPECT_TRUE(accepted("https://chat.example", "chat.example"));
  EXPECT_TRUE(accepted("https://Chat.Example", "chat.example"));
  EXPECT_TRUE(accepted("http://127.0.0.1:8080", "127.0.0.1:8080"));
  EXPECT_TRUE(accepted("http://[::1]:8080", "[::1]:8080"));
  EXPECT_TRUE(accepted("http://chat.example:80", "chat.example"));
  EXPECT_TRUE(accepted("https://chat.example", "chat.example:443"));
}

TEST(Origin, OnlySimilarToHostIsRefused) {
  for (const char* origin :
       {"http://chat.example.evil", "http://evil.chat.example", "http://chat.example:8080",
        "http://chat.exampl", "http://chat.example/", "http://chat.example@evil", "ftp://chat.example",
        "chat.example", "http://", "", "null", "http:chat.example", "http://chat.example:443",
        "https://chat.example:80"}) {
    EXPECT_FALSE(accepted(origin, "chat.example", {})) << origin;
  }
  EXPECT_FALSE(accepted("http://", "", {}));
  EXPECT_FALSE(accepted("", "", {}));
}

TEST(Origin, ListedIsAcceptedWholeAndWithoutCase) {
  EXPECT_TRUE(accepted("https://shop.example", "chat.example"));
  EXPECT_TRUE(accepted("HTTPS://SHOP.example:443", "chat.example"));
  EXPECT_TRUE(accepted("http://localhost:3000", "chat.example"));
  EXPECT_FALSE(accepted("http://shop.example", "chat.example"));
  EXPECT_FALSE(accepted("https://shop.example:8443", "chat.example"));
  EXPECT_FALSE(accepted("https://shop.example.evil", "chat.example"));
  EXPECT_FALSE(accepted("http://localhost", "chat.example"));
}

TEST(Origin, NullIsAcceptedOnlyIfListed) {
  EXPECT_FALSE(accepted("null", "chat.example"));
  EXPECT_FALSE(accepted("null", "null", {}));
  EXPECT_TRUE(accepted("null", "chat.example", {"null"}));
}

}  // namespace
}  // namespace taut::auth
