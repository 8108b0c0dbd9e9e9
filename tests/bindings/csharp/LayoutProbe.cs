// Prints the size and offset of every struct field and the value of every constant as the C# runtime sees them.
// Generated from bindings/api/inlay.toml by bindings/generate.py. Do not edit.
using System;
using System.Reflection;
using System.Runtime.InteropServices;
using Inlay;
using Inlay.Raw;

static unsafe class LayoutProbe
{
    static void Constant(string name, long value) { Console.Write("constant {0} {1}\n", name, value); }

    static void Enumeration(string name, Type type)
    {
        Console.Write("enum {0} size {1}\n", name, Marshal.SizeOf(Enum.GetUnderlyingType(type)));
    }

    static int SizeOf(Type type)
    {
        if (type.IsPointer) return IntPtr.Size;
        return Marshal.SizeOf(type.IsEnum ? Enum.GetUnderlyingType(type) : type);
    }

    static void Field(Type type, string name, void* start, void* field)
    {
        FieldInfo info = type.GetField(name);
        long offset = (byte*)field - (byte*)start;
        Console.Write("field {0}.{1} offset {2} size {3}\n", type.Name, name, offset, SizeOf(info.FieldType));
    }

    static void Struct(Type type, int size, long align)
    {
        Console.Write("struct {0} size {1} align {2}\n", type.Name, size, align);
    }

    struct Behind_inlay_error { public byte Before; public inlay_error Value; }

    static void Print_inlay_error()
    {
        var behind = default(Behind_inlay_error);
        Struct(typeof(inlay_error), sizeof(inlay_error), (byte*)&behind.Value - (byte*)&behind);
        inlay_error* p = &behind.Value;
        Field(typeof(inlay_error), "status", p, &p->status);
        Field(typeof(inlay_error), "native_code", p, &p->native_code);
        Field(typeof(inlay_error), "required", p, &p->required);
        Field(typeof(inlay_error), "available", p, &p->available);
        Field(typeof(inlay_error), "message_len", p, &p->message_len);
        Field(typeof(inlay_error), "reserved", p, &p->reserved);
        Field(typeof(inlay_error), "message", p, p->message);
    }

    struct Behind_inlay_text { public byte Before; public inlay_text Value; }

    static void Print_inlay_text()
    {
        var behind = default(Behind_inlay_text);
        Struct(typeof(inlay_text), sizeof(inlay_text), (byte*)&behind.Value - (byte*)&behind);
        inlay_text* p = &behind.Value;
        Field(typeof(inlay_text), "data", p, &p->data);
        Field(typeof(inlay_text), "len", p, &p->len);
    }

    struct Behind_inlay_logit_bias { public byte Before; public inlay_logit_bias Value; }

    static void Print_inlay_logit_bias()
    {
        var behind = default(Behind_inlay_logit_bias);
        Struct(typeof(inlay_logit_bias), sizeof(inlay_logit_bias), (byte*)&behind.Value - (byte*)&behind);
        inlay_logit_bias* p = &behind.Value;
        Field(typeof(inlay_logit_bias), "token", p, &p->token);
        Field(typeof(inlay_logit_bias), "bias", p, &p->bias);
    }

    struct Behind_inlay_token_logprob { public byte Before; public inlay_token_logprob Value; }

    static void Print_inlay_token_logprob()
    {
        var behind = default(Behind_inlay_token_logprob);
        Struct(typeof(inlay_token_logprob), sizeof(inlay_token_logprob), (byte*)&behind.Value - (byte*)&behind);
        inlay_token_logprob* p = &behind.Value;
        Field(typeof(inlay_token_logprob), "token", p, &p->token);
        Field(typeof(inlay_token_logprob), "logprob", p, &p->logprob);
    }

    struct Behind_inlay_device_info { public byte Before; public inlay_device_info Value; }

    static void Print_inlay_device_info()
    {
        var behind = default(Behind_inlay_device_info);
        Struct(typeof(inlay_device_info), sizeof(inlay_device_info), (byte*)&behind.Value - (byte*)&behind);
        inlay_device_info* p = &behind.Value;
        Field(typeof(inlay_device_info), "struct_size", p, &p->struct_size);
        Field(typeof(inlay_device_info), "kind", p, &p->kind);
        Field(typeof(inlay_device_info), "index", p, &p->index);
        Field(typeof(inlay_device_info), "n_units", p, &p->n_units);
        Field(typeof(inlay_device_info), "total_bytes", p, &p->total_bytes);
        Field(typeof(inlay_device_info), "free_bytes", p, &p->free_bytes);
        Field(typeof(inlay_device_info), "name", p, p->name);
        Field(typeof(inlay_device_info), "features", p, p->features);
    }

    struct Behind_inlay_reader { public byte Before; public inlay_reader Value; }

    static void Print_inlay_reader()
    {
        var behind = default(Behind_inlay_reader);
        Struct(typeof(inlay_reader), sizeof(inlay_reader), (byte*)&behind.Value - (byte*)&behind);
        inlay_reader* p = &behind.Value;
        Field(typeof(inlay_reader), "struct_size", p, &p->struct_size);
        Field(typeof(inlay_reader), "reserved", p, &p->reserved);
        Field(typeof(inlay_reader), "user", p, &p->user);
        Field(typeof(inlay_reader), "size", p, &p->size);
        Field(typeof(inlay_reader), "read", p, &p->read);
    }

    struct Behind_inlay_load_params { public byte Before; public inlay_load_params Value; }

    static void Print_inlay_load_params()
    {
        var behind = default(Behind_inlay_load_params);
        Struct(typeof(inlay_load_params), sizeof(inlay_load_params), (byte*)&behind.Value - (byte*)&behind);
        inlay_load_params* p = &behind.Value;
        Field(typeof(inlay_load_params), "struct_size", p, &p->struct_size);
        Field(typeof(inlay_load_params), "device", p, &p->device);
        Field(typeof(inlay_load_params), "device_index", p, &p->device_index);
        Field(typeof(inlay_load_params), "n_context", p, &p->n_context);
        Field(typeof(inlay_load_params), "max_sessions", p, &p->max_sessions);
        Field(typeof(inlay_load_params), "n_threads", p, &p->n_threads);
        Field(typeof(inlay_load_params), "kv_budget_bytes", p, &p->kv_budget_bytes);
        Field(typeof(inlay_load_params), "kv_dtype", p, &p->kv_dtype);
        Field(typeof(inlay_load_params), "prefill_chunk", p, &p->prefill_chunk);
        Field(typeof(inlay_load_params), "log_level", p, &p->log_level);
        Field(typeof(inlay_load_params), "flags", p, &p->flags);
        Field(typeof(inlay_load_params), "log", p, &p->log);
        Field(typeof(inlay_load_params), "log_user", p, &p->log_user);
        Field(typeof(inlay_load_params), "progress", p, &p->progress);
        Field(typeof(inlay_load_params), "progress_user", p, &p->progress_user);
        Field(typeof(inlay_load_params), "weight_dtype", p, &p->weight_dtype);
        Field(typeof(inlay_load_params), "reserved", p, &p->reserved);
        Field(typeof(inlay_load_params), "pre_tokenizer", p, &p->pre_tokenizer);
        Field(typeof(inlay_load_params), "pre_tokenizer_len", p, &p->pre_tokenizer_len);
        Field(typeof(inlay_load_params), "tuning", p, &p->tuning);
        Field(typeof(inlay_load_params), "tuning_len", p, &p->tuning_len);
        Field(typeof(inlay_load_params), "prefix_cache_host_bytes", p, &p->prefix_cache_host_bytes);
    }

