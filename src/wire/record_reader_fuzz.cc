// Any bytes as the payload of each kind of record: what is read can be written and is read again the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/assert.h"
#include "wire/record_json_testing.h"

namespace {

using namespace taut::wire;

template <class M>
void check(RecordReader& reader, std::string_view payload) {
  M out;
  if (const auto status = reader.read(payload, out); !status) {
    TAUT_ASSERT(!status.error().message.empty());
    return;
  }
  const std::string once = payload_of(out);
  TAUT_ASSERT(reader.read(once, out).has_value());
  TAUT_ASSERT(payload_of(out) == once);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static RecordReader reader;
  const std::vector<char> bytes(data, data + size);  // a heap block of its own, watched to its end
  const std::string_view payload(bytes.data(), bytes.size());
  check<Started>(reader, payload);
  check<ConversationFacts>(reader, payload);
  check<ItemObject>(reader, payload);
  check<Marks>(reader, payload);
  check<PresenceSet>(reader, payload);
  check<VisitorBlocked>(reader, payload);
  check<VisitorForgotten>(reader, payload);
  check<SnapshotFacts>(reader, payload);
  check<Standing>(reader, payload);
  check<KnownMessages>(reader, payload);
  return 0;
}
