// Every way to smuggle a view into a ring, each of which the compiler must refuse.
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/handle.h"
#include "core/mail.h"
#include "core/no_views.h"
#include "core/spsc_ring.h"

namespace taut {

enum class Kind : uint8_t { a, b };
struct Inner {
  uint32_t size = 0;
  Handle connection;
};
struct Good {
  Inner inner;
  std::array<Inner, 2> pair{};
  std::array<char, 16> text{};
  Kind kind = Kind::a;
  void* block = nullptr;
};
struct NamedView {
  uint32_t size = 0;
  std::string_view name;
};
struct Nested {
  uint64_t id = 0;
  NamedView inner;
};
struct InArray {
  std::array<std::span<const char>, 2> parts;
};
struct Owner {
  std::string text;
};
class Hidden {
 public:
  [[nodiscard]] std::string_view get() const { return view_; }

 private:
  std::string_view view_;
};

static_assert(RingElement<Good>);
static_assert(RingElement<Mail>);
static_assert(RingElement<uint64_t>);

inline void good(SpscRing<Good>& ring) {
  static_cast<void>(ring.try_push(Good{}));
}
inline Mail good_mail() {
  return Mail::of(1, Good{}.inner);
}

#ifdef CASE_VIEW_IN_RING
inline void bad(SpscRing<std::string_view>& ring) {
  static_cast<void>(ring.try_push("x"));
}
#endif
#ifdef CASE_SPAN_IN_RING
inline void bad(SpscRing<std::span<const char>>& ring) {
  static_cast<void>(ring.try_push({}));
}
#endif
#ifdef CASE_FIELD_IN_RING
inline void bad(SpscRing<NamedView>& ring) {
  static_cast<void>(ring.try_push({}));
}
#endif
#ifdef CASE_NESTED_FIELD_IN_MAIL
inline Mail bad() {
  return Mail::of(1, Nested{});
}
#endif
#ifdef CASE_ARRAY_OF_SPANS_IN_MAIL
inline Mail bad() {
  return Mail::of(1, InArray{});
}
#endif
#ifdef CASE_HIDDEN_VIEW_IN_MAIL
inline Mail bad() {
  return Mail::of(1, Hidden{});
}
#endif
#ifdef CASE_OPTIONAL_VIEW_IN_MAIL
inline Mail bad() {
  return Mail::of(1, std::optional<std::string_view>{});
}
#endif
#ifdef CASE_OWNER_IN_RING
inline void bad(SpscRing<Owner>& ring) {
  static_cast<void>(ring.try_push({}));
}
#endif
#ifdef CASE_VIEW_OUT_OF_MAIL
inline std::string_view bad(const Mail& mail) {
  return mail.as<std::string_view>();
}
#endif

}  // namespace taut
