// The agent whom each visitor talked to last.
#pragma once

#include <bit>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "chat/types.h"

namespace taut::chat {

/// A table of fixed size in which visitors share places: a newer one may push out an older one, who is then a
/// stranger. Forgetting costs a visitor nothing but the familiar agent. One thread.
class LastAgents {
 public:
  /// Room for about that many visitors. REQUIRES: visitors > 0; `memory` outlives the table.
  LastAgents(uint32_t visitors, std::pmr::memory_resource& memory)
      : places_(std::bit_ceil(uint64_t{visitors}), &memory) {}

  /// `visitor` is a good hash of the id; equal hashes are taken for the same visitor.
  void note(uint64_t visitor, uint32_t agent) { place_of(visitor) = {.visitor = visitor, .agent = agent}; }
  void forget(uint64_t visitor) {
    if (place_of(visitor).visitor == visitor) place_of(visitor) = {};
  }
  /// kNoAgent: none, or forgotten.
  [[nodiscard]] uint32_t find(uint64_t visitor) {
    const Place& place = place_of(visitor);
    return place.visitor == visitor ? place.agent : kNoAgent;
  }

 private:
  struct Place {
    uint64_t visitor = 0;
    uint32_t agent = kNoAgent;
  };

  [[nodiscard]] Place& place_of(uint64_t visitor) { return places_[visitor & (places_.size() - 1)]; }

  std::pmr::vector<Place> places_;
};

}  // namespace taut::chat
