using System;
using System.Collections.Generic;
using System.Threading;
using Inlay.Raw;

namespace Inlay
{
    public sealed unsafe partial class Engine
    {
        private const int TextRoom = 1024;
        private const int ReportRoom = 1 << 16;

        /// <summary>Turns text into token ids.</summary>
        public int[] Tokenize(string text, TokenizeFlags flags = TokenizeFlags.None)
        {
            UIntPtr length;
            byte[] bytes = Utf8.Bytes(text, "text", out length);
            fixed (byte* input = bytes) return Tokenize(input, length, flags);
        }

        private int[] Tokenize(byte* text, UIntPtr length, TokenizeFlags flags)
        {
            var tokens = new int[checked((int)length + 2)]; // enough for most texts
            using (var engine = new Hold(_handle))
            {
                for (;;)
                {
                    UIntPtr n_tokens;
                    inlay_error error;
                    Status status;
                    fixed (int* output = tokens)
                    {
                        status = _api.inlay_tokenize(engine.Pointer, text, length, flags, output, (UIntPtr)(uint)tokens.Length,
                                                     &n_tokens, &error);
                    }
                    if (status == Status.BufferTooSmall)
                    {
                        tokens = new int[checked((int)n_tokens)];
                        continue;
                    }
                    Check.Ok(status, ref error);
                    Array.Resize(ref tokens, (int)n_tokens);
                    return tokens;
                }
            }
        }

        /// <summary>Turns token ids into text. Where they begin or end inside a character, U+FFFD stands for its
        /// part.</summary>
        public string Detokenize(int[] tokens, DetokenizeFlags flags = DetokenizeFlags.None)
        {
            byte[] bytes = DetokenizeBytes(tokens, flags);
            fixed (byte* text = bytes) return Utf8.Text(text, bytes.Length);
        }

        /// <summary>Turns token ids into the bytes of their text.</summary>
        public byte[] DetokenizeBytes(int[] tokens, DetokenizeFlags flags = DetokenizeFlags.None)
        {
            if (tokens == null) throw new ArgumentNullException(nameof(tokens));
            fixed (int* ids = tokens) return Detokenize(ids, tokens.Length, flags);
        }

        private byte[] Detokenize(int* tokens, int n_tokens, DetokenizeFlags flags)
        {
            using (var engine = new Hold(_handle))
            {
                IntPtr pointer = engine.Pointer;
                return Native.ReadBytes(TextRoom, (buffer, room, needed, error) =>
                    _api.inlay_detokenize(pointer, tokens, (UIntPtr)(uint)n_tokens, flags, buffer, room, needed, error));
            }
        }

        /// <summary>Writes a conversation as the text that the model was trained on. For tokens use
        /// <see cref="GetChatTokens(string, string, ChatFlags)"/>.</summary>
        /// <param name="conversation">JSON: an array of messages, or an object of all the template's variables.</param>
        /// <param name="template">A chat template; null for the model's own.</param>
        /// <param name="flags">Whether the text ends where the answer begins.</param>
        public string GetChatText(string conversation, string? template = null, ChatFlags flags = ChatFlags.AddGenerationPrompt)
        {
            UIntPtr length, template_length = UIntPtr.Zero;
            byte[] bytes = Utf8.Bytes(conversation, "conversation", out length);
            byte[]? form = template == null ? null : Utf8.Bytes(template, "template", out template_length);
            return ReadText((int)length + 512, (engine, buffer, room, needed, error) =>
            {
                fixed (byte* json = bytes)
                fixed (byte* source = form)
                {
                    inlay_chat_params raw = ChatParams(source, template_length, flags);
                    return _api.inlay_chat_render(engine, json, length, &raw, buffer, room, needed, error);
                }
            }, FieldNames.Chat);
        }

