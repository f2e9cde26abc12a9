#include "sim/administrator.h"

#include <string>
#include <utility>
#include <variant>

#include "base/assert.h"
#include "gateway/blocking.h"
#include "gateway/mails.h"

namespace taut::sim {

void Administrator::order(std::string_view visitor, uint32_t seconds) {
  TAUT_ASSERT(idle());
  gateway::HttpReply reply =
      seconds == 0 ? gateway::unblock_visitor(visitor, layout_)
                   : gateway::block_visitor(visitor, "seconds=" + std::to_string(seconds), layout_);
  inquiry_ = std::move(std::get<std::unique_ptr<gateway::Inquiry>>(reply));
  wants_to_ask_ = true;
}

void Administrator::continue_work() {
  wants_to_ask_ = false;
  const auto refusal = inquiry_->ask(*shard_, Handle(shard_->id(), 1, 0));
  TAUT_ASSERT(!refusal);
}

void Administrator::on_mail(ShardId /*from*/, std::span<const Mail> batch) {
  for (const Mail& mail : batch) {
    TAUT_ASSERT(mail.kind == static_cast<uint32_t>(gateway::MailKind::inquiry_answered));
    const auto answer =
        inquiry_->on_answer(*shard_, Handle(shard_->id(), 1, 0), mail.as<gateway::InquiryMail>().block);
    TAUT_ASSERT(answer && answer->status == 204);
    inquiry_.reset();
  }
}

}  // namespace taut::sim
