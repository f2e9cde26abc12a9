#include "base/memory_files.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/assert.h"

namespace taut {

namespace {

constexpr uint64_t kSectorBytes = 512;
constexpr std::string_view kRoot = ".";

std::unexpected<Error> fail_with(int error, const std::string& path) {
  errno = error;
  return fail_errno(path);
}

std::string parent_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string(kRoot) : path.substr(0, slash);
}

}  // namespace

/// What open() gives out.
class MemoryFile final : public File {
 public:
  using Call = MemoryFileSystem::Call;
  MemoryFile(MemoryFileSystem& files, std::shared_ptr<MemoryFileSystem::Node> node, std::string path,
             bool writable)
      : files_(files), node_(std::move(node)), path_(std::move(path)), writable_(writable) {
    ++files_.open_files_;
  }
  ~MemoryFile() override { --files_.open_files_; }

  Status preallocate(uint64_t bytes) override {
    if (const Status admitted = admit(Call::preallocate); !admitted) return admitted;
    return bytes <= node_->written.size() ? Status() : files_.resize(*node_, bytes, path_);
  }
  Status resize(uint64_t bytes) override {
    if (const Status admitted = admit(Call::preallocate); !admitted) return admitted;
    return files_.resize(*node_, bytes, path_);
  }
  Status write_at(uint64_t offset, std::span<const std::string_view> parts) override {
    if (!writable_) return fail_with(EBADF, path_);
    std::string bytes;
    for (const std::string_view part : parts) bytes += part;
    return files_.write(*node_, offset, std::move(bytes), path_);
  }
  Result<size_t> read_at(uint64_t offset, std::span<char> out) override {
    if (const Status admitted = files_.admit(Call::read, path_); !admitted)
      return std::unexpected(admitted.error());
    if (offset >= node_->written.size()) return 0;
    return node_->written.copy(out.data(), out.size(), offset);
  }
  Status sync_data() override { return files_.sync(*node_, path_); }
  Result<uint64_t> size() override { return node_->written.size(); }

 private:
  [[nodiscard]] Status admit(Call call) const {
    return writable_ ? files_.admit(call, path_) : fail_with(EBADF, path_);
  }

  MemoryFileSystem& files_;
  const std::shared_ptr<MemoryFileSystem::Node> node_;
  const std::string path_;
  const bool writable_;
};

bool MemoryFileSystem::failing(Call call) {
  uint64_t& countdown = faults_[static_cast<size_t>(call)];
  if (countdown == 0) return false;
  --countdown;
  return countdown == 0;
}

/// Whether the call may go on; writes and syncs fail with an effect and ask for themselves.
Status MemoryFileSystem::admit(Call call, const std::string& path) {
  if (stopped_) return fail_with(EIO, path);
  if (call != Call::read) {
    if (changes_left_ == 0) {
      stopped_ = true;
      return fail_with(EIO, path);
    }
    if (changes_left_ != UINT64_MAX) --changes_left_;
  }
  const bool has_effect = call == Call::write || call == Call::sync;
  return !has_effect && failing(call) ? fail_with(EIO, path) : Status();
}

Result<std::shared_ptr<MemoryFileSystem::Node>> MemoryFileSystem::find(const std::string& path) const {
  const auto found = names_.find(path);
  if (found == names_.end()) return fail_with(ENOENT, path);
  return found->second;
}

uint64_t MemoryFileSystem::used() const {
  uint64_t bytes = 0;
  for (const auto& [path, node] : names_) bytes += node->written.size();
  return bytes;
}

// -- one file --

void MemoryFileSystem::apply(std::string& image, const Change& change) {
  if (change.bytes.empty()) return image.resize(change.offset);
  image.resize(std::max<size_t>(image.size(), change.offset + change.bytes.size()));
  image.replace(change.offset, change.bytes.size(), change.bytes);
}

Status MemoryFileSystem::resize(Node& node, uint64_t bytes, const std::string& path) {
  const uint64_t size = node.written.size();
  if (bytes > size && bytes - size > space_ - std::min(space_, used())) return fail_with(ENOSPC, path);
  node.unsynced.push_back({.offset = bytes, .bytes = {}});
  apply(node.written, node.unsynced.back());
  return {};
}

