using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Threading;
using Inlay.Raw;

namespace Inlay
{
    /// <summary>One token sequence of an engine.</summary>
    /// <remarks>
    /// One thread at a time may use it, except for <see cref="Cancel"/>, <see cref="Info"/> and <see cref="Dispose"/>,
    /// which any
    /// thread may call at any time. A second thread gets an <see cref="InlayException"/> of status Busy, and nothing
    /// happens.
    /// </remarks>
    public sealed unsafe partial class Session : IDisposable
    {
        private readonly Api _api;
        private readonly SessionHandle _handle;
        private int _busy, _generates;
        private int _promptTokens, _generatedTokens; // of the generation under way
        private long _generation;                    // its number, or that of the one to come; 0 where this object has begun none

        private Session(Api api, Engine engine)
        {
            _api = api;
            _handle = new SessionHandle(api);
            Engine = engine;
        }

        /// <summary>The engine that made it, which may be disposed already; the session does not mind.</summary>
        public Engine Engine { get; private set; }

        /// <summary>The session's handle, for functions of <see cref="Library.Api"/> that the classes do not offer.</summary>
        /// <remarks>
        /// It stays the session's, as <see cref="Inlay.Engine.Handle"/> the engine's, and is used in the same way. Nothing
        /// notices a second call here: while such a function runs, the program itself must see to it that no other call uses
        /// the session, but for <see cref="Cancel"/>, <see cref="Info"/> and <see cref="Dispose"/>.
        /// </remarks>
        public SessionHandle Handle { get { return _handle; } }

        /// <summary>Whatever the program wants to find again with the session.</summary>
        public object? Tag { get; set; }

        internal static Session Create(Api api, EngineHandle parent, Engine engine, SessionOptions options, Action freed)
        {
            var session = new Session(api, engine);
            IntPtr handle = IntPtr.Zero;
            inlay_error error;
            Status status;
            using (var hold = new Hold(parent))
            using (var pinned = new SessionOptions.Pinned(options))
            {
                inlay_session_params raw = pinned.Params;
                status = api.inlay_session_create(hold.Pointer, &raw, &handle, &error);
            }
            session._handle.Freed = freed;
            session._handle.Set(handle);
            Check.Ok(status, ref error, FieldNames.Session);
            return session;
        }

        /// <summary>Frees the session, or lets the call that uses it now free it at its end.</summary>
        public void Dispose() { _handle.Dispose(); }

        /// <summary>Asks for the end of what the session generates: a prompt ends after its chunk, a generation with its next step. From
        /// any thread.</summary>
        /// <remarks>It is for the generation under way, or the one that waits to begin; later ones are not concerned. A prompt and a
        /// truncation begin one. So does each request that continues the session: the one that has it ends with
        /// FinishReason.Cancelled.</remarks>
        public void Cancel()
        {
            using (var session = new Hold(_handle))
            {
                inlay_error error;
                var raw = new inlay_session_info { struct_size = (uint)sizeof(inlay_session_info) };
                _api.inlay_session_get_info(session.Pointer, &raw, &error);
                ulong generation = Math.Max((ulong)Volatile.Read(ref _generation), raw.generation);
                Status status = _api.inlay_session_cancel_generation(session.Pointer, generation, &error);
                if (status == Status.Unsupported) _api.inlay_session_cancel(session.Pointer); // a library from before ABI 1.2
            }
        }

        /// <summary>Where the session stands; as of the last finished step while another thread runs one.</summary>
        public SessionInfo Info
        {
            get
            {
                var raw = new inlay_session_info { struct_size = (uint)sizeof(inlay_session_info) };
                inlay_error error;
                using (var session = new Hold(_handle)) Check.Ok(_api.inlay_session_get_info(session.Pointer, &raw, &error), ref error);
                return new SessionInfo(ref raw);
            }
        }

