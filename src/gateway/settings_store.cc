#include "gateway/settings_store.h"

#include "gateway/store_service.h"

namespace taut::gateway {

void add_store_rows(std::vector<ConfigRow>& rows, Settings& s) {
  rows.push_back({.key = "store",
                  .section = "History",
                  .field = &s.store,
                  .help =
                      "With --data: where history is kept that has left memory: sqlite (history.db in that "
                      "directory), none, or the URL of a PostgreSQL database",
                  .value_name = "STORE",
                  .check = check_store});
  rows.push_back({.key = "retention-days",
                  .section = "History",
                  .field = &s.retention_days,
                  .help = "Days after which a closed conversation leaves the history; 0 is never",
                  .max = 36'500});
}

}  // namespace taut::gateway
