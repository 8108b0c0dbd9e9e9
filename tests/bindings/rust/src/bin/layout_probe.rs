// Prints the size and offset of every struct field and the value of every constant as Rust sees them.
// Generated from bindings/api/inlay.toml by bindings/generate.py. Do not edit.
use inlay::raw::*;
use std::mem::{align_of, offset_of, size_of};

fn constant(name: &str, value: i64) {
    println!("constant {name} {value}");
}

/// The size of what the function takes out of a struct: a field, without a value of it.
const fn size_of_field<S, F>(_: fn(S) -> F) -> usize {
    size_of::<F>()
}

macro_rules! layout {
    ($name:ident) => {
        println!("struct {} size {} align {}", stringify!($name), size_of::<$name>(), align_of::<$name>())
    };
    ($name:ident, $field:ident, $text:literal) => {
        println!(
            "field {}.{} offset {} size {}",
            stringify!($name),
            $text,
            offset_of!($name, $field),
            size_of_field(|s: $name| s.$field)
        )
    };
}

fn constants() {
    constant("INLAY_MAX_LOGPROBS", INLAY_MAX_LOGPROBS as i64);
    constant("INLAY_EVENT_TEXT_BYTES", INLAY_EVENT_TEXT_BYTES as i64);
    constant("INLAY_ERROR_MESSAGE_BYTES", INLAY_ERROR_MESSAGE_BYTES as i64);
    constant("INLAY_DEVICE_NAME_BYTES", INLAY_DEVICE_NAME_BYTES as i64);
    constant("INLAY_TOKEN_PIECE_BYTES", INLAY_TOKEN_PIECE_BYTES as i64);
    println!("enum inlay_status size {}", size_of::<inlay_status>());
    constant("INLAY_OK", INLAY_OK as i64);
    constant("INLAY_INVALID_ARGUMENT", INLAY_INVALID_ARGUMENT as i64);
    constant("INLAY_NOT_FOUND", INLAY_NOT_FOUND as i64);
    constant("INLAY_IO", INLAY_IO as i64);
    constant("INLAY_FORMAT", INLAY_FORMAT as i64);
    constant("INLAY_UNSUPPORTED", INLAY_UNSUPPORTED as i64);
    constant("INLAY_OUT_OF_MEMORY", INLAY_OUT_OF_MEMORY as i64);
    constant("INLAY_DEVICE_OUT_OF_MEMORY", INLAY_DEVICE_OUT_OF_MEMORY as i64);
    constant("INLAY_CONTEXT_FULL", INLAY_CONTEXT_FULL as i64);
    constant("INLAY_KV_FULL", INLAY_KV_FULL as i64);
    constant("INLAY_BUFFER_TOO_SMALL", INLAY_BUFFER_TOO_SMALL as i64);
    constant("INLAY_CANCELLED", INLAY_CANCELLED as i64);
    constant("INLAY_BUSY", INLAY_BUSY as i64);
    constant("INLAY_NO_DEVICE", INLAY_NO_DEVICE as i64);
    constant("INLAY_DEVICE_LOST", INLAY_DEVICE_LOST as i64);
    constant("INLAY_INTERNAL", INLAY_INTERNAL as i64);
    constant("INLAY_SESSION_LIMIT", INLAY_SESSION_LIMIT as i64);
    constant("INLAY_INVALID_STATE", INLAY_INVALID_STATE as i64);
    println!("enum inlay_device_kind size {}", size_of::<inlay_device_kind>());
    constant("INLAY_DEVICE_AUTO", INLAY_DEVICE_AUTO as i64);
    constant("INLAY_DEVICE_CPU", INLAY_DEVICE_CPU as i64);
    constant("INLAY_DEVICE_CUDA", INLAY_DEVICE_CUDA as i64);
    constant("INLAY_DEVICE_REFERENCE", INLAY_DEVICE_REFERENCE as i64);
    println!("enum inlay_kv_dtype size {}", size_of::<inlay_kv_dtype>());
    constant("INLAY_KV_DEFAULT", INLAY_KV_DEFAULT as i64);
    constant("INLAY_KV_F16", INLAY_KV_F16 as i64);
    constant("INLAY_KV_F32", INLAY_KV_F32 as i64);
    constant("INLAY_KV_FP8", INLAY_KV_FP8 as i64);
    constant("INLAY_KV_INT8", INLAY_KV_INT8 as i64);
    println!("enum inlay_log_level size {}", size_of::<inlay_log_level>());
    constant("INLAY_LOG_OFF", INLAY_LOG_OFF as i64);
    constant("INLAY_LOG_DEFAULT", INLAY_LOG_DEFAULT as i64);
    constant("INLAY_LOG_ERROR", INLAY_LOG_ERROR as i64);
    constant("INLAY_LOG_WARNING", INLAY_LOG_WARNING as i64);
    constant("INLAY_LOG_INFO", INLAY_LOG_INFO as i64);
    constant("INLAY_LOG_DEBUG", INLAY_LOG_DEBUG as i64);
    println!("enum inlay_finish_reason size {}", size_of::<inlay_finish_reason>());
    constant("INLAY_FINISH_NONE", INLAY_FINISH_NONE as i64);
    constant("INLAY_FINISH_END_OF_GENERATION", INLAY_FINISH_END_OF_GENERATION as i64);
    constant("INLAY_FINISH_STOP_STRING", INLAY_FINISH_STOP_STRING as i64);
    constant("INLAY_FINISH_MAX_TOKENS", INLAY_FINISH_MAX_TOKENS as i64);
    constant("INLAY_FINISH_CANCELLED", INLAY_FINISH_CANCELLED as i64);
    constant("INLAY_FINISH_STOP_TOKEN", INLAY_FINISH_STOP_TOKEN as i64);
    constant("INLAY_FINISH_CONTEXT_FULL", INLAY_FINISH_CONTEXT_FULL as i64);
    println!("enum inlay_event_kind size {}", size_of::<inlay_event_kind>());
    constant("INLAY_EVENT_NONE", INLAY_EVENT_NONE as i64);
    constant("INLAY_EVENT_TOKEN", INLAY_EVENT_TOKEN as i64);
    constant("INLAY_EVENT_FINISHED", INLAY_EVENT_FINISHED as i64);
    println!("enum inlay_token_kind size {}", size_of::<inlay_token_kind>());
    constant("INLAY_TOKEN_NORMAL", INLAY_TOKEN_NORMAL as i64);
    constant("INLAY_TOKEN_UNKNOWN", INLAY_TOKEN_UNKNOWN as i64);
    constant("INLAY_TOKEN_CONTROL", INLAY_TOKEN_CONTROL as i64);
    constant("INLAY_TOKEN_USER_DEFINED", INLAY_TOKEN_USER_DEFINED as i64);
    constant("INLAY_TOKEN_UNUSED", INLAY_TOKEN_UNUSED as i64);
    constant("INLAY_TOKEN_BYTE", INLAY_TOKEN_BYTE as i64);
    println!("enum inlay_engine_flags size {}", size_of::<inlay_engine_flags>());
    constant("INLAY_ENGINE_HAS_TOKENIZER", INLAY_ENGINE_HAS_TOKENIZER as i64);
    constant("INLAY_ENGINE_ADDS_BOS", INLAY_ENGINE_ADDS_BOS as i64);
    println!("enum inlay_tokenize_flags size {}", size_of::<inlay_tokenize_flags>());
    constant("INLAY_TOKENIZE_NO_BOS_EOS", INLAY_TOKENIZE_NO_BOS_EOS as i64);
    constant("INLAY_TOKENIZE_PARSE_SPECIAL", INLAY_TOKENIZE_PARSE_SPECIAL as i64);
    println!("enum inlay_detokenize_flags size {}", size_of::<inlay_detokenize_flags>());
    constant("INLAY_DETOKENIZE_SHOW_SPECIAL", INLAY_DETOKENIZE_SHOW_SPECIAL as i64);
    println!("enum inlay_token_flags size {}", size_of::<inlay_token_flags>());
    constant("INLAY_TOKEN_FLAG_END_OF_GENERATION", INLAY_TOKEN_FLAG_END_OF_GENERATION as i64);
    constant("INLAY_TOKEN_FLAG_CONTROL", INLAY_TOKEN_FLAG_CONTROL as i64);
    println!("enum inlay_session_flags size {}", size_of::<inlay_session_flags>());
    constant("INLAY_SESSION_IGNORE_END_OF_GENERATION", INLAY_SESSION_IGNORE_END_OF_GENERATION as i64);
    constant("INLAY_SESSION_RESERVE", INLAY_SESSION_RESERVE as i64);
    println!("enum inlay_profile_form size {}", size_of::<inlay_profile_form>());
    constant("INLAY_PROFILE_KINDS", INLAY_PROFILE_KINDS as i64);
    constant("INLAY_PROFILE_TIMELINE", INLAY_PROFILE_TIMELINE as i64);
    constant("INLAY_PROFILE_TRACE", INLAY_PROFILE_TRACE as i64);
    println!("enum inlay_load_flags size {}", size_of::<inlay_load_flags>());
    constant("INLAY_LOAD_NO_CUBLAS", INLAY_LOAD_NO_CUBLAS as i64);
    constant("INLAY_LOAD_NO_TOKEN_KERNEL", INLAY_LOAD_NO_TOKEN_KERNEL as i64);
    constant("INLAY_LOAD_RUN_AHEAD", INLAY_LOAD_RUN_AHEAD as i64);
    constant("INLAY_LOAD_TAKE_PAGES_LATER", INLAY_LOAD_TAKE_PAGES_LATER as i64);
    println!("enum inlay_weight_dtype size {}", size_of::<inlay_weight_dtype>());
    constant("INLAY_WEIGHT_DEFAULT", INLAY_WEIGHT_DEFAULT as i64);
    constant("INLAY_WEIGHT_FP8", INLAY_WEIGHT_FP8 as i64);
    constant("INLAY_WEIGHT_Q8_0", INLAY_WEIGHT_Q8_0 as i64);
    constant("INLAY_WEIGHT_Q4_0", INLAY_WEIGHT_Q4_0 as i64);
    constant("INLAY_WEIGHT_Q4_K_M", INLAY_WEIGHT_Q4_K_M as i64);
    constant("INLAY_WEIGHT_Q5_K_M", INLAY_WEIGHT_Q5_K_M as i64);
    constant("INLAY_WEIGHT_Q6_K", INLAY_WEIGHT_Q6_K as i64);
    println!("enum inlay_convert_type size {}", size_of::<inlay_convert_type>());
    constant("INLAY_CONVERT_F16", INLAY_CONVERT_F16 as i64);
    constant("INLAY_CONVERT_BF16", INLAY_CONVERT_BF16 as i64);
    constant("INLAY_CONVERT_F32", INLAY_CONVERT_F32 as i64);
    constant("INLAY_CONVERT_Q8_0", INLAY_CONVERT_Q8_0 as i64);
    constant("INLAY_CONVERT_Q4_0", INLAY_CONVERT_Q4_0 as i64);
    constant("INLAY_CONVERT_Q4_K_M", INLAY_CONVERT_Q4_K_M as i64);
    constant("INLAY_CONVERT_Q5_K_M", INLAY_CONVERT_Q5_K_M as i64);
    constant("INLAY_CONVERT_Q6_K", INLAY_CONVERT_Q6_K as i64);
    println!("enum inlay_chat_flags size {}", size_of::<inlay_chat_flags>());
    constant("INLAY_CHAT_ADD_GENERATION_PROMPT", INLAY_CHAT_ADD_GENERATION_PROMPT as i64);
    println!("enum inlay_pooling size {}", size_of::<inlay_pooling>());
    constant("INLAY_POOLING_DEFAULT", INLAY_POOLING_DEFAULT as i64);
    constant("INLAY_POOLING_MEAN", INLAY_POOLING_MEAN as i64);
    constant("INLAY_POOLING_LAST", INLAY_POOLING_LAST as i64);
    constant("INLAY_POOLING_FIRST", INLAY_POOLING_FIRST as i64);
    println!("enum inlay_embed_flags size {}", size_of::<inlay_embed_flags>());
    constant("INLAY_EMBED_NORMALISE", INLAY_EMBED_NORMALISE as i64);
}

