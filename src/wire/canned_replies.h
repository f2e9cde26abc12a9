// The file of canned replies: texts that agents send often.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace taut::wire {

struct CannedReply {
  std::string name;  ///< 1 … kNameBytesMax bytes
  std::string text;
  std::vector<std::string> groups;  ///< whose agents get it; empty: all
};

/// Bytes of a file: what it holds fits into one frame then, since text is written at most as long as it was
/// read.
inline constexpr size_t kCannedRepliesBytesMax = 65'536;

/// Reads [{"name", "text", "groups"?}, …], in its order. Error: not that, a text that no message could carry,
/// a name that is there twice; says which entry, from 1, and which field.
[[nodiscard]] Result<std::vector<CannedReply>> read_canned_replies(std::string_view json,
                                                                   size_t text_bytes_max);

}  // namespace taut::wire
