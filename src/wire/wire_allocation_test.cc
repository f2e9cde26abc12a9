// Counts the heap allocations of the whole test program, to show that codecs on the data path make none.
#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "wire/chat_reader.h"
#include "wire/chat_writer.h"
#include "wire/compact.h"
#include "wire/deflate.h"
#include "wire/websocket.h"
#include "wire/websocket_client.h"

namespace {

thread_local size_t allocations = 0;

void* allocate(size_t size, size_t alignment) {
  ++allocations;
  void* at = alignment <= alignof(std::max_align_t)
                 ? std::malloc(size)
                 : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (at == nullptr) throw std::bad_alloc();
  return at;
}

}  // namespace

// Out of line: inlined into gtest, GCC takes the pairs of operator and malloc for mistakes.
[[gnu::noinline]] void* operator new(size_t size) {
  return allocate(size, 1);
}
[[gnu::noinline]] void* operator new[](size_t size) {
  return allocate(size, 1);
}
[[gnu::noinline]] void* operator new(size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<size_t>(alignment));
}
[[gnu::noinline]] void* operator new[](size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<size_t>(alignment));
}
// The library's own nothrow forms do not come here under AddressSanitizer, and simdjson allocates with them.
[[gnu::noinline]] void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return allocate(size, 1);
}
[[gnu::noinline]] void* operator new[](size_t size, const std::nothrow_t&) noexcept {
  return allocate(size, 1);
}
[[gnu::noinline]] void operator delete(void* at) noexcept {
  std::free(at);
}
[[gnu::noinline]] void operator delete[](void* at) noexcept {
  std::free(at);
}
[[gnu::noinline]] void operator delete(void* at, size_t) noexcept {
  std::free(at);
}
[[gnu::noinline]] void operator delete[](void* at, size_t) noexcept {
  std::free(at);
}
[[gnu::noinline]] void operator delete(void* at, std::align_val_t) noexcept {
  std::free(at);
}
[[gnu::noinline]] void operator delete[](void* at, std::align_val_t) noexcept {
  std::free(at);
}
[[gnu::noinline]] void operator delete(void* at, size_t, std::align_val_t) noexcept {
  std::free(at);
}
[[gnu::noinline]] void operator delete[](void* at, size_t, std::align_val_t) noexcept {
  std::free(at);
}

