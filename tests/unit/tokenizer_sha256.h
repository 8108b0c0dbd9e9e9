// SHA-256 (FIPS 180-4), for the fixtures that give hashes.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace inlay::testing {

class Sha256 {
 public:
  Sha256() {
    int n = 0;
    for (uint32_t p = 2; n < 64; ++p) {
      bool prime = true;
      for (uint32_t d = 2; d * d <= p; ++d) prime &= p % d != 0;
      if (!prime) continue;
      if (n < 8) state_[n] = fraction_bits(std::sqrt(static_cast<long double>(p)));
      round_[n++] = fraction_bits(std::cbrt(static_cast<long double>(p)));
    }
  }

  std::string hex(std::string text) {
    const uint64_t n_bits = text.size() * 8;
    text.push_back('\x80');
    while (text.size() % 64 != 56) text.push_back('\0');
    for (int shift = 56; shift >= 0; shift -= 8) text.push_back(static_cast<char>(n_bits >> shift));
    for (size_t at = 0; at < text.size(); at += 64) block(text.data() + at);
    std::string out;
    char digits[9];
    for (const uint32_t word : state_) std::snprintf(digits, sizeof(digits), "%08x", word), out += digits;
    return out;
  }

 private:
  static uint32_t fraction_bits(long double x) { return static_cast<uint32_t>((x - std::floor(x)) * 4294967296.0L); }

  void block(const char* data) {
    std::array<uint32_t, 64> w{};
    for (int i = 0; i < 64; ++i) w[i / 4] = w[i / 4] << 8 | static_cast<unsigned char>(data[i]);
    for (int i = 16; i < 64; ++i) {
      const uint32_t a = w[i - 15], b = w[i - 2];
      w[i] = w[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + w[i - 7] +
             (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
    }
    std::array<uint32_t, 8> s = state_;
    for (int i = 0; i < 64; ++i) {
      const uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]), majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
      const uint32_t a =
          s[7] + (std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25)) + choice + round_[i] + w[i];
      const uint32_t b = (std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22)) + majority;
      s = {a + b, s[0], s[1], s[2], s[3] + a, s[4], s[5], s[6]};
    }
    for (int i = 0; i < 8; ++i) state_[i] += s[i];
  }

  std::array<uint32_t, 8> state_{};
  std::array<uint32_t, 64> round_{};
};

inline std::string sha256(std::string_view text) { return Sha256().hex(std::string(text)); }

}  // namespace inlay::testing
