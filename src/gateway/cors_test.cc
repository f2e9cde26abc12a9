#include "gateway/cors.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace taut::gateway {
namespace {

const std::vector<std::string> kAllowed{"https://shop.example"};

wire::HttpRequest request(wire::HttpMethod method, const std::string& origin) {
  wire::HttpRequest made;
  made.method = method;
  made.host = "chat.example";
  made.origin = origin;
  return made;
}

std::string headers_for(wire::HttpMethod method, const std::string& origin) {
  const wire::HttpRequest asked = request(method, origin);
  std::vector<wire::HttpHeader> headers;
  Cors(asked, kAllowed).add_headers(headers);
  std::string text;
  for (const auto& [name, value] : headers) text.append(name).append("=").append(value).append(";");
  return text;
}

bool refused(wire::HttpMethod method, const std::string& origin) {
  const wire::HttpRequest asked = request(method, origin);
  return Cors(asked, kAllowed).refuses();
}

TEST(Cors, NamesAnAcceptedOriginAndNeverAStar) {
  EXPECT_EQ(headers_for(wire::HttpMethod::post, "https://shop.example"),
            "Vary=Origin;Access-Control-Allow-Origin=https://shop.example;");
  EXPECT_EQ(headers_for(wire::HttpMethod::get, "https://evil.example"), "Vary=Origin;");
  EXPECT_EQ(headers_for(wire::HttpMethod::get, ""), "Vary=Origin;");
}

TEST(Cors, APreflightIsToldMethodsAndHeaders) {
  EXPECT_EQ(headers_for(wire::HttpMethod::options, "https://shop.example"),
            "Vary=Origin;Access-Control-Allow-Origin=https://shop.example;"
            "Access-Control-Allow-Methods=GET, HEAD, POST, PUT, DELETE;"
            "Access-Control-Allow-Headers=Authorization, Content-Type;Access-Control-Max-Age=600;");
}

TEST(Cors, OthersMayReadWhatTheyWillNotBeShownAndDoNothing) {
  EXPECT_FALSE(refused(wire::HttpMethod::get, "https://evil.example"));
  EXPECT_TRUE(refused(wire::HttpMethod::post, "https://evil.example"));
  EXPECT_TRUE(refused(wire::HttpMethod::options, "https://evil.example"));
  EXPECT_FALSE(refused(wire::HttpMethod::post, "https://shop.example"));
  EXPECT_FALSE(refused(wire::HttpMethod::post, "https://chat.example"));
  EXPECT_FALSE(refused(wire::HttpMethod::post, "")) << "no browser sent it";
}

}  // namespace
}  // namespace taut::gateway
