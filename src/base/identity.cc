#include "base/identity.h"

#include <array>

namespace taut {

namespace {

constexpr std::array<bool, 256> make_id_characters() {
  std::array<bool, 256> table{};
  for (int c = 'A'; c <= 'Z'; ++c) table[static_cast<size_t>(c)] = true;
  for (int c = 'a'; c <= 'z'; ++c) table[static_cast<size_t>(c)] = true;
  for (int c = '0'; c <= '9'; ++c) table[static_cast<size_t>(c)] = true;
  table['.'] = table['_'] = table['-'] = true;
  return table;
}

constexpr std::array<bool, 256> kIdCharacters = make_id_characters();

}  // namespace

std::string_view role_name(Role role) {
  switch (role) {
    case Role::visitor:
      return "visitor";
    case Role::agent:
      return "agent";
    case Role::admin:
      return "admin";
  }
  return "";
}

bool valid_id(std::string_view id) {
  if (id.empty() || id.size() > kIdBytesMax) return false;
  bool valid = true;
  for (const char c : id) valid &= kIdCharacters[static_cast<uint8_t>(c)];
  return valid;
}

uint32_t partition_of(Role role, std::string_view id) {
  constexpr uint64_t kFnvPrime = 0x100000001B3ULL;
  uint64_t hash = 0xCBF29CE484222325ULL;
  hash = (hash ^ static_cast<uint8_t>(role)) * kFnvPrime;
  for (const char c : id) hash = (hash ^ static_cast<uint8_t>(c)) * kFnvPrime;
  hash ^= hash >> 32;
  hash ^= hash >> 16;
  return static_cast<uint32_t>(hash) & (kPartitions - 1);
}

}  // namespace taut
