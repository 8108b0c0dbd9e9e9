using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using Inlay.Raw;

namespace Inlay
{
    /// <summary>How a model is loaded. What is not set is the default.</summary>
    public sealed class LoadOptions
    {
        /// <summary>Where the model runs; default Auto.</summary>
        public DeviceKind Device { get; set; }

        /// <summary>Which device of that kind. Range: 0 or more.</summary>
        public int DeviceIndex { get; set; }

        /// <summary>Longest sequence of one session in tokens; default what the model was trained for, at most 4096. Range: 0 or
        /// more.</summary>
        public int ContextLength { get; set; }

        /// <summary>Sessions that may exist at a time; default 8. Range: 0 to 1024.</summary>
        public int MaxSessions { get; set; }

        /// <summary>Threads that compute, the calling one included; default all cores that the process may use. Range: 0 to
        /// 1024.</summary>
        public int Threads { get; set; }

        /// <summary>Size of the KV pool that the sessions share, in bytes; default as large as all sessions could need, at
        /// most 2 GiB.</summary>
        public ulong KvBudgetBytes { get; set; }

        /// <summary>Memory of the host, in bytes, for blocks that requests may find again, but whose room in the KV pool is wanted;
        /// default none.</summary>
        public ulong PrefixCacheHostBytes { get; set; }

        /// <summary>Type of the stored keys and values.</summary>
        public KvDtype KvDtype { get; set; }

        /// <summary>Type in which the weights are held; default the file's types.</summary>
        public WeightDtype WeightDtype { get; set; }

        /// <summary>How byte-level BPE of a GGUF file splits text: a name as in tokenizer.ggml.pre; default the
        /// file's.</summary>
        public string? PreTokenizer { get; set; }

        /// <summary>What changes speed alone, for those who measure: key=value pairs, such as isa=avx2, with blanks or commas
        /// between. Keys may come and go in any version; an unknown one is refused, and the error lists the known ones.</summary>
        public string? Tuning { get; set; }

        /// <summary>Tokens that prefill runs at a time: the grain of its cancel; default 512, on a GPU 1024. Range: 0 to
        /// 4096.</summary>
        public int PrefillChunk { get; set; }

        /// <summary>Callers of <see cref="Engine.CreateSessionAsync"/> and of asynchronous generations that may wait while all sessions are in use; one more gets status SessionLimit. Default 1024.</summary>
        public int MaxWaiting { get; set; }

        /// <summary>Least important messages to keep and to report; default Info.</summary>
        public LogSeverity LogLevel { get; set; }

        /// <summary>How the model runs.</summary>
        public LoadFlags Flags { get; set; }

        /// <summary>
        /// Called with every message for as long as the engine or one of its sessions lives, on the thread whose call
        /// caused it, or on the engine's own: <see cref="Engine.SetThread"/>.
        /// It must not call Inlay; what it throws is dropped.
        /// </summary>
        public Action<LogMessage>? Log { get; set; }

        /// <summary>
        /// Told the bytes in place and the bytes in all, at least once a second, on the loading thread. It must not call
        /// Inlay.
        /// What it throws ends the load and is thrown on by it.
        /// </summary>
        public Action<ulong, ulong>? Progress { get; set; }

        /// <summary>The texts where C finds them, while what Raw gives is in use.</summary>
        internal PinnedTexts PinTexts()
        {
            return new PinnedTexts(new[] { PreTokenizer ?? "", Tuning ?? "" }, nameof(LoadOptions));
        }

        internal unsafe inlay_load_params Raw(PinnedTexts texts)
        {
            inlay_text preTokenizer = texts.First[0], tuning = texts.First[1];
            return new inlay_load_params
            {
                pre_tokenizer = preTokenizer.data, pre_tokenizer_len = preTokenizer.len, tuning = tuning.data, tuning_len = tuning.len,
                struct_size = (uint)sizeof(inlay_load_params), device = Device, device_index = DeviceIndex, n_context = ContextLength,
                max_sessions = MaxSessions, n_threads = Threads, kv_budget_bytes = KvBudgetBytes,
                prefix_cache_host_bytes = PrefixCacheHostBytes, kv_dtype = KvDtype, weight_dtype = WeightDtype, prefill_chunk = PrefillChunk, log_level = LogLevel, flags = (uint)Flags
            };
        }
    }

    /// <summary>How tokens are drawn: bias and DRY, penalties, top-n-sigma, temperature, top-k, typical-p, top-p, min-p, XTC, draw,
    /// in this order. Nothing set is greedy.</summary>
    public sealed class SamplerOptions
    {
        /// <summary>Divides the logits; 0 takes the likeliest token. Range: 0 or more.</summary>
        public float Temperature { get; set; }

