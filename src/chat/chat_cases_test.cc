// What went wrong in other people's chat systems, as inputs to the state machines: conversations and the
// dispatcher together, with decisions that travel late.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "chat/conversation_fixture.h"
#include "chat/counting_resource.h"
#include "chat/dispatcher.h"

namespace taut::chat {
namespace {

class ChatCases : public ConversationFixture, public testing::Test {};

// A stale widget silently reopened a resolved chat.
TEST_F(ChatCases, AClosedConversationIsSeenAsClosedBeforeAnySendOfItsReturningVisitorIsTaken) {
  open_active("a1");
  const uint64_t cursor = c.last_seq();
  append(c.close(agent("a1")));
  const ResumePlan plan = c.plan_resume(1, cursor);
  EXPECT_EQ(plan.gap_count, 0U);
  EXPECT_EQ(plan.start, plan.last);
  EXPECT_EQ(c.items().at(plan.start).event, EventKind::closed);
  EXPECT_EQ(c.on_send(visitor(), id_hash(1), 0, ItemKind::text).code, Code::closed);
  EXPECT_EQ(c.state(), ConversationState::closed);
}

// Each recovery redelivered the same items.
TEST_F(ChatCases, ResumingThreeTimesWithoutTrafficSendsNothingTwice) {
  open_active("a1");
  (void)say(visitor(), 1);
  uint64_t cursor = 2;
  const ResumePlan first = c.plan_resume(1, cursor);
  EXPECT_EQ(first.start, 3U);
  cursor = first.last;
  for (uint32_t i = 0; i < 3; ++i) {
    const ResumePlan again = c.plan_resume(first.epoch, cursor);
    EXPECT_EQ(again.gap_count, 0U);
    EXPECT_EQ(again.start, again.last + 1);
    cursor = again.last;
  }
}

// The server said "caught up" for a cursor that it did not know.
TEST_F(ChatCases, AnInventedEpochAndACursorAheadOfTheEndGetAGap) {
  open_active("a1");
  ASSERT_EQ(c.plan_resume(77, 2).gap_count, 1U);
  EXPECT_EQ(c.plan_resume(77, 2).gaps[0].reason, GapReason::unknown_epoch);
  ASSERT_EQ(c.plan_resume(1, 99).gap_count, 1U);
  EXPECT_EQ(c.plan_resume(1, 99).gaps[0].reason, GapReason::ahead);
}

// A position mismatch looped for ever.
TEST_F(ChatCases, ACursorThatACrashInvalidatedIsSettledByOneResume) {
  open_active("a1");
  const uint64_t undone = c.last_seq() + 5;
  c.start_epoch();
  (void)say(visitor(), 1);
  const ResumePlan plan = c.plan_resume(1, undone);
  ASSERT_EQ(plan.gap_count, 1U);
  const ResumePlan next = c.plan_resume(plan.epoch, plan.last);
  EXPECT_EQ(next.gap_count, 0U);
  EXPECT_EQ(next.start, next.last + 1);
}

// One send on a weak link became two messages.
TEST_F(ChatCases, TheSameSendThreeTimesIsOneMessage) {
  open_assigned("a1");
  const SendDecision first = say(agent("a1"), 1, 5, 123);  // accepts as well
  const uint64_t last = c.last_seq();
  for (uint32_t i = 0; i < 2; ++i) {
    const SendDecision again = say(agent("a1"), 1, 5, 456);
    EXPECT_TRUE(again.dup);
    EXPECT_FALSE(again.accepts);
    EXPECT_EQ(again.seq, first.seq);
    EXPECT_EQ(again.ts_ms, 123);
  }
  EXPECT_EQ(c.last_seq(), last);
}

/// The dispatcher and several conversations, joined by streams that deliver in order but late.
class Floor {
 public:
  static constexpr uint32_t kConversations = 30;
  static constexpr uint32_t kAgents = 5;
  static constexpr uint32_t kCapacity = 3;

  explicit Floor(uint32_t seed) : random_(seed) {
    for (uint32_t i = 0; i < kConversations; ++i) {
      conversations_.push_back(std::make_unique<Conversation>(
          "c" + std::to_string(i), 0, Conversation::Options{.items_max = 64}, memory_));
    }
    for (uint32_t a = 0; a < kAgents; ++a) {
      EXPECT_TRUE(d_.agent_connected(id(a), Handle(1, 1, a), {.groups = 1, .capacity = kCapacity}, now_));
      d_.agent_presence(id(a), Presence::online, Dispatcher::kTokenCapacity, now_);
    }
  }
  ~Floor() {
    for (auto& c : conversations_) c->release_items([](void*) {});
  }

