// `taut sim`: the server in a world of faults, from one seed.
#include <cstdio>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "main/command.h"
#include "sim/simulation.h"

namespace taut {

namespace {

constexpr std::string_view kCommand = "taut sim";
/// Runs that a shrinking may take.
constexpr uint32_t kShrinkRuns = 600;

struct SimOptions {
  uint64_t seed = 0;  ///< 0: a fresh one
  uint32_t seeds = 0;
  uint32_t steps = 20'000;
  bool shrink = true;
  bool trace = false;
};

bool read_options(SimOptions& o, Arguments arguments, int& exit_code) {
  std::vector<ConfigRow> rows;
  rows.push_back(
      {.key = "seeds",
       .section = "Simulation",
       .field = &o.seeds,
       .help = "Worlds, of as many seeds one behind the other; 0: 50, or the one that --seed names"});
  rows.push_back({.key = "seed",
                  .section = "Simulation",
                  .field = &o.seed,
                  .help = "The first seed; 0: a fresh one",
                  .max = INT64_MAX});
  rows.push_back({.key = "steps",
                  .section = "Simulation",
                  .field = &o.steps,
                  .help = "Steps in each world",
                  .min = 1,
                  .max = 100'000'000});
  rows.push_back({.key = "shrink",
                  .section = "Simulation",
                  .field = &o.shrink,
                  .help = "Of a seed that fails, print the shortest run found that fails in the same way"});
  rows.push_back({.key = "trace",
                  .section = "Simulation",
                  .field = &o.trace,
                  .help = "Print each step that did something"});
  Config config(
      kCommand,
      "Runs shards, dispatcher, journal and people in one thread under virtual time, with cut links, "
      "failing\n"
      "disks and crashes, and looks after each step whether anything was lost, doubled or out of order.\n"
      "Exit code 1: something was; the seed and the command that replays it are printed.",
      std::move(rows));
  return read_settings(config, kCommand, arguments, exit_code);
}

void print_step(uint64_t step, const std::string& did) {
  std::printf("%8llu  %s\n", static_cast<unsigned long long>(step), did.c_str());
}

/// The steps of a run in words, which may end the process where an assertion fails.
void print_trace(uint64_t seed, const std::vector<sim::Action>& actions) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  static_cast<void>(sim::run(seed, actions, print_step));
}

void report(const SimOptions& options, uint64_t seed, const std::vector<sim::Action>& actions,
            const sim::Outcome& outcome) {
  const auto shown = static_cast<unsigned long long>(seed);
  const std::string after =
      outcome.steps > 0 ? " after " + std::to_string(outcome.steps) + " steps" : std::string();
  std::printf(
      "seed %llu fails%s\n  invariant: %s\n  %s\n  replay: taut sim --seed %llu --steps %u "
      "--trace\n",
      shown, after.c_str(), outcome.violation->name.c_str(), outcome.violation->what.c_str(), shown,
      options.steps);
  std::fflush(stdout);
  if (!options.shrink) return;
  std::vector<sim::Action> few = actions;
  if (outcome.steps > 0) few.resize(outcome.steps);
  few = sim::shrink(seed, std::move(few), *outcome.violation, kShrinkRuns);
  std::printf("shrunk to %zu steps:\n", few.size());
  print_trace(seed, few);
}

uint64_t fresh_seed() {
  std::random_device entropy;
  return 1 + entropy();
}

}  // namespace

int run_sim(Arguments arguments) {
  SimOptions options;
  int exit_code = kExitOk;
  if (!read_options(options, arguments, exit_code)) return exit_code;
  if (options.seeds == 0) options.seeds = options.seed != 0 ? 1 : 50;
  const uint64_t first = options.seed != 0 ? options.seed : fresh_seed();
  std::printf("seeds %llu to %llu, %u steps each\n", static_cast<unsigned long long>(first),
              static_cast<unsigned long long>(first + options.seeds - 1), options.steps);
  std::fflush(stdout);
  sim::Outcome all;
  for (uint64_t seed = first; seed < first + options.seeds; ++seed) {
    const std::vector<sim::Action> actions = sim::actions_of(seed, options.steps);
    if (options.trace) print_trace(seed, actions);
    const sim::Outcome outcome = sim::run_apart(seed, actions);
    if (outcome.violation) {
      report(options, seed, actions, outcome);
      return kExitFailed;
    }
    all.steps += outcome.steps;
    all.items += outcome.items;
    all.durable_acks += outcome.durable_acks;
    all.crashes += outcome.crashes;
  }
  std::printf(
      "%llu steps, %llu items told, %llu durable acks, %u crashes: nothing lost, nothing doubled, nothing "
      "out of order\n",
      static_cast<unsigned long long>(all.steps), static_cast<unsigned long long>(all.items),
      static_cast<unsigned long long>(all.durable_acks), all.crashes);
  return kExitOk;
}

}  // namespace taut
