#include "gateway/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "chat/types.h"

namespace taut::gateway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class S>
std::string error_of(Config (*table)(S&), S& settings, std::vector<const char*> arguments) {
  Config config = table(settings);
  const auto asked = config.load(arguments);
  if (!asked) return asked.error().message;
  const Status checked = check(settings);
  return checked ? "" : checked.error().message;
}

std::string serve_error(std::vector<const char*> arguments) {
  Settings settings;
  arguments.insert(arguments.begin(), {"--secret-file", "s"});
  return error_of(serve_config, settings, std::move(arguments));
}

std::string token_error(std::vector<const char*> arguments) {
  TokenSettings settings;
  arguments.insert(arguments.begin(), {"--secret-file", "s", "--id", "a1"});
  return error_of(token_config, settings, std::move(arguments));
}

TEST(ServeSettings, ACertificateAndItsKeyGoTogether) {
  EXPECT_THAT(serve_error({"--tls-cert", "c"}), HasSubstr("--tls-cert and --tls-key go together"));
  EXPECT_THAT(serve_error({"--tls-key", "k"}), HasSubstr("--tls-cert and --tls-key go together"));
  EXPECT_EQ(serve_error({"--tls-cert", "c", "--tls-key", "k"}), "");
}

TEST(ServeSettings, APathPrefixBeginsAndDoesNotEndWithASlash) {
  for (const char* good : {"", "/x", "/x/y-1._~"})
    EXPECT_EQ(serve_error({"--path-prefix", good}), "") << good;
  for (const char* bad : {"x", "/", "/x/", "/x//y", "/x y", "/x?", "/%41"})
    EXPECT_THAT(serve_error({"--path-prefix", bad}), HasSubstr("a path like /x or /x/y")) << bad;
}

TEST(ServeSettings, TrustedProxiesAreNetworksAndTheProxyProtocolNeedsThem) {
  EXPECT_THAT(serve_error({"--trusted-proxy", "10.0.0.0/99"}), HasSubstr("a network like 10.0.0.0/8"));
  EXPECT_THAT(serve_error({"--proxy-protocol"}), HasSubstr("--proxy-protocol needs --trusted-proxy"));
  EXPECT_EQ(serve_error({"--proxy-protocol", "--trusted-proxy", "10.0.0.0/8", "--trusted-proxy", "::1"}), "");
}

TEST(ServeSettings, TheDefaultsPassTheirOwnLimits) {
  Settings settings;
  Config config = serve_config(settings);
  const std::vector<ConfigRow>& rows = config.rows();
  for (const ConfigRow& row : rows) {
    const std::string text = config.value_text(row);
    if (text.empty()) continue;
    const std::string flag = "--" + std::string(row.key) + "=" + text;
    EXPECT_EQ(serve_error({flag.c_str()}), "") << flag;
  }
  EXPECT_TRUE(check(settings));
}

TEST(ServeSettings, TakeTheCommandLineThatOtherProgramsRelyOn) {
  Settings settings;
  EXPECT_EQ(error_of(serve_config, settings,
                     {"--listen",      "127.0.0.1:0", "--data",         "d",     "--secret-file", "s1",
                      "--secret-file", "s2",          "--site",         "demo",  "--group",       "sales",
                      "--group",       "support",     "--shards",       "2",     "--wait",        "park",
                      "--ping-ms",     "500",         "--rate-visitor", "10/20", "--rate-agent",  "0"}),
            "");
  EXPECT_THAT(settings.secret_files, ElementsAre("s1", "s2"));
  EXPECT_THAT(settings.groups, ElementsAre("sales", "support"));
  EXPECT_EQ(settings.wait, WaitOptions::Strategy::park);
  EXPECT_EQ(settings.rate_visitor, (Rate{10, 20}));
  EXPECT_EQ(settings.rate_agent.per_second, 0U);
}

TEST(ServeSettings, NeedASecret) {
  Settings settings;
  EXPECT_EQ(error_of(serve_config, settings, {}), "--secret-file is missing: give --secret-file FILE");
}

TEST(ServeSettings, RefuseIdsThatTheProtocolCannotCarry) {
  EXPECT_EQ(serve_error({"--site", "a b"}), "--site a b: expected 1 to 64 characters of A-Z a-z 0-9 . _ -");
  EXPECT_THAT(serve_error({"--group", ""}), HasSubstr("expected 1 to 64 characters"));
}

