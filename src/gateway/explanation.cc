#include "gateway/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/identity.h"
#include "gateway/block_front.h"
#include "gateway/conversation_id.h"
#include "gateway/conversations.h"

namespace taut::gateway {

namespace {

void send(Shard& shard, MailKind kind, ShardId to, const InquiryMail& mail) {
  shard.send(to, mail_of(kind, mail));
}

/// Asks for one page after the other, so that the dispatcher never looks at more than one at a time.
class ExplainInquiry final : public Inquiry {
 public:
  ExplainInquiry(std::string_view id, ShardId home, ShardId dispatcher,
                 const std::vector<std::string>& groups)
      : id_(id), home_(home), dispatcher_(dispatcher), groups_(groups) {}

  std::optional<HttpAnswer> ask(Shard& shard, Handle self) override {
    return ask_shard(shard, self, MailKind::explain_visit, home_, ExplanationPage{.id = id_});
  }

  std::optional<HttpAnswer> on_answer(Shard& shard, Handle self, Block* block) override {
    auto page = front_of<ExplanationPage>(*block);
    if (page.conversation && page.found.state == chat::ConversationState::queued) {
      add(page);
      if (page.found.next != 0) {
        page.from = page.found.next;
        set_front(*block, page);
        send(shard, MailKind::explain_wanted, dispatcher_, {.asker = self, .block = block});
        return std::nullopt;
      }
      json_ += "]}\n";
    }
    shard.pool().release(block);
    if (!page.conversation) return HttpAnswer{.status = 404, .problem = "no such conversation"};
    if (page.found.state != chat::ConversationState::queued) return refuse(page);
    return HttpAnswer{.content_type = "application/json", .body = std::move(json_)};
  }

 private:
  /// Ids and the protocol's words: nothing to escape.
  void add(const ExplanationPage& page) {
    const char* comma = ",";
    if (json_.empty()) {
      comma = "";
      json_ = fmt::format(R"({{"conversation":"{}","group":"{}","state":"{}")", id_.view(),
                          groups_[page.found.group], name(page.found.state));
      if (page.found.position != 0) json_ += fmt::format(R"(,"position":{})", page.found.position);
      json_ += R"(,"agents":[)";
    }
    for (uint32_t i = 0; i < page.found.count; ++i) {
      const auto& [id, how] = page.agents[i];
      if (json_.back() == '[') comma = "";
      json_ += fmt::format(R"({}{{"agent":"{}","exclusion":"{}","presence":"{}","load":{},"capacity":{}}})",
                           comma, id.view(), name(how.exclusion), name(how.presence), how.load, how.capacity);
      comma = ",";
    }
  }

  static HttpAnswer refuse(const ExplanationPage& page) {
    std::string words = fmt::format("it does not wait, it is {}", name(page.found.state));
    if (!page.owner.empty()) words += fmt::format(", and agent {} has it", page.owner.view());
    return {.status = 409, .problem = std::move(words)};
  }

  chat::InlineId id_;
  ShardId home_;
  ShardId dispatcher_;
  const std::vector<std::string>& groups_;
  std::string json_;
};

}  // namespace

void visit(Shard& shard, Conversations& conversations, ShardId dispatcher, const InquiryMail& mail) {
  auto page = front_of<ExplanationPage>(*mail.block);
  const ConversationRecord* record = conversations.find(page.id.view());
  if (record == nullptr) return send(shard, MailKind::inquiry_answered, mail.asker.shard(), mail);
  page.conversation = record->self;
  set_front(*mail.block, page);
  send(shard, MailKind::explain_wanted, dispatcher, mail);
}

void explain(Shard& shard, const chat::Dispatcher& dispatcher, const InquiryMail& mail) {
  auto page = front_of<ExplanationPage>(*mail.block);
  std::array<chat::Dispatcher::Explained, ExplanationPage::kAgentsMax> agents;
  page.found = dispatcher.explain(page.conversation, page.from, agents);
  for (uint32_t i = 0; i < page.found.count; ++i) {
    page.agents[i] = {.id = chat::InlineId(dispatcher.agent_id(agents[i].agent_index)), .how = agents[i]};
  }
  if (page.found.owner != chat::kNoAgent) page.owner = chat::InlineId(dispatcher.agent_id(page.found.owner));
  set_front(*mail.block, page);
  send(shard, MailKind::inquiry_answered, mail.asker.shard(), mail);
}

HttpReply explain_conversation(std::string_view id, const Layout& layout,
                               const std::vector<std::string>& groups) {
  const std::optional<uint32_t> partition = partition_of_conversation(id);
  if (!partition || !valid_id(id)) return HttpAnswer{.status = 404, .problem = "no such conversation"};
  return std::make_unique<ExplainInquiry>(id, shard_of(*partition, layout.chat_shards), layout.dispatcher(),
                                          groups);
}

}  // namespace taut::gateway
