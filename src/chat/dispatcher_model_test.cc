// Random events against a naive model of the rules, for many seeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "chat/counting_resource.h"
#include "chat/dispatcher.h"

namespace taut::chat {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr uint32_t kGroups = 3;
constexpr uint32_t kAgents = 7;
constexpr uint32_t kNobody = UINT32_MAX;
/// The first after a time, the second while it is closed, in a circle; the third nowhere.
constexpr std::array<Dispatcher::Overflow, kGroupsMax> kOverflow{
    {{.to = 1, .after_ns = 45 * kSecond}, {.to = 0}}};

/// What the rules say, in the plainest form: vectors and loops.
struct Model {
  struct Chat {
    uint64_t order = 0;
    int64_t opened_at = 0;
    GroupId group = 0;
    ConversationState state = ConversationState::queued;
    uint32_t owner = kNobody;
    uint32_t owner_epoch = 0;
    uint32_t opening = 0;
    uint32_t held_from = kNobody;
    uint32_t preferred = kNobody;
    int64_t held_until = 0;
    int64_t accept_until = 0;
  };
  struct Agent {
    bool known = false;
    bool connected = false;
    bool in_grace = false;
    int64_t grace_until = 0;
    AgentKey key;
    GroupSet groups = 0;
    Presence status = Presence::offline;
    uint32_t token = 0;
    uint32_t word = Dispatcher::kTokenCapacity;
    uint64_t last_assigned = 0;
    uint32_t met = 0;  ///< how many were known before it
  };

  std::map<uint32_t, Chat> chats;
  std::vector<Agent> agents{kAgents};
  std::array<bool, kGroups> open{true, true, true};
  int64_t now = 0;

  [[nodiscard]] uint32_t load(uint32_t agent) const {
    return static_cast<uint32_t>(std::count_if(chats.begin(), chats.end(),
                                               [agent](const auto& c) { return c.second.owner == agent; }));
  }
  [[nodiscard]] uint32_t capacity(uint32_t agent) const {
    return std::min(agents[agent].token, agents[agent].word);
  }
  [[nodiscard]] bool works_for(uint32_t agent, GroupId group) const {
    return open[group] && (agents[agent].groups & group_bit(group)) != 0;
  }
  /// Into which it overflows by now.
  [[nodiscard]] std::optional<GroupId> overflow(const Chat& chat) const {
    const Dispatcher::Overflow& rule = kOverflow[chat.group];
    if (rule.to == kNoGroup) return std::nullopt;
    const bool waited = rule.after_ns != Dispatcher::kNoDeadline && chat.opened_at + rule.after_ns <= now;
    return waited || !open[chat.group] ? std::optional(rule.to) : std::nullopt;
  }
  [[nodiscard]] bool eligible(uint32_t agent, const Chat& chat) const {
    const Agent& a = agents[agent];
    const std::optional<GroupId> other = overflow(chat);
    return a.connected && a.status == Presence::online &&
           (works_for(agent, chat.group) || (other && works_for(agent, *other))) &&
           load(agent) < capacity(agent) && chat.held_from != agent;
  }
  /// A transfer to that agent.
  [[nodiscard]] Code may_be_given(uint32_t agent, const Chat& chat) const {
    const Agent& a = agents[agent];
    if ((!a.connected && !a.in_grace) || a.status == Presence::offline) return Code::unavailable;
    if ((a.groups & group_bit(chat.group)) == 0) return Code::forbidden;
    if (chat.owner == agent) return Code::ok;
    return a.connected && load(agent) < capacity(agent) ? Code::ok : Code::capacity;
  }
  /// Taken or given by name.
  static void claim(Chat& chat, uint32_t agent, ConversationState state) {
    chat.owner = agent;
    chat.state = state;
    chat.held_from = kNobody;
    ++chat.owner_epoch;
  }
  /// The preferred agent, else of all eligible agents, those of its own group first, one with the lowest
  /// load / capacity, among these the longest without an assignment, or the one met first.
  [[nodiscard]] std::optional<uint32_t> best(const Chat& chat) const {
    if (chat.preferred != kNobody && eligible(chat.preferred, chat)) return chat.preferred;
    std::optional<uint32_t> found;
    const auto worth = [this, &chat](uint32_t a) {
      return std::tuple(!works_for(a, chat.group), static_cast<double>(load(a)) / capacity(a),
                        agents[a].last_assigned, agents[a].met);
    };
    for (uint32_t a = 0; a < kAgents; ++a) {
      if (eligible(a, chat) && (!found || worth(a) < worth(*found))) found = a;
    }
    return found;
  }
  /// The oldest conversation that somebody could take now.
  [[nodiscard]] std::optional<uint32_t> next() const {
    std::optional<uint32_t> found;
    for (const auto& [number, chat] : chats) {
      const bool waiting = chat.state == ConversationState::queued && best(chat).has_value();
      if (waiting && (!found || chat.order < chats.at(*found).order)) found = number;
    }
    return found;
  }
};

class RandomDay {
 public:
  explicit RandomDay(uint32_t seed) : random_(seed) {
    if (pick(2) == 0) restore();
  }

