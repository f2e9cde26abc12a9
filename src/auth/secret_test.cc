#include "auth/secret.h"

#include <gtest/gtest.h>

#include <map>

#include "auth/admin_key.h"
#include "base/memory_files.h"

namespace taut::auth {
namespace {

void put(MemoryFileSystem& files, const std::map<std::string, std::string>& contents) {
  for (const auto& [path, content] : contents) files.set_content(path, content);
}

Result<Secrets> load(MemoryFileSystem& files, const std::vector<std::string>& paths) {
  return Secrets::load(files, paths);
}

TEST(Secrets, TakeTheFilesBytesWithoutOneTrailingNewline) {
  MemoryFileSystem files;
  const std::string text(32, 's');
  put(files, {{"none", text}, {"one", text + "\n"}, {"two", text + "\n\n"}, {"cr", text + "\r\n"}});
  EXPECT_EQ(load(files, {"none"})->signing().bytes(), text);
  EXPECT_EQ(load(files, {"one"})->signing().bytes(), text);
  EXPECT_EQ(load(files, {"two"})->signing().bytes(), text + "\n");
  EXPECT_EQ(load(files, {"cr"})->signing().bytes(), text + "\r");
}

TEST(Secrets, KeepTheOrderSoThatTheFirstSigns) {
  MemoryFileSystem files;
  put(files, {{"a", std::string(32, 'a')}, {"b", std::string(40, 'b')}});
  const auto secrets = load(files, {"b", "a"});
  ASSERT_TRUE(secrets);
  EXPECT_EQ(secrets->signing().bytes(), std::string(40, 'b'));
  ASSERT_EQ(secrets->all().size(), 2u);
  EXPECT_EQ(secrets->all()[1].bytes(), std::string(32, 'a'));
}

TEST(Secrets, BoundTheLength) {
  MemoryFileSystem files;
  put(files, {{"31", std::string(31, 's') + "\n"},
              {"32", std::string(32, 's')},
              {"max", std::string(kSecretBytesMax, 's') + "\n"},
              {"more", std::string(kSecretBytesMax + 1, 's')},
              {"more\n", std::string(kSecretBytesMax + 1, 's') + "\n"}});
  EXPECT_FALSE(load(files, {"31"}));
  EXPECT_TRUE(load(files, {"32"}));
  EXPECT_TRUE(load(files, {"max"}));
  EXPECT_FALSE(load(files, {"more"}));
  EXPECT_FALSE(load(files, {"more\n"}));
}

TEST(Secrets, NameTheSettingTheFileAndTheRemedyAndNeverTheContentInErrors) {
  MemoryFileSystem files;
  put(files, {{"short", "hunter2"}, {"long", std::string(100'000, 's')}});
  EXPECT_EQ(
      load(files, {"short"}).error().message,
      "--secret-file short: shorter than 32 bytes; make one: (umask 077; head -c 32 /dev/urandom | base64 "
      "> short)");
  EXPECT_EQ(
      load(files, {"missing"}).error().message,
      "--secret-file missing: No such file or directory; if there is none, make one: (umask 077; head -c 32 "
      "/dev/urandom | base64 > missing)");
  EXPECT_EQ(load(files, {"long"}).error().message,
            "--secret-file long: longer than 4096 bytes; is it the right file? 32 random bytes are enough");
  EXPECT_EQ(
      AdminKey::load(files, "short").error().message,
      "--admin-key-file short: shorter than 32 bytes; make one: (umask 077; head -c 32 /dev/urandom | base64 "
      "> short)");
  EXPECT_FALSE(load(files, {}));
}

TEST(Secret, MovesWithoutLeavingACopy) {
  Secret a(std::string(32, 'a'));
  const char* const memory = a.bytes().data();
  Secret b(std::move(a));
  EXPECT_EQ(b.bytes().data(), memory);
  Secret c(std::string(33, 'c'));
  c = std::move(b);
  EXPECT_EQ(c.bytes(), std::string(32, 'a'));
}

}  // namespace
}  // namespace taut::auth
