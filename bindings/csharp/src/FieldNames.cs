using System;
using System.Collections;
using System.Collections.Generic;

namespace Inlay
{
    /// <summary>What the fields of a C struct, which the library's messages name, are called in C#: properties of an options
    /// class, or parameters of a method.</summary>
    internal sealed class FieldNames : IEnumerable
    {
        internal static readonly FieldNames Load = new FieldNames("params.", null)
        {
            { "device", nameof(LoadOptions.Device) },
            { "device_index", nameof(LoadOptions.DeviceIndex) },
            { "n_context", nameof(LoadOptions.ContextLength) },
            { "max_sessions", nameof(LoadOptions.MaxSessions) },
            { "n_threads", nameof(LoadOptions.Threads) },
            { "kv_budget_bytes", nameof(LoadOptions.KvBudgetBytes) },
            { "prefix_cache_host_bytes", nameof(LoadOptions.PrefixCacheHostBytes) },
            { "kv_dtype", nameof(LoadOptions.KvDtype) },
            { "weight_dtype", nameof(LoadOptions.WeightDtype) },
            { "pre_tokenizer", nameof(LoadOptions.PreTokenizer) },
            { "pre_tokenizer_len", nameof(LoadOptions.PreTokenizer) + ".Length" },
            { "tuning", nameof(LoadOptions.Tuning) },
            { "tuning_len", nameof(LoadOptions.Tuning) + ".Length" },
            { "prefill_chunk", nameof(LoadOptions.PrefillChunk) },
            { "log_level", nameof(LoadOptions.LogLevel) },
            { "flags", nameof(LoadOptions.Flags) },
            { "log", nameof(LoadOptions.Log) },
            { "progress", nameof(LoadOptions.Progress) }
        };

        internal static readonly FieldNames Sampler = new FieldNames("sampler.", null)
        {
            { "temperature", nameof(SamplerOptions.Temperature) },
            { "top_k", nameof(SamplerOptions.TopK) },
            { "top_p", nameof(SamplerOptions.TopP) },
            { "min_p", nameof(SamplerOptions.MinP) },
            { "repetition_penalty", nameof(SamplerOptions.RepetitionPenalty) },
            { "frequency_penalty", nameof(SamplerOptions.FrequencyPenalty) },
            { "presence_penalty", nameof(SamplerOptions.PresencePenalty) },
            { "penalty_window", nameof(SamplerOptions.PenaltyWindow) },
            { "n_logprobs", nameof(SamplerOptions.Logprobs) },
            { "seed", nameof(SamplerOptions.Seed) },
            { "bias", nameof(SamplerOptions.Bias) },
            { "n_bias", nameof(SamplerOptions.Bias) + ".Count" },
            { "typical_p", nameof(SamplerOptions.TypicalP) },
            { "top_n_sigma", nameof(SamplerOptions.TopNSigma) },
            { "dynatemp_range", nameof(SamplerOptions.DynamicTemperatureRange) },
            { "dynatemp_exponent", nameof(SamplerOptions.DynamicTemperatureExponent) },
            { "xtc_probability", nameof(SamplerOptions.XtcProbability) },
            { "xtc_threshold", nameof(SamplerOptions.XtcThreshold) },
            { "mirostat_tau", nameof(SamplerOptions.MirostatTau) },
            { "mirostat_eta", nameof(SamplerOptions.MirostatEta) },
            { "adaptive_target", nameof(SamplerOptions.AdaptiveTarget) },
            { "adaptive_decay", nameof(SamplerOptions.AdaptiveDecay) },
            { "dry_multiplier", nameof(SamplerOptions.DryMultiplier) },
            { "dry_base", nameof(SamplerOptions.DryBase) },
            { "dry_allowed_length", nameof(SamplerOptions.DryAllowedLength) },
            { "dry_window", nameof(SamplerOptions.DryWindow) },
            { "dry_breakers", nameof(SamplerOptions.DryBreakers) },
            { "n_dry_breakers", nameof(SamplerOptions.DryBreakers) + ".Count" },
            { "flags", nameof(SamplerOptions.Flags) }
        };

