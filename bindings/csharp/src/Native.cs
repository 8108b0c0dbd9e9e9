using System;
using System.Runtime.InteropServices;
using Inlay.Raw;

namespace Inlay
{
    /// <summary>Keeps a handle from being freed while a native call uses it.</summary>
    internal struct Hold : IDisposable
    {
        private readonly SafeHandle? _handle; // of default(Hold) none

        /// <exception cref="ObjectDisposedException">The handle is closed.</exception>
        internal Hold(SafeHandle handle)
        {
            bool held = false;
            handle.DangerousAddRef(ref held);
            _handle = handle;
        }

        internal IntPtr Pointer { get { return _handle == null ? IntPtr.Zero : _handle.DangerousGetHandle(); } }

        public void Dispose() { if (_handle != null) _handle.DangerousRelease(); }
    }

    /// <summary>The attribute by which Unity's IL2CPP recognises a static method that native code calls. It goes by the
    /// name alone.</summary>
    [AttributeUsage(AttributeTargets.Method)]
    internal sealed class MonoPInvokeCallbackAttribute : Attribute
    {
        internal MonoPInvokeCallbackAttribute(Type type) { }
    }

    internal static unsafe class Native
    {
        internal delegate Status TextCall(byte* buffer, UIntPtr room, UIntPtr* needed, inlay_error* error);

        /// <summary>A text of a call that writes into the caller's buffer, which grows until it is large enough.</summary>
        internal static string ReadText(int first_room, TextCall call, FieldNames? names = null)
        {
            byte[] bytes = ReadBytes(first_room, call, names);
            fixed (byte* text = bytes) return Utf8.Text(text, bytes.Length);
        }

        internal static byte[] ReadBytes(int first_room, TextCall call, FieldNames? names = null)
        {
            var buffer = new byte[first_room];
            for (;;)
            {
                UIntPtr needed;
                inlay_error error;
                Status status;
                fixed (byte* into = buffer) status = call(into, (UIntPtr)(uint)buffer.Length, &needed, &error);
                if (status == Status.BufferTooSmall)
                {
                    buffer = new byte[checked((int)needed)];
                    continue;
                }
                Check.Ok(status, ref error, names);
                Array.Resize(ref buffer, checked((int)needed));
                return buffer;
            }
        }

        internal delegate Status TokenCall(int* tokens, UIntPtr room, UIntPtr* needed, inlay_error* error);

        /// <summary>Tokens of a call that writes into the caller's array: as many as the call that had room for them wrote.</summary>
        internal static int[] ReadTokens(TokenCall call, FieldNames? names = null)
        {
            var tokens = new int[256];
            for (;;)
            {
                UIntPtr needed;
                inlay_error error;
                Status status;
                fixed (int* into = tokens) status = call(into, (UIntPtr)(uint)tokens.Length, &needed, &error);
                if (status == Status.BufferTooSmall)
                {
                    tokens = new int[checked((int)needed)];
                    continue;
                }
                Check.Ok(status, ref error, names);
                Array.Resize(ref tokens, (int)needed);
                return tokens;
            }
        }

        internal static string FieldText(byte* field, int size)
        {
            int n = 0;
            while (n < size && field[n] != 0) n++;
            return Utf8.Text(field, n);
        }
    }
}
