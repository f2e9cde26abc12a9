#include "auth/jwt.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "auth/base64url.h"
#include "auth/hmac.h"

namespace taut::auth {
namespace {

constexpr int64_t kExpiresS = 1'700'000'000;
constexpr int64_t kNowMs = (kExpiresS - 60) * 1000;
constexpr std::string_view kHeader = R"({"alg":"HS256","typ":"JWT"})";
constexpr std::string_view kClaims = R"({"sub":"v1","role":"visitor","site":"demo","exp":1700000000})";

Secrets secrets_of(const std::vector<std::string>& all) {
  std::vector<Secret> secrets;
  for (const std::string& s : all) secrets.emplace_back(s);
  return Secrets(std::move(secrets));
}

const std::string kSecretA(32, 'a');
const std::string kSecretB(32, 'b');

/// A token with any header and any claims, rightly signed.
std::string token_of(std::string_view header, std::string_view claims, const std::string& secret = kSecretA) {
  std::string token;
  append_base64url(token, header);
  token += '.';
  append_base64url(token, claims);
  const Hmac::Digest digest = Hmac(Secret(secret)).digest(token);
  token += '.';
  append_base64url(token, {digest.data(), digest.size()});
  return token;
}

class Tokens : public testing::Test {
 protected:
  /// The fault's name, or "ok".
  std::string verdict(std::string_view token, int64_t wall_ms = kNowMs) {
    const auto claims = verifier_.verify(token, wall_ms);
    return std::string(claims ? "ok" : fault_name(claims.error()));
  }
  std::string verdict_of_claims(std::string_view claims) { return verdict(token_of(kHeader, claims)); }
  /// The required claims and `more`, a list of members that begins with a comma.
  std::string verdict_with(const std::string& more) {
    return verdict_of_claims(std::string(kClaims.substr(0, kClaims.size() - 1)) + more + "}");
  }

  Secrets secrets_ = secrets_of({kSecretA});
  Verifier verifier_{secrets_};
  Signer signer_{secrets_};
};

TEST_F(Tokens, CarryAllClaimsFromSignerToVerifier) {
  Claims claims{.id = "a1",
                .role = Role::agent,
                .site = "demo",
                .expires_s = kExpiresS,
                .name = "Ada \"\\ Ü",
                .capacity = 3};
  claims.group_ids[0] = "sales";
  claims.group_ids[1] = "support";
  claims.group_count = 2;
  const auto read = verifier_.verify(signer_.sign(claims), kNowMs);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->id, "a1");
  EXPECT_EQ(read->role, Role::agent);
  EXPECT_EQ(read->site, "demo");
  EXPECT_EQ(read->expires_s, kExpiresS);
  EXPECT_EQ(read->name, "Ada \"\\ Ü");
  EXPECT_EQ(read->capacity, 3u);
  EXPECT_TRUE(read->may_open);
  ASSERT_EQ(read->groups().size(), 2u);
  EXPECT_EQ(read->groups()[1], "support");
}

TEST_F(Tokens, HaveDefaultsForWhatIsLeftOut) {
  const std::string token = token_of(kHeader, kClaims);
  const auto read = verifier_.verify(token, kNowMs);
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->name);
  EXPECT_FALSE(read->capacity);
  EXPECT_TRUE(read->may_open);
  EXPECT_TRUE(read->groups().empty());
  Claims closed{.id = "v1", .site = "demo", .expires_s = kExpiresS, .may_open = false};
  EXPECT_FALSE(verifier_.verify(signer_.sign(closed), kNowMs)->may_open);
}

TEST_F(Tokens, MadeByAnotherLibraryAreRead) {
  // {"alg":"HS256","typ":"JWT"} / the claims below, made with Python's hmac and base64 modules.
  EXPECT_EQ(verdict("eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9."
                    "eyJzdWIiOiJ2MSIsInJvbGUiOiJ2aXNpdG9yIiwic2l0ZSI6ImRlbW8iLCJleHAiOjE3MDAwMDAwMDB9."
                    "xOT-RqSo9eBZmwNXyEfAy789_SD9zV-XqtUaY0PTByA"),
            "ok");
}

