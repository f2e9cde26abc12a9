#include "wire/chat_reader.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "base/assert.h"
#include "base/bytes.h"
#include "wire/compact.h"
#include "wire/json_escape.h"
#include "wire/json_scan.h"
#include "wire/name_table.h"
#include "wire/utf8.h"

namespace taut::wire {
namespace {

static_assert(kReadablePadding >= simdjson::SIMDJSON_PADDING);

using simdjson::dom::element;

/// Every field name that a client's message can have; the order is that of kFieldNames.
enum class Field : uint8_t {
  type,
  ref,
  conversation,
  client_msg_id,
  text,
  kind,
  on,
  seq,
  before,
  limit,
  status,
  capacity,
  to,
  reason,
  scope,
  cursor,
  version,
  role,
  site,
  token,
  device,
  name,
  resume,
  group,
  subject,
  attributes,
  epoch,
  agent,
  rating,
  seconds,
};
constexpr size_t kFields = 30;
constexpr std::array<std::string_view, kFields> kFieldNames = {
    "type",    "ref",        "conversation", "client_msg_id", "text",   "kind",   "on",     "seq",
    "before",  "limit",      "status",       "capacity",      "to",     "reason", "scope",  "cursor",
    "version", "role",       "site",         "token",         "device", "name",   "resume", "group",
    "subject", "attributes", "epoch",        "agent",         "rating", "seconds"};
constexpr NameTable kFieldTable(kFieldNames);

/// The known fields of one JSON object.
struct FieldSet {
  std::array<element, kFields> values;
  uint32_t present = 0;  ///< one bit for each field; the other values mean nothing
  uint32_t twice = 0;
  uint32_t attributes_at = 0;  ///< how many members stand before `attributes`

  [[nodiscard]] const element* find(Field field) const {
    const auto index = static_cast<size_t>(field);
    return (present >> index & 1) != 0 ? &values[index] : nullptr;
  }

  void collect(const simdjson::dom::object& object) {
    present = twice = 0;
    uint32_t member = 0;
    for (const auto [key, value] : object) {
      const int index = kFieldTable.find(key);
      if (index >= 0) {
        const uint32_t bit = uint32_t{1} << index;
        twice |= present & bit;
        present |= bit;
        values[static_cast<size_t>(index)] = value;
        if (index == static_cast<int>(Field::attributes)) attributes_at = member;
      }
      ++member;
    }
  }

  /// As if the object did not have it.
  void forget(Field field) {
    const uint32_t others = ~(uint32_t{1} << static_cast<size_t>(field));
    present &= others;
    twice &= others;
  }
};
static_assert(kFields <= 32);

enum class Need : bool { optional, required };

std::optional<std::string_view> as_string(const element& value) {
  std::string_view text;
  if (value.get_string().get(text) != simdjson::SUCCESS) return std::nullopt;
  return text;
}

std::optional<uint64_t> as_number(const element& value, uint64_t min, uint64_t max) {
  uint64_t number = 0;
  if (value.get_uint64().get(number) != simdjson::SUCCESS || number < min || number > max)
    return std::nullopt;
  return number;
}

constexpr std::string_view kNoId = "must be 1-64 characters A-Z a-z 0-9 . _ -";
constexpr std::string_view kNoNumber = "must be an integer in its range";
constexpr std::string_view kNoWord = "is not a word of the protocol";

std::optional<std::string_view> as_id(const element& value) {
  const auto text = as_string(value);
  return text && valid_id(*text) ? text : std::nullopt;
}

/// What the compact carrier says outside of JSON.
struct Head {
  uint32_t type = 0;
  std::string_view conversation = {};
  std::optional<uint32_t> ref = std::nullopt;  ///< of a send
};

}  // namespace

struct ChatReader::Impl {
  explicit Impl(const Options& limits) : options(limits), parser(limits.frame_bytes_max) {
    const auto capacity = std::max<size_t>(options.frame_bytes_max, 64);
    TAUT_ASSERT(parser.allocate(capacity, kJsonDepthMax) == simdjson::SUCCESS);
    TAUT_ASSERT(document.allocate(capacity) == simdjson::SUCCESS);
    string_bytes_max = 5 * capacity / 3 + simdjson::SIMDJSON_PADDING;
  }

