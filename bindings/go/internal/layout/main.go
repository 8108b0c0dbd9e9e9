// Code generated from bindings/api/inlay.toml by bindings/generate.py; DO NOT EDIT.

// Command layout prints the size and offset of every struct field and the value of every constant as the Go compiler
// sees them.
package main

import (
	"fmt"
	"unsafe"

	"inlay.dev/inlay/raw"
)

func constant(name string, value int64) { fmt.Printf("constant %s %d\n", name, value) }

func enum(name string, size uintptr) { fmt.Printf("enum %s size %d\n", name, size) }

func layout(name string, size, align uintptr) {
	fmt.Printf("struct %s size %d align %d\n", name, size, align)
}

func field(name string, offset, size uintptr) {
	fmt.Printf("field %s offset %d size %d\n", name, offset, size)
}

func main() {
	constant("INLAY_MAX_LOGPROBS", int64(raw.MaxLogprobs))
	constant("INLAY_EVENT_TEXT_BYTES", int64(raw.EventTextBytes))
	constant("INLAY_ERROR_MESSAGE_BYTES", int64(raw.ErrorMessageBytes))
	constant("INLAY_DEVICE_NAME_BYTES", int64(raw.DeviceNameBytes))
	constant("INLAY_TOKEN_PIECE_BYTES", int64(raw.TokenPieceBytes))
	enum("inlay_status", unsafe.Sizeof(raw.Status(0)))
	constant("INLAY_OK", int64(raw.StatusOK))
	constant("INLAY_INVALID_ARGUMENT", int64(raw.StatusInvalidArgument))
	constant("INLAY_NOT_FOUND", int64(raw.StatusNotFound))
	constant("INLAY_IO", int64(raw.StatusIO))
	constant("INLAY_FORMAT", int64(raw.StatusFormat))
	constant("INLAY_UNSUPPORTED", int64(raw.StatusUnsupported))
	constant("INLAY_OUT_OF_MEMORY", int64(raw.StatusOutOfMemory))
	constant("INLAY_DEVICE_OUT_OF_MEMORY", int64(raw.StatusDeviceOutOfMemory))
	constant("INLAY_CONTEXT_FULL", int64(raw.StatusContextFull))
	constant("INLAY_KV_FULL", int64(raw.StatusKVFull))
	constant("INLAY_BUFFER_TOO_SMALL", int64(raw.StatusBufferTooSmall))
	constant("INLAY_CANCELLED", int64(raw.StatusCancelled))
	constant("INLAY_BUSY", int64(raw.StatusBusy))
	constant("INLAY_NO_DEVICE", int64(raw.StatusNoDevice))
	constant("INLAY_DEVICE_LOST", int64(raw.StatusDeviceLost))
	constant("INLAY_INTERNAL", int64(raw.StatusInternal))
	constant("INLAY_SESSION_LIMIT", int64(raw.StatusSessionLimit))
	constant("INLAY_INVALID_STATE", int64(raw.StatusInvalidState))
	constant("INLAY_QUEUE_FULL", int64(raw.StatusQueueFull))
	enum("inlay_device_kind", unsafe.Sizeof(raw.DeviceKind(0)))
	constant("INLAY_DEVICE_AUTO", int64(raw.DeviceAuto))
	constant("INLAY_DEVICE_CPU", int64(raw.DeviceCPU))
	constant("INLAY_DEVICE_CUDA", int64(raw.DeviceCUDA))
	constant("INLAY_DEVICE_REFERENCE", int64(raw.DeviceReference))
	enum("inlay_kv_dtype", unsafe.Sizeof(raw.KVDtype(0)))
	constant("INLAY_KV_DEFAULT", int64(raw.KVDefault))
	constant("INLAY_KV_F16", int64(raw.KVF16))
	constant("INLAY_KV_F32", int64(raw.KVF32))
	constant("INLAY_KV_FP8", int64(raw.KVFP8))
	constant("INLAY_KV_INT8", int64(raw.KVINT8))
	enum("inlay_log_level", unsafe.Sizeof(raw.LogLevel(0)))
	constant("INLAY_LOG_OFF", int64(raw.LogOff))
	constant("INLAY_LOG_DEFAULT", int64(raw.LogDefault))
	constant("INLAY_LOG_ERROR", int64(raw.LogError))
	constant("INLAY_LOG_WARNING", int64(raw.LogWarning))
	constant("INLAY_LOG_INFO", int64(raw.LogInfo))
	constant("INLAY_LOG_DEBUG", int64(raw.LogDebug))
	enum("inlay_finish_reason", unsafe.Sizeof(raw.FinishReason(0)))
	constant("INLAY_FINISH_NONE", int64(raw.FinishNone))
	constant("INLAY_FINISH_END_OF_GENERATION", int64(raw.FinishEndOfGeneration))
	constant("INLAY_FINISH_STOP_STRING", int64(raw.FinishStopString))
	constant("INLAY_FINISH_MAX_TOKENS", int64(raw.FinishMaxTokens))
	constant("INLAY_FINISH_CANCELLED", int64(raw.FinishCancelled))
	constant("INLAY_FINISH_STOP_TOKEN", int64(raw.FinishStopToken))
	constant("INLAY_FINISH_CONTEXT_FULL", int64(raw.FinishContextFull))
	constant("INLAY_FINISH_TIMEOUT", int64(raw.FinishTimeout))
	constant("INLAY_FINISH_ERROR", int64(raw.FinishError))
	constant("INLAY_FINISH_CONSTRAINT_END", int64(raw.FinishConstraintEnd))
	constant("INLAY_FINISH_DEAD_END", int64(raw.FinishDeadEnd))
	constant("INLAY_FINISH_PREFILLED", int64(raw.FinishPrefilled))
	constant("INLAY_FINISH_EMBEDDED", int64(raw.FinishEmbedded))
	enum("inlay_event_kind", unsafe.Sizeof(raw.EventKind(0)))
	constant("INLAY_EVENT_NONE", int64(raw.EventNone))
	constant("INLAY_EVENT_TOKEN", int64(raw.EventToken))
	constant("INLAY_EVENT_FINISHED", int64(raw.EventFinished))
	enum("inlay_token_kind", unsafe.Sizeof(raw.TokenKind(0)))
	constant("INLAY_TOKEN_NORMAL", int64(raw.TokenNormal))
	constant("INLAY_TOKEN_UNKNOWN", int64(raw.TokenUnknown))
	constant("INLAY_TOKEN_CONTROL", int64(raw.TokenControl))
	constant("INLAY_TOKEN_USER_DEFINED", int64(raw.TokenUserDefined))
	constant("INLAY_TOKEN_UNUSED", int64(raw.TokenUnused))
	constant("INLAY_TOKEN_BYTE", int64(raw.TokenByte))
	enum("inlay_engine_flags", unsafe.Sizeof(raw.EngineFlags(0)))
	constant("INLAY_ENGINE_HAS_TOKENIZER", int64(raw.EngineHasTokenizer))
	constant("INLAY_ENGINE_ADDS_BOS", int64(raw.EngineAddsBOS))
	enum("inlay_tokenize_flags", unsafe.Sizeof(raw.TokenizeFlags(0)))
	constant("INLAY_TOKENIZE_NO_BOS_EOS", int64(raw.TokenizeNoBOSEOS))
	constant("INLAY_TOKENIZE_PARSE_SPECIAL", int64(raw.TokenizeParseSpecial))
	enum("inlay_detokenize_flags", unsafe.Sizeof(raw.DetokenizeFlags(0)))
	constant("INLAY_DETOKENIZE_SHOW_SPECIAL", int64(raw.DetokenizeShowSpecial))
	enum("inlay_token_flags", unsafe.Sizeof(raw.TokenFlags(0)))
	constant("INLAY_TOKEN_FLAG_END_OF_GENERATION", int64(raw.TokenFlagEndOfGeneration))
	constant("INLAY_TOKEN_FLAG_CONTROL", int64(raw.TokenFlagControl))
	enum("inlay_session_flags", unsafe.Sizeof(raw.SessionFlags(0)))
	constant("INLAY_SESSION_IGNORE_END_OF_GENERATION", int64(raw.SessionIgnoreEndOfGeneration))
	constant("INLAY_SESSION_RESERVE", int64(raw.SessionReserve))
	constant("INLAY_SESSION_FOR_REQUESTS", int64(raw.SessionForRequests))
	enum("inlay_profile_form", unsafe.Sizeof(raw.ProfileForm(0)))
	constant("INLAY_PROFILE_KINDS", int64(raw.ProfileKinds))
	constant("INLAY_PROFILE_TIMELINE", int64(raw.ProfileTimeline))
	constant("INLAY_PROFILE_TRACE", int64(raw.ProfileTrace))
	enum("inlay_load_flags", unsafe.Sizeof(raw.LoadFlags(0)))
	constant("INLAY_LOAD_NO_CUBLAS", int64(raw.LoadNoCublas))
	constant("INLAY_LOAD_RUN_AHEAD", int64(raw.LoadRunAhead))
	constant("INLAY_LOAD_TAKE_PAGES_LATER", int64(raw.LoadTakePagesLater))
	constant("INLAY_LOAD_EXACT_ACTIVATIONS", int64(raw.LoadExactActivations))
	constant("INLAY_LOAD_NO_PREFIX_CACHE", int64(raw.LoadNoPrefixCache))
	enum("inlay_weight_dtype", unsafe.Sizeof(raw.WeightDtype(0)))
	constant("INLAY_WEIGHT_DEFAULT", int64(raw.WeightDefault))
	constant("INLAY_WEIGHT_FP8", int64(raw.WeightFP8))
	constant("INLAY_WEIGHT_Q8_0", int64(raw.WeightQ80))
	constant("INLAY_WEIGHT_Q4_0", int64(raw.WeightQ40))
	constant("INLAY_WEIGHT_Q4_K_M", int64(raw.WeightQ4KM))
	constant("INLAY_WEIGHT_Q5_K_M", int64(raw.WeightQ5KM))
	constant("INLAY_WEIGHT_Q6_K", int64(raw.WeightQ6K))
	enum("inlay_sampler_flags", unsafe.Sizeof(raw.SamplerFlags(0)))
	constant("INLAY_SAMPLER_NO_DRY_BREAKERS", int64(raw.SamplerNoDryBreakers))
	constant("INLAY_SAMPLER_TEMPERATURE_LAST", int64(raw.SamplerTemperatureLast))
	constant("INLAY_SAMPLER_SPARE_END_TOKENS", int64(raw.SamplerSpareEndTokens))
	enum("inlay_convert_type", unsafe.Sizeof(raw.ConvertType(0)))
	constant("INLAY_CONVERT_DEFAULT", int64(raw.ConvertDefault))
	constant("INLAY_CONVERT_Q8_0", int64(raw.ConvertQ80))
	constant("INLAY_CONVERT_Q4_0", int64(raw.ConvertQ40))
	constant("INLAY_CONVERT_Q4_K_M", int64(raw.ConvertQ4KM))
	constant("INLAY_CONVERT_Q5_K_M", int64(raw.ConvertQ5KM))
	constant("INLAY_CONVERT_Q6_K", int64(raw.ConvertQ6K))
	constant("INLAY_CONVERT_F16", int64(raw.ConvertF16))
	constant("INLAY_CONVERT_BF16", int64(raw.ConvertBf16))
	constant("INLAY_CONVERT_F32", int64(raw.ConvertF32))
	enum("inlay_explain_form", unsafe.Sizeof(raw.ExplainForm(0)))
	constant("INLAY_EXPLAIN_TEXT", int64(raw.ExplainText))
	constant("INLAY_EXPLAIN_JSON", int64(raw.ExplainJson))
	enum("inlay_chat_flags", unsafe.Sizeof(raw.ChatFlags(0)))
	constant("INLAY_CHAT_ADD_GENERATION_PROMPT", int64(raw.ChatAddGenerationPrompt))
	constant("INLAY_CHAT_CONTINUE_FINAL_MESSAGE", int64(raw.ChatContinueFinalMessage))
	enum("inlay_pooling", unsafe.Sizeof(raw.Pooling(0)))
	constant("INLAY_POOLING_DEFAULT", int64(raw.PoolingDefault))
	constant("INLAY_POOLING_MEAN", int64(raw.PoolingMean))
	constant("INLAY_POOLING_LAST", int64(raw.PoolingLast))
	constant("INLAY_POOLING_FIRST", int64(raw.PoolingFirst))
	enum("inlay_embed_flags", unsafe.Sizeof(raw.EmbedFlags(0)))
	constant("INLAY_EMBED_NORMALIZE", int64(raw.EmbedNormalize))
	constant("INLAY_EMBED_NO_PROMPT", int64(raw.EmbedNoPrompt))
	enum("inlay_request_kind", unsafe.Sizeof(raw.RequestKind(0)))
	constant("INLAY_REQUEST_GENERATE", int64(raw.RequestGenerate))
	constant("INLAY_REQUEST_PREFILL", int64(raw.RequestPrefill))
	constant("INLAY_REQUEST_EMBED", int64(raw.RequestEmbed))
	enum("inlay_request_event_kind", unsafe.Sizeof(raw.RequestEventKind(0)))
	constant("INLAY_REQUEST_EVENT_TOKENS", int64(raw.RequestEventTokens))
	constant("INLAY_REQUEST_EVENT_END", int64(raw.RequestEventEnd))
	enum("inlay_wait_kind", unsafe.Sizeof(raw.WaitKind(0)))
	constant("INLAY_WAIT_EVENTFD", int64(raw.WaitEventfd))
	constant("INLAY_WAIT_WINDOWS_EVENT", int64(raw.WaitWindowsEvent))
	enum("inlay_run_flags", unsafe.Sizeof(raw.RunFlags(0)))
	constant("INLAY_RUN_ONE_STEP", int64(raw.RunOneStep))
	constant("INLAY_RUN_NO_WAIT", int64(raw.RunNoWait))
	enum("inlay_run_info_flags", unsafe.Sizeof(raw.RunInfoFlags(0)))
	constant("INLAY_RUN_INFO_HAS_WORK", int64(raw.RunInfoHasWork))
	enum("inlay_constraint_kind", unsafe.Sizeof(raw.ConstraintKind(0)))
	constant("INLAY_CONSTRAINT_JSON_SCHEMA", int64(raw.ConstraintJsonSchema))
	constant("INLAY_CONSTRAINT_ANY_JSON", int64(raw.ConstraintAnyJson))
	constant("INLAY_CONSTRAINT_GBNF", int64(raw.ConstraintGbnf))
	constant("INLAY_CONSTRAINT_REGEX", int64(raw.ConstraintRegex))
	constant("INLAY_CONSTRAINT_CHOICES", int64(raw.ConstraintChoices))
	constant("INLAY_CONSTRAINT_MESSAGE", int64(raw.ConstraintMessage))
	enum("inlay_constraint_flags", unsafe.Sizeof(raw.ConstraintFlags(0)))
	constant("INLAY_CONSTRAINT_FLAG_COMPACT", int64(raw.ConstraintFlagCompact))
	constant("INLAY_CONSTRAINT_FLAG_ESCAPES", int64(raw.ConstraintFlagEscapes))
	constant("INLAY_CONSTRAINT_FLAG_LENIENT", int64(raw.ConstraintFlagLenient))
	enum("inlay_constraint_state", unsafe.Sizeof(raw.ConstraintState(0)))
	constant("INLAY_CONSTRAINT_STATE_NONE", int64(raw.ConstraintStateNone))
	constant("INLAY_CONSTRAINT_STATE_INCOMPLETE", int64(raw.ConstraintStateIncomplete))
	constant("INLAY_CONSTRAINT_STATE_COMPLETE", int64(raw.ConstraintStateComplete))
	constant("INLAY_CONSTRAINT_STATE_DEAD", int64(raw.ConstraintStateDead))
	enum("inlay_chat_delta_kind", unsafe.Sizeof(raw.ChatDeltaKind(0)))
	constant("INLAY_CHAT_DELTA_REASONING", int64(raw.ChatDeltaReasoning))
	constant("INLAY_CHAT_DELTA_CONTENT", int64(raw.ChatDeltaContent))
	constant("INLAY_CHAT_DELTA_CALL_BEGIN", int64(raw.ChatDeltaCallBegin))
	constant("INLAY_CHAT_DELTA_CALL_ID", int64(raw.ChatDeltaCallID))
	constant("INLAY_CHAT_DELTA_ARGUMENTS", int64(raw.ChatDeltaArguments))
	constant("INLAY_CHAT_DELTA_CALL_END", int64(raw.ChatDeltaCallEnd))
	enum("inlay_chat_delta_flags", unsafe.Sizeof(raw.ChatDeltaFlags(0)))
	constant("INLAY_CHAT_DELTA_FLAG_WHOLE", int64(raw.ChatDeltaFlagWhole))
	enum("inlay_chat_parser_flags", unsafe.Sizeof(raw.ChatParserFlags(0)))
	constant("INLAY_CHAT_PARSER_WRITTEN_MARKERS", int64(raw.ChatParserWrittenMarkers))
	enum("inlay_chat_parser_info_flags", unsafe.Sizeof(raw.ChatParserInfoFlags(0)))
	constant("INLAY_CHAT_PARSER_INFO_FINISHED", int64(raw.ChatParserInfoFinished))
	constant("INLAY_CHAT_PARSER_INFO_COMPLETE", int64(raw.ChatParserInfoComplete))
	constant("INLAY_CHAT_PARSER_INFO_MALFORMED", int64(raw.ChatParserInfoMalformed))
	{
		var s raw.Error
		layout("inlay_error", unsafe.Sizeof(s), unsafe.Alignof(s))
		field("inlay_error.status", unsafe.Offsetof(s.Status), unsafe.Sizeof(s.Status))
		field("inlay_error.native_code", unsafe.Offsetof(s.NativeCode), unsafe.Sizeof(s.NativeCode))
		field("inlay_error.required", unsafe.Offsetof(s.Required), unsafe.Sizeof(s.Required))
		field("inlay_error.available", unsafe.Offsetof(s.Available), unsafe.Sizeof(s.Available))
		field("inlay_error.message_len", unsafe.Offsetof(s.MessageLen), unsafe.Sizeof(s.MessageLen))
		field("inlay_error.reserved", unsafe.Offsetof(s.Reserved), unsafe.Sizeof(s.Reserved))
		field("inlay_error.message", unsafe.Offsetof(s.Message), unsafe.Sizeof(s.Message))
	}
	{
		var s raw.Text
		layout("inlay_text", unsafe.Sizeof(s), unsafe.Alignof(s))
		field("inlay_text.data", unsafe.Offsetof(s.Data), unsafe.Sizeof(s.Data))
		field("inlay_text.len", unsafe.Offsetof(s.Len), unsafe.Sizeof(s.Len))
	}
	{
		var s raw.LogitBias
		layout("inlay_logit_bias", unsafe.Sizeof(s), unsafe.Alignof(s))
		field("inlay_logit_bias.token", unsafe.Offsetof(s.Token), unsafe.Sizeof(s.Token))
		field("inlay_logit_bias.bias", unsafe.Offsetof(s.Bias), unsafe.Sizeof(s.Bias))
	}
	{
		var s raw.TokenLogprob
		layout("inlay_token_logprob", unsafe.Sizeof(s), unsafe.Alignof(s))
		field("inlay_token_logprob.token", unsafe.Offsetof(s.Token), unsafe.Sizeof(s.Token))
		field("inlay_token_logprob.logprob", unsafe.Offsetof(s.Logprob), unsafe.Sizeof(s.Logprob))
	}
	{
		var s raw.DeviceInfo
		layout("inlay_device_info", unsafe.Sizeof(s), unsafe.Alignof(s))
		field("inlay_device_info.struct_size", unsafe.Offsetof(s.StructSize), unsafe.Sizeof(s.StructSize))
		field("inlay_device_info.kind", unsafe.Offsetof(s.Kind), unsafe.Sizeof(s.Kind))
		field("inlay_device_info.index", unsafe.Offsetof(s.Index), unsafe.Sizeof(s.Index))
		field("inlay_device_info.n_units", unsafe.Offsetof(s.NUnits), unsafe.Sizeof(s.NUnits))
		field("inlay_device_info.total_bytes", unsafe.Offsetof(s.TotalBytes), unsafe.Sizeof(s.TotalBytes))
		field("inlay_device_info.free_bytes", unsafe.Offsetof(s.FreeBytes), unsafe.Sizeof(s.FreeBytes))
		field("inlay_device_info.name", unsafe.Offsetof(s.Name), unsafe.Sizeof(s.Name))
		field("inlay_device_info.features", unsafe.Offsetof(s.Features), unsafe.Sizeof(s.Features))
	}
	{
		var s raw.Reader
		layout("inlay_reader", unsafe.Sizeof(s), unsafe.Alignof(s))
		field("inlay_reader.struct_size", unsafe.Offsetof(s.StructSize), unsafe.Sizeof(s.StructSize))
		field("inlay_reader.reserved", unsafe.Offsetof(s.Reserved), unsafe.Sizeof(s.Reserved))
		field("inlay_reader.user", unsafe.Offsetof(s.User), unsafe.Sizeof(s.User))
		field("inlay_reader.size", unsafe.Offsetof(s.Size), unsafe.Sizeof(s.Size))
		field("inlay_reader.read", unsafe.Offsetof(s.Read), unsafe.Sizeof(s.Read))
	}
	{
		var s raw.LoadParams
		layout("inlay_load_params", unsafe.Sizeof(s), unsafe.Alignof(s))
		field("inlay_load_params.struct_size", unsafe.Offsetof(s.StructSize), unsafe.Sizeof(s.StructSize))
		field("inlay_load_params.device", unsafe.Offsetof(s.Device), unsafe.Sizeof(s.Device))
		field("inlay_load_params.device_index", unsafe.Offsetof(s.DeviceIndex), unsafe.Sizeof(s.DeviceIndex))
		field("inlay_load_params.n_context", unsafe.Offsetof(s.NContext), unsafe.Sizeof(s.NContext))
		field("inlay_load_params.max_sessions", unsafe.Offsetof(s.MaxSessions), unsafe.Sizeof(s.MaxSessions))
		field("inlay_load_params.n_threads", unsafe.Offsetof(s.NThreads), unsafe.Sizeof(s.NThreads))
		field("inlay_load_params.kv_budget_bytes", unsafe.Offsetof(s.KVBudgetBytes), unsafe.Sizeof(s.KVBudgetBytes))
		field("inlay_load_params.kv_dtype", unsafe.Offsetof(s.KVDtype), unsafe.Sizeof(s.KVDtype))
		field("inlay_load_params.prefill_chunk", unsafe.Offsetof(s.PrefillChunk), unsafe.Sizeof(s.PrefillChunk))
		field("inlay_load_params.log_level", unsafe.Offsetof(s.LogLevel), unsafe.Sizeof(s.LogLevel))
		field("inlay_load_params.flags", unsafe.Offsetof(s.Flags), unsafe.Sizeof(s.Flags))
		field("inlay_load_params.log", unsafe.Offsetof(s.Log), unsafe.Sizeof(s.Log))
		field("inlay_load_params.log_user", unsafe.Offsetof(s.LogUser), unsafe.Sizeof(s.LogUser))
		field("inlay_load_params.progress", unsafe.Offsetof(s.Progress), unsafe.Sizeof(s.Progress))
		field("inlay_load_params.progress_user", unsafe.Offsetof(s.ProgressUser), unsafe.Sizeof(s.ProgressUser))
		field("inlay_load_params.weight_dtype", unsafe.Offsetof(s.WeightDtype), unsafe.Sizeof(s.WeightDtype))
		field("inlay_load_params.reserved", unsafe.Offsetof(s.Reserved), unsafe.Sizeof(s.Reserved))
		field("inlay_load_params.pre_tokenizer", unsafe.Offsetof(s.PreTokenizer), unsafe.Sizeof(s.PreTokenizer))
		field("inlay_load_params.pre_tokenizer_len", unsafe.Offsetof(s.PreTokenizerLen), unsafe.Sizeof(s.PreTokenizerLen))
		field("inlay_load_params.tuning", unsafe.Offsetof(s.Tuning), unsafe.Sizeof(s.Tuning))
		field("inlay_load_params.tuning_len", unsafe.Offsetof(s.TuningLen), unsafe.Sizeof(s.TuningLen))
		field("inlay_load_params.prefix_cache_host_bytes", unsafe.Offsetof(s.PrefixCacheHostBytes), unsafe.Sizeof(s.PrefixCacheHostBytes))
	}
	{
		var s raw.MemoryInfo
		layout("inlay_memory_info", unsafe.Sizeof(s), unsafe.Alignof(s))
		field("inlay_memory_info.struct_size", unsafe.Offsetof(s.StructSize), unsafe.Sizeof(s.StructSize))
		field("inlay_memory_info.device", unsafe.Offsetof(s.Device), unsafe.Sizeof(s.Device))
		field("inlay_memory_info.n_context", unsafe.Offsetof(s.NContext), unsafe.Sizeof(s.NContext))
		field("inlay_memory_info.max_sessions", unsafe.Offsetof(s.MaxSessions), unsafe.Sizeof(s.MaxSessions))
		field("inlay_memory_info.weight_bytes", unsafe.Offsetof(s.WeightBytes), unsafe.Sizeof(s.WeightBytes))
		field("inlay_memory_info.kv_bytes", unsafe.Offsetof(s.KVBytes), unsafe.Sizeof(s.KVBytes))
		field("inlay_memory_info.scratch_bytes", unsafe.Offsetof(s.ScratchBytes), unsafe.Sizeof(s.ScratchBytes))
		field("inlay_memory_info.total_bytes", unsafe.Offsetof(s.TotalBytes), unsafe.Sizeof(s.TotalBytes))
		field("inlay_memory_info.available_bytes", unsafe.Offsetof(s.AvailableBytes), unsafe.Sizeof(s.AvailableBytes))
		field("inlay_memory_info.weight_dtype", unsafe.Offsetof(s.WeightDtype), unsafe.Sizeof(s.WeightDtype))
		field("inlay_memory_info.reserved", unsafe.Offsetof(s.Reserved), unsafe.Sizeof(s.Reserved))
		field("inlay_memory_info.prefix_cache_host_bytes", unsafe.Offsetof(s.PrefixCacheHostBytes), unsafe.Sizeof(s.PrefixCacheHostBytes))
	}
	{
		var s raw.EngineInfo
		layout("inlay_engine_info", unsafe.Sizeof(s), unsafe.Alignof(s))
		field("inlay_engine_info.struct_size", unsafe.Offsetof(s.StructSize), unsafe.Sizeof(s.StructSize))
		field("inlay_engine_info.device", unsafe.Offsetof(s.Device), unsafe.Sizeof(s.Device))
		field("inlay_engine_info.n_params", unsafe.Offsetof(s.NParams), unsafe.Sizeof(s.NParams))
		field("inlay_engine_info.weight_bytes", unsafe.Offsetof(s.WeightBytes), unsafe.Sizeof(s.WeightBytes))
		field("inlay_engine_info.kv_bytes", unsafe.Offsetof(s.KVBytes), unsafe.Sizeof(s.KVBytes))
		field("inlay_engine_info.n_vocab", unsafe.Offsetof(s.NVocab), unsafe.Sizeof(s.NVocab))
		field("inlay_engine_info.n_layers", unsafe.Offsetof(s.NLayers), unsafe.Sizeof(s.NLayers))
		field("inlay_engine_info.d_model", unsafe.Offsetof(s.DModel), unsafe.Sizeof(s.DModel))
		field("inlay_engine_info.n_heads", unsafe.Offsetof(s.NHeads), unsafe.Sizeof(s.NHeads))
		field("inlay_engine_info.n_kv_heads", unsafe.Offsetof(s.NKVHeads), unsafe.Sizeof(s.NKVHeads))
		field("inlay_engine_info.d_head", unsafe.Offsetof(s.DHead), unsafe.Sizeof(s.DHead))
		field("inlay_engine_info.d_ff", unsafe.Offsetof(s.DFf), unsafe.Sizeof(s.DFf))
		field("inlay_engine_info.n_context_train", unsafe.Offsetof(s.NContextTrain), unsafe.Sizeof(s.NContextTrain))
		field("inlay_engine_info.n_context", unsafe.Offsetof(s.NContext), unsafe.Sizeof(s.NContext))
		field("inlay_engine_info.max_sessions", unsafe.Offsetof(s.MaxSessions), unsafe.Sizeof(s.MaxSessions))
		field("inlay_engine_info.bos", unsafe.Offsetof(s.BOS), unsafe.Sizeof(s.BOS))
		field("inlay_engine_info.eos", unsafe.Offsetof(s.EOS), unsafe.Sizeof(s.EOS))
		field("inlay_engine_info.n_threads", unsafe.Offsetof(s.NThreads), unsafe.Sizeof(s.NThreads))
		field("inlay_engine_info.flags", unsafe.Offsetof(s.Flags), unsafe.Sizeof(s.Flags))
		field("inlay_engine_info.weight_dtype", unsafe.Offsetof(s.WeightDtype), unsafe.Sizeof(s.WeightDtype))
		field("inlay_engine_info.reserved", unsafe.Offsetof(s.Reserved), unsafe.Sizeof(s.Reserved))
	}
	{
		var s raw.TokenInfo
		layout("inlay_token_info", unsafe.Sizeof(s), unsafe.Alignof(s))
		field("inlay_token_info.struct_size", unsafe.Offsetof(s.StructSize), unsafe.Sizeof(s.StructSize))
		field("inlay_token_info.kind", unsafe.Offsetof(s.Kind), unsafe.Sizeof(s.Kind))
		field("inlay_token_info.flags", unsafe.Offsetof(s.Flags), unsafe.Sizeof(s.Flags))
		field("inlay_token_info.score", unsafe.Offsetof(s.Score), unsafe.Sizeof(s.Score))
		field("inlay_token_info.piece_bytes", unsafe.Offsetof(s.PieceBytes), unsafe.Sizeof(s.PieceBytes))
		field("inlay_token_info.reserved", unsafe.Offsetof(s.Reserved), unsafe.Sizeof(s.Reserved))
		field("inlay_token_info.piece", unsafe.Offsetof(s.Piece), unsafe.Sizeof(s.Piece))
	}
	{
		var s raw.SamplerParams
		layout("inlay_sampler_params", unsafe.Sizeof(s), unsafe.Alignof(s))
		field("inlay_sampler_params.struct_size", unsafe.Offsetof(s.StructSize), unsafe.Sizeof(s.StructSize))
		field("inlay_sampler_params.temperature", unsafe.Offsetof(s.Temperature), unsafe.Sizeof(s.Temperature))
		field("inlay_sampler_params.top_k", unsafe.Offsetof(s.TopK), unsafe.Sizeof(s.TopK))
		field("inlay_sampler_params.top_p", unsafe.Offsetof(s.TopP), unsafe.Sizeof(s.TopP))
		field("inlay_sampler_params.min_p", unsafe.Offsetof(s.MinP), unsafe.Sizeof(s.MinP))
		field("inlay_sampler_params.repetition_penalty", unsafe.Offsetof(s.RepetitionPenalty), unsafe.Sizeof(s.RepetitionPenalty))
		field("inlay_sampler_params.frequency_penalty", unsafe.Offsetof(s.FrequencyPenalty), unsafe.Sizeof(s.FrequencyPenalty))
		field("inlay_sampler_params.presence_penalty", unsafe.Offsetof(s.PresencePenalty), unsafe.Sizeof(s.PresencePenalty))
		field("inlay_sampler_params.penalty_window", unsafe.Offsetof(s.PenaltyWindow), unsafe.Sizeof(s.PenaltyWindow))
		field("inlay_sampler_params.n_logprobs", unsafe.Offsetof(s.NLogprobs), unsafe.Sizeof(s.NLogprobs))
		field("inlay_sampler_params.seed", unsafe.Offsetof(s.Seed), unsafe.Sizeof(s.Seed))
		field("inlay_sampler_params.bias", unsafe.Offsetof(s.Bias), unsafe.Sizeof(s.Bias))
		field("inlay_sampler_params.n_bias", unsafe.Offsetof(s.NBias), unsafe.Sizeof(s.NBias))
		field("inlay_sampler_params.typical_p", unsafe.Offsetof(s.TypicalP), unsafe.Sizeof(s.TypicalP))
		field("inlay_sampler_params.top_n_sigma", unsafe.Offsetof(s.TopNSigma), unsafe.Sizeof(s.TopNSigma))
		field("inlay_sampler_params.dynatemp_range", unsafe.Offsetof(s.DynatempRange), unsafe.Sizeof(s.DynatempRange))
		field("inlay_sampler_params.dynatemp_exponent", unsafe.Offsetof(s.DynatempExponent), unsafe.Sizeof(s.DynatempExponent))
		field("inlay_sampler_params.xtc_probability", unsafe.Offsetof(s.XtcProbability), unsafe.Sizeof(s.XtcProbability))
		field("inlay_sampler_params.xtc_threshold", unsafe.Offsetof(s.XtcThreshold), unsafe.Sizeof(s.XtcThreshold))
		field("inlay_sampler_params.mirostat_tau", unsafe.Offsetof(s.MirostatTau), unsafe.Sizeof(s.MirostatTau))
		field("inlay_sampler_params.mirostat_eta", unsafe.Offsetof(s.MirostatEta), unsafe.Sizeof(s.MirostatEta))
		field("inlay_sampler_params.adaptive_target", unsafe.Offsetof(s.AdaptiveTarget), unsafe.Sizeof(s.AdaptiveTarget))
		field("inlay_sampler_params.adaptive_decay", unsafe.Offsetof(s.AdaptiveDecay), unsafe.Sizeof(s.AdaptiveDecay))
		field("inlay_sampler_params.dry_multiplier", unsafe.Offsetof(s.DryMultiplier), unsafe.Sizeof(s.DryMultiplier))
		field("inlay_sampler_params.dry_base", unsafe.Offsetof(s.DryBase), unsafe.Sizeof(s.DryBase))
		field("inlay_sampler_params.dry_allowed_length", unsafe.Offsetof(s.DryAllowedLength), unsafe.Sizeof(s.DryAllowedLength))
		field("inlay_sampler_params.dry_window", unsafe.Offsetof(s.DryWindow), unsafe.Sizeof(s.DryWindow))
		field("inlay_sampler_params.dry_breakers", unsafe.Offsetof(s.DryBreakers), unsafe.Sizeof(s.DryBreakers))
		field("inlay_sampler_params.n_dry_breakers", unsafe.Offsetof(s.NDryBreakers), unsafe.Sizeof(s.NDryBreakers))
		field("inlay_sampler_params.flags", unsafe.Offsetof(s.Flags), unsafe.Sizeof(s.Flags))
		field("inlay_sampler_params.reserved", unsafe.Offsetof(s.Reserved), unsafe.Sizeof(s.Reserved))
	}
	{
		var s raw.SessionParams
		layout("inlay_session_params", unsafe.Sizeof(s), unsafe.Alignof(s))
		field("inlay_session_params.struct_size", unsafe.Offsetof(s.StructSize), unsafe.Sizeof(s.StructSize))
		field("inlay_session_params.flags", unsafe.Offsetof(s.Flags), unsafe.Sizeof(s.Flags))
		field("inlay_session_params.sampler", unsafe.Offsetof(s.Sampler), unsafe.Sizeof(s.Sampler))
		field("inlay_session_params.stream", unsafe.Offsetof(s.Stream), unsafe.Sizeof(s.Stream))
		field("inlay_session_params.max_tokens", unsafe.Offsetof(s.MaxTokens), unsafe.Sizeof(s.MaxTokens))
		field("inlay_session_params.reserved", unsafe.Offsetof(s.Reserved), unsafe.Sizeof(s.Reserved))
		field("inlay_session_params.stop_tokens", unsafe.Offsetof(s.StopTokens), unsafe.Sizeof(s.StopTokens))
		field("inlay_session_params.n_stop_tokens", unsafe.Offsetof(s.NStopTokens), unsafe.Sizeof(s.NStopTokens))
		field("inlay_session_params.stops", unsafe.Offsetof(s.Stops), unsafe.Sizeof(s.Stops))
		field("inlay_session_params.n_stops", unsafe.Offsetof(s.NStops), unsafe.Sizeof(s.NStops))
		field("inlay_session_params.constraint", unsafe.Offsetof(s.Constraint), unsafe.Sizeof(s.Constraint))
	}
	{
		var s raw.SessionInfo
		layout("inlay_session_info", unsafe.Sizeof(s), unsafe.Alignof(s))
		field("inlay_session_info.struct_size", unsafe.Offsetof(s.StructSize), unsafe.Sizeof(s.StructSize))
		field("inlay_session_info.finish_reason", unsafe.Offsetof(s.FinishReason), unsafe.Sizeof(s.FinishReason))
		field("inlay_session_info.n_tokens", unsafe.Offsetof(s.NTokens), unsafe.Sizeof(s.NTokens))
		field("inlay_session_info.n_context", unsafe.Offsetof(s.NContext), unsafe.Sizeof(s.NContext))
		field("inlay_session_info.n_generated", unsafe.Offsetof(s.NGenerated), unsafe.Sizeof(s.NGenerated))
		field("inlay_session_info.n_kv_blocks", unsafe.Offsetof(s.NKVBlocks), unsafe.Sizeof(s.NKVBlocks))
		field("inlay_session_info.text_pending", unsafe.Offsetof(s.TextPending), unsafe.Sizeof(s.TextPending))
		field("inlay_session_info.generation", unsafe.Offsetof(s.Generation), unsafe.Sizeof(s.Generation))
		field("inlay_session_info.constraint_state", unsafe.Offsetof(s.ConstraintState), unsafe.Sizeof(s.ConstraintState))
		field("inlay_session_info.reserved", unsafe.Offsetof(s.Reserved), unsafe.Sizeof(s.Reserved))
	}
	{
		var s raw.Event
		layout("inlay_event", unsafe.Sizeof(s), unsafe.Alignof(s))
		field("inlay_event.status", unsafe.Offsetof(s.Status), unsafe.Sizeof(s.Status))
		field("inlay_event.kind", unsafe.Offsetof(s.Kind), unsafe.Sizeof(s.Kind))
		field("inlay_event.session_index", unsafe.Offsetof(s.SessionIndex), unsafe.Sizeof(s.SessionIndex))
		field("inlay_event.token", unsafe.Offsetof(s.Token), unsafe.Sizeof(s.Token))
		field("inlay_event.finish_reason", unsafe.Offsetof(s.FinishReason), unsafe.Sizeof(s.FinishReason))
		field("inlay_event.logprob", unsafe.Offsetof(s.Logprob), unsafe.Sizeof(s.Logprob))
		field("inlay_event.n_logprobs", unsafe.Offsetof(s.NLogprobs), unsafe.Sizeof(s.NLogprobs))
		field("inlay_event.text_bytes", unsafe.Offsetof(s.TextBytes), unsafe.Sizeof(s.TextBytes))
		field("inlay_event.text_pending", unsafe.Offsetof(s.TextPending), unsafe.Sizeof(s.TextPending))
		field("inlay_event.top", unsafe.Offsetof(s.Top), unsafe.Sizeof(s.Top))
		field("inlay_event.text", unsafe.Offsetof(s.Text), unsafe.Sizeof(s.Text))
		field("inlay_event.n_tokens", unsafe.Offsetof(s.NTokens), unsafe.Sizeof(s.NTokens))
		field("inlay_event.reserved", unsafe.Offsetof(s.Reserved), unsafe.Sizeof(s.Reserved))
	}
	{
		var s raw.Stats
		layout("inlay_stats", unsafe.Sizeof(s), unsafe.Alignof(s))
		field("inlay_stats.struct_size", unsafe.Offsetof(s.StructSize), unsafe.Sizeof(s.StructSize))
		field("inlay_stats.n_sessions", unsafe.Offsetof(s.NSessions), unsafe.Sizeof(s.NSessions))
		field("inlay_stats.n_prefill_tokens", unsafe.Offsetof(s.NPrefillTokens), unsafe.Sizeof(s.NPrefillTokens))
		field("inlay_stats.n_decode_tokens", unsafe.Offsetof(s.NDecodeTokens), unsafe.Sizeof(s.NDecodeTokens))
		field("inlay_stats.n_decode_steps", unsafe.Offsetof(s.NDecodeSteps), unsafe.Sizeof(s.NDecodeSteps))
		field("inlay_stats.load_seconds", unsafe.Offsetof(s.LoadSeconds), unsafe.Sizeof(s.LoadSeconds))
		field("inlay_stats.prefill_seconds", unsafe.Offsetof(s.PrefillSeconds), unsafe.Sizeof(s.PrefillSeconds))
		field("inlay_stats.decode_seconds", unsafe.Offsetof(s.DecodeSeconds), unsafe.Sizeof(s.DecodeSeconds))
		field("inlay_stats.n_kv_blocks", unsafe.Offsetof(s.NKVBlocks), unsafe.Sizeof(s.NKVBlocks))
		field("inlay_stats.n_kv_blocks_used", unsafe.Offsetof(s.NKVBlocksUsed), unsafe.Sizeof(s.NKVBlocksUsed))
		field("inlay_stats.n_kv_blocks_peak", unsafe.Offsetof(s.NKVBlocksPeak), unsafe.Sizeof(s.NKVBlocksPeak))
		field("inlay_stats.n_block_tokens", unsafe.Offsetof(s.NBlockTokens), unsafe.Sizeof(s.NBlockTokens))
		field("inlay_stats.n_kv_blocks_to_host", unsafe.Offsetof(s.NKVBlocksToHost), unsafe.Sizeof(s.NKVBlocksToHost))
		field("inlay_stats.n_kv_blocks_from_host", unsafe.Offsetof(s.NKVBlocksFromHost), unsafe.Sizeof(s.NKVBlocksFromHost))
		field("inlay_stats.n_kv_blocks_host_dropped", unsafe.Offsetof(s.NKVBlocksHostDropped), unsafe.Sizeof(s.NKVBlocksHostDropped))
		field("inlay_stats.prefix_cache_host_bytes", unsafe.Offsetof(s.PrefixCacheHostBytes), unsafe.Sizeof(s.PrefixCacheHostBytes))
		field("inlay_stats.n_kv_blocks_on_host", unsafe.Offsetof(s.NKVBlocksOnHost), unsafe.Sizeof(s.NKVBlocksOnHost))
		field("inlay_stats.reserved", unsafe.Offsetof(s.Reserved), unsafe.Sizeof(s.Reserved))
	}
	{
		var s raw.ProfileParams
		layout("inlay_profile_params", unsafe.Sizeof(s), unsafe.Alignof(s))
		field("inlay_profile_params.struct_size", unsafe.Offsetof(s.StructSize), unsafe.Sizeof(s.StructSize))
		field("inlay_profile_params.n_tokens", unsafe.Offsetof(s.NTokens), unsafe.Sizeof(s.NTokens))
		field("inlay_profile_params.n_past", unsafe.Offsetof(s.NPast), unsafe.Sizeof(s.NPast))
		field("inlay_profile_params.n_repetitions", unsafe.Offsetof(s.NRepetitions), unsafe.Sizeof(s.NRepetitions))
	}
	{
		var s raw.ConvertParams
		layout("inlay_convert_params", unsafe.Sizeof(s), unsafe.Alignof(s))
		field("inlay_convert_params.struct_size", unsafe.Offsetof(s.StructSize), unsafe.Sizeof(s.StructSize))
		field("inlay_convert_params.type", unsafe.Offsetof(s.Type), unsafe.Sizeof(s.Type))
		field("inlay_convert_params.n_threads", unsafe.Offsetof(s.NThreads), unsafe.Sizeof(s.NThreads))
		field("inlay_convert_params.reserved", unsafe.Offsetof(s.Reserved), unsafe.Sizeof(s.Reserved))
		field("inlay_convert_params.progress", unsafe.Offsetof(s.Progress), unsafe.Sizeof(s.Progress))
		field("inlay_convert_params.progress_user", unsafe.Offsetof(s.ProgressUser), unsafe.Sizeof(s.ProgressUser))
		field("inlay_convert_params.log", unsafe.Offsetof(s.Log), unsafe.Sizeof(s.Log))
		field("inlay_convert_params.log_user", unsafe.Offsetof(s.LogUser), unsafe.Sizeof(s.LogUser))
	}
	{
		var s raw.ChatParams
		layout("inlay_chat_params", unsafe.Sizeof(s), unsafe.Alignof(s))
		field("inlay_chat_params.struct_size", unsafe.Offsetof(s.StructSize), unsafe.Sizeof(s.StructSize))
		field("inlay_chat_params.flags", unsafe.Offsetof(s.Flags), unsafe.Sizeof(s.Flags))
		field("inlay_chat_params.chat_template", unsafe.Offsetof(s.ChatTemplate), unsafe.Sizeof(s.ChatTemplate))
		field("inlay_chat_params.template_len", unsafe.Offsetof(s.TemplateLen), unsafe.Sizeof(s.TemplateLen))
	}
	{
		var s raw.EmbedParams
		layout("inlay_embed_params", unsafe.Sizeof(s), unsafe.Alignof(s))
		field("inlay_embed_params.struct_size", unsafe.Offsetof(s.StructSize), unsafe.Sizeof(s.StructSize))
		field("inlay_embed_params.pooling", unsafe.Offsetof(s.Pooling), unsafe.Sizeof(s.Pooling))
		field("inlay_embed_params.flags", unsafe.Offsetof(s.Flags), unsafe.Sizeof(s.Flags))
		field("inlay_embed_params.reserved", unsafe.Offsetof(s.Reserved), unsafe.Sizeof(s.Reserved))
		field("inlay_embed_params.progress", unsafe.Offsetof(s.Progress), unsafe.Sizeof(s.Progress))
		field("inlay_embed_params.progress_user", unsafe.Offsetof(s.ProgressUser), unsafe.Sizeof(s.ProgressUser))
	}
	{
		var s raw.EmbedInput
		layout("inlay_embed_input", unsafe.Sizeof(s), unsafe.Alignof(s))
		field("inlay_embed_input.tokens", unsafe.Offsetof(s.Tokens), unsafe.Sizeof(s.Tokens))
		field("inlay_embed_input.n_tokens", unsafe.Offsetof(s.NTokens), unsafe.Sizeof(s.NTokens))
		field("inlay_embed_input.text", unsafe.Offsetof(s.Text), unsafe.Sizeof(s.Text))
		field("inlay_embed_input.text_len", unsafe.Offsetof(s.TextLen), unsafe.Sizeof(s.TextLen))
	}
	{
		var s raw.ScoreParams
		layout("inlay_score_params", unsafe.Sizeof(s), unsafe.Alignof(s))
		field("inlay_score_params.struct_size", unsafe.Offsetof(s.StructSize), unsafe.Sizeof(s.StructSize))
		field("inlay_score_params.n_given", unsafe.Offsetof(s.NGiven), unsafe.Sizeof(s.NGiven))
		field("inlay_score_params.n_logprobs", unsafe.Offsetof(s.NLogprobs), unsafe.Sizeof(s.NLogprobs))
		field("inlay_score_params.reserved", unsafe.Offsetof(s.Reserved), unsafe.Sizeof(s.Reserved))
		field("inlay_score_params.progress", unsafe.Offsetof(s.Progress), unsafe.Sizeof(s.Progress))
		field("inlay_score_params.progress_user", unsafe.Offsetof(s.ProgressUser), unsafe.Sizeof(s.ProgressUser))
	}
	{
		var s raw.TokenScore
		layout("inlay_token_score", unsafe.Sizeof(s), unsafe.Alignof(s))
		field("inlay_token_score.logprob", unsafe.Offsetof(s.Logprob), unsafe.Sizeof(s.Logprob))
		field("inlay_token_score.rank", unsafe.Offsetof(s.Rank), unsafe.Sizeof(s.Rank))
		field("inlay_token_score.against_logprob", unsafe.Offsetof(s.AgainstLogprob), unsafe.Sizeof(s.AgainstLogprob))
		field("inlay_token_score.against_rank", unsafe.Offsetof(s.AgainstRank), unsafe.Sizeof(s.AgainstRank))
		field("inlay_token_score.divergence", unsafe.Offsetof(s.Divergence), unsafe.Sizeof(s.Divergence))
		field("inlay_token_score.same_best", unsafe.Offsetof(s.SameBest), unsafe.Sizeof(s.SameBest))
	}
	{
		var s raw.Logits
		layout("inlay_logits", unsafe.Sizeof(s), unsafe.Alignof(s))
		field("inlay_logits.struct_size", unsafe.Offsetof(s.StructSize), unsafe.Sizeof(s.StructSize))
		field("inlay_logits.reserved", unsafe.Offsetof(s.Reserved), unsafe.Sizeof(s.Reserved))
		field("inlay_logits.values", unsafe.Offsetof(s.Values), unsafe.Sizeof(s.Values))
		field("inlay_logits.n_values", unsafe.Offsetof(s.NValues), unsafe.Sizeof(s.NValues))
	}
	{
		var s raw.QueueParams
		layout("inlay_queue_params", unsafe.Sizeof(s), unsafe.Alignof(s))
		field("inlay_queue_params.struct_size", unsafe.Offsetof(s.StructSize), unsafe.Sizeof(s.StructSize))
		field("inlay_queue_params.reserved", unsafe.Offsetof(s.Reserved), unsafe.Sizeof(s.Reserved))
		field("inlay_queue_params.max_requests", unsafe.Offsetof(s.MaxRequests), unsafe.Sizeof(s.MaxRequests))
		field("inlay_queue_params.unread_tokens", unsafe.Offsetof(s.UnreadTokens), unsafe.Sizeof(s.UnreadTokens))
		field("inlay_queue_params.wake", unsafe.Offsetof(s.Wake), unsafe.Sizeof(s.Wake))
		field("inlay_queue_params.wake_user", unsafe.Offsetof(s.WakeUser), unsafe.Sizeof(s.WakeUser))
	}
	{
		var s raw.Request
		layout("inlay_request", unsafe.Sizeof(s), unsafe.Alignof(s))
		field("inlay_request.struct_size", unsafe.Offsetof(s.StructSize), unsafe.Sizeof(s.StructSize))
		field("inlay_request.kind", unsafe.Offsetof(s.Kind), unsafe.Sizeof(s.Kind))
		field("inlay_request.tokens", unsafe.Offsetof(s.Tokens), unsafe.Sizeof(s.Tokens))
		field("inlay_request.n_tokens", unsafe.Offsetof(s.NTokens), unsafe.Sizeof(s.NTokens))
		field("inlay_request.text", unsafe.Offsetof(s.Text), unsafe.Sizeof(s.Text))
		field("inlay_request.text_len", unsafe.Offsetof(s.TextLen), unsafe.Sizeof(s.TextLen))
		field("inlay_request.conversation", unsafe.Offsetof(s.Conversation), unsafe.Sizeof(s.Conversation))
		field("inlay_request.conversation_len", unsafe.Offsetof(s.ConversationLen), unsafe.Sizeof(s.ConversationLen))
		field("inlay_request.chat", unsafe.Offsetof(s.Chat), unsafe.Sizeof(s.Chat))
		field("inlay_request.session", unsafe.Offsetof(s.Session), unsafe.Sizeof(s.Session))
		field("inlay_request.priority", unsafe.Offsetof(s.Priority), unsafe.Sizeof(s.Priority))
		field("inlay_request.reserved", unsafe.Offsetof(s.Reserved), unsafe.Sizeof(s.Reserved))
		field("inlay_request.deadline_us", unsafe.Offsetof(s.DeadlineUs), unsafe.Sizeof(s.DeadlineUs))
		field("inlay_request.timeout_us", unsafe.Offsetof(s.TimeoutUs), unsafe.Sizeof(s.TimeoutUs))
		field("inlay_request.user", unsafe.Offsetof(s.User), unsafe.Sizeof(s.User))
		field("inlay_request.continues", unsafe.Offsetof(s.Continues), unsafe.Sizeof(s.Continues))
		field("inlay_request.embed", unsafe.Offsetof(s.Embed), unsafe.Sizeof(s.Embed))
		field("inlay_request.cache_salt", unsafe.Offsetof(s.CacheSalt), unsafe.Sizeof(s.CacheSalt))
	}
	{
		var s raw.RequestEvent
		layout("inlay_request_event", unsafe.Sizeof(s), unsafe.Alignof(s))
		field("inlay_request_event.request", unsafe.Offsetof(s.Request), unsafe.Sizeof(s.Request))
		field("inlay_request_event.sequence", unsafe.Offsetof(s.Sequence), unsafe.Sizeof(s.Sequence))
		field("inlay_request_event.user", unsafe.Offsetof(s.User), unsafe.Sizeof(s.User))
		field("inlay_request_event.kind", unsafe.Offsetof(s.Kind), unsafe.Sizeof(s.Kind))
		field("inlay_request_event.n_tokens", unsafe.Offsetof(s.NTokens), unsafe.Sizeof(s.NTokens))
		field("inlay_request_event.first_token", unsafe.Offsetof(s.FirstToken), unsafe.Sizeof(s.FirstToken))
		field("inlay_request_event.text", unsafe.Offsetof(s.Text), unsafe.Sizeof(s.Text))
		field("inlay_request_event.text_bytes", unsafe.Offsetof(s.TextBytes), unsafe.Sizeof(s.TextBytes))
		field("inlay_request_event.finish_reason", unsafe.Offsetof(s.FinishReason), unsafe.Sizeof(s.FinishReason))
		field("inlay_request_event.status", unsafe.Offsetof(s.Status), unsafe.Sizeof(s.Status))
		field("inlay_request_event.n_prompt", unsafe.Offsetof(s.NPrompt), unsafe.Sizeof(s.NPrompt))
		field("inlay_request_event.n_cached", unsafe.Offsetof(s.NCached), unsafe.Sizeof(s.NCached))
		field("inlay_request_event.n_drawn", unsafe.Offsetof(s.NDrawn), unsafe.Sizeof(s.NDrawn))
		field("inlay_request_event.n_top", unsafe.Offsetof(s.NTop), unsafe.Sizeof(s.NTop))
		field("inlay_request_event.queued_us", unsafe.Offsetof(s.QueuedUs), unsafe.Sizeof(s.QueuedUs))
		field("inlay_request_event.prompt_us", unsafe.Offsetof(s.PromptUs), unsafe.Sizeof(s.PromptUs))
		field("inlay_request_event.decode_us", unsafe.Offsetof(s.DecodeUs), unsafe.Sizeof(s.DecodeUs))
		field("inlay_request_event.n_values", unsafe.Offsetof(s.NValues), unsafe.Sizeof(s.NValues))
	}
	{
		var s raw.RunParams
		layout("inlay_run_params", unsafe.Sizeof(s), unsafe.Alignof(s))
		field("inlay_run_params.struct_size", unsafe.Offsetof(s.StructSize), unsafe.Sizeof(s.StructSize))
		field("inlay_run_params.flags", unsafe.Offsetof(s.Flags), unsafe.Sizeof(s.Flags))
		field("inlay_run_params.budget_us", unsafe.Offsetof(s.BudgetUs), unsafe.Sizeof(s.BudgetUs))
		field("inlay_run_params.max_step_us", unsafe.Offsetof(s.MaxStepUs), unsafe.Sizeof(s.MaxStepUs))
		field("inlay_run_params.host_budget_us", unsafe.Offsetof(s.HostBudgetUs), unsafe.Sizeof(s.HostBudgetUs))
	}
	{
		var s raw.RunInfo
		layout("inlay_run_info", unsafe.Sizeof(s), unsafe.Alignof(s))
		field("inlay_run_info.struct_size", unsafe.Offsetof(s.StructSize), unsafe.Sizeof(s.StructSize))
		field("inlay_run_info.flags", unsafe.Offsetof(s.Flags), unsafe.Sizeof(s.Flags))
		field("inlay_run_info.n_tokens", unsafe.Offsetof(s.NTokens), unsafe.Sizeof(s.NTokens))
		field("inlay_run_info.n_requests", unsafe.Offsetof(s.NRequests), unsafe.Sizeof(s.NRequests))
		field("inlay_run_info.reserved", unsafe.Offsetof(s.Reserved), unsafe.Sizeof(s.Reserved))
	}
	{
		var s raw.ThreadParams
		layout("inlay_thread_params", unsafe.Sizeof(s), unsafe.Alignof(s))
		field("inlay_thread_params.struct_size", unsafe.Offsetof(s.StructSize), unsafe.Sizeof(s.StructSize))
		field("inlay_thread_params.reserved", unsafe.Offsetof(s.Reserved), unsafe.Sizeof(s.Reserved))
		field("inlay_thread_params.busy_us", unsafe.Offsetof(s.BusyUs), unsafe.Sizeof(s.BusyUs))
		field("inlay_thread_params.period_us", unsafe.Offsetof(s.PeriodUs), unsafe.Sizeof(s.PeriodUs))
		field("inlay_thread_params.max_step_us", unsafe.Offsetof(s.MaxStepUs), unsafe.Sizeof(s.MaxStepUs))
	}
	{
		var s raw.ConstraintParams
		layout("inlay_constraint_params", unsafe.Sizeof(s), unsafe.Alignof(s))
		field("inlay_constraint_params.struct_size", unsafe.Offsetof(s.StructSize), unsafe.Sizeof(s.StructSize))
		field("inlay_constraint_params.kind", unsafe.Offsetof(s.Kind), unsafe.Sizeof(s.Kind))
		field("inlay_constraint_params.flags", unsafe.Offsetof(s.Flags), unsafe.Sizeof(s.Flags))
		field("inlay_constraint_params.reserved", unsafe.Offsetof(s.Reserved), unsafe.Sizeof(s.Reserved))
		field("inlay_constraint_params.text", unsafe.Offsetof(s.Text), unsafe.Sizeof(s.Text))
		field("inlay_constraint_params.text_len", unsafe.Offsetof(s.TextLen), unsafe.Sizeof(s.TextLen))
		field("inlay_constraint_params.choices", unsafe.Offsetof(s.Choices), unsafe.Sizeof(s.Choices))
		field("inlay_constraint_params.n_choices", unsafe.Offsetof(s.NChoices), unsafe.Sizeof(s.NChoices))
		field("inlay_constraint_params.prompt", unsafe.Offsetof(s.Prompt), unsafe.Sizeof(s.Prompt))
		field("inlay_constraint_params.n_prompt", unsafe.Offsetof(s.NPrompt), unsafe.Sizeof(s.NPrompt))
		field("inlay_constraint_params.format", unsafe.Offsetof(s.Format), unsafe.Sizeof(s.Format))
		field("inlay_constraint_params.format_len", unsafe.Offsetof(s.FormatLen), unsafe.Sizeof(s.FormatLen))
		field("inlay_constraint_params.chat_template", unsafe.Offsetof(s.ChatTemplate), unsafe.Sizeof(s.ChatTemplate))
		field("inlay_constraint_params.template_len", unsafe.Offsetof(s.TemplateLen), unsafe.Sizeof(s.TemplateLen))
	}
	{
		var s raw.ConstraintInfo
		layout("inlay_constraint_info", unsafe.Sizeof(s), unsafe.Alignof(s))
		field("inlay_constraint_info.struct_size", unsafe.Offsetof(s.StructSize), unsafe.Sizeof(s.StructSize))
		field("inlay_constraint_info.n_remarks", unsafe.Offsetof(s.NRemarks), unsafe.Sizeof(s.NRemarks))
		field("inlay_constraint_info.memory_bytes", unsafe.Offsetof(s.MemoryBytes), unsafe.Sizeof(s.MemoryBytes))
	}
	{
		var s raw.StateWriter
		layout("inlay_state_writer", unsafe.Sizeof(s), unsafe.Alignof(s))
		field("inlay_state_writer.struct_size", unsafe.Offsetof(s.StructSize), unsafe.Sizeof(s.StructSize))
		field("inlay_state_writer.reserved", unsafe.Offsetof(s.Reserved), unsafe.Sizeof(s.Reserved))
		field("inlay_state_writer.user", unsafe.Offsetof(s.User), unsafe.Sizeof(s.User))
		field("inlay_state_writer.write", unsafe.Offsetof(s.Write), unsafe.Sizeof(s.Write))
	}
	{
		var s raw.StateReader
		layout("inlay_state_reader", unsafe.Sizeof(s), unsafe.Alignof(s))
		field("inlay_state_reader.struct_size", unsafe.Offsetof(s.StructSize), unsafe.Sizeof(s.StructSize))
		field("inlay_state_reader.reserved", unsafe.Offsetof(s.Reserved), unsafe.Sizeof(s.Reserved))
		field("inlay_state_reader.user", unsafe.Offsetof(s.User), unsafe.Sizeof(s.User))
		field("inlay_state_reader.read", unsafe.Offsetof(s.Read), unsafe.Sizeof(s.Read))
	}
	{
		var s raw.ChatParserParams
		layout("inlay_chat_parser_params", unsafe.Sizeof(s), unsafe.Alignof(s))
		field("inlay_chat_parser_params.struct_size", unsafe.Offsetof(s.StructSize), unsafe.Sizeof(s.StructSize))
		field("inlay_chat_parser_params.flags", unsafe.Offsetof(s.Flags), unsafe.Sizeof(s.Flags))
		field("inlay_chat_parser_params.format", unsafe.Offsetof(s.Format), unsafe.Sizeof(s.Format))
		field("inlay_chat_parser_params.format_len", unsafe.Offsetof(s.FormatLen), unsafe.Sizeof(s.FormatLen))
		field("inlay_chat_parser_params.chat_template", unsafe.Offsetof(s.ChatTemplate), unsafe.Sizeof(s.ChatTemplate))
		field("inlay_chat_parser_params.template_len", unsafe.Offsetof(s.TemplateLen), unsafe.Sizeof(s.TemplateLen))
		field("inlay_chat_parser_params.tools", unsafe.Offsetof(s.Tools), unsafe.Sizeof(s.Tools))
		field("inlay_chat_parser_params.tools_len", unsafe.Offsetof(s.ToolsLen), unsafe.Sizeof(s.ToolsLen))
		field("inlay_chat_parser_params.prompt", unsafe.Offsetof(s.Prompt), unsafe.Sizeof(s.Prompt))
		field("inlay_chat_parser_params.n_prompt", unsafe.Offsetof(s.NPrompt), unsafe.Sizeof(s.NPrompt))
	}
	{
		var s raw.ChatDelta
		layout("inlay_chat_delta", unsafe.Sizeof(s), unsafe.Alignof(s))
		field("inlay_chat_delta.kind", unsafe.Offsetof(s.Kind), unsafe.Sizeof(s.Kind))
		field("inlay_chat_delta.flags", unsafe.Offsetof(s.Flags), unsafe.Sizeof(s.Flags))
		field("inlay_chat_delta.call", unsafe.Offsetof(s.Call), unsafe.Sizeof(s.Call))
		field("inlay_chat_delta.reserved", unsafe.Offsetof(s.Reserved), unsafe.Sizeof(s.Reserved))
		field("inlay_chat_delta.text", unsafe.Offsetof(s.Text), unsafe.Sizeof(s.Text))
		field("inlay_chat_delta.text_bytes", unsafe.Offsetof(s.TextBytes), unsafe.Sizeof(s.TextBytes))
	}
	{
		var s raw.ChatParserInfo
		layout("inlay_chat_parser_info", unsafe.Sizeof(s), unsafe.Alignof(s))
		field("inlay_chat_parser_info.struct_size", unsafe.Offsetof(s.StructSize), unsafe.Sizeof(s.StructSize))
		field("inlay_chat_parser_info.flags", unsafe.Offsetof(s.Flags), unsafe.Sizeof(s.Flags))
		field("inlay_chat_parser_info.n_calls", unsafe.Offsetof(s.NCalls), unsafe.Sizeof(s.NCalls))
		field("inlay_chat_parser_info.reserved", unsafe.Offsetof(s.Reserved), unsafe.Sizeof(s.Reserved))
	}
}
