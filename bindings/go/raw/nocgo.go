// Code generated from raw.go by internal/nocgo; DO NOT EDIT.

//go:build !cgo

package raw

import "unsafe"

const (
	ABIMajor = 1
	ABIMinor = 3
)

const MaxLogprobs = 20

const EventTextBytes = 128

const ErrorMessageBytes = 480

const DeviceNameBytes = 128

const TokenPieceBytes = 128

type Status int32

const (
	StatusOK Status = 0

	StatusInvalidArgument Status = 1

	StatusNotFound Status = 2

	StatusIO Status = 3

	StatusFormat Status = 4

	StatusUnsupported Status = 5

	StatusOutOfMemory Status = 6

	StatusDeviceOutOfMemory Status = 7

	StatusContextFull Status = 8

	StatusKVFull Status = 9

	StatusBufferTooSmall Status = 10

	StatusCancelled Status = 11

	StatusBusy Status = 12

	StatusNoDevice Status = 13

	StatusDeviceLost Status = 14

	StatusInternal Status = 15

	StatusSessionLimit Status = 16

	StatusInvalidState Status = 17

	StatusQueueFull Status = 18
)

func (v Status) String() string {
	switch v {
	case StatusOK:
		return "OK"
	case StatusInvalidArgument:
		return "INVALID_ARGUMENT"
	case StatusNotFound:
		return "NOT_FOUND"
	case StatusIO:
		return "IO"
	case StatusFormat:
		return "FORMAT"
	case StatusUnsupported:
		return "UNSUPPORTED"
	case StatusOutOfMemory:
		return "OUT_OF_MEMORY"
	case StatusDeviceOutOfMemory:
		return "DEVICE_OUT_OF_MEMORY"
	case StatusContextFull:
		return "CONTEXT_FULL"
	case StatusKVFull:
		return "KV_FULL"
	case StatusBufferTooSmall:
		return "BUFFER_TOO_SMALL"
	case StatusCancelled:
		return "CANCELLED"
	case StatusBusy:
		return "BUSY"
	case StatusNoDevice:
		return "NO_DEVICE"
	case StatusDeviceLost:
		return "DEVICE_LOST"
	case StatusInternal:
		return "INTERNAL"
	case StatusSessionLimit:
		return "SESSION_LIMIT"
	case StatusInvalidState:
		return "INVALID_STATE"
	case StatusQueueFull:
		return "QUEUE_FULL"
	}
	return "UNKNOWN"
}

type DeviceKind int32

const (
	DeviceAuto DeviceKind = 0

	DeviceCPU DeviceKind = 1

	DeviceCUDA DeviceKind = 2

	DeviceReference DeviceKind = 3
)

func (v DeviceKind) String() string {
	switch v {
	case DeviceAuto:
		return "AUTO"
	case DeviceCPU:
		return "CPU"
	case DeviceCUDA:
		return "CUDA"
	case DeviceReference:
		return "REFERENCE"
	}
	return "UNKNOWN"
}

type KVDtype int32

const (
	KVDefault KVDtype = 0

	KVF16 KVDtype = 1

	KVF32 KVDtype = 2

	KVFP8 KVDtype = 3

	KVINT8 KVDtype = 4
)

func (v KVDtype) String() string {
	switch v {
	case KVDefault:
		return "DEFAULT"
	case KVF16:
		return "F16"
	case KVF32:
		return "F32"
	case KVFP8:
		return "FP8"
	case KVINT8:
		return "INT8"
	}
	return "UNKNOWN"
}

type LogLevel int32

const (
	LogOff LogLevel = -1

	LogDefault LogLevel = 0

	LogError LogLevel = 1

	LogWarning LogLevel = 2

	LogInfo LogLevel = 3

	LogDebug LogLevel = 4
)

func (v LogLevel) String() string {
	switch v {
	case LogOff:
		return "OFF"
	case LogDefault:
		return "DEFAULT"
	case LogError:
		return "ERROR"
	case LogWarning:
		return "WARNING"
	case LogInfo:
		return "INFO"
	case LogDebug:
		return "DEBUG"
	}
	return "UNKNOWN"
}

type FinishReason int32

const (
	FinishNone FinishReason = 0

	FinishEndOfGeneration FinishReason = 1

	FinishStopString FinishReason = 2

	FinishMaxTokens FinishReason = 3

	FinishCancelled FinishReason = 4

	FinishStopToken FinishReason = 5

	FinishContextFull FinishReason = 6

	FinishTimeout FinishReason = 7

	FinishError FinishReason = 8

	FinishConstraintEnd FinishReason = 9

	FinishDeadEnd FinishReason = 10

	FinishPrefilled FinishReason = 11

	FinishEmbedded FinishReason = 12
)

