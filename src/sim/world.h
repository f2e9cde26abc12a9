// One simulated world: a server, its disk, its clock, and people who use it over links that fail.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "auth/secret.h"
#include "base/memory_files.h"
#include "gateway/settings.h"
#include "sim/action.h"
#include "sim/blocks.h"
#include "sim/client.h"
#include "sim/oracle.h"
#include "sim/server.h"
#include "sim/sim_clock.h"
#include "sim/unsteady_store.h"

namespace taut::sim {

/// The same seed and the same actions give the same world, to the last byte that anybody is told. One thread.
class World {
 public:
  explicit World(uint64_t seed);
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World();

  /// Does it, and answers what it did in words; empty: it had no occasion.
  std::string apply(const Action& action);
  /// From now on apply() answers what people are told, too.
  void write_down_what_they_hear();
  /// The last crash and start; then everything that a conversation holds is read from the first item on.
  /// Answers what people are told.
  std::string finish();

  [[nodiscard]] const std::optional<Violation>& violation() const { return oracle_.violation(); }
  /// Of all that was done and told.
  [[nodiscard]] uint64_t hash() const { return hash_; }
  [[nodiscard]] const Oracle& oracle() const { return oracle_; }
  [[nodiscard]] uint32_t crashes() const { return crashes_; }

 private:
  static constexpr uint32_t kShardsMax = 3;
  /// Epochs that a conversation remembers are bounded (64), and who comes from an older one has a gap.
  static constexpr uint32_t kCrashesMax = 50;

  void read_all_again(Dice& dice);
  /// One device of each visitor, which knows all that anybody knows of the visitor's conversations.
  [[nodiscard]] std::vector<Client*> last_readers();
  void let_in(const std::vector<Client*>& readers);
  /// What the readers' memory no longer has, page by page.
  void read_older(const std::vector<Client*>& readers);
  [[nodiscard]] std::string what_they_heard();
  void add_people(Dice& dice);
  [[nodiscard]] std::string apply_machine(const Action& action, Dice& dice);
  [[nodiscard]] std::string apply_fault(ActionKind kind, Dice& dice);
  [[nodiscard]] std::string deliver(ActionKind kind, Dice& dice);
  [[nodiscard]] std::string pass_time(Dice& dice);
  [[nodiscard]] std::string connect(Dice& dice);
  [[nodiscard]] std::string storm(Dice& dice);
  [[nodiscard]] std::string administer(Dice& dice);
  void order(const std::string& visitor, uint32_t seconds);
  bool administrator_turns();
  [[nodiscard]] std::string end_life(bool clean, MemoryFileSystem::Crash crash, Dice& dice);
  void begin_life(Dice& dice);
  void heal();
  /// Until nobody has anything to do. False: the process has crashed meanwhile.
  bool rest();
  void settle();
  bool everybody_turns();
  [[nodiscard]] Client* any_connected(Dice& dice);
  /// The links of some are dead in one direction or both, and not every end knows it.
  [[nodiscard]] bool some_are_dying() const;

  const uint64_t seed_;
  uint64_t hash_ = 0xCBF2'9CE4'8422'2325ULL;
  SimClock clock_;
  MemoryFileSystem files_;
  UnsteadyStore store_;
  gateway::Settings settings_;
  auth::Secrets secrets_;
  Oracle oracle_;
  Blocks blocks_;
  Queues queues_{oracle_};
  const Surroundings surroundings_{clock_, oracle_, blocks_, queues_, hash_};
  Server server_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<std::string> agents_;       ///< ids
  std::vector<std::string> visitors_;     ///< ids
  std::optional<Blocks::Order> ordered_;  ///< the administrator waits for the answer
  bool writes_down_ = false;
  bool stalled_ = false;        ///< the disk answers nobody
  bool store_stalled_ = false;  ///< nor does the history's database
  uint32_t crashes_ = 0;
};

}  // namespace taut::sim
