#include "gateway/conversation_request.h"

#include <array>
#include <cstddef>
#include <cstring>

#include "core/no_views.h"

namespace taut::gateway {

namespace {

constexpr size_t kTexts = 8;

/// The request without its texts, which follow in this order.
struct PackedHeader {
  wire::ClientType type{};
  wire::ItemKind kind{};
  chat::PartyKind party{};
  bool text_clean = false;
  bool on = false;
  bool has_cursor = false;
  bool has_ref = true;
  bool other_connections = false;
  uint32_t limit = 0;
  uint32_t rating = 0;
  uint32_t seconds = 0;
  uint64_t epoch = 0;
  uint64_t seq = 0;
  uint64_t before = 0;
  Handle connection;
  Handle endpoint;
  Handle key;
  uint64_t groups = 0;
  uint32_t owner_epoch = 0;
  uint32_t ref = 0;
  std::array<uint32_t, kTexts> text_bytes{};
  Trace trace;
};
static_assert(RingElement<PackedHeader>);

using Texts = std::array<std::string_view*, kTexts>;

Texts texts_of(ConversationRequest& r) {
  return {&r.from.id, &r.from.name, &r.conversation, &r.client_msg_id,
          &r.text,    &r.reason,    &r.to_agent,     &r.to_group};
}

}  // namespace

Block* pack(BufferPool& pool, const ConversationRequest& request, const Trace& trace) {
  ConversationRequest copy = request;
  const Texts texts = texts_of(copy);
  PackedHeader header{.type = request.type,
                      .kind = request.kind,
                      .party = request.from.kind,
                      .text_clean = request.text_clean,
                      .on = request.on,
                      .has_cursor = request.has_cursor,
                      .has_ref = request.from.has_ref,
                      .other_connections = request.from.other_connections,
                      .limit = request.limit,
                      .rating = request.rating,
                      .seconds = request.seconds,
                      .epoch = request.epoch,
                      .seq = request.seq,
                      .before = request.before,
                      .connection = request.from.connection,
                      .endpoint = request.from.endpoint,
                      .key = request.key,
                      .groups = request.from.groups,
                      .owner_epoch = request.from.owner_epoch,
                      .ref = request.from.ref,
                      .text_bytes = {},
                      .trace = trace};
  size_t bytes = sizeof(header);
  for (size_t i = 0; i < texts.size(); ++i) {
    header.text_bytes[i] = static_cast<uint32_t>(texts[i]->size());
    bytes += texts[i]->size();
  }
  Block* block = pool.allocate(bytes);
  if (block == nullptr) return nullptr;
  std::memcpy(block->data(), &header, sizeof(header));
  block->written = sizeof(header);
  for (const std::string_view* text : texts) block->append(*text);
  return block;
}

ConversationRequest unpack(const Block& block) {
  PackedHeader header;
  std::memcpy(&header, block.data(), sizeof(header));
  ConversationRequest request{.type = header.type,
                              .kind = header.kind,
                              .text_clean = header.text_clean,
                              .on = header.on,
                              .has_cursor = header.has_cursor,
                              .epoch = header.epoch,
                              .seq = header.seq,
                              .before = header.before,
                              .limit = header.limit,
                              .rating = header.rating,
                              .seconds = header.seconds,
                              .from = {.kind = header.party,
                                       .connection = header.connection,
                                       .endpoint = header.endpoint,
                                       .groups = header.groups,
                                       .owner_epoch = header.owner_epoch,
                                       .ref = header.ref,
                                       .has_ref = header.has_ref,
                                       .other_connections = header.other_connections,
                                       .id = {},
                                       .name = {}},
                              .key = header.key,
                              .conversation = {},
                              .client_msg_id = {},
                              .text = {},
                              .reason = {},
                              .to_agent = {},
                              .to_group = {}};
  const Texts texts = texts_of(request);
  const char* at = block.data() + sizeof(header);
  for (size_t i = 0; i < texts.size(); ++i) {
    *texts[i] = {at, header.text_bytes[i]};
    at += header.text_bytes[i];
  }
  return request;
}

Trace trace_of(const Block& block) {
  Trace trace;
  std::memcpy(&trace, block.data() + offsetof(PackedHeader, trace), sizeof(trace));
  return trace;
}

}  // namespace taut::gateway
