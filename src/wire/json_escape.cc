#include "wire/json_escape.h"

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "base/assert.h"
#include "wire/unmask.h"

namespace taut::wire {
namespace {

constexpr size_t kStep = 16;

/// 0 for a byte that stands for itself, the letter behind the backslash, or 'u' for \u00XX.
constexpr std::array<char, 256> kEscapes = [] {
  std::array<char, 256> table{};
  for (size_t c = 0; c < 0x20; ++c) table[c] = 'u';
  table['\b'] = 'b';
  table['\f'] = 'f';
  table['\n'] = 'n';
  table['\r'] = 'r';
  table['\t'] = 't';
  table['"'] = '"';
  table['\\'] = '\\';
  return table;
}();

char escape_of(char c) {
  return kEscapes[static_cast<uint8_t>(c)];
}

/// Bytes that the escape takes beyond the one that it replaces.
size_t growth_of(char c) {
  const char escape = escape_of(c);
  return escape == 0 ? 0 : escape == 'u' ? 5 : 1;
}

/// One bit for each of the 16 bytes that needs an escape.
uint32_t find_special(__m128i bytes) {
  const __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
  const __m128i backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
  const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1F)), bytes);
  return static_cast<uint32_t>(_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, backslash), control)));
}

__m128i load(const char* at) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}

/// Length of the run of whole vectors at the beginning of `from` that need no escape; copied to `to` unless
/// that is null. REQUIRES: `to` holds n bytes.
using CleanRun = size_t (*)(const char* from, size_t n, char* to);

size_t clean_run_16(const char* from, size_t n, char* to) {
  size_t at = 0;
  for (; at + 16 <= n; at += 16) {
    const __m128i bytes = load(from + at);
    if (find_special(bytes) != 0) break;
    if (to != nullptr) _mm_storeu_si128(reinterpret_cast<__m128i*>(to + at), bytes);
  }
  return at;
}

__attribute__((target("avx512f,avx512bw"))) size_t clean_run_64(const char* from, size_t n, char* to) {
  const __m512i quote = _mm512_set1_epi8('"');
  const __m512i backslash = _mm512_set1_epi8('\\');
  const __m512i space = _mm512_set1_epi8(0x20);
  size_t at = 0;
  for (; at + 64 <= n; at += 64) {
    const __m512i bytes = _mm512_loadu_si512(from + at);
    const __mmask64 special = _mm512_cmpeq_epi8_mask(bytes, quote) |
                              _mm512_cmpeq_epi8_mask(bytes, backslash) | _mm512_cmplt_epu8_mask(bytes, space);
    if (special != 0) break;
    if (to != nullptr) _mm512_storeu_si512(to + at, bytes);
  }
  return at;
}

__attribute__((target("avx2"))) size_t clean_run_32(const char* from, size_t n, char* to) {
  const __m256i quote = _mm256_set1_epi8('"');
  const __m256i backslash = _mm256_set1_epi8('\\');
  const __m256i control = _mm256_set1_epi8(0x1F);
  size_t at = 0;
  for (; at + 32 <= n; at += 32) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + at));
    const __m256i special =
        _mm256_or_si256(_mm256_or_si256(_mm256_cmpeq_epi8(bytes, quote), _mm256_cmpeq_epi8(bytes, backslash)),
                        _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, control), bytes));
    if (_mm256_movemask_epi8(special) != 0) break;
    if (to != nullptr) _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + at), bytes);
  }
  return at;
}

CleanRun widest_clean_run() {
  if (unmask_supported(64)) return clean_run_64;
  return unmask_supported(32) ? clean_run_32 : clean_run_16;
}

const CleanRun kCleanRun = widest_clean_run();

char* write_escape(char* at, const char* end, char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const char escape = escape_of(c);
  TAUT_ASSERT(static_cast<size_t>(end - at) >= 1 + growth_of(c));
  *at++ = '\\';
  *at++ = escape;
  if (escape != 'u') return at;
  *at++ = '0';
  *at++ = '0';
  *at++ = kHex[static_cast<uint8_t>(c) >> 4];
  *at++ = kHex[static_cast<uint8_t>(c) & 0xF];
  return at;
}

}  // namespace

size_t json_escaped_size(std::string_view text) noexcept {
  size_t size = text.size();
  const char* from = text.data();
  const char* const end = from + text.size();
  from += kCleanRun(from, text.size(), nullptr);
  for (; static_cast<size_t>(end - from) >= kStep; from += kStep) {
    for (uint32_t special = find_special(load(from)); special != 0; special &= special - 1) {
      size += growth_of(from[std::countr_zero(special)]);
    }
  }
  for (; from != end; ++from) size += growth_of(*from);
  return size;
}

char* write_json_escaped(std::span<char> out, std::string_view text) noexcept {
  char* at = out.data();
  char* const out_end = at + out.size();
  const char* from = text.data();
  const char* const end = from + text.size();
  const size_t clean = kCleanRun(from, std::min(text.size(), out.size()), at);
  at += clean;
  from += clean;
  while (static_cast<size_t>(end - from) >= kStep && static_cast<size_t>(out_end - at) >= kStep) {
    const __m128i bytes = load(from);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(at),
                     bytes);  // whole; what follows an escape is written again
    const uint32_t special = find_special(bytes);
    if (special == 0) {
      at += kStep;
      from += kStep;
      continue;
    }
    const int before = std::countr_zero(special);
    at = write_escape(at + before, out_end, from[before]);
    from += before + 1;
  }
  for (; from != end; ++from) {
    if (escape_of(*from) != 0) {
      at = write_escape(at, out_end, *from);
    } else {
      TAUT_ASSERT(at != out_end);
      *at++ = *from;
    }
  }
  return at;
}

}  // namespace taut::wire
