package inlay

import "inlay.dev/inlay/raw"

// EngineInfo are a loaded model's sizes.
type EngineInfo struct {
	// Device is where it runs, never DeviceAuto.
	Device DeviceKind `json:"device"`
	// NParams counts the weights.
	NParams uint64 `json:"n_params"`
	// WeightBytes and KVBytes are the memory of the weights and of the KV pool.
	WeightBytes uint64 `json:"weight_bytes"`
	KVBytes     uint64 `json:"kv_bytes"`
	// NVocab is the number of rows of logits: ids from 0 to NVocab - 1 can be drawn.
	NVocab int `json:"n_vocab"`
	// NLayers is the number of layers.
	NLayers int `json:"n_layers"`
	// DModel is the width of the residual stream, DHead of a head, DFF of the feed-forward part.
	DModel int `json:"d_model"`
	DHead  int `json:"d_head"`
	DFF    int `json:"d_ff"`
	// NHeads and NKVHeads count the query heads, and the key and value heads, of a layer.
	NHeads   int `json:"n_heads"`
	NKVHeads int `json:"n_kv_heads"`
	// NContextTrain is the context that the model was trained for, NContext the longest sequence of one session.
	NContextTrain int `json:"n_context_train"`
	NContext      int `json:"n_context"`
	// MaxSessions is how many sessions may exist at a time.
	MaxSessions int `json:"max_sessions"`
	// BOS and EOS are the tokens that begin and end a sequence, -1 if there is none.
	BOS int32 `json:"bos"`
	EOS int32 `json:"eos"`
	// NThreads is how many threads compute.
	NThreads int `json:"n_threads"`
	// Flags are what the model has.
	Flags EngineFlags `json:"flags"`
	// WeightDtype is what was asked for if it changed the type of any matrix, else WeightDefault.
	WeightDtype WeightDtype `json:"weight_dtype"`
}

func engineInfoOf(c *raw.EngineInfo) EngineInfo {
	return EngineInfo{Device: c.Device, NParams: c.NParams, WeightBytes: c.WeightBytes, KVBytes: c.KVBytes, NVocab: int(c.NVocab),
		NLayers: int(c.NLayers), DModel: int(c.DModel), DHead: int(c.DHead), DFF: int(c.DFf), NHeads: int(c.NHeads),
		NKVHeads: int(c.NKVHeads), NContextTrain: int(c.NContextTrain), NContext: int(c.NContext),
		MaxSessions: int(c.MaxSessions), BOS: c.BOS, EOS: c.EOS, NThreads: int(c.NThreads), Flags: c.Flags,
		WeightDtype: c.WeightDtype}
}

// SessionInfo tells where a session stands.
type SessionInfo struct {
	// FinishReason is FinishNone while it can go on.
	FinishReason FinishReason `json:"finish_reason"`
	// NTokens is the length of the sequence, the last drawn token included; NContext is the longest that it can become.
	NTokens  int `json:"n_tokens"`
	NContext int `json:"n_context"`
	// NGenerated counts the tokens drawn since the last prefill or truncation.
	NGenerated int `json:"n_generated"`
	// NKVBlocks counts the blocks of the KV pool that it uses, those shared with forks included.
	NKVBlocks int `json:"n_kv_blocks"`
	// TextPending is how many bytes TakeText would give.
	TextPending uint64 `json:"text_pending"`
	// Generation is how many generations have begun, each with a prefill or a truncation. A fork counts from where its parent was.
	Generation uint64 `json:"generation"`
	// ConstraintState is where the generation's text stands under the session's constraint.
	ConstraintState ConstraintState `json:"constraint_state"`
}

func sessionInfoOf(c *raw.SessionInfo) SessionInfo {
	return SessionInfo{FinishReason: c.FinishReason, NTokens: int(c.NTokens), NContext: int(c.NContext),
		NGenerated: int(c.NGenerated), NKVBlocks: int(c.NKVBlocks), TextPending: c.TextPending, Generation: c.Generation,
		ConstraintState: c.ConstraintState}
}

