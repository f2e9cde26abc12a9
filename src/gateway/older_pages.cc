#include "gateway/older_pages.h"

#include <algorithm>

#include "base/assert.h"
#include "gateway/block_front.h"

namespace taut::gateway {

namespace {

constexpr uint32_t kRetryMs = 1'000;

}  // namespace

OlderPages::OlderPages(Shard& shard, DurableCourier& courier, ShardId archive)
    : shard_(shard), courier_(courier), archive_(archive), asked_(shard.id()) {}

OlderPages::~OlderPages() {
  shard_.timers().cancel(late_);
}

void OlderPages::ask(const ConversationRequest& request, bool known, bool durable) {
  TAUT_ASSERT(on());
  const Requester& from = request.from;
  Block* block = asked_.size() < kAskedMax ? shard_.pool().allocate(BufferPool::kCapacityMax) : nullptr;
  if (block == nullptr) {
    return refuse(from.connection, from.ref, request.conversation, wire::ErrorCode::overloaded,
                  "too much of the history is asked for now");
  }
  set_front(*block, OlderPage{.conversation = chat::InlineId(request.conversation),
                              .reader = chat::InlineId(from.id),
                              .groups = from.groups,
                              .before = request.before,
                              .limit = request.limit,
                              .ref = from.ref,
                              .visitor = from.is_visitor(),
                              .known = known,
                              .durable = durable});
  Asked& asked = asked_.emplace();
  asked.connection = from.connection;
  asked.conversation = chat::InlineId(request.conversation);
  asked.until_ns = shard_.now_ns() + kPatienceNs;
  asked.ref = from.ref;
  shard_.send(archive_, mail_of(MailKind::older_wanted, OlderPageMail{.asker = asked.self, .block = block}));
  if (!late_.armed()) shard_.timers().arm(late_, asked.until_ns);
}

void OlderPages::on_answer(const OlderPageMail& mail) {
  Asked& asked = *asked_.find(mail.asker);
  if (mail.outcome == OlderPageOutcome::found && !asked.answered) {
    courier_.deliver({.to = asked.connection, .frame = mail.block, .lane = Lane::answer});
  } else {
    shard_.pool().release(mail.block);
    if (!asked.answered) refuse(asked, mail.outcome);
  }
  asked_.erase(mail.asker);
}

void OlderPages::on_timer() {
  int64_t next_ns = INT64_MAX;
  asked_.for_each([&](Handle, Asked& asked) {
    if (asked.answered) return;
    if (asked.until_ns > shard_.now_ns()) {
      next_ns = std::min(next_ns, asked.until_ns);
      return;
    }
    asked.answered = true;
    refuse(asked, OlderPageOutcome::failed);
  });
  if (next_ns != INT64_MAX) shard_.timers().arm(late_, next_ns);
}

void OlderPages::refuse(const Asked& asked, OlderPageOutcome outcome) {
  const auto say = [&](wire::ErrorCode code, std::string_view message) {
    refuse(asked.connection, asked.ref, asked.conversation.view(), code, message);
  };
  switch (outcome) {
    case OlderPageOutcome::no_such_conversation:
      return say(wire::ErrorCode::no_such_conversation, "no such conversation");
    case OlderPageOutcome::not_yours:
      return say(wire::ErrorCode::not_yours, "not a conversation of your groups");
    case OlderPageOutcome::behind:
      return say(wire::ErrorCode::overloaded, "the history has not come that far yet");
    case OlderPageOutcome::found:
    case OlderPageOutcome::failed:
      return say(wire::ErrorCode::overloaded, "the history does not answer now");
  }
}

void OlderPages::refuse(Handle connection, uint32_t ref, std::string_view conversation, wire::ErrorCode code,
                        std::string_view message) {
  const bool later = wire::retryable(code);
  courier_.answer(connection, wire::ErrorMessage{.has_ref = true,
                                                 .ref = ref,
                                                 .conversation = conversation,
                                                 .code = code,
                                                 .message = message,
                                                 .retryable = later,
                                                 .retry_after_ms = later ? kRetryMs : 0});
}

}  // namespace taut::gateway
