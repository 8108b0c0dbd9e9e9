using System;
using System.Collections.Generic;
using Inlay.Raw;

namespace Inlay
{
    /// <summary>Which texts may be written, compiled for an engine's vocabulary: see <see
    /// cref="Engine.CreateConstraint(ConstraintKind, string, ConstraintFlags)"/>.</summary>
    /// <remarks>Any thread may use it at any time, for any number of sessions and requests of its engine. They keep what they need of it:
    /// it may be disposed once they are made. It keeps no engine alive.</remarks>
    public sealed unsafe class Constraint : IDisposable
    {
        private const int RemarkRoom = 512;

        private readonly Api _api;
        private readonly ConstraintHandle _handle;

        internal Constraint(Api api, ConstraintHandle handle)
        {
            _api = api;
            _handle = handle;
        }

        /// <summary>The constraint's handle, for functions of <see cref="Library.Api"/> that the classes do not offer, to be used as <see
        /// cref="Inlay.Engine.Handle"/>.</summary>
        public ConstraintHandle Handle { get { return _handle; } }

        /// <summary>Frees the constraint, or lets the call that uses it now free it at its end.</summary>
        public void Dispose() { _handle.Dispose(); }

        /// <summary>Bytes of host memory that it has now, without those of the vocabulary, which all constraints of an engine share. It
        /// grows while it is used, within a bound of some tens of megabytes.</summary>
        public ulong MemoryBytes { get { return ReadInfo().memory_bytes; } }

        /// <summary>What compiling a schema left to say, with its place: a format that is not known and demands nothing, or what
        /// ConstraintFlags.Lenient dropped.</summary>
        public string[] GetRemarks()
        {
            var remarks = new string[ReadInfo().n_remarks];
            for (int i = 0; i < remarks.Length; i++)
            {
                var index = (UIntPtr)(uint)i;
                remarks[i] = Native.ReadText(RemarkRoom, (buffer, room, needed, error) =>
                {
                    using (var constraint = new Hold(_handle))
                        return _api.inlay_constraint_get_remark(constraint.Pointer, index, buffer, room, needed, error);
                });
            }
            return remarks;
        }

        private inlay_constraint_info ReadInfo()
        {
            var info = new inlay_constraint_info { struct_size = (uint)sizeof(inlay_constraint_info) };
            inlay_error error;
            using (var constraint = new Hold(_handle))
                Check.Ok(_api.inlay_constraint_get_info(constraint.Pointer, &info, &error), ref error);
            return info;
        }
    }

    public sealed unsafe partial class Engine
    {
        /// <summary>Compiles which texts may be written, for this engine's vocabulary; the first one reads it, which takes a moment.
        /// Blocks while it compiles, for which there are limits of time and memory.</summary>
        /// <param name="kind">What the text is.</param>
        /// <param name="text">The schema, grammar or expression; null for ConstraintKind.AnyJson, which has none.</param>
        /// <param name="flags">How it writes JSON; they change nothing for other kinds.</param>
        /// <exception cref="InlayException">Status Format: the text is no such schema, grammar or expression. Unsupported: it needs what is
        /// not supported, or more than the limits, or the model has no tokenizer. The message names the place.</exception>
        public Constraint CreateConstraint(ConstraintKind kind, string? text = null, ConstraintFlags flags = ConstraintFlags.None)
        {
            UIntPtr length = UIntPtr.Zero;
            byte[]? bytes = text == null ? null : Utf8.Bytes(text, nameof(text), out length);
            fixed (byte* given = bytes)
            {
                return CreateConstraint(new inlay_constraint_params
                {
                    struct_size = (uint)sizeof(inlay_constraint_params), kind = kind, flags = flags, text = given, text_len = length
                });
            }
        }

        /// <summary>The same for one of some texts.</summary>
        /// <param name="choices">The texts, at most 65536, none of them empty.</param>
        public Constraint CreateConstraint(IList<string> choices)
        {
            if (choices == null) throw new ArgumentNullException(nameof(choices));
            using (var texts = new PinnedTexts(choices, nameof(choices)))
            {
                return CreateConstraint(new inlay_constraint_params
                {
                    struct_size = (uint)sizeof(inlay_constraint_params), kind = ConstraintKind.Choices,
                    choices = texts.Count == 0 ? null : texts.First, n_choices = (UIntPtr)(uint)texts.Count
                });
            }
        }

