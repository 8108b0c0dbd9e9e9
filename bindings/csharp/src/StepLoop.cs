using System;
using System.Collections.Generic;
using System.Threading;

namespace Inlay
{
    /// <summary>One generation of a <see cref="StepLoop"/>.</summary>
    internal abstract class Job : IDisposable
    {
        private readonly CancellationTokenSource _interrupt;

        internal Job(Session session, Prompt prompt, GenerateOptions options, CancellationToken cancellation)
        {
            Session = session;
            Prompt = prompt;
            Options = options;
            Cancellation = cancellation;
            _interrupt = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        }

        internal readonly Session Session;
        internal readonly Prompt Prompt;
        internal readonly GenerateOptions Options;

        /// <summary>The caller's.</summary>
        internal readonly CancellationToken Cancellation;

        /// <summary>Cancelled by the caller, or by Interrupt.</summary>
        internal CancellationToken Interrupted { get { return _interrupt.Token; } }

        /// <summary>Asks for the end. The loop's Interrupt is what a caller calls.</summary>
        internal void Interrupt()
        {
            try { _interrupt.Cancel(); }
            catch (ObjectDisposedException) { } // it has ended meanwhile
        }

        /// <summary>Takes the next event; the last one has a failure or a finish reason. Called by one thread at a time, and must
        /// not run the program's code.</summary>
        internal abstract void Post(Generated? generated, Exception? failure);

        public void Dispose() { _interrupt.Dispose(); }
    }

    /// <summary>Runs generations so that all share each decode step. Prompts run in their order: on the thread that steps where nothing
    /// is to be stepped, else on a second one, so that the others go on. A thread that has had nothing to do for a while ends; the next
    /// Start makes a new one.</summary>
    internal sealed class StepLoop
    {
        private const int IdleMilliseconds = 1000;

        private readonly Engine _engine;
        private readonly object _gate = new object();
        private readonly List<Job> _prompts = new List<Job>();             // that wait for theirs; guarded by _gate, as what follows
        private readonly List<Job> _ready = new List<Job>();               // whose prompts have run
        private readonly HashSet<Session> _taken = new HashSet<Session>(); // from Start to the last event
        private Job? _inPrompt;
        private bool _isStepping; // generations are under way
        private Thread? _prompter, _stepper;
        private bool _ending;
        private readonly List<Job> _active = new List<Job>(); // the stepping thread's own, as what follows
        private Job[] _jobs = Array.Empty<Job>();
        private Session[] _sessions = Array.Empty<Session>();
        private StepEvent[] _steps = Array.Empty<StepEvent>();

        internal StepLoop(Engine engine) { _engine = engine; }

        /// <exception cref="InvalidOperationException">The session generates here already.</exception>
        /// <exception cref="ObjectDisposedException">The loop has ended.</exception>
        internal void Start(Job job)
        {
            lock (_gate)
            {
                if (_ending) throw new ObjectDisposedException("Worker");
                if (_taken.Contains(job.Session)) throw new InvalidOperationException("the session already generates");
                job.Session.AwaitGeneration();
                _taken.Add(job.Session);
                _prompts.Add(job);
                if (_stepper == null) _stepper = Run(Stepper, "Inlay steps");
                if (_isStepping) WakePrompter();
                else Monitor.PulseAll(_gate);
            }
        }

        // Locked.
        private void WakePrompter()
        {
            if (_prompter == null) _prompter = Run(Prompter, "Inlay prompts");
            Monitor.PulseAll(_gate);
        }

        private static Thread Run(ThreadStart body, string name)
        {
            var thread = new Thread(body) { IsBackground = true, Name = name };
            thread.Start();
            return thread;
        }

        /// <summary>Ends the threads after a step, or a chunk of a prompt. What had not ended gets its last event: an
        /// OperationCanceledException.</summary>
        internal void End()
        {
            Thread? prompter, stepper;
            lock (_gate)
            {
                _ending = true;
                if (_inPrompt != null) _inPrompt.Interrupt();
                prompter = _prompter;
                stepper = _stepper;
                Monitor.PulseAll(_gate);
            }
            if (prompter != null) prompter.Join();
            if (stepper != null) stepper.Join();
            var left = new List<Job>();
            lock (_gate)
            {
                left.AddRange(_ready);
                left.AddRange(_prompts);
                _ready.Clear();
                _prompts.Clear();
            }
            foreach (Job job in left) Post(job, null, new OperationCanceledException("the worker was disposed"));
        }

        /// <summary>Ends a generation with an OperationCanceledException: at once, after its chunk of a prompt, or before the next
        /// step.</summary>
        internal void Interrupt(Job job)
        {
            job.Interrupt();
            bool waited;
            lock (_gate) waited = _prompts.Remove(job);
            if (waited) Post(job, null, Cancelled(job)!);
        }

        private void Prompter()
        {
            for (Job? job = PromptToRunBesideSteps(); job != null; job = PromptToRunBesideSteps())
            {
                if (!RunPrompt(job)) continue;
                lock (_gate)
                {
                    _ready.Add(job);
                    Monitor.PulseAll(_gate);
                }
            }
        }

