// Files in memory that lose power, run full and fail as disks do: for tests and simulators.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace taut {

/// Each file has two images: what reads see, and what survives when the power goes. In between are changes
/// that were not synced: of those a crash keeps any 512-byte sectors, or parts of them, at the dice's will.
/// Names likewise: of what sync_directory() has not confirmed, a crash keeps the first few changes. The same
/// seed and the same calls give the same outcome. Aborts when a file is written or synced after one of these
/// has failed on it: a disk's second answer means nothing. One thread. Outlives its files.
class MemoryFileSystem final : public FileSystem {
 public:
  /// What can fail; `read` stands for all that changes nothing, `preallocate` for all that changes a size.
  enum class Call : uint8_t { open, preallocate, write, read, sync, rename, remove, sync_directory };
  static constexpr size_t kCalls = 8;

  /// What is lost: a process leaves behind everything that it wrote, a machine only what was synced and luck.
  enum class Crash : uint8_t { process, power };

  explicit MemoryFileSystem(uint64_t seed = 1) : random_(seed) {}

  [[nodiscard]] Result<std::string> read_front(const std::string& path, size_t most) override;
  [[nodiscard]] Result<std::unique_ptr<File>> open(const std::string& path) override;
  [[nodiscard]] Result<std::unique_ptr<File>> open_for_reading(const std::string& path) override;
  [[nodiscard]] Result<bool> exists(const std::string& path) override;
  [[nodiscard]] Status rename(const std::string& from, const std::string& to) override;
  [[nodiscard]] Status remove(const std::string& path) override;
  [[nodiscard]] Status create_directory(const std::string& path) override;
  [[nodiscard]] Result<std::vector<std::string>> list_directory(const std::string& path) override;
  [[nodiscard]] Status sync_directory(const std::string& path) override;

  // -- faults --

  /// After `after` more of this kind one call fails, once: a write leaves a part of its bytes, a sync drops a
  /// part of what was dirty, the others have no effect.
  void fail_call(Call call, uint64_t after = 0) { faults_[static_cast<size_t>(call)] = after + 1; }
  /// What all files together may hold; a write fills it up and fails.
  void set_space(uint64_t bytes) { space_ = bytes; }
  /// After `changes` more calls that change something, all fail until restart(). A write that is met by it
  /// may or may not be on the disk.
  void stop_after(uint64_t changes) { changes_left_ = changes; }
  [[nodiscard]] bool stopped() const { return stopped_; }
  /// The process, or the machine, starts again. REQUIRES: no File is open.
  void restart(Crash crash);

  // -- what is there --

  /// What reads see. REQUIRES: the file exists.
  [[nodiscard]] const std::string& content(const std::string& path) const;
  /// Puts a file there as if it had always been; damage in place, too.
  void set_content(const std::string& path, std::string content);

 private:
  friend class MemoryFile;

  struct Change {
    uint64_t offset = 0;  ///< of a write; the size of a resize
    std::string bytes;    ///< none: a resize
  };
  struct Node {
    bool directory = false;
    bool broken = false;  ///< a write or a sync has failed
    std::string written;
    std::string durable;
    std::vector<Change> unsynced;
  };
  using Names = std::map<std::string, std::shared_ptr<Node>>;
  struct NameChange {
    std::string directory;
    std::string removed;  ///< empty: nothing
    std::string added;    ///< empty: nothing
    std::shared_ptr<Node> node;
  };

  [[nodiscard]] Status admit(Call call, const std::string& path);
  [[nodiscard]] bool failing(Call call);
  [[nodiscard]] Result<std::shared_ptr<Node>> find(const std::string& path) const;
  [[nodiscard]] uint64_t used() const;
  [[nodiscard]] uint64_t dice(uint64_t below) { return random_() % below; }

  [[nodiscard]] Status resize(Node& node, uint64_t bytes, const std::string& path);
  [[nodiscard]] Status write(Node& node, uint64_t offset, std::string bytes, const std::string& path);
  [[nodiscard]] Status sync(Node& node, const std::string& path);
  void tear(Node& node);
  void change_name(NameChange change);
  static void apply(Names& names, const NameChange& change);
  static void apply(std::string& image, const Change& change);

  std::mt19937_64 random_;
  Names names_;
  Names durable_names_;
  std::vector<NameChange> unsynced_names_;
  std::array<uint64_t, kCalls> faults_{};  ///< how many calls until one fails; 0: none does
  uint64_t space_ = UINT64_MAX;
  uint64_t changes_left_ = UINT64_MAX;
  bool stopped_ = false;
  uint32_t open_files_ = 0;
};

}  // namespace taut
