using System;
using System.Collections.Generic;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace Inlay
{
    public sealed unsafe partial class Engine
    {
        /// <summary>Generates a whole text in a session of its own. All callers at a time share each decode step; no thread of
        /// the pool is blocked.</summary>
        /// <remarks>While all sessions are in use it waits for one, behind those who came before. What the prompt and the options
        /// have wrong is thrown by the task.</remarks>
        /// <exception cref="InlayException">Status SessionLimit: LoadOptions.MaxWaiting callers wait already. ContextFull: the prompt
        /// does not fit. KvFull and others.</exception>
        /// <exception cref="OperationCanceledException">The token was cancelled, or the engine was disposed.</exception>
        public Task<Completion> CompleteAsync(string prompt, GenerateOptions? options = null,
                                              CancellationToken cancellation = default(CancellationToken))
        {
            return CompleteInOwnSession(new Prompt(prompt), options, cancellation);
        }

        /// <summary>The same for tokens.</summary>
        public Task<Completion> CompleteAsync(int[] prompt, GenerateOptions? options = null,
                                              CancellationToken cancellation = default(CancellationToken))
        {
            return CompleteInOwnSession(new Prompt(prompt), options, cancellation);
        }

        /// <summary>The same for a conversation, which the model's template writes.</summary>
        public Task<Completion> CompleteAsync(IEnumerable<ChatMessage> messages, GenerateOptions? options = null,
                                              CancellationToken cancellation = default(CancellationToken))
        {
            return CompleteInOwnSession(new Prompt(messages), options, cancellation);
        }

        private Task<Completion> CompleteInOwnSession(Prompt prompt, GenerateOptions? options, CancellationToken cancellation)
        {
            return Generations.CompleteInOwnSession(this, prompt, options ?? new GenerateOptions(), cancellation);
        }

        /// <summary>Makes an empty session, or waits until one is free, behind those who came before.</summary>
        /// <exception cref="InlayException">Status SessionLimit: LoadOptions.MaxWaiting callers wait already.</exception>
        public Task<Session> CreateSessionAsync(SessionOptions? options = null, CancellationToken cancellation = default(CancellationToken))
        {
            return _queue.Create(this, options ?? new SessionOptions(), cancellation);
        }

        internal GenerationThreads Threads { get { return _threads; } }
    }

    public sealed unsafe partial class Session
    {
        /// <summary>Runs a prompt in this session and draws tokens until it finishes. All callers of the engine at a time share each
        /// decode step; no thread of the pool is blocked.</summary>
        /// <remarks>Until the task has ended the session is not to be used otherwise, but for Cancel, Info and Dispose.</remarks>
        /// <exception cref="InvalidOperationException">The session generates already.</exception>
        public Task<Completion> CompleteAsync(string prompt, GenerateOptions? options = null,
                                              CancellationToken cancellation = default(CancellationToken))
        {
            return Generations.Complete(this, new Prompt(prompt), options ?? new GenerateOptions(), cancellation);
        }

        /// <summary>The same for tokens.</summary>
        public Task<Completion> CompleteAsync(int[] prompt, GenerateOptions? options = null,
                                              CancellationToken cancellation = default(CancellationToken))
        {
            return Generations.Complete(this, new Prompt(prompt), options ?? new GenerateOptions(), cancellation);
        }
    }

    /// <summary>Generations whose events go to a task.</summary>
    internal static class Generations
    {
        private sealed class CompletingJob : Job
        {
            private readonly StringBuilder _text = new StringBuilder();
            private readonly List<int> _tokens = new List<int>();
            private readonly TaskCompletionSource<Completion> _end =
                new TaskCompletionSource<Completion>(TaskCreationOptions.RunContinuationsAsynchronously);

            internal CompletingJob(Session session, Prompt prompt, GenerateOptions options, CancellationToken cancellation)
                : base(session, prompt, options, cancellation)
            {
            }

            internal Task<Completion> Task { get { return _end.Task; } }

            internal override void Post(Generated? generated, Exception? failure)
            {
                if (failure != null)
                {
                    _end.TrySetException(failure);
                    return;
                }
                _text.Append(generated!.Text);
                if (generated.Token >= 0) _tokens.Add(generated.Token);
                if (generated.FinishReason != FinishReason.None) _end.TrySetResult(new Completion(_text.ToString(), _tokens.ToArray(), generated));
            }
        }

        internal static async Task<Completion> Complete(Session session, Prompt prompt, GenerateOptions options, CancellationToken cancellation)
        {
            cancellation.ThrowIfCancellationRequested();
            var job = new CompletingJob(session, prompt, options, cancellation);
            session.Engine.Threads.Start(job);
            return await job.Task.ConfigureAwait(false);
        }

        internal static async Task<Completion> CompleteInOwnSession(Engine engine, Prompt prompt, GenerateOptions options,
                                                                    CancellationToken cancellation)
        {
            using (Session session = await engine.CreateSessionAsync(null, cancellation).ConfigureAwait(false))
            {
                return await Complete(session, prompt, options, cancellation).ConfigureAwait(false);
            }
        }
    }
}
