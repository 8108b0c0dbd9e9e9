using System;
using System.Collections.Generic;
using System.Threading;
using Inlay.Raw;

namespace Inlay
{
    public sealed unsafe partial class Engine
    {
        private const int StackSessions = 64;

        /// <summary>Draws one token for each of the sessions, reading the weights once for all. Allocates
        /// nothing.</summary>
        /// <param name="sessions">Sessions of this engine, each once.</param>
        /// <param name="events">Room for as many events; they are written in the order of the sessions.</param>
        /// <returns>
        /// Ok, or the status of the first session that could not advance; it is unchanged, its event tells why, and the
        /// others
        /// advanced all the same.
        /// </returns>
        /// <exception cref="InlayException">The arguments are wrong, a session is busy, or the engine failed: no event was
        /// written.</exception>
        public Status DecodeStep(Session[] sessions, StepEvent[] events)
        {
            if (sessions == null) throw new ArgumentNullException("sessions");
            return DecodeStep(sessions, sessions.Length, events);
        }

        /// <summary>The same for the first sessions of the array.</summary>
        public Status DecodeStep(Session[] sessions, int n_sessions, StepEvent[] events)
        {
            if (sessions == null) throw new ArgumentNullException("sessions");
            if (events == null) throw new ArgumentNullException("events");
            if (n_sessions < 0 || n_sessions > sessions.Length) throw new ArgumentOutOfRangeException("n_sessions");
            if (events.Length < n_sessions) throw new ArgumentException("there are more sessions than events", "events");
            if (n_sessions <= StackSessions)
            {
                IntPtr* few = stackalloc IntPtr[StackSessions];
                return DecodeStep(sessions, n_sessions, few, events);
            }
            fixed (IntPtr* many = new IntPtr[n_sessions]) return DecodeStep(sessions, n_sessions, many, events);
        }

        private Status DecodeStep(Session[] sessions, int n_sessions, IntPtr* handles, StepEvent[] events)
        {
            int n_held = 0;
            try
            {
                for (; n_held < n_sessions; n_held++)
                {
                    if (sessions[n_held] == null) throw new ArgumentNullException("sessions");
                    handles[n_held] = sessions[n_held].Claim();
                }
                inlay_error error;
                Status status;
                for (int i = 0; i < n_sessions; i++) events[i].raw.status = Status.Ok;
                fixed (StepEvent* first = events)
                {
                    status = _api.inlay_decode_step(handles, (UIntPtr)(uint)n_sessions, (inlay_event*)first,
                                                    (UIntPtr)(uint)sizeof(StepEvent), &error);
                }
                if (status == Status.Ok) return status;
                for (int i = 0; i < n_sessions; i++) if (events[i].raw.status != Status.Ok) return status;
                throw Check.Failure(status, ref error);
            }
            finally
            {
                for (int i = 0; i < n_held; i++) sessions[i].Release();
            }
        }
    }

    public sealed unsafe partial class Session
    {
        /// <summary>Runs a prompt and then draws tokens until the session finishes.</summary>
        /// <remarks>
        /// Everything happens while the result is enumerated. Leaving the loop early leaves the session where it is:
        /// <see cref="Continue"/> goes on. <see cref="Cancel"/> ends the generation with an event of FinishReason
        /// Cancelled;
        /// cancelling the token ends it with an exception, before the next step.
        /// </remarks>
        /// <exception cref="OperationCanceledException">The token was cancelled, or <see cref="Cancel"/> met the
        /// prompt.</exception>
        public IEnumerable<Generated> Generate(string prompt, GenerateOptions options = null,
                                               CancellationToken cancellation = default(CancellationToken))
        {
            if (prompt == null) throw new ArgumentNullException("prompt");
            return GenerateNow(prompt, options ?? new GenerateOptions(), cancellation);
        }

        private IEnumerable<Generated> GenerateNow(string prompt, GenerateOptions options, CancellationToken cancellation)
        {
            Begin(prompt, options, cancellation);
            foreach (Generated generated in Continue(cancellation)) yield return generated;
        }

        internal void Begin(string prompt, GenerateOptions options, CancellationToken cancellation)
        {
            if (options.Sampler != null) SetSampler(options.Sampler);
            if (options.Stop != null) SetStop(options.Stop);
            Prefill(prompt, options.Tokenize, cancellation);
        }

        /// <summary>Draws tokens until the session finishes, after a prefill or where a generation was left.</summary>
        public IEnumerable<Generated> Continue(CancellationToken cancellation = default(CancellationToken))
        {
            for (;;)
            {
                cancellation.ThrowIfCancellationRequested();
                Generated generated = Next();
                yield return generated;
                if (generated.FinishReason != FinishReason.None) yield break;
            }
        }

        private Generated Next()
        {
            StepEvent step = DecodeStep();
            return WithText(ref step);
        }

        /// <summary>An event with its whole text.</summary>
        internal Generated WithText(ref StepEvent step)
        {
            string text = step.Text;
            if (step.PendingTextBytes > 0) text += TakeText();
            return new Generated(ref step, text);
        }
    }
}
