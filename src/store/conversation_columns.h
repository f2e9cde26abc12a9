// The columns of a conversation's row as both databases are asked for them.
#pragma once

#include <string_view>

namespace taut::store {

/// Of the table of conversations as c, in the order of ConversationRow's fields.
inline constexpr std::string_view kConversationColumns =
    "c.record, c.id, c.visitor, c.group_name, c.state, c.agent, c.opened_ms, c.last_ms, c.epoch, c.seq, "
    "c.visitor_delivered, c.visitor_read, c.agent_delivered, c.agent_read, c.json";

}  // namespace taut::store
