// The least that any journal does: the same bytes, one pwrite and one fdatasync a commit, nothing else.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "journal_compare/measured.h"

namespace taut::compare {

struct FloorOptions {
  std::string directory;
  uint32_t payload_bytes = 200;
  double seconds = 1;
  double warmup_s = 0.2;
  std::vector<uint32_t> batches{1};  ///< records in each commit; over again at the end
  int cpu = -1;
};

/// Writes as a journal's files hold them, into files of the same size that are reserved in the same way.
[[nodiscard]] Result<Measured> run_floor(const FloorOptions& options);

}  // namespace taut::compare
