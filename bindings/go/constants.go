// Code generated from bindings/api/inlay.toml by bindings/generate.py; DO NOT EDIT.

package inlay

import "inlay.dev/inlay/raw"

// What a call came to.
type Status = raw.Status

// Values of Status.
const (
	// It worked.
	StatusOK = raw.StatusOK
	// An argument is NULL, out of its range, or contradicts another.
	StatusInvalidArgument = raw.StatusInvalidArgument
	// No such file, key, index or message.
	StatusNotFound = raw.StatusNotFound
	// Reading failed; native_code is the system's error number.
	StatusIO = raw.StatusIO
	// The model's bytes are damaged or contradict themselves.
	StatusFormat = raw.StatusFormat
	// Well formed, but this build or this model cannot do it.
	StatusUnsupported = raw.StatusUnsupported
	// Host memory ran out.
	StatusOutOfMemory = raw.StatusOutOfMemory
	// Device memory, or the budget set for it, is too small.
	StatusDeviceOutOfMemory = raw.StatusDeviceOutOfMemory
	// The tokens do not fit into the context; the session is unchanged. A generation that reaches the context's end
	// is no error: its finish reason is CONTEXT_FULL.
	StatusContextFull = raw.StatusContextFull
	// The pool that all sessions share has no free block; the session is unchanged. Where some layers have a sliding
	// window, the message says whose pool.
	StatusKVFull = raw.StatusKVFull
	// The caller's buffer is too small; the needed size was reported.
	StatusBufferTooSmall = raw.StatusBufferTooSmall
	// A cancel request or a callback stopped the call.
	StatusCancelled = raw.StatusCancelled
	// Another thread is using the object now.
	StatusBusy = raw.StatusBusy
	// The machine or this build has no such device.
	StatusNoDevice = raw.StatusNoDevice
	// The device failed; the engine can only be freed.
	StatusDeviceLost = raw.StatusDeviceLost
	// A fault in the library; the handle can only be freed.
	StatusInternal = raw.StatusInternal
	// The engine already has max_sessions sessions.
	StatusSessionLimit = raw.StatusSessionLimit
	// The object cannot do this now, as when a session has finished.
	StatusInvalidState = raw.StatusInvalidState
	// The queue holds as many requests as it was made for; poll, then try again.
	StatusQueueFull = raw.StatusQueueFull
)

// Where a model runs.
type DeviceKind = raw.DeviceKind

// Values of DeviceKind.
const (
	// The fastest device that there is and that the model fits on.
	DeviceAuto = raw.DeviceAuto
	// The processor, with the widest instructions that it has.
	DeviceCPU = raw.DeviceCPU
	// An NVIDIA GPU.
	DeviceCUDA = raw.DeviceCUDA
	// The scalar FP32 interpreter on the processor: slow, for checking results.
	DeviceReference = raw.DeviceReference
)

// Type of the stored keys and values.
type KVDtype = raw.KVDtype

// Values of KVDtype.
const (
	// The device's own: F32 on REFERENCE, else F16.
	KVDefault = raw.KVDefault
	// 2 bytes a value; not on REFERENCE.
	KVF16 = raw.KVF16
	// 4 bytes a value; on REFERENCE only.
	KVF32 = raw.KVF32
	// 1 byte a value (E4M3), and 4 bytes for every token and head; on CUDA only.
	KVFP8 = raw.KVFP8
	// As FP8, with integers: finer for most values, coarser for small ones beside a large one.
	KVINT8 = raw.KVINT8
)

// How important a log message is.
type LogLevel = raw.LogLevel

// Values of LogLevel.
const (
	// As a limit: nothing.
	LogOff = raw.LogOff
	// As a limit: INFO.
	LogDefault = raw.LogDefault
	// Something failed.
	LogError = raw.LogError
	// It works, but probably not as meant.
	LogWarning = raw.LogWarning
	// What was found and chosen.
	LogInfo = raw.LogInfo
	// Details for those who look for a fault.
	LogDebug = raw.LogDebug
)

