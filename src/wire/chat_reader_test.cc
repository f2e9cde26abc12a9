#include "wire/chat_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "wire/client_message_text.h"

namespace taut::wire {
namespace {

/// Reads frames that it owns, with the padding that the reader asks for.
class ChatReaderTest : public testing::Test {
 protected:
  ReadStatus read(std::string_view json) {
    frame_.assign(json.size() + kReadablePadding, '\x5A');
    std::copy(json.begin(), json.end(), frame_.begin());
    return reader_.read(std::span(frame_).first(json.size()));
  }

  const ClientMessage& good(std::string_view json) {
    EXPECT_EQ(read(json), ReadStatus::message) << json << ": " << reader_.error().message;
    return reader_.message();
  }

  /// REQUIRES: the frame is refused.
  const ReadError& bad(std::string_view json) {
    EXPECT_EQ(read(json), ReadStatus::error) << json;
    return reader_.error();
  }

  void expect_bad_field(std::string_view json, std::string_view field) {
    const ReadError& error = bad(json);
    EXPECT_EQ(error.code, ErrorCode::bad_field) << json;
    EXPECT_TRUE(error.message.starts_with(std::string(field) + " ")) << json << ": " << error.message;
  }

  ChatReader reader_;
  std::vector<char> frame_;
};

constexpr std::string_view kSend =
    R"({"type":"send","ref":7,"conversation":"c1","client_msg_id":"m-1","text":"hi"})";

/// Each type with every field, and each with only the fields that it must have.
const std::vector<std::string> kValid = {
    R"({"type":"hello","version":1,"role":"visitor","site":"demo","token":"t.t.t","device":"d1"})",
    R"({"type":"hello","version":1,"role":"agent","site":"demo","token":"t","device":"d1","name":"Zo\u00eb","resume":[{"conversation":"c1","epoch":1,"seq":10},{"conversation":"c2","epoch":2,"seq":0}]})",
    R"({"type":"open","ref":1})",
    R"({"type":"open","ref":1,"group":"sales","conversation":"c9","subject":"a \"b\"","attributes":{"page":"/x","n":[1,2]}})",
    std::string(kSend),
    R"({"type":"send","ref":4294967295,"conversation":"c1","client_msg_id":"m","text":"\ud83d\ude00\n","kind":"note"})",
    R"({"type":"typing","conversation":"c1","on":true})",
    R"({"type":"delivered","conversation":"c1","seq":3})",
    R"({"type":"read","conversation":"c1","seq":9007199254740991})",
    R"({"type":"history","ref":2,"conversation":"c1"})",
    R"({"type":"history","ref":2,"conversation":"c1","before":10,"limit":200})",
    R"({"type":"presence","ref":3,"status":"away"})",
    R"({"type":"presence","ref":3,"status":"online","capacity":5})",
    R"({"type":"accept","ref":4,"conversation":"c1"})",
    R"({"type":"decline","ref":4,"conversation":"c1"})",
    R"({"type":"take","ref":4,"conversation":"c1"})",
    R"({"type":"transfer","ref":5,"conversation":"c1","to":{"agent":"a2"}})",
    R"({"type":"transfer","ref":5,"conversation":"c1","to":{"group":"support"}})",
    R"({"type":"close","ref":6,"conversation":"c1"})",
    R"({"type":"close","ref":6,"conversation":"c1","reason":"solved"})",
    R"({"type":"list","ref":7,"scope":"mine"})",
    R"({"type":"list","ref":7,"scope":"all","cursor":"abc=="})",
    R"({"type":"ping","ref":0})",
    R"({"type":"replies","ref":0})",
    R"({"type":"block","ref":8,"conversation":"c1"})",
    R"({"type":"block","ref":8,"conversation":"c1","seconds":60})",
    R"({"type":"rate","ref":8,"conversation":"c1","rating":1})",
    R"({"type":"rate","ref":8,"conversation":"c1","rating":5,"text":"kind"})",
};

TEST_F(ChatReaderTest, ReadsEachTypeAndReadsItsTextAgainTheSame) {
  for (const std::string& json : kValid) {
    const std::string once = to_text(good(json));
    EXPECT_EQ(to_text(good(once)), once);
  }
}

