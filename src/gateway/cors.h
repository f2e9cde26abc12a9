// What pages of other origins may do with the HTTP API: the Origin rule, in the words of CORS.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "wire/http.h"

namespace taut::gateway {

/// The same origins may call the API that may open a WebSocket. An accepted origin is named in the answer,
/// never `*`, and credentials are not asked for: the API takes its key from a header alone.
class Cors {
 public:
  /// Both outlive it.
  Cors(const wire::HttpRequest& request, std::span<const std::string> allowed);

  /// A page that may not call the API asks for something that does more than read.
  [[nodiscard]] bool refuses() const { return !accepted_ && !reads_only_; }
  /// For every answer: views into the request.
  void add_headers(std::vector<wire::HttpHeader>& headers) const;

 private:
  const wire::HttpRequest& request_;
  bool accepted_;
  bool reads_only_;
};

}  // namespace taut::gateway