        /// <summary>Appends tokens and runs them. It begins a new generation: finish reason and token limit start over.</summary>
        /// <exception cref="InlayException">Status ContextFull, KvFull and others; the session is unchanged.</exception>
        /// <exception cref="OperationCanceledException">It was cancelled. The chunks that were run stay, as <see
        /// cref="Info"/> tells.</exception>
        public void Prefill(int[] tokens, CancellationToken cancellation = default(CancellationToken))
        {
            if (tokens == null) throw new ArgumentNullException(nameof(tokens));
            fixed (int* first = tokens) Prefill(first, tokens.Length, cancellation);
        }

#if NETCOREAPP || NETSTANDARD2_1_OR_GREATER
        /// <summary>Appends tokens and runs them.</summary>
        public void Prefill(ReadOnlySpan<int> tokens, CancellationToken cancellation = default)
        {
            fixed (int* first = tokens) Prefill(first, tokens.Length, cancellation);
        }

        /// <summary>Copies the logits of the last position that was run; the span must have room for the whole
        /// vocabulary.</summary>
        public void CopyLogits(Span<float> logits)
        {
            fixed (float* first = logits) CopyLogits(first, logits.Length);
        }
#endif

        /// <summary>Appends text and runs it, with the BOS token in front if the model asks for one, the session is empty and the flags
        /// do not forbid it. For one in the middle see <see cref="GenerateOptions.RepeatBos"/>, or tokenize first.</summary>
        public void Prefill(string text, TokenizeFlags flags = TokenizeFlags.None,
                            CancellationToken cancellation = default(CancellationToken))
        {
            Prefill(Engine.Tokenize(text, Info.Tokens > 0 ? flags | TokenizeFlags.NoBosEos : flags), cancellation);
        }

        private void Prefill(int* tokens, int n_tokens, CancellationToken cancellation)
        {
            cancellation.ThrowIfCancellationRequested();
            using (var use = new Use(this))
            {
                inlay_error error;
                Status status;
                long last = LastGeneration(use.Pointer);
                Volatile.Write(ref _generation, last + 1);
                using (cancellation.Register(OnCancelled, this)) // whose end waits for a request that is being made
                {
                    status = _api.inlay_prefill(use.Pointer, tokens, (UIntPtr)(uint)n_tokens, null, &error);
                }
                if (status == Status.Ok)
                {
                    _promptTokens = n_tokens;
                    _generatedTokens = 0;
                }
                else if (status != Status.Cancelled) Volatile.Write(ref _generation, last); // none has begun
                if (status == Status.Ok || status == Status.Cancelled) cancellation.ThrowIfCancellationRequested();
                Check.Ok(status, ref error);
            }
        }

        private static readonly Action<object?> OnCancelled = session => ((Session)session!).Cancel();

        private long LastGeneration(IntPtr session)
        {
            var raw = new inlay_session_info { struct_size = (uint)sizeof(inlay_session_info) };
            inlay_error error;
            Check.Ok(_api.inlay_session_get_info(session, &raw, &error), ref error);
            return (long)raw.generation;
        }

        /// <summary>Takes the session for a generation on another thread, which is what Cancel is for from now on.</summary>
        /// <exception cref="InvalidOperationException">It has one already.</exception>
        internal void BeginGeneration()
        {
            if (Interlocked.CompareExchange(ref _generates, 1, 0) != 0) throw new InvalidOperationException("the session already generates");
            try
            {
                using (var session = new Hold(_handle)) Volatile.Write(ref _generation, LastGeneration(session.Pointer) + 1);
            }
            catch
            {
                EndGeneration();
                throw;
            }
        }

        internal void EndGeneration() { Volatile.Write(ref _generates, 0); }

        /// <summary>Draws one token. For several sessions at once see <see cref="Inlay.Engine.DecodeStep(Session[],
        /// StepEvent[])"/>.</summary>
        /// <exception cref="InlayException">Status ContextFull, KvFull, InvalidState and others; the session is
        /// unchanged.</exception>
        public StepEvent DecodeStep()
        {
            var step = default(StepEvent);
            inlay_error error;
            using (var use = new Use(this)) Check.Ok(Step(use.Pointer, &step.raw, &error), ref error);
            return step;
        }