        /// <summary>The conversation that <see cref="GetChatText"/> writes, as tokens in which only the template's own control
        /// tokens count: those that messages or other values of the conversation have in writing are text.</summary>
        public int[] GetChatTokens(string conversation, string? template = null, ChatFlags flags = ChatFlags.AddGenerationPrompt)
        {
            UIntPtr length, template_length = UIntPtr.Zero;
            byte[] bytes = Utf8.Bytes(conversation, "conversation", out length);
            byte[]? form = template == null ? null : Utf8.Bytes(template, "template", out template_length);
            return Native.ReadTokens((tokens, room, needed, error) =>
            {
                using (var engine = new Hold(_handle))
                fixed (byte* json = bytes)
                fixed (byte* source = form)
                {
                    inlay_chat_params raw = ChatParams(source, template_length, flags);
                    return _api.inlay_chat_tokenize(engine.Pointer, json, length, &raw, tokens, room, needed, error);
                }
            }, FieldNames.Chat);
        }

        private static inlay_chat_params ChatParams(byte* template, UIntPtr length, ChatFlags flags)
        {
            return new inlay_chat_params
            {
                struct_size = (uint)sizeof(inlay_chat_params), flags = flags, chat_template = template, template_len = length
            };
        }

        /// <summary>The conversation as tokens.</summary>
        public int[] GetChatTokens(IEnumerable<ChatMessage> messages, string? template = null, ChatFlags flags = ChatFlags.AddGenerationPrompt)
        {
            return GetChatTokens(ChatMessage.ToJson(messages), template, flags);
        }

        /// <summary>Turns texts, given as tokens, into vectors: the final hidden states of each, pooled. They have the model's
        /// width; with Pooling.Default that of the layers that its files have behind the pooling.
        /// Each runs in a session of its own, several at once where sessions are free.</summary>
        /// <exception cref="OperationCanceledException">It was cancelled, behind the step that ran.</exception>
        public float[][] Embed(IList<int[]> texts, Pooling pooling = Pooling.Default, EmbedFlags flags = EmbedFlags.Normalize,
                               CancellationToken cancellation = default(CancellationToken))
        {
            int[] lengths, tokens = Joined(texts, out lengths);
            fixed (int* all = tokens) return Embed(InputsOf(all, lengths), pooling, flags, cancellation);
        }

        /// <summary>Turns texts into vectors, with the default prompt and the BOS and EOS tokens that the model asks for.</summary>
        /// <exception cref="OperationCanceledException">It was cancelled, behind the step that ran.</exception>
        public float[][] Embed(IList<string> texts, Pooling pooling = Pooling.Default, EmbedFlags flags = EmbedFlags.Normalize,
                               CancellationToken cancellation = default(CancellationToken))
        {
            if (texts == null) throw new ArgumentNullException(nameof(texts));
            using (var pinned = new PinnedTexts(texts, nameof(texts)))
            {
                var inputs = new inlay_embed_input[texts.Count];
                for (int i = 0; i < inputs.Length; i++)
                    inputs[i] = new inlay_embed_input { text = pinned.First[i].data, text_len = pinned.First[i].len };
                return Embed(inputs, pooling, flags, cancellation);
            }
        }

        private float[][] Embed(inlay_embed_input[] inputs, Pooling pooling, EmbedFlags flags, CancellationToken cancellation)
        {
            int n = Embed(inputs, null, 0, pooling, flags, cancellation);
            int width = n / Math.Max(1, inputs.Length);
            var values = new float[checked(n + 1)];
            fixed (float* target = values) Embed(inputs, target, values.Length, pooling, flags, cancellation);
            var vectors = new float[inputs.Length][];
            for (int i = 0; i < vectors.Length; i++)
            {
                vectors[i] = new float[width];
                Array.Copy(values, i * width, vectors[i], 0, width);
            }
            return vectors;
        }

