#include "wire/deflate_offer.h"

#include <gtest/gtest.h>

#include <string>

namespace taut::wire {
namespace {

TEST(DeflateOffer, IsTheFirstThatCanBeKept) {
  constexpr std::string_view kPlain =
      "permessage-deflate; server_no_context_takeover; client_no_context_takeover";
  EXPECT_EQ(accept_deflate("permessage-deflate"), kPlain);
  EXPECT_EQ(accept_deflate("permessage-deflate, permessage-deflate; server_max_window_bits=15"), kPlain);
  EXPECT_EQ(accept_deflate("permessage-deflate; client_max_window_bits"), kPlain);
  EXPECT_EQ(accept_deflate("permessage-deflate;client_max_window_bits=\"10\""), kPlain);
  EXPECT_EQ(accept_deflate("permessage-deflate; server_no_context_takeover; client_no_context_takeover"),
            kPlain);
  EXPECT_EQ(accept_deflate("x-webkit-deflate-frame, permessage-deflate"), kPlain);
  EXPECT_EQ(accept_deflate("permessage-deflate; server_max_window_bits=10, permessage-deflate"), kPlain);
  EXPECT_EQ(accept_deflate("permessage-deflate; unknown, permessage-deflate; client_max_window_bits"),
            kPlain);
  EXPECT_EQ(accept_deflate("other; a=\"x\\\"; y, z\" ,\tpermessage-deflate , last"), kPlain);
  EXPECT_EQ(accept_deflate("permessage-deflate; server_max_window_bits=15"),
            std::string(kPlain) + "; server_max_window_bits=15");
}

TEST(DeflateOffer, IsDeclinedForAParameterThatCannotBeKept) {
  EXPECT_EQ(accept_deflate(""), "");
  EXPECT_EQ(accept_deflate("permessage-bzip2, deflate"), "");
  for (const std::string_view parameter :
       {"server_max_window_bits=10", "server_max_window_bits", "server_max_window_bits=16",
        "server_max_window_bits=015", "client_max_window_bits=7", "client_max_window_bits=16",
        "client_max_window_bits=08", "client_max_window_bits=1x", "client_max_window_bits=100",
        "server_no_context_takeover=1", "client_no_context_takeover=true", "unknown",
        "client_no_context_takeover; client_no_context_takeover",
        "server_no_context_takeover; server_no_context_takeover",
        "client_max_window_bits; client_max_window_bits=10",
        "server_max_window_bits=15; server_max_window_bits=15"}) {
    EXPECT_EQ(accept_deflate("permessage-deflate; " + std::string(parameter)), "") << parameter;
  }
}

TEST(DeflateOffer, IsNotTakenFromAListThatCannotBeRead) {
  for (const std::string_view rest :
       {"; client_max_window_bits=", "; client_max_window_bits=\"", "; client_max_window_bits=\"15\\",
        "; =15", ";", "; client_max_window_bits 15", " client_max_window_bits", ", other; a=\"x", ", @",
        "; server_max_window_bits=\"\"", "=1"}) {
    EXPECT_EQ(accept_deflate("permessage-deflate" + std::string(rest)), "") << rest;
  }
}

}  // namespace
}  // namespace taut::wire
