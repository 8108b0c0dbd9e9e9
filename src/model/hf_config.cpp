#include "src/model/hf_config.h"

#include <cmath>
#include <limits>

#include "src/formats/text.h"

namespace inlay {
namespace {

constexpr double kPi = 3.14159265358979323846;

// Absent, or null.
bool has(const JsonValue& object, std::string_view key) {
  const auto value = object.find(key);
  return value && !value->is_null();
}

Result<uint32_t> size_of(const JsonValue& object, std::string_view key) {
  INLAY_ASSIGN(const JsonValue value, object.get(key));
  INLAY_ASSIGN(const int64_t n, value.as_i64());
  if (n < 1 || n > std::numeric_limits<int32_t>::max()) {
    return error(Code::format, "%s is %lld, expected 1 to 2147483647", value.where().c_str(),
                 static_cast<long long>(n));
  }
  return static_cast<uint32_t>(n);
}

Result<double> positive_of(const JsonValue& object, std::string_view key) {
  INLAY_ASSIGN(const JsonValue value, object.get(key));
  INLAY_ASSIGN(const double v, value.as_f64());
  if (!(v > 0.0 && v <= double{std::numeric_limits<float>::max()})) {
    return error(Code::format, "%s is %g, expected a number above 0", value.where().c_str(), v);
  }
  return v;
}

Result<double> positive_or(const JsonValue& object, std::string_view key, double fallback) {
  if (!has(object, key)) return fallback;
  return positive_of(object, key);
}

class ConfigReader {
 public:
  ConfigReader(const JsonValue& config, const std::string& name) : config_(config), name_(name) {}

  Result<HfConfig> read() {
    INLAY_TRY(find_family());
    INLAY_TRY(refuse_what_is_missing());
    out_.metadata.text("general.architecture", out_.family->arch);
    out_.metadata.text("general.name", name_);
    for (const HfKey& key : out_.family->keys) INLAY_TRY(read_key(key));
    INLAY_ASSIGN(out_.n_vocab, size_of(config_, "vocab_size"));
    INLAY_TRY(read_heads());
    INLAY_TRY(read_rope());
    INLAY_ASSIGN(out_.tied_embeddings, config_.bool_or("tie_word_embeddings", out_.family->tied_by_default));
    return std::move(out_);
  }

 private:
  std::string arch_key(const char* name) const { return std::string(out_.family->arch) + "." + name; }

  Status find_family() {
    INLAY_ASSIGN(const JsonValue type, config_.get("model_type"));
    INLAY_ASSIGN(const std::string_view name, type.as_string());
    out_.family = find_hf_family(name);
    if (out_.family) return {};
    return error(Code::unsupported, "%s is %s, an architecture that is not supported (%s)", type.where().c_str(),
                 quote(name).c_str(), known_hf_families().c_str());
  }

  // What would give other results if it were ignored.
  Status refuse_what_is_missing() const {
    if (has(config_, "quantization_config")) {
      INLAY_ASSIGN(const JsonValue quantization, config_.get("quantization_config"));
      INLAY_ASSIGN(const std::string_view method, quantization.string_or("quant_method", ""));
      return error(Code::unsupported,
                   "%s.quant_method is %s: weights quantized so are not supported; F32, F16 and BF16 are",
                   quantization.where().c_str(), quote(method).c_str());
    }
    INLAY_ASSIGN(const std::string_view activation, config_.string_or("hidden_act", "silu"));
    if (activation != "silu") {
      INLAY_ASSIGN(const JsonValue value, config_.get("hidden_act"));
      return error(Code::unsupported, "%s is %s, expected 'silu'", value.where().c_str(), quote(activation).c_str());
    }
    return check_window();
  }

