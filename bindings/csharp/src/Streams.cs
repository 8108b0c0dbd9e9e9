#if NET8_0_OR_GREATER
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Channels;
using System.Threading.Tasks;

namespace Inlay
{
    public sealed unsafe partial class Engine : IAsyncDisposable
    {
        /// <summary>Generates in a session of its own, token by token, for `await foreach`. All callers at a time share each decode
        /// step; no thread of the pool is blocked.</summary>
        /// <remarks>Everything begins with the enumeration. While all sessions are in use it waits for one, behind those who came
        /// before. Leaving the loop early ends the generation and frees the session. The last event has the finish reason and the
        /// counts of tokens.</remarks>
        /// <exception cref="InlayException">Status SessionLimit: LoadOptions.MaxWaiting callers wait already. ContextFull: the prompt
        /// does not fit. KvFull and others.</exception>
        /// <exception cref="OperationCanceledException">The token was cancelled, or the engine was disposed.</exception>
        public IAsyncEnumerable<Generated> GenerateAsync(string prompt, GenerateOptions? options = null, CancellationToken cancellation = default)
        {
            return Streams.InOwnSession(this, new Prompt(prompt), options ?? new GenerateOptions(), cancellation);
        }

        /// <summary>The same for tokens.</summary>
        public IAsyncEnumerable<Generated> GenerateAsync(int[] prompt, GenerateOptions? options = null, CancellationToken cancellation = default)
        {
            return Streams.InOwnSession(this, new Prompt(prompt), options ?? new GenerateOptions(), cancellation);
        }

        /// <summary>The same for a conversation, which the model's template writes.</summary>
        public IAsyncEnumerable<Generated> GenerateAsync(IEnumerable<ChatMessage> messages, GenerateOptions? options = null,
                                                         CancellationToken cancellation = default)
        {
            return Streams.InOwnSession(this, new Prompt(messages), options ?? new GenerateOptions(), cancellation);
        }

        /// <summary>As Dispose, without a thread that waits.</summary>
        public ValueTask DisposeAsync() { return new ValueTask(Task.Run(Dispose)); }
    }

    public sealed unsafe partial class Session
    {
        /// <summary>Runs a prompt in this session and draws tokens until it finishes, for `await foreach`. All callers of the engine at
        /// a time share each decode step; no thread of the pool is blocked.</summary>
        /// <remarks>From the first element asked for until the loop has ended the session is not to be used otherwise, but for Cancel,
        /// Info and Dispose. Leaving the loop early ends the generation.</remarks>
        /// <exception cref="InvalidOperationException">The session generates already.</exception>
        public IAsyncEnumerable<Generated> GenerateAsync(string prompt, GenerateOptions? options = null, CancellationToken cancellation = default)
        {
            return Streams.In(this, new Prompt(prompt), options ?? new GenerateOptions(), cancellation);
        }

        /// <summary>The same for tokens.</summary>
        public IAsyncEnumerable<Generated> GenerateAsync(int[] prompt, GenerateOptions? options = null, CancellationToken cancellation = default)
        {
            return Streams.In(this, new Prompt(prompt), options ?? new GenerateOptions(), cancellation);
        }
    }

    /// <summary>Generations whose events go to a channel.</summary>
    internal static class Streams
    {
        private static readonly UnboundedChannelOptions OneToOne = new() { SingleReader = true, SingleWriter = true };

        private sealed class StreamingJob : Job
        {
            private readonly Channel<Generated> _events = Channel.CreateUnbounded<Generated>(OneToOne);
            private readonly TaskCompletionSource _end = new(TaskCreationOptions.RunContinuationsAsynchronously);

            internal StreamingJob(Session session, Prompt prompt, GenerateOptions options, CancellationToken cancellation)
                : base(session, prompt, options, cancellation)
            {
            }

            internal ChannelReader<Generated> Events { get { return _events.Reader; } }

            internal Task End { get { return _end.Task; } }

            internal override void Post(Generated? generated, Exception? failure)
            {
                if (failure == null) _events.Writer.TryWrite(generated!);
                if (failure == null && generated!.FinishReason == FinishReason.None) return;
                _events.Writer.TryComplete(failure);
                _end.TrySetResult();
            }
        }

        internal static async IAsyncEnumerable<Generated> In(Session session, Prompt prompt, GenerateOptions options,
                                                             [EnumeratorCancellation] CancellationToken cancellation)
        {
            cancellation.ThrowIfCancellationRequested();
            var job = new StreamingJob(session, prompt, options, cancellation);
            session.Engine.Threads.Start(job);
            try
            {
                while (await job.Events.WaitToReadAsync(CancellationToken.None).ConfigureAwait(false))
                {
                    while (job.Events.TryRead(out Generated? generated)) yield return generated;
                }
            }
            finally
            {
                if (!job.End.IsCompleted) job.Interrupt(); // the caller has left the loop
                await job.End.ConfigureAwait(false);
            }
        }

        internal static async IAsyncEnumerable<Generated> InOwnSession(Engine engine, Prompt prompt, GenerateOptions options,
                                                                       [EnumeratorCancellation] CancellationToken cancellation)
        {
            using Session session = await engine.CreateSessionAsync(null, cancellation).ConfigureAwait(false);
            await foreach (Generated generated in In(session, prompt, options, cancellation).ConfigureAwait(false)) yield return generated;
        }
    }
}
#endif