  void step() {
    const uint32_t what = pick(100);
    if (what < 20) {
      open();
    } else if (what < 34) {
      answer(true);
    } else if (what < 44) {
      answer(false);
    } else if (what < 50) {
      take();
    } else if (what < 58) {
      transfer();
    } else if (what < 68) {
      close();
    } else if (what < 76) {
      presence();
    } else if (what < 84) {
      connect();
    } else if (what < 90) {
      disconnect();
    } else if (what < 93) {
      hours();
    } else {
      pass();
    }
    follow_effects();
    check();
  }

 private:
  /// A take or a transfer to an agent whose Assign has not been seen yet.
  struct Claim {
    uint32_t agent = 0;
    bool anew = false;  ///< false: of what the agent had been offered already
  };

  [[nodiscard]] uint32_t pick(uint32_t below) { return static_cast<uint32_t>(random_() % below); }
  [[nodiscard]] static ConversationKey key(uint32_t n) { return Handle(1, 1, n); }
  [[nodiscard]] static std::string agent_id(uint32_t a) { return "agent" + std::to_string(a); }

  /// The dispatcher numbers agents in the order of their first connection.
  [[nodiscard]] uint32_t number_of(uint32_t agent_index) const {
    return static_cast<uint32_t>(std::stoul(std::string(d_.agent_id(agent_index)).substr(5)));
  }

  /// What was known before a restart; conversations are heard of in any order.
  void restore() {
    for (uint32_t a = 0; a < kAgents; ++a) {
      if (pick(2) == 0) continue;
      meet(a).status = static_cast<Presence>(pick(4));
      model_.agents[a].word = pick(2) == 0 ? 1 + pick(4) : Dispatcher::kTokenCapacity;
      ASSERT_TRUE(d_.agent_restored(agent_id(a), model_.agents[a].status, model_.agents[a].word, now_));
    }
    std::vector<uint32_t> orders(pick(30));
    std::iota(orders.begin(), orders.end(), 1);
    std::ranges::shuffle(orders, random_);
    for (uint32_t n = 0; n < orders.size(); ++n) restore(n, orders[n]);
    opened_ = orders.size();
  }

  void restore(uint32_t n, uint32_t order) {
    Model::Chat chat{.order = order,
                     .opened_at = now_,
                     .group = pick(kGroups),
                     .owner_epoch = pick(5),
                     .opening = 1 + pick(3)};
    if (pick(2) == 0) {
      chat.owner = pick(kAgents);
      chat.state = pick(2) == 0 ? ConversationState::assigned : ConversationState::active;
      chat.accept_until = now_ + 20 * kSecond;
      Model::Agent& agent = meet(chat.owner);
      agent.in_grace = true;
      agent.grace_until = now_ + 30 * kSecond;
    }
    model_.chats[n] = chat;
    openings_[n] = chat.opening;
    const std::string owner = chat.owner == kNobody ? std::string() : agent_id(chat.owner);
    ASSERT_TRUE(d_.conversation_restored({.conversation = key(n),
                                          .group = chat.group,
                                          .number = order,
                                          .opening = chat.opening,
                                          .owner_epoch = chat.owner_epoch,
                                          .owner = owner,
                                          .accepted = chat.state == ConversationState::active},
                                         now_));
  }

  /// Before the dispatcher hears of it.
  Model::Agent& meet(uint32_t a) {
    Model::Agent& agent = model_.agents[a];
    if (!agent.known) agent.met = d_.agents();
    agent.known = true;
    return agent;
  }

