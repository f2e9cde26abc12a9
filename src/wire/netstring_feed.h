// Feeds netstrings as a connection does, in pieces, and writes down what comes out; for tests and the fuzzer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "wire/netstring.h"

namespace taut::wire {

/// Keeps what the contract says must be kept, at a new address for every call, and asserts what the contract
/// promises in return.
class NetstringFeed {
 public:
  explicit NetstringFeed(uint32_t body_bytes_max) : max_(body_bytes_max) {}

  void feed(std::string_view piece) {
    if (failed()) return;
    kept_.append(piece);
    while (step()) {
    }
    TAUT_ASSERT(failed() || kept_.size() <= size_t{max_} + kNetstringAroundMax);
  }

  [[nodiscard]] const std::vector<std::string>& bodies() const { return bodies_; }
  [[nodiscard]] bool failed() const { return close_code_ != CloseCode::none; }
  [[nodiscard]] CloseCode close_code() const { return close_code_; }
  [[nodiscard]] std::string_view kept() const { return kept_; }

  friend bool operator==(const NetstringFeed& a, const NetstringFeed& b) {
    return a.bodies_ == b.bodies_ && a.close_code_ == b.close_code_ && (a.failed() || a.kept_ == b.kept_);
  }

 private:
  /// One call of next_netstring(). False when there is nothing more to find.
  bool step() {
    std::vector<char> buffer(kept_.begin(), kept_.end());
    buffer.shrink_to_fit();  // the address sanitizer sees every byte read too far
    const NetstringOutcome outcome = next_netstring(buffer, max_);
    TAUT_ASSERT(std::ranges::equal(buffer, kept_));
    TAUT_ASSERT((outcome.kind == NetstringOutcome::Kind::error) == (outcome.close_code != CloseCode::none));
    TAUT_ASSERT(outcome.consumed <= buffer.size());
    close_code_ = outcome.close_code;
    if (outcome.kind != NetstringOutcome::Kind::body) return false;
    bodies_.emplace_back(outcome.body.begin(), outcome.body.end());
    kept_.erase(0, outcome.consumed);
    return true;
  }

  uint32_t max_;
  std::string kept_;
  CloseCode close_code_ = CloseCode::none;
  std::vector<std::string> bodies_;
};

}  // namespace taut::wire