        private Job? PromptToRunBesideSteps()
        {
            lock (_gate)
            {
                while (!_ending && !(_isStepping && HasPrompt))
                {
                    if (!Monitor.Wait(_gate, IdleMilliseconds) && !(_isStepping && HasPrompt)) break;
                }
                if (!_ending && _isStepping && HasPrompt) return TakePrompt();
                _prompter = null;
                return null;
            }
        }

        // Locked, as what follows.
        private bool HasPrompt { get { return _prompts.Count > 0 && _inPrompt == null; } }

        private Job TakePrompt()
        {
            _inPrompt = _prompts[0];
            _prompts.RemoveAt(0);
            return _inPrompt;
        }

        // Whether the job can be stepped now; if not, it has ended.
        private bool RunPrompt(Job job)
        {
            Exception? failure = Begin(job);
            lock (_gate) _inPrompt = null;
            if (failure != null) Post(job, null, failure);
            return failure == null;
        }

        private static Exception? Begin(Job job)
        {
            try
            {
                job.Session.Begin(job.Prompt, job.Options, job.Interrupted);
                return null;
            }
            catch (Exception failure) { return Cancelled(job) ?? failure; }
        }

        // What a generation ends with that its caller gave up; null if he has not.
        private static OperationCanceledException? Cancelled(Job job)
        {
            if (job.Cancellation.IsCancellationRequested) return new OperationCanceledException(job.Cancellation);
            return job.Interrupted.IsCancellationRequested ? new OperationCanceledException("the generation was ended") : null;
        }

        private void Stepper()
        {
            while (TakeReady())
            {
                for (int i = _active.Count - 1; i >= 0; i--)
                {
                    OperationCanceledException? cancelled = Cancelled(_active[i]);
                    if (cancelled == null) continue;
                    Job job = _active[i];
                    _active.RemoveAt(i);
                    Post(job, null, cancelled);
                }
                if (_active.Count > 0) StepAll();
            }
        }

        // Waits for generations to step. False: the thread ends, and nothing is active.
        private bool TakeReady()
        {
            for (;;)
            {
                Job job;
                lock (_gate)
                {
                    while (!_ending && _active.Count == 0 && _ready.Count == 0 && !HasPrompt)
                    {
                        _isStepping = false;
                        if (!Monitor.Wait(_gate, IdleMilliseconds) && _ready.Count == 0 && _prompts.Count == 0 && _inPrompt == null) break;
                    }
                    if (_ending || (_active.Count == 0 && _ready.Count == 0 && !HasPrompt))
                    {
                        _ready.AddRange(_active);
                        _active.Clear();
                        _isStepping = false;
                        _stepper = null;
                        return false;
                    }
                    _active.AddRange(_ready);
                    _ready.Clear();
                    if (_active.Count > 0)
                    {
                        _isStepping = true;
                        if (HasPrompt) WakePrompter();
                        return true;
                    }
                    job = TakePrompt();
                }
                if (RunPrompt(job)) _active.Add(job);
            }
        }

        private void StepAll()
        {
            int n = _active.Count;
            if (_jobs.Length < n)
            {
                _jobs = new Job[2 * n];
                _sessions = new Session[2 * n];
                _steps = new StepEvent[2 * n];
            }
            _active.CopyTo(_jobs);
            _active.Clear();
            for (int i = 0; i < n; i++) _sessions[i] = _jobs[i].Session;
            try
            {
                _engine.DecodeStep(_sessions, n, _steps);
                for (int i = 0; i < n; i++) Finish(_jobs[i], ref _steps[i]);
            }
            catch (Exception)
            {
                // One of them cannot take part, as when it was disposed: each for itself tells which.
                for (int i = 0; i < n; i++) StepAlone(_jobs[i]);
            }
            Array.Clear(_jobs, 0, n);
            Array.Clear(_sessions, 0, n);
        }

        private void StepAlone(Job job)
        {
            try
            {
                StepEvent step = job.Session.DecodeStep();
                Finish(job, ref step);
            }
            catch (Exception failure) { Post(job, null, failure); }
        }

        // Never throws: each step is finished once.
        private void Finish(Job job, ref StepEvent step)
        {
            if (step.Status != Status.Ok)
            {
                Post(job, null, new InlayException(step.Status, "the session cannot go on"));
                return;
            }
            Generated generated;
            try { generated = job.Session.WithText(ref step); }
            catch (Exception failure)
            {
                Post(job, null, failure);
                return;
            }
            if (generated.FinishReason == FinishReason.None) _active.Add(job);
            Post(job, generated, null);
        }

        private void Post(Job job, Generated? generated, Exception? failure)
        {
            if (failure != null || generated!.FinishReason != FinishReason.None)
            {
                lock (_gate) _taken.Remove(job.Session); // before the program can see the event: it may start the session again then
                job.Dispose();
            }
            job.Post(generated, failure);
        }
    }
}
