using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using Inlay.Raw;

namespace Inlay
{
    /// <summary>Submits requests, and gives each what becomes of it: as a task, as text that is read while it is drawn, or frame by
    /// frame. The task of a request of RequestKind.Embed has its vector.</summary>
    /// <remarks>
    /// With a thread, the default, it collects by itself, and the engine's own thread computes (<see cref="Engine.SetThread"/>), or
    /// another thread of the program in <see cref="Engine.Run"/>. Without one, everything happens on the program's threads: in <see
    /// cref="Run"/>, <see cref="Dispatch"/>, and while text is read. Any thread may use it.
    /// With a thread of its own, a request that is submitted before anybody computes fails with Status InvalidState: give the engine its
    /// thread, or call <see cref="Engine.Run"/> once, before the first request; or set <see cref="HostComputes"/>.
    /// </remarks>
    public sealed class RequestDispatcher : IDisposable
    {
        private const int IdleMilliseconds = 1000;
        private const int BusyMilliseconds = 5; // another thread computes: so long until this one may have to

        private readonly object _gate = new object();
        private readonly Dictionary<ulong, PendingRequest> _pending = new Dictionary<ulong, PendingRequest>(); // by their User; guarded by _gate
        private Thread? _thread;                                                                               // likewise, as what follows
        private bool _isDisposed;
        private ulong _last;
        private readonly object _polling = new object(); // events are given on in their order
        private readonly RequestEvents _events = new RequestEvents();

        /// <summary>Makes one with a queue of its own.</summary>
        /// <param name="engine">What computes.</param>
        /// <param name="options">Of the queue.</param>
        /// <param name="hasThread">False: nothing happens but on the program's threads, such as a frame loop's. A thread that has had
        /// nothing to do for a while ends, and the next request makes a new one.</param>
        public RequestDispatcher(Engine engine, RequestQueueOptions? options = null, bool hasThread = true)
        {
            if (engine == null) throw new ArgumentNullException(nameof(engine));
            HasThread = hasThread;
            Queue = engine.CreateQueue(options);
        }

        /// <summary>As it was made.</summary>
        public bool HasThread { get; private set; }

        /// <summary>The program will call <see cref="Engine.Run"/>, or give the engine a thread, at some time: until then requests wait.
        /// False, the default: where nobody computes they fail instead of waiting for ever.</summary>
        public bool HostComputes { get; set; }

        internal RequestQueue Queue { get; private set; }

        /// <summary>Ends all requests with an OperationCanceledException.</summary>
        public void Dispose()
        {
            lock (_gate)
            {
                _isDisposed = true;
                Monitor.PulseAll(_gate); // its thread ends now, and not when it has waited long enough
            }
            Queue.Dispose();
            FailAll(() => new OperationCanceledException("the dispatcher was disposed"));
        }

        /// <summary>Hands a request over. Its User is not used.</summary>
        /// <exception cref="InlayException">What <see cref="RequestQueue.Submit"/> throws.</exception>
        /// <exception cref="OperationCanceledException">The token was cancelled before.</exception>
        public PendingRequest Submit(Request request, CancellationToken cancellation = default(CancellationToken))
        {
            if (request == null) throw new ArgumentNullException(nameof(request));
            cancellation.ThrowIfCancellationRequested();
            var pending = new PendingRequest(this, cancellation);
            ulong user;
            lock (_gate)
            {
                if (_isDisposed) throw new ObjectDisposedException(nameof(RequestDispatcher));
                user = ++_last;
                _pending.Add(user, pending);
            }
            try { pending.Number = SubmitAs(request, user); }
            catch
            {
                lock (_gate) _pending.Remove(user);
                throw;
            }
            pending.Watch();
            lock (_gate)
            {
                if (HasThread && _thread == null && !_isDisposed) _thread = Started();
                Monitor.PulseAll(_gate);
            }
            return pending;
        }

        private ulong SubmitAs(Request request, ulong user)
        {
            try { return Queue.SubmitAs(request, user); }
            catch (InlayException full) when (full.Status == Status.QueueFull) { Dispatch(); } // there may be ends that nobody has polled
            return Queue.SubmitAs(request, user);
        }

