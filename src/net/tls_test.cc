#include "net/tls.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <openssl/crypto.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "core/allocation_counter.h"
#include "hub/hand_turned_shard.h"
#include "net/certificate_testing.h"
#include "net/connection.h"

namespace taut::net {
namespace {

constexpr uint32_t kTlsFrameBytesMax = 40'000;

/// What OpenSSL allocates for itself, so that what is left is ours. Set before its first allocation.
uint64_t openssl_allocations = 0;
void* count_malloc(size_t size, const char* /*file*/, int /*line*/) {
  ++openssl_allocations;
  return std::malloc(size);
}
void* count_realloc(void* old, size_t size, const char* /*file*/, int /*line*/) {
  ++openssl_allocations;
  return std::realloc(old, size);
}
void just_free(void* old, const char* /*file*/, int /*line*/) {
  std::free(old);
}
const bool counting = CRYPTO_set_mem_functions(count_malloc, count_realloc, just_free) == 1;

const CertificateFiles& files() {
  static const CertificateFiles kFiles("test");
  return kFiles;
}

std::string error_of(const std::string& cert, const std::string& key) {
  const auto loaded = TlsContext::load(cert, key);
  return loaded ? "" : loaded.error().message;
}

std::string write_file(const std::string& path, std::string_view content) {
  FILE* file = std::fopen(path.c_str(), "w");
  EXPECT_NE(file, nullptr);
  std::fwrite(content.data(), 1, content.size(), file);
  std::fclose(file);
  return path;
}

TEST(TlsContext, SaysInOneLineWhatIsWrongWithAFile) {
  const std::string empty = write_file(files().cert() + ".empty", "no PEM here\n");
  const CertificateFiles other("other");
  EXPECT_EQ(error_of("/nowhere.crt", files().key()),
            "cannot be read, No such file or directory: --tls-cert /nowhere.crt");
  EXPECT_EQ(error_of(files().cert(), "/nowhere.key"),
            "cannot be read, No such file or directory: --tls-key /nowhere.key");
  EXPECT_EQ(error_of(empty, files().key()), "holds no certificate in PEM: --tls-cert " + empty);
  EXPECT_EQ(error_of(files().cert(), empty), "holds no key in PEM without a passphrase: --tls-key " + empty);
  EXPECT_EQ(error_of(files().cert(), other.key()), "is not the certificate's key: --tls-key " + other.key());
  EXPECT_EQ(error_of(files().cert(), files().key()), "");
  std::remove(empty.c_str());
}

/// A connection on the server's side, and a client of OpenSSL's at the other end of a socket pair.
class TlsConnectionTest : public testing::Test {
 protected:
  TlsConnectionTest() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0);
    auto context = TlsContext::load(files().cert(), files().key());
    EXPECT_TRUE(context) << context.error().message;
    connection.emplace(ByteStream(Fd(ends[0]), (*context)->session(ends[0])), kTlsFrameBytesMax);
    peer = Fd(ends[1]);
    client_context.reset(SSL_CTX_new(TLS_client_method()));
  }
  ~TlsConnectionTest() override {
    connection->close(pool, home.back());
    EXPECT_EQ(home.outstanding(), 0U);
  }

  void start_client(int version = TLS1_3_VERSION) {
    client.reset(SSL_new(client_context.get()));
    SSL_set_min_proto_version(client.get(), version);
    SSL_set_max_proto_version(client.get(), version);
    SSL_set_fd(client.get(), peer.get());
    SSL_set_connect_state(client.get());
  }
  Io shake_hands(int version = TLS1_3_VERSION) {
    start_client(version);
    Io server = Io::would_block;
    for (int i = 0; i < 10 && server == Io::would_block; ++i) {
      SSL_do_handshake(client.get());
      server = connection->stream().handshake();
    }
    SSL_do_handshake(client.get());
    return server;
  }

