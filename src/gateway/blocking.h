// PUT and DELETE /v1/visitors/{id}/block: from the HTTP service to the visitor's home shard.
#pragma once

#include <string_view>

#include "core/shard.h"
#include "gateway/inquiry.h"
#include "gateway/layout.h"
#include "gateway/mails.h"

namespace taut::gateway {

class Conversations;

/// `query` may say seconds=N, 1 … wire::kBlockSecondsMax.
[[nodiscard]] HttpReply block_visitor(std::string_view id, std::string_view query, const Layout& layout);
[[nodiscard]] HttpReply unblock_visitor(std::string_view id, const Layout& layout);

/// The stop at the visitor's home shard; its thread only.
void carry_out_block(Shard& shard, Conversations& conversations, const InquiryMail& mail);

}  // namespace taut::gateway
