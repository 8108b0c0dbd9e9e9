using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Threading;
using Inlay.Raw;

namespace Inlay
{
    /// <summary>Where a part of a program submits requests to an engine, and collects what becomes of them. <see cref="Inlay.Engine.Run"/>
    /// computes them, or the engine's own thread: <see cref="Inlay.Engine.SetThread"/>.</summary>
    /// <remarks>Any thread may use it at any time. It may be disposed before its engine or after it: an engine that is disposed
    /// ends the requests with FinishReason.Cancelled, and the queue still gives what there is.</remarks>
    public sealed unsafe class RequestQueue : IDisposable
    {
        private static readonly TimeSpan LongestWait = TimeSpan.FromDays(1); // of one call; then the next one

        private readonly Api _api;
        private readonly QueueHandle _handle;
        private readonly object _gate = new object();
        private bool _isDisposed;
        private bool _isAwaited;    // a thread waits in the library; guarded by _gate, as what follows
        private int _waiting;       // waits that no Wake has ended
        private long _wakes;        // that have ended some
        private bool _endsNextWait; // another Wake
        private readonly Dictionary<ulong, Session?> _continued = new Dictionary<ulong, Session?>(); // by request; guards itself

        internal RequestQueue(Api api, QueueHandle handle, Engine engine)
        {
            _api = api;
            _handle = handle;
            Engine = engine;
        }

        /// <summary>The engine that made it, which may be disposed already.</summary>
        public Engine Engine { get; private set; }

        /// <summary>The queue's handle, for functions of <see cref="Library.Api"/> that the classes do not offer, to be used as <see
        /// cref="Inlay.Engine.Handle"/>.</summary>
        public QueueHandle Handle { get { return _handle; } }

        /// <summary>Cancels the requests and frees the queue; nobody is told. A thread that waits for it gets an
        /// ObjectDisposedException, and the requests go with the last call that uses the queue.</summary>
        public void Dispose()
        {
            Volatile.Write(ref _isDisposed, true);
            Rouse();
            _handle.Dispose();
            lock (_continued) _continued.Clear();
        }

        // The handle alone would go on as long as calls overlap.
        internal Hold Use()
        {
            if (Volatile.Read(ref _isDisposed)) throw new ObjectDisposedException(nameof(RequestQueue));
            return new Hold(_handle);
        }

        /// <summary>Hands a request over. All that can be wrong with it is refused here; its text becomes tokens on this
        /// thread.</summary>
        /// <returns>The number that its events have.</returns>
        /// <exception cref="InlayException">Status QueueFull: the ends of MaxRequests others were not polled. ContextFull, KvFull: it would
        /// never fit. Format: of a conversation. InvalidState: the engine was disposed. And others.</exception>
        public ulong Submit(Request request)
        {
            if (request == null) throw new ArgumentNullException(nameof(request));
            return SubmitAs(request, request.User);
        }

        internal ulong SubmitAs(Request request, ulong user)
        {
            ulong id;
            inlay_error error;
            Session? continued = request.Continues;
            using (var queue = Use()) Check.Ok(request.SubmitTo(_api, queue.Pointer, user, &id, &error), ref error, FieldNames.Request);
            BeginOrEnd(id, continued);
            return id;
        }

        /// <summary>Keeps the session that a request continues from its submission to its end, which another thread may poll first.</summary>
        internal void BeginOrEnd(ulong request, Session? continued)
        {
            lock (_continued)
            {
                if (!_continued.Remove(request)) _continued.Add(request, continued);
            }
        }

        /// <summary>Ends a request: no token is added once this has returned. Those that wait to be polled still come, then its end. For
        /// a number that is unknown or has ended nothing happens.</summary>
        public void Cancel(ulong request)
        {
            inlay_error error;
            using (var queue = Use()) Check.Ok(_api.inlay_request_cancel(queue.Pointer, request, &error), ref error);
        }

        /// <summary>The vector of a request of RequestKind.Embed that has ended with FinishReason.Embedded, once. Until then it stays, and
        /// the request counts among <see cref="RequestQueueOptions.MaxRequests"/>.</summary>
        /// <exception cref="InlayException">Status InvalidState: the request has not ended. NotFound: there is no vector of it, or it was
        /// taken.</exception>
        public float[] TakeValues(ulong request)
        {
            inlay_error error;
            UIntPtr n;
            using (var queue = Use())
            {
                Check.Ok(_api.inlay_request_take_values(queue.Pointer, request, null, UIntPtr.Zero, &n, &error), ref error);
                var values = new float[(int)n];
                fixed (float* to = values) Check.Ok(_api.inlay_request_take_values(queue.Pointer, request, to, n, &n, &error), ref error);
                return values;
            }
        }

        /// <summary>Collects what became of the requests, as far as there is room. Never waits. Events of one request come in order, its
        /// end last, and none is ever lost.</summary>
        /// <returns>How many events there are; 0: none yet.</returns>
        /// <exception cref="InlayException">Status InvalidState: the engine was disposed, and all was polled.</exception>
        public int Poll(RequestEvents into)
        {
            if (into == null) throw new ArgumentNullException(nameof(into));
            return into.Fill(_api, this);
        }

