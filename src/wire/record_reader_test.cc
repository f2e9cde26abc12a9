#include "wire/record_reader.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "wire/record_json_testing.h"

namespace taut::wire {
namespace {

/// What the reader says of it: empty, or what is wrong.
template <class M>
std::string fault_of(std::string_view payload) {
  RecordReader reader;
  M out;
  const Status status = reader.read(payload, out);
  return status ? "" : status.error().message;
}

/// Random values; views into what it keeps.
class RandomRecords {
 public:
  explicit RandomRecords(uint32_t seed) : random_(seed) {}

  [[nodiscard]] Started started() { return {.version = text(), .clean = coin()}; }
  [[nodiscard]] ConversationFacts conversation() {
    return {.conversation = id(),
            .group = id(),
            .visitor = id(),
            .name = text(),
            .subject = text(),
            .attributes = coin() ? keep(R"({ "a" : [1, {"b":"}\"{"}], "\n":null})") : std::string_view{}};
  }
  [[nodiscard]] Marks marks() {
    return {.conversation = id(),
            .visitor_delivered = number(),
            .visitor_read = number(),
            .agent_delivered = number(),
            .agent_read = number(),
            .marked_by = coin() ? id() : std::string_view{}};
  }
  [[nodiscard]] PresenceSet presence() {
    return {.agent = id(),
            .status = word(PresenceStatus::offline),
            .capacity = coin() ? PresenceSet::kTokenCapacity : static_cast<uint32_t>(random_())};
  }
  [[nodiscard]] VisitorBlocked block() { return {.visitor = id(), .until_ms = number()}; }
  [[nodiscard]] VisitorForgotten forgotten() { return {.visitor = id()}; }
  [[nodiscard]] Message message() {
    return {.conversation = id(),
            .epoch = number(),
            .seq = number(),
            .from = {.kind = word(PartyKind::system), .id = id(), .name = text()},
            .client_msg_id = id(),
            .kind = word(ItemKind::note),
            .text = text(),
            .ts = number()};
  }
  [[nodiscard]] Event event() {
    return {.conversation = id(),
            .epoch = number(),
            .seq = number(),
            .event = word(EventKind::rated),
            .agent = coin() ? id() : std::string_view{},
            .group = coin() ? id() : std::string_view{},
            .reason = text(),
            .rating = random_() % (kRatingMax + 1),
            .text = text(),
            .owner_epoch = random_() & UINT32_MAX,
            .ts = number()};
  }

 private:
  [[nodiscard]] bool coin() { return random_() % 2 == 0; }
  [[nodiscard]] uint64_t number() { return random_() >> (11 + random_() % 53); }
  template <class E>
  [[nodiscard]] E word(E last) {
    return static_cast<E>(random_() % (static_cast<uint64_t>(last) + 1));
  }
  [[nodiscard]] std::string_view id() {
    constexpr std::string_view kCharacters = "AZaz09._-";
    std::string out;
    for (uint64_t i = random_() % kIdBytesMax + 1; i > 0; --i)
      out += kCharacters[random_() % kCharacters.size()];
    return keep(out);
  }
  /// Control characters, what needs an escape, and each length of UTF-8.
  [[nodiscard]] std::string_view text() {
    constexpr std::array<std::string_view, 12> kPieces = {
        "\x01", "\x1F", "\n", "\"", "\\", "/", "a", "\x7F", "\u00e9", "\u20ac", "\U0001F600", "\u2028"};
    std::string out;
    for (uint64_t i = random_() % 40; i > 0; --i) out += kPieces[random_() % kPieces.size()];
    return keep(out);
  }
  [[nodiscard]] std::string_view keep(std::string text) {
    kept_.push_back(std::make_unique<std::string>(std::move(text)));
    return *kept_.back();
  }

  std::mt19937_64 random_;
  std::vector<std::unique_ptr<std::string>> kept_;
};

/// Each field that is written is read, so equal texts mean equal values.
template <class M, class Read = M>
void expect_round_trip(RecordReader& reader, const M& in) {
  const std::string once = payload_of(in);
  Read out;
  const Status status = reader.read(once, out);
  ASSERT_TRUE(status) << status.error().message << " in " << once;
  EXPECT_EQ(payload_of(out), once);
}

TEST(RecordReader, ReadsBackWhateverWasWritten) {
  RecordReader reader;
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomRecords random(seed);
    expect_round_trip(reader, random.started());
    expect_round_trip(reader, random.conversation());
    expect_round_trip(reader, random.marks());
    expect_round_trip(reader, random.presence());
    expect_round_trip(reader, random.block());
    expect_round_trip(reader, random.forgotten());
    expect_round_trip<Message, ItemObject>(reader, random.message());
    expect_round_trip<Event, ItemObject>(reader, random.event());
    ASSERT_FALSE(testing::Test::HasFailure());
  }
}

TEST(RecordReader, UnescapesTextsAndLeavesAttributesAsTheyAre) {
  RecordReader reader;
  ConversationFacts facts;
  ASSERT_TRUE(reader.read(
      R"({"conversation":"c","group":"g","visitor":"v","name":"\u00e9\n","attributes": { "x" : "\n" } })",
      facts));
  EXPECT_EQ(facts.name, "\u00e9\n");
  EXPECT_EQ(facts.attributes, R"({ "x" : "\n" })");
}

