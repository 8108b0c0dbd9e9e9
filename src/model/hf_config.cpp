#include "src/model/hf_config.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include "src/base/format.h"
#include "src/formats/text.h"
#include "src/model/arch_spec.h"
#include "src/model/hyper_parameters.h"
#include "src/model/known_keys.h"

namespace inlay {
namespace {

constexpr double kPi = 3.14159265358979323846;

// Absent, or null.
bool has(const JsonValue& object, std::string_view key) {
  const auto value = object.find(key);
  return value && !value->is_null();
}

// Files also write numbers as strings.
Result<double> number(const JsonValue& value) {
  if (!value.is_string()) return value.as_f64();
  INLAY_ASSIGN(const std::string_view text, value.as_string());
  const auto document = JsonDocument::parse(std::string(text), value.where());
  if (!document.ok() || document->root().type() != JsonType::number) return value.expected("a number");
  return document->root().as_f64();
}

// 64.0 and "64" are 64.
Result<int64_t> whole_number(const JsonValue& value) {
  if (auto exact = value.as_i64(); exact.ok()) return exact;
  INLAY_ASSIGN(const double v, number(value));
  if (v != std::floor(v) || std::abs(v) > 9007199254740992.0) return value.expected("a whole number");
  return static_cast<int64_t>(v);
}

Result<uint32_t> size_of(const JsonValue& object, std::string_view key, int64_t most = std::numeric_limits<int32_t>::max()) {
  INLAY_ASSIGN(const JsonValue value, object.get(key));
  INLAY_ASSIGN(const int64_t n, whole_number(value));
  if (n < 1 || n > most) {
    return error(Code::format, "%s is %lld, expected 1 to %lld", value.where().c_str(), static_cast<long long>(n),
                 static_cast<long long>(most));
  }
  return static_cast<uint32_t>(n);
}

Result<double> positive_of(const JsonValue& object, std::string_view key) {
  INLAY_ASSIGN(const JsonValue value, object.get(key));
  INLAY_ASSIGN(const double v, number(value));
  if (!(v > 0.0 && v <= double{std::numeric_limits<float>::max()})) {
    return error(Code::format, "%s is %g, expected a number above 0", value.where().c_str(), v);
  }
  return v;
}

Result<double> positive_or(const JsonValue& object, std::string_view key, double fallback) {
  if (!has(object, key)) return fallback;
  return positive_of(object, key);
}

// Beside the families'.
constexpr std::string_view kReadKeys[] = {
    "_sliding_window_pattern", "attention_bias", "auto_map", "compression_config", "head_dim", "hidden_act", "hidden_activation", "is_causal", "layer_types",
    "max_window_layers", "mlp_bias", "model_type", "no_rope_layer_interval", "no_rope_layers", "num_experts", "num_local_experts",
    "original_max_position_embeddings", "partial_rotary_factor", "qkv_bias", "quantization_config", "rope_local_base_freq", "rope_parameters",
    "rope_scaling", "rope_theta", "sliding_window", "sliding_window_pattern", "swiglu_limit", "tie_word_embeddings",
    "use_bidirectional_attention", "use_sliding_window"};

constexpr const char *kQkv[] = {"attn_q", "attn_k", "attn_v", "attn_qkv"}, *kAttentionOutput[] = {"attn_output"},
                     *kMlp[] = {"ffn_gate", "ffn_up", "ffn_down"};

class ConfigReader {
 public:
  ConfigReader(const JsonValue& config, const std::string& name) : root_(config), config_(config), name_(name) {}

