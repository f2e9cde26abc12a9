#include "net/socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <utility>

namespace taut::net {
namespace {

std::string error_of(std::string_view address) {
  const Result<Fd> listener = listen_on(address);
  return listener ? "" : listener.error().message;
}

Fd connect_to(std::string_view address) {
  const size_t colon = address.rfind(':');
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(std::stoi(std::string(address.substr(colon + 1)))));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  Fd fd(::socket(AF_INET, SOCK_STREAM, 0));
  EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)), 0);
  return fd;
}

TEST(ListenOn, SaysWhatIsWrongWithAnAddress) {
  for (const std::string_view bad : {"", "8080", "127.0.0.1"}) {
    EXPECT_NE(error_of(bad).find("is not HOST:PORT, such as"), std::string::npos) << bad;
  }
  for (const std::string_view bad :
       {"127.0.0.1:", "127.0.0.1:x", "127.0.0.1:80x", "127.0.0.1:65536", "127.0.0.1:-1"}) {
    EXPECT_NE(error_of(bad).find("from 0 to 65535"), std::string::npos) << bad;
  }
  for (const std::string_view bad :
       {"example.org:80", ":80", "[::1:80", "::1:80", "[]:80", "[127.0.0.1]:80", "256.0.0.1:80"}) {
    EXPECT_NE(error_of(bad).find("must be a numeric address"), std::string::npos) << bad;
  }
}

TEST(ListenOn, AnErrorNamesTheAddressAndIsOneLine) {
  for (const std::string_view bad : {"here", "127.0.0.1:x", "host:1"}) {
    EXPECT_NE(error_of(bad).find("'" + std::string(bad) + "'"), std::string::npos);
    EXPECT_EQ(error_of(bad).find('\n'), std::string::npos);
  }
}

TEST(ListenOn, PortZeroTakesAFreePortAndTellsIt) {
  const Result<Fd> one = listen_on("127.0.0.1:0");
  const Result<Fd> two = listen_on("127.0.0.1:0");
  ASSERT_TRUE(one && two);
  EXPECT_TRUE(local_address(one->get()).starts_with("127.0.0.1:"));
  EXPECT_FALSE(local_address(one->get()).ends_with(":0"));
  EXPECT_NE(local_address(one->get()), local_address(two->get()));
}

TEST(ListenOn, LocalhostAndBracketsAreUnderstood) {
  const Result<Fd> named = listen_on("localhost:0");
  ASSERT_TRUE(named) << named.error().message;
  EXPECT_TRUE(local_address(named->get()).starts_with("127.0.0.1:"));
  const Result<Fd> six = listen_on("[::1]:0");
  if (!six) GTEST_SKIP() << "no IPv6 here: " << six.error().message;
  EXPECT_TRUE(local_address(six->get()).starts_with("[::1]:"));
}

TEST(ListenOn, ATakenPortIsOneLineWithTheRemedy) {
  const Result<Fd> first = listen_on("127.0.0.1:0");
  ASSERT_TRUE(first);
  const std::string address = local_address(first->get());
  const std::string error = error_of(address);
  EXPECT_NE(error.find("cannot listen on " + address), std::string::npos) << error;
  EXPECT_NE(error.find("choose another --listen"), std::string::npos) << error;
  EXPECT_EQ(error.find('\n'), std::string::npos);
}

TEST(AcceptFrom, GivesNothingWhileNobodyWaits) {
  const Result<Fd> listener = listen_on("127.0.0.1:0");
  ASSERT_TRUE(listener);
  const Accepted none = accept_from(listener->get());
  EXPECT_FALSE(none.fd);
  EXPECT_FALSE(none.exhausted);
}

TEST(AcceptFrom, GivesNonBlockingConnectionsThatSendAtOnce) {
  const Result<Fd> listener = listen_on("127.0.0.1:0");
  ASSERT_TRUE(listener);
  const Fd client = connect_to(local_address(listener->get()));
  const Accepted accepted = accept_from(listener->get());
  const Fd& fd = accepted.fd;
  ASSERT_TRUE(fd);
  EXPECT_FALSE(accepted.exhausted);
  EXPECT_EQ(std::string_view(IpText(accepted.peer)), "127.0.0.1");
  EXPECT_NE(::fcntl(fd.get(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_NE(::fcntl(fd.get(), F_GETFD) & FD_CLOEXEC, 0);
  int on = 0;
  socklen_t length = sizeof(on);
  ::getsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, &length);
  EXPECT_NE(on, 0);
}

TEST(Fd, ClosesWhatItOwnsOnceAndNothingThatItGaveAway) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  Fd read_end(ends[0]);
  {
    const Fd moved = std::move(read_end);
    EXPECT_EQ(moved.get(), ends[0]);
  }
  EXPECT_EQ(::fcntl(ends[0], F_GETFD), -1);
  int released = -1;
  {
    Fd write_end(ends[1]);
    released = write_end.release();
  }
  EXPECT_NE(::fcntl(released, F_GETFD), -1);
  ::close(released);
}

TEST(RaiseDescriptorLimit, ReachesTheHardLimitAndStaysThere) {
  const uint64_t raised = raise_descriptor_limit();
  EXPECT_GT(raised, 0U);
  EXPECT_EQ(raise_descriptor_limit(), raised);
}

}  // namespace
}  // namespace taut::net
