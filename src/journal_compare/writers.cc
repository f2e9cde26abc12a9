#include "journal_compare/writers.h"

#include <algorithm>
#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "core/cycle_clock.h"
#include "core/mail.h"
#include "core/spsc_ring.h"
#include "journal_compare/pin.h"

namespace taut::compare {

namespace {

constexpr uint32_t kRingCapacity = 1024;

/// What a shard tells the committer. The payload stays where it is until the record is durable.
struct RecordMail {
  const char* payload = nullptr;
  uint32_t bytes = 0;
  uint32_t writer = 0;
  int64_t time_ms = 0;
  uint16_t shard = 0;
  journal::RecordType type = journal::RecordType::item;
};

struct Rings {
  SpscRing<Mail> records{kRingCapacity};
  SpscRing<uint32_t> acks{kRingCapacity};  ///< the writers whose records are durable
  std::atomic<bool> stop{false};
};

/// Commits what came, again and again, until it is told to stop.
class Committer {
 public:
  Committer(Arm& arm, Rings& rings) : arm_(arm), rings_(rings) {}

  void run(int cpu) {
    status_ = pin(cpu);
    while (!rings_.stop.load() && status_) {
      take();
      if (batch_.empty()) {
        status_ = arm_.idle();
        continue;
      }
      status_ = arm_.commit(batch_);
      batches_.push_back(static_cast<uint32_t>(batch_.size()));
      for (const uint32_t writer : writers_) (void)rings_.acks.push_unpublished(writer);  // one each: it fits
      rings_.acks.publish();
    }
    if (!status_) rings_.stop.store(true);
  }

  [[nodiscard]] const Status& status() const { return status_; }
  [[nodiscard]] std::vector<uint32_t>& batches() { return batches_; }

 private:
  void take() {
    batch_.clear();
    writers_.clear();
    for (auto mails = rings_.records.front(); !mails.empty(); mails = rings_.records.front()) {
      for (const Mail& mail : mails) {
        const auto record = mail.as<RecordMail>();
        batch_.push_back({.time_ms = record.time_ms,
                          .shard = record.shard,
                          .type = record.type,
                          .payload = {record.payload, record.bytes}});
        writers_.push_back(record.writer);
      }
      rings_.records.consume(static_cast<uint32_t>(mails.size()));
    }
  }

  Arm& arm_;
  Rings& rings_;
  Status status_;
  std::vector<journal::Record> batch_;
  std::vector<uint32_t> writers_;
  std::vector<uint32_t> batches_;
};

Mail mail_of(const std::string& payload, uint32_t writer, int64_t time_ms) {
  return Mail::of(1, RecordMail{.payload = payload.data(),
                                .bytes = static_cast<uint32_t>(payload.size()),
                                .writer = writer,
                                .time_ms = time_ms});
}

int64_t ns_of(double seconds) {
  return static_cast<int64_t>(seconds * 1e9);
}

/// The writers' side of a run.
class Writers {
 public:
  Writers(const WritersOptions& options, Rings& rings)
      : options_(options), rings_(rings), payload_(options.payload_bytes, 'x'), writers_(options.writers) {}

  Measured run() {
    const int64_t begin = clock_.now_ns() + ns_of(options_.warmup_s);
    const int64_t end = begin + ns_of(options_.seconds);
    Measured measured;
    for (int64_t now = clock_.now_ns(); now < end && !rings_.stop.load(); now = clock_.now_ns()) {
      take_acks(now, begin, measured);
      send_due(now);
    }
    measured.seconds = options_.seconds;
    measured.records = measured.ack.count();
    return measured;
  }

 private:
  struct Writer {
    int64_t sent_ns = 0;
    int64_t due_ns = 0;
    bool waits = false;
  };

  void take_acks(int64_t now, int64_t begin, Measured& measured) {
    for (uint32_t number = 0; rings_.acks.try_pop(number);) {
      Writer& writer = writers_[number];
      if (now >= begin) measured.ack.record(now - writer.sent_ns);
      writer.waits = false;
      writer.due_ns =
          now + (options_.think_ns_max == 0
                     ? 0
                     : static_cast<int64_t>(random_() % static_cast<uint64_t>(options_.think_ns_max)));
    }
  }

  void send_due(int64_t now) {
    bool sent = false;
    for (uint32_t number = 0; number < writers_.size(); ++number) {
      Writer& writer = writers_[number];
      if (writer.waits || writer.due_ns > now) continue;
      sent |= rings_.records.push_unpublished(mail_of(payload_, number, now / 1'000'000));
      writer.waits = true;
      writer.sent_ns = now;
    }
    if (sent) rings_.records.publish();
  }

  const WritersOptions options_;
  Rings& rings_;
  const std::string payload_;
  const CycleClock& clock_ = CycleClock::machine();
  std::vector<Writer> writers_;
  std::minstd_rand random_{1};
};

}  // namespace

Result<Measured> run_writers(Arm& arm, const WritersOptions& options) {
  Rings rings;
  Committer committer(arm, rings);
  if (const Status pinned = pin(options.writers_cpu); !pinned) return std::unexpected(pinned.error());
  std::thread thread([&] { committer.run(options.committer_cpu); });
  Measured measured = Writers(options, rings).run();
  rings.stop.store(true);
  thread.join();
  if (!committer.status()) return std::unexpected(committer.status().error());
  measured.batches = std::move(committer.batches());
  return measured;
}

Result<double> mail_ns(const WritersOptions& options) {
  constexpr int kBursts = 20'000;
  constexpr int kBurst = 64;
  Rings rings;
  if (const Status pinned = pin(options.writers_cpu); !pinned) return std::unexpected(pinned.error());
  Status reader_pinned;
  std::thread reader([&] {
    reader_pinned = pin(options.committer_cpu);
    while (!rings.stop.load()) rings.records.consume(static_cast<uint32_t>(rings.records.front().size()));
  });
  const CycleClock& clock = CycleClock::machine();
  const std::string payload(options.payload_bytes, 'x');
  int64_t spent = 0;
  for (int burst = 0; burst < kBursts; ++burst) {
    const int64_t begin = clock.now_ns();
    for (uint32_t i = 0; i < kBurst; ++i) {
      while (!rings.records.push_unpublished(mail_of(payload, i, begin))) rings.records.publish();
      asm volatile("" : : : "memory");  // each mail is built, as if a shard had done other things in between
    }
    rings.records.publish();
    spent += clock.now_ns() - begin;
    while (rings.records.size_approx() > 0) {
    }
  }
  rings.stop.store(true);
  reader.join();
  if (!reader_pinned) return std::unexpected(reader_pinned.error());
  return static_cast<double>(spent) / (static_cast<double>(kBursts) * kBurst);
}

}  // namespace taut::compare
