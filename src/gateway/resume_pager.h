// Sends missed items page by page, so that a client far behind delays nobody.
#pragma once

#include <cstdint>
#include <vector>

#include "base/slot_map.h"
#include "chat/types.h"
#include "core/shard.h"
#include "gateway/durable_courier.h"
#include "gateway/mails.h"

namespace taut::gateway {

class Conversations;
struct ConversationRecord;

/// One cursor per connection and resumed conversation. A page is at most chat::kPageItemsMax items; the next
/// follows when the connection has taken it. Owner thread only.
class ResumePager {
 public:
  ResumePager(Shard& shard, DurableCourier& courier, Conversations& conversations)
      : shard_(shard), courier_(courier), conversations_(conversations), cursors_(shard.id()) {}

  /// The connection gets the items from `next` on, whatever is appended meanwhile, then `resumed`; or `gap`
  /// when the conversation is forgotten meanwhile.
  void start(Handle connection, const ConversationRecord& record, uint64_t next, bool for_visitor);

  void on_page_taken(const PageTaken& taken);
  [[nodiscard]] bool has_work() const { return !ready_.empty(); }
  void continue_work();

 private:
  struct Cursor {
    explicit Cursor(Handle handle) : self(handle) {}
    Handle self;
    Handle connection;
    Handle conversation;
    chat::InlineId conversation_id;
    uint64_t next = 0;
    bool for_visitor = false;
  };

  void send_page(Cursor& cursor);
  void say_expired(Cursor& cursor, const ConversationRecord& record);
  void finish(Cursor& cursor);

  Shard& shard_;
  DurableCourier& courier_;
  Conversations& conversations_;
  SlotMap<Cursor> cursors_;
  std::vector<Handle> ready_;
};

}  // namespace taut::gateway
