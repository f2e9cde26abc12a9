#include "gateway/archive_questions.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "chat/types.h"
#include "gateway/block_front.h"
#include "gateway/group_names.h"
#include "gateway/item_frames.h"
#include "gateway/older_pages.h"
#include "gateway/wire_terms.h"
#include "wire/chat_writer.h"

namespace taut::gateway {

namespace {

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kJsonLines = "application/jsonl";

/// Ids and the protocol's words, and an object as it was journaled: nothing to escape.
std::string conversation_json(const store::ConversationRow& row) {
  std::string json = fmt::format(R"({{"conversation":"{}","visitor":"{}","group":"{}","state":"{}",)", row.id,
                                 row.visitor, row.group, wire::name_of(wire_term(row.state)));
  if (!row.agent.empty()) json += fmt::format(R"("agent":"{}",)", row.agent);
  json += fmt::format(
      R"("opened_ms":{},"last_ms":{},"epoch":{},"seq":{},"visitor_delivered":{},"visitor_read":{},)"
      R"("agent_delivered":{},"agent_read":{},"facts":{}}})",
      row.opened_ms, row.last_ms, row.epoch, row.seq, row.visitor_delivered, row.visitor_read,
      row.agent_delivered, row.agent_read, row.json);
  return json;
}

Result<HttpAnswer> conversations_of(store::HistoryStore& store, const ArchiveQuestion& question) {
  const Result<store::ConversationPage> page = store.conversations({.state = question.state,
                                                                    .agent = question.agent,
                                                                    .visitor = question.visitor,
                                                                    .text = question.text,
                                                                    .cursor = question.cursor,
                                                                    .limit = question.limit});
  if (!page) return std::unexpected(page.error());
  HttpAnswer answer{.content_type = kJson, .body = R"({"conversations":[)"};
  for (const store::ConversationRow& row : page->conversations) {
    if (&row != page->conversations.data()) answer.body += ',';
    answer.body += conversation_json(row);
  }
  answer.body += ']';
  if (page->cursor != 0) answer.body += fmt::format(R"(,"cursor":"{}")", page->cursor);
  answer.body += "}\n";
  return answer;
}

HttpAnswer no_such_conversation() {
  return {.status = 404, .problem = "the history has no such conversation"};
}

Result<HttpAnswer> conversation_of(store::HistoryStore& store, const ArchiveQuestion& question) {
  const auto row = store.conversation(question.id);
  if (!row) return std::unexpected(row.error());
  if (!*row) return no_such_conversation();
  return HttpAnswer{.content_type = kJson, .body = conversation_json(**row) + "\n"};
}

Result<HttpAnswer> items_of(store::HistoryStore& store, const ArchiveQuestion& question) {
  const Result<store::ItemPage> page = store.items(question.id, question.range, store::Audience::agent);
  if (!page) return std::unexpected(page.error());
  if (page->items.empty()) {
    const auto row = store.conversation(question.id);
    if (!row) return std::unexpected(row.error());
    if (!*row) return no_such_conversation();
  }
  HttpAnswer answer{.content_type = kJson,
                    .body = fmt::format(R"({{"conversation":"{}","items":[)", question.id)};
  for (const store::ItemRow& item : page->items) {
    if (&item != page->items.data()) answer.body += ',';
    answer.body += item.json;
  }
  answer.body += fmt::format(R"(],"more":{}}})"
                             "\n",
                             page->more);
  return answer;
}

Result<HttpAnswer> visitor_of(store::HistoryStore& store, const ArchiveQuestion& question) {
  HttpAnswer answer{.content_type = kJsonLines};
  bool too_long = false;
  const Status exported = store.export_visitor(question.id, [&](std::string_view line) {
    too_long = answer.body.size() + line.size() + 1 > kExportBytesMax;
    if (too_long) return Status(fail("too long"));
    answer.body.append(line).append("\n");
    return Status();
  });
  if (too_long) {
    return HttpAnswer{.status = 413,
                      .problem =
                          "there is more than 64 MiB of this visitor: read it page by page, "
                          "/v1/conversations?visitor= and the items of each"};
  }
  if (!exported) return std::unexpected(exported.error());
  return answer;
}

/// What the reader may see, in the place of notes too.
std::vector<std::string> objects_of(const OlderPage& wanted, store::ItemPage page) {
  std::vector<std::string> objects;
  objects.reserve(page.items.size());
  for (store::ItemRow& item : page.items) {
    if (item.json.empty()) {
      const wire::Event hidden{.conversation = wanted.conversation.view(),
                               .epoch = item.epoch,
                               .seq = item.seq,
                               .event = wire::EventKind::note_hidden,
                               .ts = static_cast<uint64_t>(item.ts_ms)};
      item.json.resize(wire::max_size(hidden));
      item.json.resize(wire::write(item.json, hidden).size);
    }
    objects.push_back(std::move(item.json));
  }
  return objects;
}

/// Of one that is not in memory. A group that is no longer configured counts as the first, as at a start.
Result<OlderPageOutcome> admit(store::HistoryStore& store, const std::vector<std::string>& groups,
                               bool caught_up, const OlderPage& wanted) {
  const auto row = store.conversation(wanted.conversation.view());
  if (!row) return std::unexpected(row.error());
  if (!*row) return caught_up ? OlderPageOutcome::no_such_conversation : OlderPageOutcome::behind;
  if (wanted.visitor) {
    return (*row)->visitor == wanted.reader.view() ? OlderPageOutcome::found
                                                   : OlderPageOutcome::no_such_conversation;
  }
  const chat::GroupId group = find_group(groups, (*row)->group).value_or(0);
  return (wanted.groups & chat::group_bit(group)) != 0 ? OlderPageOutcome::found
                                                       : OlderPageOutcome::not_yours;
}

}  // namespace

HttpAnswer Inquiry::on_archive(ArchiveQuestion& question) {
  return std::move(question.answer);
}

Result<HttpAnswer> answer_of(store::HistoryStore& store, const ArchiveQuestion& question) {
  switch (question.kind) {
    case ArchiveQuestion::Kind::conversations:
      return conversations_of(store, question);
    case ArchiveQuestion::Kind::conversation:
      return conversation_of(store, question);
    case ArchiveQuestion::Kind::items:
      return items_of(store, question);
    case ArchiveQuestion::Kind::visitor:
      return visitor_of(store, question);
    case ArchiveQuestion::Kind::forgotten:
      break;  // the archive itself knows
  }
  return HttpAnswer{.status = 500, .problem = "no such question"};
}

Result<OlderPageOutcome> answer_older_page(store::HistoryStore& store, const std::vector<std::string>& groups,
                                           bool caught_up, Block& block) {
  const auto wanted = front_of<OlderPage>(block);
  if (!wanted.known) {
    const Result<OlderPageOutcome> admitted = admit(store, groups, caught_up, wanted);
    if (!admitted || *admitted != OlderPageOutcome::found) return admitted;
  }
  Result<store::ItemPage> page =
      store.items(wanted.conversation.view(),
                  {.side = store::ItemRange::Side::before,
                   .seq = wanted.before,
                   .limit = std::clamp(wanted.limit, 1U, store::kPageMax)},
                  wanted.visitor ? store::Audience::visitor : store::Audience::agent);
  if (!page) return std::unexpected(page.error());
  const bool reaches = !page->items.empty() && page->items.back().seq + 1 == wanted.before;
  // All that is older than what memory has is given to the journal. Once that is durable, either it is here,
  // or it is no longer kept.
  if (wanted.known && !reaches && !(caught_up && wanted.durable)) return OlderPageOutcome::behind;
  const bool more = page->more;
  const std::vector<std::string> objects = objects_of(wanted, *std::move(page));
  const std::vector<std::string_view> views(objects.begin(), objects.end());
  block.written = 0;
  write_history(block, wanted.ref, wanted.conversation.view(), views, more);
  return OlderPageOutcome::found;
}

}  // namespace taut::gateway
