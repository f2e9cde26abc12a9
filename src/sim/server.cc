#include "sim/server.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "journal/format.h"

namespace taut::sim {

namespace {

constexpr uint64_t kPoolBytesMax = uint64_t{64} << 20;
constexpr int kBacklog = 64;
/// Turns of every member after which a stop must have come to its end.
constexpr int kStopRounds = 4'000;
constexpr int64_t kStopTurnNs = 50'000'000;
constexpr int kSettleRounds = 8;
/// Few, so that the history is often behind.
constexpr uint32_t kHistoryBatch = 8;

Shard::Options shard_options(ShardId id, ShardId patient) {
  Shard::Options options{.id = id, .patient = patient};
  options.pool = {.home = static_cast<uint16_t>(id), .base_bytes = 0, .bytes_max = kPoolBytesMax};
  return options;
}

}  // namespace

Server::Member::Member(ShardId id, uint64_t seed, SimClock& clock, Mesh& mesh, ShardId patient)
    : poller(seed), log(id, LogLevel::off, 2), shard(shard_options(id, patient), clock, poller, mesh, log) {}

Server::Server(SimClock& clock, FileSystem& files, store::HistoryStore& store,
               const gateway::Settings& settings, const auth::Secrets& secrets)
    : clock_(clock), files_(files), store_(store), settings_(settings), secrets_(secrets) {
  auto rules = gateway::read_group_rules(settings_);
  TAUT_ASSERT(rules.has_value());
  rules_ = std::move(*rules);
}

Server::~Server() {
  TAUT_ASSERT(!runs());
}

/// A name of the kernel's choice: nothing is left in the file system.
void Server::listen() {
  listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  sockaddr_un any{.sun_family = AF_UNIX, .sun_path = {}};
  socklen_t size = sizeof(address_.name);
  if (listener_ < 0 || ::bind(listener_, reinterpret_cast<sockaddr*>(&any), sizeof(any.sun_family)) != 0 ||
      ::listen(listener_, kBacklog) != 0 ||
      ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address_.name), &size) != 0)
    end_process("the simulator cannot make a socket to listen on");
  address_.size = size;
}

Status Server::start(uint32_t shards, uint64_t hash_seed, uint64_t seed) {
  TAUT_ASSERT(!runs());
  layout_ = {.chat_shards = shards, .journal = true, .store = true};
  leaving_.store(0);
  archive_metrics_ = std::make_unique<gateway::ArchiveMetrics>();
  auto opened = gateway::JournalService::open(files_, settings_, layout_, hash_seed, clock_.wall_ms(),
                                              leaving_, [this] { return archive_metrics_->safe.load() + 1; });
  if (!opened) return std::unexpected(opened.error());
  journal_ = std::move(*opened);
  archive_ = std::make_unique<gateway::Archive>(
      store_, files_,
      gateway::Archive::Options{.directory = journal::journal_directory(settings_.data),
                                .groups = settings_.groups,
                                .batch = {.records = kHistoryBatch, .payload_bytes = 1U << 20}},
      journal_->metrics().durable, *archive_metrics_);
  mesh_ = std::make_unique<Mesh>(
      Mesh::Options{.members = layout_.members(), .ring_capacity = 2 * SpscRing<Mail>::kBatchMax});
  listen();
  Dice dice(seed);
  for (ShardId id = 0; id < layout_.members(); ++id) {
    const ShardId patient = id < shards ? layout_.committer() : kNobody;
    members_.push_back(std::make_unique<Member>(id, dice.next(), clock_, *mesh_, patient));
  }
  std::vector<gateway::Beginning> beginnings = gateway::beginnings_of(journal_->take_recovered(), layout_);
  for (ShardId id = 0; id < shards; ++id) metrics_.push_back(std::make_unique<gateway::GatewayMetrics>());
  administrator_ = std::make_unique<Administrator>(layout_);
  members_[layout_.http_service()]->shard.begin(*administrator_);
  members_[layout_.committer()]->shard.begin(journal_->committer());
  members_[layout_.compactor()]->shard.begin(journal_->compactor());
  members_[layout_.archive()]->shard.begin(*archive_);
  for (ShardId id = 0; id < shards; ++id) {
    programs_.push_back(std::make_unique<gateway::ChatProgram>(
        settings_, rules_, secrets_, layout_,
        gateway::Door{.compact_listener = listener_, .shards = metrics_}, replies_, std::move(beginnings[id]),
        *metrics_[id], [] {}));
    members_[id]->shard.begin(*programs_[id]);
  }
  return {};
}

bool Server::turn(uint32_t shard) {
  return turn(shard, *programs_[shard]);
}

bool Server::turn_committer() {
  return turn(layout_.committer(), journal_->committer());
}

bool Server::turn_compactor() {
  return turn(layout_.compactor(), journal_->compactor());
}

bool Server::turn_archive() {
  return turn(layout_.archive(), *archive_);
}

bool Server::turn_administrator() {
  return turn(layout_.http_service(), *administrator_);
}

uint64_t Server::undurable_bytes() const {
  uint64_t bytes = 0;
  for (const auto& metrics : metrics_) bytes += metrics->journal_undurable_bytes.load();
  return bytes;
}

uint64_t Server::bytes_in_use() {
  uint64_t bytes = 0;
  for (uint32_t id = 0; id < shards(); ++id) bytes += members_[id]->shard.pool().metrics().bytes_in_use();
  return bytes;
}

bool Server::all_stopped() const {
  return std::ranges::all_of(programs_, [](const auto& program) { return program->stopped(); });
}

void Server::settle(int rounds) {
  for (int round = 0; round < rounds; ++round) {
    for (uint32_t id = 0; id < shards(); ++id) members_[id]->shard.settle(*programs_[id]);
    members_[layout_.archive()]->shard.settle(*archive_);
    members_[layout_.http_service()]->shard.settle(*administrator_);
  }
}

bool Server::stop() {
  leaving_.store(1);
  members_[layout_.archive()]->shard.request_stop();
  for (uint32_t id = 0; id < shards(); ++id) members_[id]->shard.request_stop();
  for (int round = 0; !all_stopped(); ++round) {
    if (round == kStopRounds) end_process("the simulated server does not stop");
    for (uint32_t id = 0; id < shards(); ++id) turn(id);
    turn_archive();
    turn_committer();
    clock_.advance_ns(kStopTurnNs);
  }
  settle(kSettleRounds);
  gateway::Committer& committer = journal_->committer();
  Member& writer = *members_[layout_.committer()];
  writer.shard.request_stop();
  while (!committer.stopped()) writer.shard.turn(committer);
  writer.shard.settle(committer);
  settle(kSettleRounds);
  const bool clean = !refusing();
  administrator_.reset();
  archive_.reset();
  journal_.reset();
  programs_.clear();
  members_.clear();
  metrics_.clear();
  mesh_.reset();
  ::close(std::exchange(listener_, -1));
  return clean;
}

}  // namespace taut::sim