        /// <summary>Waits until there is something to poll.</summary>
        /// <param name="timeout">How long; null: for ever.</param>
        /// <param name="cancellation">Ends the wait.</param>
        /// <returns>False: the time is over, or <see cref="Wake"/> has ended the wait.</returns>
        /// <exception cref="InlayException">Status InvalidState: the engine was disposed, and all was polled; or nobody computes, since the
        /// engine has no thread of its own and Engine.Run was never called.</exception>
        /// <exception cref="ObjectDisposedException">The queue is or was disposed.</exception>
        /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
        public bool Wait(TimeSpan? timeout = null, CancellationToken cancellation = default(CancellationToken))
        {
            if (timeout < TimeSpan.Zero) throw new ArgumentOutOfRangeException(nameof(timeout));
            cancellation.ThrowIfCancellationRequested();
            if (timeout == TimeSpan.Zero) return WaitInLibrary(TimeSpan.Zero) == WaitResult.Ready;
            using (cancellation.Register(queue => ((RequestQueue)queue!).Rouse(), this))
            lock (_gate)
            {
                long wakes = _wakes;
                _waiting++;
                try { return WaitInTurns(timeout, wakes, cancellation); }
                finally { if (_wakes == wakes) _waiting--; }
            }
        }

        // Locked. One thread waits in the library, which keeps a wake for it that comes too soon; the others wait for that thread.
        private bool WaitInTurns(TimeSpan? timeout, long wakes, CancellationToken cancellation)
        {
            var watch = Stopwatch.StartNew();
            for (;;)
            {
                cancellation.ThrowIfCancellationRequested();
                if (Volatile.Read(ref _isDisposed)) throw new ObjectDisposedException(nameof(RequestQueue));
                if (_wakes != wakes) return false;
                TimeSpan left = timeout == null ? LongestWait : timeout.Value - watch.Elapsed;
                if (left > LongestWait) left = LongestWait;
                if (left <= TimeSpan.Zero) return false;
                if (_isAwaited)
                {
                    Monitor.Wait(_gate, left);
                    continue;
                }
                bool endsNow = _endsNextWait;
                if (WaitUnlocked(endsNow ? TimeSpan.Zero : left)) return true;
                if (!endsNow) continue;
                _endsNextWait = false;
                return false;
            }
        }

        // Locked, but for the wait.
        private bool WaitUnlocked(TimeSpan time)
        {
            _isAwaited = true;
            Monitor.Exit(_gate);
            try { return WaitInLibrary(time) == WaitResult.Ready; }
            finally
            {
                Monitor.Enter(_gate);
                _isAwaited = false;
                Monitor.PulseAll(_gate);
            }
        }

        private WaitResult WaitInLibrary(TimeSpan time)
        {
            WaitResult result;
            inlay_error error;
            long us = time == TimeSpan.Zero ? 0 : (long)Microseconds.Of(time, nameof(time));
            using (var queue = Use()) Check.Ok(_api.inlay_wait(queue.Pointer, us, &result, &error), ref error);
            return result;
        }

        /// <summary>Ends every <see cref="Wait"/> that is under way; where none is, the next one that would wait ends at once. There is no
        /// event.</summary>
        /// <exception cref="ObjectDisposedException">The queue was disposed.</exception>
        public void Wake()
        {
            lock (_gate)
            {
                if (Volatile.Read(ref _isDisposed)) throw new ObjectDisposedException(nameof(RequestQueue));
                if (_waiting == 0)
                {
                    _endsNextWait = true;
                    return;
                }
                _waiting = 0;
                _wakes++;
            }
            Rouse();
        }

        // All that wait look again whether they are to end: behind the thread that waits in the library.
        private void Rouse()
        {
            lock (_gate)
            {
                if (!_isAwaited) return;
                inlay_error error;
                try
                {
                    using (var queue = new Hold(_handle)) Check.Ok(_api.inlay_queue_wake(queue.Pointer, &error), ref error);
                }
                catch (ObjectDisposedException) { } // whoever disposed it has roused them
            }
        }

        /// <summary>What a loop of the system can wait for: a file descriptor for poll and epoll on Linux, a HANDLE of an event on
        /// Windows. It is ready while there is something to poll; <see cref="Poll"/> alone makes it unready.</summary>
        /// <remarks>It is the queue's, and closed with it: hold <see cref="Handle"/> while it is in use, and neither read, write, set nor
        /// close it.</remarks>
        /// <exception cref="InlayException">Status Unsupported, Io.</exception>
        public long GetWaitHandle(out WaitKind kind)
        {
            long handle;
            WaitKind found;
            inlay_error error;
            using (var queue = Use()) Check.Ok(_api.inlay_queue_get_handle(queue.Pointer, &found, &handle, &error), ref error);
            kind = found;
            return handle;
        }
    }
}