TEST_F(ChatReaderTest, ReadsSend) {
  const ClientMessage& m = good(
      R"({"text":"a\tb \u20ac","kind":"note","conversation":"c1","client_msg_id":"m.1","ref":9,"type":"send"})");
  EXPECT_EQ(m.type, ClientType::send);
  EXPECT_EQ(m.ref, 9U);
  EXPECT_EQ(m.conversation, "c1");
  EXPECT_EQ(m.client_msg_id, "m.1");
  EXPECT_EQ(m.text, "a\tb \xE2\x82\xAC");
  EXPECT_FALSE(m.text_clean);
  EXPECT_EQ(m.kind, ItemKind::note);
  EXPECT_TRUE(good(kSend).text_clean);
}

TEST_F(ChatReaderTest, ReadsHello) {
  const ClientMessage& m = good(kValid[1]);
  EXPECT_EQ(m.role, Role::agent);
  EXPECT_EQ(m.version, 1U);
  EXPECT_EQ(m.site, "demo");
  EXPECT_EQ(m.token, "t");
  EXPECT_EQ(m.device, "d1");
  EXPECT_EQ(m.name, "Zo\xC3\xAB");
  ASSERT_EQ(m.resume.size(), 2U);
  EXPECT_EQ(m.resume[0].seq, 10U);
  EXPECT_EQ(m.resume[1].conversation, "c2");
  EXPECT_EQ(m.resume[1].epoch, 2U);
}

TEST_F(ChatReaderTest, KeepsAttributesAsTheyAreWritten) {
  const ClientMessage& m =
      good(R"({ "type":"open", "x":[{"attributes":0}], "\u0061ttributes" : {"a": "}\"", "b":{} } ,"ref":1})");
  EXPECT_EQ(m.attributes, R"({"a": "}\"", "b":{} })");
}

TEST_F(ChatReaderTest, KeepsNothingOfTheMessageBefore) {
  good(kValid[1]);
  good(kValid[5]);
  const ClientMessage& m = good(R"({"type":"ping","ref":1})");
  EXPECT_TRUE(m.text.empty() && m.token.empty() && m.resume.empty() && m.conversation.empty());
  EXPECT_EQ(m.kind, ItemKind::text);
}

TEST_F(ChatReaderTest, FillsTheDefaultsOfHistory) {
  const ClientMessage& m = good(R"({"type":"history","ref":2,"conversation":"c1"})");
  EXPECT_EQ(m.before, 0U);
  EXPECT_EQ(m.limit, kHistoryItemsDefault);
}

TEST_F(ChatReaderTest, IgnoresUnknownFieldsAndBlanks) {
  good(
      " \n{\"type\" :\t\"ping\", \"x\":{\"ref\":\"no\",\"type\":1}, \"y\":[null,1e3,-5], \"ref\":1, "
      "\"text\":false}\r\n ");
}

TEST_F(ChatReaderTest, RefusesEveryPrefixOfEveryMessage) {
  for (const std::string& json : kValid) {
    for (size_t size = 0; size < json.size(); ++size) {
      ASSERT_EQ(bad(std::string_view(json).substr(0, size)).code, ErrorCode::bad_json)
          << json << " cut at " << size;
    }
  }
}

TEST_F(ChatReaderTest, RefusesWhatIsNotOneJsonObject) {
  for (const std::string_view json :
       {"", " ", "1", "null", "\"x\"", "[]", "[{}]", "{}{}", "{} x", R"({"type":"ping","ref":1}})",
        R"({"type":"ping","ref":1,})", R"({"type":"ping","ref":01})", R"({"type":"ping","ref":1,"x":tru})",
        R"({"type":"ping","ref":1,"x":[1,]})", R"({"type":"ping","ref":1,"x":"\q"})",
        "{\"type\":\"pi\nng\",\"ref\":1}", R"({'type':'ping'})", R"({"type":"ping" "ref":1})",
        R"({"type":"ping","ref":1,"x":1e999})"}) {
    EXPECT_EQ(bad(json).code, ErrorCode::bad_json) << json;
  }
}