// Why a session stopped generating.
type FinishReason = raw.FinishReason

// Values of FinishReason.
const (
	// It has not.
	FinishNone = raw.FinishNone
	// The model drew one of its end tokens.
	FinishEndOfGeneration = raw.FinishEndOfGeneration
	// The text reached a stop string; neither it nor anything behind it is part of the text.
	FinishStopString = raw.FinishStopString
	// max_tokens tokens were drawn, accepted ones included.
	FinishMaxTokens = raw.FinishMaxTokens
	// inlay_session_cancel or inlay_request_cancel asked for it, or the engine or the session that it continues was
	// freed.
	FinishCancelled = raw.FinishCancelled
	// A stop token was drawn; it is the event's token and in the sequence, but not in the text.
	FinishStopToken = raw.FinishStopToken
	// The context has no room for another token. The event's token is the last one; -1 where a prompt has filled the
	// context.
	FinishContextFull = raw.FinishContextFull
	// The request's time was over. Requests alone end so.
	FinishTimeout = raw.FinishTimeout
	// The request failed: the event's status says how. Requests alone end so.
	FinishError = raw.FinishError
	// The text is whole under its constraint, which allows nothing more, and the model has no token that ends a text.
	FinishConstraintEnd = raw.FinishConstraintEnd
	// No token that the constraint allows could follow: a bias bans them all, or tokens were accepted that it does
	// not allow.
	FinishDeadEnd = raw.FinishDeadEnd
	// The prompt of a request of kind PREFILL is computed. Requests alone end so.
	FinishPrefilled = raw.FinishPrefilled
	// The vector of a request of kind EMBED is there: inlay_request_take_values gives it. Requests alone end so.
	FinishEmbedded = raw.FinishEmbedded
)

// What happened to a session in one step.
type EventKind = raw.EventKind

// Values of EventKind.
const (
	// Nothing: the session did not advance, status says why.
	EventNone = raw.EventNone
	// A token was drawn and appended; finish_reason tells if it was the last one.
	EventToken = raw.EventToken
	// The session finished without a new token.
	EventFinished = raw.EventFinished
)

// What a vocabulary entry is.
type TokenKind = raw.TokenKind

// Values of TokenKind.
const (
	// Text.
	TokenNormal = raw.TokenNormal
	// Stands for what the vocabulary cannot spell.
	TokenUnknown = raw.TokenUnknown
	// Structure, such as the beginning of a turn; not text.
	TokenControl = raw.TokenControl
	// Text that is never split.
	TokenUserDefined = raw.TokenUserDefined
	// No meaning.
	TokenUnused = raw.TokenUnused
	// One byte of a character that has no token of its own.
	TokenByte = raw.TokenByte
)

// Properties of a loaded model.
type EngineFlags = raw.EngineFlags

// Values of EngineFlags.
const (
	// Text functions work; without it only token ids do.
	EngineHasTokenizer = raw.EngineHasTokenizer
	// inlay_tokenize begins with the BOS token unless told otherwise.
	EngineAddsBOS = raw.EngineAddsBOS
)

// How text becomes tokens.
type TokenizeFlags = raw.TokenizeFlags

// Values of TokenizeFlags.
const (
	// Leave out the BOS and EOS tokens that the model asks for; changes nothing where it asks for none.
	TokenizeNoBOSEOS = raw.TokenizeNoBOSEOS
	// Control tokens written in the text become their ids. Not for untrusted text.
	TokenizeParseSpecial = raw.TokenizeParseSpecial
)

// How tokens become text.
type DetokenizeFlags = raw.DetokenizeFlags

// Values of DetokenizeFlags.
const (
	// Control tokens give their text instead of nothing.
	DetokenizeShowSpecial = raw.DetokenizeShowSpecial
)

// Properties of a token.
type TokenFlags = raw.TokenFlags

// Values of TokenFlags.
const (
	// Drawing it ends the generation.
	TokenFlagEndOfGeneration = raw.TokenFlagEndOfGeneration
	// It is not text.
	TokenFlagControl = raw.TokenFlagControl
)

