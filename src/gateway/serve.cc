#include "gateway/serve.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <latch>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/exit_code.h"
#include "base/file.h"
#include "core/cell.h"
#include "core/cpu_latency_hold.h"
#include "core/log_thread.h"
#include "core/mesh.h"
#include "core/poller.h"
#include "core/shard.h"
#include "core/this_thread.h"
#include "core/topology.h"
#include "gateway/chat_program.h"
#include "gateway/data_directory.h"
#include "gateway/gateway_metrics.h"
#include "gateway/group_rules.h"
#include "gateway/http_service.h"
#include "gateway/journal_service.h"
#include "gateway/loaded_files.h"
#include "gateway/service_manager.h"
#include "gateway/store_service.h"
#include "net/socket.h"
#include "net/tls.h"

namespace taut::gateway {

namespace {

/// Descriptors that are not connections: listeners, pollers, files.
constexpr uint64_t kSpareDescriptors = 64;
/// Rounds of turns after the threads have ended, in which blocks that were on their way come home.
constexpr int kSettleRounds = 8;

sigset_t stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

uint64_t random_seed() {
  std::random_device entropy;
  return (uint64_t{entropy()} << 32) | entropy();
}

class Server {
 public:
  explicit Server(const Settings& settings) : settings_(settings) {}

  /// What the user wrote.
  [[nodiscard]] Status load_files() { return loaded_.load(); }
  /// REQUIRES: load_files() went well.
  [[nodiscard]] Status prepare();
  /// Until the signal. Error: what was asked for could not be left behind.
  [[nodiscard]] Status run();

 private:
  [[nodiscard]] Status load_rules();
  [[nodiscard]] Status open_journal_and_store();
  [[nodiscard]] Status make_shards();
  void ask_the_host();
  void start_threads();
  void wait_for_stop();
  void wait_out_the_drain();
  void stop_threads();
  void settle();
  [[nodiscard]] Status write_record() const;

  [[nodiscard]] uint32_t cores_for_shards() const;
  [[nodiscard]] ThreadSetup thread_setup(ShardId chat_shard) const;
  [[nodiscard]] WaitOptions wait_options(bool service) const;

