using System;
using System.Text;
using System.Threading;
using Inlay.Raw;

namespace Inlay
{
    /// <summary>Room for what <see cref="RequestQueue.Poll"/> collects, to be used again and again: a poll allocates nothing.</summary>
    /// <remarks>One thread at a time may use it. What there is no room for stays in the queue.</remarks>
    public sealed unsafe class RequestEvents
    {
        private readonly inlay_request_event[] _events;
        private readonly inlay_token_logprob[] _tokens;
        private readonly byte[] _text;
        private int _count, _poll, _isInUse;

        /// <summary>Makes room.</summary>
        /// <param name="events">For this many events, 1 or more.</param>
        /// <param name="tokens">For this many tokens of all events, 1 or more; for one and the likeliest in its place at least.</param>
        /// <param name="textBytes">For this many bytes of their texts, 4 or more.</param>
        public RequestEvents(int events = 64, int tokens = 1024, int textBytes = 8192)
        {
            if (events < 1) throw new ArgumentOutOfRangeException(nameof(events));
            if (tokens < 1) throw new ArgumentOutOfRangeException(nameof(tokens));
            if (textBytes < 4) throw new ArgumentOutOfRangeException(nameof(textBytes));
            _events = new inlay_request_event[events];
            _tokens = new inlay_token_logprob[Math.Max(tokens, 1 + Api.INLAY_MAX_LOGPROBS)];
            _text = new byte[textBytes];
        }

        /// <summary>Events that the last poll collected.</summary>
        public int Count { get { return _count; } }

        /// <summary>One of them, in their order.</summary>
        public RequestEvent this[int index]
        {
            get
            {
                if (index < 0 || index >= _count) throw new ArgumentOutOfRangeException(nameof(index));
                return new RequestEvent(this, _poll, ref _events[index]);
            }
        }

        /// <summary>For foreach.</summary>
        public Enumerator GetEnumerator() { return new Enumerator(this); }

        /// <summary>For foreach.</summary>
        public struct Enumerator
        {
            private readonly RequestEvents _of;
            private int _next;

            internal Enumerator(RequestEvents of)
            {
                _of = of;
                _next = 0;
            }

            /// <summary>The event.</summary>
            public RequestEvent Current { get { return _of[_next - 1]; } }

            /// <summary>Goes on to the next one; false: there is none.</summary>
            public bool MoveNext() { return _next++ < _of._count; }
        }

        internal int Fill(Api api, RequestQueue from)
        {
            if (Interlocked.CompareExchange(ref _isInUse, 1, 0) != 0) throw new InvalidOperationException("another thread polls into these events");
            try
            {
                UIntPtr n;
                inlay_error error;
                _count = 0;
                _poll++;
                using (var queue = from.Use())
                fixed (inlay_request_event* events = _events)
                fixed (inlay_token_logprob* tokens = _tokens)
                fixed (byte* text = _text)
                {
                    Check.Ok(api.inlay_poll(queue.Pointer, events, (UIntPtr)(uint)_events.Length, (UIntPtr)(uint)sizeof(inlay_request_event), tokens,
                                            (UIntPtr)(uint)_tokens.Length, text, (UIntPtr)(uint)_text.Length, &n, &error), ref error);
                }
                _count = (int)n;
                for (int i = 0; i < _count; i++)
                {
                    if (_events[i].kind == RequestEventKind.End) from.BeginOrEnd(_events[i].request_id, null);
                }
                return _count;
            }
            finally { Volatile.Write(ref _isInUse, 0); }
        }

        internal void CheckCurrent(int poll)
        {
            if (poll != _poll) throw new InvalidOperationException("another poll has written over this event's tokens and text");
        }

        internal TokenLogprob TokenAt(int at) { return new TokenLogprob(_tokens[at]); }

        internal string TextAt(int at, int n_bytes) { return n_bytes == 0 ? "" : Encoding.UTF8.GetString(_text, at, n_bytes); }
    }

    /// <summary>What became of a request since its last event. Its tokens and its text lie in the <see cref="RequestEvents"/> that were
    /// polled, until these are polled again; the rest stays.</summary>
    public struct RequestEvent
    {
        private readonly RequestEvents _of;
        private readonly int _poll;
        private readonly inlay_request_event _raw;