        private Status Step(IntPtr session, inlay_event* into, inlay_error* error)
        {
            return _api.inlay_decode_step(&session, (UIntPtr)1u, into, (UIntPtr)(uint)sizeof(inlay_event), error);
        }

        /// <summary>Takes text that did not fit into events: all that there is.</summary>
        public string TakeText()
        {
            using (var use = new Use(this)) return TakeAll(use.Pointer);
        }

        private string TakeAll(IntPtr session)
        {
            const int room = 1024;
            byte* buffer = stackalloc byte[room];
            string text = "";
            for (;;)
            {
                UIntPtr n_bytes;
                inlay_error error;
                Check.Ok(_api.inlay_session_take_text(session, buffer, (UIntPtr)(uint)room, &n_bytes, &error), ref error);
                if (n_bytes == UIntPtr.Zero) return text;
                text += Utf8.Text(buffer, (int)n_bytes);
            }
        }

        /// <summary>Makes a second session with the same sequence, options and state. Give it another seed if the two are
        /// to differ.</summary>
        public Session Fork()
        {
            var child = new Session(_api, Engine);
            IntPtr handle = IntPtr.Zero;
            inlay_error error;
            Status status;
            using (var use = new Use(this)) status = _api.inlay_session_fork(use.Pointer, &handle, &error);
            child._handle.Freed = _handle.Freed;
            child._handle.Set(handle);
            Check.Ok(status, ref error);
            return child;
        }

        /// <summary>Cuts the sequence back to its first tokens. It begins a new generation: text that was not taken is dropped, finish
        /// reason and token limit start over.</summary>
        public void Truncate(int n_tokens)
        {
            if (n_tokens < 0) throw new ArgumentOutOfRangeException(nameof(n_tokens));
            inlay_error error;
            using (var use = new Use(this))
            {
                Check.Ok(_api.inlay_session_truncate(use.Pointer, (UIntPtr)(uint)n_tokens, &error), ref error);
            }
        }

        /// <summary>Takes tokens out of the sequence, for texts that outgrow the context: what is behind them moves to the front and
        /// keeps what the model has computed for it, so that the next tokens are close to those of the shorter sequence, but not the
        /// same. A generation that a full context has ended can go on; where the last token goes, this is
        /// <see cref="Truncate"/>.</summary>
        /// <param name="first">The first token to go.</param>
        /// <param name="n_tokens">How many go.</param>
        public void Shift(int first, int n_tokens)
        {
            if (first < 0) throw new ArgumentOutOfRangeException(nameof(first));
            if (n_tokens < 0) throw new ArgumentOutOfRangeException(nameof(n_tokens));
            inlay_error error;
            using (var use = new Use(this))
            {
                Check.Ok(_api.inlay_session_shift(use.Pointer, (UIntPtr)(uint)first, (UIntPtr)(uint)n_tokens, &error), ref error);
            }
        }

        /// <summary>Appends tokens that the program chose, as if they had been drawn: they count toward the token limit, penalties
        /// see them, and their text comes with the next event or <see cref="TakeText"/>. One that would end the generation ends it;
        /// what comes behind it is not accepted. Nothing is run before the next step.</summary>
        /// <returns>How many of them the sequence has now.</returns>
        public int Accept(int[] tokens)
        {
            if (tokens == null) throw new ArgumentNullException(nameof(tokens));
            inlay_error error;
            using (var use = new Use(this))
            {
                fixed (int* first = tokens)
                {
                    UIntPtr n;
                    Check.Ok(_api.inlay_session_accept(use.Pointer, first, (UIntPtr)(uint)tokens.Length, &n, &error), ref error);
                    _generatedTokens += (int)n;
                    return (int)n;
                }
            }
        }

        /// <summary>The tokens of the sequence from the given one on: those of prompts, drawn and accepted ones.</summary>
        public int[] GetTokens(int first = 0)
        {
            if (first < 0) throw new ArgumentOutOfRangeException(nameof(first));
            using (var use = new Use(this))
            {
                IntPtr session = use.Pointer;
                return Native.ReadTokens((tokens, room, n, error) =>
                    _api.inlay_session_get_tokens(session, (UIntPtr)(uint)first, tokens, room, n, error));
            }
        }