        /// <summary>Keep the k likeliest tokens; 0 is off. Range: 0 or more.</summary>
        public int TopK { get; set; }

        /// <summary>Keep the likeliest tokens whose probabilities reach this sum; 0 is off. Range: 0 to 1.</summary>
        public float TopP { get; set; }

        /// <summary>Drop tokens less likely than this part of the likeliest one's probability; 0 is off. Range: 0 to 1.</summary>
        public float MinP { get; set; }

        /// <summary>Divides positive and multiplies negative logits of tokens in the window; 0 is off. Range: 0 or more.</summary>
        public float RepetitionPenalty { get; set; }

        /// <summary>Subtracted once for every time that the token is in the window. Range: any number.</summary>
        public float FrequencyPenalty { get; set; }

        /// <summary>Subtracted if the token is in the window. Range: any number.</summary>
        public float PresencePenalty { get; set; }

        /// <summary>Last tokens of the sequence that the penalties look at; 0 is 64, -1 all. Range: -1 or more.</summary>
        public int PenaltyWindow { get; set; }

        /// <summary>Likeliest tokens to report with each token. Range: 0 to 20.</summary>
        public int Logprobs { get; set; }

        /// <summary>Same seed, stream, tokens and logits: same draw, whatever else is in the step.</summary>
        public ulong Seed { get; set; }

        /// <summary>Added to the logits of these tokens; minus infinity bans one; at most 1024.</summary>
        public IDictionary<int, float>? Bias { get; set; }

        /// <summary>Locally typical sampling: keep the tokens whose surprise is nearest to the mean surprise and whose probabilities
        /// reach this sum; 0 is off. Range: 0 to 1.</summary>
        public float TypicalP { get; set; }

        /// <summary>Keep logits that are at most this many standard deviations below the largest; 0 is off. Range: 0 or
        /// more.</summary>
        public float TopNSigma { get; set; }

        /// <summary>Up to this much is taken from the temperature where the model is sure of the next token, and added where it is
        /// not; 0 is off. Range: 0 or more.</summary>
        public float DynamicTemperatureRange { get; set; }

        /// <summary>Power of the entropy, from 0 to 1, that says where in that range the temperature is; 0 is 1. Range: 0 or
        /// more.</summary>
        public float DynamicTemperatureExponent { get; set; }

        /// <summary>Exclude top choices: the chance with which, of the tokens that reach XtcThreshold, only the least likely stays; 0
        /// is off. Range: 0 to 1.</summary>
        public float XtcProbability { get; set; }

        /// <summary>Probability that makes a token a top choice; 0 is 0.1. Range: 0 to 1.</summary>
        public float XtcThreshold { get; set; }

        /// <summary>Mirostat 2: the mean surprise, in bits, of the drawn tokens that is aimed at. It stands in the place of top-k,
        /// typical-p, top-p, min-p and XTC; 0 is off. Range: 0 or more.</summary>
        public float MirostatTau { get; set; }

        /// <summary>How much of its error Mirostat corrects with each token; 0 is 0.1. Range: 0 or more.</summary>
        public float MirostatEta { get; set; }

        /// <summary>Adaptive-p: tokens near a probability are preferred such that the mean of the drawn tokens' probabilities becomes
        /// this one. To be used with a filter as MinP; 0 is off. Range: 0 to 1.</summary>
        public float AdaptiveTarget { get; set; }

        /// <summary>What that mean keeps of itself with each token; 0 is 0.9. Range: 0 to 0.99.</summary>
        public float AdaptiveDecay { get; set; }

        /// <summary>DRY: a token that would go on with a repetition of the sequence's end loses DryMultiplier times DryBase to the
        /// power of (length of the repetition - DryAllowedLength) of its logit; 0 is off. Range: 0 or more.</summary>
        public float DryMultiplier { get; set; }

        /// <summary>Base of that power; 0 is 1.75. Range: 1 or more.</summary>
        public float DryBase { get; set; }

        /// <summary>Shorter repetitions, in tokens, cost nothing; 0 is 2. Range: 0 or more.</summary>
        public int DryAllowedLength { get; set; }

        /// <summary>Last tokens of the sequence in which repetitions are looked for; 0 and -1 are all. Range: -1 or more.</summary>
        public int DryWindow { get; set; }

        /// <summary>Texts that no repetition reaches across and whose tokens DRY leaves alone, at most 64, each of 1 to 128
        /// bytes. Null is a line feed, a colon, a quotation mark and an asterisk.</summary>
        public IList<string>? DryBreakers { get; set; }

        /// <summary>What the sampler does otherwise.</summary>
        public SamplerFlags Flags { get; set; }

