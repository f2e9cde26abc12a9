// The journal itself.
#include <utility>

#include "base/file.h"
#include "journal/journal_writer.h"
#include "journal_compare/arm.h"

namespace taut::compare {

namespace {

class TautArm final : public Arm {
 public:
  explicit TautArm(journal::JournalWriter writer) : writer_(std::move(writer)) {}
  ~TautArm() override { writer_.close(); }

  Status commit(std::span<const journal::Record> batch) override {
    for (const journal::Record& record : batch) writer_.append(record);
    return writer_.commit();
  }
  Status idle() override { return writer_.prepare_next(); }

 private:
  journal::JournalWriter writer_;
};

}  // namespace

Result<std::unique_ptr<Arm>> make_taut_arm(const std::string& directory) {
  static PosixFileSystem files;
  auto writer = journal::JournalWriter::open(files, {.directory = directory + "/journal"}, {});
  if (!writer) return std::unexpected(writer.error());
  return std::make_unique<TautArm>(*std::move(writer));
}

}  // namespace taut::compare