    struct Behind_inlay_memory_info { public byte Before; public inlay_memory_info Value; }

    static void Print_inlay_memory_info()
    {
        var behind = default(Behind_inlay_memory_info);
        Struct(typeof(inlay_memory_info), sizeof(inlay_memory_info), (byte*)&behind.Value - (byte*)&behind);
        inlay_memory_info* p = &behind.Value;
        Field(typeof(inlay_memory_info), "struct_size", p, &p->struct_size);
        Field(typeof(inlay_memory_info), "device", p, &p->device);
        Field(typeof(inlay_memory_info), "n_context", p, &p->n_context);
        Field(typeof(inlay_memory_info), "max_sessions", p, &p->max_sessions);
        Field(typeof(inlay_memory_info), "weight_bytes", p, &p->weight_bytes);
        Field(typeof(inlay_memory_info), "kv_bytes", p, &p->kv_bytes);
        Field(typeof(inlay_memory_info), "scratch_bytes", p, &p->scratch_bytes);
        Field(typeof(inlay_memory_info), "total_bytes", p, &p->total_bytes);
        Field(typeof(inlay_memory_info), "available_bytes", p, &p->available_bytes);
        Field(typeof(inlay_memory_info), "weight_dtype", p, &p->weight_dtype);
        Field(typeof(inlay_memory_info), "reserved", p, &p->reserved);
        Field(typeof(inlay_memory_info), "prefix_cache_host_bytes", p, &p->prefix_cache_host_bytes);
    }

    struct Behind_inlay_engine_info { public byte Before; public inlay_engine_info Value; }

    static void Print_inlay_engine_info()
    {
        var behind = default(Behind_inlay_engine_info);
        Struct(typeof(inlay_engine_info), sizeof(inlay_engine_info), (byte*)&behind.Value - (byte*)&behind);
        inlay_engine_info* p = &behind.Value;
        Field(typeof(inlay_engine_info), "struct_size", p, &p->struct_size);
        Field(typeof(inlay_engine_info), "device", p, &p->device);
        Field(typeof(inlay_engine_info), "n_params", p, &p->n_params);
        Field(typeof(inlay_engine_info), "weight_bytes", p, &p->weight_bytes);
        Field(typeof(inlay_engine_info), "kv_bytes", p, &p->kv_bytes);
        Field(typeof(inlay_engine_info), "n_vocab", p, &p->n_vocab);
        Field(typeof(inlay_engine_info), "n_layers", p, &p->n_layers);
        Field(typeof(inlay_engine_info), "d_model", p, &p->d_model);
        Field(typeof(inlay_engine_info), "n_heads", p, &p->n_heads);
        Field(typeof(inlay_engine_info), "n_kv_heads", p, &p->n_kv_heads);
        Field(typeof(inlay_engine_info), "d_head", p, &p->d_head);
        Field(typeof(inlay_engine_info), "d_ff", p, &p->d_ff);
        Field(typeof(inlay_engine_info), "n_context_train", p, &p->n_context_train);
        Field(typeof(inlay_engine_info), "n_context", p, &p->n_context);
        Field(typeof(inlay_engine_info), "max_sessions", p, &p->max_sessions);
        Field(typeof(inlay_engine_info), "bos", p, &p->bos);
        Field(typeof(inlay_engine_info), "eos", p, &p->eos);
        Field(typeof(inlay_engine_info), "n_threads", p, &p->n_threads);
        Field(typeof(inlay_engine_info), "flags", p, &p->flags);
        Field(typeof(inlay_engine_info), "weight_dtype", p, &p->weight_dtype);
        Field(typeof(inlay_engine_info), "reserved", p, &p->reserved);
    }

    struct Behind_inlay_token_info { public byte Before; public inlay_token_info Value; }

    static void Print_inlay_token_info()
    {
        var behind = default(Behind_inlay_token_info);
        Struct(typeof(inlay_token_info), sizeof(inlay_token_info), (byte*)&behind.Value - (byte*)&behind);
        inlay_token_info* p = &behind.Value;
        Field(typeof(inlay_token_info), "struct_size", p, &p->struct_size);
        Field(typeof(inlay_token_info), "kind", p, &p->kind);
        Field(typeof(inlay_token_info), "flags", p, &p->flags);
        Field(typeof(inlay_token_info), "score", p, &p->score);
        Field(typeof(inlay_token_info), "piece_bytes", p, &p->piece_bytes);
        Field(typeof(inlay_token_info), "reserved", p, &p->reserved);
        Field(typeof(inlay_token_info), "piece", p, p->piece);
    }

    struct Behind_inlay_sampler_params { public byte Before; public inlay_sampler_params Value; }

    static void Print_inlay_sampler_params()
    {
        var behind = default(Behind_inlay_sampler_params);
        Struct(typeof(inlay_sampler_params), sizeof(inlay_sampler_params), (byte*)&behind.Value - (byte*)&behind);
        inlay_sampler_params* p = &behind.Value;
        Field(typeof(inlay_sampler_params), "struct_size", p, &p->struct_size);
        Field(typeof(inlay_sampler_params), "temperature", p, &p->temperature);
        Field(typeof(inlay_sampler_params), "top_k", p, &p->top_k);
        Field(typeof(inlay_sampler_params), "top_p", p, &p->top_p);
        Field(typeof(inlay_sampler_params), "min_p", p, &p->min_p);
        Field(typeof(inlay_sampler_params), "repetition_penalty", p, &p->repetition_penalty);
        Field(typeof(inlay_sampler_params), "frequency_penalty", p, &p->frequency_penalty);
        Field(typeof(inlay_sampler_params), "presence_penalty", p, &p->presence_penalty);
        Field(typeof(inlay_sampler_params), "penalty_window", p, &p->penalty_window);
        Field(typeof(inlay_sampler_params), "n_logprobs", p, &p->n_logprobs);
        Field(typeof(inlay_sampler_params), "seed", p, &p->seed);
        Field(typeof(inlay_sampler_params), "bias", p, &p->bias);
        Field(typeof(inlay_sampler_params), "n_bias", p, &p->n_bias);
        Field(typeof(inlay_sampler_params), "typical_p", p, &p->typical_p);
        Field(typeof(inlay_sampler_params), "top_n_sigma", p, &p->top_n_sigma);
        Field(typeof(inlay_sampler_params), "dynatemp_range", p, &p->dynatemp_range);
        Field(typeof(inlay_sampler_params), "dynatemp_exponent", p, &p->dynatemp_exponent);
        Field(typeof(inlay_sampler_params), "xtc_probability", p, &p->xtc_probability);
        Field(typeof(inlay_sampler_params), "xtc_threshold", p, &p->xtc_threshold);
        Field(typeof(inlay_sampler_params), "mirostat_tau", p, &p->mirostat_tau);
        Field(typeof(inlay_sampler_params), "mirostat_eta", p, &p->mirostat_eta);
        Field(typeof(inlay_sampler_params), "adaptive_target", p, &p->adaptive_target);
        Field(typeof(inlay_sampler_params), "adaptive_decay", p, &p->adaptive_decay);
        Field(typeof(inlay_sampler_params), "dry_multiplier", p, &p->dry_multiplier);
        Field(typeof(inlay_sampler_params), "dry_base", p, &p->dry_base);
        Field(typeof(inlay_sampler_params), "dry_allowed_length", p, &p->dry_allowed_length);
        Field(typeof(inlay_sampler_params), "dry_window", p, &p->dry_window);
        Field(typeof(inlay_sampler_params), "dry_breakers", p, &p->dry_breakers);
        Field(typeof(inlay_sampler_params), "n_dry_breakers", p, &p->n_dry_breakers);
        Field(typeof(inlay_sampler_params), "flags", p, &p->flags);
        Field(typeof(inlay_sampler_params), "reserved", p, &p->reserved);
    }