func (v FinishReason) String() string {
	switch v {
	case FinishNone:
		return "NONE"
	case FinishEndOfGeneration:
		return "END_OF_GENERATION"
	case FinishStopString:
		return "STOP_STRING"
	case FinishMaxTokens:
		return "MAX_TOKENS"
	case FinishCancelled:
		return "CANCELLED"
	case FinishStopToken:
		return "STOP_TOKEN"
	case FinishContextFull:
		return "CONTEXT_FULL"
	case FinishTimeout:
		return "TIMEOUT"
	case FinishError:
		return "ERROR"
	case FinishConstraintEnd:
		return "CONSTRAINT_END"
	case FinishDeadEnd:
		return "DEAD_END"
	case FinishPrefilled:
		return "PREFILLED"
	case FinishEmbedded:
		return "EMBEDDED"
	}
	return "UNKNOWN"
}

type EventKind int32

const (
	EventNone EventKind = 0

	EventToken EventKind = 1

	EventFinished EventKind = 2
)

func (v EventKind) String() string {
	switch v {
	case EventNone:
		return "NONE"
	case EventToken:
		return "TOKEN"
	case EventFinished:
		return "FINISHED"
	}
	return "UNKNOWN"
}

type TokenKind int32

const (
	TokenNormal TokenKind = 0

	TokenUnknown TokenKind = 1

	TokenControl TokenKind = 2

	TokenUserDefined TokenKind = 3

	TokenUnused TokenKind = 4

	TokenByte TokenKind = 5
)

func (v TokenKind) String() string {
	switch v {
	case TokenNormal:
		return "NORMAL"
	case TokenUnknown:
		return "UNKNOWN"
	case TokenControl:
		return "CONTROL"
	case TokenUserDefined:
		return "USER_DEFINED"
	case TokenUnused:
		return "UNUSED"
	case TokenByte:
		return "BYTE"
	}
	return "UNKNOWN"
}

type EngineFlags uint32

const (
	EngineHasTokenizer EngineFlags = 1

	EngineAddsBOS EngineFlags = 2
)

type TokenizeFlags uint32

const (
	TokenizeNoBOSEOS TokenizeFlags = 1

	TokenizeParseSpecial TokenizeFlags = 2
)

type DetokenizeFlags uint32

const (
	DetokenizeShowSpecial DetokenizeFlags = 1
)

type TokenFlags uint32

const (
	TokenFlagEndOfGeneration TokenFlags = 1

	TokenFlagControl TokenFlags = 2
)

type SessionFlags uint32

const (
	SessionIgnoreEndOfGeneration SessionFlags = 1

	SessionReserve SessionFlags = 2

	SessionForRequests SessionFlags = 4
)

type ProfileForm int32

const (
	ProfileKinds ProfileForm = 0

	ProfileTimeline ProfileForm = 1

	ProfileTrace ProfileForm = 2
)

func (v ProfileForm) String() string {
	switch v {
	case ProfileKinds:
		return "KINDS"
	case ProfileTimeline:
		return "TIMELINE"
	case ProfileTrace:
		return "TRACE"
	}
	return "UNKNOWN"
}

type LoadFlags uint32

const (
	LoadNoCublas LoadFlags = 1

	LoadRunAhead LoadFlags = 4

	LoadTakePagesLater LoadFlags = 8

	LoadExactActivations LoadFlags = 16

	LoadNoPrefixCache LoadFlags = 32
)

type WeightDtype int32

const (
	WeightDefault WeightDtype = 0

	WeightFP8 WeightDtype = 1

	WeightQ80 WeightDtype = 2

	WeightQ40 WeightDtype = 3

	WeightQ4KM WeightDtype = 4

	WeightQ5KM WeightDtype = 5

	WeightQ6K WeightDtype = 6
)

func (v WeightDtype) String() string {
	switch v {
	case WeightDefault:
		return "DEFAULT"
	case WeightFP8:
		return "FP8"
	case WeightQ80:
		return "Q8_0"
	case WeightQ40:
		return "Q4_0"
	case WeightQ4KM:
		return "Q4_K_M"
	case WeightQ5KM:
		return "Q5_K_M"
	case WeightQ6K:
		return "Q6_K"
	}
	return "UNKNOWN"
}

type SamplerFlags uint32

const (
	SamplerNoDryBreakers SamplerFlags = 1

	SamplerTemperatureLast SamplerFlags = 2

	SamplerSpareEndTokens SamplerFlags = 4
)

type ConvertType int32

