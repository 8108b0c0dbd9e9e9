using System;
using System.Collections.Concurrent;
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

    /// <summary>Generates on threads of its own, for programs with a frame loop: <see cref="Start(Session, string, GenerateOptions)"/> and <see cref="Poll"/> never wait
    /// for the model. All sessions that generate at a time share each decode step.</summary>
    /// <remarks>Any thread may call it. From Start to its last event a session is the worker's, but for Cancel, Info and
    /// Dispose.</remarks>
    public sealed class Worker : IDisposable
    {
        private sealed class Events : ConcurrentQueue<WorkerEvent> { }

        private sealed class QueuedJob : Job
        {
            private readonly Events _events;

            internal QueuedJob(Events events, Session session, Prompt prompt, GenerateOptions options)
                : base(session, prompt, options, CancellationToken.None)
            {
                _events = events;
            }

            internal override void Post(Generated? generated, Exception? failure)
            {
                _events.Enqueue(new WorkerEvent(Session, generated, failure));
            }
        }

        private readonly Events _events = new Events();
        private readonly GenerationThreads _threads = new GenerationThreads(nameof(Worker));

        /// <summary>Makes a worker for sessions of the engine. Without work it has no thread.</summary>
        public Worker(Engine engine)
        {
            if (engine == null) throw new ArgumentNullException(nameof(engine));
        }

        /// <summary>Begins a generation. Its events, failures too, come from <see cref="Poll"/>; exactly one of them is the
        /// last.</summary>
        /// <exception cref="InvalidOperationException">The last event of the session's generation before has not come
        /// yet.</exception>
        public void Start(Session session, string prompt, GenerateOptions? options = null) { Start(session, new Prompt(prompt), options); }

        /// <summary>The same for tokens.</summary>
        public void Start(Session session, int[] prompt, GenerateOptions? options = null) { Start(session, new Prompt(prompt), options); }

        private void Start(Session session, Prompt prompt, GenerateOptions? options)
        {
            if (session == null) throw new ArgumentNullException(nameof(session));
            _threads.Start(new QueuedJob(_events, session, prompt, options ?? new GenerateOptions()));
        }

        /// <summary>Takes the next event. Never waits: false if there is none yet.</summary>
        public bool Poll(out WorkerEvent next) { return _events.TryDequeue(out next); }

        /// <summary>Ends the threads after their step, or their chunk of a prompt. Sessions stay as they are then, and are the
        /// program's: the last event of those that had not ended, and of those that had not begun, has an <see
        /// cref="OperationCanceledException"/>.</summary>
        public void Dispose() { _threads.End(); }
    }
}