  ReadStatus read(std::span<char> in);
  ReadStatus read_compact(std::span<char> body);
  ReadStatus read_object(std::span<char> in);
  bool read_fields();
  bool read_by_type();
  bool read_hello();
  bool read_resume();
  bool read_open();
  bool read_attributes();
  bool read_send();
  bool read_send_lines(std::string_view payload);
  bool read_transfer();
  bool read_presence();

  // Each takes one field into `out`, or refuses the message and says false.
  bool take_id(Field field, std::string_view& out, Need need = Need::required);
  bool take_string(Field field, std::string_view& out, size_t bytes_max, Need need);
  bool take_number(Field field, uint64_t& out, uint64_t min, uint64_t max, Need need = Need::required);
  bool take_number(Field field, uint32_t& out, uint64_t min, uint64_t max, Need need = Need::required);
  bool take_bool(Field field, bool& out);
  template <class E>
  bool take_word(Field field, E& out, E last, Need need = Need::required);

  bool take_ref() { return take_number(Field::ref, message.ref, 0, UINT32_MAX); }
  bool take_conversation(Need need = Need::required);
  bool take_text(std::string_view text, bool clean);

  bool refuse(ErrorCode code, std::string_view why);
  bool refuse(Field field, std::string_view why);
  bool missing(Field field, Need need) { return need == Need::optional || refuse(field, "is missing"); }

