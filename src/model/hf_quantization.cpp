#include "src/model/hf_quantization.h"

#include <algorithm>
#include <string>

#include "src/formats/text.h"

namespace inlay {
namespace {

class QuantizationReader {
 public:
  explicit QuantizationReader(const JsonValue& value) : value_(value) {}

  Result<HfQuantization> read() {
    INLAY_ASSIGN(const std::string_view method, value_.string_or("quant_method", ""));
    Status status;
    if (method == "mxfp4") return out_;  // of experts alone, whose tensors say what they are: hf_experts.h
    if (method == "gptq") {
      status = read_gptq();
    } else if (method == "awq") {
      status = read_awq();
    } else if (method == "fp8" || method == "fbgemm_fp8") {
      status = read_fp8();
    } else if (method == "compressed-tensors") {
      status = read_compressed();
    } else {
      status = refuse("quant_method", method, "awq, compressed-tensors, fbgemm_fp8, fp8, gptq or mxfp4");
    }
    INLAY_TRY(std::move(status));
    return out_;
  }

 private:
  Status refuse(const char* key, std::string_view found, const char* expected) const {
    return error(Code::unsupported, "%s.%s is %s, expected %s", value_.where().c_str(), key, quote(found).c_str(),
                 expected);
  }

  Status read_bits(bool may_be_8) {
    INLAY_ASSIGN(const int64_t bits, value_.i64_or("bits", 0));
    if (bits != 4 && (bits != 8 || !may_be_8)) {
      return error(Code::unsupported, "%s.bits is %lld, expected %s", value_.where().c_str(),
                   static_cast<long long>(bits), may_be_8 ? "4 or 8" : "4");
    }
    out_.bits = static_cast<int32_t>(bits);
    INLAY_ASSIGN(const int64_t group, value_.i64_or("group_size", -1));
    if (group != -1 && group < 1) {
      return error(Code::format, "%s.group_size is %lld, expected -1 or at least 1", value_.where().c_str(),
                   static_cast<long long>(group));
    }
    out_.group_size = std::max<int64_t>(group, 0);
    return {};
  }

  Status read_gptq() {
    out_.packing = HfPacking::gptq;
    INLAY_TRY(read_bits(true));
    INLAY_ASSIGN(const bool marlin, value_.bool_or("is_marlin_format", false));
    INLAY_ASSIGN(const std::string_view form, value_.string_or("checkpoint_format", marlin ? "marlin" : "gptq"));
    if (form != "gptq" && form != "gptq_v2") return refuse("checkpoint_format", form, "gptq or gptq_v2");
    out_.zeros_less_one = form == "gptq";
    return {};
  }

  Status read_awq() {
    out_.packing = HfPacking::awq;
    INLAY_TRY(read_bits(false));
    INLAY_ASSIGN(const std::string_view version, value_.string_or("version", "gemm"));
    if (version != "gemm" && version != "GEMM") return refuse("version", version, "gemm");
    INLAY_ASSIGN(const bool zero_point, value_.bool_or("zero_point", true));
    if (!zero_point) return refuse("zero_point", "false", "true");
    return {};
  }

  Status read_fp8() {
    out_.packing = HfPacking::fp8;
    INLAY_ASSIGN(const std::string_view form, value_.string_or("fmt", "e4m3"));
    if (form != "e4m3" && form != "float8_e4m3fn") return refuse("fmt", form, "e4m3");
    const auto block = value_.find("weight_block_size");
    if (!block || block->is_null()) return {};
    return read_block(*block);
  }

  Status read_block(const JsonValue& block) {
    INLAY_ASSIGN(const JsonElements sizes, block.as_array());
    if (sizes.size() != 2) return block.expected("an array of two sizes");
    int64_t n[2];
    size_t i = 0;
    for (const JsonValue size : sizes) {
      INLAY_ASSIGN(n[i], size.as_i64());
      if (n[i++] < 1) return size.expected("a number of at least 1");
    }
    out_.block_rows = n[0], out_.block_cols = n[1];
    return {};
  }

  Status read_compressed() {
    out_.packing = HfPacking::compressed;
    constexpr std::string_view kFormats[] = {"pack-quantized",  "float-quantized", "int-quantized",
                                             "naive-quantized", "dense",           "mixed-precision"};
    INLAY_ASSIGN(const std::string_view form, value_.string_or("format", "dense"));
    if (std::find(std::begin(kFormats), std::end(kFormats), form) == std::end(kFormats))
      return refuse("format", form, "pack-quantized, float-quantized, int-quantized or naive-quantized");
    const auto sparsity = value_.find("sparsity_config");
    if (sparsity && sparsity->is_object()) {
      INLAY_ASSIGN(const std::string_view sparse, sparsity->string_or("format", "dense"));
      if (sparse != "dense") return refuse("sparsity_config.format", sparse, "dense");
    }
    const auto groups = value_.find("config_groups");
    if (!groups) return {};
    const JsonMembers members = groups->members();
    for (const JsonMember& group : members) {
      const auto weights = group.value.find("weights");
      const auto block = weights ? weights->find("block_structure") : std::nullopt;
      if (block && !block->is_null()) INLAY_TRY(read_block(*block));
    }
    return {};
  }

  const JsonValue value_;
  HfQuantization out_;
};

}  // namespace

Result<HfQuantization> read_hf_quantization(const JsonValue& config) {
  for (const char* key : {"quantization_config", "compression_config"}) {
    const auto value = config.find(key);
    if (value && !value->is_null()) return QuantizationReader(*value).read();
  }
  return HfQuantization{};
}

}  // namespace inlay
