#include "gateway/settings_journal.h"

namespace taut::gateway {

void add_journal_rows(std::vector<ConfigRow>& rows, Settings& s) {
  rows.push_back(
      {.key = "data",
       .section = "Journal",
       .field = &s.data,
       .help = "Directory of what outlives a restart, created if missing; without one nothing does",
       .value_name = "DIR"});
  rows.push_back(
      {.key = "mode",
       .section = "Journal",
       .field = choice_field(s.mode, wire::kDurabilityNames),
       .help = "With --data: write nothing, deliver at once and confirm when it is on disk, or deliver "
               "only what is on disk"});
  rows.push_back(
      {.key = "journal-linger-us",
       .section = "Journal",
       .field = &s.journal_linger_us,
       .help = "Microseconds that a commit waits for more records: fewer writes, later confirmations",
       .max = 1'000'000});
  rows.push_back({.key = "journal-segment-bytes",
                  .section = "Journal",
                  .field = &s.journal_segment_bytes,
                  .help = "Size of the journal's files, taken from the disk beforehand",
                  .unit = Unit::bytes,
                  .min = 4LL << 20,
                  .max = 1LL << 30});
}

}  // namespace taut::gateway
