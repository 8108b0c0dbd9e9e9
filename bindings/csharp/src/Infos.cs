using System;
using Inlay.Raw;

namespace Inlay
{
    /// <summary>A device that can run a model.</summary>
    public unsafe struct DeviceInfo
    {
        private inlay_device_info _raw;

        internal DeviceInfo(ref inlay_device_info raw) { _raw = raw; }

        /// <summary>CPU or CUDA.</summary>
        public DeviceKind Kind { get { return _raw.kind; } }

        /// <summary>Its number among the devices of its kind: <see cref="LoadOptions.DeviceIndex"/>.</summary>
        public int Index { get { return _raw.index; } }

        /// <summary>Processors that this process may use; multiprocessors of a GPU.</summary>
        public int Units { get { return _raw.n_units; } }

        /// <summary>Its memory in bytes.</summary>
        public ulong TotalBytes { get { return _raw.total_bytes; } }

        /// <summary>Memory that was free when it was asked, in bytes.</summary>
        public ulong FreeBytes { get { return _raw.free_bytes; } }

        /// <summary>Product name.</summary>
        public string Name { get { fixed (byte* name = _raw.name) return Native.FieldText(name, Api.INLAY_DEVICE_NAME_BYTES); } }

        /// <summary>What the kernels will use of it, such as an instruction set.</summary>
        public string Features
        {
            get { fixed (byte* features = _raw.features) return Native.FieldText(features, Api.INLAY_DEVICE_NAME_BYTES); }
        }
    }

    /// <summary>Memory that a load would take, and what its options come to.</summary>
    public struct MemoryInfo
    {
        private readonly inlay_memory_info _raw;

        internal MemoryInfo(ref inlay_memory_info raw) { _raw = raw; }

        /// <summary>Where the model would run.</summary>
        public DeviceKind Device { get { return _raw.device; } }

        /// <summary>Longest sequence of one session, in tokens.</summary>
        public int ContextLength { get { return _raw.n_context; } }

        /// <summary>Sessions that may exist at a time.</summary>
        public int MaxSessions { get { return _raw.max_sessions; } }

        /// <summary>Weights in the form that the device computes with.</summary>
        public ulong WeightBytes { get { return _raw.weight_bytes; } }

        /// <summary>Fp8 if any matrix would be quantized to it, else Default.</summary>
        public WeightDtype WeightDtype { get { return _raw.weight_dtype; } }

        /// <summary>The KV pool.</summary>
        public ulong KvBytes { get { return _raw.kv_bytes; } }

        /// <summary>Activations, logits and buffers.</summary>
        public ulong ScratchBytes { get { return _raw.scratch_bytes; } }

        /// <summary>The sum.</summary>
        public ulong TotalBytes { get { return _raw.total_bytes; } }

        /// <summary>Free memory of the device now.</summary>
        public ulong AvailableBytes { get { return _raw.available_bytes; } }

        /// <summary>Memory of the host for blocks whose room in the KV pool is wanted, at most; not in the sum.</summary>
        public ulong PrefixCacheHostBytes { get { return _raw.prefix_cache_host_bytes; } }
    }

    /// <summary>A loaded model's sizes.</summary>
    public struct EngineInfo
    {
        private readonly inlay_engine_info _raw;

        internal EngineInfo(ref inlay_engine_info raw) { _raw = raw; }

        /// <summary>Where it runs; never Auto.</summary>
        public DeviceKind Device { get { return _raw.device; } }

        /// <summary>Number of weights.</summary>
        public ulong Parameters { get { return _raw.n_params; } }

        /// <summary>Memory of the weights.</summary>
        public ulong WeightBytes { get { return _raw.weight_bytes; } }

        /// <summary>Fp8 if any matrix was quantized to it, else Default.</summary>
        public WeightDtype WeightDtype { get { return _raw.weight_dtype; } }

        /// <summary>Memory of the KV pool.</summary>
        public ulong KvBytes { get { return _raw.kv_bytes; } }

        /// <summary>Rows of logits: ids from 0 up to this can be drawn, and are taken wherever an id is given. The tokenizer
        /// may have tokens from here on, which the model cannot run.</summary>
        public int VocabularySize { get { return _raw.n_vocab; } }

        /// <summary>Layers.</summary>
        public int Layers { get { return _raw.n_layers; } }

        /// <summary>Width of the residual stream.</summary>
        public int ModelWidth { get { return _raw.d_model; } }

        /// <summary>Query heads a layer.</summary>
        public int Heads { get { return _raw.n_heads; } }

        /// <summary>Key and value heads a layer.</summary>
        public int KvHeads { get { return _raw.n_kv_heads; } }

        /// <summary>Width of a head.</summary>
        public int HeadWidth { get { return _raw.d_head; } }

        /// <summary>Width of the feed-forward part.</summary>
        public int FeedForwardWidth { get { return _raw.d_ff; } }

        /// <summary>Context that the model was trained for, in tokens.</summary>
        public int TrainedContextLength { get { return _raw.n_context_train; } }

        /// <summary>Longest sequence of one session, in tokens.</summary>
        public int ContextLength { get { return _raw.n_context; } }

        /// <summary>Sessions that may exist at a time.</summary>
        public int MaxSessions { get { return _raw.max_sessions; } }

        /// <summary>Beginning-of-sequence token, -1 if there is none.</summary>
        public int Bos { get { return _raw.bos; } }

        /// <summary>End-of-sequence token, -1 if there is none.</summary>
        public int Eos { get { return _raw.eos; } }

        /// <summary>Threads that compute.</summary>
        public int Threads { get { return _raw.n_threads; } }