    struct Behind_inlay_session_params { public byte Before; public inlay_session_params Value; }

    static void Print_inlay_session_params()
    {
        var behind = default(Behind_inlay_session_params);
        Struct(typeof(inlay_session_params), sizeof(inlay_session_params), (byte*)&behind.Value - (byte*)&behind);
        inlay_session_params* p = &behind.Value;
        Field(typeof(inlay_session_params), "struct_size", p, &p->struct_size);
        Field(typeof(inlay_session_params), "flags", p, &p->flags);
        Field(typeof(inlay_session_params), "sampler", p, &p->sampler);
        Field(typeof(inlay_session_params), "stream", p, &p->stream);
        Field(typeof(inlay_session_params), "max_tokens", p, &p->max_tokens);
        Field(typeof(inlay_session_params), "reserved", p, &p->reserved);
        Field(typeof(inlay_session_params), "stop_tokens", p, &p->stop_tokens);
        Field(typeof(inlay_session_params), "n_stop_tokens", p, &p->n_stop_tokens);
        Field(typeof(inlay_session_params), "stops", p, &p->stops);
        Field(typeof(inlay_session_params), "n_stops", p, &p->n_stops);
        Field(typeof(inlay_session_params), "constraint", p, &p->constraint);
    }

    struct Behind_inlay_session_info { public byte Before; public inlay_session_info Value; }

    static void Print_inlay_session_info()
    {
        var behind = default(Behind_inlay_session_info);
        Struct(typeof(inlay_session_info), sizeof(inlay_session_info), (byte*)&behind.Value - (byte*)&behind);
        inlay_session_info* p = &behind.Value;
        Field(typeof(inlay_session_info), "struct_size", p, &p->struct_size);
        Field(typeof(inlay_session_info), "finish_reason", p, &p->finish_reason);
        Field(typeof(inlay_session_info), "n_tokens", p, &p->n_tokens);
        Field(typeof(inlay_session_info), "n_context", p, &p->n_context);
        Field(typeof(inlay_session_info), "n_generated", p, &p->n_generated);
        Field(typeof(inlay_session_info), "n_kv_blocks", p, &p->n_kv_blocks);
        Field(typeof(inlay_session_info), "text_pending", p, &p->text_pending);
        Field(typeof(inlay_session_info), "generation", p, &p->generation);
        Field(typeof(inlay_session_info), "constraint_state", p, &p->constraint_state);
        Field(typeof(inlay_session_info), "reserved", p, &p->reserved);
    }

    struct Behind_inlay_event { public byte Before; public inlay_event Value; }

    static void Print_inlay_event()
    {
        var behind = default(Behind_inlay_event);
        Struct(typeof(inlay_event), sizeof(inlay_event), (byte*)&behind.Value - (byte*)&behind);
        inlay_event* p = &behind.Value;
        Field(typeof(inlay_event), "status", p, &p->status);
        Field(typeof(inlay_event), "kind", p, &p->kind);
        Field(typeof(inlay_event), "session_index", p, &p->session_index);
        Field(typeof(inlay_event), "token", p, &p->token);
        Field(typeof(inlay_event), "finish_reason", p, &p->finish_reason);
        Field(typeof(inlay_event), "logprob", p, &p->logprob);
        Field(typeof(inlay_event), "n_logprobs", p, &p->n_logprobs);
        Field(typeof(inlay_event), "text_bytes", p, &p->text_bytes);
        Field(typeof(inlay_event), "text_pending", p, &p->text_pending);
        Field(typeof(inlay_event), "top", p, &p->top);
        Field(typeof(inlay_event), "text", p, p->text);
        Field(typeof(inlay_event), "n_tokens", p, &p->n_tokens);
        Field(typeof(inlay_event), "reserved", p, &p->reserved);
    }

    struct Behind_inlay_stats { public byte Before; public inlay_stats Value; }

    static void Print_inlay_stats()
    {
        var behind = default(Behind_inlay_stats);
        Struct(typeof(inlay_stats), sizeof(inlay_stats), (byte*)&behind.Value - (byte*)&behind);
        inlay_stats* p = &behind.Value;
        Field(typeof(inlay_stats), "struct_size", p, &p->struct_size);
        Field(typeof(inlay_stats), "n_sessions", p, &p->n_sessions);
        Field(typeof(inlay_stats), "n_prefill_tokens", p, &p->n_prefill_tokens);
        Field(typeof(inlay_stats), "n_decode_tokens", p, &p->n_decode_tokens);
        Field(typeof(inlay_stats), "n_decode_steps", p, &p->n_decode_steps);
        Field(typeof(inlay_stats), "load_seconds", p, &p->load_seconds);
        Field(typeof(inlay_stats), "prefill_seconds", p, &p->prefill_seconds);
        Field(typeof(inlay_stats), "decode_seconds", p, &p->decode_seconds);
        Field(typeof(inlay_stats), "n_kv_blocks", p, &p->n_kv_blocks);
        Field(typeof(inlay_stats), "n_kv_blocks_used", p, &p->n_kv_blocks_used);
        Field(typeof(inlay_stats), "n_kv_blocks_peak", p, &p->n_kv_blocks_peak);
        Field(typeof(inlay_stats), "n_block_tokens", p, &p->n_block_tokens);
        Field(typeof(inlay_stats), "n_kv_blocks_to_host", p, &p->n_kv_blocks_to_host);
        Field(typeof(inlay_stats), "n_kv_blocks_from_host", p, &p->n_kv_blocks_from_host);
        Field(typeof(inlay_stats), "n_kv_blocks_host_dropped", p, &p->n_kv_blocks_host_dropped);
        Field(typeof(inlay_stats), "prefix_cache_host_bytes_taken", p, &p->prefix_cache_host_bytes_taken);
        Field(typeof(inlay_stats), "n_kv_blocks_on_host", p, &p->n_kv_blocks_on_host);
        Field(typeof(inlay_stats), "reserved", p, &p->reserved);
    }

    struct Behind_inlay_profile_params { public byte Before; public inlay_profile_params Value; }

    static void Print_inlay_profile_params()
    {
        var behind = default(Behind_inlay_profile_params);
        Struct(typeof(inlay_profile_params), sizeof(inlay_profile_params), (byte*)&behind.Value - (byte*)&behind);
        inlay_profile_params* p = &behind.Value;
        Field(typeof(inlay_profile_params), "struct_size", p, &p->struct_size);
        Field(typeof(inlay_profile_params), "n_tokens", p, &p->n_tokens);
        Field(typeof(inlay_profile_params), "n_past", p, &p->n_past);
        Field(typeof(inlay_profile_params), "n_repetitions", p, &p->n_repetitions);
    }

    struct Behind_inlay_convert_params { public byte Before; public inlay_convert_params Value; }