const (
	ConvertDefault ConvertType = 0

	ConvertQ80 ConvertType = 2

	ConvertQ40 ConvertType = 3

	ConvertQ4KM ConvertType = 4

	ConvertQ5KM ConvertType = 5

	ConvertQ6K ConvertType = 6

	ConvertF16 ConvertType = 7

	ConvertBf16 ConvertType = 8

	ConvertF32 ConvertType = 9
)

func (v ConvertType) String() string {
	switch v {
	case ConvertDefault:
		return "DEFAULT"
	case ConvertQ80:
		return "Q8_0"
	case ConvertQ40:
		return "Q4_0"
	case ConvertQ4KM:
		return "Q4_K_M"
	case ConvertQ5KM:
		return "Q5_K_M"
	case ConvertQ6K:
		return "Q6_K"
	case ConvertF16:
		return "F16"
	case ConvertBf16:
		return "BF16"
	case ConvertF32:
		return "F32"
	}
	return "UNKNOWN"
}

type ExplainForm int32

const (
	ExplainText ExplainForm = 0

	ExplainJson ExplainForm = 1
)

func (v ExplainForm) String() string {
	switch v {
	case ExplainText:
		return "TEXT"
	case ExplainJson:
		return "JSON"
	}
	return "UNKNOWN"
}

type ChatFlags uint32

const (
	ChatAddGenerationPrompt ChatFlags = 1

	ChatContinueFinalMessage ChatFlags = 2
)

type Pooling int32

const (
	PoolingDefault Pooling = 0

	PoolingMean Pooling = 1

	PoolingLast Pooling = 2

	PoolingFirst Pooling = 3
)

func (v Pooling) String() string {
	switch v {
	case PoolingDefault:
		return "DEFAULT"
	case PoolingMean:
		return "MEAN"
	case PoolingLast:
		return "LAST"
	case PoolingFirst:
		return "FIRST"
	}
	return "UNKNOWN"
}

type EmbedFlags uint32

const (
	EmbedNormalize EmbedFlags = 1

	EmbedNoPrompt EmbedFlags = 2
)

type RequestKind int32

const (
	RequestGenerate RequestKind = 0

	RequestPrefill RequestKind = 1

	RequestEmbed RequestKind = 2
)

func (v RequestKind) String() string {
	switch v {
	case RequestGenerate:
		return "GENERATE"
	case RequestPrefill:
		return "PREFILL"
	case RequestEmbed:
		return "EMBED"
	}
	return "UNKNOWN"
}

type RequestEventKind int32

const (
	RequestEventTokens RequestEventKind = 1

	RequestEventEnd RequestEventKind = 2
)

func (v RequestEventKind) String() string {
	switch v {
	case RequestEventTokens:
		return "TOKENS"
	case RequestEventEnd:
		return "END"
	}
	return "UNKNOWN"
}

type WaitKind int32

const (
	WaitEventfd WaitKind = 1

	WaitWindowsEvent WaitKind = 2
)

func (v WaitKind) String() string {
	switch v {
	case WaitEventfd:
		return "EVENTFD"
	case WaitWindowsEvent:
		return "WINDOWS_EVENT"
	}
	return "UNKNOWN"
}

type WaitResult int32

const (
	WaitResultTimeOver WaitResult = 0

	WaitResultReady WaitResult = 1

	WaitResultWoken WaitResult = 2

	WaitResultNobodyComputes WaitResult = 3
)

func (v WaitResult) String() string {
	switch v {
	case WaitResultTimeOver:
		return "TIME_OVER"
	case WaitResultReady:
		return "READY"
	case WaitResultWoken:
		return "WOKEN"
	case WaitResultNobodyComputes:
		return "NOBODY_COMPUTES"
	}
	return "UNKNOWN"
}

type RunFlags uint32

const (
	RunOneStep RunFlags = 1

	RunNoWait RunFlags = 2
)

type RunInfoFlags uint32

const (
	RunInfoHasWork RunInfoFlags = 1
)

type ConstraintKind int32

const (
	ConstraintJsonSchema ConstraintKind = 0

	ConstraintAnyJson ConstraintKind = 1

	ConstraintGbnf ConstraintKind = 2

	ConstraintRegex ConstraintKind = 3

	ConstraintChoices ConstraintKind = 4

	ConstraintMessage ConstraintKind = 5
)

func (v ConstraintKind) String() string {
	switch v {
	case ConstraintJsonSchema:
		return "JSON_SCHEMA"
	case ConstraintAnyJson:
		return "ANY_JSON"
	case ConstraintGbnf:
		return "GBNF"
	case ConstraintRegex:
		return "REGEX"
	case ConstraintChoices:
		return "CHOICES"
	case ConstraintMessage:
		return "MESSAGE"
	}
	return "UNKNOWN"
}