// How a session generates.
type SessionFlags = raw.SessionFlags

// Values of SessionFlags.
const (
	// End tokens are drawn like others and do not finish the session. Changes nothing for a model without end tokens.
	SessionIgnoreEndOfGeneration = raw.SessionIgnoreEndOfGeneration
	// Each prefill also takes the KV blocks for max_tokens, or up to the context without a limit, or ends with
	// KV_FULL: the generation after it does not. They go back when it ends. Blocks that forks share are not reserved
	// for both.
	SessionReserve = raw.SessionReserve
	// The session is what requests continue (inlay_request.continues): it keeps tokens and sampler from one to the
	// next. It has no place among max_sessions, and its KV blocks stay until their room is wanted; then they are
	// computed again. Prefill, decode steps and shift are refused with INVALID_STATE, and it has no logits. Calls are
	// BUSY while a request has it; freeing it ends these requests with CANCELLED. RESERVE changes nothing for it.
	SessionForRequests = raw.SessionForRequests
)

// How a profile is written.
type ProfileForm = raw.ProfileForm

// Values of ProfileForm.
const (
	// The latest, one line a kind of operation, with the sums.
	ProfileKinds = raw.ProfileKinds
	// The latest, one line an operation.
	ProfileTimeline = raw.ProfileTimeline
	// All that the engine keeps, as JSON in Chrome's trace-event format.
	ProfileTrace = raw.ProfileTrace
)

// How a model runs.
type LoadFlags = raw.LoadFlags

// Values of LoadFlags.
const (
	// CUDA, without effect elsewhere, as the load's log says: prompts are multiplied by the library's own kernels,
	// even where the machine has cuBLASLt.
	LoadNoCublas = raw.LoadNoCublas
	// CUDA, likewise: a decode step begins the next one of the same sessions before it returns, so that the device
	// need not wait for the host. If anything else comes than that step, it waits until the device is done with it.
	// Not of sessions with penalties or biases, nor of models with sliding windows. Takes memory for one more row of
	// logits a session.
	LoadRunAhead = raw.LoadRunAhead
	// CPU, without effect elsewhere, as the load's log says: memory for the activations of long prompts is taken from
	// the system when it is first used, not beside the reading of weights. The process stays smaller until there are
	// long prompts; the first prompts take longer.
	LoadTakePagesLater = raw.LoadTakePagesLater
	// CPU, likewise: matrix products with quantized weights take all activations in 16 bits, not only the third of
	// them that holds most of the error. Logits then are those of the dequantized weights but for a KL divergence of
	// about 1e-6; prompts take longer.
	LoadExactActivations = raw.LoadExactActivations
	// Requests compute all of their prompts. Without it, blocks of the KV pool stay after the requests that computed
	// them until their room is wanted, and requests that begin with the same tokens, at present 8 at least, find them
	// and do not compute these. Only blocks that are full stay (inlay_stats.n_block_tokens). On CUDA the rest of a
	// prompt may then differ in its last bits. Changes nothing for models all of whose layers have a sliding window,
	// of which no blocks are kept.
	LoadNoPrefixCache = raw.LoadNoPrefixCache
)

// Type in which weights are held.
type WeightDtype = raw.WeightDtype

// Values of WeightDtype.
const (
	// The file's types.
	WeightDefault = raw.WeightDefault
	// Matrices of F32, F16 and BF16 are quantized while they are loaded: E4M3 codes and an F16 scale for every 32
	// columns, 8.5 bits a weight. All else stays as it is: quantized matrices, norms, biases, rows that are no
	// multiple of 32 long, and an embedding that is not also the output matrix.
	WeightFP8 = raw.WeightFP8
	// Matrices get the types that inlay_convert gives them, while they are loaded; those that take as few bits a
	// weight already stay as they are.
	WeightQ80 = raw.WeightQ80
	// Likewise.
	WeightQ40 = raw.WeightQ40
	// Likewise.
	WeightQ4KM = raw.WeightQ4KM
	// Likewise.
	WeightQ5KM = raw.WeightQ5KM
	// Likewise.
	WeightQ6K = raw.WeightQ6K
)

