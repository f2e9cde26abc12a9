// The canned replies in force, by group.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "chat/types.h"
#include "wire/chat_writer.h"

namespace taut::gateway {

/// Constant once loaded, so that any thread may read it; replaced whole (core/published.h).
class CannedReplies {
 public:
  CannedReplies() = default;

  /// `path` empty: there are none. Error: the file, and what is wrong with it; a group that is none of
  /// `groups`.
  [[nodiscard]] static Result<std::shared_ptr<const CannedReplies>> load(
      FileSystem& files, const std::string& path, const std::vector<std::string>& groups,
      size_t text_bytes_max);

  /// Those of an agent of these groups, in the order of the file; views.
  [[nodiscard]] std::vector<wire::Reply> for_groups(chat::GroupSet groups) const;

 private:
  struct Entry {
    std::string name;
    std::string text;
    chat::GroupSet groups = 0;  ///< none: for all agents
  };
  std::vector<Entry> entries_;
};

}  // namespace taut::gateway
