// The sub-commands of `taut`: a name, a sentence and a function each.
#pragma once

#include <span>
#include <string_view>

#include "base/config.h"
#include "base/exit_code.h"

namespace taut {

using Arguments = std::span<const char* const>;

struct Command {
  std::string_view name;  ///< one word, or two ("load chat")
  std::string_view summary;
  int (*run)(Arguments arguments);  ///< of what follows the name; returns an exit code
};

[[nodiscard]] int run_config(Arguments arguments);
[[nodiscard]] int run_serve(Arguments arguments);
[[nodiscard]] int run_token(Arguments arguments);
[[nodiscard]] int run_journal_check(Arguments arguments);
[[nodiscard]] int run_journal_dump(Arguments arguments);
[[nodiscard]] int run_journal_repair(Arguments arguments);
[[nodiscard]] int run_load_chat(Arguments arguments);
[[nodiscard]] int run_load_floor(Arguments arguments);
[[nodiscard]] int run_load_fanout(Arguments arguments);
[[nodiscard]] int run_load_idle(Arguments arguments);
[[nodiscard]] int run_load_visits(Arguments arguments);
[[nodiscard]] int run_sim(Arguments arguments);
[[nodiscard]] int run_version(Arguments arguments);

/// Writes "taut serve: message" to standard error and returns `code`.
int complain(std::string_view command, std::string_view message, int code);

/// Reads the arguments into the table's fields. True: go on. False: the help was printed or the error was
/// said, and `exit_code` is what to return.
[[nodiscard]] bool read_settings(Config& config, std::string_view command, Arguments arguments,
                                 int& exit_code);

/// For settings that cannot work together; `checked` as in read_settings.
[[nodiscard]] bool accept_settings(const Status& checked, std::string_view command, int& exit_code);

}  // namespace taut