type ConstraintFlags uint32

const (
	ConstraintFlagCompact ConstraintFlags = 1

	ConstraintFlagEscapes ConstraintFlags = 2

	ConstraintFlagLenient ConstraintFlags = 4
)

type ConstraintState int32

const (
	ConstraintStateNone ConstraintState = 0

	ConstraintStateIncomplete ConstraintState = 1

	ConstraintStateComplete ConstraintState = 2

	ConstraintStateDead ConstraintState = 3
)

func (v ConstraintState) String() string {
	switch v {
	case ConstraintStateNone:
		return "NONE"
	case ConstraintStateIncomplete:
		return "INCOMPLETE"
	case ConstraintStateComplete:
		return "COMPLETE"
	case ConstraintStateDead:
		return "DEAD"
	}
	return "UNKNOWN"
}

type ChatDeltaKind int32

const (
	ChatDeltaReasoning ChatDeltaKind = 0

	ChatDeltaContent ChatDeltaKind = 1

	ChatDeltaCallBegin ChatDeltaKind = 2

	ChatDeltaCallID ChatDeltaKind = 3

	ChatDeltaArguments ChatDeltaKind = 4

	ChatDeltaCallEnd ChatDeltaKind = 5
)

func (v ChatDeltaKind) String() string {
	switch v {
	case ChatDeltaReasoning:
		return "REASONING"
	case ChatDeltaContent:
		return "CONTENT"
	case ChatDeltaCallBegin:
		return "CALL_BEGIN"
	case ChatDeltaCallID:
		return "CALL_ID"
	case ChatDeltaArguments:
		return "ARGUMENTS"
	case ChatDeltaCallEnd:
		return "CALL_END"
	}
	return "UNKNOWN"
}

type ChatDeltaFlags uint32

const (
	ChatDeltaFlagWhole ChatDeltaFlags = 1
)

type ChatParserFlags uint32

const (
	ChatParserWrittenMarkers ChatParserFlags = 1
)

type ChatParserInfoFlags uint32

const (
	ChatParserInfoFinished ChatParserInfoFlags = 1

	ChatParserInfoComplete ChatParserInfoFlags = 2

	ChatParserInfoMalformed ChatParserInfoFlags = 4
)

type Engine struct{ _ [0]byte }

type Session struct{ _ [0]byte }

type Queue struct{ _ [0]byte }

type Constraint struct{ _ [0]byte }

type ChatParser struct{ _ [0]byte }

type LogFn unsafe.Pointer

type ProgressFn unsafe.Pointer

type ReadFn unsafe.Pointer

type WakeFn unsafe.Pointer

type StateWriteFn unsafe.Pointer

type StateReadFn unsafe.Pointer

type Error struct {
	Status Status

	NativeCode int32

	Required uint64

	Available uint64

	MessageLen uint32

	Reserved uint32

	Message [ErrorMessageBytes]byte
}

type Text struct {
	Data *byte

	Len uintptr
}

type LogitBias struct {
	Token int32

	Bias float32
}

type TokenLogprob struct {
	Token int32

	Logprob float32
}

type DeviceInfo struct {
	StructSize uint32

	Kind DeviceKind

	Index int32

	NUnits int32

	TotalBytes uint64

	FreeBytes uint64

	Name [DeviceNameBytes]byte

	Features [DeviceNameBytes]byte
}

type Reader struct {
	StructSize uint32

	Reserved uint32

	User unsafe.Pointer

	Size uint64

	Read ReadFn
}

type LoadParams struct {
	StructSize uint32

	Device DeviceKind

	DeviceIndex int32

	NContext int32

	MaxSessions int32

	NThreads int32

	KVBudgetBytes uint64

	KVDtype KVDtype

	PrefillChunk int32

	LogLevel LogLevel

	Flags uint32

	Log LogFn

	LogUser unsafe.Pointer

	Progress ProgressFn

	ProgressUser unsafe.Pointer

	WeightDtype WeightDtype

	Reserved uint32

	PreTokenizer *byte

	PreTokenizerLen uintptr

	Tuning *byte

	TuningLen uintptr

	PrefixCacheHostBytes uint64
}

type MemoryInfo struct {
	StructSize uint32

	Device DeviceKind

	NContext int32

	MaxSessions int32

	WeightBytes uint64

	KVBytes uint64

	ScratchBytes uint64

	TotalBytes uint64

	AvailableBytes uint64

	WeightDtype WeightDtype

	Reserved uint32

	PrefixCacheHostBytes uint64
}

