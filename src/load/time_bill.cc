#include "load/time_bill.h"

#include <charconv>

#include "load/tcp_socket.h"

namespace taut::load {

namespace {

constexpr std::string_view kStage = "taut_stage_seconds_sum{stage=\"";
constexpr std::string_view kMessageSum = "taut_message_seconds_sum ";
constexpr std::string_view kMessageCount = "taut_message_seconds_count ";

double number(std::string_view text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

StageTotals operator-(const StageTotals& later, const StageTotals& earlier) {
  StageTotals out{.stage_s = later.stage_s,
                  .message_s = later.message_s - earlier.message_s,
                  .messages = later.messages - earlier.messages};
  for (auto& [name, seconds] : out.stage_s) {
    if (const auto it = earlier.stage_s.find(name); it != earlier.stage_s.end()) seconds -= it->second;
  }
  return out;
}

std::optional<StageTotals> parse_stage_totals(std::string_view metrics) {
  StageTotals totals;
  while (!metrics.empty()) {
    const size_t end = std::min(metrics.find('\n'), metrics.size());
    const std::string_view line = metrics.substr(0, end);
    metrics.remove_prefix(std::min(end + 1, metrics.size()));
    if (line.starts_with(kMessageSum)) totals.message_s = number(line.substr(kMessageSum.size()));
    if (line.starts_with(kMessageCount)) totals.messages = number(line.substr(kMessageCount.size()));
    if (!line.starts_with(kStage)) continue;
    const size_t quote = line.find('"', kStage.size());
    if (quote == std::string_view::npos || line.size() < quote + 3) continue;
    totals.stage_s.emplace(line.substr(kStage.size(), quote - kStage.size()), number(line.substr(quote + 3)));
  }
  if (totals.stage_s.empty()) return std::nullopt;
  return totals;
}

std::optional<StageTotals> read_stage_totals(std::string_view url) {
  const Result<Url> target = parse_url(url);
  if (!target || (target->scheme != "ws" && !target->encrypted())) return std::nullopt;
  Result<TcpSocket> socket = TcpSocket::dial(*target);
  if (!socket) return std::nullopt;
  const std::string request =
      "GET /metrics HTTP/1.1\r\nHost: " + target->host_port() + "\r\nConnection: close\r\n\r\n";
  if (!socket->send_all(request)) return std::nullopt;
  std::string answer;
  while (socket->receive_some(answer)) {
  }
  return parse_stage_totals(answer);
}

}  // namespace taut::load
