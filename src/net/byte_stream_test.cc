#include "net/byte_stream.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>

namespace taut::net {
namespace {

class ByteStreamTest : public testing::Test {
 protected:
  ByteStreamTest() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0);
    stream = ByteStream(Fd(ends[0]));
    peer = Fd(ends[1]);
  }
  ByteStream stream;
  Fd peer;
};

TEST_F(ByteStreamTest, EndingClosesOurHalfAndLeavesThePeers) {
  stream.end_writing();
  std::array<char, 8> room{};
  EXPECT_EQ(::read(peer.get(), room.data(), 1), 0);
  EXPECT_EQ(::write(peer.get(), "y", 1), 1);
  const IoResult got = stream.read(room);
  EXPECT_EQ(got.status, Io::done);
  EXPECT_EQ(got.bytes, 1U);
  EXPECT_EQ(room[0], 'y');
}

TEST_F(ByteStreamTest, TellsWhatWasWrittenWhenTheSocketIsFull) {
  std::string large(4 << 20, 'x');
  const iovec pieces[] = {{large.data(), 10}, {large.data(), large.size()}};
  const IoResult first = stream.write(pieces);
  EXPECT_EQ(first.status, Io::would_block);
  EXPECT_GT(first.bytes, 10U);
  const IoResult second = stream.write(pieces);
  EXPECT_EQ(second.status, Io::would_block);
  EXPECT_EQ(second.bytes, 0U);
}

TEST_F(ByteStreamTest, ReadsNothingYetAndThenTheEnd) {
  std::array<char, 8> room{};
  EXPECT_EQ(stream.read(room).status, Io::would_block);
  peer.reset();
  EXPECT_EQ(stream.read(room).status, Io::closed);
}

}  // namespace
}  // namespace taut::net
