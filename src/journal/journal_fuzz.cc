// Any bytes as a segment, and a whole journal with any bytes of it changed: reading ends, finds records in
// order only, and what was read is read again behind what the next process adds.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/assert.h"
#include "base/memory_files.h"
#include "journal/journal_reader.h"
#include "journal/journal_writer.h"

namespace {

using namespace taut;
using namespace taut::journal;

const std::string kDirectory = "journal";
constexpr uint64_t kSegmentBytes = 1024;

std::string path_of(uint64_t number) {
  return kDirectory + "/" + segment_name(number);
}

/// The payloads of what can be read, or nothing where it is refused.
Result<std::vector<std::string>> read_all(MemoryFileSystem& files, JournalEnd& end) {
  std::vector<std::string> payloads;
  const auto read = read_journal(files, kDirectory, [&](const Record& record) {
    payloads.emplace_back(record.payload);
    TAUT_ASSERT(record.sequence == payloads.size());
    return Status();
  });
  if (!read) return std::unexpected(read.error());
  TAUT_ASSERT(read->next_sequence == payloads.size() + 1);
  end = *read;
  return payloads;
}

void write_two(MemoryFileSystem& files, const JournalEnd& end) {
  auto writer = JournalWriter::open(files, {.directory = kDirectory, .segment_bytes = kSegmentBytes}, end);
  TAUT_ASSERT(writer.has_value());
  writer->append({.time_ms = 1, .payload = "one"});
  writer->append({.time_ms = 2, .payload = "another"});
  TAUT_ASSERT(writer->commit().has_value());
}

/// Two processes' segments, with a byte changed for every three of the input: where (two), and by what.
void change_a_journal(MemoryFileSystem& files, const uint8_t* data, size_t size) {
  JournalEnd end;
  for (int life = 0; life < 2; ++life) {
    write_two(files, end);
    TAUT_ASSERT(read_all(files, end).has_value());
  }
  for (; size >= 3; data += 3, size -= 3) {
    const std::string path = path_of(1 + data[0] / 128U);
    std::string content = files.content(path);
    const size_t at = (data[0] % 128U * 256U + data[1]) % kSegmentBytes;
    if (at < content.size()) content[at] = static_cast<char>(content[at] ^ data[2]);
    files.set_content(path, content);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kBytesMax = 4'096;
  if (size == 0 || size > kBytesMax) return 0;
  MemoryFileSystem files;
  TAUT_ASSERT(files.create_directory(kDirectory).has_value());
  if (data[0] % 2 == 0) {
    files.set_content(path_of(1), std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
  } else {
    change_a_journal(files, data + 1, size - 1);
  }
  JournalEnd end;
  const auto before = read_all(files, end);
  if (!before) {
    TAUT_ASSERT(!before.error().message.empty());
    return 0;
  }
  write_two(files, end);
  const auto after = read_all(files, end);
  TAUT_ASSERT(after.has_value() && after->size() == before->size() + 2);
  for (size_t i = 0; i < before->size(); ++i) TAUT_ASSERT((*after)[i] == (*before)[i]);
  TAUT_ASSERT(after->back() == "another");
  return 0;
}
