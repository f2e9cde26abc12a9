#include "wire/deflate_offer.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

namespace taut::wire {
namespace {

/// Reads a list of extensions (RFC 6455, 9.1) from the front.
struct ListReader {
  std::string_view rest;

  /// Without blanks around it; empty when there is none.
  std::string_view token() {
    skip_blanks();
    const auto* const end = std::ranges::find_if_not(rest, [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
             (c != '\0' && std::string_view("!#$%&'*+-.^_`|~").contains(c));
    });
    const std::string_view found = rest.substr(0, static_cast<size_t>(end - rest.begin()));
    rest.remove_prefix(found.size());
    skip_blanks();
    return found;
  }
  /// A token, or what stands between quotes; empty when it is neither.
  std::string_view value() {
    skip_blanks();
    if (!rest.starts_with('"')) return token();
    size_t end = 1;
    while (end < rest.size() && rest[end] != '"') end += rest[end] == '\\' ? 2 : 1;
    if (end >= rest.size()) return {};
    const std::string_view found = rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
    skip_blanks();
    return found;
  }
  bool eat(char c) {
    if (!rest.starts_with(c)) return false;
    rest.remove_prefix(1);
    return true;
  }
  void skip_blanks() { rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size())); }
};

/// The parameters of one offer. It is declined for one that is unknown, there twice or without sense, or that
/// wants a smaller window of the server than there is.
struct Offer {
  bool declined = false;
  bool server_context = false;
  bool client_context = false;
  bool server_window = false;
  bool client_window = false;

  void read(std::string_view name, std::optional<std::string_view> value) {
    if (name == "server_no_context_takeover") {
      accept_if(!value.has_value(), server_context);
    } else if (name == "client_no_context_takeover") {
      accept_if(!value.has_value(), client_context);
    } else if (name == "server_max_window_bits") {
      accept_if(value == "15", server_window);
    } else if (name == "client_max_window_bits") {
      accept_if(!value.has_value() || is_window_bits(*value), client_window);
    } else {
      declined = true;
    }
  }

 private:
  void accept_if(bool sensible, bool& seen) {
    if (!sensible || std::exchange(seen, true)) declined = true;
  }
  /// 8 to 15
  static bool is_window_bits(std::string_view value) {
    if (value.size() == 1) return value[0] == '8' || value[0] == '9';
    return value.size() == 2 && value[0] == '1' && value[1] >= '0' && value[1] <= '5';
  }
};

}  // namespace

std::string_view accept_deflate(std::string_view offers) noexcept {
  constexpr std::string_view kAnswer =
      "permessage-deflate; server_no_context_takeover; client_no_context_takeover";
  constexpr std::string_view kAnswerWithWindow =
      "permessage-deflate; server_no_context_takeover; client_no_context_takeover; server_max_window_bits=15";
  ListReader in{offers};
  std::string_view answer;
  do {
    const std::string_view extension = in.token();
    Offer offer;
    while (in.eat(';')) {
      const std::string_view name = in.token();
      std::optional<std::string_view> value;
      if (in.eat('=')) value = in.value();
      if (name.empty() || value == "") return {};
      offer.read(name, value);
    }
    if (answer.empty() && extension == "permessage-deflate" && !offer.declined)
      answer = offer.server_window ? kAnswerWithWindow : kAnswer;
  } while (in.eat(','));
  return in.rest.empty() ? answer : std::string_view();
}

}  // namespace taut::wire