type EngineInfo struct {
	StructSize uint32

	Device DeviceKind

	NParams uint64

	WeightBytes uint64

	KVBytes uint64

	NVocab int32

	NLayers int32

	DModel int32

	NHeads int32

	NKVHeads int32

	DHead int32

	DFf int32

	NContextTrain int32

	NContext int32

	MaxSessions int32

	BOS int32

	EOS int32

	NThreads int32

	Flags EngineFlags

	WeightDtype WeightDtype

	Reserved uint32
}

type TokenInfo struct {
	StructSize uint32

	Kind TokenKind

	Flags TokenFlags

	Score float32

	PieceBytes uint32

	Reserved uint32

	Piece [TokenPieceBytes]uint8
}

type SamplerParams struct {
	StructSize uint32

	Temperature float32

	TopK int32

	TopP float32

	MinP float32

	RepetitionPenalty float32

	FrequencyPenalty float32

	PresencePenalty float32

	PenaltyWindow int32

	NLogprobs int32

	Seed uint64

	Bias *LogitBias

	NBias uintptr

	TypicalP float32

	TopNSigma float32

	DynatempRange float32

	DynatempExponent float32

	XtcProbability float32

	XtcThreshold float32

	MirostatTau float32

	MirostatEta float32

	AdaptiveTarget float32

	AdaptiveDecay float32

	DryMultiplier float32

	DryBase float32

	DryAllowedLength int32

	DryWindow int32

	DryBreakers *Text

	NDryBreakers uintptr

	Flags SamplerFlags

	Reserved uint32
}

type SessionParams struct {
	StructSize uint32

	Flags SessionFlags

	Sampler *SamplerParams

	Stream uint64

	MaxTokens int32

	Reserved uint32

	StopTokens *int32

	NStopTokens uintptr

	Stops *Text

	NStops uintptr

	Constraint *Constraint
}

type SessionInfo struct {
	StructSize uint32

	FinishReason FinishReason

	NTokens int32

	NContext int32

	NGenerated int32

	NKVBlocks int32

	TextPending uint64

	Generation uint64

	ConstraintState ConstraintState

	Reserved int32
}

type Event struct {
	Status Status

	Kind EventKind

	SessionIndex int32

	Token int32

	FinishReason FinishReason

	Logprob float32

	NLogprobs int32

	TextBytes uint32

	TextPending uint64

	Top [MaxLogprobs]TokenLogprob

	Text [EventTextBytes]byte

	NTokens int32

	Reserved int32
}

type Stats struct {
	StructSize uint32

	NSessions int32

	NPrefillTokens uint64

	NDecodeTokens uint64

	NDecodeSteps uint64

	LoadSeconds float64

	PrefillSeconds float64

	DecodeSeconds float64

	NKVBlocks int32

	NKVBlocksUsed int32

	NKVBlocksPeak int32

	NBlockTokens int32

	NKVBlocksToHost uint64

	NKVBlocksFromHost uint64

	NKVBlocksHostDropped uint64

	PrefixCacheHostBytesTaken uint64

	NKVBlocksOnHost int32

	Reserved uint32
}

type ProfileParams struct {
	StructSize uint32

	NTokens int32

	NPast int32

	NRepetitions int32
}

type ConvertParams struct {
	StructSize uint32

	Type ConvertType

	NThreads int32

	Reserved uint32

	Progress ProgressFn

	ProgressUser unsafe.Pointer

	Log LogFn

	LogUser unsafe.Pointer
}

type ChatParams struct {
	StructSize uint32

	Flags ChatFlags

	ChatTemplate *byte

	TemplateLen uintptr
}

type EmbedParams struct {
	StructSize uint32

	Pooling Pooling

	Flags EmbedFlags

	Reserved uint32

	Progress ProgressFn

	ProgressUser unsafe.Pointer
}

type EmbedInput struct {
	Tokens *int32

	NTokens uintptr

	Text *byte

	TextLen uintptr
}

type ScoreParams struct {
	StructSize uint32

	NGiven int32

	NLogprobs int32

	Reserved uint32

	Progress ProgressFn

	ProgressUser unsafe.Pointer
}

type TokenScore struct {
	Logprob float32

	Rank int32

	AgainstLogprob float32

	AgainstRank int32

	Divergence float32

	SameBest int32
}

type Logits struct {
	StructSize uint32

	Reserved uint32

	Values *float32

	NValues uintptr
}

type QueueParams struct {
	StructSize uint32

	Reserved uint32

	MaxRequests int32

	MaxUnreadTokens int32

	Wake WakeFn

	WakeUser unsafe.Pointer
}

