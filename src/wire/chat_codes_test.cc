#include "wire/chat_codes.h"

#include <gtest/gtest.h>

#include "wire/name_table.h"

namespace taut::wire {
namespace {

TEST(ChatCodes, GiveEachClientTypeBackFromItsName) {
  for (uint32_t number = 1; number <= kClientTypes; ++number) {
    const auto type = static_cast<ClientType>(number);
    EXPECT_EQ(client_type_of(name_of(type)), type);
  }
}

TEST(ChatCodes, KnowNoOtherClientType) {
  for (const std::string_view name : {"", "welcome", "Send", "send ", "sen", "opem"}) {
    EXPECT_EQ(client_type_of(name), std::nullopt) << name;
  }
}

TEST(ChatCodes, HaveTheNumbersOfTheCompactCarrier) {
  EXPECT_EQ(static_cast<int>(ClientType::send), 3);
  EXPECT_EQ(static_cast<int>(ClientType::ping), 15);
  EXPECT_EQ(static_cast<int>(ServerType::message), 35);
  EXPECT_EQ(static_cast<int>(ServerType::error), 48);
  EXPECT_EQ(static_cast<int>(ServerType::bye), 49);
}

TEST(ChatCodes, NameTheFirstAndTheLastOfEachKind) {
  EXPECT_EQ(name_of(ServerType::welcome), "welcome");
  EXPECT_EQ(name_of(ServerType::bye), "bye");
  EXPECT_EQ(name_of(ErrorCode::bad_json), "bad_json");
  EXPECT_EQ(name_of(ErrorCode::no_such_conversation), "no_such_conversation");
  EXPECT_EQ(name_of(ErrorCode::storage), "storage");
  EXPECT_EQ(name_of(EventKind::note_hidden), "note_hidden");
  EXPECT_EQ(name_of(UnassignReason::closed), "closed");
  EXPECT_EQ(name_of(GapReason::no_such_conversation), "no_such_conversation");
  EXPECT_EQ(name_of(Durability::durable_before_deliver), "durable_before_deliver");
  EXPECT_EQ(name_of(static_cast<CloseCode>(1014)), "other");
}

TEST(NameTable, FindsItsNamesAndNothingElse) {
  constexpr NameTable table(std::array<std::string_view, 3>{"on", "ok", "open"});
  EXPECT_EQ(table.find("on"), 0);
  EXPECT_EQ(table.find("open"), 2);
  EXPECT_EQ(table.find("oven"), -1);
  EXPECT_EQ(table.find(""), -1);
}

}  // namespace
}  // namespace taut::wire
