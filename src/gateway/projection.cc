#include "gateway/projection.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace taut::gateway {

namespace {

/// note_hidden is never journaled: a note is.
store::EventKind stored(wire::EventKind event) {
  switch (event) {
    case wire::EventKind::opened:
      return store::EventKind::opened;
    case wire::EventKind::assigned:
      return store::EventKind::assigned;
    case wire::EventKind::accepted:
      return store::EventKind::accepted;
    case wire::EventKind::transferred:
      return store::EventKind::transferred;
    case wire::EventKind::requeued:
      return store::EventKind::requeued;
    case wire::EventKind::closed:
      return store::EventKind::closed;
    case wire::EventKind::reopened:
      return store::EventKind::reopened;
    case wire::EventKind::rated:
      return store::EventKind::rated;
    case wire::EventKind::note_hidden:
      break;
  }
  return store::EventKind::none;
}

store::PartyKind stored(wire::PartyKind kind) {
  switch (kind) {
    case wire::PartyKind::visitor:
      return store::PartyKind::visitor;
    case wire::PartyKind::agent:
      return store::PartyKind::agent;
    case wire::PartyKind::bot:
      return store::PartyKind::bot;
    case wire::PartyKind::system:
      break;
  }
  return store::PartyKind::system;
}

}  // namespace

Status Projection::add(const journal::Record& record) {
  store::StoredRecord stored{.sequence = record.sequence, .time_ms = record.time_ms, .content = {}};
  if (const Status read = this->read(record, stored); !read) {
    return fail("record " + std::to_string(record.sequence) + ": " + read.error().message);
  }
  records_.push_back(stored);
  return {};
}

void Projection::clear() {
  records_.clear();
  memory_.release();
}

Status Projection::read(const journal::Record& record, store::StoredRecord& out) {
  if (record.type == journal::RecordType::item) return read_item(record.payload, out);
  if (record.type == journal::RecordType::conversation) {
    wire::ConversationFacts facts;
    if (Status read = reader_.read(record.payload, facts); !read) return read;
    out.content = store::ConversationFacts{.conversation = keep(facts.conversation),
                                           .group = keep(facts.group),
                                           .visitor = keep(facts.visitor),
                                           .json = keep(record.payload)};
  } else if (record.type == journal::RecordType::receipts) {
    wire::Marks marks;
    if (Status read = reader_.read(record.payload, marks); !read) return read;
    out.content = store::Receipts{.conversation = keep(marks.conversation),
                                  .visitor_delivered = marks.visitor_delivered,
                                  .visitor_read = marks.visitor_read,
                                  .agent_delivered = marks.agent_delivered,
                                  .agent_read = marks.agent_read};
  } else if (record.type == journal::RecordType::forgotten) {
    wire::VisitorForgotten forgotten;
    if (Status read = reader_.read(record.payload, forgotten); !read) return read;
    out.content = store::Forgotten{.visitor = keep(forgotten.visitor)};
  }
  return {};
}

Status Projection::read_item(std::string_view json, store::StoredRecord& out) {
  if (Status read = reader_.read(json, item_); !read) return read;
  if (const auto* message = std::get_if<wire::Message>(&item_)) {
    const bool note = message->kind == wire::ItemKind::note;
    out.content = store::Item{.conversation = keep(message->conversation),
                              .epoch = message->epoch,
                              .seq = message->seq,
                              .ts_ms = static_cast<int64_t>(message->ts),
                              .kind = note ? store::ItemKind::note : store::ItemKind::text,
                              .sender_kind = stored(message->from.kind),
                              .sender = keep(message->from.id),
                              .text = keep(message->text),
                              .json = keep(json)};
  } else {
    const auto& event = std::get<wire::Event>(item_);
    out.content = store::Item{.conversation = keep(event.conversation),
                              .epoch = event.epoch,
                              .seq = event.seq,
                              .ts_ms = static_cast<int64_t>(event.ts),
                              .kind = store::ItemKind::event,
                              .event = stored(event.event),
                              .agent = keep(event.agent),
                              .group = keep(event.group),
                              .text = keep(event.text),
                              .json = keep(json)};
  }
  return {};
}

std::string_view Projection::keep(std::string_view text) {
  if (text.empty()) return {};
  char* const copy = static_cast<char*>(memory_.allocate(text.size(), 1));
  std::ranges::copy(text, copy);
  return {copy, text.size()};
}

}  // namespace taut::gateway
