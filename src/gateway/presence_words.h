// Agents' words about their presence on their way to the dispatcher: a bounded number, and the last one
// always.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/config.h"
#include "base/handle.h"
#include "chat/types.h"
#include "hub/token_bucket.h"

namespace taut::gateway {

/// An agent's endpoint has a bucket of kRate; a word beyond that waits, and a newer one takes its place. So
/// an agent that flaps costs the dispatcher kRate at most, and it ends up knowing the last word. Owner thread
/// only.
class PresenceWords {
 public:
  static constexpr Rate kRate{.per_second = 20, .burst = 10};
  static constexpr int64_t kPauseNs = 1'000'000'000 / kRate.per_second;

  struct Word {
    Handle agent;
    chat::Presence status = chat::Presence::offline;
    uint32_t capacity = 0;
  };

  /// True: say it now. False: it waits, see release().
  [[nodiscard]] bool pass(hub::TokenBucket& bucket, const Word& word, int64_t now_ns) {
    const auto waiting = find(word.agent);
    if (waiting == waiting_.end() && bucket.take(kRate, now_ns)) return true;
    if (waiting == waiting_.end()) {
      waiting_.push_back(word);
    } else {
      *waiting = word;
    }
    return false;
  }

  [[nodiscard]] bool empty() const { return waiting_.empty(); }

  /// Calls say(word) for those that wait and may go now. `bucket_of(agent)` is null for one that has gone.
  template <class BucketOf, class Say>
  void release(int64_t now_ns, BucketOf&& bucket_of, Say&& say) {
    std::erase_if(waiting_, [&](const Word& word) {
      hub::TokenBucket* bucket = bucket_of(word.agent);
      if (bucket != nullptr && !bucket->take(kRate, now_ns)) return false;
      if (bucket != nullptr) say(word);
      return true;
    });
  }

  /// The word that waits is said now, whatever the rate: nothing more will come of that agent.
  template <class Say>
  void release_last(Handle agent, Say&& say) {
    const auto waiting = find(agent);
    if (waiting == waiting_.end()) return;
    say(*waiting);
    waiting_.erase(waiting);
  }

 private:
  [[nodiscard]] std::vector<Word>::iterator find(Handle agent) {
    return std::ranges::find(waiting_, agent, &Word::agent);
  }

  std::vector<Word> waiting_;  ///< of agents that flap: nearly always empty
};

}  // namespace taut::gateway
