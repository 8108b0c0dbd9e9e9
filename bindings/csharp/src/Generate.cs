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
            if (sessions == null) throw new ArgumentNullException(nameof(sessions));
            return DecodeStep(sessions, sessions.Length, events);
        }

        /// <summary>The same for the first sessions of the array.</summary>
        public Status DecodeStep(Session[] sessions, int n_sessions, StepEvent[] events)
        {
            if (sessions == null) throw new ArgumentNullException(nameof(sessions));
            if (events == null) throw new ArgumentNullException(nameof(events));
            if (n_sessions < 0 || n_sessions > sessions.Length) throw new ArgumentOutOfRangeException(nameof(n_sessions));
            if (events.Length < n_sessions) throw new ArgumentException("there are more sessions than events", nameof(events));
            if (n_sessions <= StackSessions)
            {
                IntPtr* few = stackalloc IntPtr[StackSessions];
                return Decode(sessions, n_sessions, few, events, 0, null);
            }
            fixed (IntPtr* many = new IntPtr[n_sessions]) return Decode(sessions, n_sessions, many, events, 0, null);
        }

        /// <summary>Runs a part of a decode step: for programs that give the model a little time in every frame. Allocates
        /// nothing.</summary>
        /// <remarks>
        /// The first call begins a step, the next ones, for the same sessions in the same order, go on with it. While it is
        /// pending the engine runs no other step and no prefill, and its sessions are not forked, cut or given another
        /// sampler: Status InvalidState; later versions may refuse fewer calls. Disposing one of them drops the step, as
        /// <see cref="DecodeAbandon"/> does.
        /// </remarks>
        /// <param name="sessions">Sessions of this engine, each once.</param>
        /// <param name="maxUnits">How much to run now. What a unit is is the engine's affair, and steps differ in their number;
        /// those of one step take about the same time. 0 only begins a step, and tells its units.</param>
        /// <param name="events">Room for as many events, which are there when the step has ended.</param>
        /// <param name="unitsLeft">What remains of the step; 0: it has ended, and events and result are those of DecodeStep.
        /// </param>
        public Status DecodeSlice(Session[] sessions, int maxUnits, StepEvent[] events, out int unitsLeft)
        {
            if (sessions == null) throw new ArgumentNullException(nameof(sessions));
            if (events == null) throw new ArgumentNullException(nameof(events));
            if (maxUnits < 0) throw new ArgumentOutOfRangeException(nameof(maxUnits));
            if (events.Length < sessions.Length) throw new ArgumentException("there are more sessions than events", nameof(events));
            int left = 0;
            Status status;
            if (sessions.Length <= StackSessions)
            {
                IntPtr* few = stackalloc IntPtr[StackSessions];
                status = Decode(sessions, sessions.Length, few, events, maxUnits, &left);
            }
            else
            {
                fixed (IntPtr* many = new IntPtr[sessions.Length])
                {
                    status = Decode(sessions, sessions.Length, many, events, maxUnits, &left);
                }
            }
            unitsLeft = left;
            return status;
        }

        /// <summary>Drops the pending step that <see cref="DecodeSlice"/> has begun for these sessions: they are as they were
        /// before it, except that one which it found cancelled has finished. If no step is pending, nothing
        /// happens.</summary>
        public void DecodeAbandon(Session[] sessions)
        {
            if (sessions == null) throw new ArgumentNullException(nameof(sessions));
            fixed (IntPtr* handles = new IntPtr[Math.Max(1, sessions.Length)])
            {
                int n_held = 0;
                try
                {
                    Claim(sessions, sessions.Length, handles, ref n_held);
                    inlay_error error;
                    Check.Ok(_api.inlay_decode_abandon(handles, (UIntPtr)(uint)sessions.Length, &error), ref error);
                }
                finally
                {
                    for (int i = 0; i < n_held; i++) sessions[i].Release();
                }
            }
        }

        private static void Claim(Session[] sessions, int n_sessions, IntPtr* handles, ref int n_held)
        {
            for (; n_held < n_sessions; n_held++)
            {
                if (sessions[n_held] == null) throw new ArgumentNullException(At(n_held));
                try { handles[n_held] = sessions[n_held].Claim(); }
                catch (ObjectDisposedException) { throw new ObjectDisposedException(At(n_held)); }
                catch (InlayException busy) { throw new InlayException(busy.Status, "another call uses " + At(n_held)); }
            }
        }

        private static string At(int i) { return "sessions[" + i + "]"; }

        // A whole step where unitsLeft is null.
        private Status Decode(Session[] sessions, int n_sessions, IntPtr* handles, StepEvent[] events, int maxUnits, int* unitsLeft)
        {
            int n_held = 0;
            try
            {
                Claim(sessions, n_sessions, handles, ref n_held);
                inlay_error error;
                Status status;
                for (int i = 0; i < n_sessions; i++) events[i].raw.status = Status.Ok;
                fixed (StepEvent* first = events)
                {
                    UIntPtr n = (UIntPtr)(uint)n_sessions, stride = (UIntPtr)(uint)sizeof(StepEvent);
                    status = unitsLeft == null
                                 ? _api.inlay_decode_step(handles, n, (inlay_event*)first, stride, &error)
                                 : _api.inlay_decode_slice(handles, n, maxUnits, (inlay_event*)first, stride, unitsLeft, &error);
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

    /// <summary>What a generation answers: text, tokens, or a conversation.</summary>
    internal struct Prompt
    {
        private readonly string? _text, _conversation;
        private readonly int[]? _tokens;

        internal Prompt(string prompt)
        {
            if (prompt == null) throw new ArgumentNullException(nameof(prompt));
            _text = prompt;
            _tokens = null;
            _conversation = null;
        }

        internal Prompt(int[] prompt)
        {
            if (prompt == null) throw new ArgumentNullException(nameof(prompt));
            _text = null;
            _tokens = prompt;
            _conversation = null;
        }

        internal Prompt(IEnumerable<ChatMessage> messages)
        {
            _text = null;
            _tokens = null;
            _conversation = ChatMessage.ToJson(messages);
        }

        internal int[] Tokens(Engine engine, TokenizeFlags flags)
        {
            if (_tokens != null) return _tokens;
            return _text != null ? engine.Tokenize(_text, flags) : engine.GetChatTokens(_conversation!);
        }
    }

    public sealed unsafe partial class Session
    {
        /// <summary>Runs a prompt and then draws tokens until the session finishes.</summary>
        /// <remarks>
        /// Everything happens while the result is enumerated. Leaving the loop early leaves the session where it is:
        /// <see cref="Continue"/> goes on. <see cref="Cancel"/> ends the generation with an event of FinishReason Cancelled;
        /// cancelling the token ends it with an exception, before the next step. A context that is full ends it with FinishReason
        /// ContextFull.
        /// </remarks>
        /// <exception cref="InlayException">Status ContextFull: the prompt does not fit.</exception>
        /// <exception cref="OperationCanceledException">The token was cancelled, or <see cref="Cancel"/> met the
        /// prompt.</exception>
        public IEnumerable<Generated> Generate(string prompt, GenerateOptions? options = null,
                                               CancellationToken cancellation = default(CancellationToken))
        {
            return GenerateNow(new Prompt(prompt), options ?? new GenerateOptions(), cancellation);
        }

        /// <summary>The same for tokens, such as those of <see cref="Inlay.Engine.GetChatTokens(string, string,
        /// ChatFlags)"/>.</summary>
        public IEnumerable<Generated> Generate(int[] prompt, GenerateOptions? options = null,
                                               CancellationToken cancellation = default(CancellationToken))
        {
            return GenerateNow(new Prompt(prompt), options ?? new GenerateOptions(), cancellation);
        }

        private IEnumerable<Generated> GenerateNow(Prompt prompt, GenerateOptions options, CancellationToken cancellation)
        {
            Begin(prompt, options, cancellation);
            foreach (Generated generated in Continue(cancellation)) yield return generated;
        }

        internal void Begin(Prompt prompt, GenerateOptions options, CancellationToken cancellation)
        {
            if (options.Sampler != null) SetSampler(options.Sampler);
            if (options.Stop != null) SetStop(options.Stop);
            if (options.StopTokens != null) SetStopTokens(options.StopTokens);
            if (options.MaxTokens != 0) SetMaxTokens(options.MaxTokens);
            if (options.Constraint != null) SetConstraint(options.Constraint);
            bool continues = !options.RepeatBos && Info.Tokens > 0;
            Prefill(prompt.Tokens(Engine, continues ? options.Tokenize | TokenizeFlags.NoBosEos : options.Tokenize), cancellation);
        }

        /// <summary>Draws tokens until the session finishes, after a prefill or where a generation was left.</summary>
        public IEnumerable<Generated> Continue(CancellationToken cancellation = default(CancellationToken))
        {
            for (;;)
            {
                cancellation.ThrowIfCancellationRequested();
                StepEvent step = DecodeStep();
                Generated generated = WithText(ref step);
                yield return generated;
                if (generated.FinishReason != FinishReason.None) yield break;
            }
        }

        /// <summary>An event with its whole text.</summary>
        internal Generated WithText(ref StepEvent step)
        {
            string text = step.Text;
            if (step.PendingTextBytes > 0) text += TakeText();
            if (step.Token >= 0) _generatedTokens++;
            return new Generated(ref step, text, _promptTokens, _generatedTokens);
        }
    }
}