        internal static readonly FieldNames Session = new FieldNames("params.", Sampler)
        {
            { "flags", nameof(SessionOptions.Flags) },
            { "sampler", nameof(SessionOptions.Sampler) },
            { "stream", nameof(SessionOptions.Stream) },
            { "max_tokens", nameof(SessionOptions.MaxTokens) },
            { "stop_tokens", nameof(SessionOptions.StopTokens) },
            { "n_stop_tokens", nameof(SessionOptions.StopTokens) + ".Length" },
            { "stops", nameof(SessionOptions.Stop) },
            { "n_stops", nameof(SessionOptions.Stop) + ".Count" },
            { "constraint", nameof(SessionOptions.Constraint) }
        };

        internal static readonly FieldNames Constraint = new FieldNames("params.", null)
        {
            { "kind", "kind" }, { "flags", "flags" }, { "text", "text" }, { "text_len", "text.Length" }, { "choices", "choices" },
            { "n_choices", "choices.Count" }, { "prompt", "prompt" }, { "n_prompt", "prompt.Length" }, { "format", "format" },
            { "format_len", "format.Length" }, { "chat_template", "chatTemplate" }, { "template_len", "chatTemplate.Length" }
        };

        internal static readonly FieldNames Message = new FieldNames("params.", null)
        {
            { "flags", nameof(MessageOptions.Flags) },
            { "format", nameof(MessageOptions.Format) },
            { "format_len", nameof(MessageOptions.Format) + ".Length" },
            { "chat_template", nameof(MessageOptions.ChatTemplate) },
            { "template_len", nameof(MessageOptions.ChatTemplate) + ".Length" },
            { "tools", nameof(MessageOptions.Tools) },
            { "tools_len", nameof(MessageOptions.Tools) + ".Length" },
            { "prompt", nameof(MessageOptions.Prompt) },
            { "n_prompt", nameof(MessageOptions.Prompt) + ".Length" }
        };

        private static readonly FieldNames ChatOfRequest = new FieldNames("request.chat.", Session.Under("request.session_params."))
        {
            { "flags", nameof(Inlay.Request.Chat) },
            { "chat_template", nameof(Inlay.Request.ChatTemplate) },
            { "template_len", nameof(Inlay.Request.ChatTemplate) + ".Length" }
        };

        private static readonly FieldNames EmbedOfRequest = new FieldNames("request.embed.", ChatOfRequest)
        {
            { "pooling", nameof(Inlay.Request.Pooling) }, { "flags", nameof(Inlay.Request.Embed) }
        };

        internal static readonly FieldNames Request = new FieldNames("request.", EmbedOfRequest)
        {
            { "tokens", "tokens" },
            { "n_tokens", "tokens.Length" },
            { "text", "text" },
            { "text_len", "text.Length" },
            { "conversation", "conversation" },
            { "conversation_len", "conversation.Length" },
            { "chat", nameof(Inlay.Request.Chat) },
            { "session_params", nameof(Inlay.Request.Options) },
            { "priority", nameof(Inlay.Request.Priority) },
            { "deadline_us", nameof(Inlay.Request.Deadline) },
            { "timeout_us", nameof(Inlay.Request.Timeout) },
            { "cache_salt", nameof(Inlay.Request.CacheSalt) },
            { "continues", nameof(Inlay.Request.Continues) },
            { "user", nameof(Inlay.Request.User) },
            { "embed", nameof(Inlay.Request.Embed) }
        };

        internal static readonly FieldNames Queue = new FieldNames("params.", null)
        {
            { "max_requests", nameof(RequestQueueOptions.MaxRequests) },
            { "max_unread_tokens", nameof(RequestQueueOptions.MaxUnreadTokens) }
        };

        internal static readonly FieldNames Run = new FieldNames("params.", null)
        {
            { "flags", "flags" }, { "budget_us", "budget" }, { "max_step_us", "maxStep" }, { "host_budget_us", "hostBudget" }
        };

        internal static readonly FieldNames Thread = new FieldNames("params.", null)
        {
            { "busy_us", nameof(ThreadOptions.Busy) },
            { "period_us", nameof(ThreadOptions.Period) },
            { "max_step_us", nameof(ThreadOptions.MaxStep) }
        };

