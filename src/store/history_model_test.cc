// Random records, questions and removals: a store answers what the model answers.
#include <array>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "store/history_fixture.h"
#include "store/history_model_fixture.h"

namespace taut::store {
namespace {

class HistoryModelRun : public HistoryFixture {};
INSTANTIATE_TEST_SUITE_P(, HistoryModelRun, kBackends, backend_name);

class RandomHistory {
 public:
  RandomHistory(HistoryStore& store, uint32_t seed) : store_(&store), random_(seed) {}
  void use(HistoryStore& store) { store_ = &store; }
  [[nodiscard]] uint32_t pick(uint32_t below) { return static_cast<uint32_t>(random_() % below); }

  void step() {
    switch (pick(10)) {
      case 0:
        return ask_conversations();
      case 1:
        return ask_search();
      case 2:
        return ask_items();
      case 3:
        return remove();
      default:
        return write();
    }
  }

  void compare() { ASSERT_EQ(dump(*store_), dump(model_)); }

 private:
  std::string id() { return "c" + std::to_string(pick(12)); }
  std::string visitor() { return "v" + std::to_string(pick(5)); }
  std::string agent() { return "a" + std::to_string(pick(3)); }
  std::string word() {
    static constexpr std::array kWords{"ab", "abc", "needle", "退款", "我要退款",
                                       "%",  "a_b", "\"x\"",  "\\",   "👍"};
    return kWords[pick(kWords.size())];
  }

  void write() {
    const uint32_t count = 1 + pick(12);
    for (uint32_t i = 0; i < count; ++i) write_record();
    // Some of it again, and not all of it at once.
    const uint64_t position = good(store_->position());
    apply(position > 5 ? position - pick(5) : 1,
          position + 1 + pick(static_cast<uint32_t>(story_.last() - position)));
  }
  void apply(uint64_t from, uint64_t to) {
    ASSERT_TRUE(succeeds(store_->apply(story_.part(from, to))));
    ASSERT_TRUE(succeeds(model_.apply(story_.part(from, to))));
    ASSERT_EQ(good(store_->position()), to);
  }

  void write_record() {
    // Items come behind the facts; those of "void" never get any.
    std::string of = id();
    if (!told_.contains(of) && pick(4) != 0) return tell(of);
    if (!told_.contains(of)) of = "void";
    switch (pick(8)) {
      case 0:
        return pick(8) == 0 ? story_.forgotten(visitor()) : story_.others(1);
      case 1:
        return story_.event(of, static_cast<EventKind>(1 + pick(8)), pick(2) == 0 ? "" : agent(),
                            pick(3) == 0 ? "support" : "");
      case 2:
        return story_.note(of, word() + " " + word());
      case 3:
        return story_.receipts({.conversation = of,
                                .visitor_delivered = pick(20),
                                .visitor_read = pick(20),
                                .agent_delivered = pick(20),
                                .agent_read = pick(20)});
      default:
        return story_.text(of, word() + word() + " " + word());
    }
  }
  void tell(const std::string& id) {
    told_.insert(id);
    story_.conversation(id, visitor(), "sales", " " + word());
  }

  void ask_conversations() {
    const std::string agent_id = agent();
    const std::string visitor_id = visitor();
    const std::string text = word();
    ConversationFilter filter{.limit = 1 + pick(6)};
    if (pick(3) == 0) filter.state = static_cast<ConversationState>(pick(4));
    if (pick(3) == 0) filter.agent = agent_id;
    if (pick(3) == 0) filter.visitor = visitor_id;
    if (pick(3) == 0) filter.text = text;
    ASSERT_EQ(all_conversations(*store_, filter), all_conversations(model_, filter));
  }

  void ask_search() {
    const std::string text = word() + (pick(2) == 0 ? word() : "");
    const uint32_t limit = 1 + pick(30);
    ASSERT_EQ(all_hits(*store_, text, limit), all_hits(model_, text, limit)) << text;
  }

  void ask_items() {
    const ItemRange range{.side = pick(2) == 0 ? ItemRange::Side::after : ItemRange::Side::before,
                          .seq = pick(30),
                          .limit = 1 + pick(20)};
    const Audience audience = pick(2) == 0 ? Audience::agent : Audience::visitor;
    const std::string of = id();
    ASSERT_EQ(good(store_->items(of, range, audience)), good(model_.items(of, range, audience)));
    ASSERT_EQ(good(store_->conversation(of)), good(model_.conversation(of)));
  }

  void remove() {
    if (story_.last() == 0) return;
    apply(1, story_.last());
    if (pick(3) == 0) {
      const std::string of = visitor();
      ASSERT_EQ(good(store_->remove_visitor(of)), good(model_.remove_visitor(of)));
    } else {
      const int64_t before_ms = static_cast<int64_t>(story_.last() / 2) * Story::kMsPerRecord;
      const uint32_t most = 1 + pick(3);
      ASSERT_EQ(good(store_->expire(before_ms, most)), good(model_.expire(before_ms, most)));
    }
    // What is gone may be told of again.
    std::erase_if(told_, [&](const std::string& of) { return !good(model_.conversation(of)); });
  }

  HistoryStore* store_;
  HistoryModel model_;
  std::mt19937_64 random_;
  Story story_;
  std::set<std::string> told_;
};

TEST_P(HistoryModelRun, AnswersWhatTheModelAnswers) {
  const uint32_t seeds = GetParam() == Backend::sqlite ? 20 : 6;
  constexpr uint32_t kSteps = 150;
  for (uint32_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const StoreHome home(GetParam());
    store_ = home.open();
    RandomHistory run(*store_, seed);
    for (uint32_t i = 0; i < kSteps; ++i) {
      if (run.pick(20) == 0) {
        store_.reset();
        store_ = home.open();
        run.use(*store_);
      }
      run.step();
      if (i % 10 == 0) run.compare();
      ASSERT_FALSE(HasFailure()) << "step " << i;
    }
    run.compare();
    store_.reset();
  }
}

}  // namespace
}  // namespace taut::store