  const Settings& settings_;
  SystemClock clock_;
  PosixFileSystem files_;
  Topology topology_;
  std::optional<CpuLatencyHold> latency_hold_;
  Layout layout_;
  GroupRules rules_;
  LoadedFiles loaded_{settings_, files_};
  net::Fd data_lock_;
  std::unique_ptr<File> record_;
  Status stopped_well_;
  net::Fd listener_;
  net::Fd compact_listener_;  ///< empty: not served
  std::unique_ptr<Mesh> mesh_;
  std::vector<std::unique_ptr<LogRing>> logs_;
  LogRing main_log_{0};
  std::unique_ptr<LogThread> log_thread_;
  std::vector<std::unique_ptr<Poller>> pollers_;
  std::vector<std::unique_ptr<GatewayMetrics>> metrics_;
  std::vector<std::unique_ptr<Shard>> shards_;
  std::vector<std::unique_ptr<ChatProgram>> programs_;
  const uint64_t hash_seed_ = random_seed();  ///< unless the journal says another
  std::unique_ptr<JournalService> journal_;   ///< nullptr: nothing outlives a restart
  std::unique_ptr<StoreService> store_;       ///< nullptr: history is what memory has
  Cell leaving_;                              ///< 1: told to stop
  std::unique_ptr<HttpService> http_;
  std::vector<std::thread> threads_;
  std::thread journal_thread_;
};

Status listen_on(const HostPort& address, net::Fd& listener) {
  const bool six = address.host.find(':') != std::string::npos;
  Result<net::Fd> opened =
      net::listen_on((six ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port));
  if (!opened) return std::unexpected(opened.error());
  listener = std::move(*opened);
  return {};
}

Status Server::load_rules() {
  Result<GroupRules> rules = read_group_rules(settings_);
  if (!rules) return std::unexpected(rules.error());
  Result<TimeZone> zone = TimeZone::load(settings_.timezone, clock_.wall_ms() / 1'000);
  if (!zone) return std::unexpected(zone.error());
  rules_ = std::move(*rules);
  rules_.zone = std::move(*zone);
  return {};
}

Status Server::prepare() {
  if (const Status loaded = load_rules(); !loaded) return loaded;
  if (!settings_.data.empty()) {
    Result<net::Fd> lock = lock_data_directory(settings_.data);
    if (!lock) return std::unexpected(lock.error());
    data_lock_ = std::move(*lock);
  }
  if (!settings_.record.empty()) {
    Result<std::unique_ptr<File>> record = files_.open(settings_.record);
    if (!record) return std::unexpected(record.error());
    const Result<uint64_t> size = (*record)->size();
    if (!size) return std::unexpected(size.error());
    if (*size > 0)
      return fail("--record " + settings_.record + ": there is something in this file; name another");
    record_ = std::move(*record);
  }
  topology_ = Topology::read();
  layout_.chat_shards = settings_.shards != 0 ? settings_.shards : cores_for_shards();
  layout_.journal = mode_of(settings_) != wire::Durability::none;
  layout_.store = store_of(settings_) != "none";
  if (Status opened = listen_on(settings_.listen, listener_); !opened) return opened;
  if (!settings_.compact.host.empty()) {
    if (Status opened = listen_on(settings_.compact, compact_listener_); !opened) return opened;
  }
  const uint64_t memory =
      static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  if (settings_.pool_base_bytes > memory / layout_.chat_shards)
    return fail("--pool-base-bytes of all shards together is more than the memory of this host");
  if (const Status opened = open_journal_and_store(); !opened) return opened;
  return make_shards();
}

Status Server::open_journal_and_store() {
  if (layout_.store) {
    auto opened = StoreService::open(settings_);
    if (!opened) return std::unexpected(opened.error());
    store_ = std::move(*opened);
  }
  if (!layout_.journal) return {};
  const auto keep_from = [this] { return store_ != nullptr ? store_->keep_from() : UINT64_MAX; };
  auto opened =
      JournalService::open(files_, settings_, layout_, hash_seed_, clock_.wall_ms(), leaving_, keep_from);
  if (!opened) return std::unexpected(opened.error());
  journal_ = std::move(*opened);
  if (store_ != nullptr) store_->follow(files_, settings_, journal_->metrics().durable);
  return {};
}

uint32_t Server::cores_for_shards() const {
  const auto siblings = settings_.smt ? Topology::Siblings::used : Topology::Siblings::left_idle;
  return static_cast<uint32_t>(topology_.placement(topology_.usable_cores(), siblings).size());
}

ThreadSetup Server::thread_setup(ShardId chat_shard) const {
  const bool pinned = settings_.pin && layout_.chat_shards <= cores_for_shards();
  const int cpu = pinned ? topology_.placement(layout_.chat_shards)[chat_shard] : -1;
  return {.pin_to_cpu = cpu,
          .isolated = topology_.isolated(cpu),
          .scheduling = settings_.scheduling,
          .priority = settings_.scheduling_priority,
          .local_memory = pinned && settings_.numa_local && topology_.numa_nodes > 1};
}

WaitOptions Server::wait_options(bool service) const {
  return {.strategy = service ? WaitOptions::Strategy::park : settings_.wait,
          .spin_ns = int64_t{settings_.spin_us} * 1'000,
          .usable_cores = topology_.usable_cores()};
}

Status Server::make_shards() {
  mesh_ = std::make_unique<Mesh>(Mesh::Options{.members = layout_.members(),
                                               .ring_capacity = Mesh::ring_capacity_for(layout_.members())});
  std::vector<LogRing*> rings{&main_log_};
  for (ShardId id = 0; id < layout_.members(); ++id) {
    const bool service = id >= layout_.chat_shards;
    Result<std::unique_ptr<Poller>> poller = make_epoll_poller();
    if (!poller) return std::unexpected(poller.error());
    pollers_.push_back(std::move(*poller));
    logs_.push_back(std::make_unique<LogRing>(id, static_cast<taut::LogLevel>(settings_.log_level)));
    rings.push_back(logs_.back().get());
    Shard::Options options{.id = id, .wait = wait_options(service)};
    if (!service) {
      options.thread = thread_setup(id);
      options.patient = layout_.committer();
    }
    options.pool = {.home = static_cast<uint16_t>(id),
                    .base_bytes = service ? 0 : settings_.pool_base_bytes,
                    .bytes_max = settings_.pool_bytes_max};
    shards_.push_back(std::make_unique<Shard>(options, clock_, *pollers_.back(), *mesh_, *logs_.back()));
  }
  const auto format =
      settings_.log_format == LogFormat::json ? LogThread::Format::json : LogThread::Format::text;
  log_thread_ = std::make_unique<LogThread>(LogThread::Options{.format = format, .sink = {}}, clock_, rings);
  return {};
}

void Server::ask_the_host() {
  const uint64_t descriptors = net::raise_descriptor_limit();
  if (descriptors < settings_.connections_max + kSpareDescriptors) {
    main_log_.warn(
        "{} open files allowed, fewer than --connections-max {} needs: later connections wait; raise ulimit "
        "-n",
        descriptors, settings_.connections_max);
  }
  if (settings_.pin && layout_.chat_shards > cores_for_shards()) {
    main_log_.warn("{} shards on {} usable cores{}: not pinned, and they take turns", layout_.chat_shards,
                   cores_for_shards(), settings_.smt ? "" : " (one thread of each; --smt uses both)");
  }
  if (loaded_.certificate() != nullptr && !net::kernel_has_tls())
    main_log_.info("this kernel has no TLS of its own: OpenSSL encrypts; modprobe tls would take it over");
  if (!settings_.hold_cpu_latency) return;
  if (auto hold = CpuLatencyHold::take()) {
    latency_hold_.emplace(*std::move(hold));
  } else {
    main_log_.warn("{}: idle cores sleep deeply, and a wake may cost tens of microseconds",
                   hold.error().message);
  }
}

void Server::start_threads() {
  std::latch started(layout_.chat_shards);
  std::vector<MetricsSource> sources;
  sources.reserve(layout_.members());
  for (ShardId id = 0; id < layout_.chat_shards; ++id) metrics_.push_back(std::make_unique<GatewayMetrics>());
  std::vector<Beginning> beginnings =
      beginnings_of(journal_ != nullptr ? journal_->take_recovered()
                                        : Recovered{.latest_ms = clock_.wall_ms(), .hash_seed = hash_seed_},
                    layout_);
  if (journal_ != nullptr) {
    journal_thread_ = std::thread([this] { shards_[layout_.committer()]->run(journal_->committer()); });
    threads_.emplace_back([this] { shards_[layout_.compactor()]->run(journal_->compactor()); });
  }
  if (store_ != nullptr)
    threads_.emplace_back([this] { shards_[layout_.archive()]->run(store_->archive()); });
  for (ShardId id = 0; id < layout_.chat_shards; ++id) {
    programs_.push_back(std::make_unique<ChatProgram>(
        settings_, rules_, loaded_.secrets(), layout_,
        Door{listener_.get(), compact_listener_.get(), loaded_.certificate(), metrics_}, loaded_.replies(),
        std::move(beginnings[id]), *metrics_[id], [&started] { started.count_down(); }));
  }
  for (ShardId id = 0; id < layout_.chat_shards; ++id) {
    threads_.emplace_back([this, id] { shards_[id]->run(*programs_[id]); });
  }
  started.wait();
  for (ShardId id = 0; id < layout_.chat_shards; ++id) {
    sources.push_back({.shard = &shards_[id]->metrics(),
                       .pool = &shards_[id]->pool().metrics(),
                       .gateway = metrics_[id].get(),
                       .log = logs_[id].get()});
  }
  const ShardId service = layout_.http_service();
  sources.push_back({.shard = &shards_[service]->metrics(), .log = logs_[service].get()});
  if (journal_ != nullptr) {
    sources.push_back({.shard = &shards_[layout_.committer()]->metrics(),
                       .log = logs_[layout_.committer()].get(),
                       .committer = &journal_->metrics()});
    sources.push_back({.shard = &shards_[layout_.compactor()]->metrics(),
                       .log = logs_[layout_.compactor()].get(),
                       .compactor = &journal_->compactor_metrics()});
  }
  if (store_ != nullptr) {
    sources.push_back({.shard = &shards_[layout_.archive()]->metrics(),
                       .log = logs_[layout_.archive()].get(),
                       .archive = &store_->metrics()});
  }
  http_ = std::make_unique<HttpService>(settings_, layout_, loaded_.secrets(), loaded_.admin_key(),
                                        std::move(sources), leaving_);
  threads_.emplace_back([this, service] { shards_[service]->run(*http_); });
}

void Server::wait_for_stop() {
  sigset_t signals = stop_signals();
  sigaddset(&signals, SIGHUP);
  int received = 0;
  while (sigwait(&signals, &received) != 0 || received == SIGHUP) {
    if (received == SIGHUP) loaded_.load_again(main_log_);
  }
}

/// Serves as before while load balancers turn away; a second signal ends it.
void Server::wait_out_the_drain() {
  leaving_.store(1);
  if (settings_.drain_ms == 0) return;
  main_log_.info("not ready, draining in {} ms", settings_.drain_ms);
  const sigset_t signals = stop_signals();
  const timespec drain{.tv_sec = settings_.drain_ms / 1'000,
                       .tv_nsec = int64_t{settings_.drain_ms % 1'000} * 1'000'000};
  // Another signal than these, as a debugger's, begins it anew.
  while (sigtimedwait(&signals, nullptr, &drain) < 0 && errno == EINTR) {
  }
}

/// Formatted only now: the disk must not be part of what was measured.
Status Server::write_record() const {
  if (record_ == nullptr) return {};
  std::string text = "shard,started_ns,seq";
  for (const std::string_view stage : kStageNames) text.append(",").append(stage).append("_ns");
  text += '\n';
  for (const auto& program : programs_) program->print_record(text);
  const std::string_view all = text;
  return record_->write_at(0, {&all, 1});
}

/// Blocks and connections that were on their way when their receiver ended: this thread takes every shard's
/// place.
void Server::settle() {
  for (int round = 0; round < kSettleRounds; ++round) {
    for (ShardId id = 0; id < layout_.chat_shards; ++id) shards_[id]->settle(*programs_[id]);
    shards_[layout_.http_service()]->settle(*http_);
    if (store_ != nullptr) shards_[layout_.archive()]->settle(store_->archive());
  }
}

void Server::stop_threads() {
  for (ShardId id = 0; id < layout_.members(); ++id) {
    if (id != layout_.committer()) shards_[id]->request_stop();
  }
  if (store_ != nullptr) store_->interrupt();
  for (std::thread& thread : threads_) thread.join();
  settle();
  if (journal_ != nullptr) {
    shards_[layout_.committer()]->request_stop();
    journal_thread_.join();
    shards_[layout_.committer()]->settle(journal_->committer());
    settle();
  }
  stopped_well_ = write_record();
  http_.reset();
  store_.reset();  // before what it reads
  journal_.reset();
  programs_.clear();
  shards_.clear();
  log_thread_->stop();
}

Status Server::run() {
  log_thread_->start();
  ask_the_host();
  start_threads();
  std::printf("listening %s=%s", loaded_.certificate() == nullptr ? "ws" : "wss",
              net::local_address(listener_.get()).c_str());
  if (compact_listener_) std::printf(" compact=%s", net::local_address(compact_listener_.get()).c_str());
  std::puts("");
  std::fflush(stdout);
  main_log_.info("{} chat shards, waiting {}", layout_.chat_shards, name_of(settings_.wait));
  if (journal_ != nullptr) {
    journal_->say_what_was_recovered(main_log_);
  } else {
    main_log_.info("mode none: what is said is gone with the process");
  }
  tell_service_manager("READY=1");
  wait_for_stop();
  tell_service_manager("STOPPING=1");
  wait_out_the_drain();
  main_log_.info("draining");
  stop_threads();
  return stopped_well_;
}

/// Threads inherit the mask, so that only this thread's sigwait sees the signals.
void block_signals() {
  sigset_t signals = stop_signals();
  sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);  // a file at its limit is a disk that refuses
}

int complain(const Status& status, int exit_code) {
  std::fprintf(stderr, "taut serve: %s\n", status.error().message.c_str());
  return exit_code;
}

}  // namespace

int serve(const Settings& settings) {
  block_signals();
  Server server(settings);
  if (const Status loaded = server.load_files(); !loaded) return complain(loaded, kExitUsage);
  if (const Status prepared = server.prepare(); !prepared) return complain(prepared, kExitFailed);
  if (const Status ended = server.run(); !ended) return complain(ended, kExitFailed);
  return kExitOk;
}

}  // namespace taut::gateway