type Request struct {
	StructSize uint32

	Kind RequestKind

	Tokens *int32

	NTokens uintptr

	Text *byte

	TextLen uintptr

	Conversation *byte

	ConversationLen uintptr

	Chat *ChatParams

	SessionParams *SessionParams

	Priority int32

	Reserved uint32

	DeadlineUs uint64

	TimeoutUs uint64

	User uint64

	Continues *Session

	Embed *EmbedParams

	CacheSalt uint64
}

type RequestEvent struct {
	RequestID uint64

	Number uint64

	User uint64

	Kind RequestEventKind

	NTokens int32

	FirstToken uintptr

	FirstByte uintptr

	TextBytes uintptr

	FinishReason FinishReason

	Status Status

	NPrompt int32

	NCached int32

	NDrawn int32

	NTop int32

	QueuedUs uint64

	PromptUs uint64

	DecodeUs uint64

	NValues uintptr
}

type RunParams struct {
	StructSize uint32

	Flags RunFlags

	BudgetUs uint64

	MaxStepUs uint64

	HostBudgetUs uint64
}

type RunInfo struct {
	StructSize uint32

	Flags RunInfoFlags

	NTokens uint64

	NRequests int32

	Reserved uint32
}

type ThreadParams struct {
	StructSize uint32

	Reserved uint32

	BusyUs uint64

	PeriodUs uint64

	MaxStepUs uint64
}

type ConstraintParams struct {
	StructSize uint32

	Kind ConstraintKind

	Flags ConstraintFlags

	Reserved uint32

	Text *byte

	TextLen uintptr

	Choices *Text

	NChoices uintptr

	Prompt *int32

	NPrompt uintptr

	Format *byte

	FormatLen uintptr

	ChatTemplate *byte

	TemplateLen uintptr
}

type ConstraintInfo struct {
	StructSize uint32

	NRemarks int32

	MemoryBytes uint64
}

type StateWriter struct {
	StructSize uint32

	Reserved uint32

	User unsafe.Pointer

	Write StateWriteFn
}

type StateReader struct {
	StructSize uint32

	Reserved uint32

	User unsafe.Pointer

	Read StateReadFn
}

type ChatParserParams struct {
	StructSize uint32

	Flags ChatParserFlags

	Format *byte

	FormatLen uintptr

	ChatTemplate *byte

	TemplateLen uintptr

	Tools *byte

	ToolsLen uintptr

	Prompt *int32

	NPrompt uintptr
}

type ChatDelta struct {
	Kind ChatDeltaKind

	Flags ChatDeltaFlags

	Call int32

	Reserved int32

	FirstByte uintptr

	TextBytes uintptr
}

type ChatParserInfo struct {
	StructSize uint32

	Flags ChatParserInfoFlags

	NCalls int32

	Reserved int32
}

func Load(path *byte, pathLen uintptr, params *LoadParams, engine **Engine, err *Error) Status {
	return withoutCgo(err)
}

func Prefill(session *Session, tokens *int32, nTokens uintptr, nDone *uintptr, err *Error) Status {
	return withoutCgo(err)
}

func DecodeStep(sessions **Session, nSessions uintptr, events *Event, eventStride uintptr, err *Error) Status {
	return withoutCgo(err)
}

func Free(engine *Engine) {}

func VersionString() string { return "" }

func ABIVersion() uint32 { return 0 }

func StatusName(status Status) string { return status.String() }

func DeviceCount() int32 { return 0 }

func DeviceGet(index int32, info *DeviceInfo, err *Error) Status { return withoutCgo(err) }

func LoadMemory(data unsafe.Pointer, nBytes uintptr, params *LoadParams, engine **Engine, err *Error) Status {
	return withoutCgo(err)
}

func LoadReader(reader *Reader, params *LoadParams, engine **Engine, err *Error) Status {
	return withoutCgo(err)
}

func MemoryPlan(path *byte, pathLen uintptr, params *LoadParams, info *MemoryInfo, err *Error) Status {
	return withoutCgo(err)
}

func EngineGetInfo(engine *Engine, info *EngineInfo, err *Error) Status { return withoutCgo(err) }

func MetaCount(engine *Engine, count *uintptr, err *Error) Status { return withoutCgo(err) }

func MetaKey(engine *Engine, index uintptr, buf *byte, cap_ uintptr, needed *uintptr, err *Error) Status {
	return withoutCgo(err)
}

func MetaValue(engine *Engine, key *byte, keyLen uintptr, buf *byte, cap_ uintptr, needed *uintptr, err *Error) Status {
	return withoutCgo(err)
}

func Tokenize(engine *Engine, text *byte, textLen uintptr, flags TokenizeFlags, tokens *int32, cap_ uintptr, nTokens *uintptr, err *Error) Status {
	return withoutCgo(err)
}

