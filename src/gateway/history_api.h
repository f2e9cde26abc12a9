// The HTTP API of the history: from a path and its query to a question for the archive.
#pragma once

#include <optional>
#include <string_view>

#include "gateway/inquiry.h"
#include "gateway/layout.h"

namespace taut::gateway {

/// GET of a path below /v1/conversations or of /v1/visitors/{id}/export; nothing for any other path. Its
/// inquiry is answered by ArchiveMail, not by InquiryMail.
[[nodiscard]] std::optional<HttpReply> get_history(std::string_view path, std::string_view query,
                                                   const Layout& layout);

}  // namespace taut::gateway