// What a sampler does otherwise.
type SamplerFlags = raw.SamplerFlags

// Values of SamplerFlags.
const (
	// Repetitions that DRY looks for reach across any text. Refused together with dry_breakers; changes nothing
	// without dry_multiplier.
	SamplerNoDryBreakers = raw.SamplerNoDryBreakers
	// The temperature comes behind the filters, which see the probabilities that the model gave: as llama.cpp orders
	// them. Changes nothing with mirostat_tau, and without a filter.
	SamplerTemperatureLast = raw.SamplerTemperatureLast
	// Penalties leave the tokens alone that end a generation. Changes nothing without penalties.
	SamplerSpareEndTokens = raw.SamplerSpareEndTokens
)

// Types of the matrices of a GGUF file that is written, with the numbers of inlay_weight_dtype; FP8's is refused,
// because no GGUF file has it. Norms and biases are F32 in all. Rows that are no whole blocks of a type get one with
// smaller blocks.
type ConvertType = raw.ConvertType

// Values of ConvertType.
const (
	// F16.
	ConvertDefault = raw.ConvertDefault
	// 8.5 bits a weight.
	ConvertQ80 = raw.ConvertQ80
	// 4.5 bits a weight; the output matrix in Q6_K.
	ConvertQ40 = raw.ConvertQ40
	// Q4_K, and Q6_K for the output matrix and for the values and down projections of half of the layers.
	ConvertQ4KM = raw.ConvertQ4KM
	// Q5_K, and Q6_K as in Q4_K_M.
	ConvertQ5KM = raw.ConvertQ5KM
	// 6.6 bits a weight.
	ConvertQ6K = raw.ConvertQ6K
	// Every matrix in F16.
	ConvertF16 = raw.ConvertF16
	// Every matrix in BF16.
	ConvertBf16 = raw.ConvertBf16
	// Every matrix in F32.
	ConvertF32 = raw.ConvertF32
)

// How an explanation is written.
type ExplainForm = raw.ExplainForm

// Values of ExplainForm.
const (
	// For people.
	ExplainText = raw.ExplainText
	// The same facts as one object with the members path, error, model, tokenizer, chat_template, tensors, devices
	// and contexts. An error is null or a message. Numbers have the names that they have in inlay_engine_info and
	// inlay_memory_info. Later minors may add members.
	ExplainJson = raw.ExplainJson
)

// How a conversation becomes text.
type ChatFlags = raw.ChatFlags

// Values of ChatFlags.
const (
	// The text ends where the model's answer begins: the template's variable add_generation_prompt is true. It
	// changes nothing for a template that does not read the variable, or where the conversation sets it itself.
	ChatAddGenerationPrompt = raw.ChatAddGenerationPrompt
	// The text ends where the last message's text does, whatever the template writes behind it, so that the model
	// goes on with that message: an answer that was begun for it, or one that was cut off. Blanks at its end stay
	// unless the template trims them. Not together with ADD_GENERATION_PROMPT; UNSUPPORTED if the template does not
	// write the message as it is.
	ChatContinueFinalMessage = raw.ChatContinueFinalMessage
)

// How the final hidden states of a text's tokens become one vector.
type Pooling = raw.Pooling

// Values of Pooling.
const (
	// As the model's metadata say: one of the others, or what only models ask for (the largest value, the sum divided
	// by the root of the length, a mean whose weights grow, several poolings one behind the other), with the layers
	// that a sentence-transformers folder has behind its pooling (Dense, Normalize), which may change the width; a
	// model that says nothing is refused. The others give the pooled states alone.
	PoolingDefault = raw.PoolingDefault
	// The mean of all tokens.
	PoolingMean = raw.PoolingMean
	// The last token, which has seen all others.
	PoolingLast = raw.PoolingLast
	// The first token (CLS), which in a decoder has seen itself alone.
	PoolingFirst = raw.PoolingFirst
)

// What an embedding is.
type EmbedFlags = raw.EmbedFlags

