#include "sim/reader.h"

namespace taut::sim {

namespace {

std::string number(uint64_t value) {
  return std::to_string(value);
}

}  // namespace

void Reader::advance(uint64_t seq, uint64_t epoch) {
  seq_ = seq;
  if (epochs_.size() <= seq) epochs_.resize(seq + 1);
  epochs_[seq] = epoch;
  while (!early_.empty() && early_.begin()->first <= seq_ + 1) {
    const auto [next, its_epoch] = *early_.begin();
    early_.erase(early_.begin());
    if (next > seq_) advance(next, its_epoch);
  }
}

void Reader::disconnected() {
  early_.clear();
  own_.clear();
  resuming_ = false;
}

void Reader::stand_at(uint64_t epoch, uint64_t seq) {
  anchored_ = true;
  early_.clear();
  advance(seq, epoch);
}

void Reader::own(uint64_t epoch, uint64_t seq) {
  own_.insert(seq);
  if (!anchored_) return stand_at(epoch, seq);
  if (seq == seq_ + 1) return advance(seq, epoch);
  if (seq > seq_) early_[seq] = epoch;
}

std::string Reader::item(uint64_t epoch, uint64_t seq) {
  if (!anchored_) {
    stand_at(epoch, seq);
    return {};
  }
  if (seq == seq_ + 1) {
    if (epoch < epoch_at(seq_)) return "epoch " + number(epoch) + " comes behind a later one";
    advance(seq, epoch);
    return {};
  }
  if (seq > seq_) return "item " + number(seq) + " comes behind " + number(seq_);
  if (resuming_ && own_.contains(seq)) return {};
  return "item " + number(seq) + " comes again, behind " + number(seq_);
}

std::string Reader::gap_back(uint64_t epoch, uint64_t from, uint64_t to) {
  if (!resuming_) return "a gap without a resume";
  if (from == 0 || from > seq_ || to != seq_) return "the gap does not end at the cursor";
  epochs_.resize(from);
  seq_ = from - 1;
  if (seq_ > 0 && epochs_[seq_] == 0) epochs_[seq_] = epoch;
  return {};
}

std::string Reader::gap_expired(uint64_t from, uint64_t to) {
  if (!resuming_) return "a gap without a resume";
  if (from != seq_ + 1 || to < from) return "the gap does not begin behind the cursor";
  advance(to, epoch_at(seq_));
  return {};
}

std::string Reader::resumed(uint64_t epoch, uint64_t seq) {
  if (!resuming_) return "resumed, and nobody asked";
  resuming_ = false;
  if (seq != seq_) return "resumed at " + number(seq) + " and told up to " + number(seq_);
  if (epoch < epoch_at(seq_)) return "resumed in an earlier epoch";
  if (!early_.empty()) return "resumed, and own item " + number(early_.begin()->first) + " is missing";
  return {};
}

}  // namespace taut::sim
