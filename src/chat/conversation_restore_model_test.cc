// Random lives against what is made again of their journals, for many seeds and cuts.
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "chat/conversation_journal.h"

namespace taut::chat {
namespace {

constexpr uint32_t kItemsMax = 100;
/// More senders than have windows.
constexpr uint32_t kBots = SenderWindows::kOthersMax + 3;

class RandomLife {
 public:
  explicit RandomLife(uint32_t seed) : random_(seed) { note(c().open()); }

  void step() {
    const uint32_t what = pick(100);
    if (what < 45) {
      send();
    } else if (what < 55) {
      repeat();
    } else if (what < 70) {
      decide();
    } else if (what < 82) {
      request();
    } else if (what < 90) {
      mark();
    } else if (what < 95) {
      forget_what_is_under_way();
    } else if (what < 98) {
      compare();
    } else {
      crash();
    }
  }

 private:
  [[nodiscard]] Conversation& c() { return life_->machine; }
  [[nodiscard]] uint32_t pick(uint32_t below) { return static_cast<uint32_t>(random_() % below); }
  [[nodiscard]] void* next_body() { return reinterpret_cast<void*>(++bodies_); }
  [[nodiscard]] std::string some_agent() { return "a" + std::to_string(pick(3)); }
  [[nodiscard]] Party agent(const std::string& id) const { return {.kind = PartyKind::agent, .id = id}; }

  void note(const Change& change) {
    if (!change.changed) return;
    void* body = next_body();
    journal_.emplace_back(journaled(c(), change, body, ++now_ms_));
    (void)c().append_event(body, now_ms_);
  }

  void send() {
    const uint32_t who = pick(10);
    const std::string id = who < 4 ? "v1" : who < 8 ? some_agent() : "b" + std::to_string(pick(kBots));
    const PartyKind kind = who < 4 ? PartyKind::visitor : who < 8 ? PartyKind::agent : PartyKind::bot;
    JournaledMessage sent{
        .what = {.ts_ms = ++now_ms_,
                 .sender = kind,
                 .sender_id = {},
                 .id = id_hash(++ids_),
                 .body_hash = random_(),
                 .kind = kind == PartyKind::visitor || pick(4) > 0 ? ItemKind::text : ItemKind::note},
        .sender = id,
        .body = nullptr};
    const SendDecision decision = c().on_send({.kind = kind, .id = id, .in_group = true}, sent.what.id,
                                              sent.what.body_hash, sent.what.kind);
    if (decision.code != Code::ok) return;
    if (decision.accepts) {
      note({.changed = true,
            .event = EventKind::accepted,
            .epoch = decision.epoch,
            .seq = decision.seq - 1,
            .owner_epoch = c().owner_epoch()});
    }
    sent.what.epoch = decision.epoch;
    sent.what.seq = decision.seq;
    sent.body = next_body();
    (void)c().append_message(sent.body, sent.what.ts_ms);
    journal_.emplace_back(sent);
  }

  /// Asks only; what is remembered must not depend on it.
  void repeat() {
    const auto& entry = journal_[pick(static_cast<uint32_t>(journal_.size()))];
    if (const auto* sent = std::get_if<JournaledMessage>(&entry)) {
      const Party sender{.kind = sent->what.sender, .id = sent->sender};
      c().expect_send(sender, sent->what.id);
      (void)c().on_send(sender, sent->what.id, sent->what.body_hash, sent->what.kind);
    }
  }

  void decide() {
    const uint32_t owner_epoch = c().owner_epoch() + pick(3);
    const auto reason = static_cast<Reason>(pick(5));
    if (pick(2) == 0) {
      const Assign assign{.agent = Handle(1, 1, 1),
                          .opening = c().opening(),
                          .owner_epoch = owner_epoch,
                          .reason = pick(2) == 0 ? Reason::transferred : Reason::taken,
                          .accepted = pick(4) == 0};
      note(c().apply(assign, some_agent()));
      if (!assign.accepted) return;
      c().contest();
      note(c().apply_accept(assign));
    } else {
      note(c().apply(
          Requeue{.group = pick(3), .opening = c().opening(), .owner_epoch = owner_epoch, .reason = reason}));
    }
  }

  void request() {
    const std::string who = some_agent();
    switch (pick(6)) {
      case 0:
      case 1:
        return note(c().accept(agent(who)));
      case 2:
        return note(c().close(pick(2) == 0 ? ConversationFixture::visitor() : agent(who)));
      case 3:
        return note(c().rate());
      default:
        return note(c().reopen());
    }
  }

  void mark() {
    const JournaledMark entry{.side = static_cast<Side>(pick(2)),
                              .level = static_cast<ReceiptLevel>(pick(2)),
                              .seq = c().last_seq() - pick(static_cast<uint32_t>(c().last_seq()))};
    if (c().mark(entry.side, entry.level, entry.seq) == MarkResult::moved) journal_.emplace_back(entry);
  }

  void forget_what_is_under_way() {
    if (pick(2) == 0) {
      c().contest();
      c().contest_lost();
    } else {
      (void)c().decline(agent(some_agent()));
    }
  }

  void compare() {
    const auto again = replay(journal_, kItemsMax);
    ASSERT_NO_FATAL_FAILURE(expect_same(c(), again->machine));
    for (const Journaled& entry : journal_) {
      if (const auto* sent = std::get_if<JournaledMessage>(&entry)) {
        ASSERT_NO_FATAL_FAILURE(expect_same_answer(c(), again->machine, *sent));
      }
    }
    auto imaged = through_image(c(), journal_, kItemsMax);
    ASSERT_NO_FATAL_FAILURE(expect_same(c(), imaged->machine));
    for (const Journaled& entry : journal_) {
      if (const auto* sent = std::get_if<JournaledMessage>(&entry)) {
        ASSERT_NO_FATAL_FAILURE(expect_same_answer(c(), imaged->machine, *sent));
      }
    }
    if (pick(2) == 0) {
      life_ = std::move(imaged);
    } else {
      move_house();
    }
  }

  /// The life goes on in a copy.
  void move_house() {
    auto copied = std::make_unique<Restored>(kItemsMax);
    copied->machine.copy(c(), [](const Item& item) { return item.body; });
    ASSERT_NO_FATAL_FAILURE(expect_same(c(), copied->machine));
    life_ = std::move(copied);
  }

  /// Some of the end is lost; a start or two without an item may follow.
  void crash() {
    const size_t lost = std::min<size_t>(pick(6), journal_.size() - 1);
    journal_.resize(journal_.size() - lost);
    life_ = replay(journal_, kItemsMax);
    for (uint32_t starts = 1 + pick(3); starts > 0; --starts) {
      const uint32_t epoch = c().epoch();
      c().start_epoch();
      ASSERT_EQ(c().epoch(), epoch + 1);
      journal_.emplace_back(JournaledEpoch{});
    }
  }

  std::mt19937_64 random_;
  std::unique_ptr<Restored> life_ = std::make_unique<Restored>(kItemsMax);
  std::vector<Journaled> journal_;
  uint64_t bodies_ = 0;
  uint64_t ids_ = 0;
  int64_t now_ms_ = 0;
};

TEST(ConversationRestoreModel, AgreesWithTheLiveOneAfterEveryCut) {
  constexpr uint32_t kSeeds = 40;
  constexpr uint32_t kSteps = 1'500;
  for (uint32_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomLife run(seed);
    for (uint32_t i = 0; i < kSteps; ++i) {
      run.step();
      ASSERT_FALSE(testing::Test::HasFailure()) << "step " << i;
    }
  }
}

}  // namespace
}  // namespace taut::chat
