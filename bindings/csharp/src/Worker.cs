using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Threading;

namespace Inlay
{
    /// <summary>One event of a session that a <see cref="Worker"/> runs.</summary>
    public struct WorkerEvent
    {
        internal WorkerEvent(Session session, Generated? generated, Exception? failure)
        {
            Session = session;
            Generated = generated;
            Failure = failure;
        }

        /// <summary>Whose event it is.</summary>
        public readonly Session Session;

        /// <summary>What was generated; null if there is a failure.</summary>
        public readonly Generated? Generated;

        /// <summary>Why the generation ended early, or null.</summary>
        public readonly Exception? Failure;

        /// <summary>This is the last event of the generation: the session is the program's again.</summary>
        public bool IsLast { get { return Failure != null || Generated!.FinishReason != FinishReason.None; } }
    }

    /// <summary>
    /// Generates on a thread of its own, for programs with a frame loop: <see cref="Start"/> and <see cref="Poll"/> never
    /// wait for
    /// the model. All sessions that generate at a time share each decode step.
    /// </summary>
    /// <remarks>Any thread may call it. From Start to its last event a session is the worker's, but for Cancel, Info and
    /// Dispose.</remarks>
    public sealed class Worker : IDisposable
    {
        private sealed class Job
        {
            internal Session Session = null!;
            internal string Prompt = null!;
            internal GenerateOptions Options = null!;
        }

        private readonly object _gate = new object();
        private readonly Queue<Job> _jobs = new Queue<Job>(); // guarded by _gate, as what follows
        private readonly HashSet<Session> _taken = new HashSet<Session>(); // from Start to the last event
        private readonly ConcurrentQueue<WorkerEvent> _events = new ConcurrentQueue<WorkerEvent>();
        private readonly CancellationTokenSource _ending = new CancellationTokenSource();
        private readonly Engine _engine;
        private readonly Thread _thread;
        private readonly List<Session> _active = new List<Session>(); // the thread's own, as what follows
        private Session[] _sessions = Array.Empty<Session>();
        private StepEvent[] _steps = Array.Empty<StepEvent>();

        /// <summary>Starts the thread. Without work it sleeps.</summary>
        public Worker(Engine engine)
        {
            if (engine == null) throw new ArgumentNullException(nameof(engine));
            _engine = engine;
            _thread = new Thread(Run) { IsBackground = true, Name = "Inlay worker" };
            _thread.Start();
        }

        /// <summary>Begins a generation. Its events, failures too, come from <see cref="Poll"/>; exactly one of them is the
        /// last.</summary>
        /// <exception cref="InvalidOperationException">The last event of the session's generation before has not come
        /// yet.</exception>
        public void Start(Session session, string prompt, GenerateOptions? options = null)
        {
            if (session == null) throw new ArgumentNullException(nameof(session));
            if (prompt == null) throw new ArgumentNullException(nameof(prompt));
            lock (_gate)
            {
                if (_ending.IsCancellationRequested) throw new ObjectDisposedException("Worker");
                if (!_taken.Add(session)) throw new InvalidOperationException("the worker already generates with this session");
                _jobs.Enqueue(new Job { Session = session, Prompt = prompt, Options = options ?? new GenerateOptions() });
                Monitor.Pulse(_gate);
            }
        }

        /// <summary>Takes the next event. Never waits: false if there is none yet.</summary>
        public bool Poll(out WorkerEvent next) { return _events.TryDequeue(out next); }

        /// <summary>Ends the thread after its step, or its chunk of a prompt. Sessions stay as they are then, and are the
        /// program's: the last event of those that had not ended, and of those that had not begun, has an <see
        /// cref="OperationCanceledException"/>.</summary>
        public void Dispose()
        {
            lock (_gate)
            {
                _ending.Cancel();
                Monitor.Pulse(_gate);
            }
            if (Thread.CurrentThread != _thread) _thread.Join();
        }

        private void Run()
        {
            while (!_ending.IsCancellationRequested)
            {
                for (Job? job = NextJob(); job != null; job = NextJob()) Begin(job);
                if (_active.Count > 0) StepAll();
            }
            foreach (Session session in _active) PostEnd(session);
            _active.Clear();
            lock (_gate)
            {
                while (_jobs.Count > 0) PostEnd(_jobs.Dequeue().Session);
            }
        }

        private void PostEnd(Session session)
        {
            Post(session, null, new OperationCanceledException("the worker was disposed", _ending.Token));
        }

        /// <summary>A job that waits; if there is none and nothing else to do, sleeps until there is one. Null: go on with
        /// the step.</summary>
        private Job? NextJob()
        {
            lock (_gate)
            {
                while (_jobs.Count == 0 && _active.Count == 0 && !_ending.IsCancellationRequested) Monitor.Wait(_gate);
                return _jobs.Count == 0 || _ending.IsCancellationRequested ? null : _jobs.Dequeue();
            }
        }

        private void Begin(Job job)
        {
            try
            {
                job.Session.Begin(job.Prompt, job.Options, _ending.Token);
                _active.Add(job.Session);
            }
            catch (Exception failure) { Post(job.Session, null, failure); }
        }

        private void StepAll()
        {
            int n = _active.Count;
            if (_sessions.Length < n)
            {
                _sessions = new Session[n];
                _steps = new StepEvent[n];
            }
            _active.CopyTo(_sessions);
            _active.Clear();
            try { _engine.DecodeStep(_sessions, n, _steps); }
            catch (Exception)
            {
                // One of them cannot take part, as when it was disposed: each for itself tells which.
                for (int i = 0; i < n; i++) StepAlone(_sessions[i]);
                return;
            }
            for (int i = 0; i < n; i++) Finish(_sessions[i], ref _steps[i]);
        }

        private void StepAlone(Session session)
        {
            try
            {
                StepEvent step = session.DecodeStep();
                Finish(session, ref step);
            }
            catch (Exception failure) { Post(session, null, failure); }
        }

        private void Finish(Session session, ref StepEvent step)
        {
            if (step.Status != Status.Ok)
            {
                Post(session, null, new InlayException(step.Status, "the session cannot go on"));
                return;
            }
            try
            {
                Generated generated = session.WithText(ref step);
                if (generated.FinishReason == FinishReason.None) _active.Add(session);
                Post(session, generated, null);
            }
            catch (Exception failure) { Post(session, null, failure); }
        }

        private void Post(Session session, Generated? generated, Exception? failure)
        {
            var next = new WorkerEvent(session, generated, failure);
            if (next.IsLast)
            {
                lock (_gate) _taken.Remove(session); // before it can be polled: the program may start it again then
            }
            _events.Enqueue(next);
        }
    }
}
