#include "load/tcp_socket.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <thread>

namespace taut::load {
namespace {

TEST(Url, SplitsSchemeHostPortAndPath) {
  const Url url = parse_url("ws://127.0.0.1:8080/v1/chat").value();
  EXPECT_EQ(url.scheme, "ws");
  EXPECT_EQ(url.host_port(), "127.0.0.1:8080");
  EXPECT_EQ(url.path, "/v1/chat");
  EXPECT_EQ(parse_url("relay://127.0.0.1:1").value().path, "/");
}

// A server of one connection that speaks TLS, whose certificate nobody knows, and echoes.
class EncryptedEcho {
 public:
  EncryptedEcho() : context_(SSL_CTX_new(TLS_server_method())) {
    EVP_PKEY* key = EVP_EC_gen("P-256");
    X509* certificate = X509_new();
    X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3'600);
    X509_set_pubkey(certificate, key);
    X509_sign(certificate, key, EVP_sha256());
    SSL_CTX_use_certificate(context_, certificate);
    SSL_CTX_use_PrivateKey(context_, key);
    X509_free(certificate);
    EVP_PKEY_free(key);
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_, 1), 0);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    url_ = {.scheme = "wss", .host = "127.0.0.1", .port = ntohs(address.sin_port), .path = "/"};
    thread_ = std::thread([this] { serve(); });
  }
  ~EncryptedEcho() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
    SSL_CTX_free(context_);
  }
  const Url& url() const { return url_; }

 private:
  void serve() {
    const TcpSocket socket(::accept(listener_, nullptr, nullptr));
    SSL* tls = SSL_new(context_);
    SSL_set_fd(tls, socket.fd());
    std::array<char, 20'000> buffer;
    for (int n = SSL_accept(tls); n > 0; SSL_write(tls, buffer.data(), n)) {
      n = SSL_read(tls, buffer.data(), buffer.size());
      if (n <= 0) break;
    }
    SSL_free(tls);
  }

  SSL_CTX* context_;
  int listener_ = -1;
  Url url_;
  std::thread thread_;
};

TEST(TcpSocket, SpeaksTlsWithWhoeverAnswersAndSaysAgainLikeASystemCall) {
  EncryptedEcho server;
  Result<TcpSocket> socket = TcpSocket::dial(server.url());
  ASSERT_TRUE(socket) << socket.error().message;
  const std::string text(100'000, 'x');
  std::string back;
  ASSERT_TRUE(socket->send_all(text));
  while (back.size() < text.size()) ASSERT_TRUE(socket->receive_some(back));
  EXPECT_EQ(back, text);
  socket->set_blocking(false);
  std::array<char, 100> room;
  EXPECT_EQ(socket->receive(room), -1);
  EXPECT_EQ(errno, EAGAIN);
}

TEST(TcpSocket, SaysThatTheOtherSideSpeaksNoTls) {
  const TcpSocket listener(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ASSERT_EQ(::bind(listener.fd(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listener.fd(), 1), 0);
  ::getsockname(listener.fd(), reinterpret_cast<sockaddr*>(&address), &size);
  std::thread server([&] {
    TcpSocket plain(::accept(listener.fd(), nullptr, nullptr));
    EXPECT_TRUE(plain.send_all("HTTP/1.1 400 Bad Request\r\n\r\n"));
  });
  const Result<TcpSocket> socket =
      TcpSocket::dial({.scheme = "wss", .host = "127.0.0.1", .port = ntohs(address.sin_port), .path = "/"});
  server.join();
  ASSERT_FALSE(socket);
  EXPECT_NE(socket.error().message.find("TLS handshake: "), std::string::npos) << socket.error().message;
}

TEST(Url, RefusesEverythingElse) {
  for (const char* text :
       {"", "127.0.0.1:80", "ws://127.0.0.1", "ws://localhost:80/", "ws://127.0.0.1:65536/",
        "ws://127.0.0.1:80x/", "ws://127.0.0.1:/", "://127.0.0.1:80/"}) {
    EXPECT_FALSE(parse_url(text)) << text;
  }
}

}  // namespace
}  // namespace taut::load