// Stats are what an engine has done since it was loaded.
type Stats struct {
	// NSessions counts the sessions that exist now.
	NSessions int `json:"n_sessions"`
	// NPrefillTokens and NDecodeTokens count the tokens that prefill ran and that decode steps drew.
	NPrefillTokens uint64 `json:"n_prefill_tokens"`
	NDecodeTokens  uint64 `json:"n_decode_tokens"`
	// NDecodeSteps counts the decode steps.
	NDecodeSteps uint64 `json:"n_decode_steps"`
	// LoadSeconds, PrefillSeconds and DecodeSeconds are the time that the load, prefill and decode steps took.
	LoadSeconds    float64 `json:"load_seconds"`
	PrefillSeconds float64 `json:"prefill_seconds"`
	DecodeSeconds  float64 `json:"decode_seconds"`
	// NKVBlocks counts the blocks of the KV pool, NKVBlocksUsed those in use now, where one that forks share counts once, and
	// NKVBlocksPeak the most that ever were.
	NKVBlocks     int `json:"n_kv_blocks"`
	NKVBlocksUsed int `json:"n_kv_blocks_used"`
	NKVBlocksPeak int `json:"n_kv_blocks_peak"`
	// NBlockTokens is how many tokens a block holds.
	NBlockTokens int `json:"n_block_tokens"`
	// NKVBlocksOnHost counts the blocks that are in the host's memory now, because their room in the pool was wanted
	// (LoadOptions.PrefixCacheHost). NKVBlocksToHost went there, NKVBlocksFromHost came back, and NKVBlocksHostDropped were given up
	// there for others. PrefixCacheHostBytesTaken is how much of that memory was taken so far.
	NKVBlocksOnHost           int    `json:"n_kv_blocks_on_host"`
	NKVBlocksToHost           uint64 `json:"n_kv_blocks_to_host"`
	NKVBlocksFromHost         uint64 `json:"n_kv_blocks_from_host"`
	NKVBlocksHostDropped      uint64 `json:"n_kv_blocks_host_dropped"`
	PrefixCacheHostBytesTaken uint64 `json:"prefix_cache_host_bytes_taken"`
}

func statsOf(c *raw.Stats) Stats {
	return Stats{NSessions: int(c.NSessions), NPrefillTokens: c.NPrefillTokens, NDecodeTokens: c.NDecodeTokens,
		NDecodeSteps: c.NDecodeSteps, LoadSeconds: c.LoadSeconds, PrefillSeconds: c.PrefillSeconds,
		DecodeSeconds: c.DecodeSeconds, NKVBlocks: int(c.NKVBlocks), NKVBlocksUsed: int(c.NKVBlocksUsed),
		NKVBlocksPeak: int(c.NKVBlocksPeak), NBlockTokens: int(c.NBlockTokens), NKVBlocksOnHost: int(c.NKVBlocksOnHost),
		NKVBlocksToHost: c.NKVBlocksToHost, NKVBlocksFromHost: c.NKVBlocksFromHost, NKVBlocksHostDropped: c.NKVBlocksHostDropped,
		PrefixCacheHostBytesTaken: c.PrefixCacheHostBytesTaken}
}

// MemoryInfo is the memory that a load would take, and what its options come to.
type MemoryInfo struct {
	// Device is where the model would run.
	Device DeviceKind `json:"device"`
	// NContext is the longest sequence of one session, MaxSessions how many may exist at a time.
	NContext    int `json:"n_context"`
	MaxSessions int `json:"max_sessions"`
	// WeightBytes, KVBytes and ScratchBytes are for the weights in the form that the device computes with, for the KV pool, and
	// for activations, logits and buffers; TotalBytes is the sum.
	WeightBytes  uint64 `json:"weight_bytes"`
	KVBytes      uint64 `json:"kv_bytes"`
	ScratchBytes uint64 `json:"scratch_bytes"`
	TotalBytes   uint64 `json:"total_bytes"`
	// AvailableBytes is the device's free memory now.
	AvailableBytes uint64 `json:"available_bytes"`
	// WeightDtype is what was asked for if it changes the type of any matrix, else WeightDefault.
	WeightDtype WeightDtype `json:"weight_dtype"`
	// PrefixCacheHostBytes is memory of the host for blocks whose room in the KV pool is wanted, at most; it is not in the sum.
	PrefixCacheHostBytes uint64 `json:"prefix_cache_host_bytes"`
}

func memoryInfoOf(c *raw.MemoryInfo) MemoryInfo {
	return MemoryInfo{Device: c.Device, NContext: int(c.NContext), MaxSessions: int(c.MaxSessions), WeightBytes: c.WeightBytes,
		KVBytes: c.KVBytes, ScratchBytes: c.ScratchBytes, TotalBytes: c.TotalBytes, AvailableBytes: c.AvailableBytes,
		WeightDtype: c.WeightDtype, PrefixCacheHostBytes: c.PrefixCacheHostBytes}
}