        /// <returns>How many values were written.</returns>
        private int Embed(inlay_embed_input[] inputs, float* target, int room, Pooling pooling, EmbedFlags flags,
                          CancellationToken cancellation)
        {
            cancellation.ThrowIfCancellationRequested();
            var raw = new inlay_embed_params { struct_size = (uint)sizeof(inlay_embed_params), pooling = pooling, flags = flags };
            UIntPtr needed;
            inlay_error error;
            Status status;
            using (var watch = new LoadWatch(null, cancellation, null))
            {
                if (cancellation.CanBeCanceled)
                {
                    raw.progress = Callbacks.Progress;
                    raw.progress_user = new IntPtr(watch.Number);
                }
                using (_queue.WakeAfter())
                using (var engine = new Hold(_handle))
                fixed (inlay_embed_input* first = inputs)
                {
                    status = _api.inlay_embed(engine.Pointer, first, (UIntPtr)(uint)inputs.Length, (UIntPtr)(uint)sizeof(inlay_embed_input),
                                              &raw, target, (UIntPtr)(uint)room, &needed, &error);
                }
                if (status != Status.Ok) throw watch.Failure(status, ref error, FieldNames.Embed);
            }
            return (int)needed;
        }

        private static inlay_embed_input[] InputsOf(int* tokens, int[] lengths)
        {
            var inputs = new inlay_embed_input[lengths.Length];
            for (int i = 0; i < inputs.Length; i++)
            {
                inputs[i] = new inlay_embed_input { tokens = tokens, n_tokens = (UIntPtr)(uint)lengths[i] };
                tokens += lengths[i];
            }
            return inputs;
        }

        /// <summary>The texts' tokens one after the other, and how many each has.</summary>
        private static int[] Joined(IList<int[]> texts, out int[] lengths)
        {
            if (texts == null) throw new ArgumentNullException(nameof(texts));
            var tokens = new List<int>();
            lengths = new int[texts.Count];
            for (int i = 0; i < lengths.Length; i++)
            {
                if (texts[i] == null) throw new ArgumentNullException(nameof(texts));
                tokens.AddRange(texts[i]);
                lengths[i] = texts[i].Length;
            }
            return tokens.ToArray();
        }

        /// <summary>Tells how likely each token of texts is, given those before it: for perplexities, choices between answers, and what
        /// a quantization costs. Nothing is drawn. Each text runs in a session of its own, several at once where sessions are
        /// free.</summary>
        /// <param name="texts">Their tokens.</param>
        /// <param name="options">What is told.</param>
        /// <param name="cancellation">Ends the scoring behind the step that runs.</param>
        /// <returns>Of each text a score for each token, of which the first <see cref="ScoreOptions.Given"/> are empty.</returns>
        /// <exception cref="InlayException">Status ContextFull, KvFull, SessionLimit and others.</exception>
        /// <exception cref="OperationCanceledException">It was cancelled.</exception>
        public TokenScore[][] Score(IList<int[]> texts, ScoreOptions? options = null,
                                    CancellationToken cancellation = default(CancellationToken))
        {
            options = options ?? new ScoreOptions();
            int[] lengths, tokens = Joined(texts, out lengths);
            cancellation.ThrowIfCancellationRequested();
            int n_top = Math.Max(0, Math.Min(options.Logprobs, Api.INLAY_MAX_LOGPROBS)); // the library refuses others
            var scores = new inlay_token_score[tokens.Length + 1]; // one more, so that there is an address
            var top = new inlay_token_logprob[checked(tokens.Length * n_top + 1)];
            var raw = new inlay_score_params
            {
                struct_size = (uint)sizeof(inlay_score_params), n_given = options.Given, n_logprobs = options.Logprobs
            };
            using (var watch = new LoadWatch(options.Progress, cancellation, null))
            {
                if (options.Progress != null || cancellation.CanBeCanceled)
                {
                    raw.progress = Callbacks.Progress;
                    raw.progress_user = new IntPtr(watch.Number);
                }
                inlay_error error;
                Status status;
                Engine second = options.Against ?? this;
                using (_queue.WakeAfter())
                using (second._queue.WakeAfter())
                using (var engine = new Hold(_handle))
                using (var other = new Hold(second._handle))
                fixed (int* all = tokens)
                fixed (int* counts = lengths)
                fixed (inlay_token_score* into = scores)
                fixed (inlay_token_logprob* likeliest = top)
                {
                    IntPtr against = options.Against == null ? IntPtr.Zero : other.Pointer;
                    status = _api.inlay_score(engine.Pointer, against, all, (UIntPtr)(uint)tokens.Length, counts,
                                              (UIntPtr)(uint)lengths.Length, &raw, into, (UIntPtr)(uint)sizeof(inlay_token_score),
                                              likeliest, (UIntPtr)(uint)top.Length, &error);
                }
                if (status != Status.Ok) throw watch.Failure(status, ref error, FieldNames.Score);
            }
            int at = 0;
            var each = new TokenScore[lengths.Length][];
            for (int i = 0; i < each.Length; i++)
            {
                each[i] = new TokenScore[lengths[i]];
                for (int j = 0; j < lengths[i]; j++, at++) each[i][j] = new TokenScore(scores[at], Likeliest(top, at * n_top, n_top));
            }
            return each;
        }

