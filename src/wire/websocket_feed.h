// Feeds a decoder as a connection does, in pieces, and writes down what comes out; for tests and the fuzzer.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "wire/websocket.h"

namespace taut::wire {

/// An outcome that owns its bytes.
struct WsSeen {
  WsOutcome::Kind kind;
  WsOpcode opcode;
  CloseCode close_code;
  std::string bytes;  ///< payload, or the reason of an error
  bool deflated = false;
  friend bool operator==(const WsSeen&, const WsSeen&) = default;
};

/// Keeps what the decoder's contract says must be kept, at a new address for every call, and asserts what the
/// contract promises in return.
class WsFeed {
 public:
  WsFeed(WsDecoder::Peer peer, uint32_t message_bytes_max, bool deflate = false)
      : decoder_(peer, message_bytes_max), max_(message_bytes_max) {
    if (deflate) decoder_.allow_deflate();
  }

  void feed(std::string_view piece) {
    if (failed_) return;
    kept_.append(piece);
    const bool too_few = kept_.size() < wanted_;
    while (step()) TAUT_ASSERT(!too_few);
    TAUT_ASSERT(failed_ || kept_.size() <= size_t{max_} + kWsKeptBeyondMessageMax);
    TAUT_ASSERT(failed_ || wanted_ > kept_.size());
  }

  [[nodiscard]] const std::vector<WsSeen>& seen() const { return seen_; }
  [[nodiscard]] size_t kept() const { return kept_.size(); }
  [[nodiscard]] size_t wanted() const { return wanted_; }
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] const WsDecoder& decoder() const { return decoder_; }

 private:
  /// One call of next(). False when there is nothing more to find.
  bool step() {
    constexpr char kGuard = '\x5A';
    std::vector<char> buffer(kept_.begin(), kept_.end());
    buffer.insert(buffer.end(), kReadablePadding, kGuard);
    const auto in = std::span(buffer).first(kept_.size());
    WsDecoder moved = decoder_;  // plain data: a copy goes on where the other was
    const WsOutcome outcome = moved.next(in);
    decoder_ = moved;
    for (size_t i = kept_.size(); i < buffer.size(); ++i) TAUT_ASSERT(buffer[i] == kGuard);
    if (outcome.kind != WsOutcome::Kind::need_more) {
      const bool error = outcome.kind == WsOutcome::Kind::error;
      seen_.push_back({outcome.kind, outcome.opcode, outcome.close_code,
                       std::string(error ? outcome.reason : outcome.text()), outcome.deflated});
      failed_ = error;
      if (error) return false;
    }
    TAUT_ASSERT(outcome.consumed <= in.size());
    kept_.assign(in.begin() + static_cast<std::ptrdiff_t>(outcome.consumed), in.end());
    wanted_ = outcome.wanted;
    return outcome.kind != WsOutcome::Kind::need_more;
  }

  WsDecoder decoder_;
  uint32_t max_;
  std::string kept_;
  size_t wanted_ = 0;
  bool failed_ = false;
  std::vector<WsSeen> seen_;
};

}  // namespace taut::wire
