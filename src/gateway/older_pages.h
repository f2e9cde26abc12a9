// Pages of `history` that a shard's memory no longer has: asked of the archive, answered when it answers.
#pragma once

#include <cstdint>

#include "base/slot_map.h"
#include "chat/types.h"
#include "core/shard.h"
#include "gateway/conversation_request.h"
#include "gateway/durable_courier.h"
#include "gateway/mails.h"

namespace taut::gateway {

/// The question, at the front of the block.
struct OlderPage {
  chat::InlineId conversation;
  chat::InlineId reader;
  uint64_t groups = 0;  ///< the reader's, of an agent
  uint64_t before = 0;
  uint32_t limit = 0;
  uint32_t ref = 0;
  bool visitor = false;
  bool known = false;   ///< the conversation is in memory, and the reader may read it
  bool durable = true;  ///< so is all of it that memory has let go of
};

/// One per chat shard, its thread only. Never waits and keeps what is on its way bounded: a store that is
/// slow or stopped costs its askers an error that they may repeat, and nobody else anything.
class OlderPages {
 public:
  static constexpr uint32_t kTimer = 49;
  /// Questions of a shard that the archive has at once.
  static constexpr uint32_t kAskedMax = 16;
  static constexpr int64_t kPatienceNs = 5'000'000'000;

  /// `archive` is kNobody where there is no store.
  OlderPages(Shard& shard, DurableCourier& courier, ShardId archive);
  OlderPages(const OlderPages&) = delete;
  OlderPages& operator=(const OlderPages&) = delete;
  ~OlderPages();

  [[nodiscard]] bool on() const { return archive_ != kNobody; }
  /// A history request; `known` and `durable` as above. It is answered sooner or later. REQUIRES: on().
  void ask(const ConversationRequest& request, bool known, bool durable);
  void on_answer(const OlderPageMail& mail);
  /// Answers for the archive where it has not.
  void on_timer();

 private:
  struct Asked {
    Handle self;
    Handle connection;
    chat::InlineId conversation;
    int64_t until_ns = 0;
    uint32_t ref = 0;
    bool answered = false;  ///< by us, since the archive was late
    explicit Asked(Handle handle) : self(handle) {}
  };

  void refuse(Handle connection, uint32_t ref, std::string_view conversation, wire::ErrorCode code,
              std::string_view message);
  void refuse(const Asked& asked, OlderPageOutcome outcome);

  Shard& shard_;
  DurableCourier& courier_;
  const ShardId archive_;
  SlotMap<Asked> asked_;
  Timer late_{kTimer, 0};
};

}  // namespace taut::gateway