  void open() {
    const uint32_t n = pick(40);
    if (model_.chats.contains(n)) return;
    const uint32_t opening = ++openings_[n];
    const uint32_t preferred = pick(3) == 0 && d_.agents() > 0 ? pick(d_.agents()) : kNoAgent;
    model_.chats[n] = {.order = ++opened_,
                       .opened_at = now_,
                       .group = pick(kGroups),
                       .owner_epoch = epochs_[n],
                       .opening = opening,
                       .preferred = preferred == kNoAgent ? kNobody : number_of(preferred)};
    ASSERT_TRUE(d_.conversation_opened(key(n), model_.chats[n].group, opening, epochs_[n], now_, preferred));
  }

  /// Accepts or declines, one time in four with the number of an assignment that is over.
  void answer(bool accepts) {
    const uint32_t n = pick(40);
    const auto it = model_.chats.find(n);
    const uint32_t current = it == model_.chats.end() ? 1 : it->second.owner_epoch;
    const uint32_t owner_epoch = pick(4) == 0 ? current - 1 : current;
    if (it != model_.chats.end() && it->second.state == ConversationState::assigned &&
        owner_epoch == current) {
      if (accepts) {
        it->second.state = ConversationState::active;
      } else {
        expect_requeue(it->second, Reason::declined);
      }
    }
    accepts ? d_.accepted(key(n), owner_epoch, now_) : d_.declined(key(n), owner_epoch, now_);
  }

  void take() {
    const uint32_t n = pick(40);
    const uint32_t a = pick(kAgents);
    const auto it = model_.chats.find(n);
    Code expected = Code::ok;
    if (it == model_.chats.end()) {
      expected = Code::closed;
    } else if (it->second.owner == a) {
      claims_[n] = {.agent = a, .anew = false};
      it->second.state = ConversationState::active;
    } else if ((model_.agents[a].groups & group_bit(it->second.group)) == 0) {
      expected = Code::not_yours;
    } else if (it->second.state == ConversationState::active) {
      expected = Code::taken;
    } else if (model_.load(a) >= model_.capacity(a)) {
      expected = Code::capacity;
    } else {
      Model::claim(it->second, a, ConversationState::active);
      claims_[n] = {.agent = a, .anew = true};
    }
    ASSERT_EQ(d_.take(key(n), agent_id(a), now_), expected);
  }

  /// To an agent or to a group, one time in four with the number of an assignment that is over.
  void transfer() {
    const uint32_t n = pick(40);
    const auto it = model_.chats.find(n);
    const uint32_t current = it == model_.chats.end() ? 1 : it->second.owner_epoch;
    const uint32_t owner_epoch = pick(4) == 0 ? current - 1 : current;
    const Code fault = it == model_.chats.end() ? Code::closed
                       : it->second.owner == kNobody || it->second.owner_epoch != owner_epoch
                           ? Code::not_yours
                           : Code::ok;
    if (pick(2) == 0) return transfer_to_group(n, owner_epoch, fault);
    const uint32_t a = pick(kAgents);
    Code expected = fault;
    if (fault == Code::ok) {
      expected = model_.may_be_given(a, it->second);
      if (expected == Code::ok && it->second.owner != a) {
        Model::claim(it->second, a, ConversationState::assigned);
        it->second.accept_until = now_ + 20 * kSecond;
        claims_[n] = {.agent = a, .anew = true};
      }
    }
    ASSERT_EQ(d_.transfer_to_agent(key(n), owner_epoch, agent_id(a), now_), expected);
  }

  void transfer_to_group(uint32_t n, uint32_t owner_epoch, Code fault) {
    const uint32_t group = pick(kGroups);
    if (fault == Code::ok) {
      model_.chats.at(n).group = group;
      expect_requeue(model_.chats.at(n), Reason::transferred);
    }
    ASSERT_EQ(d_.transfer_to_group(key(n), owner_epoch, group, now_), fault);
  }

  void close() {
    const uint32_t n = pick(40);
    if (const auto it = model_.chats.find(n); it != model_.chats.end()) {
      epochs_[n] = it->second.owner_epoch;
      model_.chats.erase(it);
    }
    d_.closed(key(n), now_);
  }

  void hours() {
    const uint32_t group = pick(kGroups);
    model_.open[group] = pick(2) == 0;
    d_.group_hours(group, model_.open[group], now_);
  }

  void presence() {
    const uint32_t a = pick(kAgents);
    const auto status = static_cast<Presence>(pick(6) < 3 ? 0 : pick(4));
    const uint32_t word = pick(3) == 0 ? pick(4) : Dispatcher::kTokenCapacity;
    if (model_.agents[a].known) {
      model_.agents[a].status = status;
      model_.agents[a].word = word;
    }
    d_.agent_presence(agent_id(a), status, word, now_);
  }