        /// <summary>What the model has.</summary>
        public EngineFlags Flags { get { return _raw.flags; } }
    }

    /// <summary>What an engine has done since it was loaded.</summary>
    public struct EngineStats
    {
        private readonly inlay_stats _raw;

        internal EngineStats(ref inlay_stats raw) { _raw = raw; }

        /// <summary>Sessions that exist now.</summary>
        public int Sessions { get { return _raw.n_sessions; } }

        /// <summary>Tokens that prefill ran.</summary>
        public ulong PrefillTokens { get { return _raw.n_prefill_tokens; } }

        /// <summary>Tokens that decode steps drew.</summary>
        public ulong DecodeTokens { get { return _raw.n_decode_tokens; } }

        /// <summary>Decode steps.</summary>
        public ulong DecodeSteps { get { return _raw.n_decode_steps; } }

        /// <summary>Time that the load took.</summary>
        public TimeSpan LoadTime { get { return TimeSpan.FromSeconds(_raw.load_seconds); } }

        /// <summary>Time in prefill.</summary>
        public TimeSpan PrefillTime { get { return TimeSpan.FromSeconds(_raw.prefill_seconds); } }

        /// <summary>Time in decode steps.</summary>
        public TimeSpan DecodeTime { get { return TimeSpan.FromSeconds(_raw.decode_seconds); } }

        /// <summary>Blocks of the KV pool.</summary>
        public int KvBlocks { get { return _raw.n_kv_blocks; } }

        /// <summary>Blocks in use now; a block that forks share counts once.</summary>
        public int KvBlocksUsed { get { return _raw.n_kv_blocks_used; } }

        /// <summary>Most blocks that were ever in use at once.</summary>
        public int KvBlocksPeak { get { return _raw.n_kv_blocks_peak; } }

        /// <summary>Tokens of a block.</summary>
        public int BlockTokens { get { return _raw.n_block_tokens; } }

        /// <summary>Blocks in the host's memory now, because their room in the pool was wanted: <see cref="LoadOptions.PrefixCacheHostBytes"/>.</summary>
        public int KvBlocksOnHost { get { return _raw.n_kv_blocks_on_host; } }

        /// <summary>Blocks that went there.</summary>
        public ulong KvBlocksToHost { get { return _raw.n_kv_blocks_to_host; } }

        /// <summary>Of these, blocks that came back for a request that begins with them.</summary>
        public ulong KvBlocksFromHost { get { return _raw.n_kv_blocks_from_host; } }

        /// <summary>Of these, blocks that were given up there for others.</summary>
        public ulong KvBlocksHostDropped { get { return _raw.n_kv_blocks_host_dropped; } }

        /// <summary>What was taken of that memory so far.</summary>
        public ulong PrefixCacheHostBytesTaken { get { return _raw.prefix_cache_host_bytes_taken; } }
    }

    /// <summary>Where a session stands.</summary>
    public struct SessionInfo
    {
        private readonly inlay_session_info _raw;

        internal SessionInfo(ref inlay_session_info raw) { _raw = raw; }

        /// <summary>None while it can go on.</summary>
        public FinishReason FinishReason { get { return _raw.finish_reason; } }

        /// <summary>Length of the sequence in tokens, the last drawn one included.</summary>
        public int Tokens { get { return _raw.n_tokens; } }

        /// <summary>Longest that it can become, in tokens.</summary>
        public int ContextLength { get { return _raw.n_context; } }

        /// <summary>Tokens drawn since the last prefill or truncation.</summary>
        public int Generated { get { return _raw.n_generated; } }

        /// <summary>Blocks of the KV pool that it uses, those shared with forks included.</summary>
        public int KvBlocks { get { return _raw.n_kv_blocks; } }

        /// <summary>Bytes of text that <see cref="Session.TakeText"/> would give.</summary>
        public ulong PendingTextBytes { get { return _raw.text_pending; } }

        /// <summary>Generations that have begun so far, each with a prompt or a truncation.</summary>
        public ulong Generation { get { return _raw.generation; } }

        /// <summary>Where the generation's text stands under the constraint; None where there is none.</summary>
        public ConstraintState ConstraintState { get { return _raw.constraint_state; } }
    }

    /// <summary>One entry of the vocabulary.</summary>
    public unsafe struct TokenInfo
    {
        private inlay_token_info _raw;

        internal TokenInfo(ref inlay_token_info raw) { _raw = raw; }

        /// <summary>What it is.</summary>
        public TokenKind Kind { get { return _raw.kind; } }

        /// <summary>Properties.</summary>
        public TokenFlags Flags { get { return _raw.flags; } }

        /// <summary>The vocabulary's score, 0 where it has none.</summary>
        public float Score { get { return _raw.score; } }

        /// <summary>Length of the whole piece in bytes, which may be more than <see cref="Piece"/> holds.</summary>
        public int PieceLength { get { return (int)_raw.piece_bytes; } }

        /// <summary>The bytes that the token stands for in the middle of a text; they need not be whole
        /// characters.</summary>
        public byte[] Piece
        {
            get
            {
                var piece = new byte[Math.Min(PieceLength, Api.INLAY_TOKEN_PIECE_BYTES)];
                fixed (byte* bytes = _raw.piece)
                {
                    for (int i = 0; i < piece.Length; i++) piece[i] = bytes[i];
                }
                return piece;
            }
        }
    }

    /// <summary>One message of the engine's log.</summary>
    public struct LogMessage
    {
        internal LogMessage(LogSeverity level, string text)
        {
            Level = level;
            Text = text;
        }

        /// <summary>Its importance.</summary>
        public readonly LogSeverity Level;

        /// <summary>The message, one line.</summary>
        public readonly string Text;
    }
}
