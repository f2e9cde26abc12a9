// Who somebody is: role and id, the rule for ids, and the partition that gives an identity its home shard.
#pragma once

#include <cstdint>
#include <string_view>

namespace taut {

enum class Role : uint8_t { visitor, agent, admin };

[[nodiscard]] std::string_view role_name(Role role);

/// Longest id in bytes: visitors, agents, conversations, client_msg_ids, groups, sites, devices.
inline constexpr uint32_t kIdBytesMax = 64;

/// 1–64 characters of A–Z a–z 0–9 . _ -
[[nodiscard]] bool valid_id(std::string_view id);

/// Partitions are fixed for ever (conversation ids carry one); shards come and go. 4,096 of them.
inline constexpr uint32_t kPartitions = 4096;

/// Stable across processes, versions and hosts: 64-bit FNV-1a of role and id, folded to 12 bits.
[[nodiscard]] uint32_t partition_of(Role role, std::string_view id);

[[nodiscard]] constexpr uint32_t shard_of(uint32_t partition, uint32_t shards) {
  return partition % shards;
}

}  // namespace taut