TEST_F(ChatReaderTest, RefusesDeepNestingAndStaysUsable) {
  const auto nested = [](size_t depth) {
    return R"({"type":"ping","ref":1,"x":)" + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  good(nested(kJsonDepthMax - 2));
  EXPECT_EQ(bad(nested(kJsonDepthMax)).code, ErrorCode::bad_json);
  EXPECT_EQ(bad(nested(40'000)).code, ErrorCode::bad_json);
  good(kSend);
}

TEST_F(ChatReaderTest, AnswersAnUnknownTypeWithTheRefIfThereIsOne) {
  const ReadError& with = bad(R"({"type":"sendd","ref":5,"conversation":"c1"})");
  EXPECT_EQ(with.code, ErrorCode::unknown_type);
  EXPECT_TRUE(with.has_ref);
  EXPECT_EQ(with.ref, 5U);
  EXPECT_EQ(with.conversation, "c1");
  const ReadError& without = bad(R"({"type":"welcome"})");
  EXPECT_EQ(without.code, ErrorCode::unknown_type);
  EXPECT_FALSE(without.has_ref);
  EXPECT_TRUE(without.conversation.empty());
}

TEST_F(ChatReaderTest, RefusesARefThatIsNotAnUnsigned32BitNumber) {
  for (const std::string_view ref :
       {"-1", "4294967296", "1.0", "1e2", "\"1\"", "null", "true", "[]", "18446744073709551615"}) {
    expect_bad_field(R"({"type":"ping","ref":)" + std::string(ref) + "}", "ref");
    EXPECT_FALSE(reader_.error().has_ref);
  }
  expect_bad_field(R"({"type":"ping"})", "ref");
}

TEST_F(ChatReaderTest, RefusesIdsThatAreNotIds) {
  const std::string most(kIdBytesMax, 'x');
  const auto send_to = [](std::string_view id) {
    return R"({"type":"send","ref":7,"client_msg_id":"m","text":"","conversation":)" + std::string(id) + "}";
  };
  good(send_to("\"" + most + "\""));
  for (const std::string& id : {std::string(R"("")"), "\"" + most + "x\"", std::string(R"("a b")"),
                                std::string(R"("\u00e9")"), std::string("7"), std::string("null")}) {
    expect_bad_field(send_to(id), "conversation");
    EXPECT_EQ(reader_.error().ref, 7U);
    EXPECT_TRUE(reader_.error().conversation.empty());
  }
}

TEST_F(ChatReaderTest, RefusesEachMissingFieldByName) {
  for (const auto& [json, required] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {kValid[0], {"version", "role", "site", "token", "device"}},
           {kValid[4], {"ref", "conversation", "client_msg_id", "text"}},
           {kValid[6], {"conversation", "on"}},
           {kValid[7], {"conversation", "seq"}},
           {kValid[9], {"ref", "conversation"}},
           {kValid[11], {"ref", "status"}},
           {kValid[13], {"ref", "conversation"}},
           {kValid[16], {"ref", "conversation", "to"}},
           {kValid[18], {"ref", "conversation"}},
           {kValid[20], {"ref", "scope"}}}) {
    for (const std::string& field : required) {
      std::string without = json;
      without.replace(without.find("\"" + field + "\""), field.size() + 2, "\"other\"");
      expect_bad_field(without, field);
    }
  }
}

TEST_F(ChatReaderTest, RefusesEachFieldOfTheWrongKindByName) {
  expect_bad_field(R"({"ref":1})", "type");
  expect_bad_field(R"({"type":3,"ref":1})", "type");
  expect_bad_field(R"({"type":"typing","conversation":"c1","on":1})", "on");
  expect_bad_field(R"({"type":"read","conversation":"c1","seq":0})", "seq");
  expect_bad_field(R"({"type":"read","conversation":"c1","seq":9007199254740992})", "seq");
  expect_bad_field(R"({"type":"history","ref":1,"conversation":"c1","limit":201})", "limit");
  expect_bad_field(R"({"type":"history","ref":1,"conversation":"c1","limit":0})", "limit");
  expect_bad_field(R"({"type":"history","ref":1,"conversation":"c1","before":"9"})", "before");
  expect_bad_field(R"({"type":"presence","ref":1,"status":"Online"})", "status");
  expect_bad_field(R"({"type":"presence","ref":1,"status":"online","capacity":-1})", "capacity");
  expect_bad_field(R"({"type":"presence","ref":1,"status":"online","capacity":10001})", "capacity");
  expect_bad_field(R"({"type":"list","ref":1,"scope":"none"})", "scope");
  for (const std::string_view rating : {"0", "6", "2.5", R"("5")", "-1"}) {
    expect_bad_field(R"({"type":"rate","ref":1,"conversation":"c1","rating":)" + std::string(rating) + "}",
                     "rating");
  }
  expect_bad_field(R"({"type":"block","ref":1,"conversation":"c1","seconds":0})", "seconds");
  expect_bad_field(R"({"type":"block","ref":1,"conversation":"c1","seconds":31622401})", "seconds");
  expect_bad_field(R"({"type":"rate","ref":1,"conversation":"c1"})", "rating");
  expect_bad_field(R"({"type":"rate","ref":1,"conversation":"c1","rating":3,"text":")" +
                       std::string(kRatingTextBytesMax + 1, 'x') + "\"}",
                   "text");
  expect_bad_field(R"({"type":"close","ref":1,"conversation":"c1","reason":null})", "reason");
  expect_bad_field(R"({"type":"open","ref":1,"attributes":[]})", "attributes");
  expect_bad_field(R"({"type":"open","ref":1,"subject":{}})", "subject");
  expect_bad_field(R"({"type":"send","ref":1,"conversation":"c","client_msg_id":"m","text":1})", "text");
  expect_bad_field(
      R"({"type":"send","ref":1,"conversation":"c","client_msg_id":"m","text":"","kind":"html"})", "kind");
  expect_bad_field(R"({"type":"hello","version":1,"role":"admin","site":"s","token":"t","device":"d"})",
                   "role");
}

TEST_F(ChatReaderTest, RefusesATransferWithoutExactlyOneTarget) {
  for (const std::string_view to : {"{}", R"({"agent":"a","group":"g"})", R"({"agent":"a","agent":"a"})",
                                    R"("a")", R"({"agent":""})", R"({"group":7})"}) {
    expect_bad_field(R"({"type":"transfer","ref":1,"conversation":"c1","to":)" + std::string(to) + "}", "to");
  }
}

TEST_F(ChatReaderTest, RefusesAKnownFieldGivenTwice) {
  expect_bad_field(R"({"type":"ping","ref":1,"ref":1})", "ref");
  expect_bad_field(
      R"({"type":"send","ref":1,"conversation":"c","client_msg_id":"m","text":"a","t\u0065xt":"b"})", "text");
  good(R"({"type":"ping","ref":1,"x":1,"x":2})");
}

std::string hello_with_resume(size_t points) {
  std::string list;
  for (size_t i = 0; i < points; ++i)
    list += (i == 0 ? "" : ",") + std::string(R"({"conversation":"c","epoch":1,"seq":1})");
  return R"({"type":"hello","version":1,"role":"visitor","site":"s","token":"t","device":"d","resume":[)" +
         list + "]}";
}

TEST_F(ChatReaderTest, BoundsTheResumeList) {
  EXPECT_EQ(good(hello_with_resume(kResumeMax)).resume.size(), kResumeMax);
  expect_bad_field(hello_with_resume(kResumeMax + 1), "resume");
}

TEST_F(ChatReaderTest, RefusesBrokenResumePoints) {
  for (const std::string_view point :
       {"1", "{}", R"({"conversation":"c","epoch":1})", R"({"conversation":"","epoch":1,"seq":1})",
        R"({"conversation":"c","epoch":1,"seq":-1})",
        R"({"conversation":"c","epoch":1,"epoch":1,"seq":1})"}) {
    std::string json = hello_with_resume(0);
    json.insert(json.size() - 2, point);
    expect_bad_field(json, "resume");
  }
}

TEST_F(ChatReaderTest, BoundsEachFreeTextByName) {
  const auto open = [](std::string_view field, const std::string& value) {
    return R"({"type":"open","ref":1,")" + std::string(field) + "\":" + value + "}";
  };
  good(open("subject", "\"" + std::string(kSubjectBytesMax, 'x') + "\""));
  expect_bad_field(open("subject", "\"" + std::string(kSubjectBytesMax + 1, 'x') + "\""), "subject");
  good(open("attributes", R"({"a":")" + std::string(kAttributesBytesMax - 8, 'x') + "\"}"));
  expect_bad_field(open("attributes", R"({"a":")" + std::string(kAttributesBytesMax - 7, 'x') + "\"}"),
                   "attributes");
}

