#include "gateway/slowest.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

namespace taut::gateway {

void SlowestBoard::add(const Trace& trace, std::string_view conversation, int64_t now_ns) {
  if (now_ns >= current_.begin_ns + kMinuteNs) {
    slot_ = (slot_ + 1) % kMinutes;
    current_ = Minute{.begin_ns = now_ns - now_ns % kMinuteNs, .count = 0, .entries = {}};
  }
  size_t at = current_.count;
  if (at == kPerMinute) {
    --at;
  } else {
    ++current_.count;
  }
  for (; at > 0 && current_.entries[at - 1].trace.total_ns() < trace.total_ns(); --at) {
    current_.entries[at] = current_.entries[at - 1];
  }
  current_.entries[at] = {.trace = trace, .conversation = chat::InlineId(conversation)};
  published_[slot_].store(current_);
}

std::array<SlowestBoard::Minute, SlowestBoard::kMinutes> SlowestBoard::minutes() const {
  std::array<Minute, kMinutes> all;
  for (size_t i = 0; i < kMinutes; ++i) all[i] = published_[i].load();
  return all;
}

std::string slowest_page(std::span<const SlowestBoard* const> boards, int64_t wall_ms, int64_t mono_ns) {
  std::map<int64_t, std::vector<SlowestBoard::Entry>, std::greater<>> minutes;
  for (const SlowestBoard* board : boards) {
    for (const SlowestBoard::Minute& minute : board->minutes()) {
      if (minute.count == 0) continue;
      std::vector<SlowestBoard::Entry>& entries = minutes[minute.begin_ns];
      entries.insert(entries.end(), minute.entries.begin(), minute.entries.begin() + minute.count);
    }
  }
  while (minutes.size() > SlowestBoard::kMinutes) minutes.erase(std::prev(minutes.end()));
  std::string json = R"({"minutes":[)";
  const char* minute_comma = "";
  for (auto& [begin_ns, entries] : minutes) {
    std::ranges::sort(entries, std::greater<>{}, [](const auto& e) { return e.trace.total_ns(); });
    entries.resize(std::min(entries.size(), SlowestBoard::kPerMinute));
    json += fmt::format(R"({}{{"begin_ms":{},"messages":[)", minute_comma,
                        wall_ms - (mono_ns - begin_ns) / 1'000'000);
    minute_comma = ",";
    const char* comma = "";
    for (const SlowestBoard::Entry& entry : entries) {
      const Trace& t = entry.trace;
      json += fmt::format(R"({}{{"total_us":{:.1f},"blame":"{}","conversation":"{}","seq":{},"stages_us":{{)",
                          comma, static_cast<double>(t.total_ns()) / 1e3,
                          kStageNames[static_cast<size_t>(t.blame())], entry.id(), t.seq);
      comma = ",";
      const char* stage_comma = "";
      for (size_t i = 0; i < kStages; ++i) {
        if (t.stage_ns[i] == 0) continue;
        json += fmt::format(R"({}"{}":{:.1f})", stage_comma, kStageNames[i], t.stage_ns[i] / 1e3);
        stage_comma = ",";
      }
      json += "}}";
    }
    json += "]}";
  }
  return json + "]}\n";
}

}  // namespace taut::gateway
