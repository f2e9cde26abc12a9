#include "gateway/listing.h"

#include <charconv>
#include <system_error>

#include "gateway/block_front.h"
#include "gateway/conversations.h"
#include "gateway/wire_terms.h"

namespace taut::gateway {

namespace {

/// Room for ListBegin and ListEnd.
constexpr size_t kAroundBytes = 256;

bool read_cursor(std::string_view cursor, uint64_t& number) {
  const char* end = cursor.data() + cursor.size();
  const auto [at, fault] = std::from_chars(cursor.data(), end, number);
  return fault == std::errc() && at == end;
}

}  // namespace

void send_on(Shard& shard, const Listing& listing, Block* block) {
  set_front(*block, listing);
  const bool done = listing.visited == listing.count;
  const Handle next = done ? listing.asker : listing.conversations[listing.visited].conversation;
  shard.send(next.shard(), mail_of(done ? MailKind::list_done : MailKind::list_visit, ListMail{block}));
}

void Listings::start(const Requester& agent, chat::ListScope scope, std::string_view cursor) {
  Listing listing{
      .asker = agent.connection, .agent = chat::InlineId(agent.id), .scope = scope, .ref = agent.ref};
  if (!cursor.empty() && !read_cursor(cursor, listing.after)) {
    return refuse(listing, wire::ErrorCode::bad_field, "cursor: is none of ours");
  }
  Block* block = shard_.pool().allocate(Listing::kBlockBytes);
  if (block == nullptr) return refuse(listing, wire::ErrorCode::overloaded, "no memory for the list");
  set_front(*block, listing);
  shard_.send(dispatcher_, mail_of(MailKind::list_wanted, ListMail{block}));
}

void Listings::visit(Block* block) {
  Listing listing = front_of<Listing>(*block);
  while (listing.visited < listing.count) {
    const chat::Dispatcher::Listed& listed = listing.conversations[listing.visited];
    if (listed.conversation.shard() != shard_.id()) break;
    const ConversationRecord* record = conversations_.find(listed.conversation);
    ++listing.visited;
    if (record == nullptr || record->machine.state() == chat::ConversationState::closed) continue;
    const wire::ListEntry entry = conversations_.list_entry(*record);
    if (block->room().size() < wire::max_size(entry) + 1) {
      listing.count = --listing.visited;  // the rest is for the next page
      listing.next = listed.number - 1;
      break;
    }
    block->append(",");
    block->commit(wire::write(block->room(), entry).size);
  }
  send_on(shard_, listing, block);
}

void Listings::finish(Block* block) {
  const Listing listing = front_of<Listing>(*block);
  const std::string_view entries = block->bytes().substr(sizeof(listing));
  Block* frame = shard_.pool().allocate(kAroundFrameBytes + kAroundBytes + entries.size());
  if (frame == nullptr) {
    refuse(listing, wire::ErrorCode::overloaded, "no memory for the list");
    return shard_.pool().release(block);
  }
  std::array<char, 20> digits{};
  const char* end = std::to_chars(digits.begin(), digits.end(), listing.next).ptr;
  const wire::ListBegin begin{.ref = listing.ref};
  const wire::ListEnd last{.cursor =
                               listing.next == 0 ? std::string_view{} : std::string_view(digits.data(), end)};
  char* json = frame->data() + kFrameJsonAt;
  const wire::Written begun = wire::write({json, wire::max_size(begin)}, begin);
  size_t at = begun.size;
  if (!entries.empty()) at = entries.substr(1).copy(json + at, entries.size()) + at;
  at += wire::write({json + at, wire::max_size(last)}, last).size;
  finish_frame(*frame, static_cast<uint32_t>(at), begun, {});
  courier_.deliver({.to = listing.asker, .frame = frame, .lane = Lane::answer});
  shard_.pool().release(block);
}

void Listings::refuse(const Listing& listing, wire::ErrorCode code, std::string_view words) {
  courier_.answer(listing.asker, wire::ErrorMessage{.has_ref = true,
                                                    .ref = listing.ref,
                                                    .code = code,
                                                    .message = words,
                                                    .retryable = wire::retryable(code)});
}

}  // namespace taut::gateway