    static void Print_inlay_convert_params()
    {
        var behind = default(Behind_inlay_convert_params);
        Struct(typeof(inlay_convert_params), sizeof(inlay_convert_params), (byte*)&behind.Value - (byte*)&behind);
        inlay_convert_params* p = &behind.Value;
        Field(typeof(inlay_convert_params), "struct_size", p, &p->struct_size);
        Field(typeof(inlay_convert_params), "type", p, &p->type);
        Field(typeof(inlay_convert_params), "n_threads", p, &p->n_threads);
        Field(typeof(inlay_convert_params), "reserved", p, &p->reserved);
        Field(typeof(inlay_convert_params), "progress", p, &p->progress);
        Field(typeof(inlay_convert_params), "progress_user", p, &p->progress_user);
        Field(typeof(inlay_convert_params), "log", p, &p->log);
        Field(typeof(inlay_convert_params), "log_user", p, &p->log_user);
    }

    struct Behind_inlay_chat_params { public byte Before; public inlay_chat_params Value; }

    static void Print_inlay_chat_params()
    {
        var behind = default(Behind_inlay_chat_params);
        Struct(typeof(inlay_chat_params), sizeof(inlay_chat_params), (byte*)&behind.Value - (byte*)&behind);
        inlay_chat_params* p = &behind.Value;
        Field(typeof(inlay_chat_params), "struct_size", p, &p->struct_size);
        Field(typeof(inlay_chat_params), "flags", p, &p->flags);
        Field(typeof(inlay_chat_params), "chat_template", p, &p->chat_template);
        Field(typeof(inlay_chat_params), "template_len", p, &p->template_len);
    }

    struct Behind_inlay_embed_params { public byte Before; public inlay_embed_params Value; }

    static void Print_inlay_embed_params()
    {
        var behind = default(Behind_inlay_embed_params);
        Struct(typeof(inlay_embed_params), sizeof(inlay_embed_params), (byte*)&behind.Value - (byte*)&behind);
        inlay_embed_params* p = &behind.Value;
        Field(typeof(inlay_embed_params), "struct_size", p, &p->struct_size);
        Field(typeof(inlay_embed_params), "pooling", p, &p->pooling);
        Field(typeof(inlay_embed_params), "flags", p, &p->flags);
        Field(typeof(inlay_embed_params), "reserved", p, &p->reserved);
        Field(typeof(inlay_embed_params), "progress", p, &p->progress);
        Field(typeof(inlay_embed_params), "progress_user", p, &p->progress_user);
    }

    struct Behind_inlay_embed_input { public byte Before; public inlay_embed_input Value; }

    static void Print_inlay_embed_input()
    {
        var behind = default(Behind_inlay_embed_input);
        Struct(typeof(inlay_embed_input), sizeof(inlay_embed_input), (byte*)&behind.Value - (byte*)&behind);
        inlay_embed_input* p = &behind.Value;
        Field(typeof(inlay_embed_input), "tokens", p, &p->tokens);
        Field(typeof(inlay_embed_input), "n_tokens", p, &p->n_tokens);
        Field(typeof(inlay_embed_input), "text", p, &p->text);
        Field(typeof(inlay_embed_input), "text_len", p, &p->text_len);
    }

    struct Behind_inlay_score_params { public byte Before; public inlay_score_params Value; }

    static void Print_inlay_score_params()
    {
        var behind = default(Behind_inlay_score_params);
        Struct(typeof(inlay_score_params), sizeof(inlay_score_params), (byte*)&behind.Value - (byte*)&behind);
        inlay_score_params* p = &behind.Value;
        Field(typeof(inlay_score_params), "struct_size", p, &p->struct_size);
        Field(typeof(inlay_score_params), "n_given", p, &p->n_given);
        Field(typeof(inlay_score_params), "n_logprobs", p, &p->n_logprobs);
        Field(typeof(inlay_score_params), "reserved", p, &p->reserved);
        Field(typeof(inlay_score_params), "progress", p, &p->progress);
        Field(typeof(inlay_score_params), "progress_user", p, &p->progress_user);
    }

    struct Behind_inlay_token_score { public byte Before; public inlay_token_score Value; }

    static void Print_inlay_token_score()
    {
        var behind = default(Behind_inlay_token_score);
        Struct(typeof(inlay_token_score), sizeof(inlay_token_score), (byte*)&behind.Value - (byte*)&behind);
        inlay_token_score* p = &behind.Value;
        Field(typeof(inlay_token_score), "logprob", p, &p->logprob);
        Field(typeof(inlay_token_score), "rank", p, &p->rank);
        Field(typeof(inlay_token_score), "against_logprob", p, &p->against_logprob);
        Field(typeof(inlay_token_score), "against_rank", p, &p->against_rank);
        Field(typeof(inlay_token_score), "divergence", p, &p->divergence);
        Field(typeof(inlay_token_score), "same_best", p, &p->same_best);
    }

    struct Behind_inlay_logits { public byte Before; public inlay_logits Value; }

    static void Print_inlay_logits()
    {
        var behind = default(Behind_inlay_logits);
        Struct(typeof(inlay_logits), sizeof(inlay_logits), (byte*)&behind.Value - (byte*)&behind);
        inlay_logits* p = &behind.Value;
        Field(typeof(inlay_logits), "struct_size", p, &p->struct_size);
        Field(typeof(inlay_logits), "reserved", p, &p->reserved);
        Field(typeof(inlay_logits), "values", p, &p->values);
        Field(typeof(inlay_logits), "n_values", p, &p->n_values);
    }

    struct Behind_inlay_queue_params { public byte Before; public inlay_queue_params Value; }

    static void Print_inlay_queue_params()
    {
        var behind = default(Behind_inlay_queue_params);
        Struct(typeof(inlay_queue_params), sizeof(inlay_queue_params), (byte*)&behind.Value - (byte*)&behind);
        inlay_queue_params* p = &behind.Value;
        Field(typeof(inlay_queue_params), "struct_size", p, &p->struct_size);
        Field(typeof(inlay_queue_params), "reserved", p, &p->reserved);
        Field(typeof(inlay_queue_params), "max_requests", p, &p->max_requests);
        Field(typeof(inlay_queue_params), "max_unread_tokens", p, &p->max_unread_tokens);
        Field(typeof(inlay_queue_params), "wake", p, &p->wake);
        Field(typeof(inlay_queue_params), "wake_user", p, &p->wake_user);
    }

    struct Behind_inlay_request { public byte Before; public inlay_request Value; }

    static void Print_inlay_request()
    {
        var behind = default(Behind_inlay_request);
        Struct(typeof(inlay_request), sizeof(inlay_request), (byte*)&behind.Value - (byte*)&behind);
        inlay_request* p = &behind.Value;
        Field(typeof(inlay_request), "struct_size", p, &p->struct_size);
        Field(typeof(inlay_request), "kind", p, &p->kind);
        Field(typeof(inlay_request), "tokens", p, &p->tokens);
        Field(typeof(inlay_request), "n_tokens", p, &p->n_tokens);
        Field(typeof(inlay_request), "text", p, &p->text);
        Field(typeof(inlay_request), "text_len", p, &p->text_len);
        Field(typeof(inlay_request), "conversation", p, &p->conversation);
        Field(typeof(inlay_request), "conversation_len", p, &p->conversation_len);
        Field(typeof(inlay_request), "chat", p, &p->chat);
        Field(typeof(inlay_request), "session_params", p, &p->session_params);
        Field(typeof(inlay_request), "priority", p, &p->priority);
        Field(typeof(inlay_request), "reserved", p, &p->reserved);
        Field(typeof(inlay_request), "deadline_us", p, &p->deadline_us);
        Field(typeof(inlay_request), "timeout_us", p, &p->timeout_us);
        Field(typeof(inlay_request), "user", p, &p->user);
        Field(typeof(inlay_request), "continues", p, &p->continues);
        Field(typeof(inlay_request), "embed", p, &p->embed);
        Field(typeof(inlay_request), "cache_salt", p, &p->cache_salt);
    }