// Values of EmbedFlags.
const (
	// Scaled to length 1, so that a scalar product of two is their cosine.
	EmbedNormalize = raw.EmbedNormalize
	// Texts without the model's default prompt in front; nothing for a model without one. For programs that put
	// another prompt there: the metadata inlay.embedding.prompt.NAME have all prompts of the model.
	EmbedNoPrompt = raw.EmbedNoPrompt
)

// What is to become of a request's prompt. Later minors have more.
type RequestKind = raw.RequestKind

// Values of RequestKind.
const (
	// Tokens are drawn behind it.
	RequestGenerate = raw.RequestGenerate
	// It is computed but for its last token, and nothing is drawn: the request ends with PREFILLED. A request that
	// begins with the same tokens then begins sooner, as far as they fill whole blocks; one that continues the same
	// session finds all of them.
	RequestPrefill = raw.RequestPrefill
	// It becomes a vector, the same as inlay_embed makes: the request ends with EMBEDDED, and
	// inlay_request_take_values gives the vector. Of tokens or text; a text becomes tokens as by inlay_embed. With a
	// conversation, chat, session_params or continues it is refused.
	RequestEmbed = raw.RequestEmbed
)

// What became of a request. A kind that a program does not know is to be passed over.
type RequestEventKind = raw.RequestEventKind

// Values of RequestEventKind.
const (
	// Tokens, text or both; neither where the call of inlay_poll wants none.
	RequestEventTokens = raw.RequestEventTokens
	// The last event of the request: each has exactly one.
	RequestEventEnd = raw.RequestEventEnd
)

// What a handle to wait for is to the system.
type WaitKind = raw.WaitKind

// Values of WaitKind.
const (
	// A file descriptor of eventfd, for poll, epoll and io_uring: readable while there is something to poll.
	WaitEventfd = raw.WaitEventfd
	// A HANDLE for WaitForMultipleObjects: signalled while there is something to poll.
	WaitWindowsEvent = raw.WaitWindowsEvent
)

// How a wait for a queue ended.
type WaitResult = raw.WaitResult

// Values of WaitResult.
const (
	// There is nothing to poll, and the time is over.
	WaitResultTimeOver = raw.WaitResultTimeOver
	// There is something to poll.
	WaitResultReady = raw.WaitResultReady
	// inlay_queue_wake has ended it.
	WaitResultWoken = raw.WaitResultWoken
	// Nobody would end it any more: the device was lost, or the engine's thread has ended and inlay_run was never
	// called. The next call says which.
	WaitResultNobodyComputes = raw.WaitResultNobodyComputes
)

// How inlay_run computes.
type RunFlags = raw.RunFlags

// Values of RunFlags.
const (
	// One step at most: each request that draws gets one token.
	RunOneStep = raw.RunOneStep
	// The call does not wait for a GPU: it collects what the GPU has computed since the last one and queues the next
	// part, one step at most; budget_us is then the GPU's time, host_budget_us the thread's. Calls of sessions wait
	// for what is queued. The CPU computes as without the flag.
	RunNoWait = raw.RunNoWait
)

// What inlay_run has left.
type RunInfoFlags = raw.RunInfoFlags

// Values of RunInfoFlags.
const (
	// Another call may compute more; without it none would.
	RunInfoHasWork = raw.RunInfoHasWork
)

// How a constraint says which texts may be written.
type ConstraintKind = raw.ConstraintKind

// Values of ConstraintKind.
const (
	// JSON by a schema: Draft 2020-12, and what draft-04 to draft-07 spell otherwise. A keyword that is not supported
	// is refused by its name and place.
	ConstraintJsonSchema = raw.ConstraintJsonSchema
	// Any JSON value.
	ConstraintAnyJson = raw.ConstraintAnyJson
	// A grammar as llama.cpp writes them; its rule is root.
	ConstraintGbnf = raw.ConstraintGbnf
	// A regular expression that the whole text matches, as ECMA-262 has them, without look-around and references.
	ConstraintRegex = raw.ConstraintRegex
	// One of some texts.
	ConstraintChoices = raw.ConstraintChoices
	// A message with calls of tools, as the model's format writes them, or content by a schema; reasoning before is
	// free or limited. The text is JSON, whose keys are in docs/design/tool-constraints.md: {"tools", "tool_choice",
	// "parallel_tool_calls", "response_format"}, as OpenAI's protocol has them, and {"reasoning": {"max_tokens": N}},
	// which closes reasoning behind N tokens.
	ConstraintMessage = raw.ConstraintMessage
)

