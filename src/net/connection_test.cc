#include "net/connection.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <string>

#include "hub/hand_turned_shard.h"

namespace taut::net {
namespace {

constexpr uint32_t kFrameBytesMax = 40'000;

/// One connection over a socket pair; the peer reads and writes raw bytes.
class ConnectionTest : public testing::Test {
 protected:
  ConnectionTest() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0);
    connection.emplace(ByteStream(Fd(ends[0])), kFrameBytesMax);
    peer = Fd(ends[1]);
  }
  ~ConnectionTest() override {
    connection->close(pool, home.back());
    home.flush();
    other.turn();
    EXPECT_EQ(home.outstanding(), 0U);
    EXPECT_EQ(other.outstanding(), 0U);
  }

  void peer_writes(std::string_view bytes) {
    ASSERT_EQ(::write(peer.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  std::string peer_reads() {
    std::string all;
    std::array<char, 65'536> some{};
    for (;;) {
      const ssize_t n = ::read(peer.get(), some.data(), some.size());
      if (n <= 0) return all;
      all.append(some.data(), static_cast<size_t>(n));
    }
  }
  std::string receive(bool from_socket = true) {
    std::span<char> unread;
    result = connection->receive(scratch, pool, from_socket, unread);
    return {unread.data(), unread.size()};
  }
  void queue(const std::string& bytes) {
    Block* block = pool.allocate(bytes.size());
    ASSERT_NE(block, nullptr);
    block->append(bytes);
    ASSERT_TRUE(connection->out().push(pool, home.back(), block, 0, static_cast<uint32_t>(bytes.size())));
  }
  Io write() { return connection->write(pool, home.back()); }

  ManualClock clock;
  Mesh mesh{{.members = 2}};
  hub::HandTurnedShard home{0, mesh, clock};
  hub::HandTurnedShard other{1, mesh, clock};
  BufferPool& pool = home.pool();
  Scratch scratch{kFrameBytesMax};
  Fd peer;
  std::optional<Connection> connection;
  IoResult result;
};

TEST_F(ConnectionTest, ReceivesTheSameBytesAtEverySplit) {
  const std::string text = "a frame that arrives in two parts, cut wherever the network likes";
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    for (size_t understood = 0; understood <= cut; understood += 7) {
      peer_writes(text.substr(0, cut));
      const std::string first = receive();
      ASSERT_EQ(first, text.substr(0, cut));
      const std::string rest = first.substr(understood);
      ASSERT_TRUE(connection->keep(pool, rest));
      ASSERT_EQ(connection->has_kept(), !rest.empty());
      peer_writes(text.substr(cut));
      ASSERT_EQ(receive(), text.substr(understood));
      ASSERT_FALSE(connection->has_kept());
    }
  }
}

TEST_F(ConnectionTest, AnIdleConnectionOwnsNoBlock) {
  peer_writes("all understood");
  EXPECT_EQ(receive(), "all understood");
  EXPECT_TRUE(connection->keep(pool, {}));
  EXPECT_EQ(home.outstanding(), 0U);
}

TEST_F(ConnectionTest, WithoutTheSocketOnlyWhatWasKeptComes) {
  ASSERT_TRUE(connection->keep(pool, std::string_view("kept")));
  peer_writes("later");
  EXPECT_EQ(receive(false), "kept");
  EXPECT_EQ(result.status, Io::done);
  EXPECT_EQ(result.bytes, 0U);
  EXPECT_EQ(receive(), "later");
  EXPECT_EQ(result.bytes, 5U);
}

TEST_F(ConnectionTest, AnEmptySocketLosesNothingThatWasKept) {
  ASSERT_TRUE(connection->keep(pool, std::string_view("kept")));
  EXPECT_EQ(receive(), "kept");
  EXPECT_EQ(result.status, Io::would_block);
}

TEST_F(ConnectionTest, TakesAtMostOneReadAtATime) {
  const std::string large(Scratch::kReadBytes + 10, 'x');
  peer_writes(large);
  EXPECT_EQ(receive().size(), Scratch::kReadBytes);
  EXPECT_EQ(receive().size(), 10U);
}

TEST_F(ConnectionTest, TheLongestKeptTailAndAReadFitIntoTheScratch) {
  const std::string tail(kFrameBytesMax + wire::kWsKeptBeyondMessageMax, 'k');
  ASSERT_TRUE(connection->keep(pool, tail));
  const std::string more(Scratch::kReadBytes, 'm');
  peer_writes(more);
  EXPECT_EQ(receive(), tail + more);
}

TEST_F(ConnectionTest, SaysThatThePeerHasGone) {
  ASSERT_TRUE(connection->keep(pool, std::string_view("kept")));
  peer.reset();
  static_cast<void>(receive());
  EXPECT_EQ(result.status, Io::closed);
  queue("to nobody");
  EXPECT_EQ(write(), Io::closed);
}

TEST_F(ConnectionTest, RefusesToKeepWhatThePoolCannotHold) {
  const std::string huge(BufferPool::kCapacityMax + 1, 'x');
  EXPECT_FALSE(connection->keep(pool, huge));
  EXPECT_FALSE(connection->has_kept());
}

TEST_F(ConnectionTest, WipesWhatItKeptInSecretWhenItIsReadAgainAndWhenItGoes) {
  const std::string hello = "half of a hello with a token";
  for (const bool read_again : {true, false}) {
    ASSERT_TRUE(connection->keep(pool, hello, true));
    const char* where = connection->kept().data();
    if (read_again) {
      EXPECT_EQ(receive(false), hello);
    } else {
      connection->close(pool, home.back());
    }
    Block* again = pool.allocate(hello.size());  // makes the memory readable again under AddressSanitizer
    ASSERT_EQ(again->data(), where);
    EXPECT_EQ(std::string_view(where, hello.size()).find("token"), std::string_view::npos);
    pool.release(again);
  }
}

TEST_F(ConnectionTest, WritesPiecesInOrderAndOwnsNothingAfterwards) {
  std::string all;
  for (int i = 0; i < 200; ++i) {  // more than one call takes
    const std::string piece = "piece " + std::to_string(i) + ";";
    queue(piece);
    all += piece;
  }
  EXPECT_EQ(write(), Io::done);
  EXPECT_EQ(peer_reads(), all);
  EXPECT_EQ(home.outstanding(), 0U);
}

TEST_F(ConnectionTest, AFullSocketKeepsTheRestAndGoesOnWhereItStopped) {
  std::string all;
  for (int i = 0; i < 64; ++i) {
    const std::string piece(20'000, static_cast<char>('a' + i % 26));
    queue(piece);
    all += piece;
  }
  ASSERT_EQ(write(), Io::would_block);
  EXPECT_GT(connection->out().pending_bytes(), 0U);
  EXPECT_EQ(write(), Io::would_block);
  std::string got;
  Io last = Io::would_block;
  for (int i = 0; i < 1'000 && last == Io::would_block; ++i) {
    got += peer_reads();
    last = write();
  }
  got += peer_reads();
  EXPECT_EQ(last, Io::done);
  EXPECT_TRUE(got == all);
  EXPECT_EQ(home.outstanding(), 0U);
}

TEST_F(ConnectionTest, ClosingGivesEverythingBackAndEndsTheStream) {
  ASSERT_TRUE(connection->keep(pool, std::string_view("half a fra")));
  queue("never written");
  Block* foreign = other.pool().allocate(10);
  foreign->append("foreign");
  ASSERT_TRUE(connection->out().push(pool, home.back(), foreign, 0, 7));
  EXPECT_GT(home.outstanding(), 0U);
  connection->close(pool, home.back());
  EXPECT_EQ(home.outstanding(), 0U);
  home.flush();
  other.turn();
  EXPECT_EQ(other.outstanding(), 0U);
  EXPECT_EQ(connection->fd(), -1);
  char byte = 0;
  EXPECT_EQ(::read(peer.get(), &byte, 1), 0);
}

TEST_F(ConnectionTest, PartsWithItsStreamAndLeavesItOpen) {
  const ByteStream taken = connection->take_stream();
  connection->close(pool, home.back());
  EXPECT_EQ(::write(taken.fd(), "x", 1), 1);
  EXPECT_EQ(peer_reads(), "x");
}

}  // namespace
}  // namespace taut::net
