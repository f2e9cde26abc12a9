// DELETE /v1/visitors/{id}: from the HTTP service to the visitor's home shard, then to the archive, and a
// receipt.
#pragma once

#include <cstdint>
#include <string_view>

#include "chat/types.h"
#include "gateway/inquiry.h"
#include "gateway/layout.h"
#include "gateway/mails.h"

namespace taut::gateway {

class Conversations;

/// What travels in the block, there and back.
struct ForgetOrder {
  enum class Outcome : uint8_t {
    done,     ///< durable, where there is a journal
    refused,  ///< by the disk: nothing was done
    unknown   ///< the server ends before it is durable
  };

  chat::InlineId visitor;
  uint64_t conversations = 0;  ///< that memory had
  uint64_t items = 0;
  Outcome outcome = Outcome::done;
};

[[nodiscard]] HttpReply forget_visitor(std::string_view id, const Layout& layout);

/// The stop at the visitor's home shard; its thread only.
void carry_out_forgetting(Conversations& conversations, const InquiryMail& mail);

}  // namespace taut::gateway
