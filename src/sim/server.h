// The server in a simulation: the programs of `taut serve`, turned by hand in one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "auth/secret.h"
#include "base/file.h"
#include "core/cell.h"
#include "core/log_ring.h"
#include "core/mesh.h"
#include "core/published.h"
#include "core/shard.h"
#include "gateway/archive.h"
#include "gateway/chat_program.h"
#include "gateway/gateway_metrics.h"
#include "gateway/group_rules.h"
#include "gateway/journal_service.h"
#include "gateway/settings.h"
#include "sim/administrator.h"
#include "sim/link.h"
#include "sim/seeded_poller.h"
#include "sim/sim_clock.h"
#include "store/history.h"

namespace taut::sim {

/// From start() to stop() one life of the process: chat shards, committer, compactor and archive with a mesh
/// of their own. An Administrator has the place of the HTTP service. One thread.
class Server {
 public:
  /// All references outlive it. The settings name a data directory.
  Server(SimClock& clock, FileSystem& files, store::HistoryStore& store, const gateway::Settings& settings,
         const auth::Secrets& secrets);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  /// REQUIRES: it does not run.
  ~Server();

  /// As `taut serve` does. `hash_seed` counts only where the journal is new. Error: the journal cannot be
  /// opened; it does not run then.
  [[nodiscard]] Status start(uint32_t shards, uint64_t hash_seed, uint64_t seed);
  [[nodiscard]] bool runs() const { return mesh_ != nullptr; }
  [[nodiscard]] const Address& address() const { return address_; }

  // REQUIRES for all below: runs().

  [[nodiscard]] uint32_t shards() const { return layout_.chat_shards; }
  /// One turn; true if it did something.
  bool turn(uint32_t shard);
  bool turn_committer();
  bool turn_compactor();
  bool turn_archive();
  bool turn_administrator();
  [[nodiscard]] Administrator& administrator() { return *administrator_; }
  /// The history has all that is durable.
  [[nodiscard]] bool history_is_whole() const {
    return archive_metrics_->position.load() == journal_->metrics().durable.load();
  }
  /// The disk did not take the last commit.
  [[nodiscard]] bool refusing() const { return journal_->metrics().refusing.load() != 0; }
  /// Records that are not durable yet, of all shards.
  [[nodiscard]] uint64_t undurable_bytes() const;
  /// What all pools have lent, bytes.
  [[nodiscard]] uint64_t bytes_in_use();

  /// As SIGTERM does. Time passes. True: all that was said is in the journal, and that this is the end.
  bool stop();

 private:
  struct Member {
    Member(ShardId id, uint64_t seed, SimClock& clock, Mesh& mesh, ShardId patient);
    SeededPoller poller;
    LogRing log;
    Shard shard;
  };

  void listen();
  [[nodiscard]] bool turn(ShardId id, ShardProgram& program) { return members_[id]->shard.turn(program); }
  [[nodiscard]] bool all_stopped() const;
  void settle(int rounds);

  SimClock& clock_;
  FileSystem& files_;
  store::HistoryStore& store_;
  const gateway::Settings& settings_;
  const auth::Secrets& secrets_;
  gateway::GroupRules rules_;
  Published<gateway::CannedReplies> replies_{std::make_shared<const gateway::CannedReplies>()};
  Address address_;
  int listener_ = -1;
  Cell leaving_;
  gateway::Layout layout_;
  std::unique_ptr<Mesh> mesh_;
  std::vector<std::unique_ptr<Member>> members_;  ///< as the layout says
  std::vector<std::unique_ptr<gateway::GatewayMetrics>> metrics_;
  std::unique_ptr<gateway::JournalService> journal_;
  std::unique_ptr<gateway::ArchiveMetrics> archive_metrics_;
  std::unique_ptr<gateway::Archive> archive_;
  std::unique_ptr<Administrator> administrator_;
  std::vector<std::unique_ptr<gateway::ChatProgram>> programs_;
};

}  // namespace taut::sim
