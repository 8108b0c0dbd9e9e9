using System;
using System.Collections.Generic;
using Inlay.Raw;

namespace Inlay
{
    /// <summary>What a message is read by: see <see cref="Engine.CreateMessageParser"/>.</summary>
    public sealed class MessageOptions
    {
        /// <summary>A format of reasoning and calls as JSON, at most 1 MiB; null: the one that the chat template writes.</summary>
        public string? Format { get; set; }

        /// <summary>The chat template that wrote the prompt; null: the model's own.</summary>
        public string? ChatTemplate { get; set; }

        /// <summary>The tools as a JSON array, as OpenAI's protocol has them; null: none. What formats write without quotes becomes JSON
        /// by their types.</summary>
        public string? Tools { get; set; }

        /// <summary>The prompt, or its last tokens; null: not known. Templates may begin the answer, as those do that open the
        /// reasoning.</summary>
        public int[]? Prompt { get; set; }

        /// <summary>How it is read.</summary>
        public ChatParserFlags Flags { get; set; }
    }

    /// <summary>A part of a message. Parts of one kind that follow each other are one text.</summary>
    public struct MessagePart
    {
        internal MessagePart(ChatDeltaKind kind, int call, string text, bool is_whole)
        {
            Kind = kind;
            Call = call;
            Text = text;
            IsWhole = is_whole;
        }

        /// <summary>What it is.</summary>
        public ChatDeltaKind Kind { get; }

        /// <summary>The call that it is of, 0 for the message's first. 0 for reasoning and content.</summary>
        public int Call { get; }

        /// <summary>The text; with ChatDeltaKind.CallBegin the tool's name.</summary>
        public string Text { get; }

        /// <summary>With ChatDeltaKind.CallEnd: the arguments are one JSON value. Else the call was cut.</summary>
        public bool IsWhole { get; }
    }

    /// <summary>A whole message: see <see cref="MessageParser.GetMessage"/>.</summary>
    public sealed class ParsedMessage
    {
        internal ParsedMessage(string json, inlay_chat_parser_info info)
        {
            Json = json;
            CallCount = info.n_calls;
            IsComplete = (info.flags & ChatParserInfoFlags.Complete) != 0;
            IsMalformed = (info.flags & ChatParserInfoFlags.Malformed) != 0;
        }

        /// <summary>The message as JSON, to be appended to the conversation as it is: role, content, and reasoning_content and tool_calls
        /// where there are any.</summary>
        public string Json { get; }

        /// <summary>How many calls it has.</summary>
        public int CallCount { get; }

        /// <summary>Neither reasoning nor a call is open. A message that was cut need not be.</summary>
        public bool IsComplete { get; }

        /// <summary>Some text was not as the format says. It is content.</summary>
        public bool IsMalformed { get; }
    }

    /// <summary>Takes one message apart while a model writes it: tokens or text go in, parts come out, which are never taken back.</summary>
    /// <remarks>Whatever a model writes is a message: what is not as the format says is content. One thread uses it at a time; a call that
    /// finds it in use fails with Status.Busy. It keeps no engine alive.</remarks>
    public sealed unsafe class MessageParser : IDisposable
    {
        private const int MessageRoom = 1024, PartRoom = 64, TextRoom = 4096;

        private readonly Api _api;
        private readonly ChatParserHandle _handle;

        internal MessageParser(Api api, ChatParserHandle handle)
        {
            _api = api;
            _handle = handle;
        }

        /// <summary>The parser's handle, for functions of <see cref="Library.Api"/> that the classes do not offer, to be used as <see
        /// cref="Inlay.Engine.Handle"/>.</summary>
        public ChatParserHandle Handle { get { return _handle; } }

        /// <summary>Frees the parser, or lets the call that uses it now free it at its end.</summary>
        public void Dispose() { _handle.Dispose(); }

        /// <summary>Reads tokens that the model drew. A token that is a marker of the format counts as one, the same letters in other
        /// tokens do not; other control tokens are nothing.</summary>
        /// <param name="tokens">The tokens.</param>
        /// <exception cref="InlayException">Status InvalidArgument: one is no token. InvalidState: the message is finished. Nothing was
        /// read.</exception>
        public void Append(params int[] tokens)
        {
            if (tokens == null) throw new ArgumentNullException(nameof(tokens));
            inlay_error error;
            using (var parser = new Hold(_handle))
            fixed (int* first = tokens)
                Check.Ok(_api.inlay_chat_parser_append(parser.Pointer, first, (UIntPtr)(uint)tokens.Length, &error), ref error);
        }

        /// <summary>Reads text. Letters of markers count where the vocabulary has no such token, and with
        /// ChatParserFlags.WrittenMarkers.</summary>
        /// <param name="text">The text.</param>
        /// <exception cref="InlayException">Status InvalidState: the message is finished.</exception>
        public void AppendText(string text)
        {
            UIntPtr length;
            byte[] bytes = Utf8.Bytes(text, nameof(text), out length);
            inlay_error error;
            using (var parser = new Hold(_handle))
            fixed (byte* first = bytes)
                Check.Ok(_api.inlay_chat_parser_append_text(parser.Pointer, first, length, &error), ref error);
        }

        /// <summary>Says that the message ended, or was cut: what was held back is given.</summary>
        public void Finish()
        {
            inlay_error error;
            using (var parser = new Hold(_handle)) Check.Ok(_api.inlay_chat_parser_finish(parser.Pointer, &error), ref error);
        }

