#include "src/model/known_keys.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "src/base/format.h"

namespace inlay {
namespace {

constexpr KeySpelling kSpellings[] = {{"rope.scaling.factor", "rope.scale_linear"}};

constexpr ConfigSpellings kConfigSpellings[] = {
    {{"hidden_activation", "hidden_act"}},
    {{"num_experts", "num_local_experts"}},
    {{"num_experts_per_tok", "experts_per_token", "num_experts_per_token"}},
    {{"num_local_experts", "num_experts"}},
    {{"rope_scaling", "rope_parameters"}},
    {{"rope_type", "type"}},
    {{"sliding_window_pattern", "_sliding_window_pattern"}},
};

constexpr UnreadKey kGgufKeys[] = {
    {"attention.clamp_kqv", "0", true},
    {"attention.layer_norm_epsilon"},
    {"attention.max_alibi_bias", "0", true},
    {"attention.scale_depth", "1"},
    {"attention.temperature_length", "0", true},
    {"embedding_scale", "1"},
    {"expert_feed_forward_length"},
    {"expert_gating_func", "1"},
    {"expert_group_count", "1"},
    {"expert_group_used_count", "1"},
    {"expert_shared_count"},
    {"expert_shared_feed_forward_length"},
    {"expert_used_count"},
    {"expert_weights_scale", "1"},
    {"interleave_moe_layer_step", "1"},
    {"leading_dense_block_count", "0"},
    {"logit_scale", "1"},
    {"nextn_predict_layers", "0"},
    {"pooling_type"},  // read when texts are embedded
    {"residual_scale", "1"},
    {"rope.dimension_sections"},  // of pictures: in text all positions are the same
    {"rope.freq_base_swa"},
    {"rope.scale_linear"},
    {"rope.scaling.finetuned"},
    {"rope.scaling.yarn_attn_factor", "1"},
    {"rope.scaling.yarn_ext_factor", "1"},
    {"swin_norm", "false", true},
    {"tensor_data_layout"},
    {"tokenizer.ggml.add_bos_token"},  // of models without such a token
    {"tokenizer.ggml.add_eos_token"},
    {"tokenizer.ggml.add_sep_token"},
    {"tokenizer.ggml.add_space_prefix"},
    {"tokenizer.ggml.cls_token_id"},
    {"tokenizer.ggml.fim_mid_token_id"},
    {"tokenizer.ggml.fim_pre_token_id"},
    {"tokenizer.ggml.fim_suf_token_id"},
    {"tokenizer.ggml.mask_token_id"},
    {"tokenizer.ggml.merges"},  // SentencePiece's, which follow from the scores
    {"tokenizer.ggml.middle_token_id"},
    {"tokenizer.ggml.normalizer.lowercase", "false"},
    {"tokenizer.ggml.padding_token_id"},
    {"tokenizer.ggml.pre"},
    {"tokenizer.ggml.precompiled_charsmap"},
    {"tokenizer.ggml.prefix_token_id"},
    {"tokenizer.ggml.remove_extra_whitespaces"},
    {"tokenizer.ggml.scores"},
    {"tokenizer.ggml.seperator_token_id"},
    {"tokenizer.ggml.suffix_token_id"},
    {"tokenizer.ggml.suppress_tokens", "none"},
    {"tokenizer.ggml.token_type_count"},
    {"tokenizer.ggml.unknown_token_id"},
    {"use_parallel_residual", "false", true},
};

constexpr UnreadKey kConfigKeys[] = {
    {"_attn_implementation"},
    {"_attn_implementation_autoset"},
    {"_attn_implementation_internal"},
    {"_commit_hash"},
    {"_experts_implementation"},
    {"_flash_attn_2_enabled"},
    {"_name_or_path"},
    {"add_cross_attention", "false", true},
    {"architectures"},
    {"attention_dropout"},
    {"attention_probs_dropout_prob"},
    {"attn_implementation"},
    {"auto_map"},
    {"bad_words_ids", "none"},
    {"begin_suppress_tokens", "none"},
    {"bos_token_id"},
    {"cache_implementation"},
    {"chunk_size_feed_forward"},
    {"cross_attention_hidden_size"},
    {"decoder_sparse_step"},  // the tensors say it
    {"decoder_start_token_id"},
    {"diversity_penalty"},
    {"do_sample"},
    {"dtype"},
    {"early_stopping"},
    {"embd_pdrop"},
    {"encoder_no_repeat_ngram_size"},
    {"encoder_repetition_penalty", "1"},
    {"eos_token_id"},
    {"experts_implementation"},
    {"experts_per_token"},
    {"exponential_decay_length_penalty", "none"},
    {"finetuning_task"},
    {"forced_bos_token_id", "none"},
    {"forced_eos_token_id", "none"},
    {"full_attn_mod"},
    {"hidden_dropout"},
    {"id2label"},
    {"initial_context_length"},
    {"initializer_range"},
    {"interpolate_factor"},
    {"is_decoder"},
    {"is_encoder_decoder", "false", true},
    {"is_llama_config"},
    {"label2id"},
    {"language"},
    {"layer_types"},
    {"length_penalty"},
    {"max_length"},
    {"max_new_tokens"},
    {"max_window_layers"},
    {"min_length"},
    {"mlp_only_layers"},  // likewise
    {"model_max_length"},
    {"name_or_path"},
    {"no_repeat_ngram_size"},
    {"num_beam_groups"},
    {"num_beams"},
    {"num_experts"},
    {"num_experts_per_tok"},
    {"num_experts_per_token"},
    {"num_labels"},
    {"num_return_sequences"},
    {"output_attentions"},
    {"output_hidden_states"},
    {"output_router_logits"},
    {"output_scores"},
    {"pad_token_id"},
    {"per_layer_config", "none", true},
    {"prefix"},
    {"pretraining_tp"},
    {"problem_type"},
    {"pruned_heads", "none", true},
    {"quantization_config"},
    {"remove_invalid_values"},
    {"repetition_penalty"},
    {"resid_pdrop"},
    {"return_dict"},
    {"return_dict_in_generate"},
    {"rope_interleaved"},
    {"router_aux_loss_coef"},
    {"router_jitter_noise"},
    {"sep_token_id"},
    {"sliding_window"},  // of families whose layers have none
    {"suppress_tokens", "none"},
    {"swiglu_alpha", "1.702", true},
    {"task_specific_params"},
    {"temperature"},
    {"tf_legacy_loss"},
    {"tie_encoder_decoder"},
    {"tokenizer_class"},
    {"top_k"},
    {"top_p"},
    {"torch_dtype"},
    {"torchscript"},
    {"transformers.js_config"},
    {"transformers_version"},
    {"transformers_weights"},
    {"typical_p"},
    {"unsloth_fixed"},
    {"unsloth_version"},
    {"use_bfloat16"},
    {"use_cache"},
    {"use_flash_attention_2"},
    {"use_mrope"},
    {"use_qk_norm"},  // the tensors say it
    {"use_sliding_window"},
};

// Other programs take their sampling's defaults from here. Callers of this engine say how they draw.
constexpr const char* kGenerationRead[] = {"bos_token_id", "eos_token_id", "pad_token_id"};
constexpr UnreadKey kGenerationKeys[] = {
    {"_commit_hash"},
    {"_from_model_config"},
    {"assistant_confidence_threshold"},
    {"assistant_early_exit"},
    {"assistant_ensemble_weight"},
    {"assistant_lookbehind"},
    {"bad_words_ids", "none"},
    {"begin_suppress_tokens", "none"},
    {"cache_config"},
    {"cache_implementation"},
    {"chat_format"},
    {"compile_config"},
    {"constraints", "none"},
    {"continuous_batching_config"},
    {"decoder_start_token_id"},
    {"disable_compile"},
    {"diversity_penalty"},
    {"do_sample"},
    {"dola_layers", "none"},
    {"early_stopping"},
    {"encoder_no_repeat_ngram_size"},
    {"encoder_repetition_penalty", "1"},
    {"epsilon_cutoff"},
    {"eta_cutoff"},
    {"exponential_decay_length_penalty", "none"},
    {"force_words_ids", "none"},
    {"forced_bos_token_id", "none"},
    {"forced_eos_token_id", "none"},
    {"guidance_scale", "1"},
    {"is_assistant"},
    {"length_penalty"},
    {"low_memory"},
    {"max_cache_len"},
    {"max_length"},
    {"max_matching_ngram_size"},
    {"max_new_tokens"},
    {"max_time"},
    {"max_window_size"},
    {"min_length"},
    {"min_new_tokens"},
    {"min_p"},
    {"no_repeat_ngram_size"},
    {"num_assistant_tokens"},
    {"num_assistant_tokens_schedule"},
    {"num_beam_groups"},
    {"num_beams"},
    {"num_return_sequences"},
    {"output_attentions"},
    {"output_hidden_states"},
    {"output_logits"},
    {"output_scores"},
    {"penalty_alpha"},
    {"prefill_chunk_size"},
    {"prompt_lookup_num_tokens"},
    {"remove_invalid_values"},
    {"renormalize_logits"},
    {"repetition_penalty"},
    {"return_dict_in_generate"},
    {"sequence_bias", "none"},
    {"speculation_type"},
    {"stop_strings", "none"},
    {"suppress_tokens", "none"},
    {"target_lookbehind"},
    {"temperature"},
    {"token_healing"},
    {"top_h"},
    {"top_k"},
    {"top_p"},
    {"transformers_version"},
    {"trust_remote_code"},
    {"typical_p"},
    {"use_cache"},
    {"use_mtp"},
    {"watermarking_config", "none"},
};

constexpr const char* kTokenizerRead[] = {"add_bos_token", "add_eos_token", "bos_token", "chat_template",
                                          "eos_token",     "pad_token",     "unk_token"};
constexpr UnreadKey kTokenizerKeys[] = {
    {"_commit_hash"},
    {"add_prefix_space"},      // tokenizer.json says it
    {"added_tokens_decoder"},  // likewise
    {"additional_special_tokens"},
    {"audio_token"},
    {"auto_map"},
    {"backend"},
    {"boa_token"},
    {"boi_token"},
    {"chat_control_tokens"},
    {"clean_up_tokenization_spaces"},
    {"cls_token"},
    {"device_map"},
    {"do_basic_tokenize"},
    {"do_lower_case"},
    {"eoa_token"},
    {"eoi_token"},
    {"errors"},
    {"extra_ids"},
    {"extra_special_tokens"},
    {"files_loaded"},
    {"fix_mistral_regex", "false"},
    {"from_slow"},
    {"gguf_file"},
    {"image_token"},
    {"init_inputs"},
    {"is_local"},
    {"legacy"},
    {"local_files_only"},
    {"mask_token"},
    {"max_length"},
    {"max_target_length"},
    {"merges_file"},
    {"model_input_names"},
    {"model_max_length"},
    {"model_specific_special_tokens"},
    {"name_or_path"},
    {"never_split"},
    {"pad_to_multiple_of"},
    {"pad_token_type_id"},
    {"padding"},
    {"padding_side"},
    {"processor_class"},
    {"response_schema"},
    {"response_template"},
    {"sanitize_control_tokens"},
    {"save_jinja_files"},
    {"sep_token"},
    {"sp_model_kwargs"},
    {"spaces_between_special_tokens"},
    {"special_tokens_map_file"},
    {"split_special_tokens", "false"},
    {"stride"},
    {"strip_accents"},
    {"tokenize_chinese_chars"},
    {"tokenizer_class"},
    {"tokenizer_file"},
    {"trim_offsets"},
    {"truncation"},
    {"truncation_side"},
    {"truncation_strategy"},
    {"trust_remote_code"},
    {"unk_id"},
    {"use_default_system_prompt"},
    {"use_fast"},
    {"verbose"},
    {"video_token"},
    {"vision_bos_token"},
    {"vision_eos_token"},
    {"vocab_file"},
};

// Of pictures and sounds, but for the template.
constexpr const char* kTemplateRead[] = {"chat_template"};
constexpr UnreadKey kProcessorKeys[] = {
    {"_processor_class"},
    {"audio_processor"},
    {"audio_seq_length"},
    {"audio_token"},
    {"auto_map"},
    {"feature_extractor"},
    {"image_processor"},
    {"image_seq_length"},
    {"image_token"},
    {"num_additional_image_tokens"},
    {"patch_size"},
    {"processor_class"},
    {"transformers_version"},
    {"video_processor"},
    {"video_token"},
    {"vision_feature_select_strategy"},
};

// Of sentence-transformers; src/model/hf_pooling.cpp reads them.
constexpr const char* kSentenceRead[] = {"do_lower_case", "max_seq_length"};
constexpr UnreadKey kSentenceKeys[] = {
    {"config_args", "none"},
    {"config_kwargs", "none"},
    {"document_length", "none"},
    {"modality_config", R"({"text":{"method":"forward","method_output_name":"last_hidden_state"}})"},
    {"model_args", "none"},
    {"model_kwargs", "none"},
    {"module_output_name", "token_embeddings"},
    {"processing_kwargs", "none"},
    {"processor_kwargs", "none"},
    {"query_expansion", "false"},
    {"query_length", "none"},
    {"tokenizer_args", "none"},
    {"transformer_task", "feature-extraction"},
    {"unpad_inputs"},
};
constexpr const char* kPromptsRead[] = {"default_prompt_name", "prompts", "truncate_dim"};
constexpr UnreadKey kPromptsKeys[] = {
    {"__version__"},
    {"model_type", "SentenceTransformer"},
    {"similarity_fn_name"},  // how programs compare vectors
};
constexpr const char* kPoolingRead[] = {"include_prompt",          "pooling_mode",         "pooling_mode_cls_token",           "pooling_mode_lasttoken",
                                        "pooling_mode_max_tokens", "pooling_mode_mean_tokens", "pooling_mode_mean_sqrt_len_tokens", "pooling_mode_weightedmean_tokens"};
constexpr UnreadKey kPoolingKeys[] = {
    {"embedding_dimension"},  // the model's width
    {"word_embedding_dimension"},
};

constexpr KnownKeys kFiles[] = {
    {"generation_config.json", kGenerationRead, kGenerationKeys},
    {"tokenizer_config.json", kTokenizerRead, kTokenizerKeys},
    {"chat_template.json", kTemplateRead, {}},
    {"processor_config.json", kTemplateRead, kProcessorKeys},
    {"sentence_bert_config.json", kSentenceRead, kSentenceKeys},
    {"config_sentence_transformers.json", kPromptsRead, kPromptsKeys},
    {"1_Pooling/config.json", kPoolingRead, kPoolingKeys},
};

constexpr const char* kRopeObjects[] = {"full_attention", "sliding_attention"};
constexpr const char* kRopeRead[] = {"attention_factor",
                                     "beta_fast",
                                     "beta_slow",
                                     "factor",
                                     "full_attention",
                                     "high_freq_factor",
                                     "long_factor",
                                     "long_mscale",
                                     "low_freq_factor",
                                     "mscale",
                                     "mscale_all_dim",
                                     "original_max_position_embeddings",
                                     "partial_rotary_factor",
                                     "rope_theta",
                                     "rope_type",
                                     "short_factor",
                                     "short_mscale",
                                     "sliding_attention",
                                     "truncate",
                                     "type"};
constexpr UnreadKey kRopeKeys[] = {
    {"attn_factor", "1"},
    {"extrapolation_factor", "1"},
    {"finetuned"},
    {"mrope_interleaved"},  // of pictures: in text all positions are the same
    {"mrope_section"},
};
constexpr KnownKeys kRope = {"config.json: RoPE", kRopeRead, kRopeKeys};

const UnreadKey* find_key(std::span<const UnreadKey> keys, std::string_view key) {
  const auto at = std::find_if(keys.begin(), keys.end(), [&](const UnreadKey& k) { return key == k.key; });
  return at == keys.end() ? nullptr : &*at;
}

std::string number_text(double v) {
  std::string out;
  append_format(out, "%g", v);
  return out;
}

// Empty where the value has parts.
std::string text_of(const Metadata& metadata, std::string_view key, const MetaValue& value) {
  if (value.type == MetaType::string) return std::string(value.text);
  if (value.type == MetaType::array) return value.count == 0 ? "none" : "";
  if (value.type == MetaType::boolean) return *metadata.get_bool(key) ? "true" : "false";
  if (value.type == MetaType::f32 || value.type == MetaType::f64) {
    const auto v = metadata.get_f64(key);
    return v.ok() ? number_text(*v) : "";
  }
  const auto v = metadata.get_i64(key);
  return v.ok() ? std::to_string(*v) : "";
}

constexpr const char* kNotRead = " not known here and not read: if it changes what the model computes, results differ";

bool is_neutral(const UnreadKey* known, std::string_view text) { return known && (!known->neutral || text == known->neutral); }

}  // namespace

std::span<const KeySpelling> gguf_spellings() { return kSpellings; }
std::span<const ConfigSpellings> config_spellings() { return kConfigSpellings; }

std::string_view spelling_in(const JsonValue& object, std::string_view key) {
  for (const ConfigSpellings& row : kConfigSpellings) {
    if (key != row.keys[0]) continue;
    for (const char* spelling : row.keys) {
      const auto value = spelling ? object.find(spelling) : std::nullopt;
      if (value && !value->is_null()) return spelling;
    }
  }
  return key;
}

std::span<const UnreadKey> unread_gguf_keys() { return kGgufKeys; }
std::span<const UnreadKey> unread_config_keys() { return kConfigKeys; }
std::span<const KnownKeys> known_files() { return kFiles; }
const KnownKeys& known_rope_keys() { return kRope; }

std::vector<std::string> gguf_key_warnings(const Metadata& metadata, std::string_view arch) {
  constexpr std::string_view kTokenizer = "tokenizer.ggml.";
  const std::string family = std::string(arch) + ".";
  const bool has_own = metadata.find("tokenizer.inlay.config");  // a folder's tokenizer inside, which counts instead
  std::vector<std::string> out;
  for (const MetaEntry* entry : metadata.unread()) {
    const bool of_family = entry->key.starts_with(family);
    if (!of_family && (has_own || !entry->key.starts_with(kTokenizer))) continue;
    const UnreadKey* known = find_key(kGgufKeys, of_family ? entry->key.substr(family.size()) : entry->key);
    if (!is_neutral(known, text_of(metadata, entry->key, entry->value))) out.push_back(std::string(entry->key) + " is" + kNotRead);
  }
  return out;
}

bool changes_nothing(std::span<const UnreadKey> unread, std::string_view key, const JsonValue& value) {
  const UnreadKey* known = find_key(unread, key);
  if (!known || !known->neutral || value.is_null()) return known;
  if (value.is_array() || value.is_object()) return value.size() == 0 || is_neutral(known, json_text(value));
  if (value.is_string()) return is_neutral(known, *value.as_string());
  if (value.type() == JsonType::boolean) return is_neutral(known, *value.as_bool() ? "true" : "false");
  const auto v = value.as_f64();
  return v.ok() && is_neutral(known, number_text(*v));
}

Status refuse_keys(const JsonValue& object, std::span<const UnreadKey> unread) {
  for (const UnreadKey& row : unread) {
    const auto value = row.is_refused ? object.find(row.key) : std::nullopt;
    if (!value || changes_nothing(unread, row.key, *value)) continue;
    return error(Code::unsupported, "%s is %s, which is not supported; expected %s", value->where().c_str(), json_text(*value).c_str(), row.neutral);
  }
  return {};
}

Status refuse_gguf_keys(const Metadata& metadata, std::string_view arch) {
  for (const UnreadKey& row : kGgufKeys) {
    const std::string key = std::string(arch) + "." + row.key;
    const MetaValue* value = row.is_refused ? metadata.find(key) : nullptr;
    if (!value || is_neutral(&row, text_of(metadata, key, *value))) continue;
    return error(Code::unsupported, "%s is %s, which is not supported; expected %s", key.c_str(), text_of(metadata, key, *value).c_str(), row.neutral);
  }
  return {};
}

const KnownKeys& known_file(std::string_view name) {
  return *std::ranges::find_if(kFiles, [&](const KnownKeys& file) { return name == file.where; });
}

std::string shown_key(std::string_view key) {
  const std::string quoted = quote(key);
  return quoted.substr(1, quoted.size() - 2);
}

std::vector<std::string> unknown_keys(const JsonValue& object, const KnownKeys& known) {
  return unknown_keys(object, known.unread, [&](std::string_view key) { return std::ranges::find(known.read, key) != known.read.end(); });
}

std::vector<std::string> unknown_rope_keys(const JsonValue& object) {
  std::vector<std::string> out = unknown_keys(object, kRope);
  for (const char* layers : kRopeObjects) {
    const auto inner = object.find(layers);
    if (!inner) continue;
    for (std::string& key : unknown_keys(*inner, kRope)) out.push_back(std::move(key));
  }
  return out;
}

std::vector<std::string> key_warning(const JsonValue& root, const std::vector<std::string>& keys) {
  if (keys.empty()) return {};
  const std::string where = root.where();
  std::string line = where.substr(0, where.size() - root.path().size());
  for (const std::string& key : keys) line += (&key == keys.data() ? "" : ", ") + key;
  return {line + (keys.size() == 1 ? " is" : " are each") + kNotRead};
}

}  // namespace inlay