        private static TokenLogprob[] Likeliest(inlay_token_logprob[] all, int first, int most)
        {
            int n = 0;
            while (n < most && all[first + n].token >= 0) n++;
            if (n == 0) return Array.Empty<TokenLogprob>();
            var top = new TokenLogprob[n];
            for (int i = 0; i < n; i++) top[i] = new TokenLogprob(all[first + i]);
            return top;
        }

        /// <summary>Describes one token.</summary>
        public TokenInfo GetTokenInfo(int token)
        {
            var raw = new inlay_token_info { struct_size = (uint)sizeof(inlay_token_info) };
            inlay_error error;
            using (var engine = new Hold(_handle))
            {
                Check.Ok(_api.inlay_token_get_info(engine.Pointer, token, &raw, &error), ref error);
            }
            return new TokenInfo(ref raw);
        }

        /// <summary>Number of the model file's metadata entries.</summary>
        public int MetadataCount
        {
            get
            {
                UIntPtr count;
                inlay_error error;
                using (var engine = new Hold(_handle)) Check.Ok(_api.inlay_meta_count(engine.Pointer, &count, &error), ref error);
                return checked((int)count);
            }
        }

        /// <summary>Key of a metadata entry, in the file's order.</summary>
        public string GetMetadataKey(int index)
        {
            if (index < 0) throw new ArgumentOutOfRangeException(nameof(index));
            return ReadText(TextRoom, (engine, buffer, room, needed, error) =>
                _api.inlay_meta_key(engine, (UIntPtr)(uint)index, buffer, room, needed, error));
        }

        /// <summary>A metadata value as text; a long array is cut short and says how many elements there are.</summary>
        /// <exception cref="InlayException">Status NotFound: there is no such key.</exception>
        public string GetMetadata(string key)
        {
            UIntPtr length;
            byte[] bytes = Utf8.Bytes(key, "key", out length);
            return ReadText(TextRoom, (engine, buffer, room, needed, error) =>
            {
                fixed (byte* name = bytes) return _api.inlay_meta_value(engine, name, length, buffer, room, needed, error);
            });
        }

        /// <summary>All metadata entries, in the file's order.</summary>
        public IEnumerable<KeyValuePair<string, string>> Metadata
        {
            get
            {
                int count = MetadataCount;
                for (int i = 0; i < count; i++)
                {
                    string key = GetMetadataKey(i);
                    yield return new KeyValuePair<string, string>(key, GetMetadata(key));
                }
            }
        }

        /// <summary>The operations that a step runs: one line an operation, with its bytes and floating-point operations
        /// for one token.</summary>
        public string Plan
        {
            get
            {
                return ReadText(ReportRoom, (engine, buffer, room, needed, error) =>
                    _api.inlay_plan_text(engine, buffer, room, needed, error));
            }
        }

