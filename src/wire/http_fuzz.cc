// Any bytes as HTTP: nothing breaks, a prefix never finds something else than the whole, and an upgrade can
// be answered.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/assert.h"
#include "wire/http.h"
#include "wire/websocket_client.h"

namespace {

using namespace taut::wire;
using Kind = HttpOutcome::Kind;

/// A request found in the first bytes is the one found in all of them.
void check_prefix(std::string_view in, size_t size) {
  const HttpOutcome early = parse_http_request(in.substr(0, size));
  const HttpOutcome late = parse_http_request(in);
  if (early.kind != Kind::request) return;
  TAUT_ASSERT(late.kind == Kind::request && late.consumed == early.consumed);
  TAUT_ASSERT(late.request.target == early.request.target && late.request.body == early.request.body);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view in(reinterpret_cast<const char*>(data) + 1, size - 1);
  check_prefix(in, in.size() * data[0] / 255);
  const HttpOutcome outcome = parse_http_request(in);
  (void)parse_ws_upgrade_answer(in, "dGhlIHNhbXBsZSBub25jZQ==");
  if (outcome.kind == Kind::error) TAUT_ASSERT(outcome.status >= 400 && !outcome.detail.empty());
  if (outcome.kind != Kind::request) return 0;

  TAUT_ASSERT(outcome.consumed > 0 && outcome.consumed <= in.size());
  const WsUpgradeCheck check = check_ws_upgrade(outcome.request);
  if (!check.accepted) {
    TAUT_ASSERT(!write_ws_refusal(check).empty());
    return 0;
  }
  const std::string answer = write_ws_accept(outcome.request);
  TAUT_ASSERT(parse_ws_upgrade_answer(answer, outcome.request.websocket_key).kind ==
              WsUpgradeAnswer::Kind::accepted);
  return 0;
}