// How constraints write JSON; refused with GBNF, REGEX and CHOICES.
type ConstraintFlags = raw.ConstraintFlags

// Values of ConstraintFlags.
const (
	// No whitespace between values. Else none, one space, or a line end and up to 19 spaces or tabs. Use it unless a
	// person reads the JSON: without it a model pads with blanks, and answers may get twice as long.
	ConstraintFlagCompact = raw.ConstraintFlagCompact
	// Strings that are values may have any escape, such as \u00e9. Else short ones, where JSON needs them.
	ConstraintFlagEscapes = raw.ConstraintFlagEscapes
	// JSON_SCHEMA and MESSAGE: keywords that are not supported are dropped and remarked, not refused.
	ConstraintFlagLenient = raw.ConstraintFlagLenient
)

// Where a session's text stands under its constraint.
type ConstraintState = raw.ConstraintState

// Values of ConstraintState.
const (
	// There is no constraint.
	ConstraintStateNone = raw.ConstraintStateNone
	// Something must follow.
	ConstraintStateIncomplete = raw.ConstraintStateIncomplete
	// The text is whole; more may be allowed.
	ConstraintStateComplete = raw.ConstraintStateComplete
	// It is none that the constraint allows, and none could become of it.
	ConstraintStateDead = raw.ConstraintStateDead
)

// What a part of a message is.
type ChatDeltaKind = raw.ChatDeltaKind

// Values of ChatDeltaKind.
const (
	// Text that the model wrote for itself.
	ChatDeltaReasoning = raw.ChatDeltaReasoning
	// Text of the answer.
	ChatDeltaContent = raw.ChatDeltaContent
	// A call of a tool begins; the text is the tool's name.
	ChatDeltaCallBegin = raw.ChatDeltaCallBegin
	// The call's id, directly behind CALL_BEGIN. Where the model wrote none before, it is made: at present 9 letters
	// and digits.
	ChatDeltaCallID = raw.ChatDeltaCallID
	// Of the call's arguments, which all parts together are: a JSON object, as far as the model keeps to its format.
	ChatDeltaArguments = raw.ChatDeltaArguments
	// The call ends. Calls do not overlap. The text is empty.
	ChatDeltaCallEnd = raw.ChatDeltaCallEnd
)

// What is to be known of a part of a message.
type ChatDeltaFlags = raw.ChatDeltaFlags

// Values of ChatDeltaFlags.
const (
	// With CALL_END: the arguments are one JSON value. Without it the call was cut, or went on as the format does not
	// have it.
	ChatDeltaFlagWhole = raw.ChatDeltaFlagWhole
)

// How a parser reads.
type ChatParserFlags = raw.ChatParserFlags

// Values of ChatParserFlags.
const (
	// Letters of markers count, also those that the vocabulary has as tokens: for text in which control tokens are
	// written out. Without it such letters are text, so that a model can speak of them.
	ChatParserWrittenMarkers = raw.ChatParserWrittenMarkers
)

// Where a parser is.
type ChatParserInfoFlags = raw.ChatParserInfoFlags

// Values of ChatParserInfoFlags.
const (
	// inlay_chat_parser_finish was called.
	ChatParserInfoFinished = raw.ChatParserInfoFinished
	// With FINISHED: neither reasoning nor a call is open. A message that was cut need not be.
	ChatParserInfoComplete = raw.ChatParserInfoComplete
	// Some text was not as the format says. It is content; a control character in a call's JSON is written as JSON
	// has it.
	ChatParserInfoMalformed = raw.ChatParserInfoMalformed
)
