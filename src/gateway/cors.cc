#include "gateway/cors.h"

#include <optional>

#include "auth/origin.h"

namespace taut::gateway {

Cors::Cors(const wire::HttpRequest& request, std::span<const std::string> allowed)
    : request_(request),
      accepted_(request.origin.empty() ||
                auth::origin_accepted(std::string_view(request.origin), request.host, allowed)),
      reads_only_(request.method == wire::HttpMethod::get || request.method == wire::HttpMethod::head) {}

void Cors::add_headers(std::vector<wire::HttpHeader>& headers) const {
  headers.push_back({"Vary", "Origin"});
  if (request_.origin.empty() || !accepted_) return;
  headers.push_back({"Access-Control-Allow-Origin", request_.origin});
  if (request_.method != wire::HttpMethod::options) return;
  headers.push_back({"Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, DELETE"});
  headers.push_back({"Access-Control-Allow-Headers", "Authorization, Content-Type"});
  headers.push_back({"Access-Control-Max-Age", "600"});
}

}  // namespace taut::gateway