  Status check_window() const {
    INLAY_ASSIGN(const bool windows, config_.bool_or("use_sliding_window", out_.family->windows_by_default));
    if (!windows || !has(config_, "sliding_window")) return {};
    INLAY_ASSIGN(const uint32_t window, size_of(config_, "sliding_window"));
    INLAY_ASSIGN(const uint32_t context, size_of(config_, "max_position_embeddings"));
    if (window >= context) return {};
    INLAY_ASSIGN(const JsonValue value, config_.get("sliding_window"));
    return error(Code::unsupported, "%s is %u: sliding windows are not supported for model_type %s",
                 value.where().c_str(), window, out_.family->model_type);
  }

  Status read_key(const HfKey& key) {
    if (!has(config_, key.hf) && !key.required) {
      if (key.fallback > 0) out_.metadata.f32(arch_key(key.gguf), static_cast<float>(key.fallback), key.hf);
      return {};
    }
    if (key.kind == HfNumber::size) {
      INLAY_ASSIGN(const uint32_t n, size_of(config_, key.hf));
      out_.metadata.u32(arch_key(key.gguf), n, key.hf);
    } else {
      INLAY_ASSIGN(const double v, positive_of(config_, key.hf));
      out_.metadata.f32(arch_key(key.gguf), static_cast<float>(v), key.hf);
    }
    return {};
  }

  Status read_heads() {
    INLAY_ASSIGN(const uint32_t d_model, size_of(config_, "hidden_size"));
    INLAY_ASSIGN(const uint32_t n_heads, size_of(config_, "num_attention_heads"));
    if (has(config_, "head_dim")) {
      INLAY_ASSIGN(d_head_, size_of(config_, "head_dim"));
    } else if (out_.family->default_head > 0) {
      d_head_ = static_cast<uint32_t>(out_.family->default_head);
    } else if (d_model % n_heads == 0) {
      d_head_ = d_model / n_heads;
    } else {
      INLAY_ASSIGN(const JsonValue value, config_.get("hidden_size"));
      return error(Code::format,
                   "%s is %u, which is not a multiple of num_attention_heads %u, and no head_dim is given",
                   value.where().c_str(), d_model, n_heads);
    }
    out_.metadata.u32(arch_key("attention.key_length"), d_head_, "head_dim");
    out_.metadata.u32(arch_key("attention.value_length"), d_head_, "head_dim");
    return {};
  }

  Status read_rope() {
    // transformers 5 has one object where there were rope_theta and rope_scaling.
    const bool together = has(config_, "rope_parameters");
    const char* scaling_key = together ? "rope_parameters" : "rope_scaling";
    const JsonValue holder = together ? *config_.find(scaling_key) : config_;
    INLAY_ASSIGN(base_, positive_or(holder, "rope_theta", 10000.0));
    out_.metadata.f32(arch_key("rope.freq_base"), static_cast<float>(base_), "rope_theta");
    INLAY_ASSIGN(const double rotated, positive_or(config_, "partial_rotary_factor", 1.0));
    n_rot_ = static_cast<uint32_t>(std::min(rotated, 1.0) * d_head_);
    out_.metadata.u32(arch_key("rope.dimension_count"), n_rot_, "head_dim");
    if (!has(config_, scaling_key)) return {};
    return read_scaling(*config_.find(scaling_key));
  }

  Status read_scaling(const JsonValue& scaling) {
    if (!scaling.is_object()) return scaling.expected("an object");
    const char* kind_key = has(scaling, "rope_type") ? "rope_type" : "type";
    INLAY_ASSIGN(const std::string_view kind, scaling.string_or(kind_key, "default"));
    if (kind == "default") return {};
    if (kind == "llama3") return read_llama3(scaling);
    if (kind != "linear" && kind != "yarn") {
      return error(Code::unsupported,
                   "%s.%s is %s, a RoPE scaling that is not supported (default, linear, llama3, yarn)",
                   scaling.where().c_str(), kind_key, quote(kind).c_str());
    }
    out_.metadata.text(arch_key("rope.scaling.type"), kind);
    INLAY_ASSIGN(const double factor, positive_of(scaling, "factor"));
    out_.metadata.f32(arch_key("rope.scaling.factor"), static_cast<float>(factor), "rope_scaling.factor");
    return kind == "yarn" ? read_yarn(scaling, factor) : Status{};
  }