func Detokenize(engine *Engine, tokens *int32, nTokens uintptr, flags DetokenizeFlags, buf *byte, cap_ uintptr, needed *uintptr, err *Error) Status {
	return withoutCgo(err)
}

func TokenGetInfo(engine *Engine, token int32, info *TokenInfo, err *Error) Status {
	return withoutCgo(err)
}

func SessionCreate(engine *Engine, params *SessionParams, session **Session, err *Error) Status {
	return withoutCgo(err)
}

func SessionFree(session *Session) {}

func SessionGetInfo(session *Session, info *SessionInfo, err *Error) Status { return withoutCgo(err) }

func SessionTakeText(session *Session, buf *byte, cap_ uintptr, nBytes *uintptr, err *Error) Status {
	return withoutCgo(err)
}

func SessionFork(session *Session, child **Session, err *Error) Status { return withoutCgo(err) }

func SessionTruncate(session *Session, nTokens uintptr, err *Error) Status { return withoutCgo(err) }

func SessionSetSampler(session *Session, params *SamplerParams, err *Error) Status {
	return withoutCgo(err)
}

func SessionSetStop(session *Session, stops *Text, nStops uintptr, err *Error) Status {
	return withoutCgo(err)
}

func SessionCopyLogits(session *Session, logits *float32, cap_ uintptr, needed *uintptr, err *Error) Status {
	return withoutCgo(err)
}

func SessionCancel(session *Session) {}

func EngineGetStats(engine *Engine, stats *Stats, err *Error) Status { return withoutCgo(err) }

func PlanText(engine *Engine, buf *byte, cap_ uintptr, needed *uintptr, err *Error) Status {
	return withoutCgo(err)
}

func LogRead(engine *Engine, cursor *uint64, level *LogLevel, buf *byte, cap_ uintptr, needed *uintptr, err *Error) Status {
	return withoutCgo(err)
}

func ProfileStep(engine *Engine, params *ProfileParams, err *Error) Status { return withoutCgo(err) }

func ProfileText(engine *Engine, form ProfileForm, buf *byte, cap_ uintptr, needed *uintptr, err *Error) Status {
	return withoutCgo(err)
}

func CompareText(engineA *Engine, engineB *Engine, tokens *int32, nTokens uintptr, nmseLimit float64, first *int32, buf *byte, cap_ uintptr, needed *uintptr, err *Error) Status {
	return withoutCgo(err)
}

func Convert(path *byte, pathLen uintptr, outPath *byte, outPathLen uintptr, params *ConvertParams, err *Error) Status {
	return withoutCgo(err)
}

func ChatRender(engine *Engine, conversation *byte, conversationLen uintptr, params *ChatParams, buf *byte, cap_ uintptr, needed *uintptr, err *Error) Status {
	return withoutCgo(err)
}

func Embed(engine *Engine, inputs *EmbedInput, nInputs uintptr, inputStride uintptr, params *EmbedParams, out *float32, cap_ uintptr, needed *uintptr, err *Error) Status {
	return withoutCgo(err)
}

func Score(engine *Engine, against *Engine, tokens *int32, nTokens uintptr, lengths *int32, nTexts uintptr, params *ScoreParams, scores *TokenScore, scoreStride uintptr, top *TokenLogprob, topCap uintptr, err *Error) Status {
	return withoutCgo(err)
}

func Explain(path *byte, pathLen uintptr, params *LoadParams, form ExplainForm, nDevices *int32, buf *byte, cap_ uintptr, needed *uintptr, err *Error) Status {
	return withoutCgo(err)
}

func SessionViewLogits(session *Session, view *Logits, err *Error) Status { return withoutCgo(err) }

func DecodeSlice(sessions **Session, nSessions uintptr, maxUnits int32, events *Event, eventStride uintptr, unitsLeft *int32, err *Error) Status {
	return withoutCgo(err)
}

func DecodeAbandon(sessions **Session, nSessions uintptr, err *Error) Status { return withoutCgo(err) }

func SessionSetStopTokens(session *Session, tokens *int32, nTokens uintptr, err *Error) Status {
	return withoutCgo(err)
}

func SessionCancelGeneration(session *Session, generation uint64, err *Error) Status {
	return withoutCgo(err)
}

func SessionSetMaxTokens(session *Session, maxTokens int32, err *Error) Status {
	return withoutCgo(err)
}

func ChatTokenize(engine *Engine, conversation *byte, conversationLen uintptr, params *ChatParams, tokens *int32, cap_ uintptr, nTokens *uintptr, err *Error) Status {
	return withoutCgo(err)
}

