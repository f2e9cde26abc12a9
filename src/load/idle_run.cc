// `taut load idle`: visitors that are connected and silent, to see what one costs a server.
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <vector>

#include "load/chat_connection.h"
#include "load/options.h"
#include "load/protocol.h"

namespace taut::load {

namespace {

// How many connections are opened between two looks at the pings of those that are.
constexpr uint32_t kLookEvery = 64;
constexpr int kEventsPerLook = 256;
constexpr size_t kIdleReadBytes = size_t{16} * 1024;
// Descriptors beside the connections: standard ones, epoll, the secret file.
constexpr uint64_t kIdleOtherDescriptors = 16;

// Answers pings, on one thread.
class IdleCrowd {
 public:
  IdleCrowd(const ChatCarrier& carrier, uint32_t size)
      : carrier_(carrier), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    connections_.reserve(size);
  }
  IdleCrowd(const IdleCrowd&) = delete;
  IdleCrowd& operator=(const IdleCrowd&) = delete;
  ~IdleCrowd() { ::close(epoll_); }

  [[nodiscard]] Status add(Connection connection) {
    Connection& kept = connections_.emplace_back(std::move(connection));
    kept.socket.set_blocking(false);
    return watch(kept.socket.fd(), &kept);
  }

  /// Standard input's end of file, or anything on it, ends the program.
  [[nodiscard]] Status watch_input() { return watch(STDIN_FILENO, nullptr); }

  /// False once standard input has something to say. Error: a connection ended.
  [[nodiscard]] Result<bool> look(int timeout_ms) {
    std::array<epoll_event, kEventsPerLook> events;
    const int ready = ::epoll_wait(epoll_, events.data(), kEventsPerLook, timeout_ms);
    for (int i = 0; i < ready; ++i) {
      auto* connection = static_cast<Connection*>(events[i].data.ptr);
      if (connection == nullptr) return false;
      if (Status s = read(*connection); !s) return std::unexpected(s.error());
    }
    return true;
  }

 private:
  Status watch(int fd, Connection* connection) {
    epoll_event event{.events = EPOLLIN, .data = {.ptr = connection}};
    return ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0 ? Status() : Status(fail_errno("epoll_ctl"));
  }

  Status read(Connection& connection) {
    std::array<char, kIdleReadBytes> buffer;
    const ssize_t n = connection.socket.receive(buffer);
    if (n < 0 && errno == EAGAIN) return {};
    if (n <= 0) return fail("the server closed an idle connection");
    std::string& received = connection.received;
    received.append(buffer.data(), static_cast<size_t>(n));
    const size_t size = received.size();
    received.resize(size + kFramePadding);
    std::string pongs;
    size_t used = 0;
    while (true) {
      const Frame frame = carrier_.next_frame({received.data() + used, size - used});
      if (frame.kind == FrameKind::need_more) break;
      if (frame.kind == FrameKind::broken) return fail("the server closed an idle connection");
      if (frame.kind == FrameKind::control) pongs += carrier_.answer({received.data() + used, frame.size});
      used += frame.size;
    }
    received.resize(size);
    received.erase(0, used);
    return connection.socket.send_all(pongs);
  }

  const ChatCarrier& carrier_;
  const int epoll_;
  std::vector<Connection> connections_;
};

Status run(const LoadIdleOptions& options, const Url& url, const auth::Secrets& secrets) {
  if (Status s = allow_descriptors(options.connections + kIdleOtherDescriptors); !s) return s;

  auth::Signer signer(secrets);
  IdleCrowd crowd(chat_carrier(url), options.connections);
  for (uint32_t i = 0; i < options.connections; ++i) {
    const ChatIdentity who{.id = "idle." + std::to_string(::getpid()) + "." + std::to_string(i),
                           .site = options.site,
                           .group = {}};
    Result<ChatConnection> connection = ChatConnection::open(url, who, signer);
    if (!connection) return std::unexpected(connection.error());
    if (Status s = crowd.add(std::move(*connection).release()); !s) return s;
    if (i % kLookEvery != 0) continue;
    if (Result<bool> looked = crowd.look(0); !looked) return std::unexpected(looked.error());
  }
  std::printf("ready connections=%u\n", options.connections);
  std::fflush(stdout);
  if (Status s = crowd.watch_input(); !s) return s;
  while (true) {
    const Result<bool> more = crowd.look(-1);
    if (!more) return std::unexpected(more.error());
    if (!*more) return {};
  }
}

}  // namespace

int run_load_idle(const LoadIdleOptions& options) {
  const auto complain = [](const std::string& message, int exit_code) {
    std::fprintf(stderr, "taut load idle: %s\n", message.c_str());
    return exit_code;
  };
  const Result<Url> url = parse_url(options.url);
  if (!url) return complain(url.error().message, kExitUsage);
  if (!valid_id(options.site)) return complain("--site must be a valid id", kExitUsage);
  const Result<auth::Secrets> secrets = load_secret(options.secret_file);
  if (!secrets) return complain(secrets.error().message, kExitUsage);
  const Status status = run(options, *url, *secrets);
  return status ? kExitOk : complain(status.error().message, kExitFailed);
}

}  // namespace taut::load
