// Which files a journal consists of, and what of each still counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace taut::journal {

struct Segment {
  uint64_t number = 0;
  std::string path;
  std::optional<uint64_t> first_sequence;  ///< none: its head cannot be read
  uint64_t void_from = UINT64_MAX;         ///< these records and all behind them count no longer

  [[nodiscard]] bool counts() const { return first_sequence && *first_sequence < void_from; }
};

/// The segments in `directory` by number; none when it is not there. Other files in it are ignored. Blocks.
/// Any thread, also while a writer goes on. Error: a file or the directory cannot be read, or a newer taut
/// wrote it.
[[nodiscard]] Result<std::vector<Segment>> find_segments(FileSystem& files, const std::string& directory);

/// The last record of which no later segment can void anything, and which is durable: the one before the
/// newest segment begins. 0: there is none.
[[nodiscard]] uint64_t settled_sequence(const std::vector<Segment>& segments);

}  // namespace taut::journal