    struct Behind_inlay_request_event { public byte Before; public inlay_request_event Value; }

    static void Print_inlay_request_event()
    {
        var behind = default(Behind_inlay_request_event);
        Struct(typeof(inlay_request_event), sizeof(inlay_request_event), (byte*)&behind.Value - (byte*)&behind);
        inlay_request_event* p = &behind.Value;
        Field(typeof(inlay_request_event), "request_id", p, &p->request_id);
        Field(typeof(inlay_request_event), "number", p, &p->number);
        Field(typeof(inlay_request_event), "user", p, &p->user);
        Field(typeof(inlay_request_event), "kind", p, &p->kind);
        Field(typeof(inlay_request_event), "n_tokens", p, &p->n_tokens);
        Field(typeof(inlay_request_event), "first_token", p, &p->first_token);
        Field(typeof(inlay_request_event), "first_byte", p, &p->first_byte);
        Field(typeof(inlay_request_event), "text_bytes", p, &p->text_bytes);
        Field(typeof(inlay_request_event), "finish_reason", p, &p->finish_reason);
        Field(typeof(inlay_request_event), "status", p, &p->status);
        Field(typeof(inlay_request_event), "n_prompt", p, &p->n_prompt);
        Field(typeof(inlay_request_event), "n_cached", p, &p->n_cached);
        Field(typeof(inlay_request_event), "n_drawn", p, &p->n_drawn);
        Field(typeof(inlay_request_event), "n_top", p, &p->n_top);
        Field(typeof(inlay_request_event), "queued_us", p, &p->queued_us);
        Field(typeof(inlay_request_event), "prompt_us", p, &p->prompt_us);
        Field(typeof(inlay_request_event), "decode_us", p, &p->decode_us);
        Field(typeof(inlay_request_event), "n_values", p, &p->n_values);
    }

    struct Behind_inlay_run_params { public byte Before; public inlay_run_params Value; }

    static void Print_inlay_run_params()
    {
        var behind = default(Behind_inlay_run_params);
        Struct(typeof(inlay_run_params), sizeof(inlay_run_params), (byte*)&behind.Value - (byte*)&behind);
        inlay_run_params* p = &behind.Value;
        Field(typeof(inlay_run_params), "struct_size", p, &p->struct_size);
        Field(typeof(inlay_run_params), "flags", p, &p->flags);
        Field(typeof(inlay_run_params), "budget_us", p, &p->budget_us);
        Field(typeof(inlay_run_params), "max_step_us", p, &p->max_step_us);
        Field(typeof(inlay_run_params), "host_budget_us", p, &p->host_budget_us);
    }

    struct Behind_inlay_run_info { public byte Before; public inlay_run_info Value; }

    static void Print_inlay_run_info()
    {
        var behind = default(Behind_inlay_run_info);
        Struct(typeof(inlay_run_info), sizeof(inlay_run_info), (byte*)&behind.Value - (byte*)&behind);
        inlay_run_info* p = &behind.Value;
        Field(typeof(inlay_run_info), "struct_size", p, &p->struct_size);
        Field(typeof(inlay_run_info), "flags", p, &p->flags);
        Field(typeof(inlay_run_info), "n_tokens", p, &p->n_tokens);
        Field(typeof(inlay_run_info), "n_requests", p, &p->n_requests);
        Field(typeof(inlay_run_info), "reserved", p, &p->reserved);
    }

    struct Behind_inlay_thread_params { public byte Before; public inlay_thread_params Value; }

    static void Print_inlay_thread_params()
    {
        var behind = default(Behind_inlay_thread_params);
        Struct(typeof(inlay_thread_params), sizeof(inlay_thread_params), (byte*)&behind.Value - (byte*)&behind);
        inlay_thread_params* p = &behind.Value;
        Field(typeof(inlay_thread_params), "struct_size", p, &p->struct_size);
        Field(typeof(inlay_thread_params), "reserved", p, &p->reserved);
        Field(typeof(inlay_thread_params), "busy_us", p, &p->busy_us);
        Field(typeof(inlay_thread_params), "period_us", p, &p->period_us);
        Field(typeof(inlay_thread_params), "max_step_us", p, &p->max_step_us);
    }

    struct Behind_inlay_constraint_params { public byte Before; public inlay_constraint_params Value; }

    static void Print_inlay_constraint_params()
    {
        var behind = default(Behind_inlay_constraint_params);
        Struct(typeof(inlay_constraint_params), sizeof(inlay_constraint_params), (byte*)&behind.Value - (byte*)&behind);
        inlay_constraint_params* p = &behind.Value;
        Field(typeof(inlay_constraint_params), "struct_size", p, &p->struct_size);
        Field(typeof(inlay_constraint_params), "kind", p, &p->kind);
        Field(typeof(inlay_constraint_params), "flags", p, &p->flags);
        Field(typeof(inlay_constraint_params), "reserved", p, &p->reserved);
        Field(typeof(inlay_constraint_params), "text", p, &p->text);
        Field(typeof(inlay_constraint_params), "text_len", p, &p->text_len);
        Field(typeof(inlay_constraint_params), "choices", p, &p->choices);
        Field(typeof(inlay_constraint_params), "n_choices", p, &p->n_choices);
        Field(typeof(inlay_constraint_params), "prompt", p, &p->prompt);
        Field(typeof(inlay_constraint_params), "n_prompt", p, &p->n_prompt);
        Field(typeof(inlay_constraint_params), "format", p, &p->format);
        Field(typeof(inlay_constraint_params), "format_len", p, &p->format_len);
        Field(typeof(inlay_constraint_params), "chat_template", p, &p->chat_template);
        Field(typeof(inlay_constraint_params), "template_len", p, &p->template_len);
    }

    struct Behind_inlay_constraint_info { public byte Before; public inlay_constraint_info Value; }

    static void Print_inlay_constraint_info()
    {
        var behind = default(Behind_inlay_constraint_info);
        Struct(typeof(inlay_constraint_info), sizeof(inlay_constraint_info), (byte*)&behind.Value - (byte*)&behind);
        inlay_constraint_info* p = &behind.Value;
        Field(typeof(inlay_constraint_info), "struct_size", p, &p->struct_size);
        Field(typeof(inlay_constraint_info), "n_remarks", p, &p->n_remarks);
        Field(typeof(inlay_constraint_info), "memory_bytes", p, &p->memory_bytes);
    }

    struct Behind_inlay_state_writer { public byte Before; public inlay_state_writer Value; }

    static void Print_inlay_state_writer()
    {
        var behind = default(Behind_inlay_state_writer);
        Struct(typeof(inlay_state_writer), sizeof(inlay_state_writer), (byte*)&behind.Value - (byte*)&behind);
        inlay_state_writer* p = &behind.Value;
        Field(typeof(inlay_state_writer), "struct_size", p, &p->struct_size);
        Field(typeof(inlay_state_writer), "reserved", p, &p->reserved);
        Field(typeof(inlay_state_writer), "user", p, &p->user);
        Field(typeof(inlay_state_writer), "write", p, &p->write);
    }