  void connect() {
    const uint32_t a = pick(kAgents);
    Model::Agent& agent = meet(a);
    if (!agent.key || pick(4) == 0) agent.key = Handle(3, ++endpoints_, a);
    agent.connected = true;
    agent.in_grace = false;
    agent.groups = 1 + pick((1U << kGroups) - 1);
    agent.token = 1 + pick(4);
    ASSERT_TRUE(d_.agent_connected(agent_id(a), agent.key, {agent.groups, agent.token}, now_));
  }

  void disconnect() {
    const uint32_t a = pick(kAgents);
    Model::Agent& agent = model_.agents[a];
    const bool stale = pick(4) == 0;
    if (agent.connected && !stale) {
      agent.connected = false;
      agent.in_grace = true;
      agent.grace_until = now_ + 30 * kSecond;
    }
    d_.agent_disconnected(agent_id(a), stale ? Handle(3, 0xFFFFFF, a) : agent.key, now_);
  }

  void pass() {
    const int64_t until = d_.next_deadline_ns();
    now_ += pick(2) == 0 ? pick(3) * kSecond : pick(40) * kSecond;
    if (until != Dispatcher::kNoDeadline && pick(2) == 0) now_ = std::max(now_, until);
    model_.now = now_;
    for (auto& [n, chat] : model_.chats) {
      if (chat.state == ConversationState::assigned && chat.accept_until <= now_) {
        expect_requeue(chat, Reason::timeout);
      }
    }
    for (uint32_t a = 0; a < kAgents; ++a) {
      Model::Agent& agent = model_.agents[a];
      if (!agent.in_grace || agent.grace_until > now_) continue;
      agent.in_grace = false;
      for (auto& [n, chat] : model_.chats) {
        if (chat.owner == a) expect_requeue(chat, Reason::offline);
      }
    }
    for (auto& [n, chat] : model_.chats) {
      if (chat.held_from != kNobody && chat.held_until <= now_) chat.held_from = kNobody;
    }
    d_.advance(now_);
  }

  void expect_requeue(Model::Chat& chat, Reason reason) {
    chat.state = ConversationState::queued;
    if (reason != Reason::offline) {
      chat.held_from = chat.owner;
      chat.held_until = now_ + 60 * kSecond;
    }
    chat.owner = kNobody;
    ++chat.owner_epoch;
    ++requeues_expected_;
  }

  /// Every assignment must be the one that the model would make next, in the model's order.
  void follow_effects() {
    for (const Effect& effect : d_.effects()) {
      if (const auto* assign = std::get_if<Assign>(&effect)) follow(*assign);
      if (const auto* requeue = std::get_if<Requeue>(&effect)) follow(*requeue);
      if (const auto* moved = std::get_if<OwnerMoved>(&effect)) {
        const Model::Chat& chat = model_.chats.at(moved->conversation.slot());
        ASSERT_EQ(moved->owner_epoch, chat.owner_epoch);
        ASSERT_EQ(moved->agent, model_.agents[chat.owner].key);
      }
    }
    d_.clear_effects();
    ASSERT_EQ(requeues_expected_, 0U) << "a requeue is missing";
    ASSERT_TRUE(claims_.empty()) << "a take or a transfer was not carried out";
    ASSERT_EQ(model_.next(), std::nullopt) << "somebody waits while somebody could take it";
  }

  void follow(const Assign& assign) {
    const uint32_t n = assign.conversation.slot();
    Model::Chat& chat = model_.chats.at(n);
    const uint32_t agent = number_of(assign.agent_index);
    ASSERT_EQ(assign.agent, model_.agents[agent].key);
    ASSERT_EQ(assign.opening, chat.opening);
    if (claims_.contains(n)) return follow_claim(assign, chat, agent);
    ASSERT_FALSE(assign.accepted);
    ASSERT_EQ(model_.next(), std::optional(n)) << "not the oldest that can be given";
    ASSERT_EQ(model_.best(chat), std::optional(agent));
    ASSERT_EQ(assign.owner_epoch, chat.owner_epoch + 1);
    chat.owner = agent;
    chat.state = ConversationState::assigned;
    chat.owner_epoch = assign.owner_epoch;
    chat.accept_until = now_ + 20 * kSecond;
    chat.held_from = kNobody;
    model_.agents[agent].last_assigned = ++assignments_;
    ASSERT_LE(model_.load(agent), model_.capacity(agent)) << "more than its capacity";
  }

