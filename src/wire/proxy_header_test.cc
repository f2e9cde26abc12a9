#include "wire/proxy_header.h"

#include <gtest/gtest.h>

#include <string>

namespace taut::wire {
namespace {

using ProxyKind = ProxyHeader::Kind;

std::string header(uint8_t command, uint8_t family, const std::string& rest) {
  std::string bytes("\r\n\r\n\0\r\nQUIT\n", 12);
  bytes += static_cast<char>(command);
  bytes += static_cast<char>(family);
  bytes += static_cast<char>(rest.size() >> 8);
  bytes += static_cast<char>(rest.size() & 0xff);
  return bytes + rest;
}

const std::string kIpv4 = std::string("\xc0\x00\x02\x07\x0a\x00\x00\x01\xd4\x31\x01\xbb", 12);

TEST(ProxyHeader, NamesTheClientOverIpv4) {
  const ProxyHeader got = parse_proxy_header(header(0x21, 0x11, kIpv4) + "GET /");
  ASSERT_EQ(got.kind, ProxyKind::header) << got.detail;
  EXPECT_TRUE(got.has_source);
  EXPECT_EQ(got.size, 28U);
  const std::array<uint8_t, 16> wanted{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xc0, 0, 2, 7};
  EXPECT_EQ(got.source, wanted);
}

TEST(ProxyHeader, NamesTheClientOverIpv6) {
  std::string rest(36, '\0');
  rest[0] = 0x20;
  rest[15] = 0x07;
  const ProxyHeader got = parse_proxy_header(header(0x21, 0x21, rest));
  ASSERT_EQ(got.kind, ProxyKind::header) << got.detail;
  EXPECT_EQ(got.source[0], 0x20);
  EXPECT_EQ(got.source[15], 0x07);
}

TEST(ProxyHeader, AProxyOfItsOwnAccordNamesNobody) {
  for (const std::string& own : {header(0x20, 0x00, ""), header(0x20, 0x11, kIpv4), header(0x21, 0x00, "")}) {
    const ProxyHeader got = parse_proxy_header(own);
    EXPECT_EQ(got.kind, ProxyKind::header) << got.detail;
    EXPECT_FALSE(got.has_source);
  }
}

TEST(ProxyHeader, SkipsTheFieldsBehindTheAddresses) {
  const ProxyHeader got = parse_proxy_header(header(0x21, 0x11, kIpv4 + std::string(300, 'f')));
  ASSERT_EQ(got.kind, ProxyKind::header) << got.detail;
  EXPECT_EQ(got.size, 328U);
}

TEST(ProxyHeader, WaitsAtEveryByteAndNeverAsksForMoreThanTheHeader) {
  const std::string whole = header(0x21, 0x11, kIpv4 + "fields");
  for (size_t cut = 0; cut < whole.size(); ++cut) {
    const ProxyHeader got = parse_proxy_header(whole.substr(0, cut));
    ASSERT_EQ(got.kind, ProxyKind::need_more) << cut;
    EXPECT_EQ(got.size, cut < kProxyHeaderBytes ? kProxyHeaderBytes : whole.size());
    EXPECT_GT(got.size, cut);
  }
}

TEST(ProxyHeader, RefusesWhatIsMalformed) {
  for (const std::string& bad :
       {std::string("GET / HTTP/1.1\r\n"), std::string("PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n"),
        std::string("\r\n\r\nX"), header(0x11, 0x11, kIpv4), header(0x22, 0x11, kIpv4),
        header(0x21, 0x12, kIpv4), header(0x21, 0x11, kIpv4.substr(1)), header(0x21, 0x21, kIpv4),
        header(0x21, 0x11, std::string(1'025, 'f'))}) {
    const ProxyHeader got = parse_proxy_header(bad);
    EXPECT_EQ(got.kind, ProxyKind::error) << bad;
    EXPECT_FALSE(got.detail.empty());
  }
}

}  // namespace
}  // namespace taut::wire