  Result<HfConfig> read() {
    INLAY_TRY(find_family());
    INLAY_TRY(refuse_what_is_missing());
    INLAY_TRY(refuse_keys(config_, unread_config_keys()));
    if (out_.has_pictures) INLAY_TRY(refuse_keys(root_, unread_config_keys()));
    const bool is_outside = out_.has_pictures && !has(config_, "quantization_config") && !has(config_, "compression_config");
    INLAY_ASSIGN(out_.quantization, read_hf_quantization(is_outside ? root_ : config_));
    out_.metadata.text("general.architecture", out_.family->arch);
    out_.metadata.text("general.name", name_);
    INLAY_ASSIGN(n_layers_, size_of_family("num_hidden_layers", kMaxLayers));
    for (const HfKey& key : out_.family->keys) {
      if (find_key(key.hf) == &key) INLAY_TRY(read_key(key));
    }
    for (const HfKey& key : out_.family->more_keys) INLAY_TRY(read_key(key));
    INLAY_ASSIGN(out_.n_vocab, size_of_family("vocab_size"));
    INLAY_TRY(read_heads());
    INLAY_TRY(read_causality());
    INLAY_TRY(read_windows());
    INLAY_TRY(read_layers_without_rope());
    INLAY_TRY(read_rope());
    INLAY_TRY(read_biases());
    INLAY_ASSIGN(out_.tied_embeddings, config_.bool_or("tie_word_embeddings", out_.family->tied_by_default));
    if (out_.has_pictures) {  // what stands beside the text's part is of the whole model
      INLAY_ASSIGN(out_.tied_embeddings, root_.bool_or("tie_word_embeddings", out_.tied_embeddings));
    }
    const auto is_read = [&](std::string_view key) {
      return find_key(key) || std::find(std::begin(kReadKeys), std::end(kReadKeys), key) != std::end(kReadKeys);
    };
    std::vector<std::string> unknown = unknown_keys(config_, unread_config_keys(), is_read);
    if (out_.has_pictures) {
      for (const JsonMember& member : root_.members()) {
        const bool is_known = is_read(member.key) || std::ranges::find(kPictureKeys, member.key) != std::end(kPictureKeys);
        if (!is_known && !changes_nothing(unread_config_keys(), member.key, member.value)) unknown.push_back(shown_key(member.key));
      }
    }
    for (const char* key : {"rope_scaling", "rope_parameters"}) {
      if (!has(config_, key)) continue;
      for (std::string& inner : unknown_rope_keys(*config_.find(key))) unknown.push_back(std::move(inner));
    }
    out_.warnings = key_warning(root_, unknown);
    return std::move(out_);
  }

 private:
  // Of models that see pictures, beside the text's part.
  static constexpr std::string_view kPictureKeys[] = {"boi_token_index",   "eoi_token_index", "image_token_id", "image_token_index", "mm_tokens_per_image",
                                                      "text_config",       "vision_config"};

  std::string arch_key(const char* name) const { return std::string(out_.family->arch) + "." + name; }

  Status find_family() {
    INLAY_ASSIGN(const JsonValue type, config_.get("model_type"));
    INLAY_ASSIGN(const std::string_view name, type.as_string());
    out_.family = find_hf_family(name);
    if (out_.family) return {};
    out_.family = find_hf_family_inside(name);
    if (out_.family) {
      out_.has_pictures = true;
      INLAY_ASSIGN(config_, config_.get("text_config"));
      return config_.is_object() ? Status{} : config_.expected("an object");
    }
    return error(Code::unsupported, "%s is %s, an architecture that is not supported; supported are %s", type.where().c_str(),
                 quote(name).c_str(), known_hf_families().c_str());
  }

  // Of clamped SwiGLU; kernels/common/activation.h has the only one that there is.
  Status check_swiglu_limit() const {
    if (!has(config_, "swiglu_limit")) return {};
    INLAY_ASSIGN(const JsonValue value, config_.get("swiglu_limit"));
    INLAY_ASSIGN(const double limit, number(value));
    if (limit == 7.0) return {};
    return error(Code::unsupported, "%s is %g, expected 7", value.where().c_str(), limit);
  }

