// Any lines as the records of a journal: each is applied or refused in words, and what came of them can be
// shared out. A line is a record's type, one character above '0', and its payload.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "gateway/recovery.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace taut;
  gateway::Recovery recovery(
      {.groups = {"sales", "support"}, .conversations_max = 2, .history_items = 3, .hash_seed = 1});
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  journal::Record record;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() == rest.size() ? line.size() : line.size() + 1);
    if (line.empty()) continue;
    ++record.sequence;
    ++record.time_ms;
    record.type = static_cast<journal::RecordType>(line[0] - '0');
    record.payload = line.substr(1);
    if (const Status applied = recovery.apply(record); !applied) {
      TAUT_ASSERT(applied.error().message.starts_with("record " + std::to_string(record.sequence) + ": "));
      break;
    }
  }
  const auto recovered = recovery.take(3, 2);
  TAUT_ASSERT(recovered.has_value() || recovered.error().message.ends_with("raise it"));
  return 0;
}
