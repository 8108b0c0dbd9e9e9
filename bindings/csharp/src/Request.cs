using System;
using System.Collections.Generic;
using Inlay.Raw;

namespace Inlay
{
    /// <summary>A prompt and what is to become of it, for <see cref="RequestQueue.Submit"/>, which copies it.</summary>
    /// <remarks>Of times, null is none, and zero counts as one microsecond.</remarks>
    public sealed class Request
    {
        private readonly string? _text, _conversation;
        private readonly int[]? _tokens;

        /// <summary>The prompt is a text, with the BOS token in front if the model asks for one.</summary>
        public Request(string text)
        {
            if (text == null) throw new ArgumentNullException(nameof(text));
            _text = text;
            Chat = ChatFlags.AddGenerationPrompt;
        }

        /// <summary>The prompt is tokens, which are not copied before they are submitted.</summary>
        public Request(int[] tokens)
        {
            if (tokens == null) throw new ArgumentNullException(nameof(tokens));
            _tokens = tokens;
            Chat = ChatFlags.AddGenerationPrompt;
        }

        /// <summary>The prompt is a conversation, which the model's template writes.</summary>
        public Request(IEnumerable<ChatMessage> conversation) : this(null, ChatMessage.ToJson(conversation)) { }

        private Request(string? text, string conversation)
        {
            _text = text;
            _conversation = conversation;
            Chat = ChatFlags.AddGenerationPrompt;
        }

        /// <summary>The prompt is a conversation as <see cref="Engine.GetChatTokens(string, string, ChatFlags)"/> takes it.</summary>
        public static Request OfConversation(string json)
        {
            if (json == null) throw new ArgumentNullException(nameof(json));
            return new Request(null, json);
        }

        /// <summary>What is to become of the prompt: RequestKind.Prefill computes it and draws nothing; Embed makes a vector of a text or
        /// tokens, and refuses <see cref="Options"/>, <see cref="Continues"/> and conversations.</summary>
        public RequestKind Kind { get; set; }

        /// <summary>Of RequestKind.Embed: how tokens become one vector. Other kinds refuse it.</summary>
        public Pooling Pooling { get; set; }

        /// <summary>Of RequestKind.Embed: what the vector is. Null is Normalize, as with <c>Engine.Embed</c>. Other
        /// kinds refuse it.</summary>
        public EmbedFlags? Embed { get; set; }

        /// <summary>A session made with SessionFlags.ForRequests, of the same engine, that the request continues: tokens and text come
        /// behind what it has, a text without special tokens in front unless the session is empty. A conversation takes the place of its
        /// tokens; what both begin with is not computed again. Requests for one session run one after the other, as they were submitted.
        /// The sequence stays in the session, also of a request that is cancelled; disposing it cancels them. Their queue keeps it until
        /// their ends are polled.</summary>
        public Session? Continues { get; set; }

        /// <summary>How tokens are drawn, and what ends the request; null is all defaults, and with <see cref="Continues"/> what the
        /// session has. SessionFlags.Reserve and ForRequests are refused.</summary>
        public SessionOptions? Options { get; set; }

        /// <summary>How a conversation is written: by default it ends where the answer begins.</summary>
        public ChatFlags Chat { get; set; }

        /// <summary>A chat template for a conversation; null is the model's own. Other prompts are refused with one.</summary>
        public string? ChatTemplate { get; set; }

        /// <summary>Who has more comes first, and may put out those that have less where the pool is full. A request that waits rises by one
        /// every 250 ms: that says when it begins, and puts out no equal. Range: 0 to 7.</summary>
        public int Priority { get; set; }

        /// <summary>From its submission on. Among waiting requests of one priority the earliest comes first; it is no promise. Range:
        /// 0 or more.</summary>
        public TimeSpan? Deadline { get; set; }

        /// <summary>From its submission on. Then the request ends with FinishReason.Timeout, and keeps its text so far. Range: 0 or
        /// more.</summary>
        public TimeSpan? Timeout { get; set; }

        /// <summary>Comes back in each of its events: any number.</summary>
        public ulong User { get; set; }

        /// <summary>The request goes on behind what requests of the same number have computed, and nobody else's: so that nobody can
        /// tell by the time of an answer what others have asked. Of kind Embed it changes nothing. Range: any number.</summary>
        public ulong CacheSalt { get; set; }

        internal unsafe Status SubmitTo(Api api, IntPtr queue, ulong user, ulong* id, inlay_error* error)
        {
            UIntPtr text_len = UIntPtr.Zero, conversation_len = UIntPtr.Zero, template_len = UIntPtr.Zero;
            byte[]? text_bytes = _text == null ? null : Utf8.Bytes(_text, "text", out text_len);
            byte[]? conversation_bytes = _conversation == null ? null : Utf8.Bytes(_conversation, "conversation", out conversation_len);
            byte[]? template_bytes = ChatTemplate == null ? null : Utf8.Bytes(ChatTemplate, nameof(ChatTemplate), out template_len);
            int[]? ids = _tokens != null && _tokens.Length == 0 ? NoTokens : _tokens;
            using (var continued = Continues == null ? default(Hold) : new Hold(Continues.Handle))
            using (var options = new SessionOptions.Pinned(Options ?? new SessionOptions()))
            fixed (int* tokens = ids)
            fixed (byte* text = text_bytes, conversation = conversation_bytes, template = template_bytes)
            {
                inlay_session_params session = options.Params;
                var chat = new inlay_chat_params
                {
                    struct_size = (uint)sizeof(inlay_chat_params), flags = Chat, chat_template = template, template_len = template_len
                };
                bool embeds = Kind == RequestKind.Embed;
                var embed = new inlay_embed_params
                {
                    struct_size = (uint)sizeof(inlay_embed_params), pooling = Pooling, flags = Embed ?? EmbedFlags.Normalize
                };
                var raw = new inlay_request
                {
                    struct_size = (uint)sizeof(inlay_request), kind = Kind, tokens = tokens,
                    n_tokens = (UIntPtr)(uint)(_tokens == null ? 0 : _tokens.Length), text = text, text_len = text_len,
                    conversation = conversation, conversation_len = conversation_len, chat = embeds || (_conversation == null && ChatTemplate == null) ? null : &chat,
                    session_params = Options == null && (embeds || Continues != null) ? null : &session, continues = continued.Pointer,
                    embed = embeds || Pooling != Pooling.Default || Embed != null ? &embed : null,
                    priority = Priority, deadline_us = Microseconds.Of(Deadline, nameof(Deadline)),
                    timeout_us = Microseconds.Of(Timeout, nameof(Timeout)), user = user,
                    cache_salt = CacheSalt
                };
                return api.inlay_submit(queue, &raw, id, error);
            }
        }

        // There is no address of an empty array, and none says that there are no tokens.
        private static readonly int[] NoTokens = new int[1];
    }

    /// <summary>Times as the library takes them, to which zero is none.</summary>
    internal static class Microseconds
    {
        private const long Ticks = TimeSpan.TicksPerMillisecond / 1000;

        /// <summary>0 for null, else at least 1.</summary>
        internal static ulong Of(TimeSpan? time, string parameter)
        {
            if (time == null) return 0;
            long ticks = time.Value.Ticks;
            if (ticks < 0) throw new ArgumentOutOfRangeException(parameter, "the time is negative");
            return Math.Max(1, (ulong)ticks / Ticks + ((ulong)ticks % Ticks == 0 ? 0u : 1u));
        }

        internal static TimeSpan Time(ulong microseconds) { return TimeSpan.FromTicks((long)microseconds * Ticks); }
    }
}
