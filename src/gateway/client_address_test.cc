#include "gateway/client_address.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace taut::gateway {
namespace {

std::string client(std::string_view peer, std::string_view forwarded_for) {
  const std::vector<net::IpNetwork> trusted{*net::IpNetwork::parse("10.0.0.0/8"),
                                            *net::IpNetwork::parse("::1")};
  return std::string(net::IpText(client_address(*net::IpAddress::parse(peer), forwarded_for, trusted)));
}

TEST(ClientAddress, IsThePeerWhomNobodyTrusts) {
  EXPECT_EQ(client("192.0.2.1", "198.51.100.7"), "192.0.2.1");
  EXPECT_EQ(client("192.0.2.1", ""), "192.0.2.1");
}

TEST(ClientAddress, IsWhatATrustedProxyWroteLast) {
  EXPECT_EQ(client("10.0.0.1", "198.51.100.7"), "198.51.100.7");
  EXPECT_EQ(client("10.0.0.1", "6.6.6.6, 198.51.100.7"), "198.51.100.7")
      << "the client may write what it likes";
  EXPECT_EQ(client("::1", "198.51.100.7 , 10.2.3.4"), "198.51.100.7");
  EXPECT_EQ(client("10.0.0.1", "10.0.0.9"), "10.0.0.9");
  EXPECT_EQ(client("10.0.0.1", ""), "10.0.0.1");
}

TEST(ClientAddress, APortIsNoPartOfIt) {
  EXPECT_EQ(client("10.0.0.1", "198.51.100.7:4711"), "198.51.100.7");
  EXPECT_EQ(client("10.0.0.1", "[2001:db8::7]:4711"), "2001:db8::7");
  EXPECT_EQ(client("10.0.0.1", "2001:db8::7"), "2001:db8::7");
}

TEST(ClientAddress, WhatCannotBeReadEndsTheWalk) {
  for (const std::string_view bad :
       {"unknown", "_hidden", ",", " ", "[", "[]", "1.2.3.4.5", "6.6.6.6,nobody"})
    EXPECT_EQ(client("10.0.0.1", bad), "10.0.0.1") << bad;
}

}  // namespace
}  // namespace taut::gateway
