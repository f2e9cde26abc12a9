#include "wire/deflate.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <random>
#include <string>

namespace taut::wire {
namespace {

constexpr uint32_t kMax = 4'000;

std::string chat_text(size_t bytes) {
  std::string text = R"({"type":"message","conversation":"c123-0-1","text":")";
  while (text.size() < bytes) text += "how much is the tent, and the other one? ";
  text.resize(bytes);
  return text;
}

std::string noise(size_t bytes) {
  std::minstd_rand random(7);
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>(random() >> 8);
  return text;
}

/// What a peer writes that allows its own deflater everything: level 9, or blocks that are not compressed.
std::string zlib_payload(std::string_view message, int level = 9, int window_bits = 15,
                         int flush = Z_SYNC_FLUSH) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, level, Z_DEFLATED, -window_bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, message.size()) + 16, '\0');
  stream.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(message.data()));
  stream.avail_in = static_cast<unsigned>(message.size());
  stream.next_out = reinterpret_cast<unsigned char*>(out.data());
  stream.avail_out = static_cast<unsigned>(out.size());
  deflate(&stream, flush);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return flush == Z_SYNC_FLUSH ? out.substr(0, out.size() - 4) : out;
}

std::string inflated(Inflater& inflater, std::string_view payload) {
  const Inflated result = inflater.inflate({payload.data(), payload.size()});
  EXPECT_EQ(result.close_code, CloseCode::none) << result.reason;
  return {result.message.data(), result.message.size()};
}

CloseCode refusal(Inflater& inflater, std::string_view payload) {
  const Inflated result = inflater.inflate({payload.data(), payload.size()});
  EXPECT_TRUE(result.close_code == CloseCode::none || result.message.empty());
  return result.close_code;
}

