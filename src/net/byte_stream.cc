#include "net/byte_stream.h"

#include <sys/socket.h>

#include <cerrno>

namespace taut::net {

namespace {

bool again(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

IoResult write_plain(int fd, std::span<const iovec> pieces) {
  size_t asked = 0;
  for (const iovec& piece : pieces) asked += piece.iov_len;
  ssize_t n = 0;
  if (pieces.size() == 1) {
    n = ::send(fd, pieces[0].iov_base, pieces[0].iov_len, MSG_NOSIGNAL);
  } else {
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(pieces.data());
    message.msg_iovlen = pieces.size();
    n = ::sendmsg(fd, &message, MSG_NOSIGNAL);
  }
  if (n < 0) return {again(errno) ? Io::would_block : Io::closed, 0};
  return {static_cast<size_t>(n) < asked ? Io::would_block : Io::done, static_cast<uint32_t>(n)};
}

}  // namespace

IoResult ByteStream::read(std::span<char> room) {
  return tls_ ? tls_.read(room) : read_plain(room);
}

IoResult ByteStream::read_plain(std::span<char> room) {
  const ssize_t n = ::recv(fd_.get(), room.data(), room.size(), 0);
  if (n > 0) return {Io::done, static_cast<uint32_t>(n)};
  return {n < 0 && again(errno) ? Io::would_block : Io::closed, 0};
}

IoResult ByteStream::write(std::span<const iovec> pieces) {
  return tls_ && !tls_.kernel_writes() ? tls_.write(pieces) : write_plain(fd_.get(), pieces);
}

void ByteStream::end_writing() {
  if (tls_) tls_.end_writing();
  ::shutdown(fd_.get(), SHUT_WR);
}

void ByteStream::close() {
  tls_ = {};
  fd_.reset();
}

}  // namespace taut::net