        internal static readonly FieldNames Profile = new FieldNames("params.", null)
        {
            { "n_tokens", nameof(ProfileOptions.Tokens) },
            { "n_past", nameof(ProfileOptions.Past) },
            { "n_repetitions", nameof(ProfileOptions.Repetitions) }
        };

        internal static readonly FieldNames Convert = new FieldNames("params.", null)
        {
            { "type", "type" }, { "n_threads", "threads" }, { "progress", "progress" }, { "log", "log" }
        };

        internal static readonly FieldNames Chat = new FieldNames("params.", null)
        {
            { "flags", "flags" }, { "chat_template", "template" }, { "template_len", "template.Length" }
        };

        internal static readonly FieldNames Embed = new FieldNames("params.", null)
        {
            { "pooling", "pooling" }, { "flags", "flags" }, { "progress", "cancellation" }
        };

        internal static readonly FieldNames Score = new FieldNames("params.", null)
        {
            { "n_given", nameof(ScoreOptions.Given) },
            { "n_logprobs", nameof(ScoreOptions.Logprobs) },
            { "progress", nameof(ScoreOptions.Progress) }
        };

        // Of functions whose arguments are no struct.
        internal static readonly FieldNames SetStop = new FieldNames("", null) { { "n_stops", "stops.Count" } };
        internal static readonly FieldNames SetStopTokens = new FieldNames("", null) { { "n_tokens", "tokens.Length" } };
        internal static readonly FieldNames SetMaxTokens = new FieldNames("", null) { { "max_tokens", "maxTokens" } };

        private static readonly string[] Verbs = { " is ", " has ", " of token ", " names token " };

        private readonly string _prefix;
        private readonly FieldNames? _inner;
        private readonly Dictionary<string, string> _names = new Dictionary<string, string>();

        private FieldNames(string prefix, FieldNames? inner)
        {
            _prefix = prefix;
            _inner = inner;
        }

        // The same struct inside of another one.
        private FieldNames Under(string prefix)
        {
            var names = new FieldNames(prefix, _inner);
            foreach (KeyValuePair<string, string> name in _names) names.Add(name.Key, name.Value);
            return names;
        }

        private void Add(string field, string name) { _names.Add(field, name); }

        IEnumerator IEnumerable.GetEnumerator() { return _names.GetEnumerator(); }

        /// <summary>A message of the library with these names. A field is found behind the struct's name, as in `params.top_k`,
        /// and where the message begins with it; words elsewhere, such as paths and keys of a file, are none.</summary>
        internal string InCSharp(string message)
        {
            message = AtBeginning(message);
            if (_inner != null) message = _inner.InCSharp(message);
            foreach (KeyValuePair<string, string> name in _names)
            {
                if (_prefix.Length > 0) message = Replaced(message, _prefix + name.Key, name.Value);
                message = Replaced(message, "the load's " + name.Key, "the load's " + name.Value);
            }
            return message;
        }

        // `n_tokens + n_past is 5000, expected ...`
        private string AtBeginning(string message)
        {
            string done = "";
            for (;;)
            {
                int end = 0;
                while (end < message.Length && IsWord(message[end])) end++;
                string rest = message.Substring(end);
                string? name;
                if (!_names.TryGetValue(message.Substring(0, end), out name)) return done + message;
                if (Array.Exists(Verbs, verb => rest.StartsWith(verb, StringComparison.Ordinal))) return done + name + rest;
                if (!rest.StartsWith(" + ", StringComparison.Ordinal)) return done + message;
                done += name + " + ";
                message = rest.Substring(3);
            }
        }

        private static string Replaced(string message, string field, string name)
        {
            for (int at = 0; (at = message.IndexOf(field, at, StringComparison.Ordinal)) >= 0;)
            {
                int end = at + field.Length;
                bool is_whole = (at == 0 || message[at - 1] == ' ') && (end == message.Length || !IsWord(message[end]));
                if (is_whole) message = message.Remove(at, field.Length).Insert(at, name);
                at += is_whole ? name.Length : field.Length;
            }
            return message;
        }

        private static bool IsWord(char c) { return c == '_' || char.IsLetterOrDigit(c); }
    }
}