        /// <summary>Takes the parts that are ready, in the order of the text.</summary>
        public List<MessagePart> Take()
        {
            var parts = new List<MessagePart>();
            var deltas = new inlay_chat_delta[PartRoom];
            var room = new byte[TextRoom];
            using (var parser = new Hold(_handle))
            fixed (inlay_chat_delta* first = deltas)
            fixed (byte* text = room)
            {
                for (;;)
                {
                    UIntPtr n;
                    inlay_error error;
                    Check.Ok(_api.inlay_chat_parser_take(parser.Pointer, first, (UIntPtr)(uint)PartRoom, (UIntPtr)(uint)sizeof(inlay_chat_delta), text,
                                                         (UIntPtr)(uint)TextRoom, &n, &error), ref error);
                    if (n == UIntPtr.Zero) return parts;
                    for (int i = 0; i < (int)n; i++)
                    {
                        inlay_chat_delta delta = deltas[i];
                        parts.Add(new MessagePart(delta.kind, delta.call, Utf8.Text(text + (int)delta.first_byte, (int)delta.text_bytes),
                                                  (delta.flags & ChatDeltaFlags.Whole) != 0));
                    }
                }
            }
        }

        /// <summary>The whole message, whether its parts were taken or not.</summary>
        /// <exception cref="InlayException">Status InvalidState: it is not finished.</exception>
        public ParsedMessage GetMessage()
        {
            string json = Native.ReadText(MessageRoom, (buffer, room, needed, error) =>
            {
                using (var parser = new Hold(_handle)) return _api.inlay_chat_parser_get_message(parser.Pointer, buffer, room, needed, error);
            });
            var info = new inlay_chat_parser_info { struct_size = (uint)sizeof(inlay_chat_parser_info) };
            inlay_error failed;
            using (var parser = new Hold(_handle)) Check.Ok(_api.inlay_chat_parser_get_info(parser.Pointer, &info, &failed), ref failed);
            return new ParsedMessage(json, info);
        }
    }

    public sealed unsafe partial class Engine
    {
        private const int FormatRoom = 256;

        private delegate T ParserCall<T>(inlay_chat_parser_params* raw);

        /// <summary>Makes a parser of one message.</summary>
        /// <param name="options">What it is read by; null: the format of the model's chat template.</param>
        /// <exception cref="InlayException">Status Format: the format or the tools are not as they should be; the message names the place.
        /// Unsupported: the model has no tokenizer.</exception>
        public MessageParser CreateMessageParser(MessageOptions? options = null)
        {
            var handle = new ChatParserHandle(_api);
            return WithRaw(options, raw =>
            {
                IntPtr parser = IntPtr.Zero;
                inlay_error error;
                Status status;
                using (var engine = new Hold(_handle)) status = _api.inlay_chat_parser_create(engine.Pointer, raw, &parser, &error);
                handle.Set(parser);
                Check.Ok(status, ref error, FieldNames.Message);
                return new MessageParser(_api, handle);
            });
        }

        /// <summary>Takes a whole message apart: the tokens that a generation drew.</summary>
        /// <param name="tokens">The tokens.</param>
        /// <param name="options">What it is read by; null: the format of the model's chat template.</param>
        public ParsedMessage ParseMessage(int[] tokens, MessageOptions? options = null)
        {
            using (MessageParser parser = CreateMessageParser(options))
            {
                parser.Append(tokens);
                parser.Finish();
                return parser.GetMessage();
            }
        }

        /// <summary>Says in which format the model writes reasoning and calls, as JSON: name, reasoning and calls, whether it has any,
        /// arguments, how the template takes those of earlier calls, and remark, what was not recognized.</summary>
        /// <param name="options">What messages are read by; null: the format of the model's chat template.</param>
        public string GetChatFormat(MessageOptions? options = null)
        {
            return WithRaw(options, raw =>
            {
                var address = (IntPtr)raw;
                return Native.ReadText(FormatRoom, (buffer, room, needed, error) =>
                {
                    using (var engine = new Hold(_handle))
                        return _api.inlay_chat_get_format(engine.Pointer, (inlay_chat_parser_params*)address, buffer, room, needed, error);
                }, FieldNames.Message);
            });
        }

        private static byte[]? Given(string? text, string name, out UIntPtr length)
        {
            length = UIntPtr.Zero;
            return text == null ? null : Utf8.Bytes(text, name, out length);
        }

        private static T WithRaw<T>(MessageOptions? options, ParserCall<T> call)
        {
            if (options == null) options = new MessageOptions();
            UIntPtr n_format, n_template, n_tools;
            byte[]? format = Given(options.Format, nameof(MessageOptions.Format), out n_format);
            byte[]? template = Given(options.ChatTemplate, nameof(MessageOptions.ChatTemplate), out n_template);
            byte[]? tools = Given(options.Tools, nameof(MessageOptions.Tools), out n_tools);
            fixed (byte* format_at = format)
            fixed (byte* template_at = template)
            fixed (byte* tools_at = tools)
            fixed (int* prompt_at = options.Prompt)
            {
                var raw = new inlay_chat_parser_params
                {
                    struct_size = (uint)sizeof(inlay_chat_parser_params), flags = options.Flags, format = format_at, format_len = n_format,
                    chat_template = template_at, template_len = n_template, tools = tools_at, tools_len = n_tools, prompt = prompt_at,
                    n_prompt = (UIntPtr)(uint)(options.Prompt == null ? 0 : options.Prompt.Length)
                };
                return call(&raw);
            }
        }
    }
}
