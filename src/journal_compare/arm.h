// One way to make a batch of records durable: the journal, or a rival.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "journal/record.h"

namespace taut::compare {

/// The committing thread's; what it writes goes into an empty directory of its own.
class Arm {
 public:
  Arm() = default;
  Arm(const Arm&) = delete;
  Arm& operator=(const Arm&) = delete;
  virtual ~Arm() = default;

  /// Returns when all of the batch survives a loss of power.
  [[nodiscard]] virtual Status commit(std::span<const journal::Record> batch) = 0;
  /// There is nothing to commit.
  [[nodiscard]] virtual Status idle() { return {}; }
};

/// Error: the disk's, or the library was not there when this program was built.
using MakeArm = Result<std::unique_ptr<Arm>> (*)(const std::string& directory);

[[nodiscard]] Result<std::unique_ptr<Arm>> make_taut_arm(const std::string& directory);
[[nodiscard]] Result<std::unique_ptr<Arm>> make_sqlite_arm(const std::string& directory);
[[nodiscard]] Result<std::unique_ptr<Arm>> make_rocksdb_arm(const std::string& directory);

}  // namespace taut::compare