        /// <summary>Changes how the following tokens are drawn.</summary>
        public void SetSampler(SamplerOptions sampler)
        {
            if (sampler == null) throw new ArgumentNullException(nameof(sampler));
            inlay_error error;
            using (var pinned = new SamplerOptions.Pinned(sampler))
            using (var use = new Use(this))
            {
                inlay_sampler_params raw = pinned.Params;
                Check.Ok(_api.inlay_session_set_sampler(use.Pointer, &raw, &error), ref error, FieldNames.Sampler);
            }
        }

        /// <summary>Sets the texts that end a generation.</summary>
        public void SetStop(IList<string> stops)
        {
            if (stops == null) throw new ArgumentNullException(nameof(stops));
            inlay_error error;
            using (var texts = new PinnedTexts(stops, nameof(stops)))
            using (var use = new Use(this))
            {
                Check.Ok(_api.inlay_session_set_stop(use.Pointer, texts.First, (UIntPtr)(uint)texts.Count, &error), ref error,
                         FieldNames.SetStop);
            }
        }

        /// <summary>Sets the tokens that end a generation when drawn, at most 1024.</summary>
        public void SetStopTokens(int[] tokens)
        {
            if (tokens == null) throw new ArgumentNullException(nameof(tokens));
            inlay_error error;
            using (var use = new Use(this))
            {
                fixed (int* first = tokens)
                {
                    Check.Ok(_api.inlay_session_set_stop_tokens(use.Pointer, first, (UIntPtr)(uint)tokens.Length, &error), ref error,
                             FieldNames.SetStopTokens);
                }
            }
        }

        /// <summary>Sets how many tokens may be drawn after a prompt: with the last of them the session finishes, the reason is
        /// MaxTokens. 0: no limit but the context. With SessionFlags.Reserve a generation under way also gets the KV blocks for a
        /// higher limit.</summary>
        /// <exception cref="InlayException">Status KvFull: they are not free; the limit stays.</exception>
        public void SetMaxTokens(int maxTokens)
        {
            inlay_error error;
            using (var use = new Use(this))
            {
                Check.Ok(_api.inlay_session_set_max_tokens(use.Pointer, maxTokens, &error), ref error, FieldNames.SetMaxTokens);
            }
        }

        /// <summary>The logits of the last position that was run, one a token of the vocabulary.</summary>
        /// <exception cref="InlayException">Status InvalidState: nothing was run yet.</exception>
        public float[] GetLogits()
        {
            UIntPtr needed;
            inlay_error error;
            using (var use = new Use(this))
            {
                Check.Ok(_api.inlay_session_copy_logits(use.Pointer, null, UIntPtr.Zero, &needed, &error), ref error);
            }
            var logits = new float[checked((int)needed)];
            CopyLogits(logits);
            return logits;
        }

        /// <summary>The same logits where they lie, not to be written, and gone with the session's next call or end.
        /// </summary>
        public float* ViewLogits(out int count)
        {
            var view = new inlay_logits();
            view.struct_size = (uint)sizeof(inlay_logits);
            inlay_error error;
            using (var use = new Use(this))
            {
                Check.Ok(_api.inlay_session_view_logits(use.Pointer, &view, &error), ref error);
            }
            count = checked((int)view.n_values);
            return view.values;
        }

        /// <summary>Copies the logits of the last position that was run.</summary>
        /// <exception cref="InlayException">Status BufferTooSmall: the array is shorter than the vocabulary.</exception>
        public void CopyLogits(float[] logits)
        {
            if (logits == null) throw new ArgumentNullException(nameof(logits));
            fixed (float* first = logits) CopyLogits(first, logits.Length);
        }

        private void CopyLogits(float* logits, int room)
        {
            UIntPtr needed;
            inlay_error error;
            using (var use = new Use(this))
            {
                Check.Ok(_api.inlay_session_copy_logits(use.Pointer, logits, (UIntPtr)(uint)room, &needed, &error), ref error);
            }
        }
    }
}
