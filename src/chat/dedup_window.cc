#include "chat/dedup_window.h"

#include <cstring>
#include <utility>

namespace taut::chat {

namespace {

constexpr uint32_t kSlotBits = 13;
constexpr uint32_t kSlotMask = (1U << kSlotBits) - 1;
constexpr uint32_t kTagBits = 32 - kSlotBits;
/// Cells of a full window; growing there at once saves one rebuild on the way.
constexpr uint32_t kCellsMax = 8192;
static_assert(DedupWindow::kIds + 1 <= kSlotMask, "slot + 1 fits into a cell");
static_assert(kCellsMax >= 2 * DedupWindow::kIds && kCellsMax <= 1U << kTagBits);
static_assert(kCellsMax * sizeof(uint32_t) <= kChunkBytesMax);

constexpr uint32_t tag_of(const IdHash& id) {
  return static_cast<uint32_t>(id.low) & ((1U << kTagBits) - 1);
}
constexpr uint32_t make_cell(const IdHash& id, uint32_t slot) {
  return tag_of(id) << kSlotBits | (slot + 1);
}
constexpr uint32_t slot_of_cell(uint32_t cell) {
  return (cell & kSlotMask) - 1;
}

}  // namespace

DedupWindow::DedupWindow(std::pmr::memory_resource& memory) : entries_(kIds, memory), memory_(&memory) {}

DedupWindow::~DedupWindow() {
  forget();
}

void DedupWindow::forget() {
  entries_.release();
  if (cells_ != nullptr) memory_->deallocate(cells_, cell_count_ * sizeof(Cell), alignof(Cell));
  cells_ = nullptr;
  cell_count_ = 0;
}

void DedupWindow::prefetch(IdHash id) const {
  if (cells_ != nullptr) __builtin_prefetch(&cells_[tag_of(id) & (cell_count_ - 1)], 1);
}

DedupWindow::Found DedupWindow::find(IdHash id, uint64_t body_hash) const {
  if (cells_ == nullptr) return {};
  const uint32_t mask = cell_count_ - 1;
  for (uint32_t i = tag_of(id) & mask; cells_[i] != 0; i = (i + 1) & mask) {
    if (cells_[i] >> kSlotBits != tag_of(id)) continue;
    const Entry& entry = entries_.at_slot(slot_of_cell(cells_[i]));
    if (entry.id != id) continue;
    if (entry.body_hash != body_hash) return {.verdict = Verdict::conflict};
    return {.verdict = Verdict::same, .epoch = entry.epoch, .seq = entry.seq, .ts_ms = entry.ts_ms};
  }
  return {};
}

void DedupWindow::add(IdHash id, uint64_t body_hash, uint32_t epoch, uint64_t seq, int64_t ts_ms) {
  if (entries_.full()) index_erase(make_cell(entries_[0].id, entries_.slot_of(0)));
  const uint32_t slot = entries_.push({id, body_hash, seq, ts_ms, epoch});
  if (cell_count_ < 2 * entries_.capacity()) {
    index_grow(entries_.capacity() > Entries::kPerChunk ? kCellsMax : 2 * entries_.capacity());
  }
  index_insert(make_cell(id, slot));
  if (!entries_.full()) return;
  // What the next add() takes out: its cell, and the entry behind it that names the cell after that.
  prefetch(entries_[0].id);
  __builtin_prefetch(&entries_[2], 1);
}

void DedupWindow::copy(const DedupWindow& other) {
  TAUT_ASSERT(size() == 0);
  for (uint32_t i = 0; i < other.size(); ++i) {
    const Entry& entry = other.entries_[i];
    add(entry.id, entry.body_hash, entry.epoch, entry.seq, entry.ts_ms);
  }
}

uint32_t DedupWindow::home_of(Cell cell) const {
  return (cell >> kSlotBits) & (cell_count_ - 1);
}

/// A cell carries enough of its hash to find its new home, so growing reads the old index alone, not the
/// entries.
void DedupWindow::index_grow(uint32_t cells) {
  Cell* const old = cells_;
  const uint32_t old_count = cell_count_;
  cells_ = static_cast<Cell*>(memory_->allocate(cells * sizeof(Cell), alignof(Cell)));
  cell_count_ = cells;
  std::memset(cells_, 0, cells * sizeof(Cell));
  for (uint32_t i = 0; i < old_count; ++i) {
    if (old[i] != 0) index_insert(old[i]);
  }
  if (old != nullptr) memory_->deallocate(old, old_count * sizeof(Cell), alignof(Cell));
}

void DedupWindow::index_insert(Cell cell) {
  const uint32_t mask = cell_count_ - 1;
  uint32_t i = home_of(cell);
  while (cells_[i] != 0) i = (i + 1) & mask;
  cells_[i] = cell;
}

/// Closes the hole by pulling back each later cell of the run that may stand there, so that no tombstones
/// gather and lookups stay short however long the window lives.
void DedupWindow::index_erase(Cell cell) {
  const uint32_t mask = cell_count_ - 1;
  uint32_t hole = home_of(cell);
  while (cells_[hole] != cell) {
    TAUT_ASSERT(cells_[hole] != 0);
    hole = (hole + 1) & mask;
  }
  for (uint32_t i = (hole + 1) & mask; cells_[i] != 0; i = (i + 1) & mask) {
    const uint32_t distance = (i - home_of(cells_[i])) & mask;
    if (distance < ((i - hole) & mask)) continue;
    cells_[hole] = cells_[i];
    hole = i;
  }
  cells_[hole] = 0;
}

}  // namespace taut::chat
