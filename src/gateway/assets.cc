#include "gateway/assets.h"

namespace taut::gateway {

const Asset* find_asset(std::string_view path) {
  if (path.starts_with('/')) path.remove_prefix(1);
  if (path.empty()) path = "index.html";
  for (const Asset& asset : assets()) {
    if (asset.name == path) return &asset;
  }
  return nullptr;
}

}  // namespace taut::gateway