std::string send_text(std::string_view raw) {
  return R"({"type":"send","ref":7,"conversation":"c1","client_msg_id":"m","text":")" + std::string(raw) +
         "\"}";
}

TEST_F(ChatReaderTest, TakesATextOfTheLimitAndRefusesOneByteMore) {
  EXPECT_EQ(good(send_text(std::string(kTextBytesMax - 1, 'x'))).text.size(), kTextBytesMax - 1);
  EXPECT_EQ(good(send_text(std::string(kTextBytesMax, 'x'))).text.size(), kTextBytesMax);
  const ReadError& error = bad(send_text(std::string(kTextBytesMax + 1, 'x')));
  EXPECT_EQ(error.code, ErrorCode::too_large);
  EXPECT_TRUE(error.has_ref);
  EXPECT_EQ(error.ref, 7U);
  EXPECT_EQ(error.conversation, "c1");
}

TEST_F(ChatReaderTest, MeasuresTheTextAfterUnescaping) {
  std::string escaped;
  for (uint32_t i = 0; i < kTextBytesMax; ++i) escaped += "\\u0041";
  EXPECT_EQ(good(send_text(escaped)).text, std::string(kTextBytesMax, 'A'));
  EXPECT_EQ(bad(send_text(escaped + "\\u0041")).code, ErrorCode::too_large);
}

