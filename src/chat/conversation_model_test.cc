// Random sends, repeats, decisions and resumes against a naive list, for many seeds.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "chat/conversation_fixture.h"

namespace taut::chat {
namespace {

/// A client that keeps what it was sent, as the protocol tells it to.
struct Client {
  uint32_t epoch = 0;
  std::vector<uint64_t> bodies;  ///< bodies[i] is item i + 1; 0 for one that the server said had expired
};

class RandomTalk : public ConversationFixture {
 public:
  explicit RandomTalk(uint32_t seed) : random_(seed) { note_event(c.open()); }

  void step() {
    const uint32_t what = pick(100);
    if (what < 55) {
      send();
    } else if (what < 70) {
      repeat();
    } else if (what < 80) {
      decide();
    } else if (what < 86) {
      request();
    } else if (what < 98) {
      resume(clients_[pick(3)]);
    } else {
      crash();
    }
    check();
  }

 private:
  static constexpr uint64_t kUndone = UINT64_MAX;

  struct Sent {
    std::string sender;
    uint64_t id = 0;
    uint64_t body_hash = 0;
    uint32_t epoch = 0;
    uint64_t seq = 0;
    int64_t ts_ms = 0;
  };

  [[nodiscard]] uint32_t pick(uint32_t below) { return static_cast<uint32_t>(random_() % below); }
  [[nodiscard]] Party party(const std::string& id) const { return id == "v1" ? visitor() : agent(id); }

  void append_event() {
    void* body = next_body();
    items_.push_back(reinterpret_cast<uint64_t>(body));
    release(c.append_event(body, 0));
  }
  void note_event(const Change& change) {
    if (!change.changed) return;
    ASSERT_EQ(change.seq, items_.size() + 1);
    append_event();
  }

  void send() {
    const std::string sender = pick(2) == 0 ? "v1" : "a" + std::to_string(pick(3));
    const Sent sent{.sender = sender, .id = ++ids_, .body_hash = random_()};
    const bool owner = c.owned_by(sender);
    const ConversationState before = c.state();
    const SendDecision decision = c.on_send(party(sender), id_hash(sent.id), sent.body_hash, ItemKind::text);
    if (before == ConversationState::closed) {
      ASSERT_EQ(decision.code, Code::closed);
    } else if (sender != "v1" && !owner) {
      ASSERT_EQ(decision.code, Code::not_yours);
    } else {
      ASSERT_EQ(decision.code, Code::ok);
      ASSERT_EQ(decision.accepts, owner && before == ConversationState::assigned);
      if (decision.accepts) append_event();
      append_message(sent, decision);
    }
  }

  void append_message(Sent sent, const SendDecision& decision) {
    ASSERT_FALSE(decision.dup);
    ASSERT_EQ(decision.seq, items_.size() + 1);
    ASSERT_EQ(decision.epoch, c.epoch());
    void* body = next_body();
    items_.push_back(reinterpret_cast<uint64_t>(body));
    sent.epoch = decision.epoch;
    sent.seq = decision.seq;
    sent.ts_ms = static_cast<int64_t>(random_() >> 20);
    release(c.append_message(body, sent.ts_ms));
    sent_.push_back(sent);
  }

  void repeat() {
    if (sent_.empty()) return;
    const Sent& sent = sent_[pick(static_cast<uint32_t>(sent_.size()))];
    const SendDecision same = c.on_send(party(sent.sender), id_hash(sent.id), sent.body_hash, ItemKind::text);
    ASSERT_TRUE(same.dup);
    ASSERT_EQ(same.seq, sent.seq);
    ASSERT_EQ(same.epoch, sent.epoch);
    ASSERT_EQ(same.ts_ms, sent.ts_ms);
    const SendDecision other =
        c.on_send(party(sent.sender), id_hash(sent.id), ~sent.body_hash, ItemKind::text);
    ASSERT_EQ(other.code, Code::id_conflict);
  }