TEST_F(Tokens, FitTheLargestClaimsIntoTheLimit) {
  const std::string id(kIdBytesMax, 'i');
  const std::string name(kNameBytesMax, '"');
  Claims claims{.id = id,
                .role = Role::visitor,
                .site = id,
                .expires_s = int64_t{1} << 40,
                .name = name,
                .capacity = kCapacityMax};
  claims.group_count = kGroupsMax;
  claims.group_ids.fill(id);
  const auto read = verifier_.verify(signer_.sign(claims), kNowMs);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->groups().size(), kGroupsMax);
  EXPECT_EQ(read->name, name);
}

TEST_F(Tokens, AreRefusedWithAnyByteChangedToAnyOther) {
  const std::string token = token_of(kHeader, kClaims);
  ASSERT_EQ(verdict(token), "ok");
  for (size_t at = 0; at < token.size(); ++at) {
    for (int c = 0; c < 256; ++c) {
      std::string changed = token;
      changed[at] = static_cast<char>(c);
      if (changed == token) continue;
      ASSERT_NE(verdict(changed), "ok") << at << " -> " << c;
    }
  }
}

TEST_F(Tokens, AreRefusedWithAnyByteMissingOrAdded) {
  const std::string token = token_of(kHeader, kClaims);
  for (size_t at = 0; at < token.size(); ++at) {
    EXPECT_NE(verdict(token.substr(0, at)), "ok");
    EXPECT_NE(verdict(token.substr(at + 1)), "ok");
    EXPECT_NE(verdict(std::string(token).erase(at, 1)), "ok");
    EXPECT_NE(verdict(std::string(token).insert(at, 1, 'A')), "ok");
    EXPECT_NE(verdict(std::string(token).insert(at, 1, '.')), "ok");
  }
  EXPECT_NE(verdict(token + "="), "ok");
  EXPECT_NE(verdict(token + "\n"), "ok");
}

TEST_F(Tokens, ExpireAtTheFirstMillisecondOfExp) {
  const std::string token = token_of(kHeader, kClaims);
  EXPECT_EQ(verdict(token, kExpiresS * 1000 - 1), "ok");
  EXPECT_EQ(verdict(token, kExpiresS * 1000), "expired");
  EXPECT_EQ(verdict_of_claims(R"({"sub":"v1","role":"visitor","site":"demo","exp":0})"), "expired");
}

TEST_F(Tokens, AreNotValidBeforeNbf) {
  const std::string token =
      token_of(kHeader, R"({"sub":"v1","role":"visitor","site":"demo","exp":1700000000,"nbf":1600000000})");
  EXPECT_EQ(verdict(token, 1'599'999'999'999), "not_yet_valid");
  EXPECT_EQ(verdict(token, 1'600'000'000'000), "ok");
}