  void step() {
    const uint32_t n = pick(kConversations);
    Conversation& c = *conversations_[n];
    const std::string who(c.owner().id.view());
    const Party owner{.kind = PartyKind::agent, .id = who};
    switch (pick(10)) {
      case 0:
        if (c.opening() == 0 || c.state() == ConversationState::closed) {
          append(c, c.opening() == 0 ? c.open() : c.reopen());
          say(n, Word::opened);
        }
        break;
      case 1:
        if (!who.empty()) take(n, static_cast<uint32_t>(std::stoul(who.substr(1))));
        break;
      case 2:
        if (c.decline(owner) == Code::ok) say(n, Word::declined);
        break;
      case 3:
        if (c.opening() > 0 && c.state() != ConversationState::closed) {
          append(c, c.close({}));
          say(n, Word::closed);
        }
        break;
      case 4:
        now_ += pick(12) * 1'000'000'000;
        d_.advance(now_);
        break;
      case 5:
        take(n, pick(kAgents));
        break;
      case 6:
        if (c.may_act(owner) == Code::ok) say(n, Word::transferred, pick(kAgents));
        break;
      default:
        deliver(pick(6));
    }
    collect();
    check();
  }

  /// Everything said has been heard, by both sides.
  void settle() {
    while (!words_.empty() || !decisions_.empty()) {
      deliver(100);
      collect();
    }
    check();
    for (uint32_t a = 0; a < kAgents; ++a) EXPECT_EQ(owned(a), d_.load(id(a)));
    uint32_t queued = 0;
    for (const auto& c : conversations_)
      queued += c->opening() > 0 && c->state() == ConversationState::queued;
    EXPECT_EQ(d_.queued(0), queued);
  }

 private:
  enum class Word : uint8_t { opened, accepted, declined, closed, taken, transferred };
  /// The answer to a take that failed.
  struct NotTaken {
    uint32_t n;
  };
  struct Said {
    uint32_t n;
    Word word;
    uint32_t opening;
    uint32_t owner_epoch;
    uint32_t agent;  ///< who takes it, or gets it
  };

  [[nodiscard]] uint32_t pick(uint32_t below) { return static_cast<uint32_t>(random_() % below); }
  [[nodiscard]] static std::string id(uint32_t a) { return "a" + std::to_string(a); }
  [[nodiscard]] static ConversationKey key(uint32_t n) { return Handle(1, 1, n); }
  static void append(Conversation& c, const Change& change) {
    ASSERT_TRUE(change.changed);
    (void)c.append_event(nullptr, 0);
  }
  void say(uint32_t n, Word word, uint32_t agent = 0) {
    words_.push_back({n, word, conversations_[n]->opening(), conversations_[n]->owner_epoch(), agent});
  }
  void take(uint32_t n, uint32_t agent) {
    Conversation& c = *conversations_[n];
    if (c.opening() == 0) return;
    const std::string who = id(agent);
    const Change change = c.accept({.kind = PartyKind::agent, .id = who});
    if (change.changed) {
      append(c, change);
      say(n, Word::accepted);
    }
    if (!change.contested && change.code != Code::not_yours) return;
    c.contest();
    say(n, Word::taken, agent);
  }
  void collect() {
    for (const Effect& effect : d_.effects()) decisions_.emplace_back(effect);
    d_.clear_effects();
  }
  void deliver(uint32_t upto) {
    for (uint32_t i = 0; i < upto && !words_.empty(); ++i) {
      hear(words_.front());
      words_.pop_front();
    }
    for (uint32_t i = pick(3); i < upto && !decisions_.empty(); ++i) {
      if (const auto* lost = std::get_if<NotTaken>(&decisions_.front())) {
        conversations_[lost->n]->contest_lost();
      } else {
        carry_out(std::get<Effect>(decisions_.front()));
      }
      decisions_.pop_front();
    }
  }
  void hear(const Said& said) {
    switch (said.word) {
      case Word::opened:
        ASSERT_TRUE(d_.conversation_opened(key(said.n), 0, said.opening, said.owner_epoch, now_));
        break;
      case Word::accepted:
        d_.accepted(key(said.n), said.owner_epoch, now_);
        break;
      case Word::declined:
        d_.declined(key(said.n), said.owner_epoch, now_);
        break;
      case Word::closed:
        d_.closed(key(said.n), now_);
        break;
      case Word::taken:
        if (d_.take(key(said.n), id(said.agent), now_) != Code::ok) decisions_.push_back(NotTaken{said.n});
        break;
      case Word::transferred:
        (void)d_.transfer_to_agent(key(said.n), said.owner_epoch, id(said.agent), now_);
        break;
    }
  }
  void carry_out(const Effect& effect) {
    Change change;
    ConversationKey of;
    if (const auto* assign = std::get_if<Assign>(&effect)) {
      const Conversation& c = *conversations_[assign->conversation.slot()];
      const bool accepted = c.state() == ConversationState::active && assign->owner_epoch > c.owner_epoch();
      ASSERT_FALSE(accepted && assign->reason == Reason::taken) << "taken from one who had accepted it";
    }
    if (const auto* assign = std::get_if<Assign>(&effect)) {
      of = assign->conversation;
      change = conversations_[of.slot()]->apply(*assign, d_.agent_id(assign->agent_index));
    } else if (const auto* requeue = std::get_if<Requeue>(&effect)) {
      of = requeue->conversation;
      change = conversations_[of.slot()]->apply(*requeue);
    }
    if (change.changed) append(*conversations_[of.slot()], change);
    if (const auto* assign = std::get_if<Assign>(&effect); assign != nullptr && assign->accepted) {
      Conversation& c = *conversations_[of.slot()];
      const Change accepted = c.apply_accept(*assign);
      if (accepted.changed) append(c, accepted);
    }
  }
  [[nodiscard]] uint32_t owned(uint32_t a) const {
    uint32_t n = 0;
    for (const auto& c : conversations_) n += c->owned_by(id(a));
    return n;
  }
  void check() {
    for (uint32_t a = 0; a < kAgents; ++a) ASSERT_LE(d_.load(id(a)), kCapacity);
  }

