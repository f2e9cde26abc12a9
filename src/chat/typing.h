// Whether one side of a conversation types, and when the other has to be told.
#pragma once

#include <cstdint>
#include <optional>

#include "base/handle.h"

namespace taut::chat {

/// One side's typing, heard as often as its clients like to say it and told as seldom as the other needs it.
/// Nothing of it is kept or repeated: a word that gets lost ends with its time to live. One thread.
class Typing {
 public:
  /// How long the other side may show one `on`.
  static constexpr int64_t kTtlNs = 6'000'000'000;
  /// An `on` that goes on is told again after this.
  static constexpr int64_t kAgainNs = 2'000'000'000;

  /// `typist` is the connection that says so; the end of another one's typing changes nothing.
  void hear(Handle typist, bool on) {
    if (!on && on_ && typist != typist_) return;
    typist_ = typist;
    on_ = on;
  }

  /// What to tell now, after any number of words: the last one, or nothing when that is known.
  [[nodiscard]] std::optional<bool> due(int64_t now_ns) {
    const bool shown = told_ && now_ns - told_at_ns_ < kTtlNs;
    if (!on_ && !shown) return std::nullopt;
    if (on_ && shown && now_ns - told_at_ns_ < kAgainNs) return std::nullopt;
    told_ = on_;
    told_at_ns_ = now_ns;
    return on_;
  }

 private:
  Handle typist_;
  int64_t told_at_ns_ = 0;
  bool on_ = false;
  bool told_ = false;
};

}  // namespace taut::chat