    struct Behind_inlay_state_reader { public byte Before; public inlay_state_reader Value; }

    static void Print_inlay_state_reader()
    {
        var behind = default(Behind_inlay_state_reader);
        Struct(typeof(inlay_state_reader), sizeof(inlay_state_reader), (byte*)&behind.Value - (byte*)&behind);
        inlay_state_reader* p = &behind.Value;
        Field(typeof(inlay_state_reader), "struct_size", p, &p->struct_size);
        Field(typeof(inlay_state_reader), "reserved", p, &p->reserved);
        Field(typeof(inlay_state_reader), "user", p, &p->user);
        Field(typeof(inlay_state_reader), "read", p, &p->read);
    }

    struct Behind_inlay_chat_parser_params { public byte Before; public inlay_chat_parser_params Value; }

    static void Print_inlay_chat_parser_params()
    {
        var behind = default(Behind_inlay_chat_parser_params);
        Struct(typeof(inlay_chat_parser_params), sizeof(inlay_chat_parser_params), (byte*)&behind.Value - (byte*)&behind);
        inlay_chat_parser_params* p = &behind.Value;
        Field(typeof(inlay_chat_parser_params), "struct_size", p, &p->struct_size);
        Field(typeof(inlay_chat_parser_params), "flags", p, &p->flags);
        Field(typeof(inlay_chat_parser_params), "format", p, &p->format);
        Field(typeof(inlay_chat_parser_params), "format_len", p, &p->format_len);
        Field(typeof(inlay_chat_parser_params), "chat_template", p, &p->chat_template);
        Field(typeof(inlay_chat_parser_params), "template_len", p, &p->template_len);
        Field(typeof(inlay_chat_parser_params), "tools", p, &p->tools);
        Field(typeof(inlay_chat_parser_params), "tools_len", p, &p->tools_len);
        Field(typeof(inlay_chat_parser_params), "prompt", p, &p->prompt);
        Field(typeof(inlay_chat_parser_params), "n_prompt", p, &p->n_prompt);
    }

    struct Behind_inlay_chat_delta { public byte Before; public inlay_chat_delta Value; }

    static void Print_inlay_chat_delta()
    {
        var behind = default(Behind_inlay_chat_delta);
        Struct(typeof(inlay_chat_delta), sizeof(inlay_chat_delta), (byte*)&behind.Value - (byte*)&behind);
        inlay_chat_delta* p = &behind.Value;
        Field(typeof(inlay_chat_delta), "kind", p, &p->kind);
        Field(typeof(inlay_chat_delta), "flags", p, &p->flags);
        Field(typeof(inlay_chat_delta), "call", p, &p->call);
        Field(typeof(inlay_chat_delta), "reserved", p, &p->reserved);
        Field(typeof(inlay_chat_delta), "first_byte", p, &p->first_byte);
        Field(typeof(inlay_chat_delta), "text_bytes", p, &p->text_bytes);
    }

    struct Behind_inlay_chat_parser_info { public byte Before; public inlay_chat_parser_info Value; }

    static void Print_inlay_chat_parser_info()
    {
        var behind = default(Behind_inlay_chat_parser_info);
        Struct(typeof(inlay_chat_parser_info), sizeof(inlay_chat_parser_info), (byte*)&behind.Value - (byte*)&behind);
        inlay_chat_parser_info* p = &behind.Value;
        Field(typeof(inlay_chat_parser_info), "struct_size", p, &p->struct_size);
        Field(typeof(inlay_chat_parser_info), "flags", p, &p->flags);
        Field(typeof(inlay_chat_parser_info), "n_calls", p, &p->n_calls);
        Field(typeof(inlay_chat_parser_info), "reserved", p, &p->reserved);
    }