  // What would give other results if it were ignored.
  Status refuse_what_is_missing() const {
    INLAY_TRY(check_swiglu_limit());
    const std::string_view key = spelling_in(config_, "hidden_activation");
    INLAY_ASSIGN(const std::string_view activation, config_.string_or(key, out_.family->activation));
    if (activation != out_.family->activation) {
      INLAY_ASSIGN(const JsonValue value, config_.get(key));
      return error(Code::unsupported, "%s is %s, expected '%s'", value.where().c_str(), quote(activation).c_str(),
                   out_.family->activation);
    }
    return {};
  }

  Status read_causality() {
    INLAY_ASSIGN(const bool both_ways, config_.bool_or("use_bidirectional_attention", false));
    INLAY_ASSIGN(const bool causal, config_.bool_or("is_causal", true));
    if (!causal) both_ways_by_ = "is_causal";
    if (both_ways && (out_.family->can_see_later || has(root_, "auto_map"))) both_ways_by_ = "use_bidirectional_attention";
    if (both_ways && !both_ways_by_) {
      INLAY_ASSIGN(const JsonValue value, config_.get("use_bidirectional_attention"));
      return error(Code::unsupported, "%s is true, which transformers does not read of %s models, and the folder names no code of its own that does (auto_map): with is_causal false tokens see later ones",
                   value.where().c_str(), out_.family->model_type);
    }
    if (both_ways_by_) out_.metadata.boolean(arch_key("attention.causal"), false, both_ways_by_);
    return {};
  }

  // As the family reads it.
  const HfKey* find_key(std::string_view hf) const {
    for (const std::span<const HfKey> keys : {out_.family->more_keys, out_.family->keys}) {
      for (const HfKey& key : keys) {
        if (hf == key.hf) return &key;
      }
    }
    return nullptr;
  }

  Result<uint32_t> size_of_family(std::string_view hf, int64_t most = std::numeric_limits<int32_t>::max()) const {
    const HfKey* key = find_key(hf);
    if (!has(config_, spelling_in(config_, hf)) && key && key->fallback > 0) return static_cast<uint32_t>(key->fallback);
    return size_of(config_, spelling_in(config_, hf), most);
  }

  Status read_key(const HfKey& key) {
    const auto found = config_.find(key.hf);
    if (key.kind == HfNumber::flag) {
      INLAY_ASSIGN(const bool v, config_.bool_or(key.hf, key.fallback != 0));
      out_.metadata.boolean(arch_key(key.gguf), v);
      return {};
    }
    if (key.kind == HfNumber::cap && found && found->is_null()) {
      out_.metadata.f32(arch_key(key.gguf), 0, key.hf);
      return {};
    }
    if (!has(config_, spelling_in(config_, key.hf)) && !key.required && key.fallback == 0) return {};
    if (key.kind == HfNumber::size) {
      INLAY_ASSIGN(const uint32_t n, size_of_family(key.hf));
      out_.metadata.u32(arch_key(key.gguf), n, key.hf);
      return {};
    }
    INLAY_ASSIGN(double v, positive_or(config_, key.hf, key.fallback));
    if (key.kind == HfNumber::inverse_root) v = 1.0 / std::sqrt(v);
    out_.metadata.f32(arch_key(key.gguf), static_cast<float>(v), key.hf);
    return {};
  }