  Options options;
  simdjson::dom::parser parser;
  simdjson::dom::document document;
  std::optional<Head> head;         ///< of a frame of the compact carrier
  std::span<char> frame;            ///< its JSON
  Escapes escapes = Escapes::none;  ///< of the frame
  size_t string_bytes_max = 0;      ///< of the document's strings
  FieldSet fields;
  ClientMessage message;
  ReadError error;
  std::array<ResumePoint, kResumeMax> resume;
  std::array<char, 128> error_text;
};

ReadStatus ChatReader::Impl::read(std::span<char> in) {
  TAUT_ASSERT(in.size() <= options.frame_bytes_max);
  head.reset();
  return read_object(in);
}

ReadStatus ChatReader::Impl::read_compact(std::span<char> body) {
  TAUT_ASSERT(body.size() <= options.frame_bytes_max);
  head.emplace();
  fields.present = 0;
  const auto parts = parse_compact_body({body.data(), body.size()});
  if (!parts) {
    refuse(ErrorCode::bad_field, "the frame is not type:conversation:payload");
    return ReadStatus::error;
  }
  *head = {.type = parts->type, .conversation = parts->conversation};
  if (parts->type == static_cast<uint32_t>(ClientType::send)) {
    return read_send_lines(parts->payload) ? ReadStatus::message : ReadStatus::error;
  }
  const ReadStatus status = read_object(body.last(parts->payload.size()));
  if (status != ReadStatus::broken_utf8) return status;
  refuse(ErrorCode::bad_utf8, "the payload is not UTF-8");
  return ReadStatus::error;
}

ReadStatus ChatReader::Impl::read_object(std::span<char> in) {
  frame = in;
  fields.present = 0;
  escapes = repair_escapes(in);
  element root;
  if (parser.parse_into_document(document, in.data(), in.size(), false).get(root) != simdjson::SUCCESS) {
    if (!validate_utf8({in.data(), in.size()})) return ReadStatus::broken_utf8;
    refuse(ErrorCode::bad_json, "the frame is not valid JSON");
    return ReadStatus::error;
  }
  simdjson::dom::object object;
  if (root.get_object().get(object) != simdjson::SUCCESS) {
    refuse(ErrorCode::bad_json, "the frame is not a JSON object");
    return ReadStatus::error;
  }
  fields.collect(object);
  if (head) {
    fields.forget(Field::type);
    fields.forget(Field::conversation);
  }
  if (escapes == Escapes::broken) {
    refuse(ErrorCode::bad_utf8, "a lone surrogate or U+0000 is escaped in the frame");
    return ReadStatus::error;
  }
  return read_fields() ? ReadStatus::message : ReadStatus::error;
}

bool ChatReader::Impl::read_fields() {
  std::optional<std::string_view> name;
  if (!head) {
    const element* type = fields.find(Field::type);
    if (type == nullptr) return refuse(Field::type, "is missing");
    name = as_string(*type);
    if (!name) return refuse(Field::type, "must be a string");
  }
  if (fields.twice != 0) {
    return refuse(static_cast<Field>(std::countr_zero(fields.twice)), "is there twice");
  }
  const auto known = head ? client_type_of(head->type) : client_type_of(*name);
  if (!known) return refuse(ErrorCode::unknown_type, "the type is not in the protocol");
  message = ClientMessage{};
  message.type = *known;
  return read_by_type();
}

bool ChatReader::Impl::read_by_type() {
  switch (message.type) {
    case ClientType::hello:
      return read_hello();
    case ClientType::open:
      return take_ref() && read_open();
    case ClientType::send:
      return take_ref() && read_send();
    case ClientType::typing:
      return take_conversation() && take_bool(Field::on, message.on);
    case ClientType::delivered:
    case ClientType::read:
      return take_conversation() && take_number(Field::seq, message.seq, 1, kIntegerMax);
    case ClientType::history:
      message.limit = kHistoryItemsDefault;
      return take_ref() && take_conversation() &&
             take_number(Field::before, message.before, 1, kIntegerMax, Need::optional) &&
             take_number(Field::limit, message.limit, 1, kHistoryItemsMax, Need::optional);
    case ClientType::presence:
      return take_ref() && read_presence();
    case ClientType::accept:
    case ClientType::decline:
    case ClientType::take:
      return take_ref() && take_conversation();
    case ClientType::transfer:
      return take_ref() && take_conversation() && read_transfer();
    case ClientType::close:
      return take_ref() && take_conversation() &&
             take_string(Field::reason, message.reason, kReasonBytesMax, Need::optional);
    case ClientType::list:
      return take_ref() && take_word(Field::scope, message.scope, ListScope::all) &&
             take_string(Field::cursor, message.cursor, kCursorBytesMax, Need::optional);
    case ClientType::ping:
    case ClientType::replies:
      return take_ref();
    case ClientType::block:
      return take_ref() && take_conversation() &&
             take_number(Field::seconds, message.seconds, 1, kBlockSecondsMax, Need::optional);
    case ClientType::rate:
      return take_ref() && take_conversation() && take_number(Field::rating, message.rating, 1, kRatingMax) &&
             take_string(Field::text, message.text, kRatingTextBytesMax, Need::optional);
  }
  return false;
}

bool ChatReader::Impl::read_hello() {
  if (!take_word(Field::role, message.role, Role::agent)) return false;
  return take_number(Field::version, message.version, 0, UINT32_MAX) && take_id(Field::site, message.site) &&
         take_string(Field::token, message.token, kTokenBytesMax, Need::required) &&
         take_id(Field::device, message.device) &&
         take_string(Field::name, message.name, kNameBytesMax, Need::optional) && read_resume();
}

bool ChatReader::Impl::read_resume() {
  const element* value = fields.find(Field::resume);
  if (value == nullptr) return true;
  simdjson::dom::array points;
  if (value->get_array().get(points) != simdjson::SUCCESS) return refuse(Field::resume, "must be an array");
  size_t count = 0;
  for (const element point : points) {
    if (count == kResumeMax) return refuse(Field::resume, "names too many conversations");
    simdjson::dom::object object;
    if (point.get_object().get(object) != simdjson::SUCCESS)
      return refuse(Field::resume, "must hold objects");
    FieldSet own;
    own.collect(object);
    const element* conversation = own.find(Field::conversation);
    const element* epoch = own.find(Field::epoch);
    const element* seq = own.find(Field::seq);
    const auto id = conversation != nullptr ? as_id(*conversation) : std::nullopt;
    const auto in_epoch = epoch != nullptr ? as_number(*epoch, 0, kIntegerMax) : std::nullopt;
    const auto after = seq != nullptr ? as_number(*seq, 0, kIntegerMax) : std::nullopt;
    if (own.twice != 0 || !id || !in_epoch || !after) {
      return refuse(Field::resume, "must hold {conversation, epoch, seq}");
    }
    resume[count++] = {.conversation = *id, .epoch = *in_epoch, .seq = *after};
  }
  message.resume = std::span(resume).first(count);
  return true;
}

bool ChatReader::Impl::read_open() {
  return take_id(Field::group, message.group, Need::optional) && take_conversation(Need::optional) &&
         take_string(Field::subject, message.subject, kSubjectBytesMax, Need::optional) && read_attributes();
}

/// The parsed tree does not remember where a value stood; the raw text is found by counting members.
bool ChatReader::Impl::read_attributes() {
  const element* value = fields.find(Field::attributes);
  if (value == nullptr) return true;
  if (!value->is_object()) return refuse(Field::attributes, "must be an object");
  message.attributes = raw_member({frame.data(), frame.size()}, fields.attributes_at);
  if (message.attributes.size() > kAttributesBytesMax) return refuse(Field::attributes, "is too long");
  return true;
}

bool ChatReader::Impl::read_send() {
  if (!take_conversation() || !take_id(Field::client_msg_id, message.client_msg_id)) return false;
  if (!take_word(Field::kind, message.kind, ItemKind::note, Need::optional)) return false;
  const element* value = fields.find(Field::text);
  if (value == nullptr) return refuse(Field::text, "is missing");
  const auto text = as_string(*value);
  if (!text) return refuse(Field::text, "must be a string");
  return take_text(*text, escapes == Escapes::none);  // the parser has refused bare control characters
}

bool ChatReader::Impl::take_text(std::string_view text, bool clean) {
  if (text.size() > options.text_bytes_max) return refuse(ErrorCode::too_large, "text: is too long");
  message.text = text;
  message.text_clean = clean;
  return true;
}

/// Refused in the order that JSON is.
bool ChatReader::Impl::read_send_lines(std::string_view payload) {
  message = ClientMessage{};
  message.type = ClientType::send;
  const CompactSend send = parse_compact_send(payload);
  head->ref = send.ref;
  if (!validate_utf8(payload) || payload.find('\0') != std::string_view::npos) {
    return refuse(ErrorCode::bad_utf8, "the payload is not UTF-8, or has U+0000 in it");
  }
  if (!send.ref) return refuse(Field::ref, kNoNumber);
  message.ref = *send.ref;
  if (!take_conversation()) return false;
  message.client_msg_id = send.client_msg_id;
  if (!valid_id(message.client_msg_id)) return refuse(Field::client_msg_id, kNoId);
  const auto kind = value_of(send.kind, ItemKind::note);
  if (!kind) return refuse(Field::kind, kNoWord);
  message.kind = *kind;
  if (!send.text) return refuse(Field::text, "is missing: it begins behind a line feed");
  return take_text(*send.text, json_escaped_size(*send.text) == send.text->size());
}

bool ChatReader::Impl::read_transfer() {
  const element* value = fields.find(Field::to);
  if (value == nullptr) return refuse(Field::to, "is missing");
  simdjson::dom::object object;
  FieldSet target;
  if (value->get_object().get(object) == simdjson::SUCCESS) target.collect(object);
  const element* agent = target.find(Field::agent);
  const element* group = target.find(Field::group);
  if ((agent == nullptr) == (group == nullptr) || target.twice != 0) {
    return refuse(Field::to, "must be {agent} or {group}");
  }
  const auto id = as_id(agent != nullptr ? *agent : *group);
  if (!id) return refuse(Field::to, "must name a valid id");
  (agent != nullptr ? message.to_agent : message.to_group) = *id;
  return true;
}

bool ChatReader::Impl::read_presence() {
  message.has_capacity = fields.find(Field::capacity) != nullptr;
  return take_word(Field::status, message.status, PresenceStatus::offline) &&
         take_number(Field::capacity, message.capacity, 0, kCapacityMax, Need::optional);
}

bool ChatReader::Impl::take_id(Field field, std::string_view& out, Need need) {
  const element* value = fields.find(field);
  if (value == nullptr) return missing(field, need);
  const auto id = as_id(*value);
  if (!id) return refuse(field, kNoId);
  out = *id;
  return true;
}

bool ChatReader::Impl::take_conversation(Need need) {
  if (!head) return take_id(Field::conversation, message.conversation, need);
  if (head->conversation.empty()) return missing(Field::conversation, need);
  if (!valid_id(head->conversation)) return refuse(Field::conversation, kNoId);
  message.conversation = head->conversation;
  return true;
}

bool ChatReader::Impl::take_string(Field field, std::string_view& out, size_t bytes_max, Need need) {
  const element* value = fields.find(field);
  if (value == nullptr) return missing(field, need);
  const auto text = as_string(*value);
  if (!text) return refuse(field, "must be a string");
  if (text->size() > bytes_max) return refuse(field, "is too long");
  out = *text;
  return true;
}

bool ChatReader::Impl::take_number(Field field, uint64_t& out, uint64_t min, uint64_t max, Need need) {
  const element* value = fields.find(field);
  if (value == nullptr) return missing(field, need);
  const auto number = as_number(*value, min, max);
  if (!number) return refuse(field, kNoNumber);
  out = *number;
  return true;
}

bool ChatReader::Impl::take_number(Field field, uint32_t& out, uint64_t min, uint64_t max, Need need) {
  uint64_t wide = out;
  if (!take_number(field, wide, min, max, need)) return false;
  out = static_cast<uint32_t>(wide);
  return true;
}

bool ChatReader::Impl::take_bool(Field field, bool& out) {
  const element* value = fields.find(field);
  if (value == nullptr) return missing(field, Need::required);
  return value->get_bool().get(out) == simdjson::SUCCESS || refuse(field, "must be true or false");
}

template <class E>
bool ChatReader::Impl::take_word(Field field, E& out, E last, Need need) {
  const element* value = fields.find(field);
  if (value == nullptr) return missing(field, need);
  const auto word = as_string(*value);
  const auto known = word ? value_of(*word, last) : std::nullopt;
  if (!known) return refuse(field, kNoWord);
  out = *known;
  return true;
}

/// Always false. What can be known of the request goes with the refusal, whatever else is wrong with it.
bool ChatReader::Impl::refuse(ErrorCode code, std::string_view why) {
  error = ReadError{};
  error.code = code;
  error.message = why;
  std::optional<uint64_t> ref;
  if (head) ref = head->ref;
  if (const element* value = fields.find(Field::ref)) ref = as_number(*value, 0, UINT32_MAX);
  error.has_ref = ref.has_value();
  error.ref = static_cast<uint32_t>(ref.value_or(0));
  if (head && valid_id(head->conversation)) error.conversation = head->conversation;
  if (const element* value = fields.find(Field::conversation))
    error.conversation = as_id(*value).value_or("");
  return false;
}

bool ChatReader::Impl::refuse(Field field, std::string_view why) {
  char* at = error_text.data();
  for (const std::string_view part : {kFieldNames[static_cast<size_t>(field)], std::string_view(" "), why}) {
    const auto room = static_cast<size_t>(error_text.data() + error_text.size() - at);
    at = std::ranges::copy(part.substr(0, room), at).out;
  }
  return refuse(ErrorCode::bad_field, {error_text.data(), static_cast<size_t>(at - error_text.data())});
}

ChatReader::ChatReader(const Options& options) : impl_(std::make_unique<Impl>(options)) {}
ChatReader::ChatReader(ChatReader&&) noexcept = default;
ChatReader& ChatReader::operator=(ChatReader&&) noexcept = default;
ChatReader::~ChatReader() = default;

ReadStatus ChatReader::read(std::span<char> frame) noexcept {
  return impl_->read(frame);
}
ReadStatus ChatReader::read_compact(std::span<char> body) noexcept {
  return impl_->read_compact(body);
}
void ChatReader::wipe() noexcept {
  // simdjson's own bound for the strings of a document of this size, each with its length and a terminator.
  const size_t bytes =
      std::min(impl_->string_bytes_max, 5 * impl_->frame.size() / 3 + simdjson::SIMDJSON_PADDING);
  secure_wipe(impl_->document.string_buf.get(), bytes);
}

const ClientMessage& ChatReader::message() const {
  return impl_->message;
}
const ReadError& ChatReader::error() const {
  return impl_->error;
}

}  // namespace taut::wire