TEST_F(Tokens, AreRefusedUnderAnyOtherAlgorithm) {
  for (const char* alg :
       {"none", "None", "NONE", "hs256", "HS384", "HS512", "RS256", "", "HS256 ", "HS256\\u0000"}) {
    EXPECT_EQ(verdict(token_of(std::string(R"({"alg":")") + alg + R"("})", kClaims)), "wrong_algorithm")
        << alg;
  }
  for (const char* header :
       {"{}", R"({"typ":"JWT"})", R"({"alg":null})", R"({"alg":["HS256"]})", R"({"alg":256})",
        R"({"alg":"HS256","alg":"none"})", R"({"alg":"none","alg":"HS256"})",
        R"({"alg":"HS256","alg":"HS256"})", R"({"alg":"HS256","crit":["exp"]})",
        R"({"alg":"HS256","typ":"JWE"})", R"({"alg":"HS256","typ":1})"}) {
    EXPECT_EQ(verdict(token_of(header, kClaims)), "wrong_algorithm") << header;
  }
  EXPECT_EQ(verdict(token_of(R"({ "typ" : "JWT", "kid" : "x", "alg" : "HS\u003256" })", kClaims)), "ok");
}

TEST_F(Tokens, WithoutASignatureAreRefused) {
  std::string token = token_of(R"({"alg":"none"})", kClaims);
  EXPECT_EQ(verdict(token.substr(0, token.rfind('.') + 1)), "wrong_algorithm");
  token = token_of(kHeader, kClaims);
  EXPECT_EQ(verdict(token.substr(0, token.rfind('.') + 1)), "bad_signature");
  EXPECT_EQ(verdict(token.substr(0, token.rfind('.'))), "malformed");
}

TEST_F(Tokens, OfTheWrongShapeAreMalformed) {
  for (const char* token :
       {"", ".", "..", "...", "a", "a.b", "e30.e30", "e30.e30.e30.e30", "!.!.!", "e30=.e30=.AA=="}) {
    const std::string v = verdict(token);
    EXPECT_TRUE(v == "malformed" || v == "wrong_algorithm") << token << " " << v;
  }
  for (const char* header :
       {"", "{", "[]", "\"HS256\"", "{\"alg\":\"HS256\"} x", "{\"alg\":\"HS256\"}{}", "\xFF"}) {
    EXPECT_EQ(verdict(token_of(header, kClaims)), "malformed") << header;
  }
  for (const char* claims :
       {"", "{", "[]", "null", "{\"sub\":}", "{} {}", "{\"sub\":\"\xFF\"}", "{\"name\":\"\\ud83d\"}"}) {
    EXPECT_EQ(verdict_of_claims(claims), "malformed") << claims;
  }
  EXPECT_EQ(verdict(token_of(kHeader, std::string(kClaims) + "x")), "malformed");
}

TEST_F(Tokens, LongerThanTheLimitAreRefusedBeforeAnythingElse) {
  EXPECT_EQ(verdict(std::string(4'096, '.')), "malformed");  // docs/protocol.md, Values
  EXPECT_EQ(verdict(std::string(4'097, '.')), "too_large");
  EXPECT_EQ(verdict(std::string(100'000'000, 'A')), "too_large");
  EXPECT_EQ(verdict(std::string(kTokenBytesMax - 2, 'A') + ".."), "malformed");
}

TEST_F(Tokens, OfTheLargestClaimsFitTheLimit) {
  const std::string id(kIdBytesMax, 'i');
  Claims claims{.id = id, .role = Role::agent, .site = id, .expires_s = kExpiresS};
  claims.capacity = kCapacityMax;
  claims.group_count = kGroupsMax;
  claims.group_ids.fill(id);
  for (const char c : {'n', '"', '\\'}) {
    const std::string name(kNameBytesMax, c);
    claims.name = name;
    const std::string token = Signer(secrets_of({kSecretA})).sign(claims);
    EXPECT_EQ(verdict(token), "ok");
  }
}

TEST_F(Tokens, DeeplyNestedAreRefusedWithoutHarm) {
  const std::string deep = R"({"x":)" + std::string(1'400, '[') + std::string(1'400, ']') + "}";
  EXPECT_EQ(verdict_of_claims(deep), "malformed");
}

TEST_F(Tokens, NeedEveryRequiredClaim) {
  const std::vector<std::string> members = {R"("sub":"v1")", R"("role":"visitor")", R"("site":"demo")",
                                            R"("exp":1700000000)"};
  for (size_t left_out = 0; left_out < members.size(); ++left_out) {
    std::string claims = "{\"x\":1";
    for (size_t i = 0; i < members.size(); ++i) {
      if (i != left_out) claims += "," + members[i];
    }
    EXPECT_EQ(verdict_of_claims(claims + "}"), "bad_claim") << members[left_out];
  }
}

TEST_F(Tokens, MustNotSayAClaimTwice) {
  for (const char* more :
       {R"(,"sub":"v1")", R"(,"role":"agent")", R"(,"site":"demo")", R"(,"exp":1800000000)",
        R"(,"s\u0075b":"v2")", R"(,"nbf":1,"nbf":1)", R"(,"name":"a","name":"b")",
        R"(,"groups":[],"groups":[])", R"(,"capacity":1,"capacity":2)", R"(,"open":false,"open":true)"}) {
    EXPECT_EQ(verdict_with(more), "bad_claim") << more;
  }
  EXPECT_EQ(verdict_with(R"(,"x":1,"x":2)"), "ok");
}

TEST_F(Tokens, MustHaveClaimsOfTheRightTypeWithinTheirLimits) {
  for (const std::string& more : std::vector<std::string>{
           R"(,"name":1)", R"(,"name":null)", R"(,"name":"a\u0000b")", R"(,"name":"a\nb")",
           R"(,"name":")" + std::string(kNameBytesMax + 1, 'n') + '"', R"(,"groups":"sales")",
           R"(,"groups":[1])", R"(,"groups":[""])", R"(,"groups":["a b"])", R"(,"groups":null)",
           R"(,"capacity":-1)", R"(,"capacity":1.5)", R"(,"capacity":1001)", R"(,"capacity":"3")",
           R"(,"open":1)", R"(,"open":"false")", R"(,"open":null)", R"(,"nbf":"1")", R"(,"nbf":-1)"}) {
    EXPECT_EQ(verdict_with(more), "bad_claim") << more;
  }
  for (const char* exp : {"\"1700000000\"", "1700000000.5", "-1", "null", "9007199254740993", "1e300"}) {
    const std::string claims =
        R"({"sub":"v1","role":"visitor","site":"demo","exp":)" + std::string(exp) + "}";
    EXPECT_EQ(verdict_of_claims(claims), "bad_claim") << exp;
  }
  for (const char* id : {"", "a b", "a/b", "\\u0000", "é"}) {
    EXPECT_EQ(verdict_of_claims(R"({"role":"visitor","site":"demo","exp":1700000000,"sub":")" +
                                std::string(id) + "\"}"),
              "bad_claim");
    EXPECT_EQ(verdict_of_claims(R"({"role":"visitor","sub":"v1","exp":1700000000,"site":")" +
                                std::string(id) + "\"}"),
              "bad_claim");
  }
  EXPECT_EQ(verdict_with(R"(,"capacity":0)"), "ok");
}

TEST_F(Tokens, OfRolesThatDoNotExistAreRefused) {
  for (const char* role : {"", "root", "Agent", "agent ", "visitor\\u0000"}) {
    EXPECT_EQ(verdict_of_claims(R"({"sub":"v1","site":"demo","exp":1700000000,"role":")" + std::string(role) +
                                "\"}"),
              "bad_claim");
  }
  EXPECT_EQ(verdict_of_claims(R"({"sub":"v1","site":"demo","exp":1700000000,"role":2})"), "bad_claim");
}

TEST_F(Tokens, BoundTheNumberOfGroups) {
  std::string groups = R"(,"groups":["g")";
  for (size_t i = 1; i < kGroupsMax; ++i) groups += R"(,"g")";
  EXPECT_EQ(verdict_with(groups + "]"), "ok");
  EXPECT_EQ(verdict_with(groups + R"(,"g"])"), "bad_claim");
}

TEST_F(Tokens, OfAnotherRoleOrSiteCannotBeUsed) {
  const Claims claims{.id = "v1", .role = Role::visitor, .site = "demo"};
  EXPECT_TRUE(check_use(claims, Role::visitor, "demo"));
  EXPECT_EQ(check_use(claims, Role::agent, "demo").error(), TokenFault::wrong_role);
  EXPECT_EQ(check_use(claims, Role::admin, "demo").error(), TokenFault::wrong_role);
  EXPECT_EQ(check_use(claims, Role::visitor, "other").error(), TokenFault::wrong_site);
}

TEST_F(Tokens, AreVerifiedByAllSecretsAndSignedByTheFirst) {
  const Secrets both = secrets_of({kSecretB, kSecretA});
  Verifier verifier(both);
  const Claims claims{.id = "v1", .site = "demo", .expires_s = kExpiresS};
  const std::string by_b = Signer(both).sign(claims);
  EXPECT_TRUE(verifier.verify(by_b, kNowMs));
  EXPECT_TRUE(verifier.verify(token_of(kHeader, kClaims, kSecretA), kNowMs));
  EXPECT_EQ(verifier_.verify(by_b, kNowMs).error(), TokenFault::bad_signature);
  EXPECT_EQ(verdict(token_of(kHeader, kClaims, std::string(32, 'c'))), "bad_signature");
}

TEST_F(Tokens, LeaveNothingBehindInTheVerifier) {
  const std::string good = token_of(kHeader, kClaims);
  const std::string rich = token_of(kHeader, R"({"sub":"a1","role":"agent","site":"demo","exp":1700000000,)"
                                             R"("name":"A","groups":["g"],"capacity":3,"open":false})");
  ASSERT_EQ(verdict(rich), "ok");
  ASSERT_EQ(verdict("x.y.z"), "malformed");
  const auto read = verifier_.verify(good, kNowMs);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->id, "v1");
  EXPECT_FALSE(read->name);
  EXPECT_TRUE(read->groups().empty());
  EXPECT_TRUE(read->may_open);
}

TEST(SignerDeathTest, RefusesClaimsThatNoVerifierWouldTake) {
  const Secrets secrets = secrets_of({kSecretA});
  Signer signer(secrets);
  EXPECT_DEATH((void)signer.sign({.id = "not an id", .site = "demo"}), "within_limits");
}

}  // namespace
}  // namespace taut::auth