  Status read_heads() {
    INLAY_ASSIGN(const uint32_t d_model, size_of_family("hidden_size"));
    INLAY_ASSIGN(const uint32_t n_heads, size_of_family("num_attention_heads"));
    if (has(config_, "head_dim")) {
      INLAY_ASSIGN(d_head_, size_of(config_, "head_dim", kMaxHead));
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
    if (d_head_ > kMaxHead) {  // factors of RoPE are made for each two of them
      INLAY_ASSIGN(const JsonValue value, config_.get("hidden_size"));
      return error(Code::unsupported, "%s is %u, which gives each of num_attention_heads %u a size of %u, expected at most %u", value.where().c_str(),
                   d_model, n_heads, d_head_, static_cast<uint32_t>(kMaxHead));
    }
    out_.metadata.u32(arch_key("attention.key_length"), d_head_, "head_dim");
    out_.metadata.u32(arch_key("attention.value_length"), d_head_, "head_dim");
    return {};
  }

  Status read_windows() {
    const HfWindows& rule = out_.family->windows;
    if (!rule.possible) return {};
    INLAY_ASSIGN(const bool used, config_.bool_or("use_sliding_window", rule.by_default));
    uint32_t window = used ? static_cast<uint32_t>(rule.fallback) : 0;
    if (used && has(config_, "sliding_window")) {
      INLAY_ASSIGN(window, size_of(config_, "sliding_window"));
    }
    const WindowRule& of_gguf = find_arch(out_.family->arch)->window;
    if (window > 0 || of_gguf.fallback > 0)
      out_.metadata.u32(arch_key("attention.sliding_window"), window, "sliding_window");
    if (window == 0) return {};
    INLAY_ASSIGN(const std::vector<int32_t> has_window, layers_with_window(rule));
    const bool halves = both_ways_by_ && std::string_view(both_ways_by_) == "use_bidirectional_attention" && of_gguf.can_be_halved;
    if (both_ways_by_ && !halves && std::ranges::find(has_window, 1) != has_window.end()) {
      INLAY_ASSIGN(const JsonValue value, config_.get(both_ways_by_));
      return error(Code::unsupported, "%s lets tokens see later ones, and layers have a window of %u: windows to both sides are not supported here", value.where().c_str(), window);
    }
    write_pattern("attention.sliding_window_pattern", has_window, of_gguf.period);
    return {};
  }

  // 1 for each layer that has one, 0 for the others.
  Result<std::vector<int32_t>> layers_with_window(const HfWindows& rule) const {
    std::vector<int32_t> out;
    if (has(config_, "layer_types")) {
      INLAY_ASSIGN(const std::vector<std::string_view> types, layer_types());
      for (const std::string_view type : types) out.push_back(type == kSliding);
      return out;
    }
    auto period = static_cast<uint32_t>(rule.period);
    int64_t first = std::max(rule.first_layer, 0);
    if (const std::string_view key = spelling_in(config_, "sliding_window_pattern"); has(config_, key)) {
      INLAY_ASSIGN(period, size_of(config_, key));
    }
    if (rule.first_layer >= 0 && has(config_, "max_window_layers")) {
      INLAY_ASSIGN(const JsonValue value, config_.get("max_window_layers"));
      INLAY_ASSIGN(first, whole_number(value));
    }
    for (uint32_t i = 0; i < n_layers_; ++i) out.push_back(i >= first && (period == 1 || i % period < period - 1));
    return out;
  }

  Result<std::vector<std::string_view>> layer_types() const {
    INLAY_ASSIGN(const JsonValue list, config_.get("layer_types"));
    INLAY_ASSIGN(const JsonElements elements, list.as_array());
    std::vector<std::string_view> out;
    for (const JsonValue& element : elements) {
      INLAY_ASSIGN(const std::string_view type, element.as_string());
      if (type != kSliding && type != kFull) {
        return error(Code::unsupported, "%s is %s, a kind of layer that is not supported; supported are %s and %s",
                     element.where().c_str(), quote(type).c_str(), kFull.data(), kSliding.data());
      }
      out.push_back(type);
    }
    INLAY_TRY(check_one_for_each_layer(list, out.size()));
    return out;
  }

  Status check_one_for_each_layer(const JsonValue& list, size_t n) const {
    if (n == n_layers_) return {};
    return error(Code::format, "%s has %s, expected one for each of num_hidden_layers %u",
                 list.where().c_str(), counted(n, "element").c_str(), n_layers_);
  }

  // Only what GGUF's family does not say by itself.
  void write_pattern(const char* name, std::span<const int32_t> pattern, int32_t period) {
    for (size_t i = 0; i < pattern.size(); ++i) {
      const bool usual = period <= 1 || static_cast<int32_t>(i) % period < period - 1;
      if (usual == (pattern[i] != 0)) continue;
      out_.metadata.i32s(arch_key(name), pattern);
      return;
    }
  }

  Status read_biases() {
    const std::pair<const HfBias&, std::span<const char* const>> all[] = {
        {out_.family->qkv_bias, kQkv}, {out_.family->output_bias, kAttentionOutput}, {out_.family->mlp_bias, kMlp}};
    for (const auto& [rule, stems] : all) {
      HfBiasChoice choice = {.stems = stems, .key = rule.key, .value = rule.value};
      if (rule.key) {
        choice.given = has(config_, rule.key);
        INLAY_ASSIGN(choice.value, config_.bool_or(rule.key, rule.value));
      }
      out_.biases.push_back(choice);
    }
    return {};
  }

  Status read_layers_without_rope() {
    if (!out_.family->layers_without_rope) return {};
    const int32_t usual_period = find_arch(out_.family->arch)->no_rope_period;
    std::vector<int32_t> has_rope;
    if (has(config_, "no_rope_layers")) {  // which in spite of its name has 1 where there is RoPE
      INLAY_ASSIGN(const JsonValue list, config_.get("no_rope_layers"));
      INLAY_ASSIGN(const JsonElements elements, list.as_array());
      for (const JsonValue& element : elements) {
        INLAY_ASSIGN(const int64_t n, element.as_i64());
        has_rope.push_back(n != 0);
      }
      INLAY_TRY(check_one_for_each_layer(list, has_rope.size()));
    } else {
      auto period = static_cast<uint32_t>(usual_period);
      if (has(config_, "no_rope_layer_interval")) {
        INLAY_ASSIGN(period, size_of(config_, "no_rope_layer_interval"));
      }
      for (uint32_t i = 0; i < n_layers_; ++i) has_rope.push_back((i + 1) % period != 0);
    }
    write_pattern("rope.layers", has_rope, usual_period);
    return {};
  }

  // The object with RoPE's values. transformers 5 has one, rope_parameters, where there were rope_theta and
  // rope_scaling; where both objects are filled, the older name counts.
  Result<std::optional<JsonValue>> rope_object() const {
    std::string_view key = spelling_in(config_, "rope_scaling");
    if (has(config_, key) && config_.find(key)->is_object() && config_.find(key)->size() == 0) key = "rope_parameters";
    if (!has(config_, key)) return std::optional<JsonValue>();
    const JsonValue object = *config_.find(key);
    if (!object.is_object()) return object.expected("an object");
    return object.size() > 0 ? std::optional(object) : std::nullopt;
  }

  // Where layers with a window have a RoPE of their own, rope_parameters has an object for each kind of layer; null: none.
  Result<std::optional<JsonValue>> rope_of_layers(const std::optional<JsonValue>& objects, std::string_view layers) const {
    if (!objects || !has(*objects, layers)) return std::optional<JsonValue>();
    const JsonValue object = *objects->find(layers);
    return object.is_object() ? Result<std::optional<JsonValue>>(object) : object.expected("an object");
  }

  Status read_rope() {
    INLAY_ASSIGN(std::optional<JsonValue> own, rope_object());
    std::optional<JsonValue> parameters = has(config_, "rope_parameters") ? config_.find("rope_parameters") : std::nullopt;
    if (own && (has(*own, kFull) || has(*own, kSliding))) parameters = own, own.reset();
    INLAY_ASSIGN(const std::optional<JsonValue> full, rope_of_layers(parameters, kFull));
    INLAY_ASSIGN(const std::optional<JsonValue> sliding, rope_of_layers(parameters, kSliding));
    // rope_scaling beside objects for each kind of layer stands for those of layers that see all, value by value.
    if (!own) own = full;
    INLAY_ASSIGN(const double stated, positive_or(config_, "rope_theta", out_.family->default_base));
    INLAY_ASSIGN(const double of_full, full ? positive_or(*full, "rope_theta", stated) : Result<double>(stated));
    INLAY_ASSIGN(base_, own ? positive_or(*own, "rope_theta", of_full) : Result<double>(of_full));
    out_.metadata.f32(arch_key("rope.freq_base"), static_cast<float>(base_), "rope_theta");
    INLAY_TRY(read_rope_of_windows(sliding, stated));
    INLAY_ASSIGN(double rotated, positive_or(config_, "partial_rotary_factor", 1.0));
    if (own) {
      INLAY_ASSIGN(rotated, positive_or(*own, "partial_rotary_factor", rotated));
    }
    n_rot_ = static_cast<uint32_t>(std::min(rotated, 1.0) * d_head_);
    out_.metadata.u32(arch_key("rope.dimension_count"), n_rot_, "head_dim");
    if (own && full && !has(*own, spelling_in(*own, "rope_type"))) own = full;
    return own ? read_scaling(*own) : Status{};
  }

  // `sliding`: the object of layers with a window, if there is one. `stated`: the base that stands beside all objects.
  Status read_rope_of_windows(const std::optional<JsonValue>& sliding, double stated) {
    double base = out_.family->local_base;
    if (base > 0) {
      INLAY_ASSIGN(base, positive_or(config_, "rope_local_base_freq", base));
    }
    if (sliding) {
      INLAY_ASSIGN(base, positive_or(*sliding, "rope_theta", base > 0 ? base : stated));
      INLAY_ASSIGN(const std::string_view kind, sliding->string_or(spelling_in(*sliding, "rope_type"), "default"));
      if (kind != "default") {
        return error(Code::unsupported, "%s scales by %s: only layers that see all may have a RoPE scaling",
                     sliding->where().c_str(), quote(kind).c_str());
      }
      INLAY_ASSIGN(const double rotated, positive_or(*sliding, "partial_rotary_factor", 1.0));
      if (rotated != 1.0) {
        return error(Code::unsupported, "%s.partial_rotary_factor is %g, expected 1", sliding->where().c_str(), rotated);
      }
    }
    if (base > 0) out_.metadata.f32(arch_key("rope.freq_base_swa"), static_cast<float>(base), "rope_local_base_freq");
    return {};
  }

  Status read_scaling(const JsonValue& scaling) {
    if (!scaling.is_object()) return scaling.expected("an object");
    const std::string_view kind_key = spelling_in(scaling, "rope_type");
    INLAY_ASSIGN(const std::string_view kind, scaling.string_or(kind_key, "default"));
    if (kind == "default") return {};
    if (kind == "llama3") return read_llama3(scaling);
    if (kind == "longrope" || kind == "su") return read_longrope(scaling);
    if (kind != "linear" && kind != "yarn") {
      return error(Code::unsupported,
                   "%s.%s is %s, a RoPE scaling that is not supported; supported are default, linear, llama3, longrope and yarn",
                   scaling.where().c_str(), std::string(kind_key).c_str(), quote(kind).c_str());
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
    if (truncates != find_arch(out_.family->arch)->yarn_truncates) {
      out_.metadata.boolean(arch_key("rope.scaling.truncate"), truncates);
    }
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

  // GGUF files of such models do not name the scaling: they have its factors.
  Status read_longrope(const JsonValue& scaling) {
    for (const char* key : {"short_mscale", "long_mscale"}) {
      if (has(scaling, key)) return error(Code::unsupported, "%s.%s is not supported", scaling.where().c_str(), key);
    }
    for (const auto& [key, tensor] :
         {std::pair{"short_factor", "rope_factors_short.weight"}, {"long_factor", "rope_factors_long.weight"}}) {
      INLAY_ASSIGN(std::vector<float> factors, factors_of(scaling, key));
      out_.rope_factors.emplace_back(tensor, std::move(factors));
    }
    INLAY_ASSIGN(const uint32_t original, original_context(scaling));
    INLAY_ASSIGN(const uint32_t extended, size_of_family("max_position_embeddings"));
    double factor = static_cast<double>(extended) / original;
    if (!has(config_, kOriginalContext)) {
      INLAY_ASSIGN(factor, positive_or(scaling, "factor", factor));
    }
    const double own = factor > 1.0 ? std::sqrt(1.0 + std::log(factor) / std::log(static_cast<double>(original))) : 1.0;
    INLAY_ASSIGN(const double magnitude, positive_or(scaling, "attention_factor", own));
    out_.metadata.u32(arch_key("rope.scaling.original_context_length"), original, kOriginalContext);
    out_.metadata.f32(arch_key("rope.scaling.attn_factor"), static_cast<float>(magnitude),
                      "rope_scaling.attention_factor");
    return {};
  }

  Result<std::vector<float>> factors_of(const JsonValue& scaling, const char* key) const {
    INLAY_ASSIGN(const JsonValue list, scaling.get(key));
    INLAY_ASSIGN(const JsonElements elements, list.as_array());
    std::vector<float> out;
    for (const JsonValue& element : elements) {
      INLAY_ASSIGN(const double factor, number(element));
      out.push_back(static_cast<float>(factor));
    }
    if (out.size() == n_rot_ / 2) return out;
    return error(Code::format, "%s has %s, expected %u: half of the rotated dimensions", list.where().c_str(),
                 counted(out.size(), "element").c_str(), n_rot_ / 2);
  }

  // The one beside the object counts where both have it.
  Result<uint32_t> original_context(const JsonValue& scaling) const {
    if (has(config_, kOriginalContext)) return size_of(config_, kOriginalContext);
    if (has(scaling, kOriginalContext)) return size_of(scaling, kOriginalContext);
    return size_of_family("max_position_embeddings");
  }

  // Llama 3.1: long waves are stretched by the factor, short ones are not, those between in parts.
  Status read_llama3(const JsonValue& scaling) {
    INLAY_ASSIGN(const double factor, positive_of(scaling, "factor"));
    INLAY_ASSIGN(const double low, positive_of(scaling, "low_freq_factor"));
    INLAY_ASSIGN(const double high, positive_of(scaling, "high_freq_factor"));
    INLAY_ASSIGN(const uint32_t original, original_context(scaling));
    if (high <= low) {
      return error(Code::format, "%s.high_freq_factor is %g, expected above low_freq_factor %g",
                   scaling.where().c_str(), high, low);
    }
    std::vector<float> factors;
    for (uint32_t i = 0; i < n_rot_ / 2; ++i) {
      const double turns = original * std::pow(base_, -2.0 * i / n_rot_) / (2.0 * kPi);  // in the original context
      double divisor = 1.0;
      if (turns < low) {
        divisor = factor;
      } else if (turns <= high) {
        const double kept = (turns - low) / (high - low);
        divisor = 1.0 / ((1.0 - kept) / factor + kept);
      }
      factors.push_back(static_cast<float>(divisor));
    }
    out_.rope_factors.emplace_back("rope_freqs.weight", std::move(factors));
    return {};
  }

  static constexpr std::string_view kSliding = "sliding_attention", kFull = "full_attention";
  static constexpr std::string_view kOriginalContext = "original_max_position_embeddings";

  const JsonValue root_;
  JsonValue config_;  // the family's part
  const std::string& name_;
  uint32_t n_layers_ = 0, d_head_ = 0, n_rot_ = 0;
  const char* both_ways_by_ = nullptr;  // the key that lets tokens see later ones; null: they do not
  double base_ = 0;
  HfConfig out_;
};

}  // namespace

std::span<const std::string_view> hf_config_keys() { return kReadKeys; }

Result<HfConfig> read_hf_config(const JsonValue& config, const std::string& name) {
  return ConfigReader(config, name).read();
}

}  // namespace inlay