        /// <summary>The sampler in C's form, for as long as it is not disposed.</summary>
        internal unsafe sealed class Pinned : IDisposable
        {
            private readonly GCHandle _bias;
            private readonly PinnedTexts _breakers;
            private readonly inlay_sampler_params _params;

            internal Pinned(SamplerOptions o)
            {
                var bias = new inlay_logit_bias[o.Bias?.Count ?? 0];
                int n = 0;
                if (o.Bias != null)
                    foreach (KeyValuePair<int, float> entry in o.Bias) bias[n++] = new inlay_logit_bias { token = entry.Key, bias = entry.Value };
                _breakers = new PinnedTexts(o.DryBreakers ?? Array.Empty<string>(), nameof(DryBreakers));
                _bias = GCHandle.Alloc(bias, GCHandleType.Pinned);
                _params = new inlay_sampler_params
                {
                    struct_size = (uint)sizeof(inlay_sampler_params), temperature = o.Temperature, top_k = o.TopK, top_p = o.TopP,
                    min_p = o.MinP, repetition_penalty = o.RepetitionPenalty, frequency_penalty = o.FrequencyPenalty,
                    presence_penalty = o.PresencePenalty, penalty_window = o.PenaltyWindow, n_logprobs = o.Logprobs, seed = o.Seed,
                    bias = n == 0 ? null : (inlay_logit_bias*)_bias.AddrOfPinnedObject(), n_bias = (UIntPtr)(uint)n,
                    typical_p = o.TypicalP,
                    top_n_sigma = o.TopNSigma,
                    dynatemp_range = o.DynamicTemperatureRange,
                    dynatemp_exponent = o.DynamicTemperatureExponent,
                    xtc_probability = o.XtcProbability,
                    xtc_threshold = o.XtcThreshold,
                    mirostat_tau = o.MirostatTau,
                    mirostat_eta = o.MirostatEta,
                    adaptive_target = o.AdaptiveTarget,
                    adaptive_decay = o.AdaptiveDecay,
                    dry_multiplier = o.DryMultiplier,
                    dry_base = o.DryBase,
                    dry_allowed_length = o.DryAllowedLength,
                    dry_window = o.DryWindow,
                    dry_breakers = _breakers.Count == 0 ? null : _breakers.First, n_dry_breakers = (UIntPtr)(uint)_breakers.Count,
                    flags = o.Flags
                };
            }

            internal inlay_sampler_params Params { get { return _params; } }

            public void Dispose()
            {
                _bias.Free();
                _breakers.Dispose();
            }
        }
    }

    /// <summary>How a session generates. What is not set is the default.</summary>
    public sealed class SessionOptions
    {
        /// <summary>How tokens are drawn; default greedy.</summary>
        public SamplerOptions? Sampler { get; set; }

        /// <summary>Texts that end a generation, at most 64, each of 1 to 1024 bytes.</summary>
        public IList<string>? Stop { get; set; }

        /// <summary>Tokens that end a generation when drawn, at most 1024.</summary>
        public int[]? StopTokens { get; set; }

        /// <summary>Tells sessions with one seed apart: another stream, other random numbers.</summary>
        public ulong Stream { get; set; }

        /// <summary>Tokens to draw after each prompt before the session finishes; 0 is no limit but the context. Range: 0 or
        /// more.</summary>
        public int MaxTokens { get; set; }

        /// <summary>Properties.</summary>
        public SessionFlags Flags { get; set; }

        /// <summary>What each generation may write, from its first drawn token on; one of the same engine, and not with
        /// SessionFlags.IgnoreEndOfGeneration, since the constraint says where a text ends. Null: anything.</summary>
        public Constraint? Constraint { get; set; }

        /// <summary>The options in C's form, for as long as they are not disposed.</summary>
        internal unsafe sealed class Pinned : IDisposable
        {
            private readonly SamplerOptions.Pinned _sampler;
            private readonly PinnedTexts _stops;
            private readonly Hold? _constraint;
            private readonly GCHandle _draw, _stopTokens;
            private readonly inlay_session_params _params;

