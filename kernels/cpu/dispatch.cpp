// What the processor and its operating system allow, asked once with CPUID and XGETBV.
// Sources of the bit numbers: Intel SDM volume 2A (CPUID), AMD APM volume 3.
#include "kernels/cpu/cpu_kernels.h"
#include "kernels/cpu/tables.h"

#if INLAY_X86_KERNELS
#include <cpuid.h>
#endif

namespace inlay::cpu {
namespace {

struct Features {
  bool avx2 = false;    // with FMA and F16C
  bool avx512 = false;  // F, BW, DQ, VL, VNNI
  bool avx512_bf16 = false;
};

#if INLAY_X86_KERNELS
// Register sets that the operating system saves: bits 1 and 2 SSE and AVX, 5 to 7 the AVX-512 ones.
uint64_t saved_state() {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low | static_cast<uint64_t>(high) << 32;
}

bool all(uint32_t value, uint32_t bits) { return (value & bits) == bits; }

Features detect() {
  Features out;
  uint32_t a, b, c, d;
  constexpr uint32_t kFma = 1u << 12, kOsXsave = 1u << 27, kAvx = 1u << 28, kF16c = 1u << 29;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !all(c, kFma | kOsXsave | kAvx | kF16c)) return out;
  const uint64_t state = saved_state();
  if ((state & 0x06) != 0x06) return out;

  uint32_t max_subleaf;
  constexpr uint32_t kAvx2 = 1u << 5;
  if (!__get_cpuid_count(7, 0, &max_subleaf, &b, &c, &d) || !all(b, kAvx2)) return out;
  out.avx2 = true;
  constexpr uint32_t kFDqBwVl = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31, kVnni = 1u << 11;
  out.avx512 = all(b, kFDqBwVl) && all(c, kVnni) && (state & 0xe6) == 0xe6;
  constexpr uint32_t kBf16 = 1u << 5;
  out.avx512_bf16 = out.avx512 && max_subleaf >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d) && all(a, kBf16);
  return out;
}
#else
Features detect() { return {}; }
#endif

const Features& features() {
  static const Features detected = detect();
  return detected;
}

}  // namespace

bool supported(Isa isa) {
  switch (isa) {
    case Isa::generic:
      return true;
    case Isa::avx2:
      return features().avx2;
    case Isa::avx512:
      return features().avx512;
    case Isa::count:
      break;
  }
  return false;
}

const Kernels& kernels(Isa isa) {
#if INLAY_X86_KERNELS
  if (isa == Isa::avx512) return features().avx512_bf16 ? avx512_bf16_table() : avx512_table();
  if (isa == Isa::avx2) return avx2_table();
#endif
  (void)isa;
  return generic_table();
}

Isa best_isa() {
  if (supported(Isa::avx512)) return Isa::avx512;
  if (supported(Isa::avx2)) return Isa::avx2;
  return Isa::generic;
}

}  // namespace inlay::cpu