  void client_writes(std::string_view bytes) {
    ASSERT_EQ(SSL_write(client.get(), bytes.data(), static_cast<int>(bytes.size())),
              static_cast<int>(bytes.size()));
  }
  std::string client_reads() {
    std::string all;
    std::array<char, 65'536> some{};
    for (;;) {
      const int n = SSL_read(client.get(), some.data(), some.size());
      if (n <= 0) return all;
      all.append(some.data(), static_cast<size_t>(n));
    }
  }
  std::string receive() {
    std::span<char> unread;
    result = connection->receive(scratch, pool, true, unread);
    return {unread.data(), unread.size()};
  }
  void queue(std::string_view bytes) {
    Block* block = pool.allocate(bytes.size());
    ASSERT_NE(block, nullptr);
    block->append(bytes);
    ASSERT_TRUE(connection->out().push(pool, home.back(), block, 0, static_cast<uint32_t>(bytes.size())));
  }
  Io write() { return connection->write(pool, home.back()); }
  /// Queues pieces until the socket is full; returns all bytes in order.
  std::string fill(uint32_t piece_bytes) {
    std::string all;
    for (int i = 0;; ++i) {
      queue(std::string(piece_bytes, static_cast<char>('a' + i % 26)));
      all.append(piece_bytes, static_cast<char>('a' + i % 26));
      if (i % 64 == 63 && write() == Io::would_block) return all;
    }
  }
  std::string drain() {
    std::string got;
    Io last = Io::would_block;
    for (int i = 0; i < 1'000 && last == Io::would_block; ++i) {
      got += client_reads();
      last = write();
    }
    EXPECT_EQ(last, Io::done);
    return got + client_reads();
  }

  struct FreeContext {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  };
  struct FreeSession {
    void operator()(SSL* session) const { SSL_free(session); }
  };
  ManualClock clock;
  Mesh mesh{{.members = 1}};
  hub::HandTurnedShard home{0, mesh, clock};
  BufferPool& pool = home.pool();
  Scratch scratch{kTlsFrameBytesMax};
  Fd peer;
  std::unique_ptr<SSL_CTX, FreeContext> client_context;
  std::unique_ptr<SSL, FreeSession> client;
  std::optional<Connection> connection;
  IoResult result;
};

TEST_F(TlsConnectionTest, SpeaksTls13) {
  EXPECT_EQ(shake_hands(TLS1_3_VERSION), Io::done);
  EXPECT_STREQ(SSL_get_version(client.get()), "TLSv1.3");
}

TEST_F(TlsConnectionTest, SpeaksTls12) {
  EXPECT_EQ(shake_hands(TLS1_2_VERSION), Io::done);
  client_writes("over 1.2");
  EXPECT_EQ(receive(), "over 1.2");
}

TEST_F(TlsConnectionTest, RefusesTls11) {
  SSL_CTX_set_security_level(client_context.get(), 0);  // else the client itself would not
  EXPECT_EQ(shake_hands(TLS1_1_VERSION), Io::closed);
}

TEST_F(TlsConnectionTest, WhatIsNotTlsEndsTheHandshake) {
  const std::string_view plain = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  ASSERT_EQ(::write(peer.get(), plain.data(), plain.size()), static_cast<ssize_t>(plain.size()));
  EXPECT_EQ(connection->stream().handshake(), Io::closed);
}

TEST_F(TlsConnectionTest, AHandshakeWaitsForItsBytesHoweverTheyArrive) {
  std::array<int, 2> between{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, between.data()), 0);
  const Fd network = std::exchange(peer, Fd(between[0]));
  const Fd far(between[1]);
  start_client();
  Io server = Io::would_block;
  for (int i = 0; i < 100'000 && server == Io::would_block; ++i) {
    SSL_do_handshake(client.get());
    char byte = 0;
    if (::read(far.get(), &byte, 1) == 1) {
      ASSERT_EQ(::write(network.get(), &byte, 1), 1);
    }
    server = connection->stream().handshake();
    std::array<char, 4'096> answer;
    const ssize_t n = ::read(network.get(), answer.data(), answer.size());
    if (n > 0) {
      ASSERT_EQ(::write(far.get(), answer.data(), static_cast<size_t>(n)), n);
    }
  }
  EXPECT_EQ(server, Io::done);
}