TEST(Deflater, WritesWhatAnInflaterReads) {
  Deflater deflater(200'000);
  Inflater inflater(150'000);
  for (const size_t bytes : {kDeflateBytesMin, size_t{3'000}, size_t{70'000}, size_t{150'000}}) {
    const std::string text = chat_text(bytes);
    const std::string_view payload = deflater.deflate(text);
    ASSERT_FALSE(payload.empty());
    EXPECT_LT(payload.size(), bytes / 4);
    EXPECT_EQ(inflated(inflater, payload), text);
  }
}

TEST(Deflater, WritesEachMessageOnItsOwn) {
  Deflater deflater(10'000);
  const std::string text = chat_text(2'000);
  const std::string first(deflater.deflate(text));
  EXPECT_EQ(deflater.deflate(text), first);
}

TEST(Deflater, LeavesShortMessagesAndThoseThatDoNotShrink) {
  Deflater deflater(10'000);
  EXPECT_TRUE(deflater.deflate(chat_text(kDeflateBytesMin - 1)).empty());
  EXPECT_TRUE(deflater.deflate(noise(5'000)).empty());
  EXPECT_FALSE(deflater.deflate(chat_text(5'000)).empty());  // and is none the worse for it
  EXPECT_EQ(deflater.bytes_in(), 10'000U);
  EXPECT_GT(deflater.bytes_out(), 5'000U);
  EXPECT_LT(deflater.bytes_out(), 6'000U);
}

TEST(Deflater, LeavesWhatWouldBeLongerThanItsRoom) {
  Deflater deflater(64);
  EXPECT_TRUE(deflater.deflate(chat_text(5'000)).empty());
}

TEST(Deflater, WorksOnceForAMessageThatIsNumbered) {
  Deflater deflater(10'000);
  const std::string payload(deflater.deflate(chat_text(2'000), 1));
  EXPECT_EQ(deflater.deflate(chat_text(2'000), 1), payload);
  EXPECT_EQ(deflater.bytes_in(), 2'000U);
  EXPECT_NE(deflater.deflate(chat_text(3'000), 2), payload);
  EXPECT_EQ(deflater.deflate(chat_text(2'000), 1), payload);
  EXPECT_EQ(deflater.bytes_in(), 7'000U);
  static_cast<void>(deflater.deflate(chat_text(1'500)));
  static_cast<void>(deflater.deflate(chat_text(1'600)));
  EXPECT_EQ(deflater.bytes_in(), 10'100U) << "0 numbers nothing";
}

TEST(Inflater, ReadsWhatPeersWrite) {
  Inflater inflater(kMax);
  const std::string text = chat_text(kMax - 100);  // not compressed it becomes longer
  for (const int level : {0, 1, 6, 9}) EXPECT_EQ(inflated(inflater, zlib_payload(text, level)), text);
  EXPECT_EQ(inflated(inflater, zlib_payload(text, 9, 9)), text);
  EXPECT_EQ(inflated(inflater, std::string_view("\0", 1)), "") << "RFC 7692, 7.2.3.6";
}

// RFC 7692, 7.2.3: the examples.
TEST(Inflater, ReadsTheExamplesOfTheRfc) {
  Inflater inflater(kMax);
  using namespace std::string_view_literals;
  EXPECT_EQ(inflated(inflater, "\xf2\x48\xcd\xc9\xc9\x07\x00"sv), "Hello");
  EXPECT_EQ(inflated(inflater, "\x00\x05\x00\xfa\xff\x48\x65\x6c\x6c\x6f\x00"sv), "Hello");
  EXPECT_EQ(inflated(inflater, "\xf3\x48\xcd\xc9\xc9\x07\x00\x00"sv), "Hello") << "a last block within";
  EXPECT_EQ(inflated(inflater, "\xf2\x48\x05\x00\x00\x00\xff\xff\xca\xc9\xc9\x07\x00"sv), "Hello")
      << "two blocks";
  // 7.2.3.2: refers to the message before, which nobody remembers.
  EXPECT_EQ(refusal(inflater, "\xf2\x00\x11\x00\x00"sv), CloseCode::broken_utf8);
}

TEST(Inflater, TakesAMessageOfItsLimitAndNotOneByteMore) {
  Inflater inflater(kMax);
  EXPECT_EQ(inflated(inflater, zlib_payload(chat_text(kMax))).size(), kMax);
  EXPECT_EQ(refusal(inflater, zlib_payload(chat_text(kMax + 1))), CloseCode::too_big);
  EXPECT_EQ(refusal(inflater, zlib_payload(std::string(4'000'000, 'x'))), CloseCode::too_big) << "a bomb";
  EXPECT_EQ(refusal(inflater, zlib_payload(chat_text(kMax), 9, 15, Z_FINISH) + zlib_payload("x")),
            CloseCode::too_big);
  EXPECT_EQ(inflated(inflater, zlib_payload("as before")), "as before");
}

TEST(Inflater, RefusesWhatNoCompressorWrites) {
  Inflater inflater(kMax);
  using namespace std::string_view_literals;
  EXPECT_EQ(refusal(inflater, ""sv), CloseCode::broken_utf8);
  EXPECT_EQ(refusal(inflater, "\xff\xff\xff"sv), CloseCode::broken_utf8) << "a block type that is none";
  EXPECT_EQ(refusal(inflater, "plain text"sv), CloseCode::broken_utf8);
  EXPECT_EQ(refusal(inflater, zlib_payload(chat_text(2'000), 9, 15, Z_FINISH)), CloseCode::broken_utf8)
      << "a last block, and nothing behind it";
  EXPECT_EQ(inflated(inflater, zlib_payload("as before")), "as before");
}

TEST(Inflater, RefusesAMessageThatIsCutAnywhere) {
  Inflater inflater(kMax);
  const std::string payload = zlib_payload(chat_text(600));
  for (size_t bytes = 0; bytes < payload.size(); ++bytes) {
    const Inflated result = inflater.inflate({payload.data(), bytes});
    EXPECT_TRUE(result.close_code == CloseCode::broken_utf8 || result.message.size() == 600U) << bytes;
  }
  EXPECT_EQ(inflated(inflater, payload).size(), 600U);
}

}  // namespace
}  // namespace taut::wire
