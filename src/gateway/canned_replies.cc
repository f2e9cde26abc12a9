#include "gateway/canned_replies.h"

#include <utility>

#include "gateway/group_names.h"
#include "wire/canned_replies.h"

namespace taut::gateway {

Result<std::shared_ptr<const CannedReplies>> CannedReplies::load(FileSystem& files, const std::string& path,
                                                                 const std::vector<std::string>& groups,
                                                                 size_t text_bytes_max) {
  auto loaded = std::make_shared<CannedReplies>();
  if (path.empty()) return loaded;
  // What is wrong comes first: a line of the log may have no room for all of the path.
  const auto wrong = [&path](const std::string& what) { return fail(what + ": --replies-file " + path); };
  const Result<std::string> json = files.read_front(path, wire::kCannedRepliesBytesMax + 1);
  if (!json) return fail(json.error().message + " (--replies-file)");
  if (json->size() > wire::kCannedRepliesBytesMax)
    return wrong("longer than " + std::to_string(wire::kCannedRepliesBytesMax) + " bytes");
  Result<std::vector<wire::CannedReply>> replies = wire::read_canned_replies(*json, text_bytes_max);
  if (!replies) return wrong(replies.error().message);
  for (wire::CannedReply& reply : *replies) {
    chat::GroupSet set = 0;
    for (const std::string& group : reply.groups) {
      const auto known = find_group(groups, group);
      if (!known) return wrong("\"" + reply.name + "\": there is no group " + group);
      set |= chat::group_bit(*known);
    }
    loaded->entries_.push_back({.name = std::move(reply.name), .text = std::move(reply.text), .groups = set});
  }
  return loaded;
}

std::vector<wire::Reply> CannedReplies::for_groups(chat::GroupSet groups) const {
  std::vector<wire::Reply> mine;
  for (const Entry& entry : entries_) {
    if (entry.groups == 0 || (entry.groups & groups) != 0)
      mine.push_back({.name = entry.name, .text = entry.text});
  }
  return mine;
}

}  // namespace taut::gateway