TEST_F(TlsConnectionTest, ReceivesARecordAtATimeAndLeavesNothingUnseen) {
  ASSERT_EQ(shake_hands(), Io::done);
  const std::string large(TlsSession::kRecordBytes + 100, 'x');
  client_writes(large);
  EXPECT_EQ(receive().size(), TlsSession::kRecordBytes);
  ASSERT_TRUE(connection->keep(pool, std::string_view("kept")));
  EXPECT_EQ(receive(), "kept" + std::string(100, 'x'));
  EXPECT_EQ(receive(), "");
  EXPECT_EQ(result.status, Io::would_block);
}

TEST_F(TlsConnectionTest, ManySmallPiecesMakeOneRecord) {
  ASSERT_EQ(shake_hands(), Io::done);
  for (int i = 0; i < 50; ++i) queue("a small frame;");
  EXPECT_EQ(write(), Io::done);
  std::array<char, 4'096> some{};
  EXPECT_EQ(SSL_read(client.get(), some.data(), some.size()), 50 * 14);
}

TEST_F(TlsConnectionTest, AFullSocketKeepsTheRestAndGoesOnWhereItStopped) {
  ASSERT_EQ(shake_hands(), Io::done);
  for (const uint32_t piece_bytes : {700U, 20'000U}) {
    const std::string all = fill(piece_bytes);
    EXPECT_TRUE(drain() == all) << piece_bytes;
  }
}

TEST_F(TlsConnectionTest, DroppingWhatWasNotBegunKeepsTheRecordThatWaits) {
  ASSERT_EQ(shake_hands(), Io::done);
  const std::string all = fill(20'000);
  ASSERT_GT(connection->stream().promised_bytes(), 0U);
  ASSERT_TRUE(connection->drop_unstarted(pool, home.back()));
  queue("the end");
  const std::string got = drain();
  ASSERT_TRUE(got.ends_with("the end"));
  const std::string before = got.substr(0, got.size() - 7);
  EXPECT_TRUE(all.starts_with(before));
  EXPECT_EQ(before.size() % 20'000, 0U) << "a piece was cut";
  EXPECT_LT(before.size(), all.size());
}

TEST_F(TlsConnectionTest, AnotherThreadGoesOnWithTheStream) {
  ASSERT_EQ(shake_hands(), Io::done);
  ByteStream moved = connection->take_stream();
  client_writes("to the new home");
  std::thread([&moved] {
    std::array<char, TlsSession::kRecordBytes> room;
    const IoResult got = moved.read(room);
    EXPECT_EQ(std::string_view(room.data(), got.bytes), "to the new home");
    const iovec answer{room.data(), got.bytes};
    EXPECT_EQ(moved.write({&answer, 1}).status, Io::done);
  }).join();
  EXPECT_EQ(client_reads(), "to the new home");
}

TEST_F(TlsConnectionTest, EndingSaysSoAndStillReads) {
  ASSERT_EQ(shake_hands(), Io::done);
  connection->stream().end_writing();
  EXPECT_EQ(client_reads(), "");
  EXPECT_EQ(SSL_get_shutdown(client.get()), SSL_RECEIVED_SHUTDOWN);
  client_writes("after all");
  EXPECT_EQ(receive(), "after all");
  SSL_shutdown(client.get());
  static_cast<void>(receive());
  EXPECT_EQ(result.status, Io::closed);
}

TEST_F(TlsConnectionTest, AMessageAllocatesNothingBesideWhatOpenSslDoes) {
  if (!allocation_counter_available() || !counting) GTEST_SKIP() << "nothing counts here";
  ASSERT_EQ(shake_hands(), Io::done);
  std::array<char, 4'096> some{};
  uint64_t ours = 0;
  for (int i = 0; i < 200; ++i) {
    if (i == 100) ours = allocations_this_thread() - openssl_allocations;
    SSL_write(client.get(), "a message", 9);
    std::span<char> unread;
    ASSERT_EQ(connection->receive(scratch, pool, true, unread).status, Io::done);
    queue("its acknowledgement");
    ASSERT_EQ(write(), Io::done);
    ASSERT_GT(SSL_read(client.get(), some.data(), some.size()), 0);
  }
  EXPECT_EQ(allocations_this_thread() - openssl_allocations, ours);
}

}  // namespace
}  // namespace taut::net
