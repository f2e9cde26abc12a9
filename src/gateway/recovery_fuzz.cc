// Any lines as the records of a journal: each is applied or refused in words, a snapshot of what came of them
// is as good as they, and it can be shared out. Lines of a snapshot come first, behind '+'. A line is a
// record's type, one character above '0', and its payload.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/assert.h"
#include "gateway/recovery.h"
#include "gateway/snapshot_testing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace taut;
  const gateway::Recovery::Options options{
      .groups = {"sales", "support"}, .conversations_max = 2, .history_items = 3, .hash_seed = 1};
  gateway::Recovery recovery(options);
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  journal::Record record;
  bool journal_begun = false;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() == rest.size() ? line.size() : line.size() + 1);
    if (line.empty()) continue;
    ++record.sequence;
    ++record.time_ms;
    const bool snapshot = line.starts_with('+');
    if (snapshot && (line.size() == 1 || journal_begun)) break;
    record.type = static_cast<journal::RecordType>(line[snapshot ? 1 : 0] - '0');
    record.payload = line.substr(snapshot ? 2 : 1);
    if (snapshot) {
      if (!recovery.apply_snapshot(record)) return 0;
      continue;
    }
    if (!std::exchange(journal_begun, true) && !recovery.finish_snapshot()) return 0;
    if (const Status applied = recovery.apply(record); !applied) {
      TAUT_ASSERT(applied.error().message.starts_with("record " + std::to_string(record.sequence) + ": "));
      break;
    }
  }
  if (!recovery.finish_snapshot()) return 0;
  const std::string bytes = gateway::snapshot_bytes(recovery);
  const auto again = gateway::recovery_of(bytes, options);
  TAUT_ASSERT(again.has_value());
  TAUT_ASSERT(gateway::snapshot_bytes(**again) == bytes);
  const auto recovered = recovery.take(3, 2);
  TAUT_ASSERT(recovered.has_value() || recovered.error().message.ends_with("raise it"));
  return 0;
}