        internal RequestEvent(RequestEvents of, int poll, ref inlay_request_event raw)
        {
            _of = of;
            _poll = poll;
            _raw = raw;
        }

        /// <summary>The number that <see cref="RequestQueue.Submit"/> gave.</summary>
        public ulong Request { get { return _raw.request_id; } }

        /// <summary>1 for the first event that was polled from the queue, then one more for each.</summary>
        public ulong Number { get { return _raw.number; } }

        /// <summary>Of the request.</summary>
        public ulong User { get { return _raw.user; } }

        /// <summary>What it is. A kind that a program does not know is to be passed over.</summary>
        public RequestEventKind Kind { get { return _raw.kind; } }

        /// <summary>The last event of its request: each has exactly one.</summary>
        public bool IsEnd { get { return _raw.kind == RequestEventKind.End; } }

        /// <summary>Tokens that were drawn.</summary>
        public int TokenCount { get { return _raw.n_tokens; } }

        /// <summary>One of them.</summary>
        public TokenLogprob GetToken(int index)
        {
            CheckToken(index);
            return _of.TokenAt((int)_raw.first_token + index);
        }

        /// <summary>Of the likeliest tokens in the place of a token, the likeliest first: their number. As many as the sampler asks for, fewer where
        /// fewer have a probability.</summary>
        public int GetLikeliestCount(int index)
        {
            CheckToken(index);
            int n = 0;
            while (n < _raw.n_top && _of.TokenAt(TopOf(index) + n).Token >= 0) n++;
            return n;
        }

        /// <summary>One of them.</summary>
        public TokenLogprob GetLikeliest(int index, int rank)
        {
            if (rank < 0 || rank >= GetLikeliestCount(index)) throw new ArgumentOutOfRangeException(nameof(rank));
            return _of.TokenAt(TopOf(index) + rank);
        }

        private int TopOf(int index) { return (int)_raw.first_token + _raw.n_tokens + index * _raw.n_top; }

        private void CheckToken(int index)
        {
            if (index < 0 || index >= _raw.n_tokens) throw new ArgumentOutOfRangeException(nameof(index));
            _of.CheckCurrent(_poll);
        }

        /// <summary>New text, whole characters; empty while a character or what may be a stop string is incomplete. Makes a string at
        /// every call.</summary>
        public string Text { get { return IsEnd ? "" : Said; } }

        private string Said
        {
            get
            {
                if (_raw.text_bytes == UIntPtr.Zero) return "";
                _of.CheckCurrent(_poll);
                return _of.TextAt((int)_raw.first_byte, (int)_raw.text_bytes);
            }
        }

        /// <summary>At the end why, before it None.</summary>
        public FinishReason FinishReason { get { return _raw.finish_reason; } }

        /// <summary>What failed, at an end with FinishReason.Error; else null. Makes an object at every call.</summary>
        public InlayException? Failure
        {
            get { return IsEnd && _raw.status != Status.Ok ? new InlayException(_raw.status, Said) : null; }
        }

        /// <summary>At the end: tokens of the prompt.</summary>
        public int PromptTokens { get { return _raw.n_prompt; } }

        /// <summary>At the end: those of them that were not computed for this request.</summary>
        public int CachedTokens { get { return _raw.n_cached; } }

        /// <summary>At the end: tokens that were drawn in all.</summary>
        public int GeneratedTokens { get { return _raw.n_drawn; } }

        /// <summary>At the end: from its submission until it began.</summary>
        public TimeSpan QueuedTime { get { return Microseconds.Time(_raw.queued_us); } }

        /// <summary>At the end, with FinishReason.Embedded: values of the vector that <see cref="RequestQueue.TakeValues"/> gives. Else
        /// 0.</summary>
        public int ValueCount { get { return (int)_raw.n_values; } }

        /// <summary>At the end: from there to its first token, or to its end if it drew none.</summary>
        public TimeSpan PromptTime { get { return Microseconds.Time(_raw.prompt_us); } }

        /// <summary>At the end: from there to its end.</summary>
        public TimeSpan DecodeTime { get { return Microseconds.Time(_raw.decode_us); } }
    }
}