        /// <summary>Reads one message from the ring of the latest ones.</summary>
        /// <param name="cursor">0 for the oldest one; then it is moved on.</param>
        /// <param name="message">The message.</param>
        /// <returns>False if there is no newer message yet.</returns>
        public bool TryReadLog(ref ulong cursor, out LogMessage message)
        {
            ulong at = cursor;
            var level = LogSeverity.Default;
            var buffer = new byte[TextRoom];
            inlay_error error;
            UIntPtr needed;
            message = default(LogMessage);
            using (var engine = new Hold(_handle))
            {
                for (;;)
                {
                    Status status;
                    fixed (byte* text = buffer)
                    {
                        status = _api.inlay_log_read(engine.Pointer, &at, &level, text, (UIntPtr)(uint)buffer.Length, &needed, &error);
                        if (status == Status.NotFound) return false;
                        if (status == Status.Ok) message = new LogMessage(level, Utf8.Text(text, (int)needed));
                    }
                    if (status != Status.BufferTooSmall)
                    {
                        Check.Ok(status, ref error);
                        cursor = at;
                        return true;
                    }
                    buffer = new byte[checked((int)needed)];
                }
            }
        }

        /// <summary>Runs a step again and again and measures it, operation by operation; <see cref="GetProfile"/> gives the
        /// result.</summary>
        public void ProfileStep(ProfileOptions? options = null)
        {
            options = options ?? new ProfileOptions();
            var raw = new inlay_profile_params
            {
                struct_size = (uint)sizeof(inlay_profile_params), n_tokens = options.Tokens, n_past = options.Past,
                n_repetitions = options.Repetitions
            };
            inlay_error error;
            using (_queue.WakeAfter())
            using (var engine = new Hold(_handle))
            {
                Check.Ok(_api.inlay_profile_step(engine.Pointer, &raw, &error), ref error, FieldNames.Profile);
            }
        }

        /// <summary>What <see cref="ProfileStep"/> measured: time, bytes, bandwidth, operation by operation.</summary>
        public string GetProfile(ProfileForm form = ProfileForm.Kinds)
        {
            return ReadText(ReportRoom, (engine, buffer, room, needed, error) =>
                _api.inlay_profile_text(engine, form, buffer, room, needed, error));
        }

        /// <summary>Runs the same tokens here and in another engine, and writes how far apart each operation's values
        /// are.</summary>
        /// <param name="other">The engine to compare with.</param>
        /// <param name="tokens">Token ids, all but the last run as one step and the last as another.</param>
        /// <param name="nmse_limit">Squared error over squares from which an operation counts as different.</param>
        /// <param name="first">The first operation that differs, -1 if none does.</param>
        public string Compare(Engine other, int[] tokens, double nmse_limit, out int first)
        {
            if (other == null) throw new ArgumentNullException(nameof(other));
            if (tokens == null) throw new ArgumentNullException(nameof(tokens));
            int found = -1;
            string table;
            using (_queue.WakeAfter())
            using (other._queue.WakeAfter())
            using (var second = new Hold(other._handle))
            {
                IntPtr pointer = second.Pointer;
                table = ReadText(ReportRoom, (engine, buffer, room, needed, error) =>
                {
                    int index;
                    Status status;
                    fixed (int* ids = tokens)
                    {
                        status = _api.inlay_compare_text(engine, pointer, ids, (UIntPtr)(uint)tokens.Length, nmse_limit, &index, buffer,
                                                         room, needed, error);
                    }
                    if (status == Status.Ok) found = index;
                    return status;
                });
            }
            first = found;
            return table;
        }

        private delegate Status EngineTextCall(IntPtr engine, byte* buffer, UIntPtr room, UIntPtr* needed, inlay_error* error);

        private string ReadText(int first_room, EngineTextCall call, FieldNames? names = null)
        {
            using (var engine = new Hold(_handle))
            {
                IntPtr pointer = engine.Pointer;
                return Native.ReadText(first_room, (buffer, room, needed, error) => call(pointer, buffer, room, needed, error), names);
            }
        }
    }
}