TEST_F(ChatReaderTest, TakesAFrameOfTheLimit) {
  std::string json = R"({"type":"ping","ref":1,"x":""})";
  json.insert(json.size() - 2, kChatFrameBytesMax - json.size(), 'x');
  good(json);
}

TEST_F(ChatReaderTest, AnswersLoneSurrogatesAndZeroWithBadUtf8AndTheRef) {
  for (const std::string_view escape :
       {R"(\ud83d)", R"(\ude00)", R"(\u0000)", R"(\ud83d\u0041)", R"(\uDE00\uD83D)"}) {
    const ReadError& error = bad(send_text("x" + std::string(escape) + "y"));
    EXPECT_EQ(error.code, ErrorCode::bad_utf8) << escape;
    EXPECT_TRUE(error.has_ref);
    EXPECT_EQ(error.ref, 7U);
    EXPECT_EQ(error.conversation, "c1");
  }
  EXPECT_EQ(bad(R"({"type":"open","ref":1,"attributes":{"a":"\ud83d"}})").code, ErrorCode::bad_utf8);
  EXPECT_EQ(bad(R"({"type":"ping","ref":1,"\u0000":1})").code, ErrorCode::bad_utf8);
  EXPECT_EQ(bad(R"({"type":"ping","ref":1,"x":"\ud83d")").code, ErrorCode::bad_json);
}

TEST_F(ChatReaderTest, TakesEmojiMarksAndEveryPlane) {
  EXPECT_EQ(good(send_text(R"(\ud83d\ude00)")).text, "\xF0\x9F\x98\x80");
  const std::string raw = "\xF0\x9F\x98\x80 \xE2\x80\x8F\xD7\xA9 \xF4\x8F\xBF\xBF \x7F";
  EXPECT_EQ(good(send_text(raw)).text, raw);
}

TEST_F(ChatReaderTest, ReportsRawBrokenUtf8WhereverItStands) {
  for (const std::string_view broken : {"\xFF", "\xC3", "\xED\xA0\x80", "\xC0\x80"}) {
    EXPECT_EQ(read(send_text(broken)), ReadStatus::broken_utf8);
    EXPECT_EQ(read(R"({"type":"ping","ref":1,"x":")" + std::string(broken) + "\"}"), ReadStatus::broken_utf8);
    EXPECT_EQ(read(std::string(broken)), ReadStatus::broken_utf8);
    EXPECT_EQ(read("{\"" + std::string(broken)), ReadStatus::broken_utf8);
    EXPECT_EQ(read(R"({"type":"ping","ref":1})" + std::string(broken)), ReadStatus::broken_utf8);
  }
}

TEST_F(ChatReaderTest, HoldsAnErrorOnlyForItsOwnFrame) {
  bad(send_text(R"(\ud83d)"));
  const ReadError& error = bad("{");
  EXPECT_EQ(error.code, ErrorCode::bad_json);
  EXPECT_FALSE(error.has_ref);
  EXPECT_TRUE(error.conversation.empty());
}

TEST_F(ChatReaderTest, KeepsReadableBytesBehindTheText) {
  const ClientMessage& m = good(send_text(std::string(kTextBytesMax, 'x')));
  uint32_t sum = 0;  // the address sanitizer watches
  for (size_t i = 0; i < kReadablePadding; ++i)
    sum += static_cast<unsigned char>(m.text.data()[m.text.size() + i]);
  EXPECT_GE(sum, 0U);
}

}  // namespace
}  // namespace taut::wire
