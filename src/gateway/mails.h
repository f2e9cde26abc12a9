// What shards of the gateway send each other: kinds and payloads, each in one mail.
#pragma once

#include <cstdint>

#include "base/handle.h"
#include "chat/types.h"
#include "core/buffer_pool.h"
#include "core/mail.h"
#include "hub/block_return.h"
#include "journal/record.h"

namespace taut::gateway {

enum class MailKind : uint32_t {
  move_connection = hub::kFirstProgramMail,  ///< ConnectionMail: to the identity's home shard
  move_http,                                 ///< ConnectionMail: to the HTTP service
  deliver,                                   ///< Delivery: to the shard of a connection or an endpoint
  agent_request,                             ///< RequestMail: to the conversation's shard
  page_taken,                                ///< PageTaken: to the conversation's shard
  agent_connected,                           ///< AgentMail: to the dispatcher
  agent_disconnected,                        ///< AgentMail: to the dispatcher
  agent_presence,                            ///< AgentMail: to the dispatcher
  conversation_opened,                       ///< OpenedMail: to the dispatcher
  conversation_restored,                     ///< RestoredMail: to the dispatcher
  owner_restored,                            ///< OwnerMail: to the home shard of who owned a conversation
  owner_found,                               ///< chat::OwnerMoved: back
  shard_restored,         ///< nothing: to the dispatcher's shard, when all owners are found
  all_restored,           ///< nothing: to every shard, when all have said so
  conversation_accepted,  ///< WordMail: to the dispatcher
  conversation_declined,  ///< WordMail: to the dispatcher
  conversation_closed,    ///< WordMail: to the dispatcher
  take_wanted,            ///< ClaimMail: to the dispatcher
  transfer_wanted,        ///< ClaimMail: to the dispatcher
  claim_decided,          ///< Verdict: to the conversation's shard, before what follows from it
  list_wanted,            ///< ListMail: to the dispatcher
  list_visit,             ///< ListMail: to the shard of the next conversation of the page
  list_done,              ///< ListMail: back to the asker's shard
  agent_named,            ///< AgentNamed: from the dispatcher to every shard
  decision,               ///< chat::Effect: from the dispatcher to the conversation's shard
  explain_visit,          ///< InquiryMail: to the conversation's shard, which knows it by its id
  explain_wanted,         ///< InquiryMail: to the dispatcher
  block_wanted,           ///< InquiryMail: to the visitor's home shard
  forget_wanted,          ///< InquiryMail: to the visitor's home shard
  inquiry_answered,       ///< InquiryMail: back to the HTTP service
  journal_record,         ///< JournalMail: to the committer
  segment_wanted,         ///< nothing: from the compactor to the committer
  journal_durable,        ///< DurableMail: from the committer to a chat shard
  older_wanted,           ///< OlderPageMail: to the archive
  older_found,            ///< OlderPageMail: back
  archive_asked,          ///< ArchiveMail: from the HTTP service to the archive
  archive_answered,       ///< ArchiveMail: back
};

/// A connection on its way; the receiver owns and deletes it.
struct MovedConnection;
struct ConnectionMail {
  MovedConnection* connection = nullptr;
};

/// What a delivery does beside being written.
enum class Lane : uint8_t {
  answer,           ///< nothing
  send_answer,      ///< ends one send in flight
  live,             ///< skipped by connections that hold the conversation
  live_assigned,    ///< live, and the endpoint takes part in the conversation from now on
  live_unassigned,  ///< the endpoint takes part no longer, and nobody holds the conversation
  live_lossy,       ///< live, and skipped by connections that are behind
  page,             ///< a missed item for a connection that holds the conversation, else for nobody
  page_end,         ///< the same, and the pager waits for a PageTaken
  release,          ///< the last of these: the connection holds the conversation no longer
};

/// One frame for a connection, or for all connections of an endpoint but `except`. The receiver owns one
/// reference.
struct Delivery {
  Handle to;
  Handle except;
  Handle conversation;
  Block* frame = nullptr;  ///< nullptr: there was no memory for it; a connection is given up then
  uint64_t cursor = 0;     ///< page_end: of the pager
  uint32_t owner_epoch = 0;
  Lane lane = Lane::answer;
  bool to_endpoint = false;
};

/// A request by an agent to a conversation elsewhere, packed into a block of the sender's
/// (gateway/conversation_request.h).
struct RequestMail {
  Block* request = nullptr;
};

/// A connection has room for the next page of a resume, or is gone.
struct PageTaken {
  uint64_t cursor = 0;
  bool gone = false;
};

/// Word of an agent to the dispatcher; its id is the block's bytes.
struct AgentMail {
  Handle endpoint;
  uint64_t groups = 0;
  uint32_t capacity = 0;
  chat::Presence status = chat::Presence::offline;
  Block* id = nullptr;
};

struct OpenedMail {
  chat::ConversationKey conversation;
  uint32_t group = 0;
  uint32_t opening = 0;
  uint32_t owner_epoch = 0;
  uint32_t preferred = chat::kNoAgent;
};

/// A conversation that was open when the server ended.
struct RestoredMail {
  chat::ConversationKey conversation;
  Block* owner = nullptr;  ///< the agent's id; null: it waits
  uint32_t number = 0;     ///< its place in the order of opening, over all shards
  uint32_t group = 0;
  uint32_t opening = 0;
  uint32_t owner_epoch = 0;
  bool accepted = false;
};

/// Who owned a conversation when the server ended; `names` holds the agent's id and, behind agent_bytes, that
/// of the conversation.
struct OwnerMail {
  chat::ConversationKey conversation;
  Block* names = nullptr;
  uint32_t agent_bytes = 0;
  uint32_t opening = 0;
  uint32_t owner_epoch = 0;
};

struct WordMail {
  chat::ConversationKey conversation;
  uint32_t owner_epoch = 0;
};

/// A take by `agent`, or a transfer to it, or to `group` where agent is null; the agent's id is the block's
/// bytes. Who asked gets the answer under `ref`.
struct ClaimMail {
  chat::ConversationKey conversation;
  Handle asker;  ///< a connection; zero: nobody waits for the answer
  Block* agent = nullptr;
  uint32_t ref = 0;
  uint32_t owner_epoch = 0;  ///< transfer: of the assignment that is given away
  uint32_t group = 0;
};

/// A page of `list` on its way (gateway/listing.h). It has one owner at a time: whoever holds the mail.
struct ListMail {
  Block* page = nullptr;
};

/// A question of the HTTP service on its way (gateway/inquiry.h). What it asks and learns stands in the
/// block, which has one owner at a time, whoever holds the mail, and comes home with the answer.
struct InquiryMail {
  Handle asker;
  Block* block = nullptr;
};

/// A record for the journal: part of a block that nobody changes any more. The receiver owns one reference.
struct JournalMail {
  Block* block = nullptr;
  uint32_t offset = 0;
  uint32_t bytes = 0;
  int64_t time_ms = 0;
  journal::RecordType type = journal::RecordType::item;
};

/// How much of what the receiver has given to the journal is durable.
struct DurableMail {
  uint64_t records = 0;
  uint64_t bytes = 0;
  bool refusing = false;  ///< the disk does not take the rest
};

/// A page of `history` that is asked of the archive (gateway/older_pages.h). The block is the asker's: on the
/// way there its front is the question, on the way back it is the frame if there is one.
enum class OlderPageOutcome : uint8_t { found, no_such_conversation, not_yours, behind, failed };
struct OlderPageMail {
  Handle asker;
  Block* block = nullptr;
  OlderPageOutcome outcome = OlderPageOutcome::found;
};

/// A question of the HTTP service for the archive; whoever holds the mail owns and deletes it.
struct ArchiveQuestion;
struct ArchiveMail {
  Handle asker;
  ArchiveQuestion* question = nullptr;
};

struct Verdict {
  chat::ConversationKey conversation;
  Handle asker;
  uint32_t ref = 0;
  chat::Code code = chat::Code::ok;
  bool take = false;
};

/// From now on `index` in decisions means the agent whose id the block holds.
struct AgentNamed {
  Block* id = nullptr;
  uint32_t index = 0;
};

template <class T>
[[nodiscard]] Mail mail_of(MailKind kind, const T& payload) {
  return Mail::of(static_cast<uint32_t>(kind), payload);
}

}  // namespace taut::gateway
