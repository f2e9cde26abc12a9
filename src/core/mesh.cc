#include "core/mesh.h"

namespace taut {

Mesh::Mesh(const Options& options)
    : members_(options.members), doorbells_(std::make_unique<Doorbell[]>(options.members)) {
  TAUT_ASSERT(members_ >= 1 && members_ <= kMembersMax);
  rings_.resize(size_t{members_} * members_);
  for (uint32_t from = 0; from < members_; ++from) {
    for (uint32_t to = 0; to < members_; ++to) {
      if (from != to) rings_[from * members_ + to] = std::make_unique<SpscRing<Mail>>(options.ring_capacity);
    }
  }
}

Mesh::~Mesh() = default;

}  // namespace taut