            internal Pinned(SessionOptions o)
            {
                int[] tokens = o.StopTokens ?? Array.Empty<int>();
                _stops = new PinnedTexts(o.Stop ?? Array.Empty<string>(), nameof(Stop));
                try
                {
                    if (o.Constraint != null) _constraint = new Hold(o.Constraint.Handle);
                    _sampler = new SamplerOptions.Pinned(o.Sampler ?? new SamplerOptions());
                }
                catch
                {
                    Release();
                    throw;
                }
                _draw = GCHandle.Alloc(new[] { _sampler.Params }, GCHandleType.Pinned);
                _stopTokens = GCHandle.Alloc(tokens, GCHandleType.Pinned);
                _params = new inlay_session_params
                {
                    struct_size = (uint)sizeof(inlay_session_params), flags = o.Flags, sampler = (inlay_sampler_params*)_draw.AddrOfPinnedObject(),
                    stream = o.Stream, max_tokens = o.MaxTokens,
                    stop_tokens = tokens.Length == 0 ? null : (int*)_stopTokens.AddrOfPinnedObject(), n_stop_tokens = (UIntPtr)(uint)tokens.Length,
                    stops = _stops.Count == 0 ? null : _stops.First, n_stops = (UIntPtr)(uint)_stops.Count,
                    constraint = _constraint == null ? IntPtr.Zero : _constraint.Value.Pointer
                };
            }

            internal inlay_session_params Params { get { return _params; } }

            public void Dispose()
            {
                _stopTokens.Free();
                _draw.Free();
                _sampler.Dispose();
                Release();
            }

            private void Release()
            {
                if (_constraint != null) _constraint.Value.Dispose();
                _stops.Dispose();
            }
        }
    }

    /// <summary>What a queue of requests holds. What is not set is the default.</summary>
    public sealed class RequestQueueOptions
    {
        /// <summary>Requests that were submitted and whose ends were not polled, or whose vectors were not taken; one more is
        /// refused with status QueueFull. Default 1024. Range: 0 to 1048576.</summary>
        public int MaxRequests { get; set; }

        /// <summary>A request of which as many tokens wait to be polled rests until some are. It loses nothing, and holds no other up.
        /// Default 256. Range: 0 to 1048576.</summary>
        public int MaxUnreadTokens { get; set; }
    }

    /// <summary>How an engine's own thread computes. Of times, null is none, and zero counts as one microsecond.</summary>
    public sealed class ThreadOptions
    {
        /// <summary>It computes for at most this long in each period, as far as that can be foretold; null: all the time. Range: 0 or
        /// more.</summary>
        public TimeSpan? Busy { get; set; }

        /// <summary>At least as long as Busy; both are set or neither. Range: 0 or more.</summary>
        public TimeSpan? Period { get; set; }

        /// <summary>Bounds what prompts add to a step, and so the time from one token to the next; null: no bound. Range: 0 or
        /// more.</summary>
        public TimeSpan? MaxStep { get; set; }
    }

    /// <summary>How one call generates. In a session of the program's own it changes the session, for this call and later ones.</summary>
    public sealed class GenerateOptions
    {
        /// <summary>How tokens are drawn; null leaves it as it is.</summary>
        public SamplerOptions? Sampler { get; set; }

        /// <summary>Texts that end a generation; null leaves them as they are.</summary>
        public IList<string>? Stop { get; set; }

        /// <summary>Tokens that end a generation when drawn, at most 1024; null leaves them as they are.</summary>
        public int[]? StopTokens { get; set; }

        /// <summary>Tokens to draw after each prompt before the session finishes; 0 leaves the limit as it is.</summary>
        public int MaxTokens { get; set; }

        /// <summary>What may be written; null leaves it as it is.</summary>
        public Constraint? Constraint { get; set; }

        /// <summary>How a prompt of text becomes tokens.</summary>
        public TokenizeFlags Tokenize { get; set; }

        /// <summary>Puts the BOS token in front of a prompt of text also where the session has tokens already.</summary>
        public bool RepeatBos { get; set; }
    }

    /// <summary>What <see cref="Engine.Score"/> tells of texts.</summary>
    public sealed class ScoreOptions
    {
        /// <summary>Tokens at the beginning of each text that are context and have no scores; default 1, which has nothing before it.
        /// Range: 0 or more.</summary>
        public int Given { get; set; }

        /// <summary>Likeliest tokens to report beside each token. Range: 0 to 20.</summary>
        public int Logprobs { get; set; }

        /// <summary>Another engine of the same vocabulary, whose distributions count as exact: both run, and are compared.</summary>
        public Engine? Against { get; set; }

        /// <summary>Told the tokens that were run, and all, after each step, on the thread that calls. It must not call Inlay. What it
        /// throws ends the scoring and is thrown on by it.</summary>
        public Action<ulong, ulong>? Progress { get; set; }
    }

    /// <summary>Which step is profiled.</summary>
    public sealed class ProfileOptions
    {
        /// <summary>Tokens of the step; default 1: a decode step, which draws. Range: 0 or more.</summary>
        public int Tokens { get; set; }

        /// <summary>Tokens in the session before the step. Range: 0 or more.</summary>
        public int Past { get; set; }

        /// <summary>How often it is run; default 20. Range: 0 to 10000.</summary>
        public int Repetitions { get; set; }
    }
}
