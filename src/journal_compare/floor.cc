#include "journal_compare/floor.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "base/file.h"
#include "core/cycle_clock.h"
#include "journal/format.h"
#include "journal_compare/pin.h"

namespace taut::compare {

namespace {

Result<std::unique_ptr<File>> reserve(PosixFileSystem& files, const std::string& directory, int number) {
  auto file = files.open(directory + "/floor" + std::to_string(number));
  if (!file) return file;
  Status done = (*file)->preallocate(journal::kSegmentBytesDefault);
  if (done) done = (*file)->sync_data();
  if (done) done = files.sync_directory(directory);
  if (!done) return std::unexpected(done.error());
  return file;
}

}  // namespace

Result<Measured> run_floor(const FloorOptions& options) {
  if (const Status pinned = pin(options.cpu); !pinned) return std::unexpected(pinned.error());
  PosixFileSystem files;
  const CycleClock& clock = CycleClock::machine();
  const uint64_t record = journal::record_bytes(options.payload_bytes);
  const std::string bytes(record * *std::ranges::max_element(options.batches), 'x');
  const int64_t begin = clock.now_ns() + static_cast<int64_t>(options.warmup_s * 1e9);
  const int64_t end = begin + static_cast<int64_t>(options.seconds * 1e9);

  Measured measured{.seconds = options.seconds};
  std::unique_ptr<File> file;
  uint64_t offset = 0;
  int number = 0;
  for (size_t i = 0; clock.now_ns() < end; i = (i + 1) % options.batches.size()) {
    const std::string_view part(bytes.data(), record * options.batches[i]);
    if (!file || offset + part.size() > journal::kSegmentBytesDefault) {
      auto reserved = reserve(files, options.directory, ++number);
      if (!reserved) return std::unexpected(reserved.error());
      file = *std::move(reserved);
      offset = 0;
    }
    const int64_t from = clock.now_ns();
    Status done = file->write_at(offset, std::array{part});
    if (done) done = file->sync_data();
    if (!done) return std::unexpected(done.error());
    const int64_t now = clock.now_ns();
    if (from >= begin) measured.ack.record(now - from, options.batches[i]);
    offset += part.size();
  }
  measured.records = measured.ack.count();
  return measured;
}

}  // namespace taut::compare