fn structs() {
    layout!(inlay_error);
    layout!(inlay_error, status, "status");
    layout!(inlay_error, native_code, "native_code");
    layout!(inlay_error, required, "required");
    layout!(inlay_error, available, "available");
    layout!(inlay_error, message_len, "message_len");
    layout!(inlay_error, reserved, "reserved");
    layout!(inlay_error, message, "message");
    layout!(inlay_text);
    layout!(inlay_text, data, "data");
    layout!(inlay_text, len, "len");
    layout!(inlay_logit_bias);
    layout!(inlay_logit_bias, token, "token");
    layout!(inlay_logit_bias, bias, "bias");
    layout!(inlay_token_logprob);
    layout!(inlay_token_logprob, token, "token");
    layout!(inlay_token_logprob, logprob, "logprob");
    layout!(inlay_device_info);
    layout!(inlay_device_info, struct_size, "struct_size");
    layout!(inlay_device_info, kind, "kind");
    layout!(inlay_device_info, index, "index");
    layout!(inlay_device_info, n_units, "n_units");
    layout!(inlay_device_info, total_bytes, "total_bytes");
    layout!(inlay_device_info, free_bytes, "free_bytes");
    layout!(inlay_device_info, name, "name");
    layout!(inlay_device_info, features, "features");
    layout!(inlay_reader);
    layout!(inlay_reader, struct_size, "struct_size");
    layout!(inlay_reader, reserved, "reserved");
    layout!(inlay_reader, user, "user");
    layout!(inlay_reader, size, "size");
    layout!(inlay_reader, read, "read");
    layout!(inlay_load_params);
    layout!(inlay_load_params, struct_size, "struct_size");
    layout!(inlay_load_params, device, "device");
    layout!(inlay_load_params, device_index, "device_index");
    layout!(inlay_load_params, n_context, "n_context");
    layout!(inlay_load_params, max_sessions, "max_sessions");
    layout!(inlay_load_params, n_threads, "n_threads");
    layout!(inlay_load_params, kv_budget_bytes, "kv_budget_bytes");
    layout!(inlay_load_params, kv_dtype, "kv_dtype");
    layout!(inlay_load_params, prefill_chunk, "prefill_chunk");
    layout!(inlay_load_params, log_level, "log_level");
    layout!(inlay_load_params, flags, "flags");
    layout!(inlay_load_params, log, "log");
    layout!(inlay_load_params, log_user, "log_user");
    layout!(inlay_load_params, progress, "progress");
    layout!(inlay_load_params, progress_user, "progress_user");
    layout!(inlay_load_params, weight_dtype, "weight_dtype");
    layout!(inlay_load_params, reserved, "reserved");
    layout!(inlay_load_params, pre_tokenizer, "pre_tokenizer");
    layout!(inlay_load_params, pre_tokenizer_len, "pre_tokenizer_len");
    layout!(inlay_memory_info);
    layout!(inlay_memory_info, struct_size, "struct_size");
    layout!(inlay_memory_info, device, "device");
    layout!(inlay_memory_info, n_context, "n_context");
    layout!(inlay_memory_info, max_sessions, "max_sessions");
    layout!(inlay_memory_info, weight_bytes, "weight_bytes");
    layout!(inlay_memory_info, kv_bytes, "kv_bytes");
    layout!(inlay_memory_info, scratch_bytes, "scratch_bytes");
    layout!(inlay_memory_info, total_bytes, "total_bytes");
    layout!(inlay_memory_info, available_bytes, "available_bytes");
    layout!(inlay_memory_info, weight_dtype, "weight_dtype");
    layout!(inlay_memory_info, reserved, "reserved");
    layout!(inlay_engine_info);
    layout!(inlay_engine_info, struct_size, "struct_size");
    layout!(inlay_engine_info, device, "device");
    layout!(inlay_engine_info, n_params, "n_params");
    layout!(inlay_engine_info, weight_bytes, "weight_bytes");
    layout!(inlay_engine_info, kv_bytes, "kv_bytes");
    layout!(inlay_engine_info, n_vocab, "n_vocab");
    layout!(inlay_engine_info, n_layers, "n_layers");
    layout!(inlay_engine_info, d_model, "d_model");
    layout!(inlay_engine_info, n_heads, "n_heads");
    layout!(inlay_engine_info, n_kv_heads, "n_kv_heads");
    layout!(inlay_engine_info, d_head, "d_head");
    layout!(inlay_engine_info, d_ff, "d_ff");
    layout!(inlay_engine_info, n_context_train, "n_context_train");
    layout!(inlay_engine_info, n_context, "n_context");
    layout!(inlay_engine_info, max_sessions, "max_sessions");
    layout!(inlay_engine_info, bos, "bos");
    layout!(inlay_engine_info, eos, "eos");
    layout!(inlay_engine_info, n_threads, "n_threads");
    layout!(inlay_engine_info, flags, "flags");
    layout!(inlay_engine_info, weight_dtype, "weight_dtype");
    layout!(inlay_engine_info, reserved, "reserved");
    layout!(inlay_token_info);
    layout!(inlay_token_info, struct_size, "struct_size");
    layout!(inlay_token_info, kind, "kind");
    layout!(inlay_token_info, flags, "flags");
    layout!(inlay_token_info, score, "score");
    layout!(inlay_token_info, piece_bytes, "piece_bytes");
    layout!(inlay_token_info, reserved, "reserved");
    layout!(inlay_token_info, piece, "piece");
    layout!(inlay_sampler_params);
    layout!(inlay_sampler_params, struct_size, "struct_size");
    layout!(inlay_sampler_params, temperature, "temperature");
    layout!(inlay_sampler_params, top_k, "top_k");
    layout!(inlay_sampler_params, top_p, "top_p");
    layout!(inlay_sampler_params, min_p, "min_p");
    layout!(inlay_sampler_params, repetition_penalty, "repetition_penalty");
    layout!(inlay_sampler_params, frequency_penalty, "frequency_penalty");
    layout!(inlay_sampler_params, presence_penalty, "presence_penalty");
    layout!(inlay_sampler_params, penalty_window, "penalty_window");
    layout!(inlay_sampler_params, n_logprobs, "n_logprobs");
    layout!(inlay_sampler_params, seed, "seed");
    layout!(inlay_sampler_params, bias, "bias");
    layout!(inlay_sampler_params, n_bias, "n_bias");
    layout!(inlay_session_params);
    layout!(inlay_session_params, struct_size, "struct_size");
    layout!(inlay_session_params, flags, "flags");
    layout!(inlay_session_params, sampler, "sampler");
    layout!(inlay_session_params, stream, "stream");
    layout!(inlay_session_params, max_tokens, "max_tokens");
    layout!(inlay_session_params, reserved, "reserved");
    layout!(inlay_session_params, stop_tokens, "stop_tokens");
    layout!(inlay_session_params, n_stop_tokens, "n_stop_tokens");
    layout!(inlay_session_info);
    layout!(inlay_session_info, struct_size, "struct_size");
    layout!(inlay_session_info, finish_reason, "finish_reason");
    layout!(inlay_session_info, n_tokens, "n_tokens");
    layout!(inlay_session_info, n_context, "n_context");
    layout!(inlay_session_info, n_generated, "n_generated");
    layout!(inlay_session_info, n_kv_blocks, "n_kv_blocks");
    layout!(inlay_session_info, text_pending, "text_pending");
    layout!(inlay_session_info, turn, "turn");
    layout!(inlay_event);
    layout!(inlay_event, status, "status");
    layout!(inlay_event, kind, "kind");
    layout!(inlay_event, session_index, "session_index");
    layout!(inlay_event, token, "token");
    layout!(inlay_event, finish_reason, "finish_reason");
    layout!(inlay_event, logprob, "logprob");
    layout!(inlay_event, n_logprobs, "n_logprobs");
    layout!(inlay_event, text_bytes, "text_bytes");
    layout!(inlay_event, text_pending, "text_pending");
    layout!(inlay_event, top, "top");
    layout!(inlay_event, text, "text");
    layout!(inlay_stats);
    layout!(inlay_stats, struct_size, "struct_size");
    layout!(inlay_stats, n_sessions, "n_sessions");
    layout!(inlay_stats, n_prefill_tokens, "n_prefill_tokens");
    layout!(inlay_stats, n_decode_tokens, "n_decode_tokens");
    layout!(inlay_stats, n_decode_steps, "n_decode_steps");
    layout!(inlay_stats, load_seconds, "load_seconds");
    layout!(inlay_stats, prefill_seconds, "prefill_seconds");
    layout!(inlay_stats, decode_seconds, "decode_seconds");
    layout!(inlay_stats, n_kv_blocks, "n_kv_blocks");
    layout!(inlay_stats, n_kv_blocks_used, "n_kv_blocks_used");
    layout!(inlay_stats, n_kv_blocks_peak, "n_kv_blocks_peak");
    layout!(inlay_stats, n_block_tokens, "n_block_tokens");
    layout!(inlay_profile_params);
    layout!(inlay_profile_params, struct_size, "struct_size");
    layout!(inlay_profile_params, n_tokens, "n_tokens");
    layout!(inlay_profile_params, n_past, "n_past");
    layout!(inlay_profile_params, n_repetitions, "n_repetitions");
    layout!(inlay_convert_params);
    layout!(inlay_convert_params, struct_size, "struct_size");
    layout!(inlay_convert_params, r#type, "type");
    layout!(inlay_convert_params, n_threads, "n_threads");
    layout!(inlay_convert_params, reserved, "reserved");
    layout!(inlay_convert_params, progress, "progress");
    layout!(inlay_convert_params, progress_user, "progress_user");
    layout!(inlay_convert_params, log, "log");
    layout!(inlay_convert_params, log_user, "log_user");
    layout!(inlay_embed_params);
    layout!(inlay_embed_params, struct_size, "struct_size");
    layout!(inlay_embed_params, pooling, "pooling");
    layout!(inlay_embed_params, flags, "flags");
    layout!(inlay_embed_params, reserved, "reserved");
    layout!(inlay_logits);
    layout!(inlay_logits, struct_size, "struct_size");
    layout!(inlay_logits, reserved, "reserved");
    layout!(inlay_logits, values, "values");
    layout!(inlay_logits, n_values, "n_values");
}

fn main() {
    constants();
    structs();
}
