#include "base/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/config_toml.h"
#include "base/config_value.h"

namespace taut {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

enum class Mode : uint8_t { slow, quick };
constexpr std::array<std::string_view, 2> kModes{"slow", "quick"};

Status no_spaces(std::string_view text) {
  return text.contains(' ') ? Status(fail("a word without spaces")) : Status();
}

struct Values {
  std::string name = "demo";
  std::vector<std::string> groups{"default"};
  std::vector<std::string> tags;
  bool pin = true;
  bool demo = false;
  int32_t cpu = -1;
  uint32_t shards = 0;
  uint32_t ping_ms = 25'000;
  uint64_t pool_bytes = 1ULL << 30;
  double seconds = 3;
  HostPort listen{"127.0.0.1", 8080};
  Rate rate{200, 1'000};
  Mode mode = Mode::slow;
  uint32_t secret_knob = 7;
};

std::vector<ConfigRow> rows_of(Values& v) {
  return {
      {.key = "name", .section = "Words", .field = &v.name, .help = "A name", .check = no_spaces},
      {.key = "group",
       .section = "Words",
       .field = &v.groups,
       .help = "A group",
       .min = 1,
       .check = no_spaces},
      {.key = "tags", .section = "Words", .field = &v.tags, .help = "Tags", .commas = true},
      {.key = "mode", .section = "Words", .field = choice_field(v.mode, kModes), .help = "A | mode"},
      {.key = "pin", .section = "Switches", .field = &v.pin, .help = "Pin"},
      {.key = "demo", .section = "Switches", .field = &v.demo, .help = "Demo"},
      {.key = "cpu", .section = "Numbers", .field = &v.cpu, .help = "A core", .min = -1, .max = 1'023},
      {.key = "shards", .section = "Numbers", .field = &v.shards, .help = "Threads", .max = 256},
      {.key = "ping-ms",
       .section = "Numbers",
       .field = &v.ping_ms,
       .help = "Ping",
       .unit = Unit::ms,
       .min = 100,
       .max = 3'600'000},
      {.key = "pool-bytes",
       .section = "Numbers",
       .field = &v.pool_bytes,
       .help = "Pool",
       .unit = Unit::bytes,
       .min = 1'024,
       .max = 1LL << 40},
      {.key = "seconds", .section = "Numbers", .field = &v.seconds, .help = "Time", .max = 100},
      {.key = "listen", .section = "Network", .field = &v.listen, .help = "Address"},
      {.key = "rate", .section = "Network", .field = &v.rate, .help = "Rate"},
      {.key = "secret-knob",
       .section = "Network",
       .field = &v.secret_knob,
       .help = "For tests",
       .hidden = true},
  };
}

/// A file that is gone with the test.
class TomlFile {
 public:
  explicit TomlFile(std::string_view text)
      : path_(std::filesystem::path(::testing::TempDir()) /
              ("taut_config_" + std::to_string(::getpid()) + ".toml")) {
    std::ofstream(path_) << text;
  }
  TomlFile(const TomlFile&) = delete;
  TomlFile& operator=(const TomlFile&) = delete;
  ~TomlFile() { std::filesystem::remove(path_); }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

class ConfigTest : public ::testing::Test {
 protected:
  Result<Config::Ask> load(std::vector<const char*> arguments) { return config_.load(arguments); }
  Result<Config::Ask> load_file(const TomlFile& file, std::vector<const char*> arguments = {}) {
    const std::string path = file.path();
    arguments.insert(arguments.begin(), {"--config", path.c_str()});
    return config_.load(arguments);
  }
  std::string error_of(std::vector<const char*> arguments) {
    const auto result = load(std::move(arguments));
    return result ? "(no error)" : result.error().message;
  }
  std::string file_error(std::string_view text) {
    const TomlFile file(text);
    const auto result = load_file(file);
    if (result) return "(no error)";
    std::string message = result.error().message;
    const size_t at = message.find(file.path());
    return at == std::string::npos ? message : message.replace(at, file.path().size(), "FILE");
  }

  Values values_;
  Config config_{"taut test", "Tests.", rows_of(values_)};
};

TEST_F(ConfigTest, WithoutArgumentsEverythingKeepsItsDefault) {
  ASSERT_TRUE(load({}));
  EXPECT_EQ(values_.ping_ms, 25'000U);
  EXPECT_EQ(config_.origin("ping-ms").source, ConfigSource::default_value);
}

TEST_F(ConfigTest, ReadsEveryTypeFromFlags) {
  ASSERT_TRUE(load({"--name",    "x",        "--group=a",    "--group",   "b",        "--tags",
                    "p,q",       "--tags=r", "--mode",       "quick",     "--no-pin", "--demo",
                    "--cpu",     "3",        "--shards=256", "--ping-ms", "30s",      "--pool-bytes=64KiB",
                    "--seconds", "0.5",      "--listen",     "[::1]:0",   "--rate",   "5/9"}));
  EXPECT_EQ(values_.name, "x");
  EXPECT_THAT(values_.groups, ElementsAre("a", "b"));
  EXPECT_THAT(values_.tags, ElementsAre("p", "q", "r"));
  EXPECT_EQ(values_.mode, Mode::quick);
  EXPECT_FALSE(values_.pin);
  EXPECT_TRUE(values_.demo);
  EXPECT_EQ(values_.cpu, 3);
  EXPECT_EQ(values_.shards, 256U);
  EXPECT_EQ(values_.ping_ms, 30'000U);
  EXPECT_EQ(values_.pool_bytes, 65'536U);
  EXPECT_EQ(values_.seconds, 0.5);
  EXPECT_EQ(values_.listen, (HostPort{"::1", 0}));
  EXPECT_EQ(values_.rate, (Rate{5, 9}));
}

TEST_F(ConfigTest, ReadsEveryTypeFromAFile) {
  const TomlFile file(R"(
name = "x"
group = ["a", "b"]
tags = "p,q"
mode = "quick"
pin = false
cpu = -1
shards = 8
ping-ms = "5min"
pool-bytes = 2048
seconds = 1.25
listen = "0.0.0.0:99"
rate = 0
)");
  const auto result = load_file(file);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(values_.name, "x");
  EXPECT_THAT(values_.groups, ElementsAre("a", "b"));
  EXPECT_THAT(values_.tags, ElementsAre("p", "q"));
  EXPECT_EQ(values_.mode, Mode::quick);
  EXPECT_FALSE(values_.pin);
  EXPECT_EQ(values_.shards, 8U);
  EXPECT_EQ(values_.ping_ms, 300'000U);
  EXPECT_EQ(values_.pool_bytes, 2'048U);
  EXPECT_EQ(values_.seconds, 1.25);
  EXPECT_EQ(values_.listen, (HostPort{"0.0.0.0", 99}));
  EXPECT_EQ(values_.rate, (Rate{0, 0}));
}

TEST_F(ConfigTest, AFlagWinsOverTheFileWhicheverComesFirst) {
  const TomlFile file("ping-ms = 200\nshards = 2\n");
  const std::string path = file.path();
  ASSERT_TRUE(load({"--ping-ms", "300", "--config", path.c_str()}));
  EXPECT_EQ(values_.ping_ms, 300U);
  EXPECT_EQ(values_.shards, 2U);
}

TEST_F(ConfigTest, AListFromAFlagReplacesTheFilesListAndBothReplaceTheDefault) {
  const TomlFile file("group = [\"a\", \"b\"]\n");
  ASSERT_TRUE(load_file(file, {"--group", "c", "--group", "d"}));
  EXPECT_THAT(values_.groups, ElementsAre("c", "d"));
}

TEST_F(ConfigTest, RemembersWhereEachValueCameFrom) {
  const TomlFile file("\nshards = 2\n");
  ASSERT_TRUE(load_file(file, {"--no-pin", "--ping-ms=300"}));
  EXPECT_EQ(config_.origin("shards").source, ConfigSource::file);
  EXPECT_EQ(config_.origin("shards").where, file.path() + ":2:10");
  EXPECT_EQ(config_.origin("ping-ms").where, "--ping-ms");
  EXPECT_EQ(config_.origin("pin").where, "--no-pin");
  EXPECT_EQ(config_.origin("name").where, "default");
}

TEST_F(ConfigTest, BooleansTakeAllSpellingsOfCommandLines) {
  ASSERT_TRUE(load({"--pin=false", "--demo", "true"}));
  EXPECT_FALSE(values_.pin);
  EXPECT_TRUE(values_.demo);
  ASSERT_TRUE(load({"--pin", "--demo", "false"}));
  EXPECT_TRUE(values_.pin);
  EXPECT_FALSE(values_.demo);
  EXPECT_EQ(error_of({"--pin=yes"}), "--pin yes: expected true or false");
}

TEST_F(ConfigTest, TheLimitsThemselvesAreAllowedAndOneBeyondIsNot) {
  EXPECT_TRUE(load({"--ping-ms", "100"}));
  EXPECT_TRUE(load({"--ping-ms", "3600000"}));
  EXPECT_EQ(error_of({"--ping-ms", "99"}),
            "--ping-ms 99: expected a time from 100ms to 1h, in milliseconds or like 500ms, 30s, 5min");
  EXPECT_THAT(error_of({"--ping-ms", "3600001"}), HasSubstr("from 100ms to 1h"));
  EXPECT_EQ(error_of({"--shards", "257"}), "--shards 257: expected a number from 0 to 256");
  EXPECT_EQ(error_of({"--cpu=-2"}), "--cpu -2: expected a number from -1 to 1023");
  EXPECT_THAT(error_of({"--seconds", "100.1"}), HasSubstr("from 0 to 100"));
  EXPECT_THAT(error_of({"--seconds", "nan"}), HasSubstr("from 0 to 100"));
}

TEST_F(ConfigTest, ARefusedNumberLeavesTheFieldAlone) {
  for (const char* bad : {"", "x", "1x", "1.5", "0x10", " 1", "1 ", "99999999999999999999", "-1", "1KiB"}) {
    EXPECT_THAT(error_of({"--shards", bad}), HasSubstr("expected a number from 0 to 256")) << bad;
    EXPECT_EQ(values_.shards, 0U) << bad;
  }
}

TEST_F(ConfigTest, UnitsBelongToTheirKindAndDoNotOverflow) {
  EXPECT_THAT(error_of({"--ping-ms", "4MiB"}), HasSubstr("expected a time"));
  EXPECT_THAT(error_of({"--pool-bytes", "4s"}), HasSubstr("expected a size"));
  EXPECT_THAT(error_of({"--pool-bytes", "9223372036854775807GiB"}), HasSubstr("expected a size"));
  EXPECT_THAT(error_of({"--pool-bytes", "KiB"}), HasSubstr("expected a size"));
}

TEST_F(ConfigTest, AddressesNeedAHostAndAPort) {
  for (const char* bad : {"", "8080", ":8080", "host:", "host:65536", "host:-1", "::1:80", "host:80x"}) {
    EXPECT_THAT(error_of({"--listen", bad}), HasSubstr("expected HOST:PORT")) << bad;
  }
  EXPECT_EQ(values_.listen, (HostPort{"127.0.0.1", 8080}));
}

TEST_F(ConfigTest, RatesAreTwoNumbersOrOff) {
  ASSERT_TRUE(load({"--rate", "0"}));
  EXPECT_EQ(values_.rate, Rate{});
  ASSERT_TRUE(load({"--rate", "7"}));
  EXPECT_EQ(values_.rate, (Rate{7, 7}));
  for (const char* bad : {"", "/", "1/", "/1", "1/0", "a/b", "1/2/3", "-1/2"}) {
    EXPECT_THAT(error_of({"--rate", bad}), HasSubstr("expected PER_SECOND/BURST")) << bad;
  }
}

TEST_F(ConfigTest, ChoicesNameTheWordsThatAreAllowed) {
  EXPECT_EQ(error_of({"--mode", "fast"}), "--mode fast: expected slow or quick");
}

TEST_F(ConfigTest, ChecksOfStringsSayWhatWasExpected) {
  EXPECT_EQ(error_of({"--name", "a b"}), "--name a b: expected a word without spaces");
  EXPECT_EQ(error_of({"--group", "a b"}), "--group a b: expected a word without spaces");
  EXPECT_EQ(values_.name, "demo");
}

TEST_F(ConfigTest, UnknownFlagsSuggestTheNearest) {
  EXPECT_EQ(error_of({"--lisen", "x"}), "unknown option --lisen; did you mean --listen?");
  EXPECT_EQ(error_of({"--hlep"}), "unknown option --hlep; did you mean --help?");
  EXPECT_EQ(error_of({"--frobnicate"}), "unknown option --frobnicate; taut test --help lists them");
  EXPECT_THAT(error_of({"--no-name"}), HasSubstr("unknown option --no-name"));
}

TEST_F(ConfigTest, WordsThatAreNoFlagsAreRefused) {
  EXPECT_EQ(error_of({"serve"}), "unexpected argument serve: options are written --key value");
  EXPECT_THAT(error_of({"--"}), HasSubstr("unexpected argument --"));
  EXPECT_THAT(error_of({"-x"}), HasSubstr("unexpected argument -x"));
}

TEST_F(ConfigTest, AMissingValueIsAskedFor) {
  EXPECT_EQ(error_of({"--listen"}), "--listen needs a value: --listen HOST:PORT");
  EXPECT_EQ(error_of({"--config"}), "--config needs a value: --config FILE");
}

TEST_F(ConfigTest, AFileThatIsNotThereIsNamed) {
  EXPECT_EQ(error_of({"--config", "/nonexistent/x.toml"}),
            "--config /nonexistent/x.toml: No such file or directory");
}

TEST_F(ConfigTest, FileErrorsGiveLineAndColumn) {
  EXPECT_EQ(
      file_error("shards = 1\nping-ms = 50\n"),
      "FILE:2:11: ping-ms = 50: expected a time from 100ms to 1h, in milliseconds or like 500ms, 30s, 5min");
  EXPECT_EQ(file_error("\n\nlissten = \"x\"\n"), "FILE:3:11: unknown key lissten; did you mean listen?");
  EXPECT_EQ(file_error("group = [\"a\", \"b c\"]"),
            "FILE:1:9: group = [\"a\", \"b c\"]: expected a word without spaces");
}

TEST_F(ConfigTest, FileErrorsOfGrammarGiveLineAndColumn) {
  EXPECT_THAT(file_error("shards = 1\nname = \"open\n"), HasSubstr("FILE:2:"));
  EXPECT_THAT(file_error("shards = 1\nshards = 2\n"), HasSubstr("FILE:2:"));
}

TEST_F(ConfigTest, FileTypesMustFit) {
  EXPECT_EQ(file_error("pin = \"true\""), "FILE:1:7: pin = \"true\": expected true or false, without quotes");
  EXPECT_EQ(file_error("name = 3"), "FILE:1:8: name = 3: expected a string in quotes");
  EXPECT_EQ(file_error("shards = true"), "FILE:1:10: shards = true: expected a number");
  EXPECT_THAT(file_error("shards = 1.5"), HasSubstr("shards = 1.5: expected a number"));
  EXPECT_THAT(file_error("group = [1, 2]"), HasSubstr("expected a list of strings"));
  EXPECT_THAT(file_error("[listen]\nport = 1\n"), HasSubstr("listen = a value: expected a string in quotes"));
}

TEST_F(ConfigTest, AListMayNotBeEmptierThanItsLeast) {
  EXPECT_THAT(file_error("group = []"), HasSubstr("group is empty: expected at least 1"));
}

TEST_F(ConfigTest, HelpWinsOverWhatFollowsAndStoresNothing) {
  const auto result = load({"--shards", "2", "--help", "--nonsense"});
  ASSERT_TRUE(result);
  EXPECT_EQ(*result, Config::Ask::help);
  EXPECT_EQ(values_.shards, 0U);
}

TEST_F(ConfigTest, HelpShowsSectionsDefaultsAndLimitsWithinTheTerminal) {
  const std::string help = config_.help();
  EXPECT_THAT(help, HasSubstr("\nNumbers:\n"));
  EXPECT_THAT(help, HasSubstr("--ping-ms MS"));
  EXPECT_THAT(help, HasSubstr("Ping (default 25s, 100ms to 1h)"));
  EXPECT_THAT(help, HasSubstr("--[no-]pin"));
  EXPECT_THAT(help, HasSubstr("Pin (default --pin)"));
  EXPECT_THAT(help, HasSubstr("--mode slow|quick"));
  EXPECT_THAT(help, HasSubstr("--config FILE"));
  EXPECT_THAT(help, Not(HasSubstr("secret-knob")));
  for (size_t begin = 0; begin < help.size();) {
    const size_t end = help.find('\n', begin);
    EXPECT_LE(end - begin, 100U) << help.substr(begin, end - begin);
    begin = end + 1;
  }
}

TEST_F(ConfigTest, HelpLeavesOutLimitsThatNobodyChose) {
  uint64_t seed = 1;
  const Config config(
      "taut test", "",
      {{.key = "seed", .section = "A", .field = &seed, .help = "Seed", .min = 1, .max = INT64_MAX}});
  EXPECT_THAT(config.help(), HasSubstr("Seed (default 1, at least 1)"));
}

TEST_F(ConfigTest, HelpKeepsShowingTheDefaultAfterAnotherValueWasRead) {
  ASSERT_TRUE(load({"--ping-ms", "100"}));
  EXPECT_THAT(config_.help(), HasSubstr("default 25s"));
}

TEST_F(ConfigTest, MarkdownHasOneRowPerSettingAndEscapesBars) {
  const std::string text = config_.help_markdown();
  EXPECT_THAT(text, HasSubstr("| `ping-ms` | number | `25s` | 100ms to 1h | Ping |"));
  EXPECT_THAT(text, HasSubstr("| `mode` | choice | `slow` | slow\\|quick | A \\| mode |"));
  EXPECT_THAT(text, Not(HasSubstr("secret-knob")));
}

TEST_F(ConfigTest, ValuesPrintAsFlagsTakeThem) {
  for (const ConfigRow& row : config_.rows()) {
    const std::string text = config_.value_text(row);
    if (text.empty()) continue;
    clear_list(row);
    const Status again = set_value(row, text);
    EXPECT_TRUE(again) << row.key << " " << text;
    EXPECT_EQ(config_.value_text(row), text) << row.key;
  }
}

TEST(ConfigEffective, WhatItPrintsCanBeFedBackAndSaysWhereItIsFrom) {
  Values first;
  Config config("taut serve", "", rows_of(first));
  ASSERT_TRUE(config.load(std::array{"--ping-ms", "90s", "--tags", "a,b \"c\"", "--no-pin"}));
  const std::string text = config.effective();
  EXPECT_THAT(text, HasSubstr("ping-ms = \"90s\"  # --ping-ms\n"));
  EXPECT_THAT(text, HasSubstr("tags = [\"a\", \"b \\\"c\\\"\"]  # --tags\n"));
  EXPECT_THAT(text, HasSubstr("pin = false  # --no-pin\n"));
  EXPECT_THAT(text, HasSubstr("shards = 0  # default\n"));
  EXPECT_THAT(text, Not(HasSubstr("secret-knob")));
  const TomlFile file(text);
  const std::string path = file.path();
  Values second;
  Config again("taut serve", "", rows_of(second));
  const auto loaded = again.load(std::array{"--config", path.c_str()});
  ASSERT_TRUE(loaded) << loaded.error().message;
  for (const ConfigRow& row : config.rows()) {
    const auto same = std::ranges::find(again.rows(), row.key, &ConfigRow::key);
    EXPECT_EQ(again.value_text(*same), config.value_text(row)) << row.key;
  }
  EXPECT_THAT(again.effective(), HasSubstr("ping-ms = \"90s\"  # " + path + ":"));
}

TEST(ConfigRequired, AMissingRequiredValueNamesItsFlag) {
  std::string id;
  Config config("taut test", "",
                {{.key = "id", .section = "A", .field = &id, .help = "Id", .required = true}});
  const auto result = config.load({});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "--id is missing: give --id TEXT");
}

TEST(ConfigDeathTest, TwoRowsWithOneKeyAreOurBug) {
  std::string a;
  const ConfigRow row{.key = "a", .section = "A", .field = &a, .help = "A"};
  EXPECT_DEATH(Config("x", "", {row, row}), "assertion failed");
}

TEST(Nearest, FindsSlipsOfTheFingerAndNothingFarther) {
  const std::array<std::string_view, 3> names{"serve", "token", "load"};
  EXPECT_EQ(nearest("sreve", names), "serve");
  EXPECT_EQ(nearest("tokens", names), "token");
  EXPECT_EQ(nearest("frobnicate", names), "");
}

}  // namespace
}  // namespace taut
