// From one frame of a client, whole JSON or of the compact carrier, to a validated message.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/identity.h"
#include "wire/chat_codes.h"
#include "wire/padding.h"

namespace taut::wire {

// Bounds of fields that the protocol leaves open, bytes unless said.
inline constexpr uint32_t kTokenBytesMax = 4'096;
inline constexpr uint32_t kNameBytesMax = 256;
inline constexpr uint32_t kSubjectBytesMax = 1'024;
inline constexpr uint32_t kReasonBytesMax = 256;
inline constexpr uint32_t kCursorBytesMax = 256;
inline constexpr uint32_t kAttributesBytesMax = 4'096;  ///< as raw JSON text
inline constexpr uint32_t kRatingTextBytesMax = 4'096;
inline constexpr uint32_t kResumeMax = 256;           ///< conversations in one hello
inline constexpr uint32_t kCapacityMax = 10'000;      ///< conversations at once of one agent
inline constexpr uint32_t kHistoryItemsDefault = 50;  ///< items, when a history request has no limit
inline constexpr uint32_t kJsonDepthMax = 32;         ///< nesting of a frame; deeper is bad_json

struct ResumePoint {
  std::string_view conversation = {};
  uint64_t epoch = 0;
  uint64_t seq = 0;
};

/// A client's message, every field checked; what its type does not have is zero or empty. Optional strings
/// are empty when absent (ids, which are never empty, and free texts, where it is the same). A view, never
/// stored.
struct ClientMessage {
  ClientType type = ClientType::ping;
  ItemKind kind = ItemKind::text;                   ///< send
  Role role = Role::visitor;                        ///< hello: visitor or agent
  PresenceStatus status = PresenceStatus::offline;  ///< presence
  ListScope scope = ListScope::mine;                ///< list
  bool text_clean = false;                          ///< send: no byte of the text needs an escape in JSON
  bool on = false;                                  ///< typing
  bool has_capacity = false;                        ///< presence
  uint32_t ref = 0;                                 ///< all but hello, typing, delivered, read
  uint32_t version = 0;                             ///< hello: any number, the caller compares
  uint32_t capacity = 0;                            ///< presence: 0 … kCapacityMax
  uint32_t limit = 0;                               ///< history: 1 … kHistoryItemsMax
  uint32_t seconds = 0;                             ///< block: 1 … kBlockSecondsMax, 0: not said
  uint32_t rating = 0;                              ///< rate: 1 … kRatingMax
  uint64_t seq = 0;                                 ///< delivered, read: ≥ 1
  uint64_t before = 0;                              ///< history: ≥ 1, 0 = from the end
  std::string_view conversation = {};               ///< all that name one; optional in open
  std::string_view client_msg_id = {};              ///< send
  std::string_view text = {};     ///< send: unescaped, kReadablePadding readable bytes behind; rate: optional
  std::string_view group = {};    ///< open: optional
  std::string_view subject = {};  ///< open: optional
  std::string_view attributes = {};     ///< open: optional, raw text of a valid JSON object
  std::string_view to_agent = {};       ///< transfer: this …
  std::string_view to_group = {};       ///< … or this
  std::string_view reason = {};         ///< close: optional
  std::string_view cursor = {};         ///< list: optional
  std::string_view site = {};           ///< hello
  std::string_view token = {};          ///< hello: never logged
  std::string_view device = {};         ///< hello
  std::string_view name = {};           ///< hello: optional
  std::span<const ResumePoint> resume;  ///< hello: optional
};

/// Why a frame is refused: what an `error` object says. The connection stays.
struct ReadError {
  ErrorCode code = ErrorCode::bad_json;
  bool has_ref = false;
  uint32_t ref = 0;
  std::string_view conversation = {};  ///< empty when the frame had no valid one
  std::string_view message = {};       ///< English, names the field
};

enum class ReadStatus : uint8_t {
  message,      ///< see message()
  error,        ///< see error()
  broken_utf8,  ///< the JSON frame is not UTF-8: close with CloseCode::broken_utf8
};

/// One per shard, used by its thread alone. No heap after construction. Everything that message() and error()
/// point to holds until the next read() or until the frame's buffer is reused, whichever comes first.
///
/// Fields that the type does not have are ignored, but must be valid JSON. A field of the protocol given
/// twice is bad_field; so is null. Numbers must be written as integers. An escaped lone surrogate or U+0000
/// anywhere in the frame is bad_utf8. Deeper than kJsonDepthMax, trailing bytes, or numbers beyond 64 bits
/// are bad_json. When several things are wrong, JSON comes first, then bad_utf8, then the type, then `ref`,
/// then the other fields.
class ChatReader {
 public:
  struct Options {
    uint32_t frame_bytes_max = kChatFrameBytesMax;
    uint32_t text_bytes_max = kTextBytesMax;
  };

  ChatReader() : ChatReader(Options{}) {}
  explicit ChatReader(const Options& options);
  ChatReader(ChatReader&&) noexcept;
  ChatReader& operator=(ChatReader&&) noexcept;
  ~ChatReader();

  /// REQUIRES: frame.size() ≤ frame_bytes_max, and kReadablePadding readable bytes behind it. May rewrite
  /// broken escapes inside the frame.
  [[nodiscard]] ReadStatus read(std::span<char> frame) noexcept;

  /// The same for a body of the compact carrier, `type:conversation:payload`. The payload of a send is
  /// `client_msg_id [SP ref [SP kind]] LF text`, a missing ref being 0; of every other type the JSON object
  /// of the other fields, whose own `type` and `conversation` are ignored. Never broken_utf8: that is an
  /// error with the code bad_utf8 here.
  [[nodiscard]] ReadStatus read_compact(std::span<char> body) noexcept;

  /// Wipes the copies of strings that the last read() made: after a hello, whose token they hold.
  void wipe() noexcept;

  [[nodiscard]] const ClientMessage& message() const;
  [[nodiscard]] const ReadError& error() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace taut::wire
