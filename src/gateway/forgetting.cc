#include "gateway/forgetting.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>

#include "base/identity.h"
#include "gateway/archive_questions.h"
#include "gateway/block_front.h"
#include "gateway/conversation_index.h"
#include "gateway/conversations.h"
#include "gateway/message_hash.h"

namespace taut::gateway {

namespace {

constexpr std::string_view kForgotten = "forgotten";

class ForgetInquiry final : public Inquiry {
 public:
  ForgetInquiry(std::string_view visitor, const Layout& layout) : layout_(layout) {
    order_.visitor = chat::InlineId(visitor);
  }

  std::optional<HttpAnswer> ask(Shard& shard, Handle self) override {
    const ShardId home = shard_of(partition_of(Role::visitor, order_.visitor.view()), layout_.chat_shards);
    return ask_shard(shard, self, MailKind::forget_wanted, home, order_);
  }

  std::optional<HttpAnswer> on_answer(Shard& shard, Handle self, Block* block) override {
    order_ = front_of<ForgetOrder>(*block);
    shard.pool().release(block);
    if (order_.outcome == ForgetOrder::Outcome::refused)
      return HttpAnswer{.status = 503, .problem = "the disk takes nothing now; nothing was done"};
    if (order_.outcome == ForgetOrder::Outcome::unknown)
      return HttpAnswer{.status = 503, .problem = "the server ends; ask again when it is back"};
    accepted_ = true;
    if (layout_.archive() == kNobody) return receipt(nullptr);
    auto question = std::make_unique<ArchiveQuestion>(
        ArchiveQuestion{.kind = ArchiveQuestion::Kind::forgotten, .id = std::string(order_.visitor.view())});
    shard.send(layout_.archive(),
               mail_of(MailKind::archive_asked, ArchiveMail{.asker = self, .question = question.release()}));
    return std::nullopt;
  }

  HttpAnswer on_archive(ArchiveQuestion& question) override { return receipt(&question); }

  HttpAnswer on_late() override { return accepted_ ? receipt(nullptr) : Inquiry::on_late(); }

 private:
  /// Ids and numbers: nothing to escape. `question` is null where the archive has not answered.
  [[nodiscard]] HttpAnswer receipt(const ArchiveQuestion* question) const {
    std::string json = fmt::format(R"({{"visitor":"{}","memory":{{"conversations":{},"items":{}}})",
                                   order_.visitor.view(), order_.conversations, order_.items);
    const bool in_history = question != nullptr && question->removed;
    if (in_history) {
      const store::Removal& removed = *question->removed;
      json += fmt::format(R"(,"history":{{"conversations":{},"items":{},"bytes":{}}})", removed.conversations,
                          removed.items, removed.bytes);
    }
    json += R"(,"pending":[)";
    if (layout_.archive() != kNobody && !in_history) json += R"("history",)";
    if (layout_.journal) json += R"("journal",)";
    if (json.ends_with(',')) json.pop_back();
    return {
        .status = layout_.journal ? 202U : 200U, .content_type = "application/json", .body = json + "]}\n"};
  }

  const Layout layout_;
  ForgetOrder order_;
  bool accepted_ = false;
};

}  // namespace

HttpReply forget_visitor(std::string_view id, const Layout& layout) {
  if (!valid_id(id)) return HttpAnswer{.status = 404, .problem = "no visitor can have this id"};
  return std::make_unique<ForgetInquiry>(id, layout);
}

void carry_out_forgetting(Conversations& conversations, const InquiryMail& mail) {
  const auto order = front_of<ForgetOrder>(*mail.block);
  conversations.forget_visitor(order.visitor.view(), mail);
}

// -- at home --

/// What follows may forget closed ones by itself, so they are looked for again.
void Conversations::forget_visitor(std::string_view id, const InquiryMail& mail) {
  auto order = front_of<ForgetOrder>(*mail.block);
  if (feed_.on() && feed_.refuses()) {
    order.outcome = ForgetOrder::Outcome::refused;
    set_front(*mail.block, order);
    shard_.send(mail.asker.shard(), mail_of(MailKind::inquiry_answered, mail));
    return;
  }
  for (const Handle handle : index_->all_of(id)) {
    ConversationRecord* record = records_.find(handle);
    if (record == nullptr) continue;
    ++order.conversations;
    order.items += record->machine.items().size();
    answer_openers(*record);
    const chat::Change change = record->machine.close({.kind = chat::PartyKind::system, .id = {}});
    if (change.changed) finish_close(*record, change, {}, kForgotten, nullptr);
  }
  for (const Handle handle : index_->all_of(id)) forget(*records_.find(handle));
  last_agents_.forget(hash_id(id, options_.hash_seed).high);
  set_front(*mail.block, order);
  const uint64_t number = feed_.on() ? feed_.append(journal::RecordType::forgotten,
                                                    wire::VisitorForgotten{.visitor = id}, wall_ms())
                                     : 0;
  forgetting_.push_back({.number = number, .mail = mail});
  answer_forgotten(false);
}

void Conversations::stop() {
  answer_forgotten(true);
}

void Conversations::answer_forgotten(bool all) {
  while (!forgetting_.empty()) {
    const auto& [number, mail] = forgetting_.front();
    const bool durable = !feed_.on() || feed_.is_durable(number);
    if (!durable && !all) return;
    if (!durable) {
      auto order = front_of<ForgetOrder>(*mail.block);
      order.outcome = ForgetOrder::Outcome::unknown;
      set_front(*mail.block, order);
    }
    shard_.send(mail.asker.shard(), mail_of(MailKind::inquiry_answered, mail));
    forgetting_.erase(forgetting_.begin());
  }
}

}  // namespace taut::gateway
