// What a hello costs: verifying a token, and making one.
#include "auth/jwt.h"

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

namespace taut::auth {
namespace {

constexpr int64_t kExpiresS = 1'700'000'000;

Secrets make_secrets(int64_t count) {
  std::vector<Secret> secrets;
  for (int64_t i = 0; i < count; ++i) secrets.emplace_back(std::string(32, static_cast<char>('a' + i)));
  return Secrets(std::move(secrets));
}

Claims agent() {
  Claims claims{
      .id = "a1", .role = Role::agent, .site = "demo", .expires_s = kExpiresS, .name = "Ada", .capacity = 3};
  claims.group_ids[0] = "sales";
  claims.group_count = 1;
  return claims;
}

void verify(benchmark::State& state) {
  // With several secrets the token is of the last, the worst case.
  const Secrets secrets = make_secrets(state.range(0));
  std::vector<Secret> last;
  last.emplace_back(secrets.all().back().bytes());
  const std::string token = Signer(Secrets(std::move(last))).sign(agent());
  Verifier verifier(secrets);
  for (auto _ : state) {
    const auto claims = verifier.verify(token, 0);
    if (!claims) state.SkipWithError("refused");
    benchmark::DoNotOptimize(claims);
  }
}
BENCHMARK(verify)->Arg(1)->Arg(2);

void sign(benchmark::State& state) {
  const Secrets secrets = make_secrets(1);
  Signer signer(secrets);
  for (auto _ : state) benchmark::DoNotOptimize(signer.sign(agent()));
}
BENCHMARK(sign);

}  // namespace
}  // namespace taut::auth
