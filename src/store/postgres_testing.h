// A PostgreSQL server of its own for tests, in a directory that goes with it.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <postgresql/libpq-fe.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace taut::store {

/// Made by initdb, reachable by a socket in its directory; it ends with the test's process. PostgreSQL does
/// not run as root: then it runs as the user `postgres`.
class PostgresServer {
 public:
  static constexpr const char* kPrograms = "/usr/lib/postgresql/15/bin/";

  /// The process's server, started at the first call; nullptr: PostgreSQL is not installed, or does not
  /// start.
  static PostgresServer* instance() {
    static const std::unique_ptr<PostgresServer> server = make();
    return server.get();
  }

  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;
  ~PostgresServer() {
    stop();
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

  [[nodiscard]] std::string url() const { return "postgresql://postgres@/postgres?host=" + directory_; }

  /// As a crash: nobody is told.
  void stop() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGQUIT);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

  [[nodiscard]] bool start() {
    pid_ = spawn({"postgres", "-D", data(), "-k", directory_, "-c", "listen_addresses=", "-c", "fsync=off",
                  "-c", "shared_buffers=16MB", "-c", "autovacuum=off"});
    for (int i = 0; i < 600; ++i) {
      if (PQping(url().c_str()) == PQPING_OK) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  }

  /// Statements of the test's own, on a connection of their own. Answers the first value.
  std::string run(const std::string& sql) const {
    PGconn* connection = PQconnectdb(url().c_str());
    PQsetNoticeProcessor(connection, [](void*, const char*) {}, nullptr);
    PGresult* result = PQexec(connection, sql.c_str());
    const bool done = PQresultStatus(result) == PGRES_COMMAND_OK || PQresultStatus(result) == PGRES_TUPLES_OK;
    EXPECT_TRUE(done) << PQerrorMessage(connection);
    std::string value = PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "";
    PQclear(result);
    PQfinish(connection);
    return value;
  }

 private:
  PostgresServer() {
    std::string pattern = testing::TempDir() + "taut-postgres-XXXXXX";
    directory_ = ::mkdtemp(pattern.data());
    if (const passwd* user = other_user(); user != nullptr) {
      if (::chown(directory_.c_str(), user->pw_uid, user->pw_gid) != 0) directory_.clear();
    }
  }

  static std::unique_ptr<PostgresServer> make() {
    if (!std::filesystem::exists(std::string(kPrograms) + "initdb")) return nullptr;
    if (::geteuid() == 0 && other_user() == nullptr) return nullptr;
    std::unique_ptr<PostgresServer> server(new PostgresServer());
    const pid_t initdb = server->spawn({"initdb", "-D", server->data(), "-U", "postgres", "--auth=trust",
                                        "--no-sync", "--encoding=UTF8", "--locale=C.UTF-8"});
    int status = 0;
    ::waitpid(initdb, &status, 0);
    if (status != 0 || !server->start()) {
      ADD_FAILURE() << "PostgreSQL does not start: see " << server->directory_ << "/log";
      server->directory_.clear();
      return nullptr;
    }
    return server;
  }

  /// Who runs the server when we are root.
  static const passwd* other_user() { return ::geteuid() == 0 ? ::getpwnam("postgres") : nullptr; }

  [[nodiscard]] std::string data() const { return directory_ + "/data"; }

  [[nodiscard]] pid_t spawn(const std::vector<std::string>& command) const {
    const std::string program = kPrograms + command[0];
    const std::string log = directory_ + "/log";
    std::vector<char*> arguments;
    arguments.reserve(command.size() + 1);
    for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    const passwd* user = other_user();
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    if (user != nullptr && (::setgid(user->pw_gid) != 0 || ::setuid(user->pw_uid) != 0)) ::_exit(126);
    ::prctl(PR_SET_PDEATHSIG, SIGQUIT);
    if (::chdir(directory_.c_str()) != 0) ::_exit(126);
    const int output = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(output, STDOUT_FILENO);
    ::dup2(output, STDERR_FILENO);
    ::execv(program.c_str(), arguments.data());
    ::_exit(127);
  }

  std::string directory_;
  pid_t pid_ = 0;
};

}  // namespace taut::store
