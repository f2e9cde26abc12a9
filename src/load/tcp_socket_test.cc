#include "load/tcp_socket.h"

#include <gtest/gtest.h>

namespace taut::load {
namespace {

TEST(Url, SplitsSchemeHostPortAndPath) {
  const Url url = parse_url("ws://127.0.0.1:8080/v1/chat").value();
  EXPECT_EQ(url.scheme, "ws");
  EXPECT_EQ(url.host_port(), "127.0.0.1:8080");
  EXPECT_EQ(url.path, "/v1/chat");
  EXPECT_EQ(parse_url("relay://127.0.0.1:1").value().path, "/");
}

TEST(Url, RefusesEverythingElse) {
  for (const char* text :
       {"", "127.0.0.1:80", "ws://127.0.0.1", "ws://localhost:80/", "ws://127.0.0.1:65536/",
        "ws://127.0.0.1:80x/", "ws://127.0.0.1:/", "://127.0.0.1:80/"}) {
    EXPECT_FALSE(parse_url(text)) << text;
  }
}

}  // namespace
}  // namespace taut::load
