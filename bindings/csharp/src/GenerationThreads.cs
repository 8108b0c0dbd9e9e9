using System;
using System.Collections.Generic;
using System.Threading;

namespace Inlay
{
    /// <summary>One generation of <see cref="GenerationThreads"/>.</summary>
    internal abstract class Job : IDisposable
    {
        private readonly CancellationToken _cancellation;
        private readonly CancellationTokenSource _interrupt;

        internal Job(Session session, Prompt prompt, GenerateOptions options, CancellationToken cancellation)
        {
            Session = session;
            Prompt = prompt;
            Options = options;
            _cancellation = cancellation;
            _interrupt = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        }

        internal readonly Session Session;
        internal readonly Prompt Prompt;
        internal readonly GenerateOptions Options;

        /// <summary>Cancelled by the caller, or by Interrupt.</summary>
        internal CancellationToken Interrupted { get { return _interrupt.Token; } }

        /// <summary>Ends it with an OperationCanceledException: at once where its prompt waits, after a chunk of that, or before the next
        /// step.</summary>
        internal void Interrupt()
        {
            try { _interrupt.Cancel(); }
            catch (ObjectDisposedException) { } // it has ended meanwhile
        }

        /// <summary>What an interrupted one ends with: its caller's exception, if he asked for it.</summary>
        internal OperationCanceledException Cancelled()
        {
            return _cancellation.IsCancellationRequested ? new OperationCanceledException(_cancellation)
                                                         : new OperationCanceledException("the generation was ended");
        }

        /// <summary>Takes the next event; the last one has a failure or a finish reason. Called by one thread at a time, and must
        /// not run the program's code.</summary>
        internal abstract void Post(Generated? generated, Exception? failure);

        public void Dispose() { _interrupt.Dispose(); }
    }

    /// <summary>Runs each generation on a thread of its own, from its prompt to its end; the library lets all that wait share decode
    /// steps. Prompts run one after the other, in the order of their starts: so a step waits for a chunk of one prompt only, and the
    /// first text comes soon.</summary>
    internal sealed class GenerationThreads
    {
        private readonly string _owner; // what was disposed when they were ended
        private readonly object _gate = new object();
        private readonly LinkedList<Job> _prompts = new LinkedList<Job>(); // that wait for theirs; guarded by _gate, as what follows
        private readonly HashSet<Job> _jobs = new HashSet<Job>();          // that have not ended
        private bool _inPrompt, _ending;

        internal GenerationThreads(string owner) { _owner = owner; }

        /// <exception cref="InvalidOperationException">The session generates already.</exception>
        /// <exception cref="ObjectDisposedException">The threads were ended.</exception>
        internal void Start(Job job)
        {
            try
            {
                lock (_gate)
                {
                    if (_ending) throw new ObjectDisposedException(_owner);
                    job.Session.BeginGeneration();
                    _jobs.Add(job);
                    _prompts.AddLast(job);
                    job.Interrupted.Register(Leave, job); // before it can run, at whose end it is disposed
                }
            }
            catch
            {
                job.Dispose();
                throw;
            }
            StartNext();
        }

        /// <summary>Ends all generations, and waits for their step or their chunk of a prompt. The last event of each has come
        /// then.</summary>
        internal void End()
        {
            Job[] all;
            lock (_gate)
            {
                _ending = true;
                all = new Job[_jobs.Count];
                _jobs.CopyTo(all);
            }
            foreach (Job job in all) job.Interrupt();
            lock (_gate)
            {
                while (_jobs.Count > 0) Monitor.Wait(_gate);
            }
        }

        private void Leave(object? interrupted)
        {
            var job = (Job)interrupted!;
            bool waited;
            lock (_gate) waited = _prompts.Remove(job);
            if (waited) Post(job, null, job.Cancelled());
        }

        private void StartNext()
        {
            for (;;)
            {
                Job job;
                lock (_gate)
                {
                    if (_inPrompt || _prompts.Count == 0) return;
                    job = _prompts.First!.Value;
                    _prompts.RemoveFirst();
                    _inPrompt = true;
                }
                try
                {
                    new Thread(() => Run(job)) { IsBackground = true, Name = "Inlay generation" }.Start();
                    return;
                }
                catch (Exception failure) // the system gives no more threads
                {
                    lock (_gate) _inPrompt = false;
                    Post(job, null, failure);
                }
            }
        }

        private void Run(Job job)
        {
            try
            {
                try { job.Session.Begin(job.Prompt, job.Options, job.Interrupted); }
                finally
                {
                    lock (_gate) _inPrompt = false;
                    StartNext();
                }
                foreach (Generated next in job.Session.Continue(job.Interrupted)) Post(job, next, null);
            }
            catch (OperationCanceledException) { Post(job, null, job.Cancelled()); }
            catch (Exception failure) { Post(job, null, failure); }
        }

        // The session is free before the program can see the last event, since it may start it again then.
        private void Post(Job job, Generated? generated, Exception? failure)
        {
            bool isLast = failure != null || generated!.FinishReason != FinishReason.None;
            if (isLast)
            {
                job.Session.EndGeneration();
                job.Dispose();
            }
            job.Post(generated, failure);
            if (!isLast) return;
            lock (_gate)
            {
                _jobs.Remove(job);
                Monitor.PulseAll(_gate);
            }
        }
    }
}
