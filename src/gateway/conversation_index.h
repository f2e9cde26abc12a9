// Where a shard's conversations are found: by their id, and all of a visitor.
#pragma once

#include <bit>
#include <boost/intrusive/unordered_set.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "base/handle.h"
#include "gateway/conversations.h"

namespace taut::gateway {

/// One thread. Never allocates after its construction, as long as there are no more than it was made for. A
/// record leaves before it goes; its id and its visitor's do not change meanwhile.
class ConversationIndex {
 public:
  explicit ConversationIndex(uint32_t conversations_max)
      : buckets_(std::bit_ceil(uint64_t{conversations_max} + 1)),
        by_visitor_(ByVisitor::bucket_traits(buckets_.data(), buckets_.size())) {
    by_id_.reserve(conversations_max);
  }

  void insert(ConversationRecord& record) {
    by_id_.insert(&record);
    by_visitor_.insert(record);
  }
  void erase(ConversationRecord& record) {
    by_id_.erase(&record);
    by_visitor_.erase(by_visitor_.iterator_to(record));
  }

  /// nullptr: there is none.
  [[nodiscard]] ConversationRecord* find(std::string_view id) const {
    const auto it = by_id_.find(id);
    return it == by_id_.end() ? nullptr : *it;
  }
  /// In no order.
  [[nodiscard]] std::vector<Handle> all_of(std::string_view visitor) const {
    std::vector<Handle> handles;
    const auto [first, last] = by_visitor_.equal_range(visitor, VisitorHash{}, VisitorEqual{});
    for (auto it = first; it != last; ++it) handles.push_back(it->self);
    return handles;
  }

 private:
  static std::string_view id_of(const ConversationRecord* record) { return record->machine.id(); }
  static std::string_view id_of(std::string_view id) { return id; }
  static std::string_view visitor_of(const ConversationRecord& record) { return record.visitor_id; }
  static std::string_view visitor_of(std::string_view id) { return id; }

  struct IdHash {
    using is_transparent = void;
    size_t operator()(const auto& value) const { return std::hash<std::string_view>{}(id_of(value)); }
  };
  struct IdEqual {
    using is_transparent = void;
    bool operator()(const auto& a, const auto& b) const { return id_of(a) == id_of(b); }
  };
  struct VisitorHash {
    size_t operator()(const auto& value) const { return std::hash<std::string_view>{}(visitor_of(value)); }
  };
  struct VisitorEqual {
    bool operator()(const auto& a, const auto& b) const { return visitor_of(a) == visitor_of(b); }
  };
  using ByVisitor = boost::intrusive::unordered_multiset<
      ConversationRecord,
      boost::intrusive::member_hook<ConversationRecord, boost::intrusive::unordered_set_member_hook<>,
                                    &ConversationRecord::visitor_hook>,
      boost::intrusive::hash<VisitorHash>, boost::intrusive::equal<VisitorEqual>,
      boost::intrusive::power_2_buckets<true>>;

  boost::unordered_flat_set<ConversationRecord*, IdHash, IdEqual> by_id_;
  std::vector<ByVisitor::bucket_type> buckets_;
  ByVisitor by_visitor_;
};

}  // namespace taut::gateway
