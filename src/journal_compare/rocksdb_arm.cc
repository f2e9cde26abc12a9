// RocksDB with synced writes.
#include "journal_compare/arm.h"

#ifdef TAUT_WITH_rocksdb

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include "base/bytes.h"

namespace taut::compare {

namespace {

class RocksdbArm final : public Arm {
 public:
  explicit RocksdbArm(std::unique_ptr<rocksdb::DB> database) : database_(std::move(database)) {
    options_.sync = true;
  }

  Status commit(std::span<const journal::Record> batch) override {
    rocksdb::WriteBatch writes;
    for (const journal::Record& record : batch) {
      char key[sizeof(uint64_t)];
      store_be(key, ++sequence_);  // in the order of the keys
      writes.Put({key, sizeof(key)}, {record.payload.data(), record.payload.size()});
    }
    const rocksdb::Status written = database_->Write(options_, &writes);
    return written.ok() ? Status() : fail("RocksDB: " + written.ToString());
  }

 private:
  const std::unique_ptr<rocksdb::DB> database_;
  rocksdb::WriteOptions options_;
  uint64_t sequence_ = 0;
};

}  // namespace

Result<std::unique_ptr<Arm>> make_rocksdb_arm(const std::string& directory) {
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::DB* database = nullptr;
  const rocksdb::Status opened = rocksdb::DB::Open(options, directory + "/records.rocksdb", &database);
  if (!opened.ok()) return fail("RocksDB: " + opened.ToString());
  return std::make_unique<RocksdbArm>(std::unique_ptr<rocksdb::DB>(database));
}

}  // namespace taut::compare

#else

namespace taut::compare {

Result<std::unique_ptr<Arm>> make_rocksdb_arm(const std::string&) {
  return fail("librocksdb-dev was not installed when this was built");
}

}  // namespace taut::compare

#endif