TEST(ServeSettings, RefuseLimitsThatContradictEachOther) {
  EXPECT_THAT(serve_error({"--soft-limit-bytes", "8MiB"}), HasSubstr("is above --hard-limit-bytes"));
  EXPECT_THAT(serve_error({"--max-text-bytes", "20000", "--soft-limit-bytes", "16KiB"}),
              HasSubstr("is above --soft-limit-bytes"));
  EXPECT_THAT(serve_error({"--pool-base-bytes", "2GiB"}), HasSubstr("is above --pool-bytes-max"));
  EXPECT_THAT(serve_error({"--group", "a", "--group", "a"}), HasSubstr("same group twice"));
}

TEST(ServeSettings, RefuseMoreThanTheEngineCanNumber) {
  EXPECT_EQ(serve_error({"--shards", "252"}), "");
  EXPECT_THAT(serve_error({"--shards", "253"}), HasSubstr("252"));
  std::vector<std::string> names;
  for (uint32_t i = 0; i <= chat::kGroupsMax; ++i) names.push_back("--group=g" + std::to_string(i));
  std::vector<const char*> flags;
  flags.reserve(names.size());
  for (const std::string& name : names) flags.push_back(name.c_str());
  EXPECT_THAT(serve_error(flags), HasSubstr("at most 64"));
  flags.pop_back();
  EXPECT_EQ(serve_error(flags), "");
}

TEST(ServeSettings, TakeWhatIsAskedOfTheHost) {
  Settings settings;
  EXPECT_EQ(error_of(serve_config, settings,
                     {"--secret-file", "s", "--wait", "spin_park", "--spin-us", "40", "--smt", "--scheduling",
                      "rr", "--scheduling-priority", "50", "--no-numa-local", "--hold-cpu-latency"}),
            "");
  EXPECT_EQ(settings.wait, WaitOptions::Strategy::spin_park);
  EXPECT_EQ(settings.spin_us, 40U);
  EXPECT_TRUE(settings.smt);
  EXPECT_EQ(settings.scheduling, ThreadSetup::Scheduling::rr);
  EXPECT_EQ(settings.scheduling_priority, 50U);
  EXPECT_FALSE(settings.numa_local);
  EXPECT_TRUE(settings.hold_cpu_latency);
  EXPECT_THAT(serve_error({"--scheduling-priority", "0"}), HasSubstr("99"));
  EXPECT_THAT(serve_error({"--scheduling-priority", "100"}), HasSubstr("99"));
  EXPECT_THAT(serve_error({"--wait", "fast"}), HasSubstr("adaptive"));
}

TEST(ServeSettings, OriginsHaveASchemeAndNoPath) {
  EXPECT_EQ(serve_error({"--origin", "https://example.org"}), "");
  EXPECT_THAT(serve_error({"--origin", "example.org"}), HasSubstr("expected an origin"));
  EXPECT_THAT(serve_error({"--origin", "https://example.org/"}), HasSubstr("expected an origin"));
  EXPECT_THAT(serve_error({"--origin", "https://example.org/x"}), HasSubstr("expected an origin"));
}

TEST(TokenSettings, TakeTheCommandLineThatOtherProgramsRelyOn) {
  TokenSettings settings;
  EXPECT_EQ(error_of(token_config, settings,
                     {"--secret-file", "s", "--role", "agent", "--id", "a1", "--site", "demo", "--groups",
                      "sales,support", "--capacity", "3", "--ttl", "3600"}),
            "");
  EXPECT_EQ(settings.role, Role::agent);
  EXPECT_THAT(settings.groups, ElementsAre("sales", "support"));
}

TEST(TokenSettings, RefuseGroupsForVisitorsAndTooMany) {
  EXPECT_THAT(token_error({"--groups", "sales"}), HasSubstr("--role agent only"));
  std::string many = "g0";
  for (int i = 1; i < 33; ++i) many += ",g" + std::to_string(i);
  EXPECT_THAT(token_error({"--role", "agent", "--groups", many.c_str()}), HasSubstr("at most 32"));
  EXPECT_THAT(token_error({"--role", "agent", "--groups", "a,,b"}), HasSubstr("expected 1 to 64 characters"));
}

}  // namespace
}  // namespace taut::gateway
