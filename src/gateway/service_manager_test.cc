#include "gateway/service_manager.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

#include "net/socket.h"

namespace taut::gateway {
namespace {

/// A manager's socket under a name without a file.
net::Fd listen_as(const std::string& name) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  net::Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0));
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address),
                   static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())),
            0);
  return socket;
}

TEST(ServiceManager, HearsTheStateAsOneDatagram) {
  const std::string name = "taut-test-" + std::to_string(::getpid());
  const net::Fd manager = listen_as(name);
  ::setenv("NOTIFY_SOCKET", ("@" + name).c_str(), 1);
  tell_service_manager("READY=1");
  ::unsetenv("NOTIFY_SOCKET");
  tell_service_manager("STOPPING=1");
  std::array<char, 64> heard{};
  ASSERT_EQ(::recv(manager.get(), heard.data(), heard.size(), 0), 7);
  EXPECT_STREQ(heard.data(), "READY=1");
  EXPECT_LT(::recv(manager.get(), heard.data(), heard.size(), 0), 0) << "nobody asked for the second";
}

TEST(ServiceManager, ANameThatNobodyHasOrThatIsTooLongIsNoMatter) {
  ::setenv("NOTIFY_SOCKET", "/nowhere/at/all", 1);
  tell_service_manager("READY=1");
  ::setenv("NOTIFY_SOCKET", std::string(200, 'x').c_str(), 1);
  tell_service_manager("READY=1");
  ::unsetenv("NOTIFY_SOCKET");
}

}  // namespace
}  // namespace taut::gateway