        private Thread Started()
        {
            var thread = new Thread(Collect) { IsBackground = true, Name = "Inlay requests" };
            thread.Start();
            return thread;
        }

        /// <summary>Submits a request and gives its task.</summary>
        public Task<Completion> CompleteAsync(Request request, CancellationToken cancellation = default(CancellationToken))
        {
            return Submit(request, cancellation).Completion;
        }

        /// <summary>Gives on what there is to collect; never waits.</summary>
        /// <returns>Whether there was anything.</returns>
        /// <exception cref="InlayException">Status InvalidState: the engine was disposed, and all requests have ended.</exception>
        public bool Dispatch()
        {
            lock (_polling)
            {
                if (!DispatchOnce()) return false;
                try { while (DispatchOnce()) { } }
                catch (InlayException over) when (over.Status == Status.InvalidState) { } // the next call says so
                return true;
            }
        }

        private bool DispatchOnce()
        {
            bool found = Queue.Poll(_events) > 0;
            foreach (RequestEvent next in _events) Give(next);
            return found;
        }

        private void Give(RequestEvent next)
        {
            // While it is still pending: where the queue is disposed meanwhile, that ends it.
            float[]? vector = next.IsEnd && next.ValueCount > 0 ? Queue.TakeValues(next.Request) : null;
            PendingRequest? pending;
            lock (_gate)
            {
                if (!_pending.TryGetValue(next.User, out pending)) return;
                if (next.IsEnd) _pending.Remove(next.User);
            }
            if (next.IsEnd) pending.PostEnd(ref next, vector);
            else pending.Post(ref next);
        }

        /// <summary>For a frame loop: <see cref="Engine.Run"/> with a budget, and then <see cref="Dispatch"/>.</summary>
        public RunInfo Run(TimeSpan? budget = null, TimeSpan? maxStep = null)
        {
            RunInfo info = Queue.Engine.Run(budget, maxStep);
            Dispatch();
            return info;
        }

        /// <summary>One step on this thread, or, while another one computes, what that has come to.</summary>
        internal void ComputeOrWait()
        {
            try
            {
                try { Queue.Engine.Run(null, null, RunFlags.OneStep); }
                catch (InlayException problem) when (problem.Status == Status.Busy || problem.Status == Status.InvalidState)
                {
                    Queue.Wait(TimeSpan.FromMilliseconds(BusyMilliseconds));
                }
                catch (ObjectDisposedException) { } // an engine that was disposed has ended its requests
                Dispatch();
            }
            catch (ObjectDisposedException) { } // and so has this dispatcher
        }

        private void Collect()
        {
            while (HasPending())
            {
                try
                {
                    Queue.Wait();
                    Dispatch();
                }
                catch (ObjectDisposedException) { return; }
                catch (InlayException problem)
                {
                    // Nobody computes, so that nothing comes but what has come.
                    try { Dispatch(); }
                    catch (ObjectDisposedException) { return; }
                    catch (InlayException) { }
                    if (Queue.Engine.Handle.IsClosed) FailAll(() => new OperationCanceledException("the engine was disposed"));
                    else if (HostComputes && problem.Status == Status.InvalidState) Thread.Sleep(BusyMilliseconds);
                    else FailAll(() => new InlayException(problem));
                }
            }
        }

        // Waits for requests; false: the thread is to end.
        private bool HasPending()
        {
            lock (_gate)
            {
                while (!_isDisposed && _pending.Count == 0)
                {
                    if (!Monitor.Wait(_gate, IdleMilliseconds) && _pending.Count == 0) break;
                }
                if (!_isDisposed && _pending.Count > 0) return true;
                _thread = null;
                return false;
            }
        }

        private void FailAll(Func<Exception> failure)
        {
            List<PendingRequest> all;
            lock (_gate)
            {
                all = new List<PendingRequest>(_pending.Values);
                _pending.Clear();
            }
            foreach (PendingRequest pending in all)
            {
                pending.Cancel();
                pending.Fail(failure());
            }
        }
    }
}
