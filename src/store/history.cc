#include "store/history.h"

#include "base/identity.h"

namespace taut::store {

namespace {

Status export_items(HistoryStore& store, std::string_view conversation, const LineSink& sink) {
  ItemRange range{.side = ItemRange::Side::after, .seq = 0, .limit = kPageMax};
  while (true) {
    const Result<ItemPage> page = store.items(conversation, range, Audience::agent);
    if (!page) return std::unexpected(page.error());
    for (const ItemRow& item : page->items) {
      if (Status taken = sink(item.json); !taken) return taken;
    }
    if (!page->more) return {};
    range.seq = page->items.back().seq;
  }
}

}  // namespace

Status HistoryStore::export_visitor(std::string_view visitor, const LineSink& sink) {
  if (!valid_id(visitor)) return fail("visitor: is no id");
  ConversationFilter filter{.visitor = visitor, .limit = kPageMax};
  do {
    const Result<ConversationPage> page = conversations(filter);
    if (!page) return std::unexpected(page.error());
    for (const ConversationRow& row : page->conversations) {
      if (Status taken = sink(row.json); !taken) return taken;
      if (Status items = export_items(*this, row.id, sink); !items) return items;
    }
    filter.cursor = page->cursor;
  } while (filter.cursor != 0);
  return {};
}

}  // namespace taut::store