  void decide() {
    const uint32_t opening = c.opening() - (pick(8) == 0 ? 1 : 0);
    const uint32_t owner_epoch = c.owner_epoch() + pick(3);
    const bool stale =
        c.state() == ConversationState::closed || opening != c.opening() || owner_epoch <= c.owner_epoch();
    const std::string agent_id = "a" + std::to_string(pick(3));
    const Change change =
        pick(2) == 0
            ? c.apply(Assign{.agent = Handle(1, 1, 1), .opening = opening, .owner_epoch = owner_epoch},
                      agent_id)
            : c.apply(Requeue{.opening = opening, .owner_epoch = owner_epoch});
    ASSERT_EQ(change.changed, !stale);
    note_event(change);
  }

  void request() {
    const std::string who = "a" + std::to_string(pick(3));
    switch (pick(4)) {
      case 0:
        return note_event(c.accept(agent(who)));
      case 1:
        return note_event(c.close(pick(2) == 0 ? visitor() : agent(who)));
      default:
        return note_event(c.reopen());
    }
  }

  /// Clients that had everything may also have seen items that the crash undoes.
  void crash() {
    for (Client& client : clients_) {
      const bool had_all = client.epoch == c.epoch() && client.bodies.size() == items_.size();
      if (had_all) client.bodies.resize(client.bodies.size() + pick(4), kUndone);
    }
    c.start_epoch();
  }

  /// The client follows gaps and items literally and must end with exactly what the server has.
  void resume(Client& client) {
    if (pick(10) == 0) client = {};  // a new device
    const bool unknown = pick(10) == 0;
    const ResumePlan plan = c.plan_resume(unknown ? 999 : client.epoch, client.bodies.size());
    if (unknown) {
      ASSERT_EQ(plan.gaps[0].reason, GapReason::unknown_epoch);
    }
    for (uint32_t i = 0; i < plan.gap_count; ++i) follow(client, plan.gaps[i]);
    ASSERT_EQ(plan.start, client.bodies.size() + 1) << "a hole or a double";
    ASSERT_EQ(plan.last, c.last_seq());
    for (uint64_t seq = plan.start; seq <= plan.last; ++seq) {
      client.bodies.push_back(reinterpret_cast<uint64_t>(c.items().at(seq).body));
    }
    client.epoch = plan.epoch;
    ASSERT_EQ(client.bodies.size(), items_.size());
    for (size_t i = 0; i < items_.size(); ++i) {
      ASSERT_TRUE(client.bodies[i] == items_[i] || client.bodies[i] == 0) << "item " << i + 1;
    }
  }

  static void follow(Client& client, const Gap& gap) {
    if (gap.reason == GapReason::expired) {
      ASSERT_EQ(gap.from, client.bodies.size() + 1);
      client.bodies.resize(gap.to, 0);
    } else {
      ASSERT_EQ(gap.to, client.bodies.size());
      client.bodies.resize(gap.from - 1);
    }
  }

  void check() {
    ASSERT_EQ(c.last_seq(), items_.size());
    ASSERT_EQ(bodies_held(), c.items().size());
    ASSERT_LE(c.items().size(), kItemsMax);
    const uint64_t seq = c.items().first_seq() + pick(c.items().size());
    ASSERT_EQ(reinterpret_cast<uint64_t>(c.items().at(seq).body), items_[seq - 1]);
  }

  std::mt19937_64 random_;
  std::vector<uint64_t> items_;
  std::vector<Sent> sent_;
  std::array<Client, 3> clients_;
  uint64_t ids_ = 0;
};

TEST(ConversationModel, OrderNoLossNoDoublesExactGaps) {
  constexpr uint32_t kSeeds = 60;
  constexpr uint32_t kSteps = 2000;
  for (uint32_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomTalk run(seed);
    for (uint32_t i = 0; i < kSteps; ++i) {
      run.step();
      ASSERT_FALSE(testing::Test::HasFailure()) << "step " << i;
    }
  }
}

}  // namespace
}  // namespace taut::chat
