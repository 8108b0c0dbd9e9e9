using System;
using System.Collections.Generic;
using Inlay.Raw;

namespace Inlay
{
    /// <summary>A token and its probability under the model, before any sampling step.</summary>
    public struct TokenLogprob
    {
        /// <summary>Token id.</summary>
        public readonly int Token;

        /// <summary>Natural logarithm of the probability.</summary>
        public readonly float Logprob;

        internal TokenLogprob(inlay_token_logprob raw)
        {
            Token = raw.token;
            Logprob = raw.logprob;
        }
    }

    /// <summary>How likely a token of a text is, given those before it, as <see cref="Engine.Score"/> found it.</summary>
    public struct TokenScore
    {
        /// <summary>Natural logarithm of the token's probability under the model; not a number where it was given.</summary>
        public readonly float Logprob;

        /// <summary>Tokens that are likelier, or as likely with a lower id; 0: a greedy draw takes this one. -1 where it was
        /// given.</summary>
        public readonly int Rank;

        /// <summary>The same for the engine that is compared with; not a number without one.</summary>
        public readonly float AgainstLogprob;

        /// <summary>Likewise; -1 without one.</summary>
        public readonly int AgainstRank;

        /// <summary>Kullback-Leibler divergence of this engine's distribution from the other one's, which counts as exact, in nats; not
        /// a number without one.</summary>
        public readonly float Divergence;

        /// <summary>Whether the likeliest token of both engines is the same; null without another engine.</summary>
        public readonly bool? SameBest;

        /// <summary>The likeliest tokens in its place, the likeliest first; as many as <see cref="ScoreOptions.Logprobs"/> asks
        /// for.</summary>
        public readonly TokenLogprob[] Top;

        /// <summary>It is one of the tokens at the beginning that have no scores.</summary>
        public bool IsGiven { get { return Rank < 0; } }

        internal TokenScore(inlay_token_score raw, TokenLogprob[] top)
        {
            Logprob = raw.logprob;
            Rank = raw.rank;
            AgainstLogprob = raw.against_logprob;
            AgainstRank = raw.against_rank;
            Divergence = raw.divergence;
            SameBest = raw.same_best < 0 ? (bool?)null : raw.same_best == 1;
            Top = top;
        }
    }

    /// <summary>
    /// What one session did in one decode step, as the library wrote it. An array of them is all that a step needs: nothing
    /// is
    /// allocated until a property makes a text or a list.
    /// </summary>
    public unsafe struct StepEvent
    {
        internal inlay_event raw;

        /// <summary>Ok, or why this session did not advance.</summary>
        public Status Status { get { return raw.status; } }

        /// <summary>What happened.</summary>
        public EventKind Kind { get { return raw.kind; } }

        /// <summary>Position of the session in the call's list.</summary>
        public int SessionIndex { get { return raw.session_index; } }

        /// <summary>The drawn token, -1 if there is none.</summary>
        public int Token { get { return raw.token; } }

        /// <summary>Tokens that were drawn, of which Token is the last: 0 or 1.</summary>
        public int TokenCount { get { return raw.n_tokens; } }

        /// <summary>Not None: this was the session's last event until its next prefill.</summary>
        public FinishReason FinishReason { get { return raw.finish_reason; } }

        /// <summary>Natural logarithm of the token's probability under the model, before any sampling step.</summary>
        public float Logprob { get { return raw.logprob; } }

        /// <summary>Bytes of text that did not fit: <see cref="Session.TakeText"/> gives them.</summary>
        public ulong PendingTextBytes { get { return raw.text_pending; } }

        /// <summary>New text, whole characters, without what is pending. Makes a string at every call.</summary>
        public string Text { get { fixed (byte* text = raw.text) return Utf8.Text(text, (int)raw.text_bytes); } }

        /// <summary>The likeliest tokens, the likeliest first. Makes an array at every call.</summary>
        public TokenLogprob[] Top
        {
            get
            {
                if (raw.n_logprobs == 0) return Array.Empty<TokenLogprob>();
                var top = new TokenLogprob[raw.n_logprobs];
                fixed (inlay_token_logprob* first = &raw.top.first)
                {
                    for (int i = 0; i < top.Length; i++) top[i] = new TokenLogprob(first[i]);
                }
                return top;
            }
        }
    }

    /// <summary>One event of a generation: its token, and the whole text that became certain with it.</summary>
    public sealed class Generated
    {
        internal Generated(ref StepEvent step, string text, int promptTokens, int generatedTokens)
        {
            PromptTokens = promptTokens;
            GeneratedTokens = generatedTokens;
            Token = step.Token;
            Logprob = step.Logprob;
            Top = step.Top;
            FinishReason = step.FinishReason;
            Text = text;
        }

        /// <summary>The drawn token, -1 if the session finished without a new one.</summary>
        public int Token { get; private set; }

        /// <summary>New text, whole characters. Empty while a character or what may be a stop string is
        /// incomplete.</summary>
        public string Text { get; private set; }

        /// <summary>Natural logarithm of the token's probability under the model, before any sampling step.</summary>
        public float Logprob { get; private set; }

        /// <summary>The likeliest tokens, the likeliest first; as many as <see cref="SamplerOptions.Logprobs"/> asks
        /// for.</summary>
        public IList<TokenLogprob> Top { get; private set; }

        /// <summary>Not None: this is the last event of the generation.</summary>
        public FinishReason FinishReason { get; private set; }

        /// <summary>Tokens of the prompt that the generation answers.</summary>
        public int PromptTokens { get; private set; }

        /// <summary>Tokens drawn since, this event's included.</summary>
        public int GeneratedTokens { get; private set; }
    }

    /// <summary>A whole generation.</summary>
    public sealed class Completion
    {
        internal Completion(string text, int[] tokens, Generated last)
        {
            Text = text;
            Tokens = tokens;
            FinishReason = last.FinishReason;
            PromptTokens = last.PromptTokens;
        }

        internal Completion(string text, int[] tokens, float[]? vector, ref RequestEvent end)
        {
            Text = text;
            Tokens = tokens;
            Vector = vector;
            FinishReason = end.FinishReason;
            PromptTokens = end.PromptTokens;
            CachedTokens = end.CachedTokens;
        }

        /// <summary>The text.</summary>
        public string Text { get; private set; }

        /// <summary>The drawn tokens.</summary>
        public IReadOnlyList<int> Tokens { get; private set; }

        /// <summary>Why it ended.</summary>
        public FinishReason FinishReason { get; private set; }

        /// <summary>Tokens of the prompt.</summary>
        public int PromptTokens { get; private set; }

        /// <summary>Those of them that were not computed for this prompt, since a request had begun with them before.</summary>
        public int CachedTokens { get; private set; }

        /// <summary>Of a request of RequestKind.Embed: the vector, which stands for the text. Else null.</summary>
        public float[]? Vector { get; private set; }
    }
}