    static void Main()
    {
        Constant("INLAY_MAX_LOGPROBS", Api.INLAY_MAX_LOGPROBS);
        Constant("INLAY_EVENT_TEXT_BYTES", Api.INLAY_EVENT_TEXT_BYTES);
        Constant("INLAY_ERROR_MESSAGE_BYTES", Api.INLAY_ERROR_MESSAGE_BYTES);
        Constant("INLAY_DEVICE_NAME_BYTES", Api.INLAY_DEVICE_NAME_BYTES);
        Constant("INLAY_TOKEN_PIECE_BYTES", Api.INLAY_TOKEN_PIECE_BYTES);
        Enumeration("inlay_status", typeof(Status));
        Constant("INLAY_OK", (long)Status.Ok);
        Constant("INLAY_INVALID_ARGUMENT", (long)Status.InvalidArgument);
        Constant("INLAY_NOT_FOUND", (long)Status.NotFound);
        Constant("INLAY_IO", (long)Status.Io);
        Constant("INLAY_FORMAT", (long)Status.Format);
        Constant("INLAY_UNSUPPORTED", (long)Status.Unsupported);
        Constant("INLAY_OUT_OF_MEMORY", (long)Status.OutOfMemory);
        Constant("INLAY_DEVICE_OUT_OF_MEMORY", (long)Status.DeviceOutOfMemory);
        Constant("INLAY_CONTEXT_FULL", (long)Status.ContextFull);
        Constant("INLAY_KV_FULL", (long)Status.KvFull);
        Constant("INLAY_BUFFER_TOO_SMALL", (long)Status.BufferTooSmall);
        Constant("INLAY_CANCELLED", (long)Status.Cancelled);
        Constant("INLAY_BUSY", (long)Status.Busy);
        Constant("INLAY_NO_DEVICE", (long)Status.NoDevice);
        Constant("INLAY_DEVICE_LOST", (long)Status.DeviceLost);
        Constant("INLAY_INTERNAL", (long)Status.Internal);
        Constant("INLAY_SESSION_LIMIT", (long)Status.SessionLimit);
        Constant("INLAY_INVALID_STATE", (long)Status.InvalidState);
        Constant("INLAY_QUEUE_FULL", (long)Status.QueueFull);
        Enumeration("inlay_device_kind", typeof(DeviceKind));
        Constant("INLAY_DEVICE_AUTO", (long)DeviceKind.Auto);
        Constant("INLAY_DEVICE_CPU", (long)DeviceKind.Cpu);
        Constant("INLAY_DEVICE_CUDA", (long)DeviceKind.Cuda);
        Constant("INLAY_DEVICE_REFERENCE", (long)DeviceKind.Reference);
        Enumeration("inlay_kv_dtype", typeof(KvDtype));
        Constant("INLAY_KV_DEFAULT", (long)KvDtype.Default);
        Constant("INLAY_KV_F16", (long)KvDtype.F16);
        Constant("INLAY_KV_F32", (long)KvDtype.F32);
        Constant("INLAY_KV_FP8", (long)KvDtype.Fp8);
        Constant("INLAY_KV_INT8", (long)KvDtype.Int8);
        Enumeration("inlay_log_level", typeof(LogSeverity));
        Constant("INLAY_LOG_OFF", (long)LogSeverity.Off);
        Constant("INLAY_LOG_DEFAULT", (long)LogSeverity.Default);
        Constant("INLAY_LOG_ERROR", (long)LogSeverity.Error);
        Constant("INLAY_LOG_WARNING", (long)LogSeverity.Warning);
        Constant("INLAY_LOG_INFO", (long)LogSeverity.Info);
        Constant("INLAY_LOG_DEBUG", (long)LogSeverity.Debug);
        Enumeration("inlay_finish_reason", typeof(FinishReason));
        Constant("INLAY_FINISH_NONE", (long)FinishReason.None);
        Constant("INLAY_FINISH_END_OF_GENERATION", (long)FinishReason.EndOfGeneration);
        Constant("INLAY_FINISH_STOP_STRING", (long)FinishReason.StopString);
        Constant("INLAY_FINISH_MAX_TOKENS", (long)FinishReason.MaxTokens);
        Constant("INLAY_FINISH_CANCELLED", (long)FinishReason.Cancelled);
        Constant("INLAY_FINISH_STOP_TOKEN", (long)FinishReason.StopToken);
        Constant("INLAY_FINISH_CONTEXT_FULL", (long)FinishReason.ContextFull);
        Constant("INLAY_FINISH_TIMEOUT", (long)FinishReason.Timeout);
        Constant("INLAY_FINISH_ERROR", (long)FinishReason.Error);
        Constant("INLAY_FINISH_CONSTRAINT_END", (long)FinishReason.ConstraintEnd);
        Constant("INLAY_FINISH_DEAD_END", (long)FinishReason.DeadEnd);
        Constant("INLAY_FINISH_PREFILLED", (long)FinishReason.Prefilled);
        Constant("INLAY_FINISH_EMBEDDED", (long)FinishReason.Embedded);
        Enumeration("inlay_event_kind", typeof(EventKind));
        Constant("INLAY_EVENT_NONE", (long)EventKind.None);
        Constant("INLAY_EVENT_TOKEN", (long)EventKind.Token);
        Constant("INLAY_EVENT_FINISHED", (long)EventKind.Finished);
        Enumeration("inlay_token_kind", typeof(TokenKind));
        Constant("INLAY_TOKEN_NORMAL", (long)TokenKind.Normal);
        Constant("INLAY_TOKEN_UNKNOWN", (long)TokenKind.Unknown);
        Constant("INLAY_TOKEN_CONTROL", (long)TokenKind.Control);
        Constant("INLAY_TOKEN_USER_DEFINED", (long)TokenKind.UserDefined);
        Constant("INLAY_TOKEN_UNUSED", (long)TokenKind.Unused);
        Constant("INLAY_TOKEN_BYTE", (long)TokenKind.Byte);
        Enumeration("inlay_engine_flags", typeof(EngineFlags));
        Constant("INLAY_ENGINE_HAS_TOKENIZER", (long)EngineFlags.HasTokenizer);
        Constant("INLAY_ENGINE_ADDS_BOS", (long)EngineFlags.AddsBos);
        Enumeration("inlay_tokenize_flags", typeof(TokenizeFlags));
        Constant("INLAY_TOKENIZE_NO_BOS_EOS", (long)TokenizeFlags.NoBosEos);
        Constant("INLAY_TOKENIZE_PARSE_SPECIAL", (long)TokenizeFlags.ParseSpecial);
        Enumeration("inlay_detokenize_flags", typeof(DetokenizeFlags));
        Constant("INLAY_DETOKENIZE_SHOW_SPECIAL", (long)DetokenizeFlags.ShowSpecial);
        Enumeration("inlay_token_flags", typeof(TokenFlags));
        Constant("INLAY_TOKEN_FLAG_END_OF_GENERATION", (long)TokenFlags.EndOfGeneration);
        Constant("INLAY_TOKEN_FLAG_CONTROL", (long)TokenFlags.Control);
        Enumeration("inlay_session_flags", typeof(SessionFlags));
        Constant("INLAY_SESSION_IGNORE_END_OF_GENERATION", (long)SessionFlags.IgnoreEndOfGeneration);
        Constant("INLAY_SESSION_RESERVE", (long)SessionFlags.Reserve);
        Constant("INLAY_SESSION_FOR_REQUESTS", (long)SessionFlags.ForRequests);
        Enumeration("inlay_profile_form", typeof(ProfileForm));
        Constant("INLAY_PROFILE_KINDS", (long)ProfileForm.Kinds);
        Constant("INLAY_PROFILE_TIMELINE", (long)ProfileForm.Timeline);
        Constant("INLAY_PROFILE_TRACE", (long)ProfileForm.Trace);
        Enumeration("inlay_load_flags", typeof(LoadFlags));
        Constant("INLAY_LOAD_NO_CUBLAS", (long)LoadFlags.NoCublas);
        Constant("INLAY_LOAD_RUN_AHEAD", (long)LoadFlags.RunAhead);
        Constant("INLAY_LOAD_TAKE_PAGES_LATER", (long)LoadFlags.TakePagesLater);
        Constant("INLAY_LOAD_EXACT_ACTIVATIONS", (long)LoadFlags.ExactActivations);
        Constant("INLAY_LOAD_NO_PREFIX_CACHE", (long)LoadFlags.NoPrefixCache);
        Enumeration("inlay_weight_dtype", typeof(WeightDtype));
        Constant("INLAY_WEIGHT_DEFAULT", (long)WeightDtype.Default);
        Constant("INLAY_WEIGHT_FP8", (long)WeightDtype.Fp8);
        Constant("INLAY_WEIGHT_Q8_0", (long)WeightDtype.Q80);
        Constant("INLAY_WEIGHT_Q4_0", (long)WeightDtype.Q40);
        Constant("INLAY_WEIGHT_Q4_K_M", (long)WeightDtype.Q4KM);
        Constant("INLAY_WEIGHT_Q5_K_M", (long)WeightDtype.Q5KM);
        Constant("INLAY_WEIGHT_Q6_K", (long)WeightDtype.Q6K);
        Enumeration("inlay_sampler_flags", typeof(SamplerFlags));
        Constant("INLAY_SAMPLER_NO_DRY_BREAKERS", (long)SamplerFlags.NoDryBreakers);
        Constant("INLAY_SAMPLER_TEMPERATURE_LAST", (long)SamplerFlags.TemperatureLast);
        Constant("INLAY_SAMPLER_SPARE_END_TOKENS", (long)SamplerFlags.SpareEndTokens);
        Enumeration("inlay_convert_type", typeof(ConvertType));
        Constant("INLAY_CONVERT_DEFAULT", (long)ConvertType.Default);
        Constant("INLAY_CONVERT_Q8_0", (long)ConvertType.Q80);
        Constant("INLAY_CONVERT_Q4_0", (long)ConvertType.Q40);
        Constant("INLAY_CONVERT_Q4_K_M", (long)ConvertType.Q4KM);
        Constant("INLAY_CONVERT_Q5_K_M", (long)ConvertType.Q5KM);
        Constant("INLAY_CONVERT_Q6_K", (long)ConvertType.Q6K);
        Constant("INLAY_CONVERT_F16", (long)ConvertType.F16);
        Constant("INLAY_CONVERT_BF16", (long)ConvertType.Bf16);
        Constant("INLAY_CONVERT_F32", (long)ConvertType.F32);
        Enumeration("inlay_explain_form", typeof(ExplainForm));
        Constant("INLAY_EXPLAIN_TEXT", (long)ExplainForm.Text);
        Constant("INLAY_EXPLAIN_JSON", (long)ExplainForm.Json);
        Enumeration("inlay_chat_flags", typeof(ChatFlags));
        Constant("INLAY_CHAT_ADD_GENERATION_PROMPT", (long)ChatFlags.AddGenerationPrompt);
        Constant("INLAY_CHAT_CONTINUE_FINAL_MESSAGE", (long)ChatFlags.ContinueFinalMessage);
        Enumeration("inlay_pooling", typeof(Pooling));
        Constant("INLAY_POOLING_DEFAULT", (long)Pooling.Default);
        Constant("INLAY_POOLING_MEAN", (long)Pooling.Mean);
        Constant("INLAY_POOLING_LAST", (long)Pooling.Last);
        Constant("INLAY_POOLING_FIRST", (long)Pooling.First);
        Enumeration("inlay_embed_flags", typeof(EmbedFlags));
        Constant("INLAY_EMBED_NORMALIZE", (long)EmbedFlags.Normalize);
        Constant("INLAY_EMBED_NO_PROMPT", (long)EmbedFlags.NoPrompt);
        Enumeration("inlay_request_kind", typeof(RequestKind));
        Constant("INLAY_REQUEST_GENERATE", (long)RequestKind.Generate);
        Constant("INLAY_REQUEST_PREFILL", (long)RequestKind.Prefill);
        Constant("INLAY_REQUEST_EMBED", (long)RequestKind.Embed);
        Enumeration("inlay_request_event_kind", typeof(RequestEventKind));
        Constant("INLAY_REQUEST_EVENT_TOKENS", (long)RequestEventKind.Tokens);
        Constant("INLAY_REQUEST_EVENT_END", (long)RequestEventKind.End);
        Enumeration("inlay_wait_kind", typeof(WaitKind));
        Constant("INLAY_WAIT_EVENTFD", (long)WaitKind.Eventfd);
        Constant("INLAY_WAIT_WINDOWS_EVENT", (long)WaitKind.WindowsEvent);
        Enumeration("inlay_wait_result", typeof(WaitResult));
        Constant("INLAY_WAIT_RESULT_TIME_OVER", (long)WaitResult.TimeOver);
        Constant("INLAY_WAIT_RESULT_READY", (long)WaitResult.Ready);
        Constant("INLAY_WAIT_RESULT_WOKEN", (long)WaitResult.Woken);
        Constant("INLAY_WAIT_RESULT_NOBODY_COMPUTES", (long)WaitResult.NobodyComputes);
        Enumeration("inlay_run_flags", typeof(RunFlags));
        Constant("INLAY_RUN_ONE_STEP", (long)RunFlags.OneStep);
        Constant("INLAY_RUN_NO_WAIT", (long)RunFlags.NoWait);
        Enumeration("inlay_run_info_flags", typeof(RunInfoFlags));
        Constant("INLAY_RUN_INFO_HAS_WORK", (long)RunInfoFlags.HasWork);
        Enumeration("inlay_constraint_kind", typeof(ConstraintKind));
        Constant("INLAY_CONSTRAINT_JSON_SCHEMA", (long)ConstraintKind.JsonSchema);
        Constant("INLAY_CONSTRAINT_ANY_JSON", (long)ConstraintKind.AnyJson);
        Constant("INLAY_CONSTRAINT_GBNF", (long)ConstraintKind.Gbnf);
        Constant("INLAY_CONSTRAINT_REGEX", (long)ConstraintKind.Regex);
        Constant("INLAY_CONSTRAINT_CHOICES", (long)ConstraintKind.Choices);
        Constant("INLAY_CONSTRAINT_MESSAGE", (long)ConstraintKind.Message);
        Enumeration("inlay_constraint_flags", typeof(ConstraintFlags));
        Constant("INLAY_CONSTRAINT_FLAG_COMPACT", (long)ConstraintFlags.Compact);
        Constant("INLAY_CONSTRAINT_FLAG_ESCAPES", (long)ConstraintFlags.Escapes);
        Constant("INLAY_CONSTRAINT_FLAG_LENIENT", (long)ConstraintFlags.Lenient);
        Enumeration("inlay_constraint_state", typeof(ConstraintState));
        Constant("INLAY_CONSTRAINT_STATE_NONE", (long)ConstraintState.None);
        Constant("INLAY_CONSTRAINT_STATE_INCOMPLETE", (long)ConstraintState.Incomplete);
        Constant("INLAY_CONSTRAINT_STATE_COMPLETE", (long)ConstraintState.Complete);
        Constant("INLAY_CONSTRAINT_STATE_DEAD", (long)ConstraintState.Dead);
        Enumeration("inlay_chat_delta_kind", typeof(ChatDeltaKind));
        Constant("INLAY_CHAT_DELTA_REASONING", (long)ChatDeltaKind.Reasoning);
        Constant("INLAY_CHAT_DELTA_CONTENT", (long)ChatDeltaKind.Content);
        Constant("INLAY_CHAT_DELTA_CALL_BEGIN", (long)ChatDeltaKind.CallBegin);
        Constant("INLAY_CHAT_DELTA_CALL_ID", (long)ChatDeltaKind.CallId);
        Constant("INLAY_CHAT_DELTA_ARGUMENTS", (long)ChatDeltaKind.Arguments);
        Constant("INLAY_CHAT_DELTA_CALL_END", (long)ChatDeltaKind.CallEnd);
        Enumeration("inlay_chat_delta_flags", typeof(ChatDeltaFlags));
        Constant("INLAY_CHAT_DELTA_FLAG_WHOLE", (long)ChatDeltaFlags.Whole);
        Enumeration("inlay_chat_parser_flags", typeof(ChatParserFlags));
        Constant("INLAY_CHAT_PARSER_WRITTEN_MARKERS", (long)ChatParserFlags.WrittenMarkers);
        Enumeration("inlay_chat_parser_info_flags", typeof(ChatParserInfoFlags));
        Constant("INLAY_CHAT_PARSER_INFO_FINISHED", (long)ChatParserInfoFlags.Finished);
        Constant("INLAY_CHAT_PARSER_INFO_COMPLETE", (long)ChatParserInfoFlags.Complete);
        Constant("INLAY_CHAT_PARSER_INFO_MALFORMED", (long)ChatParserInfoFlags.Malformed);
        Print_inlay_error();
        Print_inlay_text();
        Print_inlay_logit_bias();
        Print_inlay_token_logprob();
        Print_inlay_device_info();
        Print_inlay_reader();
        Print_inlay_load_params();
        Print_inlay_memory_info();
        Print_inlay_engine_info();
        Print_inlay_token_info();
        Print_inlay_sampler_params();
        Print_inlay_session_params();
        Print_inlay_session_info();
        Print_inlay_event();
        Print_inlay_stats();
        Print_inlay_profile_params();
        Print_inlay_convert_params();
        Print_inlay_chat_params();
        Print_inlay_embed_params();
        Print_inlay_embed_input();
        Print_inlay_score_params();
        Print_inlay_token_score();
        Print_inlay_logits();
        Print_inlay_queue_params();
        Print_inlay_request();
        Print_inlay_request_event();
        Print_inlay_run_params();
        Print_inlay_run_info();
        Print_inlay_thread_params();
        Print_inlay_constraint_params();
        Print_inlay_constraint_info();
        Print_inlay_state_writer();
        Print_inlay_state_reader();
        Print_inlay_chat_parser_params();
        Print_inlay_chat_delta();
        Print_inlay_chat_parser_info();
    }
}
