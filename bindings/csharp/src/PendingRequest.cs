using System;
using System.Collections.Generic;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using Inlay.Raw;

namespace Inlay
{
    /// <summary>What came of a request since it was read last.</summary>
    public sealed class RequestPiece
    {
        internal RequestPiece(string text, TokenLogprob[] tokens, TokenLogprob[][] top)
        {
            Text = text;
            Tokens = tokens;
            Top = top;
        }

        /// <summary>New text, whole characters. Empty while a character or what may be a stop string is incomplete.</summary>
        public string Text { get; private set; }

        /// <summary>The tokens that were drawn.</summary>
        public IReadOnlyList<TokenLogprob> Tokens { get; private set; }

        /// <summary>For each of them the likeliest in its place, the likeliest first; as many as <see cref="SamplerOptions.Logprobs"/>
        /// asks for.</summary>
        public IReadOnlyList<IReadOnlyList<TokenLogprob>> Top { get; private set; }
    }

    /// <summary>A request of a <see cref="RequestDispatcher"/>, and what has become of it.</summary>
    /// <remarks>Its text is read once: by one of <see cref="ReadText"/>, <see cref="ReadFrames"/>, <see cref="ReadAsync"/>, <see
    /// cref="ReadPieceAsync"/> and <see cref="TakeText"/>, or an asynchronous stream. Its task has all of it. Any thread may use it.</remarks>
    public sealed partial class PendingRequest
    {
        private sealed class Signal : TaskCompletionSource<bool>
        {
            internal Signal() : base(TaskCreationOptions.RunContinuationsAsynchronously) { }
        }

        private readonly RequestDispatcher _dispatcher;
        private readonly CancellationToken _cancellation;
        private readonly TaskCompletionSource<Completion> _completion =
            new TaskCompletionSource<Completion>(TaskCreationOptions.RunContinuationsAsynchronously);
        private readonly object _gate = new object();
        private readonly StringBuilder _text = new StringBuilder(); // guarded by _gate, as what follows
        private readonly List<TokenLogprob> _tokens = new List<TokenLogprob>();
        private readonly List<TokenLogprob[]> _top = new List<TokenLogprob[]>(); // of each token
        private int _read;                                                       // characters of the text that were read
        private int _readTokens;                                                 // likewise
        private bool _hasEnded, _isCancelled;
        private Exception? _failure;
        private Signal? _news;
        private CancellationTokenRegistration _registration;

        internal PendingRequest(RequestDispatcher dispatcher, CancellationToken cancellation)
        {
            _dispatcher = dispatcher;
            _cancellation = cancellation;
        }

        /// <summary>The number that the queue gave it.</summary>
        public ulong Number { get; internal set; }

        /// <summary>Text, tokens and the reason of the end, once it is there. A request that failed gives its InlayException; one whose
        /// token was cancelled, whose engine or dispatcher was disposed, or whose session was cancelled or disposed, an
        /// OperationCanceledException.</summary>
        public Task<Completion> Completion { get { return _completion.Task; } }

        /// <summary>Nothing more comes.</summary>
        public bool HasEnded { get { lock (_gate) return _hasEnded; } }

        /// <summary>Asks for the end: FinishReason.Cancelled, with the text so far.</summary>
        public void Cancel()
        {
            lock (_gate) _isCancelled = true;
            Stop();
        }

        private void Stop()
        {
            try { _dispatcher.Queue.Cancel(Number); }
            catch (ObjectDisposedException) { } // the dispatcher has ended it
        }

        /// <summary>The text that has come since it was read last; never waits.</summary>
        public string TakeText()
        {
            lock (_gate) return Take();
        }

        // Locked, as what follows.
        private string Take()
        {
            string text = _text.ToString(_read, _text.Length - _read);
            _read = _text.Length;
            return text;
        }

        private bool HasText { get { return _read < _text.Length; } }

        // Whether reading is over; throws what it failed with.
        private bool IsOver()
        {
            if (!_hasEnded || HasText) return false;
            if (_failure != null) throw Thrown(_failure);
            return true;
        }

        private Exception Thrown(Exception failure)
        {
            var problem = failure as InlayException;
            return problem != null ? (Exception)new InlayException(problem) : new OperationCanceledException(failure.Message, failure, _cancellation);
        }

        /// <summary>Its text, piece by piece, on a thread that may wait: for the dispatcher's thread; where that has none, each step
        /// computes requests itself, with <see cref="Engine.Run"/>.</summary>
        public IEnumerable<string> ReadText()
        {
            for (;;)
            {
                string text = "";
                bool is_over;
                lock (_gate)
                {
                    while (_dispatcher.HasThread && !HasText && !_hasEnded) Monitor.Wait(_gate);
                    is_over = IsOver();
                    if (!is_over) text = Take();
                }
                if (is_over) yield break;
                if (text.Length > 0) yield return text;
                else _dispatcher.ComputeOrWait();
            }
        }

