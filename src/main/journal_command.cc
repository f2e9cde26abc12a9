// `taut journal`: looks at the journal of a data directory, shows it, and repairs it.
#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "gateway/data_directory.h"
#include "journal/format.h"
#include "journal/journal_reader.h"
#include "journal/journal_repair.h"
#include "journal/snapshot.h"
#include "main/command.h"
#include "wire/json_escape.h"

namespace taut {

namespace {

Status is_not_empty(std::string_view text) {
  return text.empty() ? fail("expected the path of a directory") : Status();
}

/// The journal that the arguments name: `DIR` alone means `--data DIR`. False: say no more, `exit_code` is
/// what to return.
bool find_journal(std::string_view command, std::string_view summary, Arguments arguments, std::string& data,
                  int& exit_code) {
  std::vector<const char*> words(arguments.begin(), arguments.end());
  if (!words.empty() && !std::string_view(words[0]).starts_with("-")) words.insert(words.begin(), "--data");
  std::vector<ConfigRow> rows;
  rows.push_back({.key = "data",
                  .section = "Journal",
                  .field = &data,
                  .help = "The data directory, as given to taut serve; the word DIR alone says the same",
                  .value_name = "DIR",
                  .required = true,
                  .check = is_not_empty});
  Config config(command, summary, std::move(rows));
  if (!read_settings(config, command, words, exit_code)) return false;
  const std::string folder = journal::journal_directory(data);
  const Result<bool> exists = PosixFileSystem().exists(folder);
  if (exists && *exists) return true;
  const std::string reason = exists ? folder + ": there is no journal" : exists.error().message;
  exit_code = complain(command, reason, kExitUsage);
  return false;
}

std::string count(uint64_t number, std::string_view what) {
  return std::to_string(number) + " " + std::string(what) + (number == 1 ? "" : "s");
}

/// Whether it can stand in a line of JSON as it is. All that the server writes can.
bool is_one_line_object(std::string_view payload) {
  const bool braces = payload.starts_with('{') && payload.ends_with('}');
  return braces && std::ranges::none_of(payload, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

/// A record as an object on a line of its own; a payload that is none, as a string.
std::string line_of(const journal::Record& record) {
  std::string line = R"({"sequence":)" + std::to_string(record.sequence) + R"(,"time_ms":)" +
                     std::to_string(record.time_ms) + R"(,"shard":)" + std::to_string(record.shard) +
                     R"(,"type":")" + std::string(journal::record_type_name(record.type)) + R"(","payload":)";
  if (is_one_line_object(record.payload)) {
    line += record.payload;
  } else {
    std::string escaped(wire::json_escaped_size(record.payload), '\0');
    wire::write_json_escaped(escaped, record.payload);
    line += '"' + escaped + '"';
  }
  return line + "}\n";
}

Status print(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  return written ? Status() : fail_errno("standard output");
}

Status flush() {
  return std::fflush(stdout) == 0 ? Status() : fail_errno("standard output");
}

}  // namespace

int run_journal_check(Arguments arguments) {
  constexpr std::string_view kCommand = "taut journal check";
  std::string data;
  int exit_code = kExitOk;
  if (!find_journal(
          kCommand,
          "Reads the journal in a data directory and says whether all of it can be read. Changes nothing.\n"
          "Exit code 1: it is damaged. A torn tail is no damage: a crash leaves one, and nothing durable is "
          "in it.",
          arguments, data, exit_code)) {
    return exit_code;
  }
  PosixFileSystem files;
  const auto nothing = [](const journal::Record&) { return Status(); };
  const std::string directory = journal::journal_directory(data);
  const auto snapshot = journal::find_snapshot(files, directory);
  if (!snapshot) return complain(kCommand, snapshot.error().message, kExitFailed);
  if (*snapshot) {
    const auto read = journal::read_snapshot(files, **snapshot, nothing);
    if (!read) return complain(kCommand, read.error().message, kExitFailed);
  }
  const auto removed = journal::removed_through(files, directory);
  if (!removed) return complain(kCommand, removed.error().message, kExitFailed);
  const auto found = journal::examine_journal(files, directory, nothing, {.after = *removed});
  if (!found) return complain(kCommand, found.error().message, kExitFailed);
  const journal::JournalEnd& end = found->end;
  const uint64_t records = end.next_sequence - 1 - *removed;
  const std::string whole = count(records, "record") + " in " + count(found->segments, "segment");
  if (found->damage) {
    return complain(
        kCommand,
        found->damage->what + "; " + count(records, "record") +
            " before it can be read. taut journal repair cuts the journal off there and keeps what it "
            "takes away",
        kExitFailed);
  }
  std::puts((whole + (end.clean ? ", stopped cleanly" : ", not stopped cleanly")).c_str());
  if (*snapshot) {
    std::puts(
        ((*snapshot)->path + ": whole, stands for the records up to " + std::to_string((*snapshot)->sequence))
            .c_str());
  }
  if (end.torn.bytes > 0) {
    std::puts((end.torn.file + ": torn at byte " + std::to_string(end.torn.offset) + ": " +
               count(end.torn.bytes, "byte") + " of a commit that never became durable")
                  .c_str());
  }
  return kExitOk;
}

int run_journal_dump(Arguments arguments) {
  constexpr std::string_view kCommand = "taut journal dump";
  std::string data;
  int exit_code = kExitOk;
  if (!find_journal(kCommand,
                    "Prints the journal in a data directory, a JSON object for each record on a line of its "
                    "own: sequence, time_ms\n"
                    "(since 1970), shard, type, payload. Changes nothing. Of a damaged journal it prints "
                    "what is before the damage,\n"
                    "and ends with exit code 1. Records for which a snapshot stands may have been removed.",
                    arguments, data, exit_code)) {
    return exit_code;
  }
  PosixFileSystem files;
  const std::string directory = journal::journal_directory(data);
  const auto removed = journal::removed_through(files, directory);
  if (!removed) return complain(kCommand, removed.error().message, kExitFailed);
  const auto read = journal::read_journal(
      files, directory, [](const journal::Record& record) { return print(line_of(record)); },
      {.after = *removed});
  const Status flushed = flush();
  if (!read) return complain(kCommand, read.error().message, kExitFailed);
  if (!flushed) return complain(kCommand, flushed.error().message, kExitFailed);
  return kExitOk;
}

int run_journal_repair(Arguments arguments) {
  constexpr std::string_view kCommand = "taut journal repair";
  std::string data;
  int exit_code = kExitOk;
  if (!find_journal(
          kCommand,
          "Cuts a damaged journal off where the damage begins, so that the server can start. What is taken "
          "away stays\n"
          "beside it in files that end with .damaged. Refused while a server uses the data directory.",
          arguments, data, exit_code)) {
    return exit_code;
  }
  const auto lock = gateway::lock_data_directory(data);
  if (!lock) return complain(kCommand, lock.error().message, kExitFailed);
  PosixFileSystem files;
  const auto repair = journal::repair_journal(files, journal::journal_directory(data));
  if (!repair) return complain(kCommand, repair.error().message, kExitFailed);
  if (repair->kept.empty()) {
    std::puts(("nothing is damaged: " + count(repair->records, "record")).c_str());
    return kExitOk;
  }
  const std::string remains = repair->records == 0
                                  ? "no record remains"
                                  : "the records up to " + std::to_string(repair->records) + " remain";
  std::puts((remains + "; " + std::to_string(repair->records + 1) + " to " +
             std::to_string(repair->sequence_max) + " are lost")
                .c_str());
  for (const std::string& path : repair->kept) std::puts(("kept " + path).c_str());
  return kExitOk;
}

}  // namespace taut
