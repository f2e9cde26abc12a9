// Any bytes as a client's frame: what is read can be written and is read again the same, and an accepted text
// survives the server's own writer.
#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/assert.h"
#include "wire/chat_writer.h"
#include "wire/client_message_text.h"
#include "wire/utf8.h"

namespace {

using namespace taut::wire;

/// A frame at the end of its own heap block, so that the address sanitizer sees every byte read too far.
ReadStatus read(ChatReader& reader, std::string_view json, std::vector<char>& frame) {
  frame.assign(json.begin(), json.end());
  frame.resize(json.size() + kReadablePadding);
  frame.shrink_to_fit();
  return reader.read(std::span(frame).first(json.size()));
}

void check_written(const ClientMessage& in) {
  static simdjson::dom::parser parser;
  const Message m{.conversation = in.conversation,
                  .from = {.id = "v"},
                  .client_msg_id = in.client_msg_id,
                  .text = in.text};
  std::string json(max_size(m), '\0');
  json.resize(write(json, m).size);
  std::string_view text;
  TAUT_ASSERT(parser.parse(json)["text"].get_string().get(text) == simdjson::SUCCESS);
  TAUT_ASSERT(text == in.text && validate_utf8(text) && text.find('\0') == text.npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static ChatReader reader;
  if (size > kChatFrameBytesMax / 2) return 0;  // the text of what was read may be longer than the input
  std::vector<char> frame;
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  const ReadStatus status = read(reader, json, frame);
  TAUT_ASSERT((status == ReadStatus::broken_utf8) == !validate_utf8(json));
  if (status == ReadStatus::error) TAUT_ASSERT(!reader.error().message.empty());
  if (status != ReadStatus::message) return 0;

  if (reader.message().type == ClientType::send) check_written(reader.message());
  const std::string once = to_text(reader.message());
  TAUT_ASSERT(read(reader, once, frame) == ReadStatus::message);
  TAUT_ASSERT(to_text(reader.message()) == once);
  return 0;
}
