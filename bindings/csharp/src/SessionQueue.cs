using System;
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
        private Signal _freed = new Signal();

        internal SessionQueue(int most) { _most = most; }

        /// <summary>A session was freed, or the engine was disposed.</summary>
        internal void Wake()
        {
            Signal freed;
            lock (_gate)
            {
                if (_waiting.Count == 0) return;
                freed = _freed;
                _freed = new Signal();
            }
            freed.TrySetResult(true);
        }

        /// <summary>Around a call that takes sessions and frees them.</summary>
        internal Waking WakeAfter() { return new Waking(this); }

        internal struct Waking : IDisposable
        {
            private readonly SessionQueue _queue;

            internal Waking(SessionQueue queue) { _queue = queue; }

            public void Dispose() { _queue.Wake(); }
        }

        /// <exception cref="InlayException">Status SessionLimit: as many callers wait already as may.</exception>
        internal async Task<Session> Create(Engine engine, SessionOptions options, CancellationToken cancellation)
        {
            cancellation.ThrowIfCancellationRequested();
            LinkedListNode<Signal> place;
            bool is_first;
            lock (_gate)
            {
                if (_waiting.Count > _most)
                {
                    throw new InlayException(Status.SessionLimit, "all sessions are in use, and " + _most + " callers wait for one already");
                }
                place = _waiting.AddLast(new Signal());
                is_first = _waiting.First == place;
            }
            try
            {
                if (!is_first) await Until(place.Value.Task, cancellation).ConfigureAwait(false);
                for (;;)
                {
                    Task freed;
                    lock (_gate) freed = _freed.Task;
                    try { return engine.CreateSession(options); }
                    catch (InlayException full) when (full.Status == Status.SessionLimit) { }
                    await Until(freed, cancellation).ConfigureAwait(false);
                }
            }
            finally
            {
                Signal? next = null;
                lock (_gate)
                {
                    _waiting.Remove(place);
                    if (_waiting.Count > 0) next = _waiting.First!.Value;
                }
                if (next != null) next.TrySetResult(true);
            }
        }

        private static async Task Until(Task task, CancellationToken cancellation)
        {
            if (!cancellation.CanBeCanceled)
            {
                await task.ConfigureAwait(false);
                return;
            }
            var cancelled = new Signal();
            using (cancellation.Register(state => ((Signal)state!).TrySetCanceled(), cancelled))
            {
                await Task.WhenAny(task, cancelled.Task).ConfigureAwait(false);
            }
            cancellation.ThrowIfCancellationRequested();
        }
    }
}