Status MemoryFileSystem::write(Node& node, uint64_t offset, std::string bytes, const std::string& path) {
  TAUT_ASSERT(!node.broken && "writes to a file on which a write or a sync has failed");
  const bool was_stopped = stopped_;
  const Status admitted = admit(Call::write, path);
  if (was_stopped || bytes.empty()) return admitted;
  int error = 0;
  const uint64_t room = std::max<uint64_t>(node.written.size(), offset) + space_ - std::min(space_, used());
  if (space_ != UINT64_MAX && offset + bytes.size() > room) {
    error = ENOSPC;
    bytes.resize(room > offset ? room - offset : 0);
  }
  if (admitted && failing(Call::write)) {
    error = EIO;
    bytes.resize(dice(bytes.size() + 1));
  }
  node.broken = error != 0;
  if (!bytes.empty()) {
    node.unsynced.push_back({.offset = offset, .bytes = std::move(bytes)});
    apply(node.written, node.unsynced.back());
  }
  if (!admitted) return admitted;
  return error == 0 ? Status() : fail_with(error, path);
}

Status MemoryFileSystem::sync(Node& node, const std::string& path) {
  TAUT_ASSERT(!node.broken && "syncs a file on which a write or a sync has failed");
  if (const Status admitted = admit(Call::sync, path); !admitted) return admitted;
  if (failing(Call::sync)) {
    tear(node);  // and the rest is clean in the eyes of the kernel
    node.broken = true;
    return fail_with(EIO, path);
  }
  node.durable = node.written;
  node.unsynced.clear();
  return {};
}

/// Decides which un-synced changes reached the disk.
void MemoryFileSystem::tear(Node& node) {
  enum class Fate : uint8_t { nothing, everything, beginning, anything };
  const auto fate = static_cast<Fate>(dice(4));
  uint64_t bytes = 0;
  for (const Change& change : node.unsynced) bytes += change.bytes.size();
  uint64_t left = fate == Fate::beginning ? dice(bytes + 1) : fate == Fate::everything ? bytes : 0;
  for (const Change& change : node.unsynced) {
    if (change.bytes.empty()) {
      if (fate != Fate::nothing && (fate != Fate::anything || dice(2) == 0)) apply(node.durable, change);
      continue;
    }
    for (uint64_t at = 0; at < change.bytes.size();) {
      const uint64_t offset = change.offset + at;
      const uint64_t sector = std::min(kSectorBytes - offset % kSectorBytes, change.bytes.size() - at);
      uint64_t kept = std::min(left, sector);
      if (fate == Fate::anything) kept = dice(2) == 0 ? 0 : dice(8) == 0 ? dice(sector + 1) : sector;
      if (kept > 0) apply(node.durable, {.offset = offset, .bytes = change.bytes.substr(at, kept)});
      left -= std::min(left, sector);
      at += sector;
    }
  }
  node.unsynced.clear();
}

// -- names --

Result<std::string> MemoryFileSystem::read_front(const std::string& path, size_t most) {
  const auto file = open_for_reading(path);
  if (!file) return std::unexpected(file.error());
  std::string content(most, '\0');
  const Result<size_t> size = (*file)->read_at(0, content);
  if (!size) return std::unexpected(size.error());
  content.resize(*size);
  return content;
}

Result<std::unique_ptr<File>> MemoryFileSystem::open(const std::string& path) {
  if (const Status admitted = admit(Call::open, path); !admitted) return std::unexpected(admitted.error());
  const std::string directory = parent_of(path);
  if (directory != kRoot && !names_.contains(directory)) return fail_with(ENOENT, path);
  if (!names_.contains(path)) {
    change_name({.directory = directory, .removed = "", .added = path, .node = std::make_shared<Node>()});
  }
  const std::shared_ptr<Node>& node = names_.at(path);
  if (node->directory) return fail_with(EISDIR, path);
  return std::make_unique<MemoryFile>(*this, node, path, true);
}

Result<std::unique_ptr<File>> MemoryFileSystem::open_for_reading(const std::string& path) {
  if (const Status admitted = admit(Call::read, path); !admitted) return std::unexpected(admitted.error());
  const auto node = find(path);
  if (!node) return std::unexpected(node.error());
  if ((*node)->directory) return fail(path + ": is a directory");
  return std::make_unique<MemoryFile>(*this, *node, path, false);
}