TEST(RecordReader, TellsMessagesFromEvents) {
  RecordReader reader;
  ItemObject item;
  const Message message{.conversation = "c1",
                        .epoch = 2,
                        .seq = 7,
                        .from = {.kind = PartyKind::agent, .id = "a1", .name = "Ann"},
                        .client_msg_id = "m1",
                        .kind = ItemKind::note,
                        .text = "h\u00e9\"",
                        .ts = 5};
  ASSERT_TRUE(reader.read(payload_of(message), item));
  ASSERT_TRUE(std::holds_alternative<Message>(item));
  const auto& read = std::get<Message>(item);
  EXPECT_EQ(read.from.kind, PartyKind::agent);
  EXPECT_EQ(read.from.id, "a1");
  EXPECT_EQ(read.kind, ItemKind::note);
  EXPECT_EQ(read.text, "h\u00e9\"");
  ASSERT_TRUE(reader.read(payload_of(Event{.conversation = "c1", .event = EventKind::closed}), item));
  ASSERT_TRUE(std::holds_alternative<Event>(item));
  EXPECT_EQ(std::get<Event>(item).event, EventKind::closed);
}

TEST(RecordReader, NothingOfAnEarlierReadIsLeft) {
  RecordReader reader;
  PresenceSet presence;
  ASSERT_TRUE(reader.read(R"({"agent":"a1","status":"busy","capacity":3})", presence));
  ASSERT_TRUE(reader.read(R"({"agent":"a1","status":"away"})", presence));
  EXPECT_EQ(presence.capacity, PresenceSet::kTokenCapacity);
  ItemObject item;
  ASSERT_TRUE(reader.read(payload_of(Event{.conversation = "c1", .agent = "a1", .reason = "x"}), item));
  ASSERT_TRUE(reader.read(payload_of(Event{.conversation = "c1"}), item));
  EXPECT_TRUE(std::get<Event>(item).agent.empty());
}

TEST(RecordReader, FieldsThatItDoesNotKnowAreIgnored) {
  EXPECT_EQ(fault_of<VisitorBlocked>(R"({"by":{"agent":"a"},"visitor":"v1","until_ms":1})"), "");
}

TEST(RecordReader, NamesTheFieldThatIsWrong) {
  EXPECT_EQ(fault_of<Started>(R"({"clean":true})"), "version: is missing");
  EXPECT_EQ(fault_of<Started>(R"({"version":"1","clean":1})"), "clean: must be true or false");
  EXPECT_EQ(fault_of<VisitorBlocked>(R"({"visitor":"a b","until_ms":1})"),
            "visitor: must be 1-64 characters A-Z a-z 0-9 . _ -");
  EXPECT_EQ(fault_of<VisitorBlocked>(R"({"visitor":"v","until_ms":9007199254740992})"),
            "until_ms: must be an integer in its range");
  EXPECT_EQ(fault_of<VisitorForgotten>(R"({"visitor":"v1","why":"asked"})"), "");
  EXPECT_NE(fault_of<VisitorForgotten>(R"({"visitor":"a b"})"), "");
  EXPECT_NE(fault_of<VisitorForgotten>("{}"), "");
  EXPECT_EQ(fault_of<VisitorBlocked>(R"({"visitor":"v","until_ms":-1})"),
            "until_ms: must be an integer in its range");
  EXPECT_EQ(fault_of<PresenceSet>(R"({"agent":"a","status":"asleep"})"),
            "status: is not a word of the protocol");
  EXPECT_EQ(fault_of<ConversationFacts>(R"({"conversation":"c","group":"g","visitor":"v","attributes":1})"),
            "attributes: must be an object");
  EXPECT_EQ(fault_of<Marks>(R"({"conversation":"c"})"), "visitor_delivered: is missing");
  EXPECT_EQ(fault_of<ItemObject>(R"({"type":"ack"})"), "type: must be message or event");
  std::string json = payload_of(Message{.conversation = "c", .from = {.id = "v"}, .client_msg_id = "m"});
  EXPECT_EQ(fault_of<ItemObject>(json), "");
  json.replace(json.find(R"("id":"v")"), 8, R"("id":"" )");
  EXPECT_EQ(fault_of<ItemObject>(json), "from.id: must be 1-64 characters A-Z a-z 0-9 . _ -");
}

TEST(RecordReader, RefusesWhatIsNoObjectAndWhatNoTextMayHold) {
  for (const std::string_view payload : {"", "{", "[]", "null", "{} {}", R"({"version":"1","clean":true)"})
    EXPECT_EQ(fault_of<Started>(payload), "not a JSON object") << payload;
  EXPECT_EQ(fault_of<Started>("{\"version\":\"\xFF\",\"clean\":true}"), "not a JSON object");
  for (const std::string_view escape : {R"(\u0000)", R"(\ud800)", R"(\udc00x)"}) {
    EXPECT_EQ(fault_of<Started>(R"({"version":")" + std::string(escape) + R"(","clean":true})"),
              "a lone surrogate or U+0000 is escaped in it");
  }
}

TEST(RecordReader, ReadsEveryPrefixWithoutReadingPastIt) {
  const std::string json = payload_of(Event{.conversation = "c1", .agent = "a1", .text = "\u20ac"});
  for (size_t size = 0; size < json.size(); ++size) {
    const std::vector<char> part(json.begin(), json.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_NE(fault_of<ItemObject>({part.data(), part.size()}), "") << size;
  }
}

}  // namespace
}  // namespace taut::wire
