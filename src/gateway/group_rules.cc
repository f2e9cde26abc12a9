#include "gateway/group_rules.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/config_value.h"
#include "gateway/group_names.h"

namespace taut::gateway {

namespace {

/// "group=what" of a setting.
struct Rule {
  std::string shown;  ///< for errors
  chat::GroupId group = 0;
  std::string_view what;
};

Result<Rule> read_rule(const Settings& settings, std::string_view key, std::string_view text) {
  Rule rule{.shown = "--" + std::string(key) + " \"" + std::string(text) + "\": "};
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) return fail(rule.shown + "begins with a group, as in sales=");
  const std::optional<chat::GroupId> group = find_group(settings.groups, text.substr(0, equals));
  if (!group) return fail(rule.shown + "there is no --group " + std::string(text.substr(0, equals)));
  rule.group = *group;
  rule.what = text.substr(equals + 1);
  return rule;
}

Status read_hours(const Settings& settings, GroupRules& rules) {
  rules.hours.resize(settings.groups.size());
  for (const std::string& text : settings.hours) {
    const Result<Rule> rule = read_rule(settings, "hours", text);
    if (!rule) return std::unexpected(rule.error());
    std::optional<WorkingHours>& hours = rules.hours[rule->group];
    if (hours) return fail(rule->shown + "the group has hours already; join them with a comma");
    Result<WorkingHours> read = WorkingHours::parse(rule->what);
    if (!read) return fail(rule->shown + read.error().message);
    hours = std::move(*read);
  }
  return {};
}

/// "after 2min" or "when closed"
Status read_when(std::string_view text, int64_t& after_ns) {
  if (text == "when closed") return {};
  constexpr std::string_view kAfter = "after ";
  if (!text.starts_with(kAfter)) return fail("behind the groups stands `after` and a time, or `when closed`");
  uint64_t after_ms = 0;
  const ConfigRow time{.key = "overflow",
                       .section = "",
                       .field = &after_ms,
                       .help = "",
                       .unit = Unit::ms,
                       .min = 1'000,
                       .max = kDayMs};
  if (const Status read = set_value(time, text.substr(kAfter.size())); !read)
    return fail("the time must be " + read.error().message);
  after_ns = static_cast<int64_t>(after_ms) * 1'000'000;
  return {};
}

Status read_overflows(const Settings& settings, GroupRules& rules) {
  for (const std::string& text : settings.overflows) {
    const Result<Rule> rule = read_rule(settings, "overflow", text);
    if (!rule) return std::unexpected(rule.error());
    chat::Dispatcher::Overflow& overflow = rules.overflow[rule->group];
    if (overflow.to != chat::kNoGroup) return fail(rule->shown + "the group overflows already");
    const size_t space = std::min(rule->what.find(' '), rule->what.size());
    const std::string_view to = rule->what.substr(0, space);
    const std::optional<chat::GroupId> group = find_group(settings.groups, to);
    if (!group) return fail(rule->shown + "there is no --group " + std::string(to));
    if (*group == rule->group) return fail(rule->shown + "a group cannot overflow into itself");
    overflow.to = *group;
    const std::string_view when = rule->what.substr(std::min(space + 1, rule->what.size()));
    if (const Status read = read_when(when, overflow.after_ns); !read)
      return fail(rule->shown + read.error().message);
  }
  return {};
}

}  // namespace

Result<GroupRules> read_group_rules(const Settings& settings) {
  GroupRules rules;
  if (const Status read = read_hours(settings, rules); !read) return std::unexpected(read.error());
  if (const Status read = read_overflows(settings, rules); !read) return std::unexpected(read.error());
  return rules;
}

}  // namespace taut::gateway