Result<bool> MemoryFileSystem::exists(const std::string& path) {
  if (const Status admitted = admit(Call::read, path); !admitted) return std::unexpected(admitted.error());
  return names_.contains(path);
}

void MemoryFileSystem::apply(Names& names, const NameChange& change) {
  if (!change.removed.empty()) names.erase(change.removed);
  if (!change.added.empty()) names[change.added] = change.node;
}

void MemoryFileSystem::change_name(NameChange change) {
  apply(names_, change);
  unsynced_names_.push_back(std::move(change));
}

Status MemoryFileSystem::rename(const std::string& from, const std::string& to) {
  if (const Status admitted = admit(Call::rename, from); !admitted) return admitted;
  const auto node = find(from);
  if (!node) return std::unexpected(node.error());
  TAUT_ASSERT(parent_of(from) == parent_of(to) && "renaming between directories is not modelled");
  change_name({.directory = parent_of(to), .removed = from, .added = to, .node = *node});
  return {};
}

Status MemoryFileSystem::remove(const std::string& path) {
  if (const Status admitted = admit(Call::remove, path); !admitted) return admitted;
  if (const auto node = find(path); !node) return std::unexpected(node.error());
  change_name({.directory = parent_of(path), .removed = path, .added = "", .node = nullptr});
  return {};
}

Status MemoryFileSystem::create_directory(const std::string& path) {
  if (const auto node = find(path)) return (*node)->directory ? Status() : fail_with(EEXIST, path);
  if (const Status admitted = admit(Call::open, path); !admitted) return admitted;
  const std::string directory = parent_of(path);
  if (directory != kRoot && !names_.contains(directory)) return fail_with(ENOENT, path);
  auto node = std::make_shared<Node>();
  node->directory = true;
  change_name({.directory = directory, .removed = "", .added = path, .node = std::move(node)});
  return {};
}

Result<std::vector<std::string>> MemoryFileSystem::list_directory(const std::string& path) {
  if (const Status admitted = admit(Call::read, path); !admitted) return std::unexpected(admitted.error());
  const auto node = find(path);
  if (!node) return std::unexpected(node.error());
  if (!(*node)->directory) return fail_with(ENOTDIR, path);
  std::vector<std::string> names;
  for (const auto& [other, _] : names_) {
    if (parent_of(other) == path) names.push_back(other.substr(path.size() + 1));
  }
  return names;
}

Status MemoryFileSystem::sync_directory(const std::string& path) {
  if (const Status admitted = admit(Call::sync_directory, path); !admitted) return admitted;
  if (path != kRoot) {
    if (const auto node = find(path); !node) return std::unexpected(node.error());
  }
  std::erase_if(unsynced_names_, [&](const NameChange& change) {
    if (change.directory != path) return false;
    apply(durable_names_, change);
    return true;
  });
  return {};
}

// -- crashes --

void MemoryFileSystem::restart(Crash crash) {
  TAUT_ASSERT(open_files_ == 0 && "a file is still open");
  faults_ = {};
  changes_left_ = UINT64_MAX;
  stopped_ = false;
  if (crash == Crash::process) return;

  const uint64_t kept = dice(unsynced_names_.size() + 1);
  for (uint64_t i = 0; i < kept; ++i) apply(durable_names_, unsynced_names_[i]);
  unsynced_names_.clear();
  std::erase_if(durable_names_, [&](const auto& entry) {  // parents come before their children
    const std::string directory = parent_of(entry.first);
    return directory != kRoot && !durable_names_.contains(directory);
  });
  for (auto& [path, node] : durable_names_) {
    tear(*node);
    node->written = node->durable;
    node->broken = false;
  }
  names_ = durable_names_;
}

const std::string& MemoryFileSystem::content(const std::string& path) const {
  const auto found = names_.find(path);
  TAUT_ASSERT(found != names_.end());
  return found->second->written;
}

void MemoryFileSystem::set_content(const std::string& path, std::string content) {
  auto node = std::make_shared<Node>();
  node->written = content;
  node->durable = std::move(content);
  names_[path] = durable_names_[path] = std::move(node);
}

}  // namespace taut
