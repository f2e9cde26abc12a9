#include "gateway/blocking.h"

#include <charconv>
#include <memory>
#include <optional>

#include "base/identity.h"
#include "gateway/block_front.h"
#include "gateway/blocked_visitors.h"
#include "gateway/conversations.h"
#include "wire/chat_codes.h"

namespace taut::gateway {

namespace {

/// What travels in the block.
struct BlockOrder {
  chat::InlineId visitor;
  uint32_t seconds = 0;  ///< 0: no longer
};

class BlockInquiry final : public Inquiry {
 public:
  BlockInquiry(std::string_view visitor, uint32_t seconds, ShardId home)
      : order_{.visitor = chat::InlineId(visitor), .seconds = seconds}, home_(home) {}

  std::optional<HttpAnswer> ask(Shard& shard, Handle self) override {
    return ask_shard(shard, self, MailKind::block_wanted, home_, order_);
  }

  std::optional<HttpAnswer> on_answer(Shard& shard, Handle /*self*/, Block* block) override {
    shard.pool().release(block);
    return HttpAnswer{.status = 204};
  }

 private:
  BlockOrder order_;
  ShardId home_;
};

HttpReply order(std::string_view id, uint32_t seconds, const Layout& layout) {
  if (!valid_id(id)) return HttpAnswer{.status = 404, .problem = "no visitor can have this id"};
  return std::make_unique<BlockInquiry>(id, seconds,
                                        shard_of(partition_of(Role::visitor, id), layout.chat_shards));
}

std::optional<uint32_t> seconds_of(std::string_view query) {
  constexpr std::string_view kName = "seconds=";
  if (query.empty()) return BlockedVisitors::kSecondsDefault;
  if (!query.starts_with(kName)) return std::nullopt;
  query.remove_prefix(kName.size());
  uint32_t seconds = 0;
  const auto [end, error] = std::from_chars(query.data(), query.data() + query.size(), seconds);
  const bool whole = error == std::errc{} && end == query.data() + query.size();
  return whole && seconds >= 1 && seconds <= wire::kBlockSecondsMax ? std::optional(seconds) : std::nullopt;
}

}  // namespace

HttpReply block_visitor(std::string_view id, std::string_view query, const Layout& layout) {
  const std::optional<uint32_t> seconds = seconds_of(query);
  if (!seconds)
    return HttpAnswer{.status = 400,
                      .problem = "the query may be seconds=N, from 1 to 31622400, and nothing else"};
  return order(id, *seconds, layout);
}

HttpReply unblock_visitor(std::string_view id, const Layout& layout) {
  return order(id, 0, layout);
}

void carry_out_block(Shard& shard, Conversations& conversations, const InquiryMail& mail) {
  const auto order = front_of<BlockOrder>(*mail.block);
  conversations.block_visitor(order.visitor.view(), order.seconds);
  shard.send(mail.asker.shard(), mail_of(MailKind::inquiry_answered, mail));
}

}  // namespace taut::gateway
