using System;
using System.Text;

namespace Inlay
{
    /// <summary>Text to bytes and back. Half a surrogate pair is refused instead of being replaced unnoticed.</summary>
    internal static unsafe class Utf8
    {
        private static readonly UTF8Encoding Strict = new UTF8Encoding(false, true);
        private static readonly byte[] OneByte = new byte[1];

        internal static byte[] Bytes(string text, string parameter)
        {
            if (text == null) throw new ArgumentNullException(parameter);
            try { return Strict.GetBytes(text); }
            catch (EncoderFallbackException problem)
            {
                throw new ArgumentException("the text is no valid UTF-16: " + problem.Message, parameter);
            }
        }

        /// <summary>Never an empty array, of which no pointer can be taken; the length is `length`.</summary>
        internal static byte[] Bytes(string text, string parameter, out UIntPtr length)
        {
            byte[] bytes = Bytes(text, parameter);
            length = (UIntPtr)(uint)bytes.Length;
            return bytes.Length == 0 ? OneByte : bytes;
        }

#if NETCOREAPP || NETSTANDARD2_1_OR_GREATER
        internal static int Room(ReadOnlySpan<char> text) { return Strict.GetMaxByteCount(text.Length); }

        /// <summary>Writes a text's bytes, of which there are at most Room.</summary>
        internal static int Write(ReadOnlySpan<char> text, Span<byte> into, string parameter)
        {
            try { return Strict.GetBytes(text, into); }
            catch (EncoderFallbackException problem)
            {
                throw new ArgumentException("the text is no valid UTF-16: " + problem.Message, parameter);
            }
        }
#endif

        internal static byte[] Terminated(string text) { return Strict.GetBytes(text + "\0"); }

        /// <summary>Bytes that are no text become U+FFFD.</summary>
        internal static string Text(byte* bytes, int n_bytes)
        {
            return n_bytes == 0 ? "" : Encoding.UTF8.GetString(bytes, n_bytes);
        }

        internal static string FromTerminated(byte* bytes)
        {
            if (bytes == null) return "";
            int n = 0;
            while (bytes[n] != 0) n++;
            return Text(bytes, n);
        }

        internal static string FromTerminated(IntPtr bytes) { return FromTerminated((byte*)bytes); }
    }
}