        /// <summary>The same for a message with calls of tools as the model's format writes them, or with content by a schema; reasoning
        /// before is free or limited.</summary>
        /// <param name="demand">JSON: tools, tool_choice, parallel_tool_calls and response_format, all as OpenAI's protocol has
        /// them, and reasoning, whose max_tokens closes reasoning behind so many tokens.</param>
        /// <param name="prompt">The prompt, or its last tokens, which say whether reasoning is open; null: nothing of the answer is in
        /// it.</param>
        /// <param name="flags">How it writes JSON.</param>
        /// <param name="format">How reasoning and calls are written, as in <see cref="MessageOptions.Format"/>; null: as the chat template
        /// writes them.</param>
        /// <param name="chatTemplate">The chat template that wrote the prompt; null: the model's own.</param>
        public Constraint CreateMessageConstraint(string demand, int[]? prompt = null, ConstraintFlags flags = ConstraintFlags.None, string? format = null,
                                                  string? chatTemplate = null)
        {
            UIntPtr length, n_format, n_template;
            byte[] bytes = Utf8.Bytes(demand, nameof(demand), out length);
            byte[]? format_bytes = Given(format, nameof(format), out n_format);
            byte[]? template_bytes = Given(chatTemplate, nameof(chatTemplate), out n_template);
            fixed (byte* given = bytes)
            fixed (byte* format_at = format_bytes)
            fixed (byte* template_at = template_bytes)
            fixed (int* first = prompt)
            {
                return CreateConstraint(new inlay_constraint_params
                {
                    struct_size = (uint)sizeof(inlay_constraint_params), kind = ConstraintKind.Message, flags = flags, text = given, text_len = length,
                    prompt = first, n_prompt = (UIntPtr)(uint)(prompt == null ? 0 : prompt.Length), format = format_at, format_len = n_format,
                    chat_template = template_at, template_len = n_template
                });
            }
        }

        private Constraint CreateConstraint(inlay_constraint_params raw)
        {
            var handle = new ConstraintHandle(_api);
            IntPtr constraint = IntPtr.Zero;
            inlay_error error;
            Status status;
            using (var engine = new Hold(_handle)) status = _api.inlay_constraint_create(engine.Pointer, &raw, &constraint, &error);
            handle.Set(constraint);
            Check.Ok(status, ref error, FieldNames.Constraint);
            return new Constraint(_api, handle);
        }
    }

    public sealed unsafe partial class Session
    {
        /// <summary>Gives the text that must follow under the session's constraint, up to where there is a choice or the text may end, at most
        /// 4096 bytes. Empty without a constraint. It is drawn all the same; a program may show it at once, or append its tokens with
        /// <see cref="Accept"/>.</summary>
        /// <exception cref="InlayException">Status InvalidState and others.</exception>
        public string GetForcedText()
        {
            return Native.ReadText(256, (buffer, room, needed, error) =>
            {
                using (var use = new Use(this)) return _api.inlay_session_get_forced_text(use.Pointer, buffer, room, needed, error);
            });
        }

        /// <summary>Says what the session may write from now on, and in every later generation. A truncation inside of what was written
        /// under it goes back in it, a fork takes it along.</summary>
        /// <param name="constraint">One of the same engine; null: anything may be written.</param>
        /// <param name="written">What was written under it already, such as the beginning of an answer in the prompt.</param>
        /// <exception cref="InlayException">Status InvalidArgument: the constraint is another engine's, or does not allow what was written.
        /// Unsupported and others. The session is as before.</exception>
        public void SetConstraint(Constraint? constraint, string written = "")
        {
            UIntPtr length;
            byte[] bytes = Utf8.Bytes(written, nameof(written), out length);
            Hold? hold = constraint == null ? (Hold?)null : new Hold(constraint.Handle);
            try
            {
                inlay_error error;
                using (var use = new Use(this))
                fixed (byte* text = bytes)
                {
                    IntPtr given = hold == null ? IntPtr.Zero : hold.Value.Pointer;
                    Check.Ok(_api.inlay_session_set_constraint(use.Pointer, given, text, length, &error), ref error);
                }
            }
            finally
            {
                if (hold != null) hold.Value.Dispose();
            }
        }
    }
}