namespace taut::wire {
namespace {

TEST(WireAllocations, AreCounted) {
  const size_t before = allocations;
  std::vector<char>* leak_free = new std::vector<char>(100);
  EXPECT_EQ(allocations - before, 2U);
  delete leak_free;
}

/// What a shard does with one frame of a client: decode, read, write the push and the ack with their headers.
bool relay(std::string_view json, std::string& frame, std::string& out, ChatReader& reader) {
  const size_t size = write_ws_client_frame(frame, WsOpcode::text, json, 0x12345678);
  WsDecoder decoder(WsDecoder::Peer::client);
  const WsOutcome outcome = decoder.next(std::span(frame).first(size));
  if (outcome.kind != WsOutcome::Kind::message) return false;
  if (reader.read(outcome.payload) != ReadStatus::message) return false;
  const ClientMessage& in = reader.message();
  const Message push{.conversation = in.conversation,
                     .epoch = 1,
                     .seq = 1,
                     .from = {.id = "v1", .name = "N"},
                     .client_msg_id = in.client_msg_id,
                     .kind = in.kind,
                     .text = in.text,
                     .ts = 1};
  if (max_size(push) + kWsHeaderMax > out.size()) return false;
  const Written written = write(std::span(out).subspan(kWsHeaderMax), push);
  write_ws_header(out, WsOpcode::text, written.size);
  write(out, Ack{.ref = in.ref, .conversation = in.conversation, .client_msg_id = in.client_msg_id});
  return true;
}

TEST(WireAllocations, AreZeroPerMessageAfterConstruction) {
  const std::string small =
      R"({"type":"send","ref":1,"conversation":"c1","client_msg_id":"m","text":"h\u00e9llo"})";
  std::string large = small;
  large.insert(large.find("h\\u"), kTextBytesMax - 10, 'x');
  std::string frame(kChatFrameBytesMax + kReadablePadding, '\0');
  std::string out(kChatFrameBytesMax, '\0');
  ChatReader reader;
  const size_t before = allocations;
  const size_t bytes_before = mallinfo2().uordblks;
  bool all = true;
  for (int i = 0; i < 1'000; ++i)
    all = relay(small, frame, out, reader) && relay(large, frame, out, reader) && all;
  EXPECT_EQ(allocations - before, 0U);
  EXPECT_EQ(mallinfo2().uordblks, bytes_before);
  EXPECT_TRUE(all);
}

/// The same on the compact carrier.
bool relay_compact(std::string_view body, std::string& frame, std::string& out, ChatReader& reader) {
  const size_t size = write_netstring(frame, body);
  const NetstringOutcome outcome = next_netstring(std::span(frame).first(size), kChatFrameBytesMax);
  if (outcome.kind != NetstringOutcome::Kind::body) return false;
  if (reader.read_compact(outcome.body) != ReadStatus::message) return false;
  const ClientMessage& in = reader.message();
  const Message push{.conversation = in.conversation, .text = in.text, .text_clean = in.text_clean};
  const Written written = write(std::span(out).subspan(kCompactHeadMax), push);
  write_compact_head(out, written.type, in.conversation, written.size - written.rest_offset);
  return true;
}

TEST(WireAllocations, AreZeroPerCompactMessageAfterConstruction) {
  const std::string small = "3:c1:m1 7\nh\"llo";
  const std::string large = "3:c1:m1 7\n" + std::string(kTextBytesMax, 'x');
  const std::string typing = R"(4:c1:{"on":true})";
  std::string frame(kChatFrameBytesMax + kReadablePadding, '\0');
  std::string out(kChatFrameBytesMax, '\0');
  ChatReader reader;
  const size_t before = allocations;
  bool all = true;
  for (int i = 0; i < 1'000; ++i) {
    for (const std::string* body : {&small, &large, &typing})
      all = relay_compact(*body, frame, out, reader) && all;
  }
  EXPECT_EQ(allocations - before, 0U);
  EXPECT_TRUE(all);
}

TEST(WireAllocations, AreZeroForCompressedMessagesWholeAndBroken) {
  const std::string text(5'000, 'x');
  Deflater deflater(10'000);
  Inflater inflater(4'000);
  const size_t bytes_before = mallinfo2().uordblks;
  bool all = true;
  for (int i = 0; i < 100; ++i) {
    const auto refused = [&](std::string_view payload, CloseCode code) {
      return inflater.inflate({payload.data(), payload.size()}).close_code == code;
    };
    all = refused(deflater.deflate({text.data(), 3'000}), CloseCode::none) && all;
    all = refused(deflater.deflate({text.data(), 3'000}).substr(0, 4), CloseCode::broken_utf8) && all;
    all = refused(deflater.deflate(text), CloseCode::too_big) && all;
  }
  EXPECT_EQ(mallinfo2().uordblks, bytes_before) << "zlib allocates with malloc";
  EXPECT_TRUE(all);
}

TEST(WireAllocations, AreZeroForRefusedFrames) {
  ChatReader reader;
  std::string frame(1'000, '\0');
  size_t errors = 0;
  const size_t before = allocations;
  for (const std::string_view json :
       {"{", "[]", R"({"type":"x","ref":1})", R"({"type":"ping","ref":-1})", "{\"\xFF\"}"}) {
    json.copy(frame.data(), json.size());
    errors += reader.read(std::span(frame).first(json.size())) != ReadStatus::message;
  }
  EXPECT_EQ(allocations - before, 0U);
  EXPECT_EQ(errors, 5U);
}

}  // namespace
}  // namespace taut::wire
