using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace Inlay
{
    /// <summary>Callers that wait, in their order, until the engine has room for another session.</summary>
    internal sealed class SessionQueue
    {
        private sealed class Signal : TaskCompletionSource<bool>
        {
            internal Signal() : base(TaskCreationOptions.RunContinuationsAsynchronously) { }
        }

        private readonly int _most;
        private readonly object _gate = new object();
        private readonly LinkedList<Signal> _waiting = new LinkedList<Signal>(); // guarded by _gate; the first one may try

        internal SessionQueue(int most) { _most = most; }

        /// <summary>A session was freed, the engine was disposed, or another one is the first.</summary>
        internal void Wake()
        {
            Signal? first = null;
            lock (_gate)
            {
                if (_waiting.Count > 0) first = _waiting.First!.Value;
            }
            if (first != null) first.TrySetResult(true);
        }

        /// <summary>Around a call that takes sessions and frees them.</summary>
        internal Waking WakeAfter() { return new Waking(this); }

        internal struct Waking : System.IDisposable
        {
            private readonly SessionQueue _queue;

            internal Waking(SessionQueue queue) { _queue = queue; }

            public void Dispose() { _queue.Wake(); }
        }

        /// <exception cref="InlayException">Status SessionLimit: as many callers wait already as may.</exception>
        internal async Task<Session> Create(Engine engine, SessionOptions options, CancellationToken cancellation)
        {
            cancellation.ThrowIfCancellationRequested();
            var place = new LinkedListNode<Signal>(new Signal());
            lock (_gate)
            {
                if (_waiting.Count > _most)
                {
                    throw new InlayException(Status.SessionLimit, "all sessions are in use, and " + _most + " callers wait for one already");
                }
                _waiting.AddLast(place);
            }
            try
            {
                for (;;)
                {
                    var news = new Signal(); // there before the try, so that what is freed meanwhile is seen
                    bool isFirst;
                    lock (_gate)
                    {
                        place.Value = news;
                        isFirst = _waiting.First == place;
                    }
                    try { if (isFirst) return engine.CreateSession(options); }
                    catch (InlayException full) when (full.Status == Status.SessionLimit) { }
                    using (cancellation.Register(woken => ((Signal)woken!).TrySetResult(true), news)) await news.Task.ConfigureAwait(false);
                    cancellation.ThrowIfCancellationRequested();
                }
            }
            finally
            {
                lock (_gate) _waiting.Remove(place);
                Wake();
            }
        }
    }
}
