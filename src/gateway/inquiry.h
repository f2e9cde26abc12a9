// What the HTTP service answers, at once or when shards have answered a question of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/handle.h"
#include "core/buffer_pool.h"
#include "core/shard.h"
#include "gateway/block_front.h"
#include "gateway/mails.h"

namespace taut::gateway {

struct ArchiveQuestion;

struct HttpAnswer {
  uint32_t status = 200;
  std::string_view content_type = {};
  std::string body = {};
  std::string problem = {};  ///< for errors: the words of the problem document
};

/// A request whose answer comes by mail. The HTTP service keeps it while it waits and forgets it when the
/// client goes or the time is over; mail for it that comes later finds nobody. The service's thread only.
///
/// Its question is an InquiryMail with a block of the service's pool; whoever answers sends the same block
/// back as `inquiry_answered`.
class Inquiry {
 public:
  Inquiry() = default;
  Inquiry(const Inquiry&) = delete;
  Inquiry& operator=(const Inquiry&) = delete;
  virtual ~Inquiry() = default;

  /// Sends the question. `self` is its asker. An answer at once: it could not be asked.
  [[nodiscard]] virtual std::optional<HttpAnswer> ask(Shard& shard, Handle self) = 0;
  /// The block is back and belongs to the inquiry. The answer; or nothing: it has asked again.
  [[nodiscard]] virtual std::optional<HttpAnswer> on_answer(Shard& shard, Handle self, Block* block) = 0;
  /// The archive has answered. The answer to who asked.
  [[nodiscard]] virtual HttpAnswer on_archive(ArchiveQuestion& question);
  /// Nobody has answered in time.
  [[nodiscard]] virtual HttpAnswer on_late() {
    return {.status = 503, .problem = "the shards did not answer in time"};
  }
};

/// For ask(): sends `question` to `to`, in a block of its own, which comes back to `self`.
template <RingElement T>
[[nodiscard]] std::optional<HttpAnswer> ask_shard(Shard& shard, Handle self, MailKind kind, ShardId to,
                                                  const T& question) {
  Block* block = shard.pool().allocate(sizeof(T));
  if (block == nullptr) return HttpAnswer{.status = 503, .problem = "no memory for the question"};
  set_front(*block, question);
  shard.send(to, mail_of(kind, InquiryMail{.asker = self, .block = block}));
  return std::nullopt;
}

using HttpReply = std::variant<HttpAnswer, std::unique_ptr<Inquiry>>;

}  // namespace taut::gateway
