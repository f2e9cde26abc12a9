#include "net/tls.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/assert.h"
#include "base/file.h"

namespace taut::net {

namespace {

static_assert(TlsSession::kRecordBytes == SSL3_RT_MAX_PLAIN_LENGTH);

/// Nobody sits at the terminal: a key with a passphrase cannot be used.
int no_passphrase(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*user*/) {
  return 0;
}

void set_rules(SSL_CTX* context) {
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  // What was decrypted may be a token: it is wiped where it was.
  SSL_CTX_set_options(context, SSL_OP_ENABLE_KTLS | SSL_OP_NO_RENEGOTIATION |
                                   SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_CLEANSE_PLAINTEXT);
  // Resumption is by ticket: a cache in memory would be a lock that all shards share.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context, 1);
  // Without its 34 KiB of buffers an idle connection costs little more than a plain one.
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_default_passwd_cb(context, no_passphrase);
}

std::unexpected<Error> refuse(std::string_view what, std::string_view setting, const std::string& file) {
  return fail(std::string(what) + ": " + std::string(setting) + " " + file);
}

Status use_files(SSL_CTX* context, const std::string& cert_file, const std::string& key_file) {
  for (const auto& [setting, file] : {std::pair("--tls-cert", &cert_file), {"--tls-key", &key_file}}) {
    if (::access(file->c_str(), R_OK) != 0)
      return refuse(std::string("cannot be read, ") + std::strerror(errno), setting, *file);
    if (!check_regular_file(*file)) return refuse("is no regular file", setting, *file);
  }
  if (SSL_CTX_use_certificate_chain_file(context, cert_file.c_str()) != 1)
    return refuse("holds no certificate in PEM", "--tls-cert", cert_file);
  if (SSL_CTX_use_PrivateKey_file(context, key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
    const bool mismatch = ERR_GET_LIB(ERR_peek_error()) == ERR_LIB_X509;
    return refuse(mismatch ? "is not the certificate's key" : "holds no key in PEM without a passphrase",
                  "--tls-key", key_file);
  }
  if (SSL_CTX_check_private_key(context) != 1)
    return refuse("is not the certificate's key", "--tls-key", key_file);
  return {};
}

}  // namespace

// -- the context --

void TlsContext::Free::operator()(ssl_ctx_st* context) const noexcept {
  SSL_CTX_free(context);
}

Result<std::shared_ptr<const TlsContext>> TlsContext::load(const std::string& cert_file,
                                                           const std::string& key_file) {
  std::unique_ptr<ssl_ctx_st, Free> context(SSL_CTX_new(TLS_server_method()));
  if (context == nullptr) return fail("OpenSSL cannot make a TLS context");
  set_rules(context.get());
  ERR_clear_error();
  const Status used = use_files(context.get(), cert_file, key_file);
  ERR_clear_error();
  if (!used) return std::unexpected(used.error());
  return std::shared_ptr<const TlsContext>(new TlsContext(std::move(context)));
}

TlsSession TlsContext::session(int fd) const {
  TlsSession session(SSL_new(context_.get()));
  if (!session) return session;
  if (SSL_set_fd(session.ssl_.get(), fd) != 1) return TlsSession();
  SSL_set_accept_state(session.ssl_.get());
  return session;
}

bool kernel_has_tls() {
  const Fd probe(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  // A socket without a peer cannot have it; what counts is whether the kernel knows the name.
  return ::setsockopt(probe.get(), IPPROTO_TCP, TCP_ULP, "tls", sizeof("tls")) == 0 || errno == ENOTCONN;
}

// -- a session --

void TlsSession::Free::operator()(ssl_st* ssl) const noexcept {
  SSL_free(ssl);
}

Io TlsSession::handshake() {
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_.get());
  if (result == 1) {
    kernel_writes_ = BIO_get_ktls_send(SSL_get_wbio(ssl_.get())) != 0;
    return Io::done;
  }
  const int error = SSL_get_error(ssl_.get(), result);
  return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? Io::would_block : Io::closed;
}

bool TlsSession::wants_to_write() const {
  return SSL_want_write(ssl_.get()) != 0;
}

IoResult TlsSession::read(std::span<char> room) {
  TAUT_ASSERT(room.size() >= kRecordBytes);
  ERR_clear_error();
  size_t bytes = 0;
  const int result = SSL_read_ex(ssl_.get(), room.data(), room.size(), &bytes);
  if (result == 1) return {Io::done, static_cast<uint32_t>(bytes)};
  // A peer that wants new keys and does not read the answer (WANT_WRITE) is not waited for.
  const int error = SSL_get_error(ssl_.get(), result);
  return {error == SSL_ERROR_WANT_READ ? Io::would_block : Io::closed, 0};
}

IoResult TlsSession::write(std::span<const iovec> pieces) {
  TAUT_ASSERT(!kernel_writes_ && !pieces.empty());
  std::array<char, kRecordBytes> record;  // many small frames, one record
  const char* from = static_cast<const char*>(pieces[0].iov_base);
  size_t size = std::min<size_t>(pieces[0].iov_len, kRecordBytes);
  if (pieces.size() > 1 && size < kRecordBytes) {
    size = 0;
    for (const iovec& piece : pieces) {
      const size_t part = std::min(piece.iov_len, record.size() - size);
      std::memcpy(record.data() + size, piece.iov_base, part);
      size += part;
    }
    from = record.data();
  }
  ERR_clear_error();
  size_t bytes = 0;
  const int result = SSL_write_ex(ssl_.get(), from, size, &bytes);
  if (result == 1) {
    promised_bytes_ = 0;
    return {Io::done, static_cast<uint32_t>(bytes)};
  }
  if (SSL_get_error(ssl_.get(), result) != SSL_ERROR_WANT_WRITE) return {Io::closed, 0};
  // The record is encrypted already and must go out as it is.
  promised_bytes_ = std::max(promised_bytes_, static_cast<uint32_t>(size));
  return {Io::would_block, 0};
}

void TlsSession::end_writing() {
  ERR_clear_error();
  static_cast<void>(SSL_shutdown(ssl_.get()));  // what the socket does not take at once is not missed
  ERR_clear_error();
}

}  // namespace taut::net