  std::mt19937_64 random_;
  int64_t now_ = 0;
  CountingResource memory_;
  Dispatcher d_{{.agents_max = kAgents, .conversations_max = kConversations}, memory_};
  std::vector<std::unique_ptr<Conversation>> conversations_;
  std::deque<Said> words_;
  std::deque<std::variant<Effect, NotTaken>> decisions_;
};

// An agent with limit 3 got 4.
TEST(ChatCasesTogether, LoadNeverExceedsCapacityAndBothSidesAgreeOnceEverythingWasHeard) {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Floor floor(seed);
    for (uint32_t i = 0; i < 1500; ++i) {
      floor.step();
      ASSERT_FALSE(testing::Test::HasFailure()) << "step " << i;
      if (i % 300 == 299) floor.settle();
      ASSERT_FALSE(testing::Test::HasFailure()) << "settled at step " << i;
    }
  }
}

class DispatcherCases : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(d_.agent_connected("a1", Handle(1, 1, 1), {.groups = 1, .capacity = 1}, 0));
    d_.agent_presence("a1", Presence::online, Dispatcher::kTokenCapacity, 0);
  }
  void open(uint32_t n) { ASSERT_TRUE(d_.conversation_opened(Handle(2, 1, n), 0, 1, 0, 0)); }
  /// The conversations assigned since the last call.
  std::vector<uint32_t> assigned() {
    std::vector<uint32_t> result;
    for (const Effect& effect : d_.effects()) {
      if (const auto* assign = std::get_if<Assign>(&effect)) result.push_back(assign->conversation.slot());
    }
    d_.clear_effects();
    return result;
  }

  CountingResource memory_;
  Dispatcher d_{{.conversations_max = 16}, memory_};
};

// The oldest waiting chat was passed over when a place came free.
TEST_F(DispatcherCases, AFreePlaceGoesToTheOldestAtOnceWithoutASweep) {
  open(1);
  open(2);
  open(3);
  EXPECT_THAT(assigned(), testing::ElementsAre(1U));
  d_.closed(Handle(2, 1, 1), 0);
  EXPECT_THAT(assigned(), testing::ElementsAre(2U)) << "by the very event, not by a timer";
}

// An agent never answered and the chat stayed with them.
TEST_F(DispatcherCases, AnUnansweredConversationGoesBackToItsOldPlace) {
  open(1);
  open(2);
  open(3);
  (void)assigned();
  d_.agent_presence("a1", Presence::away, Dispatcher::kTokenCapacity, 0);
  d_.advance(d_.next_deadline_ns());
  d_.flush_positions();
  std::map<uint32_t, uint32_t> places;
  for (const Effect& effect : d_.effects()) {
    if (const auto* p = std::get_if<Position>(&effect)) places[p->conversation.slot()] = p->position;
  }
  EXPECT_EQ(places, (std::map<uint32_t, uint32_t>{{1, 1}, {2, 2}, {3, 3}}));
}

}  // namespace
}  // namespace taut::chat
