#include "gateway/history_api.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "base/assert.h"
#include "base/identity.h"
#include "gateway/archive_questions.h"
#include "gateway/mails.h"
#include "gateway/query.h"
#include "gateway/wire_terms.h"
#include "store/history.h"
#include "wire/chat_codes.h"
#include "wire/name_table.h"

namespace taut::gateway {

namespace {

constexpr std::string_view kConversations = "/v1/conversations";
constexpr std::string_view kVisitors = "/v1/visitors/";
constexpr std::string_view kItems = "/items";
constexpr std::string_view kExport = "/export";
constexpr uint64_t kLimitDefault = 50;

class ArchiveInquiry final : public Inquiry {
 public:
  ArchiveInquiry(ArchiveQuestion question, ShardId archive)
      : question_(std::make_unique<ArchiveQuestion>(std::move(question))), archive_(archive) {}

  std::optional<HttpAnswer> ask(Shard& shard, Handle self) override {
    shard.send(archive_,
               mail_of(MailKind::archive_asked, ArchiveMail{.asker = self, .question = question_.release()}));
    return std::nullopt;
  }
  std::optional<HttpAnswer> on_answer(Shard& /*shard*/, Handle /*self*/, Block* /*block*/) override {
    TAUT_UNREACHABLE("the archive answers by a mail of its own");
  }

 private:
  std::unique_ptr<ArchiveQuestion> question_;
  ShardId archive_;
};

HttpAnswer refusal(const Error& error) {
  return {.status = 400, .problem = error.message};
}

Result<std::optional<store::ConversationState>> state_of(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const std::optional<wire::ConversationState> state = wire::value_of(text, wire::ConversationState::closed);
  if (!state) return fail("state: must be queued, assigned, active or closed");
  return store_term(*state);
}

Result<ArchiveQuestion> list_question(std::string_view query_text) {
  const Result<Query> query = Query::parse(query_text, {"state", "agent", "visitor", "q", "cursor", "limit"});
  if (!query) return std::unexpected(query.error());
  const auto state = state_of(query->value("state"));
  if (!state) return std::unexpected(state.error());
  const auto cursor = query->number("cursor", 0, 1, INT64_MAX);
  if (!cursor) return std::unexpected(cursor.error());
  const auto limit = query->number("limit", kLimitDefault, 1, store::kPageMax);
  if (!limit) return std::unexpected(limit.error());
  if (query->value("q").size() > store::kQueryBytesMax) return fail("q: is longer than 1024 bytes");
  return ArchiveQuestion{.kind = ArchiveQuestion::Kind::conversations,
                         .state = *state,
                         .agent = std::string(query->value("agent")),
                         .visitor = std::string(query->value("visitor")),
                         .text = std::string(query->value("q")),
                         .cursor = *cursor,
                         .limit = static_cast<uint32_t>(*limit)};
}

Result<ArchiveQuestion> items_question(std::string_view conversation, std::string_view query_text) {
  const Result<Query> query = Query::parse(query_text, {"before", "after", "limit"});
  if (!query) return std::unexpected(query.error());
  const bool after = !query->value("after").empty();
  if (after && !query->value("before").empty()) return fail("before and after: give one of them, or none");
  const auto seq = query->number(after ? "after" : "before", 0, 0, wire::kIntegerMax);
  if (!seq) return std::unexpected(seq.error());
  const auto limit = query->number("limit", kLimitDefault, 1, store::kPageMax);
  if (!limit) return std::unexpected(limit.error());
  return ArchiveQuestion{
      .kind = ArchiveQuestion::Kind::items,
      .id = std::string(conversation),
      .range = {.side = after ? store::ItemRange::Side::after : store::ItemRange::Side::before,
                .seq = *seq,
                .limit = static_cast<uint32_t>(*limit)}};
}

/// What the path asks for, or nothing for one that is not ours.
std::optional<Result<ArchiveQuestion>> question_of(std::string_view path, std::string_view query) {
  if (path == kConversations) return list_question(query);
  if (path.starts_with(kVisitors) && path.ends_with(kExport) &&
      path.size() > kVisitors.size() + kExport.size()) {
    path.remove_prefix(kVisitors.size());
    path.remove_suffix(kExport.size());
    return ArchiveQuestion{.kind = ArchiveQuestion::Kind::visitor, .id = std::string(path)};
  }
  if (!path.starts_with(kConversations) || path[kConversations.size()] != '/') return std::nullopt;
  path.remove_prefix(kConversations.size() + 1);
  if (path.ends_with(kItems)) return items_question(path.substr(0, path.size() - kItems.size()), query);
  return ArchiveQuestion{.kind = ArchiveQuestion::Kind::conversation, .id = std::string(path)};
}

}  // namespace

std::optional<HttpReply> get_history(std::string_view path, std::string_view query, const Layout& layout) {
  std::optional<Result<ArchiveQuestion>> question = question_of(path, query);
  if (!question) return std::nullopt;
  if (layout.archive() == kNobody)
    return HttpAnswer{.status = 404, .problem = "no history is kept: it needs --data and a --store"};
  if (!*question) return refusal(question->error());
  if ((*question)->kind != ArchiveQuestion::Kind::conversations && !valid_id((*question)->id))
    return HttpAnswer{.status = 404, .problem = "nothing can have this id"};
  return std::make_unique<ArchiveInquiry>(**std::move(question), layout.archive());
}

}  // namespace taut::gateway
