#include "net/ip_address.h"

#include <gtest/gtest.h>

#include <string>

namespace taut::net {
namespace {

std::string shown(std::string_view text) {
  const auto address = IpAddress::parse(text);
  return address ? std::string(IpText(*address)) : "";
}

bool in(std::string_view network, std::string_view address) {
  return IpNetwork::parse(network)->contains(*IpAddress::parse(address));
}

TEST(IpAddress, IsShownAsItIsWritten) {
  for (const std::string_view text : {"192.0.2.7", "0.0.0.0", "2001:db8::7", "::1"})
    EXPECT_EQ(shown(text), text);
  EXPECT_EQ(shown("::ffff:192.0.2.7"), "192.0.2.7");
}

TEST(IpAddress, RefusesWhatIsNone) {
  for (const std::string_view text :
       {"", "host", "1.2.3", "1.2.3.4.5", "1.2.3.4:80", "[::1]", "::g", "256.1.1.1"})
    EXPECT_FALSE(IpAddress::parse(text)) << text;
}

TEST(IpNetwork, HoldsTheAddressesThatShareItsBits) {
  EXPECT_TRUE(in("10.0.0.0/8", "10.255.0.1"));
  EXPECT_FALSE(in("10.0.0.0/8", "11.0.0.1"));
  EXPECT_TRUE(in("192.168.4.0/22", "192.168.7.255"));
  EXPECT_FALSE(in("192.168.4.0/22", "192.168.8.0"));
  EXPECT_TRUE(in("0.0.0.0/0", "1.2.3.4"));
  EXPECT_FALSE(in("0.0.0.0/0", "2001:db8::1"));
  EXPECT_TRUE(in("2001:db8::/33", "2001:db8:7fff::1"));
  EXPECT_FALSE(in("2001:db8::/33", "2001:db8:8000::1"));
  EXPECT_TRUE(in("127.0.0.1", "127.0.0.1"));
  EXPECT_FALSE(in("127.0.0.1", "127.0.0.2"));
  EXPECT_TRUE(in("127.0.0.1", "::ffff:127.0.0.1"));
}

TEST(IpNetwork, SaysWhatWasExpected) {
  for (const std::string_view bad :
       {"", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "::/129", "host/8", "10/8"}) {
    const auto network = IpNetwork::parse(bad);
    ASSERT_FALSE(network) << bad;
    EXPECT_NE(network.error().message.find("a network like 10.0.0.0/8"), std::string::npos);
  }
}

}  // namespace
}  // namespace taut::net