  /// The model has moved already, when it was asked for.
  void follow_claim(const Assign& assign, const Model::Chat& chat, uint32_t agent) {
    const uint32_t n = assign.conversation.slot();
    const Claim claim = claims_.at(n);
    ASSERT_EQ(claim.agent, agent);
    ASSERT_EQ(assign.owner_epoch, chat.owner_epoch);
    ASSERT_EQ(assign.accepted, chat.state == ConversationState::active);
    claims_.erase(n);
    if (!claim.anew) return;
    model_.agents[agent].last_assigned = ++assignments_;
    ASSERT_LE(model_.load(agent), model_.capacity(agent)) << "more than its capacity";
  }

  void follow(const Requeue& requeue) {
    const Model::Chat& chat = model_.chats.at(requeue.conversation.slot());
    ASSERT_EQ(requeue.owner_epoch, chat.owner_epoch);
    ASSERT_EQ(requeue.opening, chat.opening);
    ASSERT_EQ(requeue.group, chat.group);
    ASSERT_GT(requeues_expected_, 0U);
    --requeues_expected_;
  }

  void check() {
    ASSERT_EQ(d_.conversations(), model_.chats.size()) << "one was lost";
    std::array<uint32_t, kGroups> queued{};
    for (const auto& [n, chat] : model_.chats) queued[chat.group] += chat.state == ConversationState::queued;
    for (uint32_t g = 0; g < kGroups; ++g) ASSERT_EQ(d_.queued(g), queued[g]);
    for (uint32_t a = 0; a < kAgents; ++a) {
      ASSERT_EQ(d_.load(agent_id(a)), model_.load(a));
      const Model::Agent& agent = model_.agents[a];
      ASSERT_EQ(d_.effective_presence(agent_id(a)),
                agent.connected || agent.in_grace ? agent.status : Presence::offline);
    }
    if (pick(8) == 0) check_positions();
    if (pick(8) == 0) check_explanations();
    ASSERT_GE(d_.next_deadline_ns(), now_ - 1);
  }

  /// Assignments and explanations come from the same rules.
  void check_explanations() {
    for (const auto& [n, chat] : model_.chats) {
      for (uint32_t i = 0; i < d_.agents(); ++i) {
        ASSERT_EQ(d_.eligible(i, key(n)) == Exclusion::none, model_.eligible(number_of(i), chat));
      }
    }
  }

  void check_positions() {
    d_.flush_positions();
    for (const Effect& effect : d_.effects()) {
      const auto& position = std::get<Position>(effect);
      const Model::Chat& chat = model_.chats.at(position.conversation.slot());
      const auto before = std::count_if(model_.chats.begin(), model_.chats.end(), [&chat](const auto& other) {
        const Model::Chat& o = other.second;
        return o.state == ConversationState::queued && o.group == chat.group && o.order <= chat.order;
      });
      ASSERT_EQ(chat.state, ConversationState::queued);
      ASSERT_EQ(position.position, static_cast<uint32_t>(before));
    }
    d_.clear_effects();
  }

  std::mt19937_64 random_;
  Model model_{.now = kSecond};
  std::map<uint32_t, uint32_t> openings_;
  std::map<uint32_t, uint32_t> epochs_;
  uint64_t opened_ = 0;
  uint64_t assignments_ = 0;
  uint32_t endpoints_ = 0;
  uint32_t requeues_expected_ = 0;
  std::map<uint32_t, Claim> claims_;  ///< by conversation
  int64_t now_ = kSecond;
  CountingResource memory_;
  Dispatcher d_{{.groups = kGroups,
                 .agents_max = kAgents,
                 .conversations_max = 64,
                 .accept_ns = 20 * kSecond,
                 .overflow = kOverflow},
                memory_};
};

TEST(DispatcherModel, AgreesWithTheNaiveModelAfterEveryOfManyRandomEvents) {
  constexpr uint32_t kSeeds = 60;
  constexpr uint32_t kSteps = 2500;  // 150,000 events in all
  for (uint32_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomDay run(seed);
    for (uint32_t i = 0; i < kSteps; ++i) {
      run.step();
      ASSERT_FALSE(testing::Test::HasFailure()) << "step " << i;
    }
  }
}

}  // namespace
}  // namespace taut::chat
