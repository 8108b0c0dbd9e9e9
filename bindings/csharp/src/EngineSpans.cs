#if NETCOREAPP || NETSTANDARD2_1_OR_GREATER
using System;
using System.Buffers;
using System.Threading;
using Inlay.Raw;

namespace Inlay
{
    // The calls that take or fill spans, where the platform has them: nothing is copied on the way, and what the caller gives
    // room for is not allocated.
    public sealed unsafe partial class Engine
    {
        private const int StackBytes = 1024;

        private static byte[] Rent(int n_bytes) { return ArrayPool<byte>.Shared.Rent(n_bytes); }

        private static void Return(byte[]? rented)
        {
            if (rented != null) ArrayPool<byte>.Shared.Return(rented);
        }

        /// <summary>Loads a model that lies in memory; the bytes are not needed afterwards.</summary>
        public static Engine Load(ReadOnlySpan<byte> model, LoadOptions? options = null, CancellationToken cancellation = default)
        {
            fixed (byte* data = model) return Load(data, model.Length, options, cancellation);
        }

        /// <summary>Turns text into token ids.</summary>
        public int[] Tokenize(ReadOnlySpan<char> text, TokenizeFlags flags = TokenizeFlags.None)
        {
            byte[]? rented = null;
            Span<byte> bytes = Utf8.Room(text) <= StackBytes ? stackalloc byte[StackBytes] : rented = Rent(Utf8.Room(text));
            try { return TokenizeUtf8(bytes.Slice(0, Utf8.Write(text, bytes, nameof(text))), flags); }
            finally { Return(rented); }
        }

        /// <summary>Turns text into token ids, written into the caller's room.</summary>
        /// <returns>How many there are.</returns>
        /// <exception cref="InlayException">Status BufferTooSmall: there are more, which Required tells.</exception>
        public int Tokenize(ReadOnlySpan<char> text, Span<int> into, TokenizeFlags flags = TokenizeFlags.None)
        {
            byte[]? rented = null;
            Span<byte> bytes = Utf8.Room(text) <= StackBytes ? stackalloc byte[StackBytes] : rented = Rent(Utf8.Room(text));
            try { return TokenizeUtf8(bytes.Slice(0, Utf8.Write(text, bytes, nameof(text))), into, flags); }
            finally { Return(rented); }
        }

        /// <summary>Turns UTF-8 text into token ids.</summary>
        public int[] TokenizeUtf8(ReadOnlySpan<byte> text, TokenizeFlags flags = TokenizeFlags.None)
        {
            fixed (byte* input = text) return Tokenize(input, (UIntPtr)(uint)text.Length, flags);
        }

        /// <summary>Turns UTF-8 text into token ids, written into the caller's room.</summary>
        /// <returns>How many there are.</returns>
        /// <exception cref="InlayException">Status BufferTooSmall: there are more, which Required tells.</exception>
        public int TokenizeUtf8(ReadOnlySpan<byte> text, Span<int> into, TokenizeFlags flags = TokenizeFlags.None)
        {
            UIntPtr n_tokens;
            inlay_error error;
            int none;
            using (var engine = new Hold(_handle))
            fixed (byte* input = text)
            fixed (int* output = into)
            {
                int* target = output == null ? &none : output; // a null pointer would ask for the number alone
                Check.Ok(_api.inlay_tokenize(engine.Pointer, input, (UIntPtr)(uint)text.Length, flags, target,
                                             (UIntPtr)(uint)into.Length, &n_tokens, &error), ref error);
            }
            return (int)n_tokens;
        }

        /// <summary>Turns token ids into text. Where they begin or end inside a character, U+FFFD stands for its
        /// part.</summary>
        public string Detokenize(ReadOnlySpan<int> tokens, DetokenizeFlags flags = DetokenizeFlags.None)
        {
            byte[] bytes = DetokenizeBytes(tokens, flags);
            return System.Text.Encoding.UTF8.GetString(bytes);
        }

        /// <summary>Turns token ids into the bytes of their text.</summary>
        public byte[] DetokenizeBytes(ReadOnlySpan<int> tokens, DetokenizeFlags flags = DetokenizeFlags.None)
        {
            fixed (int* ids = tokens) return Detokenize(ids, tokens.Length, flags);
        }

        /// <summary>Turns token ids into the bytes of their text, written into the caller's room. Where room is left, a zero
        /// stands behind them.</summary>
        /// <returns>How many there are.</returns>
        /// <exception cref="InlayException">Status BufferTooSmall: there are more, which Required tells.</exception>
        public int DetokenizeBytes(ReadOnlySpan<int> tokens, Span<byte> into, DetokenizeFlags flags = DetokenizeFlags.None)
        {
            UIntPtr needed;
            inlay_error error;
            byte none;
            using (var engine = new Hold(_handle))
            fixed (int* ids = tokens)
            fixed (byte* output = into)
            {
                byte* target = output == null ? &none : output;
                Check.Ok(_api.inlay_detokenize(engine.Pointer, ids, (UIntPtr)(uint)tokens.Length, flags, target,
                                               (UIntPtr)(uint)into.Length, &needed, &error), ref error);
            }
            return (int)needed;
        }

        /// <summary>Turns one text, given as tokens, into a vector, written into the caller's
        /// room.</summary>
        /// <returns>How many values it has.</returns>
        /// <exception cref="InlayException">Status BufferTooSmall: there is less room than a vector needs.</exception>
        public int Embed(ReadOnlySpan<int> tokens, Span<float> into, Pooling pooling = Pooling.Default,
                         EmbedFlags flags = EmbedFlags.Normalize)
        {
            int length = tokens.Length;
            return Embed(tokens, new ReadOnlySpan<int>(&length, 1), into, pooling, flags);
        }

        /// <summary>Turns texts into vectors, written one behind the other into the caller's
        /// room.</summary>
        /// <param name="tokens">The tokens of all texts, one text behind the other.</param>
        /// <param name="lengths">How many of the tokens each text has.</param>
        /// <param name="into">Room for a vector of each text.</param>
        /// <param name="pooling">How a text's hidden states become one vector.</param>
        /// <param name="flags">Whether the vectors have length 1.</param>
        /// <returns>How many values were written.</returns>
        /// <exception cref="InlayException">Status BufferTooSmall: there is less room than the vectors need.</exception>
        public int Embed(ReadOnlySpan<int> tokens, ReadOnlySpan<int> lengths, Span<float> into, Pooling pooling = Pooling.Default,
                         EmbedFlags flags = EmbedFlags.Normalize)
        {
            int sum = 0;
            foreach (int length in lengths) sum = checked(sum + Math.Max(0, length));
            if (sum != tokens.Length)
                throw new ArgumentException("tokens.Length is " + tokens.Length + ", the lengths sum up to " + sum, nameof(tokens));
            float none;
            fixed (int* ids = tokens)
            fixed (float* output = into)
            {
                return Embed(InputsOf(ids, lengths.ToArray()), output == null ? &none : output, into.Length, pooling, flags,
                             default(System.Threading.CancellationToken));
            }
        }
    }
}
#endif