  Status read_yarn(const JsonValue& scaling, double factor) {
    for (const char* key : {"mscale", "mscale_all_dim"}) {
      if (has(scaling, key)) return error(Code::unsupported, "%s.%s is not supported", scaling.where().c_str(), key);
    }
    INLAY_ASSIGN(const bool truncates, scaling.bool_or("truncate", true));
    if (!truncates)
      return error(Code::unsupported, "%s.truncate is false, which is not supported", scaling.where().c_str());
    INLAY_ASSIGN(const uint32_t original, original_context(scaling));
    out_.metadata.u32(arch_key("rope.scaling.original_context_length"), original,
                      "rope_scaling.original_max_position_embeddings");
    // GGUF's factor multiplies the magnitude that the extension gives; Hugging Face's is the product.
    const double own = factor > 1.0 ? 1.0 + 0.1 * std::log(factor) : 1.0;
    INLAY_ASSIGN(const double magnitude, positive_or(scaling, "attention_factor", own));
    const double given_by_gguf = 1.0 + 0.1 * std::log(factor);
    out_.metadata.f32(arch_key("rope.scaling.attn_factor"), static_cast<float>(magnitude / given_by_gguf),
                      "rope_scaling.attention_factor");
    INLAY_ASSIGN(const double fast, positive_or(scaling, "beta_fast", 32.0));
    INLAY_ASSIGN(const double slow, positive_or(scaling, "beta_slow", 1.0));
    out_.metadata.f32(arch_key("rope.scaling.yarn_beta_fast"), static_cast<float>(fast), "rope_scaling.beta_fast");
    out_.metadata.f32(arch_key("rope.scaling.yarn_beta_slow"), static_cast<float>(slow), "rope_scaling.beta_slow");
    return {};
  }

  Result<uint32_t> original_context(const JsonValue& scaling) const {
    constexpr std::string_view kKey = "original_max_position_embeddings";
    if (has(scaling, kKey)) return size_of(scaling, kKey);
    return size_of(config_, has(config_, kKey) ? kKey : "max_position_embeddings");
  }

  // Llama 3.1: long waves are stretched by the factor, short ones are not, those between in parts.
  Status read_llama3(const JsonValue& scaling) {
    INLAY_ASSIGN(const double factor, positive_of(scaling, "factor"));
    INLAY_ASSIGN(const double low, positive_of(scaling, "low_freq_factor"));
    INLAY_ASSIGN(const double high, positive_of(scaling, "high_freq_factor"));
    INLAY_ASSIGN(const uint32_t original, size_of(scaling, "original_max_position_embeddings"));
    if (high <= low) {
      return error(Code::format, "%s.high_freq_factor is %g, expected above low_freq_factor %g",
                   scaling.where().c_str(), high, low);
    }
    for (uint32_t i = 0; i < n_rot_ / 2; ++i) {
      const double turns = original * std::pow(base_, -2.0 * i / n_rot_) / (2.0 * kPi);  // in the original context
      double divisor = 1.0;
      if (turns < low) {
        divisor = factor;
      } else if (turns <= high) {
        const double kept = (turns - low) / (high - low);
        divisor = 1.0 / ((1.0 - kept) / factor + kept);
      }
      out_.rope_factors.push_back(static_cast<float>(divisor));
    }
    return {};
  }

  const JsonValue config_;
  const std::string& name_;
  uint32_t d_head_ = 0, n_rot_ = 0;
  double base_ = 0;
  HfConfig out_;
};

}  // namespace

Result<HfConfig> read_hf_config(const JsonValue& config, const std::string& name) {
  return ConfigReader(config, name).read();
}

}  // namespace inlay