        /// <summary>For the thread of a frame loop, such as Unity's: one step for each frame, which gives the text that has come, or an
        /// empty one. Where the dispatcher has no thread, a step computes requests for the budget. It never waits.</summary>
        public IEnumerable<string> ReadFrames(TimeSpan budget)
        {
            for (;;)
            {
                if (!_dispatcher.HasThread && !HasEnded) _dispatcher.Run(budget);
                string text = "";
                bool is_over;
                lock (_gate)
                {
                    is_over = IsOver();
                    if (!is_over) text = Take();
                }
                if (is_over) yield break;
                yield return text;
            }
        }

        /// <summary>The next text, as soon as there is any; null at the end.</summary>
        public async Task<string?> ReadAsync()
        {
            for (;;)
            {
                Task news;
                lock (_gate)
                {
                    if (IsOver()) return null;
                    if (HasText) return Take();
                    news = News();
                }
                await news.ConfigureAwait(false);
            }
        }

        /// <summary>The next tokens and their text, as soon as there are any; null at the end.</summary>
        public async Task<RequestPiece?> ReadPieceAsync()
        {
            for (;;)
            {
                Task news;
                lock (_gate)
                {
                    if (HasText || _readTokens < _tokens.Count)
                    {
                        int first = _readTokens, n = _tokens.Count - first;
                        _readTokens = _tokens.Count;
                        return new RequestPiece(Take(), _tokens.GetRange(first, n).ToArray(), _top.GetRange(first, n).ToArray());
                    }
                    if (IsOver()) return null;
                    news = News();
                }
                await news.ConfigureAwait(false);
            }
        }

        // Locked.
        private Task News()
        {
            if (_news == null) _news = new Signal();
            return _news.Task;
        }

        /// <summary>From now on the token ends it. After it was submitted; it may have been given up meanwhile.</summary>
        internal void Watch()
        {
            bool is_given_up;
            lock (_gate) is_given_up = _hasEnded || _isCancelled; // who cancelled it may have done so before it had a number
            if (is_given_up) Stop();
            if (!_cancellation.CanBeCanceled) return;
            CancellationTokenRegistration registration = _cancellation.Register(pending => ((PendingRequest)pending!).Stop(), this);
            lock (_gate)
            {
                if (!_hasEnded)
                {
                    _registration = registration;
                    return;
                }
            }
            registration.Dispose();
        }

        internal void Post(ref RequestEvent next)
        {
            Signal? news;
            lock (_gate)
            {
                if (_hasEnded) return;
                _text.Append(next.Text);
                for (int i = 0; i < next.TokenCount; i++)
                {
                    _tokens.Add(next.GetToken(i));
                    _top.Add(TopOf(ref next, i));
                }
                news = TakeNews();
            }
            if (news != null) news.TrySetResult(true);
        }

        private static TokenLogprob[] TopOf(ref RequestEvent next, int index)
        {
            int n = next.GetLikeliestCount(index);
            if (n == 0) return Array.Empty<TokenLogprob>();
            var top = new TokenLogprob[n];
            for (int rank = 0; rank < n; rank++) top[rank] = next.GetLikeliest(index, rank);
            return top;
        }

        // Locked.
        private Signal? TakeNews()
        {
            Monitor.PulseAll(_gate);
            Signal? news = _news;
            _news = null;
            return news;
        }

        internal void PostEnd(ref RequestEvent end, float[]? vector)
        {
            bool is_cancelled;
            Completion whole;
            lock (_gate)
            {
                is_cancelled = _isCancelled;
                whole = new Completion(_text.ToString(), _tokens.ConvertAll(drawn => drawn.Token).ToArray(), vector, ref end);
            }
            Exception? failure = end.Failure;
            if (failure == null && end.FinishReason == FinishReason.Cancelled)
            {
                if (_cancellation.IsCancellationRequested) failure = new OperationCanceledException(_cancellation);
                else if (!is_cancelled) failure = new OperationCanceledException(CancelledBy());
            }
            End(whole, failure);
        }

        // Who else has ended it.
        private string CancelledBy()
        {
            return _dispatcher.Queue.Engine.Handle.IsClosed ? "the engine was disposed"
                                                            : "the session that the request continues was cancelled or disposed";
        }

        /// <summary>The end without an event.</summary>
        internal void Fail(Exception failure) { End(null, failure); }

        private void End(Completion? whole, Exception? failure)
        {
            Signal? news;
            CancellationTokenRegistration registration;
            lock (_gate)
            {
                if (_hasEnded) return;
                _hasEnded = true;
                _failure = failure;
                registration = _registration;
                news = TakeNews();
            }
            registration.Dispose();
            if (failure == null) _completion.TrySetResult(whole!);
            else if (failure is OperationCanceledException && _cancellation.IsCancellationRequested) _completion.TrySetCanceled(_cancellation);
            else _completion.TrySetException(failure);
            GC.KeepAlive(_completion.Task.Exception); // looked at: nobody has to
            if (news != null) news.TrySetResult(true);
        }
    }
}