func SessionShift(session *Session, first uintptr, nTokens uintptr, err *Error) Status {
	return withoutCgo(err)
}

func SessionAccept(session *Session, tokens *int32, nTokens uintptr, nAccepted *uintptr, err *Error) Status {
	return withoutCgo(err)
}

func SessionGetTokens(session *Session, first uintptr, tokens *int32, cap_ uintptr, nTokens *uintptr, err *Error) Status {
	return withoutCgo(err)
}

func QueueCreate(engine *Engine, params *QueueParams, queue **Queue, err *Error) Status {
	return withoutCgo(err)
}

func QueueFree(queue *Queue) {}

func Submit(queue *Queue, request *Request, requestID *uint64, err *Error) Status {
	return withoutCgo(err)
}

func RequestCancel(queue *Queue, requestID uint64, err *Error) Status { return withoutCgo(err) }

func RequestTakeValues(queue *Queue, requestID uint64, values *float32, cap_ uintptr, needed *uintptr, err *Error) Status {
	return withoutCgo(err)
}

func Poll(queue *Queue, events *RequestEvent, capEvents uintptr, eventStride uintptr, tokens *TokenLogprob, capTokens uintptr, text *byte, capText uintptr, nEvents *uintptr, err *Error) Status {
	return withoutCgo(err)
}

func Wait(queue *Queue, timeoutUs int64, result *WaitResult, err *Error) Status {
	return withoutCgo(err)
}

func QueueWake(queue *Queue, err *Error) Status { return withoutCgo(err) }

func QueueGetHandle(queue *Queue, kind *WaitKind, handle *int64, err *Error) Status {
	return withoutCgo(err)
}

func Run(engine *Engine, params *RunParams, info *RunInfo, err *Error) Status { return withoutCgo(err) }

func EngineSetThread(engine *Engine, params *ThreadParams, err *Error) Status { return withoutCgo(err) }

func ConstraintCreate(engine *Engine, params *ConstraintParams, constraint **Constraint, err *Error) Status {
	return withoutCgo(err)
}

func ConstraintFree(constraint *Constraint) {}

func ConstraintGetInfo(constraint *Constraint, info *ConstraintInfo, err *Error) Status {
	return withoutCgo(err)
}

func ConstraintGetRemark(constraint *Constraint, index uintptr, buf *byte, cap_ uintptr, needed *uintptr, err *Error) Status {
	return withoutCgo(err)
}

func SessionSetConstraint(session *Session, constraint *Constraint, written *byte, writtenLen uintptr, err *Error) Status {
	return withoutCgo(err)
}

func SessionGetForcedText(session *Session, buf *byte, cap_ uintptr, needed *uintptr, err *Error) Status {
	return withoutCgo(err)
}

func SessionSave(session *Session, state unsafe.Pointer, cap_ uintptr, needed *uintptr, err *Error) Status {
	return withoutCgo(err)
}

func SessionSaveTo(session *Session, writer *StateWriter, err *Error) Status { return withoutCgo(err) }

func SessionRestore(engine *Engine, state unsafe.Pointer, nBytes uintptr, session **Session, err *Error) Status {
	return withoutCgo(err)
}

func SessionRestoreFrom(engine *Engine, reader *StateReader, session **Session, err *Error) Status {
	return withoutCgo(err)
}

func ChatGetFormat(engine *Engine, params *ChatParserParams, buf *byte, cap_ uintptr, needed *uintptr, err *Error) Status {
	return withoutCgo(err)
}

func ChatParserCreate(engine *Engine, params *ChatParserParams, parser **ChatParser, err *Error) Status {
	return withoutCgo(err)
}

func ChatParserFree(parser *ChatParser) {}

func ChatParserAppend(parser *ChatParser, tokens *int32, nTokens uintptr, err *Error) Status {
	return withoutCgo(err)
}

func ChatParserAppendText(parser *ChatParser, text *byte, textLen uintptr, err *Error) Status {
	return withoutCgo(err)
}

func ChatParserFinish(parser *ChatParser, err *Error) Status { return withoutCgo(err) }

func ChatParserTake(parser *ChatParser, deltas *ChatDelta, capDeltas uintptr, deltaStride uintptr, text *byte, capText uintptr, nDeltas *uintptr, err *Error) Status {
	return withoutCgo(err)
}

func ChatParserGetInfo(parser *ChatParser, info *ChatParserInfo, err *Error) Status {
	return withoutCgo(err)
}

func ChatParserGetMessage(parser *ChatParser, buf *byte, cap_ uintptr, needed *uintptr, err *Error) Status {
	return withoutCgo(err)
}
